"""Readers of two collections that are not freely available: TechTC-100 and TREC-AP."""
