"""`python -m rtl.tools WORD [BLOCK…]`: lint, test, formal, mutate, synth, rows, package, area, page, isa."""

from __future__ import annotations

import argparse
import os
import sys

from rtl.tools import check, mutate, printed, simulate, synth
from rtl.tools.block import BlockError, Test, load, names


def chosen_tests(words: list[str], full: bool) -> list[Test]:
    """Tests of the named blocks (`modmul`) or the named tests themselves (`modmul/p2_w54`)."""
    tests = []
    for word in words or names():
        block, _, name = word.partition("/")
        found = [test for test in load(block).tests if not name or test.name.startswith(name)]
        if name and not found:
            raise BlockError(f"rtl/{block}/block.json: no test begins with {name!r}")
        tests += [test for test in found if name or (test.full if full else test.run)]
    return tests


def main() -> int:
    """Run one word; status 0 when all is well."""
    parser = argparse.ArgumentParser(prog="python -m rtl.tools", description=__doc__)
    words = ["lint", "test", "formal", "mutate", "synth", "rows", *printed.WORDS]
    parser.add_argument("word", choices=words)
    parser.add_argument("what", nargs="*", help="blocks, or block/test; all when left out")
    parser.add_argument("--full", action="store_true", help="test: the runs of test-full")
    parser.add_argument("-j", "--jobs", type=int, help="simulators side by side; as many as there are cores")
    parser.add_argument("--flow", action="append", default=[], help="synth: xc7, xcup, ecp5, asic45")
    parser.add_argument(
        "--route",
        type=int,
        action="append",
        default=[],
        metavar="SEED",
        help="synth: place and route the ecp5 points, once a seed",
    )
    parser.add_argument(
        "--missing", action="store_true", help="synth: only points without a row of these sources"
    )
    parser.add_argument("--only", default="", help="synth: points whose label matches this expression")
    options = parser.parse_intermixed_args()
    if options.word in printed.WORDS:
        return printed.write(options.word)
    if options.word == "rows":
        synth.table(options.what)
        return 0
    if "EDA_HOME" not in os.environ:
        parser.error("the hardware tools are not in the environment: scripts/eda.sh; . build/eda/env.sh")
    try:
        if options.word == "lint":
            return 1 if check.lint(options.what) else 0
        if options.word == "mutate":
            return 1 if mutate.run(options.what, options.jobs) else 0
        if options.word == "synth":
            seeds, jobs = tuple(options.route), options.jobs or 1
            failed = synth.run(options.what, options.flow, seeds, jobs, options.only, options.missing)
            return 1 if failed else 0
        if options.word == "formal":
            outcomes = check.formal(options.what)
        else:
            outcomes = simulate.run_all(chosen_tests(options.what, options.full), options.full, options.jobs)
    except BlockError as error:
        print(error, file=sys.stderr)
        return 2
    bad = [outcome.label for outcome in outcomes if not outcome.ok]
    print(
        f"{len(outcomes) - len(bad)} of {len(outcomes)} passed"
        + "".join(f"; failed: {label}" for label in bad)
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
