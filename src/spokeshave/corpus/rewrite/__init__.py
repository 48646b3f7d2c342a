"""Tables that are read row by row and written again with new columns, as `predict` does."""
