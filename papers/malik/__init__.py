"""Malik and Tarique, "Analysis of sparsity in a support vector machine based feature selection"."""
