"""The pipelined key switch: its cycles in Python, its sources beside."""
