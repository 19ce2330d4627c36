"""The folder of the key-switch engine, and the oracle of its self-test."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from self_tests import self_test

import ringmill as rm
from ringmill import cli
from ringmill._native import pool_run
from ringmill.errors import CommandError, MachineError
from ringmill.project import pipelined
from ringmill.project.simulator import verilator

NO_VERILATOR = "the hardware tools are not in the environment"


@cache
def oracle() -> ModuleType:
    return self_test("pipelined/switches.py")


def _params(limbs: int, special: int, dnum: int, *, bits: int = 50, log_n: int = 10) -> rm.Params:
    q = [bits] * limbs
    return rm.Params.from_bits(log_n, q, [bits] * special, dnum, scale_bits=bits - 5, insecure=True)


def _built(folder: Path, params: rm.Params, machine: str, *words: str) -> Path:
    @rm.kernel
    def double(x: Any) -> Any:
        return x + x

    kernel, out = folder / "double.rm", folder / "engine"
    double.compile(x=rm.vector(8), params=params, precision=10).save(kernel)
    assert cli.main(["build", str(kernel), "--machine", machine, "--out", str(out), *words]) == 0
    return out


@pytest.mark.parametrize(
    ("params", "top"),
    [((2, 1, 2), "rm_pipelined_key_switch"), ((5, 2, 3), "rm_pool_key_switch")],
    ids=["chain", "pool"],
)
def test_the_folder_is_whole_and_names_its_files(
    tmp_path: Path, params: tuple[int, int, int], top: str
) -> None:
    out = _built(tmp_path, _params(*params), "pipelined")
    subprocess.run([sys.executable, "-B", out / "test" / "check.py"], check=True)
    listed = [line for line in (out / "engine.f").read_text().splitlines() if not line.startswith("//")]
    assert all((out / place).is_file() for place in listed)
    facts = json.loads((out / "engine.json").read_text())
    assert (facts["top"], len(facts["primes"]["limbs"])) == (top, params[0])
    assert f"-GLimbs={params[0]}" in (out / "sources.mk").read_text()
    page = (out / "ports.md").read_text()
    source = (out / "rtl" / "pipelined" / "src" / f"{top}.sv").read_text()
    head = source[: source.index("\n);")]
    ports = [line for line in head.splitlines() if line.split()[:1] in (["input"], ["output"])]
    assert len([line for line in page.splitlines() if line.startswith("| `")]) == len(ports)


def test_every_level_of_a_pool_has_a_timetable_that_goes(tmp_path: Path) -> None:
    facts = pipelined.engine_of("k", _params(5, 2, 3), rm.MachineSpec("pipelined:units=2,feeds=1")).facts
    built = facts["parameters"]
    assert sorted(facts["timetables"]) == ["1", "2", "3", "4", "5"]
    for name, rows in facts["timetables"].items():
        level = int(name)
        assert len(rows) <= built["Depth"]
        # Special moduli stand behind all limbs of the build.
        found = {row[2] for row in rows if row[0]}
        assert found == {*range(level), built["Limbs"], built["Limbs"] + 1}
        own = [[*row[:2], row[2] - (5 - level) * (row[2] >= 5), *row[3:]] for row in rows]
        _, ends = pool_run((10, 11, 2, 1, built["Sums"]), (level, 2, 2), [tuple(row) for row in own], 4)
        assert len(ends) == 4


def test_seeded_keys_are_said_not_to_be_built(tmp_path: Path) -> None:
    out = _built(tmp_path, _params(2, 1, 2), "pipelined:keys=seeded,clock=200,bandwidth=1000")
    assert "takes both halves of its keys" in (out / "README.md").read_text()


def test_what_no_engine_is_built_for_is_named(tmp_path: Path) -> None:
    for params, machine, says in [
        (_params(4, 2, 2), "pipelined:build=streams", "build=pool"),
        (_params(3, 1, 3), "pipelined:limbs=2", "limbs=3"),
        (_params(3, 1, 3, log_n=11), "pipelined:log_n=10", "N = 2^10 to 2^10"),
        (_params(3, 1, 3), "pipelined:multiplier=word-montgomery,word=60", "word-montgomery"),
    ]:
        with pytest.raises(MachineError, match=says.replace("^", r"\^")):
            pipelined.write("k", params, rm.MachineSpec(machine), tmp_path / "engine")
    assert not (tmp_path / "engine").exists()
    out = _built(tmp_path, _params(1, 1, 1), "pipelined")
    with pytest.raises(CommandError, match="written before"):
        pipelined.write("double", _params(1, 1, 1), rm.MachineSpec("pipelined"), out)
    words = ["build", str(tmp_path / "double.rm"), "--machine", "cpu", "--out", str(tmp_path / "other")]
    assert cli.main(words) == 1


def _product(a: list[int], b: list[int]) -> list[int]:
    """In Z[X]/(X^n + 1), term by term."""
    n, out = len(a), [0] * len(a)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[(i + j) % n] += x * y if i + j < n else -x * y
    return out


def _integers(limbs: list[list[int]], primes: list[int], *, centred: bool = True) -> list[int]:
    """Integers of residues: below half of the product in absolute value, or not negative."""
    whole = prod(primes)
    terms = [whole // q * pow(whole // q, -1, q) for q in primes]
    found = [
        sum(x * t for x, t in zip(column, terms, strict=True)) % whole for column in zip(*limbs, strict=True)
    ]
    return [x - whole if centred and 2 * x > whole else x for x in found]


@pytest.mark.parametrize("signs", [0, 1, 2, 3])
def test_the_oracle_of_a_digit_a_limb_is_integers(signs: int) -> None:
    """Digits and the division as integers of coefficients: schoolbook products, the remainder theorem."""
    of, n = oracle(), 8
    q = [7681, 12289, 10753, 13313]
    psi = [of.root_of(x, n) for x in q]
    found = of.Set(q, psi, 3, 1)
    rng = Random(signs)
    operand = [[rng.randrange(x) for _ in range(n)] for x in q[:3]]
    key = [[[[rng.randrange(x) for _ in range(n)] for x in q] for _ in range(2)] for _ in range(3)]
    addend = [[[rng.randrange(x) for _ in range(n)] for x in q[:3]] for _ in range(2)]
    switched = found.switched(operand, key, addend, signs)

    def back(limbs: list[list[int]], primes: list[int]) -> list[list[int]]:
        return [of.coefficients(a, x, of.root_of(x, n)) for a, x in zip(limbs, primes, strict=True)]

    whole = prod(q)
    for c in range(2):
        total = [0] * n
        for j in range(3):
            digit = _integers(back([operand[j]], [q[j]]), [q[j]], centred=bool(signs & 1))
            total = [
                x + y for x, y in zip(total, _product(digit, _integers(back(key[j][c], q), q)), strict=True)
            ]
        p = q[3]
        for k, x in enumerate(total):
            less = x % p - (p if signs & 2 and 2 * (x % p) > p else 0)
            total[k] = (x % whole - less) // p
            assert (x % whole - less) % p == 0
        for i in range(3):
            wanted = [
                (x + y) % q[i] for x, y in zip(of.values(total, q[i], psi[i]), addend[c][i], strict=True)
            ]
            assert switched[c][i] == wanted


def test_the_oracle_of_several_limbs_raises_centred_integers() -> None:
    of, rng = oracle(), Random(7)
    primes, into = [7681, 12289, 10753], 13313
    whole = prod(primes)
    x = [rng.randrange(-int(0.49 * whole), int(0.49 * whole)) for _ in range(200)]
    limbs = [[a % q for a in x] for q in primes]
    assert of.raised(limbs, primes, into, True) == [a % into for a in x]
    # Without signs it is the integer and some multiple of the product, as many as there are limbs at most.
    plain = of.raised(limbs, primes, into, False)
    assert all(any((a + k * whole) % into == b for k in range(4)) for a, b in zip(x, plain, strict=True))


def _self_test(out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    made = ["make", "selftest", *words]
    return subprocess.run(made, cwd=out, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not verilator(), reason=NO_VERILATOR)
def test_the_self_test_of_a_small_chain_passes_and_sees_a_wrong_word(tmp_path: Path) -> None:
    out = _built(tmp_path, _params(1, 1, 1, bits=30), "pipelined:lanes=2")
    # The compiler's optimisation takes longer than the run.
    lists = out / "sources.mk"
    lists.write_text(lists.read_text().replace("-O2", "-O0"))
    done = _self_test(out)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("ok")]
    assert len(lines) == 4
    assert lines[-1] == "ok   refusals"
    # It is held to the bits.
    test = out / "test" / "selftest.py"
    text = test.read_text()
    assert text.count("job.key = words(") == 1
    # One bit of an operand that the engine is given.
    test.write_text(
        text.replace("        job.key = words(", "        job.operand[5] ^= 1\n        job.key = words(")
    )
    done = _self_test(out)
    assert done.returncode != 0
    assert "not the result of its definition" in done.stderr


@pytest.mark.long
@pytest.mark.skipif(not verilator(), reason=NO_VERILATOR)
@pytest.mark.parametrize(
    ("params", "machine"),
    [
        ((4, 1, 4), "pipelined"),
        ((4, 1, 4), "pipelined:build=pool,units=3,feeds=2"),
        ((5, 2, 3), "pipelined:units=3,feeds=3,multiplier=montgomery"),
    ],
    ids=["chain", "pool", "pool of digits"],
)
def test_the_self_test_of_the_folder_passes(
    tmp_path: Path, params: tuple[int, int, int], machine: str
) -> None:
    out = _built(tmp_path, _params(*params, log_n=12), machine)
    for words in ([], ["WITH=12"]):
        done = _self_test(out, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "ok   refusals" in done.stdout
    assert subprocess.run(["make", "lint"], cwd=out, check=False).returncode == 0
