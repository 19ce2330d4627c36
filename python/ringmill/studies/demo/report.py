"""The report of the main job: saved results in, one HTML file out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ringmill.atomic import make_folder, write_text
from ringmill.report import charts, exploration, hardware
from ringmill.report.drawing import program_svg
from ringmill.report.page import chosen_charts, template
from ringmill.studies.demo import effort_charts
from ringmill.studies.papers import papers

Results = dict[str, Any]


def _comparison_rows(results: Results) -> list[Results]:
    error = results["clinic"]["error"]
    first = {key: error[key] for key in ("predicted_log2", "measured_log2")}
    return [{"label": "clinic", **first}, *results["kernels"]]


def compared(results: Results) -> list[Results]:
    """The section of each paper whose figures the results have."""
    return [
        {
            "name": paper.name,
            "heading": paper.heading,
            "introduction": paper.introduction(results["papers"][paper.name]),
            "sheets": paper.sheets(results["papers"][paper.name]["rows"]),
            "notes": paper.notes(results["papers"][paper.name]),
        }
        for paper in papers().values()
        if paper.name in results["papers"]
    ]


def render(results: Results) -> str:
    """The report as HTML text; ``results`` is what the main job saves as JSON."""
    clinic, kernels = results["clinic"], results["kernels"]
    explored = results.get("exploration")
    return template(__package__, "page.html").render(
        version=results["version"],
        exploration=explored and exploration.section(explored),
        results=results,
        clinic=clinic,
        kernels=kernels,
        hardware=results["hardware"],
        papers=compared(results),
        charts={
            "probabilities": charts.probabilities(clinic),
            "histogram": charts.error_histogram(clinic),
            "comparison": charts.error_comparison(_comparison_rows(results)),
            "stages": charts.stages(clinic),
            "wire": charts.wire(clinic),
            "kernel_times": charts.kernel_times(kernels),
            "levels": effort_charts.levels(clinic["effort"]),
            "spent": effort_charts.spent(clinic["effort"]),
            "occupancy": hardware.occupancy(results["hardware"]["key_switch"]),
            "core": hardware.diagram(results["hardware"]["core"]),
            **chosen_charts(explored),
        },
        effort=effort_charts.section(clinic["effort"]),
        drawing=program_svg(clinic["program"]["text"], "The clinic's program"),
        drawings={row["letter"]: program_svg(row["program"]["text"], row["title"]) for row in kernels},
    )


def write(results: Results, folder: Path) -> Path:
    """Write ``results.json`` and ``index.html`` into ``folder``; returns the page's path."""
    make_folder(folder)
    write_text(folder / "results.json", json.dumps(results, indent=1))
    page = folder / "index.html"
    write_text(page, render(results))
    return page
