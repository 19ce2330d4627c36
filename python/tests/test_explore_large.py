"""Large accelerators: the front against all machines of a small space, bounds, refusals, the command line."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import ringmill as rm
from ringmill import cli
from ringmill.explorer import accelerators, large
from ringmill.explorer.large import Machine

#: Few values of each axis: 96 machines a word.
SMALL: dict[str, tuple[int, ...]] = {
    "WORDS": (28, 36, 60),
    "LANES": (64, 256, 1024),
    "MULTIPLIERS": (512, 4096),
    "CONVERSIONS": (1024, 6144),
    "ELEMENTS": (256, 1536),
    "MEBIBYTES": (1, 2, 16, 224),
}
KERNEL = """
import ringmill as rm

@rm.kernel
def cubic(x=rm.vector(1024)):
    return (x * x + 0.5 * x) * x
"""


@rm.kernel
def rotated(x: Any = rm.vector(256)) -> Any:
    """A product, and a sum that moves its slots."""
    return (x * x).sum() * 0.01 + x


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, values in SMALL.items():
        monkeypatch.setattr(large, name, values)
    monkeypatch.setattr(large, "AXES", dict(zip(large.AXES, SMALL.values(), strict=True)))


def cycles(compiled: rm.Compiled, machine: Machine, rate: float, place: Path) -> int:
    place.write_text(machine.text(rate))
    return int(compiled.estimate(f"file:{place}")["cycles"])


def all_of(tmp_path: Path, area: float, rate: float) -> list[tuple[Machine, int]]:
    """Every machine with its cycles, one by one."""
    found = []
    for word in SMALL["WORDS"]:
        compiled = rotated.compile(word=word, precision=10)
        for shape in itertools.product(*list(SMALL.values())[1:]):
            machine = Machine(word, *shape)
            if machine.area <= area:
                found.append((machine, cycles(compiled, machine, rate, tmp_path / "m.toml")))
    return found


@pytest.mark.parametrize("rate", [1000.0, 20.0])
def test_no_machine_beats_the_front_by_more_than_a_hundredth(
    small: None, tmp_path: Path, rate: float
) -> None:
    every = all_of(tmp_path, 90.0, rate)
    found = accelerators(rotated, area=90, bandwidth=f"{rate:g}GB/s", max_error=2.0**-10, seconds=1e9)
    assert found.proven
    assert found.machines == len(every)
    assert found.simulated < len(every), "bounds spare simulations"
    known = {tuple(getattr(m, name) for name in large.AXES): count for m, count in every}
    for row in found.front:
        assert row["cycles"] == known[tuple(row[name] for name in large.AXES)]
    for machine, count in every:
        least = min(
            (row["cycles"] for row in found.front if row["area_mm2"] <= machine.area), default=math.inf
        )
        assert least <= 1.01 * count, machine
    areas, times = ([row[name] for row in found.front] for name in ("area_mm2", "ms"))
    assert areas == sorted(areas)
    assert times == sorted(times, reverse=True)


def test_bounds_are_below_what_a_simulation_gives(tmp_path: Path) -> None:
    compiled = rotated.compile(word=36, precision=10)
    search = large._Search({36: compiled}, 50.0, tmp_path / "m.toml")
    draw = random.Random(3)
    for _ in range(60):
        machine = Machine(36, *(draw.choice(values) for values in list(large.AXES.values())[1:]))
        assert machine.bound(search.work[36]) <= cycles(compiled, machine, 50.0, tmp_path / "n.toml"), machine


def test_a_saved_machine_is_the_one_of_its_row(small: None, tmp_path: Path) -> None:
    compiled = rotated.compile(word=36, precision=10)
    found = accelerators(compiled, area="120 mm2", bandwidth="0.1TB/s")
    assert {row["word"] for row in found.front} == {36}
    found.save(tmp_path / "best.toml")
    facts = compiled.estimate(f"file:{tmp_path / 'best.toml'}")
    assert facts["cycles"] == found.best["cycles"]
    assert 1e3 * sum(joules for _, joules in facts["energy"]) == pytest.approx(found.best["energy_mj"])
    # A slower memory is slower, or the program would not move anything.
    slow = accelerators(compiled, area=120, bandwidth="1GB/s")
    assert slow.best["cycles"] > found.best["cycles"]


def test_words_that_no_parameters_hold_are_named(small: None) -> None:
    with pytest.raises(rm.ExploreError, match=r"28 bits: .*36 bits: ") as refused:
        accelerators(rotated, max_error=1e-40, area=100)
    assert refused.value.code == "Infeasible"
    wide = rotated.compile(precision=30)
    widest = max(q.bit_length() for q in (*wide.params.q, *wide.params.p))
    found = accelerators(wide, area=100)
    assert set(found.refused) == {word for word in SMALL["WORDS"] if word < widest}
    assert all(f"{widest} bits" in why for why in found.refused.values())


def test_a_search_that_is_stopped_says_so(small: None) -> None:
    found = accelerators(rotated, area=100, seconds=0)
    assert not found.proven
    assert found.front
    assert "more seconds" in found.completeness()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ({"area": "150"}, None, ""),
        ({"area": "150 acres"}, "Constraint", "like '150mm2'"),
        ({"area": -1}, "Constraint", "above 0"),
        ({"area": True}, "Constraint", "above 0"),
        ({"area": "1.2.3mm2"}, "Constraint", "like '150mm2'"),
        ({"area": 1e9}, "Constraint", "at most 2,000 mm2"),
        ({"bandwidth": "1MB/s"}, "Constraint", "like '1TB/s'"),
        ({"bandwidth": math.nan}, "Constraint", "above 0"),
        ({"area": 3}, "Infeasible", "the smallest has"),
        ({"max_error": 0}, "Constraint", "between 0 and 1"),
        ({"max_error": "small"}, "Constraint", "between 0 and 1"),
    ],
)
def test_wrong_constraints_are_named(
    small: None, options: dict[str, Any], code: str | None, said: str
) -> None:
    if code is None:
        assert accelerators(rotated, **options).front
        return
    with pytest.raises(rm.ExploreError, match=said) as refused:
        accelerators(rotated, **options)
    assert refused.value.code == code


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(rm.ExploreError, match=r"Give a @ringmill\.kernel"):
        accelerators("kernel")  # type: ignore[arg-type]


def test_the_command_line_explores_draws_and_describes(
    small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, out, page = tmp_path / "k.py", tmp_path / "m.toml", tmp_path / "p.html"
    kernel.write_text(KERNEL)
    call = ["explore", f"{kernel}:cubic", "--target", "taiyi", "--area", "80mm2", "--bandwidth", "400GB/s"]
    assert cli.main([*call, "--out", str(out), "--report", str(page), "--json", "--quiet"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["area"] == 80
    assert facts["bandwidth"] == 400
    assert all(row["area_mm2"] <= 80 for row in facts["front"])
    text = page.read_text()
    assert "Large accelerators for cubic" in text
    assert f"{facts['best']['cycles']:,}" in text
    assert "<svg" in text
    assert cli.main(call) == 0
    assert "Large accelerators for cubic" in capsys.readouterr().out
    assert cli.main(["targets", "--json"]) == 0
    assert "taiyi" in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "taiyi", "--device", "zcu102"], "--device"),
        (["--target", "taiyi", "--mhz", "200", "--seed", "2"], "--mhz, --seed"),
        (["--device", "zcu102", "--area", "80mm2"], "--area"),
        ([], "--device NAME"),
    ],
)
def test_options_of_other_targets_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    kernel = tmp_path / "k.py"
    kernel.write_text(KERNEL)
    assert cli.main(["explore", f"{kernel}:cubic", *options]) != 0
    assert said in capsys.readouterr().err
