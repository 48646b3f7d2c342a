"""Criteria that order features."""
