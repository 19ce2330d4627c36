"""`ringmill workload`: jobs that run on data, and large ones that are counted, saved, or run in a folder."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from ringmill.errors import CommandError, fail
from ringmill.progress import Show

Facts = dict[str, Any]


def _show(options: Namespace) -> Show:
    return "none" if options.quiet else "auto"


def workload(options: Namespace) -> Facts:
    """Run, count or save a workload."""
    from ringmill.studies.workloads import programs, whole
    from ringmill.studies.workloads.run import WORKLOADS, Limits, run

    name, show = options.workload, _show(options)
    known = {**WORKLOADS, **programs.PROGRAMS, **whole.SHAPES}
    if name not in known:
        fail(
            CommandError,
            "NoWorkload",
            f"There is no workload {name!r}; there are {', '.join(known)}.",
            workload=name,
        )
    if options.memory is not None and not options.memory > 0:
        fail(CommandError, "Memory", f"--memory is {options.memory:g}; give gigabytes, more than 0.")
    seeded = options.key_memory == "seeded"
    limit = None if options.memory is None else 1e9 * options.memory
    if options.run is not None:
        if name not in whole.SHAPES:
            there = ", ".join(whole.SHAPES)
            fail(CommandError, "NotRun", f"{name} does not run in a folder; --run is for {there}.")
        if options.save is not None:
            fail(
                CommandError,
                "RunOrSave",
                f"--run runs {name}, --save counts it and writes programs; give one.",
            )
        job = whole.Job(whole.SHAPES[name])
        return job.run(Path(options.run), show, threads=options.threads, memory_limit=limit, seeded=seeded)
    if name in programs.PROGRAMS:
        unused = [
            f"--{option.replace('_', '-')}"
            for option in ("threads", "memory", "key_memory")
            if getattr(options, option) is not None
        ]
        if unused:
            way = "; run it with --run FOLDER" if name in whole.SHAPES else ""
            what = f"{' and '.join(unused)} {'is' if len(unused) == 1 else 'are'} for what runs"
            fail(CommandError, "NotRun", f"{name} is counted here, and {what}{way}.")
        return programs.describe(name, Path(options.save) if options.save else None, show)
    if name not in WORKLOADS:
        fail(CommandError, "NeedsFolder", f"{name} runs in a folder; give one with --run.", workload=name)
    if options.save is not None:
        there = ", ".join(programs.PROGRAMS)
        fail(CommandError, "NotSaved", f"{name} runs on data and is not saved; --save is for {there}.")
    return run(name, show, Limits(options.threads, limit, seeded))


#: Columns of a program's counts: heading, key, how it is written.
_COLUMNS = (
    ("levels", "levels", "{:,}"),
    ("bootstraps", "bootstraps", "{:,}"),
    ("rotations", "rotations", "{:,}"),
    ("products", "products", "{:,}"),
    ("by constants", "constant_products", "{:,}"),
    ("keys", "keys", "{:,}"),
    ("transforms", "transforms", "{:,}"),
    ("seconds", "seconds", "{:.3g}"),
)


def show_workload(facts: Facts) -> None:
    """Print the counts of every program as a table, anything else as lines."""
    from ringmill.cli.running import print_facts

    rows = facts.get("rows")
    print_facts({name: value for name, value in facts.items() if name != "rows"})
    if not rows:
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title="one run of each program", title_justify="left")
    table.add_column("program", no_wrap=True)
    table.add_column("runs", justify="right")
    for heading, _, _ in _COLUMNS:
        table.add_column(heading, justify="right")
    for row in rows:
        cells = [form.format(row[key]) for _, key, form in _COLUMNS]
        table.add_row(row["program"], str(row["times"]), *cells)
    console = Console()
    Console(width=max(console.width, 110)).print(table)
