"""Hardware: one folder a block; `python -m rtl.tools` runs lint, tests, proofs, mutations and syntheses."""
