"""sync: sources that knowledge bases follow, and the runs that list, compare, fetch and remove."""
