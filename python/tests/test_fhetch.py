"""FHETCH traces compute the words that an interpreter of their own finds, both ways."""

from __future__ import annotations

import io
import json
import os
import random
import re
from pathlib import Path

import fhetch_oracle as oracle
import numpy as np
import pytest

import ringmill as rm
from ringmill._native import run_program
from ringmill.cli import main
from ringmill.interop import fhetch

N, LOG_N = 16, 4
# Primes that are 1 modulo 32, so small that the oracle finds roots by trial.
Q = [524353, 524801, 4194433]
ROOTS = {q: oracle.least_root(q, N) for q in Q}
HEAD = f"""# Niobium FHETCH Trace
# Ring Dimension: {N}
modulus_count 4
m[0] 0xFFFFFFFFFFFFFFFF
m[1] 0x80041
m[2] 0x80201
m[3] 0x400081
"""


def load(body: str, **options: object) -> fhetch.Trace:
    return fhetch.load(io.BytesIO((HEAD + body).encode()), **options)


def limbs(trace: fhetch.Trace, seed: int = 3) -> dict[str, list[list[int]]]:
    draw = random.Random(seed)
    return {
        group.name: [
            [0, 1, q // 2, q // 2 + 1, q - 1, *(draw.randrange(q) for _ in range((1 << trace.log_n) - 5))]
            for q in group.moduli
        ]
        for group in trace.inputs
        if group.name != "ones"
    }


def compare(
    trace: fhetch.Trace, text: str, outputs: dict[str, list[int]], machine: str = "reference"
) -> None:
    given = limbs(trace)
    memory = {
        address: words
        for group in trace.inputs
        for address, words in zip(group.addresses, given.get(group.name, ()), strict=False)
    }
    after = oracle.interpret(text, N, memory, ROOTS)
    found = trace.run(given, machine)
    assert {name: limb.tolist() for name, limb in found.items()} == {
        name: [after[address] for address in addresses] for name, addresses in outputs.items()
    }


MIXED = """sr_addp %4, %1, %2, m=1
# enter something
sr_subp %4, %4, %2, m=1
sr_mulp %5, %4, %1, m=1
sr_negp %5, %5, m=1
sr_addps %6, %5, 0, m=0
sr_mulps %6, %6, 200, m=1
sr_addps %6, %6, 11, m=1
sr_automorph_eval %6, %6, m=0, mask=15, logn=4, k=5
sr_intt %7, %6, m=1
sr_ntt %8, %7, m=1
sr_mulps %9, %1, 0, m=1
halt
# output y %8 %6
# output z %9
"""


@pytest.mark.parametrize("machine", ["reference", "cpu"])
def test_pointwise_operations_transforms_and_automorphisms(machine: str) -> None:
    trace = load(MIXED)
    assert (trace.lines, trace.moduli, trace.log_n) == (12, (Q[0],), LOG_N)
    compare(trace, HEAD + MIXED, {"y": [8, 6], "z": [9]}, machine)


def test_a_recorded_centred_change_of_modulus_is_one_lift() -> None:
    body = """sr_intt %5, %1, m=1
sr_addps %6, %5, 262176, m=1
sr_mulps %6, %6, 1, m=2
sr_subps %6, %6, 262176, m=2
sr_ntt %6, %6, m=2
halt
# output y %6
"""
    trace = load(body)
    assert re.findall(r"= (\w+)", trace.text.split("{")[1])[2:] == ["intt", "lift", "ntt"] or (
        "lift" in trace.text and "ones" not in trace.text and "add" not in trace.text
    )
    compare(trace, HEAD + body, {"y": [6]})


@pytest.mark.parametrize("source", [1, 2, 3])
@pytest.mark.parametrize("target", [1, 2, 3])
def test_words_go_from_any_modulus_to_any_other_without_centring(source: int, target: int) -> None:
    # All words of a limb are met: small, middle, greatest. Numbers are put off over sums and products.
    body = f"""sr_intt %5, %1, m={source}
sr_addps %5, %5, 5, m={source}
sr_mulps %6, %5, 3, m={target}
sr_subps %6, %6, 90, m={target}
sr_addp %7, %6, %6, m={target}
sr_negp %7, %7, m={target}
sr_mulps %8, %7, 70, m={source}
sr_subps %9, %2, 7, m={source}
sr_mulps %9, %9, 1, m={target}
halt
# output y %7
# output w %8 %5
# output v %9
"""
    compare(load(body), HEAD + body, {"y": [7], "w": [8, 5], "v": [9]})


def test_results_are_what_is_not_read_any_more_and_inputs_from_an_address_on_are_keys() -> None:
    body = "sr_mulp %3, %1, %25, m=1\nsr_mulp %4, %2, %26, m=1\nsr_addp %3, %3, %4, m=1\nhalt\n"
    trace = load(body, keys_from=25)
    assert [(g.name, g.kind, g.addresses) for g in trace.inputs] == [
        ("x", "data", (1, 2)),
        ("keys", "key", (25, 26)),
    ]
    compare(trace, HEAD + body, {"out": [3]})


def test_the_least_root_may_be_said() -> None:
    body = f"sr_ntt %2, %1, m=1, omega={ROOTS[Q[0]]}\nhalt\n"
    compare(load(body), HEAD + body, {"out": [2]})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "no instructions"),
        (
            "sr_negp %2, %1, m=1\nsr_ft %3, %2\nsr_twirl %3, %2\nsr_ft %3, %3\n",
            r"sr_ft \(2 times.*sr_twirl \(1",
        ),
        ("sr_addps_coeff %2, %1, 3, m=1\n", "simulator adds to all of them"),
        ("sr_permute %2, %1, m=1\n", "no list of places"),
        (
            "sr_ntt %2, %1, m=1, omega=5\nsr_ntt %2, %3, m=2, omega=7\n",
            r"omega=5 modulo 524353 \(the least is \d+\), omega=7 modulo 524801",
        ),
        ("sr_addp %2, %1, m=1\n", "line 8: sr_addp has other operands"),
        ("sr_addp %2, %1, 7, m=1\n", "line 8: sr_addp has 2 addresses"),
        ("sr_negp %2, %1, m=9\n", "m=9 is no row of the table, which has 4"),
        ("sr_negp %2, %1, m=0\n", "the modulus of copies"),
        ("sr_negp %2, %1, m=x\n", "'x' is no number"),
        ("sr_negp %99999999999, %1, m=1\n", "above 2\\^32"),
        ("sr_negp %2, %1, m=1\nsr_addp %3, %2, %2, m=2\n", "words modulo 524353 are taken modulo 524801"),
        ("sr_ntt %2, %1, m=1\nsr_ntt %3, %2, m=1\n", "Line 9: coefficients are wanted"),
        ("sr_mulp %2, %1, %1, m=1\nsr_mulps %3, %2, 1, m=2\n", "Line 9: coefficients are wanted"),
        ("sr_automorph_eval %2, %1, m=1, k=4\n", "element 4 of an automorphism is even"),
        ("sr_automorph_eval %2, %1, m=0, k=5\n", "No line says what %1 is modulo"),
        ("sr_automorph_eval %2, %1, m=1, logn=5, k=5\n", r"ring degree is 2\^5 here, and 2\^4"),
        ("sr_negp %2, %1, m=1\nhalt\nsr_negp %2, %1, m=1\n", "nothing but comments follows"),
        ("sr_negp %2, %1, m=1\n# output y %7\n", "which nothing writes"),
        ("m[5] 0x7\n", r"written `m\[4\] 0x…`"),
        ("m[4] 0x2000\nsr_negp %2, %1, m=4\n", "no primes of 20 to 60 bits that are 1 modulo 2\\^5: 8192"),
    ],
)
def test_what_limb_programs_do_not_have_is_refused(body: str, message: str) -> None:
    with pytest.raises(rm.RingmillError, match=message):
        load(body)


def test_a_degree_is_asked_for_where_the_trace_has_none() -> None:
    text = HEAD.replace(f"# Ring Dimension: {N}\n", "") + "sr_negp %2, %1, m=1\nhalt\n"
    with pytest.raises(rm.errors.ProgramError, match="Give its logarithm"):
        fhetch.load(io.BytesIO(text.encode()))
    assert fhetch.load(io.BytesIO(text.encode()), log_n=4).log_n == LOG_N


def test_damaged_traces_are_refused_or_read() -> None:
    whole = (HEAD + MIXED).encode()
    draw = random.Random(5)
    for _ in range(400):
        damaged = bytearray(whole[: draw.randrange(len(whole))] if draw.random() < 0.2 else whole)
        for _ in range(draw.randrange(1, 4)):
            if damaged:
                damaged[draw.randrange(len(damaged))] = draw.choice(b"%m=0123456789,# \n[]xk\xff\x00-")
        try:
            trace = fhetch.load(io.BytesIO(bytes(damaged)))
        except rm.RingmillError:
            continue
        trace.run(limbs(trace), "reference")


PROGRAM = f"""limb all : 2^{LOG_N} {{
  modulus a = {Q[0]}
  modulus b = {Q[1]}
  modulus c = {Q[2]}
  input data x : coeff a b
  input key k : eval c c
  input plain p : eval a
  output y : eval c c
  output z : coeff a b
region something
  %0 = load x.0 : a coeff
  %1 = mul_const x.1, 7 : b coeff
section tensor 1
  %2 = quotient [%0, %1] : quotient
  %3 = convert [%0, %1], %2 : c coeff
end
  %4 = convert_fast [%0, %1] : c coeff
  %5 = lift %1 : c coeff
  %6 = add %3, %4 : c coeff
  %7 = sub %6, %5 : c coeff
  %8 = ntt %7 : c eval
  %9 = mac %8, k.0, k.1 : c eval
  %10 = dot [%8, k.0], [k.1, %9] : c eval
  %11 = automorphism %10, 13 : c eval
  %12 = sub_mul_const %11, %8, 5 : c eval
  %13 = add_const %12, 100 : c eval
  %14 = neg %13 : c eval
  %15 = ntt %0 : a eval
  %16 = mul %15, p.0 : a eval
  %17 = add_const %16, 0 : a eval
  %18 = intt %17 : a coeff
  store %14 -> y.0
  store %9 -> y.1
  store %18 -> z.0
  store %1 -> z.1
}}
"""


def test_what_is_written_computes_the_words_of_the_limb_program(tmp_path: Path) -> None:
    path = tmp_path / "all.fhetch"
    assert fhetch.write(PROGRAM, path) == path.stat().st_size
    text = path.read_text()
    draw = random.Random(9)
    given = [[draw.randrange(q) for _ in range(N)] for q in (Q[0], Q[1], Q[2], Q[2], Q[0])]
    after = oracle.interpret(text, N, dict(enumerate(given, 1)), ROOTS)
    raw = [np.array(limb, "<u8").tobytes() for limb in given]
    found = [np.frombuffer(limb, "<u8").tolist() for limb in run_program(PROGRAM, "reference", raw)]
    stated = [int(a) for line in text.splitlines() if "output" in line for a in re.findall(r"%(\d+)", line)]
    assert found == [after[address] for address in stated]


def test_a_kernel_goes_out_and_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Digits of one prime, and a division by one: no base conversion, so every line has a limb instruction.
    params = rm.Params.from_bits(10, [40, 30, 30], [40], 3, scale_bits=30, insecure=True)

    @rm.kernel
    def near(x=rm.vector(512)):  # type: ignore[no-untyped-def]
        return x + np.roll(x, -3)

    compiled = near.compile(params=params)
    kernel, out, back = (tmp_path / name for name in ("near.kernel", "near.fhetch", "near.limb"))
    compiled.save(kernel)
    assert main(["export", "fhetch", "program", str(kernel), "--out", str(out), "--quiet"]) == 0
    assert main(["import", "fhetch", "program", str(out), "--out", str(back), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["simulate", str(back), "--machine", "compact", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] > 0
    # The same words as the program that went out, on limbs drawn by nobody's rule.
    before, trace = compiled.plan.limb_program("hybrid", "compact"), fhetch.load(out)
    given = limbs(trace)
    raw = [np.array(limb, "<u8").tobytes() for group in trace.inputs for limb in given[group.name]]
    expected = [np.frombuffer(limb, "<u8").tolist() for limb in run_program(before, "cpu", raw)]
    found = trace.run(given, "cpu")
    assert [limb for group in trace.outputs for limb in found[group.name].tolist()] == expected


def test_what_is_no_limb_program_is_not_written(tmp_path: Path) -> None:
    for text, message in [
        ("limb x : 2^4 {\n}\n", "without instructions"),
        (PROGRAM.replace("mul_const x.1, 7", "mul_const x.9, 7"), "Line 12 is none of a limb program"),
        (PROGRAM.replace("input plain p", "input secret p"), "draws or takes secrets"),
    ]:
        with pytest.raises(rm.RingmillError, match=message):
            fhetch.write(text, tmp_path / "refused.fhetch")
    assert not list(tmp_path.iterdir())


def test_the_page_has_the_table_of_operations() -> None:
    page = Path(__file__).parents[2] / "docs" / "interop.md"
    text = page.read_text()
    begin, end = "<!-- fhetch -->\n", "<!-- /fhetch -->"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    wanted = before + begin + fhetch.page() + end + after
    if os.environ.get("RINGMILL_BLESS"):
        page.write_text(wanted)
    assert text == wanted, "RINGMILL_BLESS=1 rewrites it"
