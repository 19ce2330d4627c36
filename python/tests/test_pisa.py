"""Program traces of p-isa are the operations that their rows say, at the levels that they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm
from ringmill.cli import main
from ringmill.interop import pisa

HEAD = "instruction,scheme,poly_modulus_degree,rns_terms,cipher_degree,arg0,arg1,arg2,arg3\n"
MULTIPLY = (
    "mul,CKKS,8192,6,ct2-3-5,ct0-2-5,ct1-2-5\n"
    "relin,CKKS,8192,6,ct3-2-5,ct2-3-5\n"
    "rescale,CKKS,8192,6,ct4-2-4,ct3-2-5\n"
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "multiply.csv"
    path.write_text(HEAD + MULTIPLY)
    return path


def test_a_trace_is_counted_at_its_own_levels(trace: Path) -> None:
    workload = pisa.load(trace)
    assert (workload.inputs, workload.outputs) == (["ct0", "ct1"], ["ct4"])
    compiled = workload.compile()
    assert (compiled.params.log_n, len(compiled.params.q), len(compiled.params.p)) == (13, 5, 1)
    # One digit a prime: each is transformed back once, and forward modulo the 5 others. Both halves of the
    # sum are divided by the special prime and by the last one at once.
    work = compiled.work()
    assert [(level, count) for level, _, count in work["switches"]] == [(4, 1)]
    assert work["transforms"] >= 5 + 5 * 5 + 2 * (1 + 4)


def test_rows_compute_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text(
        HEAD
        + "add,CKKS,2048,5,s-2-4,x-2-4,y-2-4\n"
        + "sub,CKKS,2048,5,d-2-4,s-2-4,y-2-4\n"
        + "negate,CKKS,2048,5,n-2-4,d-2-4\n"
        + "rotate,CKKS,2048,5,r-2-4,n-2-4,3\n"
        + "square,CKKS,2048,5,q-3-4,r-2-4\n"
        + "relin,CKKS,2048,5,l-2-4,q-3-4\n"
        + "rescale,CKKS,2048,5,z-2-3,l-2-4\n"
        + "mod_switch,CKKS,2048,5,w-2-2,z-2-3\n"
    )
    workload = pisa.load(path)
    x, y = np.random.default_rng(1).uniform(-1, 1, (2, 1024))
    expected = np.roll(-x, -3) ** 2
    np.testing.assert_allclose(workload.kernel(x=x, y=y)["w"], expected, atol=1e-12)
    compiled = workload.compile(bits=40)
    found = compiled.run(compiled.keygen(insecure=True), x=x, y=y)["w"]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no program trace"),
        (HEAD, "no operations"),
        ("a,b\n" + MULTIPLY, "no program trace"),
        (HEAD + MULTIPLY.replace("CKKS", "BGV"), "rows of BGV"),
        (HEAD + MULTIPLY.replace("relin", "twirl").replace("rescale", "shrink"), "shrink, twirl"),
        (HEAD + MULTIPLY.replace("8192,6,ct3", "4096,6,ct3"), "line 3: rows have one ring degree"),
        (HEAD + MULTIPLY.replace("8192", "8191"), "ring degree 8191"),
        (HEAD + MULTIPLY.replace("8192", "many"), "'many' is no number"),
        (HEAD + MULTIPLY.replace("ct0-2-5,ct1-2-5", "ct0-2-5"), "line 2: mul has 2 arguments, and takes 3"),
        *((HEAD + MULTIPLY.rsplit(",", k)[0], "line") for k in range(1, MULTIPLY.count(","))),
        *(
            (HEAD + ",".join(MULTIPLY.split(",")[:k]), "line 2: a row begins with instruction")
            for k in (1, 2, 3)
        ),
        (HEAD + MULTIPLY.replace("ct0-2-5", "ct0"), "'ct0' is no ciphertext"),
        (HEAD + MULTIPLY.replace("ct0-2-5", "ct0-2-6"), "ct0-2-6 has 6 primes of 6"),
    ],
)
def test_what_is_no_trace_of_ckks_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(rm.RingmillError, match=message):
        pisa.load(path)


def test_a_trace_that_multiplies_more_often_than_its_primes_allow_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.csv"
    rows = [f"mul,CKKS,2048,3,ct{i + 1}-2-2,ct{i}-2-2,ct{i}-2-2" for i in range(4)]
    path.write_text(HEAD + "\n".join(rows) + "\n")
    with pytest.raises(rm.RingmillError, match="level"):
        pisa.load(path).compile()


def test_the_command_writes_a_kernel_that_is_simulated(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = trace.with_suffix(".kernel")
    assert main(["import", "pisa", "program", str(trace), "--out", str(kernel), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["simulate", str(kernel), "--machine", "compact", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] > 0
    assert main(["import", "pisa", "keys", str(trace), "--out", str(kernel)]) == 1
    assert "one program is imported" in capsys.readouterr().err
