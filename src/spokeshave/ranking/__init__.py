"""Rank features by criteria, learners and subsets of the documents."""
