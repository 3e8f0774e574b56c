"""Knowledge bases and their names: making, changing and taking them down."""
