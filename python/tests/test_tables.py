"""Tables of the course: their numbers against what their book says, and a missing file."""

from __future__ import annotations

from pathlib import Path

import pytest

import ringmill as rm
from ringmill.studies import tables

HERE = bool(list(tables.FOLDER.glob("islp-*.whl")))


@pytest.mark.skipif(not HERE, reason="no registry answered scripts/data.sh")
def test_tables_have_the_rows_of_the_book() -> None:
    x, y = tables.default()
    # James et al., *An Introduction to Statistical Learning*, section 4.3: 333 of 10,000 did not pay.
    assert (x.shape, int(y.sum())) == ((10_000, 3), 333)
    assert set(x[:, 0]) == {"Yes", "No"}
    x, y, names = tables.caravan()
    # Section 4.7.6: 85 numbers of 5,822 households, 348 of which bought.
    assert (x.shape, int(y.sum()), len(names)) == ((5_822, 85), 348, 85)


def test_a_missing_table_says_how_to_fetch_it(tmp_path: Path) -> None:
    with pytest.raises(rm.FileFormatError, match=r"Run scripts/data.sh") as refused:
        tables.default(tmp_path)
    assert refused.value.code == "NoData"
