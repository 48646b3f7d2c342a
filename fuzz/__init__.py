"""Damaged inputs, and moments to be killed at: what must not come of them (``python -m fuzz``)."""
