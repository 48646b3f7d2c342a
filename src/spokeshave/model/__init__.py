"""Models that predict without training code, and their files."""
