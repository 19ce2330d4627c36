"""The cycle model of a pool of in-place units: tasks, timetables, and every start and end against the RTL."""

import subprocess
from itertools import pairwise

import pytest

from rtl.pipelined.pool import TAKE, BlockedError, Kind, Pool, Row, Sort, Task, Unit, needs, tasks
from rtl.pipelined.timetable import SETS, TEN, best, in_order, searched, stored, text
from rtl.tools import simulate
from rtl.tools.block import load


@pytest.mark.parametrize("sort", [*SETS, Sort(5, 2, 2)])
def test_a_key_switch_has_its_transforms_after_what_they_are_made_of(sort):
    found, made_of = tasks(sort), needs(sort)
    limbs, special, digits = sort
    assert len(set(found)) == len(found) == sort.transforms == (digits + 2) * (limbs + special)
    assert sum(task.inverse for task in found) == limbs + 2 * special
    assert all(found.index(p) < n for n, task in enumerate(found) for p in made_of[task])
    # A digit is raised to all moduli but its own.
    ups = [task for task in found if task.kind is Kind.UP]
    sizes = [sum(i // sort.alpha == j for i in range(limbs)) for j in range(digits)]
    assert sum(len(made_of[task]) for task in ups) == sum(n * (limbs + special - n) for n in sizes)


def test_sets_that_do_not_exist_are_refused():
    for sort in (Sort(4, 0, 4), Sort(4, 1, 5), Sort(4, 1, 0), Sort(4, 1, 3)):
        with pytest.raises(ValueError, match="is no set"):
            tasks(sort)


def test_a_unit_in_place_waits_once_a_transform():
    # 4·(M + 4) + 3 beyond four passes of 4096 rows; Duong and Lee: 408.
    assert Unit(16, 12).interval - 4 * 4096 == 67
    # Few rows: every pass waits.
    assert Unit(8, 8).interval == 2 * 16 + 51


def test_a_table_in_an_impossible_order_is_blocked():
    pool, sort = Pool(Unit(12, 8), units=2, feeds=1), Sort(2, 1, 2)
    table = in_order(pool, sort)
    assert len(pool.run(sort, table, 3).ends) == 3
    # The last task before the first one, and a table that lacks one.
    for wrong in ([table[0], table[-1], *table[1:-1]], table[:-1]):
        with pytest.raises(BlockedError):
            pool.run(sort, wrong, 12)


def test_one_unit_alone_does_a_key_switch_transform_by_transform():
    unit, sort = Unit(16, 12), Sort(4, 1, 4)
    pool = Pool(unit, units=1, feeds=1)
    ran = pool.run(sort, in_order(pool, sort), 1)
    # Back, forward, back, forward: three turns at least, and nothing overlaps.
    least = sort.transforms * unit.interval + 3 * unit.turn
    assert least <= ran.ends[0] <= least + 2 * unit.interval


@pytest.mark.parametrize("sort", SETS)
def test_the_stored_timetables_reach_what_the_page_says(sort):
    found = best(sort)
    above = found.interval / found.bound - 1
    assert 0 <= above < (0.01 if sort != Sort(4, 2, 2) else 0.09)
    # Each task once a body, on a unit of the pool, and no timetable longer than a build's.
    rows = stored(sort)
    body = sum(row.task is TAKE or row.task == TAKE for row in rows)
    assert len(rows) == body * (1 + sort.transforms) <= 512
    assert {row.unit for row in rows} <= set(range(TEN.units))
    assert max(row.age for row in rows) < 8


def _said(sort: Sort, table: list[Row], count: int, tmp_path) -> tuple[list, list]:
    """Starts and ends of the RTL on a timetable, from the first one on."""
    test = next(t for t in load("pipelined").tests if t.name == "pool")
    assert simulate.build(test) is None
    file = tmp_path / "table"
    file.write_text(text([row._replace(task=_as_built(row.task, sort, test)) for row in table]))
    arguments = [f"+table={file}", "+trace", f"+n={count}", "+to=9"]
    arguments.append(f"+sets={sort.limbs},{sort.special},{sort.alpha}")
    run = simulate.BUILD / "pipelined" / "pool" / "tb"
    lines = subprocess.run([run, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()
    starts = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("start ")]
    ends = [tuple(map(int, line.split()[1:])) for line in lines if line.startswith("done ")]
    return starts, ends


def _as_built(task: Task, sort: Sort, test) -> Task:
    """Special moduli come after the limbs of the build."""
    return (
        task
        if task.mod < sort.limbs
        else task._replace(mod=task.mod - sort.limbs + int(test.params["Limbs"]))
    )


@pytest.mark.parametrize("sort", [Sort(3, 2, 2), Sort(3, 1, 3), Sort(2, 2, 1)])
def test_every_start_and_end_of_the_rtl_is_the_models(sort, tmp_path):
    test = next(t for t in load("pipelined").tests if t.name == "pool")
    # KindP2: eight cycles a product.
    pool = Pool(Unit(9, 8), int(test.params["Units"]), int(test.params["Feeds"]))
    for table in (in_order(pool, sort), searched(pool, sort, moves=3000, seeds=2)):
        starts, ends = _said(sort, table, 5, tmp_path)
        ran = pool.run(sort, table, 5)
        # The model's cycle 0 is that in which the first key switch is taken.
        zero = starts[0][5] - ran.starts[0].cycle
        seen = [(n, kind, unit, mod, part, cycle - zero) for n, kind, unit, mod, part, cycle in starts]
        want = [
            (
                s.switch,
                *_as_built(s.task, sort, test)[:1],
                s.unit,
                *_as_built(s.task, sort, test)[1:],
                s.cycle,
            )
            for s in ran.starts
        ]
        assert seen == want
        assert [(n, cycle - zero) for n, cycle in ends] == sorted(enumerate(ran.ends), key=lambda e: e[1])
        assert all(b > a for a, b in pairwise(ran.ends))
