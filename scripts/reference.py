#!/usr/bin/env python3
"""Prints the pages that follow from the package: command line, named parameter sets, tables of papers.

``reference.py``
    writes ``docs/reference/cli.md``, ``docs/reference/parameters.md``, the tables of
    ``docs/papers/index.md``, ``docs/models.md`` and ``docs/interop.md``, and the table of items on the page
    of each paper;
``reference.py --check``
    fails if one of them is not what the package gives.
"""

from __future__ import annotations

import argparse
import fractions
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"

_CLI = """# Command line

After this page you know every command of `ringmill`, its options and its exit status.

<!-- Printed from python/ringmill/cli by scripts/reference.py. -->

Every command also takes `--json` (print the outcome as JSON), `--quiet` (show no progress) and `--help`.
Whole numbers outside of their range are refused with the range.

| exit status | meaning |
|---|---|
| 0 | done |
| 1 | refused; the message says why |
| 2 | wrong usage |
| 130 | interrupted by Ctrl-C |
| 143, 129 | ended by SIGTERM or SIGHUP |
| 141 | nothing reads any more what it prints |
"""

_SETS = """# Parameter sets

After this page you know the named parameter sets and when to use which.

<!-- Printed from ringmill.Params by scripts/reference.py. -->

`rm.Params.named("III")`, `ringmill params --name III`, and `Params::named(NamedSet::III)` in Rust give a
named set. For a program of your own, let the compiler choose (`kernel.compile(precision=…)`), or ask by need:
`rm.Params.by_need(depth=…)`.

| set | log2 N | ciphertext primes | special primes | digits (dnum) | log2 scale | log PQ | security |
|---|---|---|---|---|---|---|---|
"""

_SETS_TAIL = """
- Primes are given as their number and the sum of their bits. All secrets are uniform ternary.
- A name with `/1` has one special prime, as SEAL has; then every digit is one prime.
- All primes of V50 are below 2^50, which suits CPUs.
- `B15` and `B16` are for bootstrapping: their primes are
  [laid out for it](../algorithms/bootstrapping.md#parameters).
- In II, III and V50 the base prime is at most one bit wider than the scale. Messages at level 0 must stay
  below 1 in magnitude, or stop at level 1. Set I has scale 2^32 for the same reason.
- Security is the claim of the table named there; `params.security_estimate` interpolates it by the tables of
  2024.
- 36x48, which the benchmarks use, is no named set: N = 2^16, 41 ciphertext primes and 7 special primes of 36
  bits, dnum 6.
"""


def _option(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.metavar or action.dest}`"
    value = f" {action.metavar}" if action.option_strings and action.metavar else ""
    if action.choices and action.option_strings:
        value = " " + " or ".join(f"`{choice}`" for choice in action.choices)
    needed = " (required)" if action.option_strings and action.required else ""
    text = (action.help or "").replace("|", "\\|")
    return f"| {names}{value}{needed} | {text} |"


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the table of a verb's own arguments."""
    common = ("help", "json", "quiet")
    own = [
        a for a in parser._actions if a.dest not in common and not isinstance(a, argparse._SubParsersAction)
    ]
    if own:
        yield "\n| argument | meaning |\n|---|---|\n"
        yield "".join(f"{_option(action)}\n" for action in own)


def cli() -> Iterator[str]:
    """Yield the page of the command line."""
    from ringmill.cli import _parser

    yield _CLI
    (verbs,) = (a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, verb in verbs.choices.items():
        yield f"\n## ringmill {name}\n\n{verb.description}\n"
        yield from _arguments(verb)
        for tasks in (a for a in verb._actions if isinstance(a, argparse._SubParsersAction)):
            for task, parser in tasks.choices.items():
                yield f"\n### ringmill {name} {task}\n\n{parser.description}\n"
                yield from _arguments(parser)


def parameters() -> Iterator[str]:
    """Yield the page of the named sets."""
    import ringmill as rm

    yield _SETS
    for name in rm.Params.names():
        p = rm.Params.named(name)
        claim = repr(p).split("scale ")[1].split(", ", 1)[1].split(": log PQ")[0]
        primes = f"{len(p.q)}, {p.log_q:.0f} bits | {len(p.p)}, {p.log_p:.0f} bits"
        yield (
            f"| {name} | {p.log_n} | {primes} | {p.dnum} | {p.scale_bits} "
            f"| {p.log_q + p.log_p:.0f} | {claim} |\n"
        )
    yield _SETS_TAIL
    yield from _scales()


_SCALES = """
## Scales within a word

`word=w` keeps every prime below 2^w, for machines of narrow words. Primes of b bits that are 1 modulo 2N are
few where b is little more than log2 N. So a level of t primes reaches these scales alone, as log2, in chains
of eight levels (in shorter ones a few more):

| word | N | one prime a level | two | three |
|---|---|---|---|---|
"""

#: Levels of the chains for which scales are listed, and primes a level.
_CHAIN, _PRIMES = 8, (1, 2, 3)


def _scales() -> Iterator[str]:
    """Yield the scales that levels of several primes reach, by word and degree."""
    yield _SCALES
    for word in (28, 32, 36, 54):
        for log_n in (13, 14, 15, 16):
            found = [_least_scale(word, log_n, primes) for primes in _PRIMES]
            cells = [
                f"{least} to {min(word * primes, 90)}" if least else "none"
                for least, primes in zip(found, _PRIMES, strict=True)
            ]
            yield f"| {word} | 2^{log_n} | {' | '.join(cells)} |\n"


def _least_scale(word: int, log_n: int, primes: int) -> int | None:
    """Return the least scale that a chain keeps within half a bit."""
    import ringmill as rm

    for bits in range(20 * primes, min(word * primes, 90)):
        level = [bits // primes + (i < bits % primes) for i in range(primes)]
        chain = {"levels": [1, *[primes] * _CHAIN], "insecure": True}
        try:
            found = rm.Params.from_bits(log_n, [word, *level * _CHAIN], [60], 1 + primes * _CHAIN, **chain)
        except rm.ParameterError:
            continue
        scales = [found.scale_at(level) for level in range(1, _CHAIN)]
        if all(abs(_log2(scale) - bits) < 0.5 for scale in scales):
            return bits
    return None


def _log2(scale: str) -> float:
    """Return log2 of a scale such as ``2^80*97^-1``, without rounding to 0 what cancels."""
    product = fractions.Fraction(1)
    for factor in scale.split("*"):
        base, _, exponent = factor.partition("^")
        product *= fractions.Fraction(int(base)) ** int(exponent or 1)
    shift = product.numerator.bit_length() - product.denominator.bit_length()
    return shift + math.log2(product / fractions.Fraction(2) ** shift)


def _between(page: str, marks: str, text: str) -> str:
    """A page with the text between two marks replaced."""
    before, rest = page.split(f"<!-- {marks} -->\n")
    after = rest.split(f"<!-- /{marks} -->\n")[1]
    return f"{before}<!-- {marks} -->\n{text}<!-- /{marks} -->\n{after}"


def papers() -> Iterator[str]:
    """Yield the list of papers with the table of those that are compared."""
    from ringmill.studies.papers import page

    yield _between((DOCS / "papers" / "index.md").read_text(encoding="utf-8"), "papers", page())


def models() -> Iterator[str]:
    """Yield the page of models with the tables of estimators and of operators."""
    from ringmill.models.onnx import page as operators
    from ringmill.models.sklearn import page as estimators
    from ringmill.studies import models as study
    from ringmill.studies import onnx_cases

    text = (DOCS / "models.md").read_text(encoding="utf-8")
    text = _between(_between(text, "estimators", estimators()), "operators", operators())
    text = _between(text, "measured", study.page(json.loads(study.STORED.read_text(encoding="utf-8"))))
    cases = json.loads(onnx_cases.STORED.read_text(encoding="utf-8"))["rows"]
    yield _between(text, "cases", onnx_cases.page(cases))


def interop() -> Iterator[str]:
    """Yield the page of other libraries with the table of HEIR's operations."""
    from ringmill.interop.heir import page

    yield _between((DOCS / "interop.md").read_text(encoding="utf-8"), "heir", page())


def items() -> Iterator[tuple[str, str]]:
    """Yield the page of each paper with the table of what became of its items."""
    from ringmill.studies import papers
    from ringmill.studies.papers import traceability

    for name, paper in papers.papers().items():
        text = (DOCS / "papers" / paper.page).read_text(encoding="utf-8")
        table = traceability.page(papers.items(name))
        yield f"papers/{paper.page.removesuffix('.md')}", _between(text, "items", table)


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = 0
    pages = [
        ("reference/cli", cli),
        ("reference/parameters", parameters),
        ("papers/index", papers),
        ("models", models),
        ("interop", interop),
    ]
    printed = [(name, "".join(page())) for name, page in pages]
    for name, text in [*printed, *items()]:
        path = DOCS / f"{name}.md"
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"docs/{name}.md is out of date: run python scripts/reference.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
