"""Whole jobs on real data, run encrypted and held against the same job in the clear."""
