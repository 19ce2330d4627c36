"""What the algebra of the compiler saves: each kernel as written and folded, in turns, in one process.

    python -m benches.algebra [--count N] [--runs N] [--out FILE]

The kernels are NumPy expressions by a generator with a seed each. A third of them is foldable: nested affine
forms, products one after the other, polynomials in Horner's form or by powers, means that are scaled. The
others are sums, products and rotations that are as good as they can be by hand. The last ones are kernels
that users wrote: statistics, a filter, an activation. Printed are levels and key switches of both, the
seconds of one evaluation (the least of the runs, one thread), and quartiles of the ratios.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ringmill as rm
from benches.run import cpu_name
from ringmill.studies.stored import text_of

SIZE = 64
PRECISION = 16

Made = tuple[Callable[..., Any], bool]


def _leaf(rng: np.random.Generator) -> str:
    """An argument, perhaps rotated."""
    name = "xyz"[rng.integers(3)]
    return name if rng.random() < 0.7 else f"np.roll({name}, {rng.integers(1, 4)})"


def _number(rng: np.random.Generator) -> str:
    return f"{rng.uniform(0.1, 0.9) * rng.choice([-1, 1]):.3f}"


def _plain(rng: np.random.Generator) -> str:
    """An expression with nothing to fold."""
    a, b, c = (_leaf(rng) for _ in range(3))
    forms = [
        f"{a} * {b} + {c}",
        f"({a} + {b}) * ({a} - {c})",
        f"{_number(rng)} * {a} + {_number(rng)} * {b}",
        f"np.sum({a} * {b}) + {c}",
        f"{a} * {b} - {c} ** 2",
        f"({a} * {b}) * ({b} * {c})",
        f"np.sum({a}) * {b}",
        f"({a} + {_number(rng)}) * {b}",
        f"np.dot({a}, {b})",
    ]
    return str(rng.choice(forms))


def _foldable(rng: np.random.Generator) -> str:
    """An expression as people write it, that another one of fewer levels equals."""
    a, b, c, d = "x", _leaf(rng), _leaf(rng), _leaf(rng)
    affine = a
    for _ in range(rng.integers(2, 6)):
        affine = f"({_number(rng)} * {affine} + {_number(rng)} * {_leaf(rng)} + {_number(rng)})"
    horner = _number(rng)
    for _ in range(rng.integers(3, 8)):
        horner = f"({horner} * {a} + {_number(rng)})"
    powers = " + ".join(f"{_number(rng)} * x ** {i}" for i in range(1, rng.integers(4, 8)))
    forms = [
        affine,
        f"{affine} * {b}",
        f"{a} * ({b} * ({c} * {d}))",
        f"{a} * {a} * {a} * {a} * {b}",
        horner,
        powers,
        f"({a} - {a}.mean()) * {_number(rng)} + {_number(rng)}",
        f"(({a} - {a}.mean()) * ({b} - np.mean({b}))).mean()",
        f"{_number(rng)} * ({_number(rng)} * ({a} * {b}) * {c})",
    ]
    return str(rng.choice(forms))


def generated(seed: int) -> tuple[str, bool]:
    """The expression of a seed, and whether it can be folded."""
    rng = np.random.default_rng([seed, 20261126])
    foldable = seed % 3 == 0
    return (_foldable(rng) if foldable else _plain(rng)), foldable


def _kalman(x: Any, y: Any, z: Any) -> Any:
    state = x
    for _ in range(12):
        predicted = 0.9 * state
        state = predicted + 0.25 * (y - predicted)
    return state + z


def _variance(x: Any, y: Any, z: Any) -> Any:
    return ((x - x.mean()) ** 2).mean() + y * z


def _swish(x: Any, y: Any, z: Any) -> Any:
    return x * (0.5 + 0.25 * x - 0.0208 * x * x * x) + y - z


def _smooth(x: Any, y: Any, z: Any) -> Any:
    once = 0.25 * np.roll(x, 1) + 0.5 * x + 0.25 * np.roll(x, -1)
    return 0.7 * once + 0.3 * y * z


USERS: dict[str, Callable[..., Any]] = {
    "kalman": _kalman,
    "variance": _variance,
    "swish": _swish,
    "smooth": _smooth,
}


def kernels(count: int) -> dict[str, Made]:
    """Kernels by name, and whether something in each can be folded."""
    found: dict[str, Made] = {}
    for seed in range(count):
        text, foldable = generated(seed)
        found[f"{seed:03d} {text}"] = (eval(f"lambda x, y, z: {text}", {"np": np}), foldable)
    return found | {name: (function, True) for name, function in USERS.items()}


def row(name: str, made: Made, runs: int) -> dict[str, Any]:
    """One kernel both ways, in turns."""
    function, foldable = made
    vectors = [rm.vector(SIZE)] * 3
    ways = {}
    for way, algebra in (("written", False), ("folded", True)):
        compiled = rm.kernel(function).compile(*vectors, precision=PRECISION, algebra=algebra)
        keys = compiled.keygen()
        rng = np.random.default_rng(5)
        data = {key: rng.uniform(-1, 1, SIZE) for key in "xyz"}
        data = {key: data[key] for key in compiled.signature.inputs}
        ways[way] = (compiled, keys, compiled.encrypt(keys, **data), data)
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, (compiled, keys, arguments, _) in ways.items():
            start = time.perf_counter()
            results = compiled.evaluate(keys, arguments, machine="cpu:threads=1")
            seconds[way].append(time.perf_counter() - start)
    for way, (compiled, keys, arguments, data) in ways.items():
        results = compiled.evaluate(keys, arguments)
        got = compiled.decrypt(keys, results)
        # Arguments that a kernel does not read have no ciphertext.
        wanted = function(*(data.get(key, np.zeros(SIZE)) for key in "xyz"))
        assert np.max(np.abs(got - wanted)) < 2.0**-PRECISION, (name, way)
    facts: dict[str, Any] = {"kernel": name, "foldable": foldable}
    for way, (compiled, *_) in ways.items():
        facts[way] = {
            "levels": compiled.plan.depth,
            "key_switches": compiled.cost["key_switches"],
            "min_ms": 1e3 * min(seconds[way]),
            "median_ms": 1e3 * statistics.median(seconds[way]),
        }
    return facts


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric mean and quartiles of the ratios of times, and how often levels or key switches rose."""

    def of(chosen: list[dict[str, Any]]) -> dict[str, Any]:
        ratios = [row["written"]["min_ms"] / row["folded"]["min_ms"] for row in chosen]
        return {
            "kernels": len(ratios),
            "geometric_mean": math.exp(statistics.fmean(map(math.log, ratios))),
            "quartiles": statistics.quantiles(ratios, n=4),
        }

    rose = {
        what: sum(row["folded"][what] > row["written"][what] for row in rows)
        for what in ("levels", "key_switches")
    }
    return {"all": of(rows), "foldable": of([row for row in rows if row["foldable"]]), "rose": rose}


def main() -> None:
    """Run and print; the command of the docstring."""
    parser = argparse.ArgumentParser(prog="python -m benches.algebra", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many generated kernels (200)")
    parser.add_argument("--runs", type=int, default=5, help="evaluations of each kernel each way (5)")
    parser.add_argument("--out", type=Path, help="write the rows here as JSON")
    args = parser.parse_args()
    rows = []
    for name, made in kernels(args.count).items():
        found = row(name, made, args.runs)
        rows.append(found)
        was, now = found["written"], found["folded"]
        print(
            f"{was['min_ms'] / now['min_ms']:6.2f}  {was['levels']} -> {now['levels']} levels  "
            f"{was['key_switches']} -> {now['key_switches']} switches  {name[:70]}",
            flush=True,
        )
    total = summary(rows)
    for what in ("all", "foldable"):
        part = total[what]
        low, middle, high = part["quartiles"]
        print(
            f"{what}: {part['kernels']} kernels, geometric mean {part['geometric_mean']:.2f}, "
            f"quartiles {low:.2f} {middle:.2f} {high:.2f}"
        )
    print(
        f"levels rose in {total['rose']['levels']} kernels, key switches in {total['rose']['key_switches']}"
    )
    if args.out:
        facts = {"machine": cpu_name(), "precision": PRECISION, "summary": total, "rows": rows}
        args.out.write_text(text_of(facts))


if __name__ == "__main__":
    main()
