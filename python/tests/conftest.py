"""Helpers shared by the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracle import interpret


@pytest.fixture
def in_the_clear() -> Callable[..., Any]:
    """Trace a kernel, interpret its text with the oracle, and read the result with the signature."""

    def run(traced: Any, **arguments: Any) -> Any:
        slots = interpret(traced.text, traced.signature.pack(arguments))
        return traced.signature.unpack(slots)

    return run


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same every time."""
    return np.random.default_rng(20261121)
