"""Side-by-side measurements: ours and the peers, in one run, on one core."""
