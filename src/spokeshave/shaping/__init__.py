"""Feature values shaped and scaled to suit a linear weight."""
