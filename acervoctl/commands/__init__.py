"""The commands, one module each. They parse, call and print; what they call knows nothing of terminals."""
