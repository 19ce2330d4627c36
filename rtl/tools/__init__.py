"""The runner of the hardware blocks: what `make test-rtl` and `make lint-rtl` call."""
