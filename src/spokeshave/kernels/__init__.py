"""Kernels: arrays in, arrays out; no scikit-learn, no files."""
