"""A pool of in-place units: its figures, and every start and end of the machine's model against the RTL."""

import subprocess
from itertools import pairwise

import pytest

from rtl.pipelined.pool import SETS, Pool, Row, Sort, best, text
from rtl.tools import block, simulate


def test_a_table_in_an_impossible_order_is_blocked():
    pool, sort = Pool(12, 8, units=2, feeds=1, sums=8), Sort(2, 1, 2)
    table = pool.timetable(sort, 0)
    assert len(pool.run(sort, table, 3).ends) == 3
    with pytest.raises(ValueError, match="waits for a task behind it"):
        pool.run(sort, [table[0], table[-1], *table[1:-1]], 12)


@pytest.mark.parametrize("sort", SETS)
def test_the_stored_timetables_reach_what_the_page_says(sort):
    found = best(sort)
    above = found.interval / found.bound - 1
    assert 0 <= above < (0.01 if sort != Sort(4, 2, 2) else 0.05)
    # No timetable is longer than a build's.
    assert found.rows <= 512


def _said(test: block.Test, sort: Sort, table: list[Row], count: int, tmp_path) -> tuple[list, list]:
    """Starts and ends of the RTL on a timetable, from the first one on; it holds every residue too."""
    assert simulate.build(test) is None
    file = tmp_path / "table"
    file.write_text(text([row._replace(mod=_as_built(row.mod, sort, test)) for row in table]))
    arguments = [f"+table={file}", "+trace", f"+n={count}", "+to=9"]
    arguments.append(f"+sets={sort.limbs},{sort.special},{sort.alpha}")
    run = simulate.BUILD / "pipelined" / test.name / "tb"
    lines = subprocess.run([run, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()
    starts = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("start ")]
    ends = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("done ")]
    return starts, ends


def _as_built(mod: int, sort: Sort, test: block.Test) -> int:
    """Special moduli come after the limbs of the build."""
    return mod if mod < sort.limbs else mod - sort.limbs + int(test.params["Limbs"])


def _compare(name: str, sort: Sort, tmp_path) -> None:
    test = next(t for t in block.load("pipelined").tests if t.name == name)
    # KindP2: eight cycles a product.
    pool = Pool(9, 8, *(int(test.params[name]) for name in ("Units", "Feeds", "Sums")))
    for table in (pool.timetable(sort, 0), pool.timetable(sort, 3000), pool.timetable(sort)):
        starts, ends = _said(test, sort, table, 5, tmp_path)
        ran = pool.run(sort, table, 5)
        # The model's cycle 0 is that in which the first key switch is taken.
        zero = starts[0][5] - ran.starts[0].cycle
        seen = [(*start[:5], start[5] - zero) for start in starts]
        assert seen == [tuple(s._replace(mod=_as_built(s.mod, sort, test))) for s in ran.starts]
        assert [(n, cycle - zero) for n, cycle in ends] == sorted(enumerate(ran.ends), key=lambda e: e[1])
        assert all(b > a for a, b in pairwise(ran.ends))


@pytest.mark.parametrize("sort", [Sort(3, 2, 2), Sort(3, 1, 3), Sort(2, 2, 1)])
def test_every_start_and_end_of_the_rtl_is_the_models(sort, tmp_path):
    _compare("pool", sort, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("sort", [Sort(6, 2, 3), Sort(7, 1, 7)])
def test_every_start_and_end_of_larger_sets_is_the_models(sort, tmp_path):
    _compare("many", sort, tmp_path)
