"""Predictions beside what happened.

| file | subject |
|---|---|
| `stored.py` | designs out of a results file, spread over its front |
| `plot.py` | predicted against measured, drawn |
| `design.py` | designs: errors decrypted, cycles of the RTL, blocks of a synthesis (`ringmill validate`) |
"""
