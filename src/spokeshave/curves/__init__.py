"""Quality at every number of features."""
