"""Exploring pipelined key switches beside a processor."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import ringmill as rm
from ringmill import cli
from ringmill.compiled import Compiled
from ringmill.explorer import Exploration, machine_fields
from ringmill.project import design as project_design

# Small enough to be simulated in a moment.
SPACE: dict[str, Any] = {
    "log_n": [13],
    "level_bits": [40],
    "scale_offsets": [0],
    "special_extra": [2],
    "secrets": ["ternary"],
    "words": [60],
    "multipliers": ["word-montgomery"],
}


@rm.kernel
def turned(x: Any = rm.vector(64)) -> Any:
    """A sum, whose rotations need each other. Those of one operand are hoisted, which is the host's."""
    return x.sum() + x.rotate(3)


@rm.kernel
def doubled(x: Any = rm.vector(64)) -> Any:
    """No key is switched."""
    return x + x


@cache
def found(device: str, kernel: Any = turned) -> Exploration:
    return rm.explore(
        kernel, device, target="pipelined", space=SPACE, max_error=1e-3, seconds=1e6, progress="none"
    )


def compiled_of(design: dict[str, Any]) -> Compiled:
    p = design["parameters"]
    literal = {"scale_bits": p["scale_bits"], "secret": p["secret"]}
    params = rm.Params.from_primes(p["log_n"], p["q"], p["p"], p["dnum"], **literal)
    return turned.compile(params=params)


@pytest.mark.parametrize("device", ["alveo-u250", "alveo-u280"])
def test_the_best_engine_takes_what_its_machine_says(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    exploration = found(device)
    assert exploration.best_proven
    assert exploration.front_proven
    best = exploration.best
    predicted = best["predicted"]
    compiled = compiled_of(best)
    said = compiled.estimate(best["machine"])
    assert said["cycles"] == predicted["cycles"]["value"] >= predicted["cycles_bound"]["value"]
    assert said["counters"]["key_switches"] > 0
    clock = predicted["frequency_mhz"]
    assert clock["origin"]["kind"] == "assumed"
    # All channels of the board: four of DDR4, or HBM2.
    assert machine_fields(best)["bandwidth"] == {"alveo-u250": 76_800, "alveo-u280": 460_000}[device]
    assert "no build of the engine is routed" in clock["origin"]["source"]
    assert predicted["latency_ms"]["value"] == pytest.approx(1e3 * said["seconds"])
    for figure in predicted["resources"].values():
        assert figure["origin"]["source"]
    # Every row of the front, by its own machine: nothing is faster than the best.
    rows = exploration.rows()
    assert min(row["latency_ms"] for row in rows) == predicted["latency_ms"]["value"]
    assert {row["build"] for row in rows} <= {"streams", "pool"}
    assert machine_fields(best)["word_bits"] == 60
    assert cli.main(["targets"]) == 0
    assert "\npipelined " in capsys.readouterr().out


def test_the_search_finds_what_every_machine_of_its_space_tried_one_by_one_does() -> None:
    """Chains alone, since there are few: each is estimated, and the fastest that fits is the best."""
    space = {**SPACE, "builds": ["streams"], "keys": ["whole"]}
    asked = {"target": "pipelined", "max_error": 1e-3, "seconds": 1e6, "progress": "none"}
    best = rm.explore(turned, "alveo-u250", space=space, **asked).best
    compiled = compiled_of(best)
    cycles = {}
    with pytest.raises(rm.ExploreError, match="lut"):
        rm.explore(turned, "alveo-u250", space={**space, "lanes": [32]}, **asked)
    for lanes in (2, 4, 8, 16):
        alone = rm.explore(turned, "alveo-u250", space={**space, "lanes": [lanes]}, **asked).best
        assert machine_fields(alone)["lanes"] == lanes
        cycles[lanes] = compiled.estimate(alone["machine"])["cycles"]
    assert best["predicted"]["cycles"]["value"] == min(cycles.values())


@pytest.mark.parametrize(
    ("kernel", "device", "space", "code", "words"),
    [
        (turned, "kintex7-325t", SPACE, "Constraint", "an UltraScale"),
        (turned, "zcu104", SPACE, "Constraint", r"whose file has a \[link\]"),
        (turned, "zcu102", {**SPACE, "lanes": [32], "builds": ["streams"]}, "Infeasible", "zcu102"),
        (turned, "alveo-u250", {**SPACE, "lanes": [3]}, "Space", "2, 4, 8, 16, 32"),
        (turned, "alveo-u250", {**SPACE, "buses": [64]}, "UnknownAxis", "buses"),
        (
            doubled,
            "alveo-u250",
            SPACE,
            "Infeasible",
            "are merged with a rescale or hoisted, which is the host's work",
        ),
    ],
)
def test_what_cannot_be_explored_is_named(
    kernel: Any, device: str, space: dict[str, Any], code: str, words: str
) -> None:
    with pytest.raises(rm.ExploreError, match=words) as refused:
        rm.explore(kernel, device, target="pipelined", space=space, max_error=1e-3, progress="none")
    assert refused.value.code == code


def test_a_design_is_written_and_shown(tmp_path: Any) -> None:
    file = tmp_path / "design.json"
    exploration = found("alveo-u250")
    exploration.save(file)
    assert json.loads(file.read_text("utf-8"))["machine"].startswith("pipelined:build=")
    with pytest.raises(rm.CommandError, match="For its key-switch engine: ringmill build") as refused:
        project_design.read(file)
    assert refused.value.code == "NotBuilt"
    engine = tmp_path / "engine"
    assert cli.main(["build", str(file), "--out", str(engine)]) == 0
    built = json.loads((engine / "engine.json").read_text("utf-8"))
    assert built["primes"]["limbs"] == exploration.best["parameters"]["q"]
    assert set(exploration.best["machine"].split(",")) <= set(built["machine"].split(","))
    page = tmp_path / "page.html"
    exploration.report(page)
    assert "pipelined:build=" in page.read_text("utf-8")
    # What boards take was measured with other machines on them.
    assert exploration.best["predicted"].get("power_w") is None
