"""Options of the command line: each reaches what it names, and results are those of the calls from Python."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from allpairspy import AllPairs

import ringmill as rm
from ringmill import cli
from ringmill._native import core_sizes
from ringmill.kernels import NINE
from ringmill.studies.papers import paper
from ringmill.studies.papers.paper import Settings


def reported(capsys: pytest.CaptureFixture[str], *words: Any) -> dict[str, Any]:
    """Run a verb in this process and return its output."""
    assert cli.main([*map(str, words), "--json", "--quiet"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


MACHINES = [
    ("--machine", "reference"),
    *(("--machine", "cpu", "--threads", threads) for threads in (1, 3)),
    *(("--machine", "compact", "--butterflies", count) for count in core_sizes()["butterflies"]),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a kernel, its keys and its data."""
    folder = tmp_path_factory.mktemp("client")
    params = rm.Params.from_bits(10, [50, 40, 40], [50], 3, insecure=True)
    compiled = rm.kernel(lambda x: (x * x).rotate(1) + 0.5).compile(rm.vector(4), params=params)
    compiled.save(folder / "kernel")
    compiled.keygen().save(folder / "keys")
    np.savez(folder / "x.npz", x=np.array([0.5, -0.25, 0.125, 1.0]))
    return folder


@pytest.mark.parametrize("key", ["public", "secret"])
def test_every_way_to_evaluate_writes_the_same_results(
    key: str, client: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--kernel", client / "kernel")
    encrypt = ("encrypt", *at, "--key", client / "keys" / f"{key}.key", "--input", client / "x.npz")
    reported(capsys, *encrypt, "--out", tmp_path / "a")
    evaluate = ("evaluate", *at, "--keys", client / "keys" / "evaluation.keys", "--input", tmp_path / "a")
    written = set()
    for number, (machine, memory) in enumerate(AllPairs([MACHINES, ["expanded", "seeded", "mapped"]])):
        out = tmp_path / str(number)
        reported(capsys, *evaluate, *machine, "--key-memory", memory, "--out", out)
        written.add(out.read_bytes())
    assert len(written) == 1
    decrypt = ("decrypt", *at, "--key", client / "keys" / "secret.key", "--input", tmp_path / "0")
    reported(capsys, *decrypt, "--out", tmp_path / "y.npz")
    x = np.load(client / "x.npz")["x"]
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["out"], np.roll(x * x, -1) + 0.5, atol=1e-6)


#: Constraints and objectives, each other than what holds by default.
CONSTRAINTS: dict[str, list[Any]] = {
    "max_error": [1e-2],
    "security": [0, 192],
    "security_table": ["2018"],
    "minimise": ["area", "error", "security", "energy"],
    "max_latency_ms": [50.0],
    "utilisation": [0.5],
    "mhz": [92.5],
    "magnitude": [0.25],
    "seed": [7],
}
SPACE = {
    "log_n": [12, 13, 14],
    "level_bits": [26, 30],
    "special_extra": [2],
    "secrets": ["ternary"],
    "words": [36],
    "butterflies": [1, 8],
    "buses": [128, 512],
}


@pytest.mark.parametrize(
    ("constraint", "value"),
    [(constraint, value) for constraint, values in CONSTRAINTS.items() for value in values],
)
def test_a_constraint_on_the_command_line_is_that_of_the_call(
    constraint: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    design = tmp_path / "design.json"
    words = ("explore", "coxhe:d", "--device", "zcu102", "--space", tmp_path / "space.json", "--seconds", 0)
    reported(capsys, *words, "--" + constraint.replace("_", "-"), value, "--out", design)
    found: dict[str, Any] = json.loads(design.read_text())
    asked: dict[str, Any] = {{"security_table": "table"}.get(constraint, constraint): value}
    called = rm.explore(NINE[3], "zcu102", space=SPACE, seconds=0, progress="none", **asked)
    assert found == json.loads(json.dumps(called.best))
    predicted = found["predicted"]
    kept = {
        "max_error": lambda: predicted["error"]["value"] <= value,
        "security": lambda: (predicted["security_level"] or 0) >= value,
        "security_table": lambda: "2018" in predicted["security_bits"]["origin"]["source"],
        "max_latency_ms": lambda: predicted["latency_ms"]["value"] <= value,
        "utilisation": lambda: predicted["resources"]["lut"]["value"] <= value * 274_080,
        "mhz": lambda: predicted["frequency_mhz"]["value"] == value,
        "magnitude": lambda: found["kernel"]["magnitude"] == value,
    }
    assert kept.get(constraint, lambda: True)()
    if constraint in ("minimise", "magnitude", "mhz"):
        plain = rm.explore(NINE[3], "zcu102", space=SPACE, seconds=0, progress="none")
        figure = {"area": "area", "error": "error", "energy": "energy_mj"}.get(str(value))
        if figure:
            assert predicted[figure]["value"] <= plain.best["predicted"][figure]["value"]
        elif constraint != "minimise":
            assert found != json.loads(json.dumps(plain.best))


NEEDS = [
    (
        "depth",
        {
            "depth": [1, 3],
            "scale_bits": [30, 45],
            "integer_bits": [0, 8],
            "slots": [1, 512],
            "security": [128, 256],
        },
    ),
    (
        "levels",
        {"levels": [1], "bits": [16, 20], "wide_bits": [50, 54], "log_n": [12, 13], "slots": [64, 256]},
    ),
]


@pytest.mark.parametrize(("way", "axes"), NEEDS, ids=["depth", "levels"])
def test_parameters_by_need_are_those_of_the_call(
    way: str, axes: dict[str, list[int]], capsys: pytest.CaptureFixture[str]
) -> None:
    seen = set()
    for row in AllPairs(list(axes.values())):
        needs = dict(zip(axes, row, strict=True))
        options = [word for name, value in needs.items() for word in ("--" + name.replace("_", "-"), value)]
        if way == "levels":
            levels = needs.pop("levels")
            wanted = rm.Params.bootstrapping(levels, insecure=True, **needs)
            answer = reported(capsys, "params", *options, "--insecure")
        else:
            wanted = rm.Params.by_need(**needs)
            answer = reported(capsys, "params", *options)
        assert (answer["fingerprint"], json.loads(answer["q"])) == (wanted.fingerprint, wanted.q)
        seen.add(wanted.fingerprint)
    assert len(seen) > 1, "options change what comes out"


@pytest.mark.parametrize(
    "options",
    [{"word_bits": 36, "bus_bits": 64, "latency": 1}, {"word_bits": 60, "bus_bits": 1024, "latency": 80}],
    ids=["36", "60"],
)
@pytest.mark.long
def test_a_comparison_on_the_command_line_is_that_of_the_call(
    options: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    words = itertools.chain(*(("--" + name.replace("_", "-"), value) for name, value in options.items()))
    answer = reported(capsys, "compare", "casa", *words, "--effort", 10)
    called = paper("casa").facts(Settings(effort=10, **options))
    assert answer["rows"] == json.loads(json.dumps(called["rows"]))
