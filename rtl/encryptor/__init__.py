"""The encryption engine: its cycles in Python, its sources beside."""
