"""The page: results in, one HTML file out."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from ringmill.atomic import write_text
from ringmill.compare import table
from ringmill.report import charts, hardware
from ringmill.report.drawing import program_svg

Results = dict[str, Any]


def _comparison_rows(results: Results) -> list[Results]:
    error = results["clinic"]["error"]
    first = {key: error[key] for key in ("predicted_log2", "measured_log2")}
    return [{"label": "clinic", **first}, *results["kernels"]]


def render(results: Results) -> str:
    """The report as HTML text; ``results`` is what the main job saves as JSON."""
    import jinja2

    clinic, kernels = results["clinic"], results["kernels"]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters.update(bytes=charts.human_bytes, seconds=charts.human_seconds)
    folder = resources.files("ringmill.report")
    template = environment.from_string(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(
        style=folder.joinpath("page.css").read_text(encoding="utf-8"),
        results=results,
        clinic=clinic,
        kernels=kernels,
        hardware=results["hardware"],
        sheets=table.sheets(results["hardware"]["casa"]),
        origin=table.origin(results["hardware"]["casa"], results["hardware"]["area_origin"]),
        charts={
            "probabilities": charts.probabilities(clinic),
            "histogram": charts.error_histogram(clinic),
            "comparison": charts.error_comparison(_comparison_rows(results)),
            "stages": charts.stages(clinic),
            "wire": charts.wire(clinic),
            "kernel_times": charts.kernel_times(kernels),
            "occupancy": hardware.occupancy(results["hardware"]["key_switch"]),
            "core": hardware.diagram(results["hardware"]["core"]),
        },
        drawing=program_svg(clinic["program"]["text"], "The clinic's program"),
        drawings={row["letter"]: program_svg(row["program"]["text"], row["title"]) for row in kernels},
    )


def write(results: Results, folder: Path) -> Path:
    """Write ``results.json`` and ``index.html`` into ``folder``; returns the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "results.json", json.dumps(results, indent=1))
    page = folder / "index.html"
    write_text(page, render(results))
    return page
