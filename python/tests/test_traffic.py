"""What moves over the edge of a chip, beside a slow count in Python that reads the program's text itself."""

import random
import re
from collections import Counter

import numpy as np
import pytest

import ringmill as rm
from ringmill import _native
from ringmill.cli import main

N, Q = 16, {"q0": 1073741441, "q1": 1073740609, "p0": 2147483489}


def _random_program(seed: int) -> str:
    """Sums and inner products of one prime at a time, with inputs of every class."""
    draw = random.Random(seed)
    inputs = {
        "x": ("data", ["q0", "q1", "p0"]),
        "k_b0": ("key", ["q0", "q1", "p0"]),
        "k_a0": ("key", ["q0", "q1", "p0"]),
        "w": ("plain", ["q0", "q1", "p0"]),
    }
    known = {
        prime: [
            f"{name}.{at}"
            for name, (_, primes) in inputs.items()
            for at, p in enumerate(primes)
            if p == prime
        ]
        for prime in Q
    }
    lines = []
    for number in range(draw.randrange(4, 40)):
        prime = draw.choice(list(Q))
        if number % 9 == 0:
            lines.append(f"region part {number // 18}")
        terms = draw.randrange(1, 3)
        a, b = ([draw.choice(known[prime]) for _ in range(terms)] for _ in range(2))
        lines.append(f"  %{number} = dot [{', '.join(a)}], [{', '.join(b)}] : {prime} eval")
        known[prime].append(f"%{number}")
    stored = [(prime, value) for prime in Q for value in known[prime][-1:] if value[0] == "%"]
    lines += [f"  store {value} -> y.{at}" for at, (_, value) in enumerate(stored)]
    head = [f"  modulus {name} = {q}" for name, q in Q.items()]
    head += [f"  input {cls} {name} : eval {' '.join(primes)}" for name, (cls, primes) in inputs.items()]
    head += [f"  output y : eval {' '.join(prime for prime, _ in stored)}"]
    return "\n".join(["limb random : 2^4 {", *head, *lines, "}"]) + "\n"


def _slow(text: str, limbs: int, *, seeded: bool, by_cost: bool) -> tuple[Counter[str], int]:
    """Bytes by class and spills: at each step all limbs on chip are looked at."""
    classes = {name: cls for cls, name in re.findall(r"input (\w+) (\w+) :", text)}
    primes = {name: names.split() for name, names in re.findall(r"input \w+ (\w+) : eval (.+)", text)}
    reads: list[tuple[str, list[str]]] = []
    size: dict[str, int] = {
        f"{n}.{i}": N * Q[p].bit_length() // 8 for n, ps in primes.items() for i, p in enumerate(ps)
    }
    made = []
    for line in text.splitlines():
        if found := re.match(r"\s+(%\d+) = dot (.*) : (\w+) eval", line):
            result, operands, prime = found.groups()
            size[result] = N * Q[prime].bit_length() // 8
            reads.append((result, list(dict.fromkeys(re.findall(r"%\d+|\w+\.\d+", operands)))))
            made.append(result)
    results = set(re.findall(r"store (%\d+)", text))

    def next_use(limb: str, after: int) -> int | None:
        return next((at for at, (_, operands) in enumerate(reads) if at > after and limb in operands), None)

    def class_of(limb: str) -> str:
        if limb[0] == "%":
            return "fill"
        name = limb.split(".")[0]
        if classes[name] == "key" and name.endswith("_a0"):
            return "expanded" if seeded else "seeded key"
        return classes[name]

    # Ties are between limbs that one instruction reads: inputs in the order of their groups, then results.
    number = {
        limb: at
        for at, limb in enumerate([*(f"{n}.{i}" for n, ps in primes.items() for i in range(len(ps))), *made])
    }
    here: set[str] = set()
    copied = {limb for limb in size if limb[0] != "%"}
    touched: dict[str, int] = {}
    moved: Counter[str] = Counter()
    spills = 0
    for step, (result, operands) in enumerate(reads):
        for limb in [*(o for o in operands if o not in here), result]:
            if len(here) == limbs:

                def goes(x: str, step: int = step) -> tuple[float, int]:
                    use = next_use(x, step)
                    assert use is not None
                    far: float = use
                    if by_cost and class_of(x) == "expanded":
                        far = float("inf")
                    elif by_cost and x in copied:
                        far = use + (use - touched[x])
                    return far, -number[x]

                victim = max(here - set(operands), key=goes)
                here.remove(victim)
                if victim not in copied:
                    copied.add(victim)
                    moved["spill"] += size[victim]
                    spills += 1
            here.add(limb)
            if limb != result:
                moved[class_of(limb)] += size[limb]
        for limb in [*operands, result]:
            touched[limb] = step
            if next_use(limb, step) is None:
                here.discard(limb)
                if limb in results and limb not in copied:
                    moved["result"] += size[limb]
    return moved, spills


@pytest.mark.parametrize("seed", range(60))
def test_traffic_is_what_a_slow_count_finds(seed: int) -> None:
    draw = random.Random(-seed)
    text, limbs = _random_program(seed), draw.randrange(5, 12)
    seeded, by_cost = draw.random() < 0.5, draw.random() < 0.5
    found = _native.program_traffic(text, limbs, False, seeded, by_cost, False)
    moved, spills = _slow(text, limbs, seeded=seeded, by_cost=by_cost)
    assert {name: count for name, count in found["bytes"].items() if count} == dict(moved)
    assert found["spills"] == spills
    assert found["off_chip"] == sum(count for name, count in moved.items() if name != "expanded")
    assert sum(region["off_chip"] for region in found["regions"]) == found["off_chip"]
    # All that is off chip comes once where everything fits.
    enough = _native.program_traffic(text, 1000, False, seeded, by_cost, False)
    assert enough["spills"] == enough["refills"] == 0
    assert {k: v for k, v in enough["bytes"].items() if v} == {
        k: v for k, v in enough["distinct"].items() if v
    }
    assert enough["off_chip"] <= found["off_chip"]


@pytest.mark.parametrize("seed", range(20))
def test_another_order_is_counted_as_any_program_is(seed: int) -> None:
    draw = random.Random(-seed)
    text, limbs = _random_program(seed), draw.randrange(5, 9)
    found = _native.program_traffic(text, limbs, False, True, False, True)
    moved, _ = _slow(found["program"], limbs, seeded=True, by_cost=False)
    plain, _ = _slow(text, limbs, seeded=True, by_cost=False)
    assert {name: count for name, count in found["bytes"].items() if count} == dict(moved)
    assert found["off_chip_as_written"] == plain.total() - plain["expanded"]
    assert found["off_chip"] <= found["off_chip_as_written"]


@pytest.fixture(scope="module")
def compiled() -> rm.Compiled:
    @rm.kernel
    def turns(x):  # type: ignore[no-untyped-def]
        return sum((x * k + np.roll(x, -k) for k in range(1, 4)), x * x)

    return turns.compile(rm.vector(512), precision=12)


def test_a_kernel_states_what_moves(compiled: rm.Compiled) -> None:
    assert "traffic" not in compiled.work()
    whole = compiled.work(capacity="1GiB")["traffic"]
    assert whole["spills"] == 0
    least = whole["least_limbs"]
    tight = compiled.work(capacity=least)["traffic"]
    assert tight["limbs"] == least
    assert tight["off_chip"] > whole["off_chip"]
    assert tight["peak_limbs"] == whole["peak_limbs"]
    # Bytes are limbs of the longest prime.
    limb = ((1 << compiled.params.log_n) * whole["word_bits"] + 7) // 8
    assert compiled.work(capacity=f"{20 * limb} B")["traffic"]["limbs"] == 20
    unseeded = compiled.work(capacity="1GiB", seeded=False)["traffic"]["bytes"]
    assert unseeded["seeded key"] == whole["bytes"]["expanded"]
    assert unseeded["expanded"] == 0
    cheap = compiled.work(capacity=40, by_cost=True)["traffic"]
    assert cheap["off_chip"] <= compiled.work(capacity=40)["traffic"]["off_chip"]


def test_a_program_in_another_order_gives_the_same_bits() -> None:
    @rm.kernel
    def map_of(x):  # type: ignore[no-untyped-def]
        matrix = np.random.default_rng(1).uniform(-1, 1, (64, 64)) / 64
        return (x * x) @ matrix + x

    params = rm.Params.from_bits(10, [50, 40, 40, 40, 40], [50, 50], 3, insecure=True)
    found = map_of.compile(rm.vector(64), params=params)
    text = found.plan.limb_program(found.switching, "reference")
    moved = _native.program_traffic(text, 16, False, True, False, True)
    assert moved["orders"][0] > 0
    assert moved["off_chip"] < moved["off_chip_as_written"]
    assert moved["program"] != text
    draw = np.random.default_rng(2)
    q = dict(re.findall(r"modulus (\w+) = (\d+)", text))
    groups = re.findall(r"input \w+ \w+ : (?:eval|coeff)((?: \(2\^\d+\))?)((?: \w+)+)", text)
    limbs = []
    for stride, primes in groups:
        step = 1 << int(stride.strip(" ()")[2:]) if stride else 1
        for prime in primes.split():
            limb = draw.integers(0, int(q[prime]), 1024, dtype=np.uint64)
            limb[np.arange(1024) % step != 0] = 0
            limbs.append(limb.tobytes())
    plain = _native.run_program(text, "reference", limbs)
    for machine in ("reference", "cpu"):
        assert _native.run_program(moved["program"], machine, limbs) == plain


def test_a_capacity_that_holds_no_instruction_is_refused_with_the_least(compiled: rm.Compiled) -> None:
    least = compiled.work(capacity="1GiB")["traffic"]["least_limbs"]
    with pytest.raises(rm.ProgramError, match=rf"give at least {least} limbs, [0-9]+ bytes") as refused:
        compiled.work(capacity=least - 1)
    assert refused.value.fields["least"] == least


@pytest.mark.parametrize(
    ("text", "limbs"), [("298", 298), ("298 limbs", 298), ("1 LIMB", 1), ("128MiB", None), ("0.5 gib", None)]
)
def test_capacities_are_read(text: str, limbs: int | None) -> None:
    from ringmill._checks.sizes import capacity

    found = capacity(rm.MachineError, "The capacity", text)
    assert found == ((limbs, False) if limbs else ({"128MiB": 2**27, "0.5 gib": 2**29}[text], True))


@pytest.mark.parametrize(
    "wrong", ["", "0", "-3", "1.5", "12 miles", "2000000", "1e9", "9999999GiB", True, None, 2.5]
)
def test_what_is_no_capacity_is_refused(wrong: object) -> None:
    from ringmill._checks.sizes import capacity

    with pytest.raises(rm.MachineError, match="'128MiB'") as refused:
        capacity(rm.MachineError, "The capacity", wrong)
    assert refused.value.code == "Capacity"


def test_inspect_shows_what_moves(
    compiled: rm.Compiled, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path_factory.mktemp("traffic")
    compiled.save(folder / "turns.kernel")
    assert main(["inspect", str(folder / "turns.kernel"), "--capacity", "40 limbs"]) == 0
    shown = capsys.readouterr().out
    moved = compiled.work(capacity=40)["traffic"]
    assert f"{moved['spills']:,} limbs, refills {moved['refills']:,}" in shown
    (folder / "random.limb").write_text(_random_program(3))
    assert main(["inspect", str(folder / "random.limb"), "--capacity", "8"]) == 0
    assert "8 limbs of 31 bits a word" in capsys.readouterr().out
    out = folder / "other.limb"
    assert main(["inspect", str(folder / "turns.kernel"), "--capacity", "30", "--reorder", str(out)]) == 0
    assert "as written" in capsys.readouterr().out
    assert main(["inspect", str(out), "--capacity", "30"]) == 0
    again = compiled.work(capacity=30, reorder=True)["traffic"]
    assert f"{again['spills']:,} limbs, refills {again['refills']:,}" in capsys.readouterr().out
    assert main(["inspect", str(folder / "turns.kernel"), "--reorder", str(out)]) != 0
    assert "--capacity 128MiB" in capsys.readouterr().err
    assert main(["inspect", str(folder / "random.limb"), "--capacity", "2"]) != 0
    assert "give at least" in capsys.readouterr().err
