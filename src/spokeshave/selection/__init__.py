"""Estimators that choose how many features to keep."""
