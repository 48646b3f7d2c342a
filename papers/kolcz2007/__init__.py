"""Kolcz and Chowdhury, "Avoidance of model re-induction in SVM-based feature selection", 2007."""
