"""Predictions beside what happened.

| file | subject |
|---|---|
| `error.py` | the error model, held to decryptions: the nine kernels at many parameter sets |
| `stored.py` | designs out of a results file, spread over its front |
| `plot.py` | predicted against measured, drawn |
| `design.py` | designs: errors decrypted, cycles of the RTL, blocks of a synthesis (`ringmill validate`) |
"""
