"""The error model and the area model held to measurements."""
