"""Organizations, who is in them with which role, their teams and agents."""
