"""Pages from saved results: one HTML file each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from ringmill.report import charts, exploration, hardware, large, simulated

if TYPE_CHECKING:
    import jinja2

Results = dict[str, Any]


def template(package: str, name: str) -> jinja2.Template:
    """Return a template of a package, which may extend and include those of the report."""
    import jinja2

    def file(at: str, name: str) -> str | None:
        path = resources.files(at).joinpath(name)
        return path.read_text(encoding="utf-8") if path.is_file() else None

    own = jinja2.FunctionLoader(lambda name: file(package, name))
    shared = jinja2.FunctionLoader(lambda name: file(__package__, name))
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        loader=jinja2.ChoiceLoader([own, shared]),
    )
    environment.filters.update(
        bytes=charts.human_bytes, seconds=charts.human_seconds, digits=exploration.digits
    )
    environment.globals.update(
        style=file(__package__, "page.css"), script=file(__package__, "exploration.js")
    )
    return environment.get_template(name)


def chosen_charts(explored: Results | None) -> dict[str, str]:
    """Draw the chosen core of an exploration, and its units over one run."""
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


def render_exploration(explored: Results, version: str) -> str:
    """The page of one exploration as HTML text; ``explored`` is what ``explored.reported`` gives."""
    return template(__package__, "explored.html").render(
        version=version, exploration=exploration.section(explored), charts=chosen_charts(explored)
    )


def render_simulation(facts: Results, spans: Sequence[simulated.Span], version: str) -> str:
    """The page of one simulation as HTML text; ``facts`` is what ``Compiled.estimate`` gives."""
    timeline = simulated.packed(spans, facts["cycles"]) if spans and facts["cycles"] else ""
    return template(__package__, "simulated.html").render(
        version=version,
        facts=facts,
        timeline=timeline,
        tables=simulated.tables(facts),
        tiles=simulated.tiles(facts),
        script=resources.files(__package__).joinpath("timeline.js").read_text(encoding="utf-8"),
    )


def render_large(found: Results, completeness: str, version: str) -> str:
    """The page of a search for large accelerators as HTML text; ``found`` is what ``Large.to_json`` gives."""
    return template(__package__, "large.html").render(
        version=version,
        found=found,
        completeness=completeness,
        names=large.NAMES,
        rows=[large.cells(row) for row in found["front"]],
        picture=large.picture(found["front"], found["best"]),
        script="",
    )
