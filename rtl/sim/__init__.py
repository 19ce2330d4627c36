"""The core under Verilator."""
