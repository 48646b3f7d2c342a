"""Seeded searches for inputs, and moments to be killed at, that break something (``python -m fuzz``)."""
