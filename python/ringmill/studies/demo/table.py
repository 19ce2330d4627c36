"""The table that the main job prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ringmill.report.charts import human_bytes, human_seconds


def engine_modes(results: dict[str, Any]) -> list[dict[str, Any]]:
    """The modes of the encryption engine at the size of Nguyen, Kim and Lee."""
    rows = results["papers"].get("nguyen", {}).get("rows", [])
    return [row for row in rows if (row["table"], row["n"], row["p"]) == ("modes", 1 << 14, 2)]


def show(results: dict[str, Any], page: Path, seconds: float) -> None:
    """Print headline figures, stages and kernels."""
    from rich.console import Console
    from rich.table import Table

    # Where there is no terminal the table may be as wide as it needs.
    console = Console() if sys.stdout.isatty() else Console(width=132)
    clinic = results["clinic"]
    error, accuracy = clinic["error"], clinic["accuracy"]
    facts = Table(title="A clinic's model on encrypted records", title_justify="left", show_header=False)
    facts.add_row(
        "records", f"{clinic['records']['test']} of {clinic['records']['features']} features, encrypted"
    )
    facts.add_row("accuracy", f"{accuracy['encrypted']:.1%} encrypted, {accuracy['plain']:.1%} in the clear")
    facts.add_row("same diagnosis", f"{clinic['agreement']['same']} of {clinic['records']['test']}")
    facts.add_row(
        "largest error", f"2^{error['measured_log2']:.1f} measured, 2^{error['predicted_log2']:.1f} predicted"
    )
    for stage in clinic["stages"]:
        facts.add_row(stage["name"], human_seconds(stage["seconds"]))
    for file in clinic["files"]:
        facts.add_row(file["name"], human_bytes(file["bytes"]))
    console.print(facts)
    kernels = Table(title="Nine kernels of coxHE's Table II", title_justify="left")
    for heading in ("", "kernel", "operands", "size"):
        kernels.add_column(heading)
    for heading in ("ring", "levels", "key switches", "time", "predicted", "measured"):
        kernels.add_column(heading, justify="right")
    for row in results["kernels"]:
        kernels.add_row(
            row["letter"],
            row["title"],
            row["operands"],
            row["size"],
            f"2^{row['log_n']}",
            str(row["depth"]),
            str(row["key_switches"]),
            human_seconds(row["seconds"]),
            f"2^{row['predicted_log2']:.1f}",
            f"2^{row['measured_log2']:.1f}",
        )
    console.print(kernels)
    engine = Table(
        title="An encryption on the client's engine, N = 2^14, cycles by its schedule", title_justify="left"
    )
    for heading in ("mode", "interval", "samples drawn ahead", "from the seed"):
        engine.add_column(heading, justify="left" if heading == "mode" else "right")
    for row in engine_modes(results):
        ours = row["ours"]
        cycles = (ours["interval"], ours["latency_ready"], ours["latency_cold"])
        engine.add_row(row["mode"], *(f"{number:,}" for number in cycles))
    if engine.row_count:
        console.print(engine)
    console.print(f"{page} written, {seconds:.0f} s in all", soft_wrap=True)
