"""The page: results in, one HTML file out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill.atomic import make_folder, write_text
from ringmill.compare import coxhe, coxhe_table, table, taiyi_table
from ringmill.report import charts, effort, exploration, hardware, simulated
from ringmill.report.drawing import program_svg

if TYPE_CHECKING:
    import jinja2

Results = dict[str, Any]


def _comparison_rows(results: Results) -> list[Results]:
    error = results["clinic"]["error"]
    first = {key: error[key] for key in ("predicted_log2", "measured_log2")}
    return [{"label": "clinic", **first}, *results["kernels"]]


def _file(name: str) -> str:
    return resources.files("ringmill.report").joinpath(name).read_text(encoding="utf-8")


def _template(name: str) -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        loader=jinja2.FunctionLoader(_file),
    )
    environment.filters.update(
        bytes=charts.human_bytes, seconds=charts.human_seconds, digits=exploration.digits
    )
    environment.globals.update(style=_file("page.css"), script=_file("exploration.js"))
    return environment.get_template(name)


def _chosen(explored: Results | None) -> dict[str, str]:
    """The chosen core of an exploration, and its units over one run."""
    if not explored or "core" not in explored:
        return {"chosen_core": "", "chosen_occupancy": "", "validated": ""}
    core = explored["core"]
    spans = [
        {"unit": unit, "what": what, "start": start, "end": end}
        for unit, what, start, end in core["spans"]
        if unit != "control"
    ]
    title = "Units of the chosen core during one run"
    return {
        "chosen_core": hardware.diagram(core),
        "chosen_occupancy": hardware.occupancy({**core, "spans": spans}, title),
        "validated": exploration.validated_chart(explored.get("validated", [])),
    }


def _coxhe() -> Results:
    found = coxhe.stored()
    rows = found["rows"]
    return {"sheets": coxhe_table.sheets(rows), "origin": coxhe_table.origin(rows), "gains": found["gains"]}


def render(results: Results) -> str:
    """The report as HTML text; ``results`` is what the main job saves as JSON."""
    clinic, kernels = results["clinic"], results["kernels"]
    explored = results.get("exploration")
    return _template("page.html").render(
        version=results["version"],
        exploration=explored and exploration.section(explored),
        results=results,
        clinic=clinic,
        kernels=kernels,
        hardware=results["hardware"],
        coxhe=_coxhe(),
        sheets=table.sheets(results["hardware"]["casa"]),
        origin=table.origin(results["hardware"]["casa"], results["hardware"]["area_origin"]),
        parameters=taiyi_table.sheets(results["hardware"]["taiyi"]),
        notes=taiyi_table.NOTES,
        charts={
            "probabilities": charts.probabilities(clinic),
            "histogram": charts.error_histogram(clinic),
            "comparison": charts.error_comparison(_comparison_rows(results)),
            "stages": charts.stages(clinic),
            "wire": charts.wire(clinic),
            "kernel_times": charts.kernel_times(kernels),
            "levels": effort.levels(clinic["effort"]),
            "spent": effort.spent(clinic["effort"]),
            "occupancy": hardware.occupancy(results["hardware"]["key_switch"]),
            "core": hardware.diagram(results["hardware"]["core"]),
            **_chosen(explored),
        },
        effort=effort.section(clinic["effort"]),
        drawing=program_svg(clinic["program"]["text"], "The clinic's program"),
        drawings={row["letter"]: program_svg(row["program"]["text"], row["title"]) for row in kernels},
    )


def render_exploration(explored: Results, version: str) -> str:
    """The page of one exploration as HTML text; ``explored`` is what ``explored.told`` gives."""
    return _template("explored.html").render(
        version=version, exploration=exploration.section(explored), charts=_chosen(explored)
    )


def render_simulation(facts: Results, spans: Sequence[simulated.Span], version: str) -> str:
    """The page of one simulation as HTML text; ``facts`` is what ``Compiled.estimate`` gives."""
    timeline = simulated.packed(spans, facts["cycles"]) if spans and facts["cycles"] else ""
    return _template("simulated.html").render(
        version=version,
        facts=facts,
        timeline=timeline,
        tables=simulated.tables(facts),
        tiles=simulated.tiles(facts),
        script=_file("timeline.js"),
    )


def write(results: Results, folder: Path) -> Path:
    """Write ``results.json`` and ``index.html`` into ``folder``; returns the page's path."""
    make_folder(folder)
    write_text(folder / "results.json", json.dumps(results, indent=1))
    page = folder / "index.html"
    write_text(page, render(results))
    return page
