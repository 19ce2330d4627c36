"""The misuse list: every case raises the listed error with the listed message."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from misuse_world import cases, matches, provoke, shown

import ringmill as rm

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['area']}: {case['what']}")
def test_misuse(case: dict[str, str], tmp_path: Path) -> None:
    error = provoke(case, tmp_path)
    message = shown(error, tmp_path)
    assert type(error).__name__ == case["error"], message
    assert getattr(error, "code", "") == case["code"], message
    assert matches(message, case["message"]), f"{message!r}\nis not\n{case['message']!r}"


def test_the_list_is_long_and_every_entry_is_its_own() -> None:
    assert len(CASES) >= 60
    assert max(Counter(case["what"] for case in CASES).values()) == 1
    areas = Counter(case["area"] for case in CASES)
    assert set(areas) >= {"kernel", "parameters", "program"}
    assert all(issubclass(getattr(rm, case["error"]), rm.RingmillError) for case in CASES)
    # A line of the kernel is named wherever a kernel's own code is at fault.
    assert sum("user.py:" in case["message"] for case in CASES) >= 30
