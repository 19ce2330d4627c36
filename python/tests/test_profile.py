"""`ringmill profile`: shares that add up, ceilings from figures, and a table to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from misuse_world import kernel

import ringmill as rm
from ringmill import cli
from ringmill.compiled import compile_traced
from ringmill.profile import facts, profile

SPENT = [
    # What it is, calls, seconds, bytes, words multiplied.
    ("transform", 4, 0.3, 1_000_000, 2_400_000),
    ("inner product", 2, 0.1, 900_000, 10_000),
    ("copy", 1, 0.1, 4_000_000, 0),
    ("automorphism", 1, 0.5, 100_000, 0),
]


def test_shares_and_bounds_follow_from_what_was_measured() -> None:
    found = facts("k", SPENT, (10e6, 10e6), 1.25)
    rows = {row["kind"]: row for row in found["rows"]}
    assert [row["share"] for row in found["rows"]] == pytest.approx([0.5, 0.3, 0.1, 0.1])
    # 2.4 million words in 0.3 s are 8 of 10 million a second; 0.9 million bytes in 0.1 s are 9 of 10.
    assert rows["transform"]["multiplier"] == pytest.approx(0.8)
    assert rows["transform"]["multiplications_a_byte"] == pytest.approx(2.4)
    assert rows["inner product"]["memory"] == pytest.approx(0.9)
    bounds = {kind: row["bound"] for kind, row in rows.items()}
    assert bounds == {
        "transform": "multiplier",
        "inner product": "memory",
        "copy": "caches",
        "automorphism": "neither",
    }
    # At the nearer ceiling: 0.24 + 0.09 + 0.1 (as it is, from caches) + 0.01 seconds.
    assert found["least_seconds"] == pytest.approx(0.44)
    assert (found["timed_seconds"], found["seconds"]) == (pytest.approx(1.0), 1.25)


def test_a_kernel_is_timed_by_kind_of_work() -> None:
    compiled = kernel()
    found = profile(compiled, runs=2)
    kinds = {row["kind"]: row for row in found["rows"]}
    assert {"transform", "inverse transform", "inner product", "base conversion"} <= set(kinds)
    assert sum(row["share"] for row in found["rows"]) == pytest.approx(1)
    # The work does not depend on the run: a multiplication a word and stage at least, over all transforms.
    log_n, work = compiled.params.log_n, compiled.work()
    transforms = sum(kinds[name]["multiplications"] for name in ("transform", "inverse transform"))
    assert 1.5 * log_n < transforms / (work["transforms"] << log_n) < 10 * log_n
    assert found["ceilings"]["multiplications_a_second"] > 1e7 < found["ceilings"]["bytes_a_second"]


def test_the_command_prints_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "kernel")
    kernel().save(path)
    assert cli.main(["profile", "--kernel", path, "--runs", "1", "--quiet"]) == 0
    printed = capsys.readouterr().out
    for word in ("inner product", "share", "multiplier", "memory", "ceilings", "GB a second"):
        assert word in printed
    assert cli.main(["profile", "--kernel", path, "--runs", "1", "--quiet", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["kernel"] == kernel().name
    assert {"kind", "share", "multiplier", "memory", "bound"} <= set(reported["rows"][0])


#: Each element one place on.
SHIFT = np.eye(64, k=1)


@rm.kernel
def cube(x: Any) -> Any:
    return (x * x * x) @ SHIFT


@pytest.mark.parametrize("method", ["hybrid", "klss", "auto"])
def test_every_switching_gives_the_same_numbers(
    method: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    params = rm.Params.from_bits(11, [50, 40, 40, 40], [50, 50], 2, insecure=True)
    compiled = cube.compile(rm.vector(64), params=params, switching=method)
    x = rng.uniform(-1, 1, 64)
    keys = compiled.keygen()
    assert np.abs(compiled.run(keys, x=x) - cube(x)).max() < 2.0**-20
    switches = compiled.work()["switches"]
    assert sum(count for *_, count in switches) == compiled.cost["key_switches"]
    names = {name.split(",")[0] for _, name, _ in switches}
    assert names == {"hybrid"} if method == "hybrid" else names <= {"hybrid", "KLSS"}
    assert method != "klss" or names == {"KLSS"}
    # The kernel file keeps the method, and keys are those of every method.
    compiled.save(tmp_path / "kernel")
    loaded = rm.Compiled.load(tmp_path / "kernel")
    assert loaded.switching == method
    results = loaded.evaluate(keys, compiled.encrypt(keys, x=x))
    assert np.abs(loaded.decrypt(keys, results) - cube(x)).max() < 2.0**-20


def test_a_key_form_counts_in_the_predicted_error(rng: np.random.Generator) -> None:
    # Digits as wide as the special primes; those of the base form are half as wide.
    params = rm.Params.from_bits(11, [50] * 6, [50, 50], 6, scale_bits=40, insecure=True)
    turn = rm.kernel(lambda x: x.rotate(1))
    base = compile_traced(turn.trace(rm.vector(1024)), params=params, output_level=4)
    wide = base.switched(rm.key_switching("hybrid", forms=["6+2/2"], levels={4: "6+2/2"}))
    assert wide.predicted_error["out"] > base.predicted_error["out"]
    x = rng.uniform(-1, 1, 1024)
    for compiled in (base, wide):
        keys = compiled.keygen()
        # Under the secret key, where encryption errs less than the rotation.
        results = compiled.evaluate(keys, compiled.encrypt(keys.secret, x=x))
        measured = np.log2(np.abs(compiled.decrypt(keys, results) - np.roll(x, -1)).max())
        assert (
            measured < compiled.predicted_error["out"] <= results.error_log2 == pytest.approx(-20, abs=1e-6)
        )


def test_key_forms_and_methods_of_levels_travel_with_kernel_and_keys(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    params = rm.Params.from_bits(11, [50, 40, 40, 40], [50, 50], 2, insecure=True)
    method = rm.key_switching("hybrid", forms=["3+1/1", "2+2/2"], levels={1: "2+2/2", 2: "3+1/1", 3: "klss"})
    assert method == "hybrid 3+1/1 2+2/2 @1=2+2/2 @2=3+1/1 @3=klss"
    compiled = cube.compile(rm.vector(64), params=params, switching=method)
    names = {level: name for level, name, _ in compiled.work()["switches"]}
    assert names[2] == "hybrid, digits of 1, 1 special primes"
    assert names[1] == "hybrid, digits of 2, 2 special primes"
    assert names[3].startswith("KLSS, digits of 2")
    assert "each also as 3+1/1, 2+2/2" in repr(compiled)
    assert method in repr(compiled)
    keys = compiled.keygen()
    assert keys.evaluation.forms == compiled.forms
    assert "forms 3+1/1 2+2/2" in repr(keys.evaluation)
    x = rng.uniform(-1, 1, 64)
    arguments = compiled.encrypt(keys, x=x)
    results = compiled.evaluate(keys, arguments)
    assert np.abs(compiled.decrypt(keys, results) - cube(x)).max() < 2.0**-20
    assert "evaluation.forms" in keys.save(tmp_path / "keys")
    compiled.save(tmp_path / "kernel")
    loaded = rm.Compiled.load(tmp_path / "kernel")
    for memory in ("expanded", "seeded", "mapped"):
        again = rm.Keys.load(params, tmp_path / "keys", memory=memory)
        assert again.evaluation.forms == compiled.forms
        assert loaded.evaluate(again, arguments).to_bytes() == results.to_bytes()


def test_forms_worth_having_take_time_off() -> None:
    params = rm.Params.named("V50")
    forms = rm.key_forms(params, 3)
    assert 1 <= len(forms) <= 3
    assert rm.key_forms(params, 0) == []
    limbs, _, rest = forms[0].partition("+")
    special, _, digit = rest.partition("/")
    assert int(limbs) <= 28
    assert int(digit) <= int(special)
