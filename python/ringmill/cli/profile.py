"""`ringmill profile`: where a kernel's time goes, as a table."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ringmill.compiled import Compiled

Facts = dict[str, Any]


def profile(options: Namespace) -> Facts:
    """Time a kernel by kind of work, beside what the machine can do."""
    from ringmill.profile import profile as measured

    compiled = Compiled.load(options.kernel)
    if options.switching:
        compiled = compiled.switched(options.switching)
    return measured(compiled, runs=options.runs, progress="none" if options.quiet else "auto")


def show_profile(facts: Facts) -> None:
    """Print the table and the two ceilings."""
    from rich.console import Console
    from rich.table import Table

    title = f"{facts['kernel']}: {1e3 * facts['seconds']:.2f} ms a run, one thread"
    table = Table(title=title, title_justify="left")
    for column in ("work", "calls", "ms", "share", "multiplier", "memory", "bound by"):
        table.add_column(column, justify="left" if column in ("work", "bound by") else "right", no_wrap=True)
    for row in facts["rows"]:
        shares = [f"{100 * row[name]:.0f} %" for name in ("share", "multiplier", "memory")]
        table.add_row(row["kind"], f"{row['calls']:,}", f"{1e3 * row['seconds']:.3f}", *shares, row["bound"])
    console = Console(soft_wrap=True)
    console.print(table)
    ceilings = facts["ceilings"]
    console.print(
        f"ceilings ({facts['isa']}): {ceilings['multiplications_a_second'] / 1e9:.1f} G words multiplied "
        "a second, "
        f"{ceilings['bytes_a_second'] / 1e9:.1f} GB a second from memory; "
        f"they meet at {ceilings['multiplications_a_byte']:.1f} multiplications a byte",
        highlight=False,
    )
    console.print(
        f"kernel calls take {1e3 * facts['timed_seconds']:.2f} ms of the run; at the nearer ceiling "
        f"throughout they would take {1e3 * facts['least_seconds']:.2f} ms",
        highlight=False,
    )
