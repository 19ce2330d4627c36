"""Residual networks and HELR in blocks: packed against plain, encrypted against clear, runs that go on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ringmill as rm
from ringmill import memory
from ringmill.cli import main
from ringmill.studies.demo import effort
from ringmill.studies.workloads import helr, multiplexed, placed, programs, resnet, stepwise, training, whole
from ringmill.studies.workloads.multiplexed import Grid
from ringmill.studies.workloads.whole import Job

Array = NDArray[np.float64]

#: Two stages on an image of four by four.
TINY = resnet.Shape(side=4, channels=(4, 8), blocks=1, classes=5, degree=31)


def layer(image: Array, weights: Array, stride: int) -> Array:
    """A convolutional layer by its definition."""
    outputs, channels, size, _ = weights.shape
    half, side = size // 2, image.shape[1]
    out = np.zeros((outputs, side // stride, side // stride))
    for o, y, x in np.ndindex(out.shape):
        for c, u, v in np.ndindex(channels, size, size):
            yi, xi = stride * y + u - half, stride * x + v - half
            if 0 <= yi < side and 0 <= xi < side:
                out[o, y, x] += weights[o, c, u, v] * image[c, yi, xi]
    return out


def test_packed_convolutions_are_those_of_the_definition(rng: np.random.Generator) -> None:
    grid, image = Grid(8, 1, 4), rng.normal(size=(4, 8, 8))
    slots = grid.pack(image)
    # Each layer reads what the one before left, where it left it.
    for outputs, gap, stride, size in (
        (4, 1, 1, 3),
        (8, 2, 2, 3),
        (8, 2, 1, 1),
        (16, 4, 2, 3),
        (16, 4, 1, 3),
    ):
        weights = rng.normal(size=(outputs, grid.channels, size, size)) / 10
        plan = multiplexed.plan([multiplexed.Input(grid, weights, stride)], gap)
        slots, image, grid = multiplexed.convolve([slots], plan), layer(image, weights, stride), plan.target
        assert len(slots) == plan.slots
        # What has fewer slots than it was given repeats in them.
        parts = slots.reshape(-1, grid.period)
        for part in parts:
            np.testing.assert_allclose(grid.unpack(part), image, atol=1e-12)
        slots = parts[0]


def test_a_convolution_needs_few_rotation_keys(rng: np.random.Generator) -> None:
    weights = rng.normal(size=(4, 4, 3, 3)) / 10
    plan = multiplexed.plan([multiplexed.Input(Grid(4, 1, 4), weights)], 1)
    compiled = resnet.convolution.compile(rm.vector(64), plan, np.zeros(64), precision=10)
    assert set(compiled.plan.rotations) == {1, 2, 4, 16}
    # By columns once, by rows for each of four groups, and by groups; nine taps for each of them.
    assert (compiled.cost["rotate"], compiled.cost["mul_plain"]) == (2 + 4 * 2 + 3, 4 * 9)


@pytest.mark.parametrize("shape", [TINY, resnet.Shape(8, (4, 8, 16), 1, 10, 15)])
def test_the_programs_together_are_the_network(shape: resnet.Shape, rng: np.random.Generator) -> None:
    network = resnet.Network.drawn(shape)
    image = rng.uniform(-1, 1, (3, shape.side, shape.side))
    state: dict[str, Any] = {"x": Grid(shape.side, 1, shape.channels[0]).pack(image)}
    for step in resnet.steps(network):
        given = {name: np.resize(state[source], step.slots) for name, source in step.reads.items()}
        state[step.writes] = step.kernel(**given, **step.arguments)
        last = step
    found = [state["scores"][part][slot] for part, slot in resnet.score_slots(last.grid, shape.classes)]
    np.testing.assert_allclose(found, network.scores(image), atol=1e-12)
    assert sum(step.shared for step in resnet.steps(network)) == shape.layers - 1


def test_resnet_20_has_its_layers_and_its_polynomial_its_error() -> None:
    shape = resnet.Shape()
    assert (shape.layers, shape.slots, shape.ramp.depth) == (20, 1 << 14, 7)
    t = np.linspace(-1, 1, 10_001)
    assert np.abs(shape.ramp(t) - np.maximum(t, 0)).max() <= shape.ramp.error < 0.005


def test_an_encrypted_network_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    params = resnet.parameters(TINY, log_n=10, insecure=True)
    first = Job(TINY, params).run(tmp_path, stop_after=3)
    assert first["programs done"] == "3 of 11"
    secret = (tmp_path / "keys" / "secret.key").read_bytes()
    # A kill while the state was being replaced leaves a file of another name behind.
    (tmp_path / ".state.half").write_bytes(b"PK")
    done = Job(TINY, params).run(tmp_path)
    assert done["programs done"] == "11 of 11, 3 of them before"
    assert (tmp_path / "keys" / "secret.key").read_bytes() == secret
    assert done["error"] < 2.0**-16
    assert done["class, encrypted"] == done["class, in the clear"]
    # A finished run says the same again without computing.
    again = Job(TINY, params).run(tmp_path)
    assert again["scores"] == done["scores"]
    with pytest.raises(rm.CommandError, match="another run"):
        Job(TINY, params, seed=2).run(tmp_path)


def test_a_run_killed_in_the_middle_goes_on_from_the_state_it_left(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from test_resnet import TINY; from ringmill.studies.workloads import resnet;"
        "from ringmill.studies.workloads.whole import Job;"
        "Job(TINY, resnet.parameters(TINY, log_n=10, insecure=True)).run(pathlib.Path(sys.argv[1]))"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=Path(__file__).parent)
    try:
        while child.poll() is None and not (tmp_path / stepwise.STATE).exists():
            time.sleep(0.02)
    finally:
        child.kill()
        child.wait()
    done = Job(TINY, resnet.parameters(TINY, log_n=10, insecure=True)).run(tmp_path)
    finished, before = re.fullmatch(r"11 of (11), (\d+) of them before", done["programs done"]).groups()
    assert 1 <= int(before) <= int(finished)
    assert done["class, encrypted"] == done["class, in the clear"]
    assert done["error"] < 2.0**-16


def test_memory_is_asked_for_before_the_work(tmp_path: Path) -> None:
    job = Job(TINY, resnet.parameters(TINY, log_n=10, insecure=True))
    with pytest.raises(rm.CommandError, match=r"may take 0\.0 GB"):
        job.run(tmp_path, memory_limit=1e6)
    assert not any(tmp_path.iterdir())  # the folder is as free for another network as it was
    assert memory.available() > 1e8


def test_a_run_with_keys_in_less_memory_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, load = [], rm.Keys.load
    monkeypatch.setattr(rm.Keys, "load", lambda *a, memory: kept.append(memory) or load(*a, memory=memory))
    params = resnet.parameters(TINY, log_n=10, insecure=True)
    less, more = (Job(TINY, params).survey(seeded=seeded)["keys"] for seeded in (True, False))
    assert less < 0.6 * more
    Job(TINY, params).run(tmp_path, seeded=True, stop_after=1)
    done = Job(TINY, params).run(tmp_path, seeded=True)
    assert kept == ["seeded"]
    assert done["class, encrypted"] == done["class, in the clear"]
    assert done["error"] < 2.0**-16


def test_a_smaller_network_that_fits_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(whole.SHAPES, "tiny", TINY)
    # What the tests before this one have taken is not the workload's.
    monkeypatch.setattr(memory, "held", lambda: 1e8)
    assert main(["workload", "resnet-8", "--run", str(tmp_path), "--memory", "2", "--quiet"]) == 1
    reported = capsys.readouterr().err
    needed, smaller = re.search(
        r"needs about (.*) GB \(.* would fit: tiny --key-memory seeded, (.*) GB\.$", reported.strip()
    ).groups()
    assert float(smaller) < 2 < float(needed)
    assert main(["workload", "resnet-8", "--run", str(tmp_path), "--memory", "0.1", "--quiet"]) == 1
    assert "Nothing smaller fits; use a machine" in capsys.readouterr().err
    assert not (tmp_path / "keys").exists()


def test_blocks_of_helr_train_as_a_textbook_does(rng: np.random.Generator) -> None:
    shape = helr.Shape(records=32, features=7, width=4, steps=6)
    blocks = shape.cut(rng.uniform(-0.5, 0.7, (32, 7)))
    schedule = training.Schedule(steps=6, rate=1.0)
    expected = helr.trained_clear(blocks, shape, schedule)
    textbook = training.train_clear(np.concatenate(blocks, axis=1), schedule)
    np.testing.assert_allclose(expected, textbook, atol=1e-12)
    clear = helr.training_of_two(*blocks, shape=shape, schedule=schedule)
    np.testing.assert_allclose(schedule.reach * np.concatenate([w[0] for w in clear]), expected, atol=1e-12)
    params = rm.Params.bootstrapping(helr.LEVELS, log_n=10, slots=shape.slots, insecure=True)
    block = rm.matrix(shape.records, shape.width)
    compiled = helr.training_of_two.compile(block, block, shape, schedule, params=params)
    assert len(compiled.bootstraps) == 2
    found = compiled.run(z0=blocks[0], z1=blocks[1])
    weights = schedule.reach * np.concatenate([block[0] for block in found])
    assert np.abs(weights - expected).max() < 2.0**-8


def test_programs_are_counted_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {
        "bootstrap": lambda: programs.bootstrap_parts(10, 3, insecure=True),
        "resnet-20": lambda: programs.resnet_parts(TINY, log_n=10, insecure=True),
    }
    monkeypatch.setattr(programs, "PROGRAMS", small)
    found = programs.describe("bootstrap", tmp_path)
    (row,) = found["rows"]
    assert (row["bootstraps"], row["times"]) == (1, 1)
    assert row["keys"] > 3 < row["rotations"]
    assert row["key_switches"] == row["rotations"] + row["products"]
    assert row["seconds"] > 0 < row["transforms"]
    (saved,) = tmp_path.glob("*.kernel")
    assert rm.Compiled.load(saved).bootstraps
    found = programs.describe("resnet-20", tmp_path)
    assert found["bootstraps"] == TINY.layers - 1
    assert found["rotations"] == sum(row["rotations"] * row["times"] for row in found["rows"])
    assert len(list(tmp_path.glob("*.kernel"))) == 1 + len(found["rows"])


@pytest.mark.long
@pytest.mark.parametrize("name", ["bootstrap", "helr", "helr-training", "resnet-20"])
def test_the_page_says_what_programs_take(name: str) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "workloads.md").read_text()
    (line,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
    found = programs.describe(name)
    levels = max(row["levels"] for row in found["rows"])
    assert int(cells[2].split()[0]) == levels
    counts = [found[key] for key in ("rotations", "products", "constant_products")]
    assert [int(cell) for cell in cells[3:6]] == counts
    shipped = found["costs"].startswith("shipped")
    if shipped:
        assert float(cells[6]) == pytest.approx(found["seconds"], rel=0.05)
    if name == "resnet-20":  # what the report prints
        by_costs = set() if shipped else {"costs", "seconds"}
        kept = [
            [{key: row[key] for key in row.keys() - by_costs} for row in rows]
            for rows in (effort.resnet_rows(found), json.loads(effort.RESNET.read_text(encoding="utf-8")))
        ]
        assert kept[0] == kept[1]


def test_the_rows_of_resnet_are_those_that_the_page_of_workloads_has() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "workloads.md").read_text()
    (line,) = (line for line in page.splitlines() if line.startswith("| `resnet-20` |"))
    cells = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
    activation, image = json.loads(effort.RESNET.read_text(encoding="utf-8"))
    assert [int(c) for c in cells[3:6]] == [image[k] for k in ("rotations", "products", "constant_products")]
    assert float(cells[6]) == pytest.approx(image["seconds"], rel=0.05)
    assert (activation["levels"], activation["bootstraps"], image["bootstraps"]) == (20, 1, 19)
    assert image["costs"].startswith("shipped")


def test_what_is_left_follows_from_programs_of_the_same_sort() -> None:
    sorts = [("a", "x"), ("b", "y"), ("c", "x"), ("d", "y")]
    assert stepwise._left({"a": 30.0}, sorts, 1) == ""
    assert ", about 2 minutes left, until " in stepwise._left({"a": 30.0, "b": 90.0}, sorts, 2)
    assert ", about 90 seconds" not in stepwise._left({"a": 30.0, "b": 90.0, "c": 40.0}, sorts, 3)


@pytest.mark.parametrize(("marked", "places"), [(False, 4), (True, 5)])
def test_in_one_program_the_compiler_bootstraps_less(
    marked: bool, places: int, rng: np.random.Generator
) -> None:
    network = resnet.Network.drawn(TINY)
    params = resnet.parameters(TINY, log_n=10, insecure=True)
    compiled = placed.program(network, marked=marked).compile(rm.vector(TINY.slots), params=params)
    # An image comes with levels enough for the first activation.
    assert len(compiled.bootstraps) == places
    image = rng.uniform(-1, 1, (3, TINY.side, TINY.side))
    results = compiled.run(x=Grid(TINY.side, 1, TINY.channels[0]).pack(image))
    grid = list(resnet.steps(network))[-1].grid
    parts = results if isinstance(results, tuple) else (results,)
    found = [parts[part][slot] for part, slot in resnet.score_slots(grid, TINY.classes)]
    np.testing.assert_allclose(found, network.scores(image), atol=2.0**-14)


@pytest.mark.long
def test_the_topology_of_resnet_20_is_placed_with_one_bootstrapping_less() -> None:
    shape = resnet.Shape(side=8, channels=(4, 8, 16), classes=4)
    assert shape.layers == 20
    network = resnet.Network.drawn(shape)
    params = resnet.parameters(shape, log_n=10, insecure=True)
    compiled = placed.program(network).compile(rm.vector(shape.slots), params=params)
    activations = sum(step.shared for step in resnet.steps(network))
    assert (len(compiled.bootstraps), activations) == (18, 19)
