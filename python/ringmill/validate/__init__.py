"""Predictions beside what happened.

| file | subject |
|---|---|
| `error.py` | the error model, held to decryptions: the nine kernels at many parameter sets |
"""
