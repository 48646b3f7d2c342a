"""Forman, Scholz and Rajaram, "Feature shaping for linear SVM classifiers", KDD 2009."""
