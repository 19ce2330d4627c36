"""Figures of syntheses, and how cells are counted."""
