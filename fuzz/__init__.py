"""Damaged input of every kind, and what must not come of it (``python -m fuzz``)."""
