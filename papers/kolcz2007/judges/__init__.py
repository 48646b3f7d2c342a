"""What the tables say of each claim."""
