"""The verbs of exploring: `explore` and `devices`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
import traceback
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ringmill.bundle import read_text_file
from ringmill.cli.places import to_write
from ringmill.errors import CommandError, RingmillError, fail

Facts = dict[str, Any]

#: Rows of the front that a terminal shows.
SHOWN = 12
#: What `--target` takes for every kind of machines that computes the kernel.
ALL = "all"


@contextmanager
def _theirs(place: str, doing: str) -> Iterator[None]:
    """What a user's own code raises, as a sentence with its file and line."""
    try:
        yield
    except RingmillError:
        raise
    except Exception as error:
        if isinstance(error, ImportError) and not place.endswith(".py"):
            raise
        if isinstance(error, SyntaxError):
            where = f"{error.filename}:{error.lineno}"
            fail(CommandError, "NoPython", f"{where} is no Python: {error.msg}. Mend that line.", line=where)
        frames = traceback.extract_tb(error.__traceback__)
        # The last line of the file itself; what it calls may fail far from it.
        own = [frame for frame in frames if Path(frame.filename) == Path(place)] or frames
        where = f"{own[-1].filename}:{own[-1].lineno}"
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        fail(CommandError, "KernelFile", f"{where} fails when {doing}: {what}. Mend that line.", line=where)


def _module(place: str) -> ModuleType:
    """A module by path of its file or by name."""
    if not place.endswith(".py"):
        try:
            with _theirs(place, "it is imported"):
                return importlib.import_module(place)
        except ImportError as error:
            fail(
                CommandError,
                "NoModule",
                f"{place} cannot be imported: {error}. Give the path of a .py file, or a module.",
            )
    path = Path(place)
    if not path.is_file():
        fail(
            CommandError,
            "NoModule",
            f"{place} does not exist. Give the path of a .py file, or a module.",
            path=place,
        )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent))
    with _theirs(place, "it is read"):
        spec.loader.exec_module(module)
    return module


def _called(function: Any, place: str) -> Any:
    """What a function of no arguments gives."""
    name = getattr(function, "__name__", repr(function))
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    asked = [p.name for p in parameters if p.default is p.empty and p.kind not in variable]
    if asked:
        code = getattr(function, "__code__", None)
        where = f"{code.co_filename}:{code.co_firstlineno}" if code else place
        fail(
            CommandError,
            "Arguments",
            f"{where}: {name} takes {', '.join(asked)}, and nothing says what they are. Make it a "
            f"@ringmill.kernel with descriptions as defaults, def {name}({asked[0]}=ringmill.vector(100)), "
            "or a function without arguments that returns a trace.",
            missing=asked,
        )
    with _theirs(place, f"{name}() is called"):
        return function()


def target(text: str) -> Any:
    """What ``kernel.py:function`` names: a kernel, a trace, or what a function of no arguments gives."""
    from ringmill.kernels import NINE
    from ringmill.trace import Kernel, Traced

    place, _, name = text.rpartition(":")
    if not place:
        fail(
            CommandError,
            "NoFunction",
            f"{text!r} names no function: write kernel.py:function, or coxhe:a to coxhe:i.",
            text=text,
        )
    if place == "coxhe":
        row = next((row for row in NINE if row.letter == name), None)
        if row is None:
            fail(
                CommandError,
                "NoFunction",
                f"coxHE's table has no kernel {name!r}; there are a to i.",
                name=name,
            )
        return row
    module = _module(place)
    found = getattr(module, name, None)
    if found is None:
        kernels = sorted(n for n, value in vars(module).items() if isinstance(value, Kernel))
        there = f"; its kernels are {', '.join(kernels)}" if kernels else ""
        fail(CommandError, "NoFunction", f"{place} has no {name!r}{there}.", name=name, kernels=kernels)
    if callable(found) and not isinstance(found, (Kernel, Traced)):
        found = _called(found, place)
    return found


def _space(path: str, target: str) -> Any:
    from ringmill.explorer.space import narrowed

    data = read_text_file(path)
    try:
        space = json.loads(data)
    except ValueError as error:
        fail(CommandError, "NoSpace", f"{path} is no JSON ({error}): docs/explorer.md shows one.", path=path)
    return narrowed(space, path, target)


def _of_one(options: Namespace) -> Facts:
    """What a search of one kind is asked beside the constraints."""
    space = _space(options.space, options.target) if options.space else None
    return {"target": options.target, "space": space, "results": options.results}


def _writable(options: Namespace) -> None:
    """Refuse before the search what would lose its result after it."""
    from ringmill.explorer.result import can_report, comparable

    if options.target == ALL:
        given = [name for name in ("space", "results", "points") if getattr(options, name)]
        if given:
            fail(
                CommandError,
                "OfOneTarget",
                f"--{given[0]} is for one kind of machines, and --target {ALL} explores several. "
                "Name one, or leave the option out.",
                option=given[0],
            )
    read = options.kernel.rpartition(":")[0], options.device, options.space
    for path in (options.out, options.report, options.results):
        if path:
            to_write(path, *read)
    if options.report:
        can_report()
        if options.points:
            comparable(options.target)
    elif options.points:
        fail(
            CommandError,
            "NoPage",
            f"--points {options.points} decrypts designs for a page, and no page is written. "
            "Name its file with --report, or leave --points out.",
            points=options.points,
        )


#: Options of `explore` that are about an area, with what they are when left out.
_OF_AREAS: Facts = {"area": None, "bandwidth": None}


def _of_devices() -> Facts:
    """Options of `explore` that are about devices, with what they are when left out."""
    from ringmill.explorer.constraints import DEFAULTS

    known: Facts = dict(DEFAULTS)
    shared = ("minimise", "max_latency_ms", "utilisation", "mhz", "seed")
    return {
        **{name: known[name] for name in shared},
        "security_table": known["table"],
        **dict.fromkeys(("device", "space", "results")),
        "time_client": False,
        "points": 0,
    }


def _refuse_options(options: Namespace, others: Facts, what: str) -> None:
    """Refuse options that the target does not have."""
    given = [
        f"--{name.replace('_', '-')}"
        for name, left_out in others.items()
        if getattr(options, name) != left_out
    ]
    if given:
        fail(
            CommandError,
            "Target",
            f"{', '.join(given)}: --target {options.target} {what}. Leave out what it does not have.",
            options=given,
        )


def _large(options: Namespace) -> Facts:
    """Find a large accelerator for a kernel."""
    from ringmill.explorer import large
    from ringmill.explorer.result import can_report

    _refuse_options(options, _of_devices(), "has an --area and a --bandwidth, and is on no device")
    for path in (options.out, options.report):
        if path:
            to_write(path, options.kernel.rpartition(":")[0])
    if options.report:
        can_report()
    found = large.accelerators(
        target(options.kernel),
        area=large.AREA if options.area is None else options.area,
        bandwidth="1TB/s" if options.bandwidth is None else options.bandwidth,
        max_error=options.max_error,
        security=options.security,
        magnitude=options.magnitude,
        seconds=options.seconds,
        progress="none" if options.quiet else "auto",
    )
    if options.out:
        found.save(options.out)
    if options.report:
        found.report(options.report)
    facts = {**found.to_json(), "completeness": found.completeness()}
    return {**facts, "machine": options.out, "report": options.report}


def _show_large(facts: Facts) -> None:
    """Print the front of large accelerators."""
    from rich.console import Console
    from rich.table import Table

    from ringmill.report import large

    console = Console() if sys.stdout.isatty() else Console(width=150)
    rows = facts["front"]
    step = max(1, -(-len(rows) // SHOWN))
    title = f"Large accelerators for {facts['kernel']}: {len(rows)} that no smaller one beats"
    table = Table(title=f"{title}, one in {step}" if step > 1 else title, title_justify="left")
    for name in large.NAMES:
        table.add_column(name, justify="right")
    for row in [*rows[:-1:step], rows[-1]]:
        table.add_row(*large.cells(row))
    console.print(table)
    console.print(
        f"{facts['machines']:,} machines have {facts['area']:g} mm² or less at 7 nm (shares of Taiyi's area, "
        f"scaled: assumed). {facts['simulated']:,} were simulated at 1 GHz (assumed) and "
        f"{facts['bandwidth']:g} GB/s. {facts['completeness']}",
        soft_wrap=True,
    )
    for word, why in facts["refused"].items():
        console.print(f"Words of {word} bits have no parameters: {why}", soft_wrap=True)
    if facts["machine"]:
        console.print(
            f"{facts['machine']} describes the fastest: --machine file:{facts['machine']}", soft_wrap=True
        )
    if facts["report"]:
        console.print(f"{facts['report']} is a page to look around in", soft_wrap=True)


def explore(options: Namespace) -> Facts:
    """Find parameters and a core for a kernel on a device, or a large accelerator within an area."""
    import ringmill.explorer as explorer
    from ringmill.explorer.client import timed
    from ringmill.explorer.large import NAME

    if options.target == NAME:
        return _large(options)
    _refuse_options(options, _OF_AREAS, "is for devices")
    if options.device is None:
        fail(
            CommandError,
            "NoDevice",
            f"--target {options.target} is explored on a device: --device NAME; ringmill devices lists them.",
        )
    one = {} if options.target == ALL else _of_one(options)
    _writable(options)
    asked: Facts = {
        "max_error": options.max_error,
        "security": options.security,
        "minimise": options.minimise,
        "max_latency_ms": options.max_latency_ms,
        "utilisation": options.utilisation,
        "table": options.security_table,
        "mhz": options.mhz,
        "magnitude": options.magnitude,
        "seconds": options.seconds,
        "seed": options.seed,
        "progress": "none" if options.quiet else "auto",
    }
    compared = None
    if one:
        found = explorer.explore(target(options.kernel), options.device, **one, **asked)
    else:
        compared = explorer.compare(target(options.kernel), options.device, **asked)
        found = compared.best
    best = timed(found.best) if options.time_client else found.best
    if options.out:
        found.save(options.out, best)
    if options.report:
        found.report(options.report, options.points)
    return {
        "best": {**best, "kernel": {**best["kernel"], "program": "…"}},
        "front": found.rows(),
        "best_proven": found.best_proven,
        "front_proven": found.front_proven,
        "front_gap": found.front_gap,
        "completeness": found.completeness(),
        "counted": found.counted(),
        "stopped": found.stopped,
        "statistics": found.statistics,
        "design": options.out,
        "report": options.report,
        "kinds": compared and {"ranked": compared.rows(), "reason": compared.reason()},
    }


def show_explore(facts: Facts) -> None:
    """Print the design that was chosen, the front, and what the search did."""
    from rich.console import Console

    from ringmill.targets import of_design

    if "best_proven" not in facts:
        _show_large(facts)
        return
    console = Console() if sys.stdout.isatty() else Console(width=150)
    console.print(_chosen(facts))
    console.print(_front(facts["front"], of_design(facts["best"])))
    console.print(_search(facts), soft_wrap=True)
    if facts["kinds"]:
        console.print(_kinds(facts["kinds"]["ranked"]))
        console.print(facts["kinds"]["reason"], soft_wrap=True)
    if facts["design"]:
        from ringmill.project.design import CORE
        from ringmill.project.pipelined import MACHINE

        built = of_design(facts["best"])["name"] in (CORE, MACHINE)
        how = f": ringmill build {facts['design']} --out DIR" if built else ""
        console.print(f"{facts['design']} is the chosen design{how}", soft_wrap=True)
    if facts["report"]:
        console.print(f"{facts['report']} is a page to look around in", soft_wrap=True)


def _chosen(facts: Facts) -> Any:
    from rich.table import Table

    from ringmill.explorer.result import row
    from ringmill.targets import summary

    best = row(facts["best"])
    known = facts["best"]["predicted"]
    table = Table(title="Chosen", title_justify="left", show_header=False)
    table.add_column()
    table.add_column()
    table.add_column(overflow="fold")

    def line(name: str, value: str, origin: Any = None) -> None:
        said = "" if origin is None else f"{origin['kind']}: {origin['source']}"
        table.add_row(name, value, said)

    figures = known["latency_ms"], known["error"], known["security_bits"]
    line("latency", f"{best['latency_ms']:.4g} ms, {best['cycles']:,} cycles", figures[0]["origin"])
    if known.get("per_second"):
        rate = known["per_second"]
        line("rate", f"{rate['value']:,.0f} a second", rate["origin"])
    line("error", f"{best['error']:.2e}", figures[1]["origin"])
    line(
        "security",
        f"{best['security_level'] or 'below 128'} ({best['security_bits']:.0f}) bits",
        figures[2]["origin"],
    )
    line("parameters", f"N = 2^{best['log_n']}, q {best['q_bits']}, p {best['p_bits']}, dnum {best['dnum']}")
    line("", f"scale 2^{best['scale_bits']}, {best['secret']} secret, primes {best['class']}")
    line("core", summary(facts["best"]))
    line("machine", best["machine"])
    line("area", f"{100 * best['area']:.1f} %", known["area"]["origin"])
    for name, figure in known["resources"].items():
        line(name, f"{figure['value']:,.1f}".rstrip("0").rstrip("."), figure["origin"])
    if known["energy_mj"]:
        line("energy", f"{best['energy_mj']:.4g} mJ", known["energy_mj"]["origin"])
    client = known["client"]
    line("client", f"{best['key_bytes']:,} bytes of keys, {best['input_bytes']:,} of arguments")
    for name in ("encrypt_ms", "decrypt_ms"):
        if client[name]:
            line(name.removesuffix("_ms"), f"{client[name]['value']:.3g} ms", client[name]["origin"])
    if best["variant"]:
        line("packing", str(best["variant"]))
    return table


def _front(rows: list[dict[str, Any]], row: dict[str, Any]) -> Any:
    from rich.table import Table

    # A part of the front that keeps fast, small, exact and secure designs.
    step = max(1, -(-len(rows) // SHOWN))
    table = Table(
        title=f"Front: {len(rows)} designs, one in {step}" if step > 1 else "Front", title_justify="left"
    )
    columns = {column["field"]: column["heading"] for column in row["columns"] if column["heading"]}
    for name in ("ms", "area", "error", "bits", "N", "q | p", "dnum", *columns.values()):
        table.add_column(name, justify="right")
    for r in rows[::step]:
        primes = f"{r['q_bits']} | {r['p_bits']}"
        core = [str(r[field]) for field in columns]
        numbers = (
            f"{r['latency_ms']:.4g}",
            f"{100 * r['area']:.1f} %",
            f"{r['error']:.1e}",
            f"{r['security_bits']:.0f}",
        )
        table.add_row(*numbers, f"2^{r['log_n']}", primes, str(r["dnum"]), *core)
    return table


def _kinds(ranked: list[Facts]) -> Any:
    from rich.table import Table

    table = Table(title="Kinds of machines, the best first", title_justify="left")
    for name in ("target", "ms", "area", "error", "bits", "clock", "latency counts"):
        table.add_column(name)
    for r in ranked:
        table.add_row(
            r["target"],
            f"{r['latency_ms']:.4g}",
            f"{100 * r['area']:.1f} %",
            f"{r['error']:.1e}",
            f"{r['security_bits']:.0f}",
            f"{r['mhz']:g} MHz, {r['clock_kind']}",
            r["counted"],
        )
    return table


def _search(facts: Facts) -> str:
    s = facts["statistics"]
    over = s["over_bound"]
    ratio = f"; cycles are {over[0]:.2f} to {over[2]:.2f} times the closed form" if over else ""
    best = "proven" if facts["best_proven"] else "not proven"
    stopped = " Stopped early." if facts["stopped"] else ""
    return (
        f"{facts['counted']} That took {s['seconds']:.1f} s and {s['simulations']:,} simulations{ratio}. "
        f"The best is {best}. {facts['completeness']}{stopped}"
    )


def targets(options: Namespace) -> Facts:
    """List the kinds of machines that can be explored."""
    import ringmill.explorer as explorer

    del options
    from ringmill.explorer import large

    axes = [{"name": name, "values": list(values)} for name, values in large.AXES.items()]
    return {**explorer.targets(), large.NAME: {"about": large.ABOUT, "axes": axes}}


def show_targets(facts: Facts) -> None:
    """Print one line a target, and one line an axis."""
    for name, row in facts.items():
        degrees = f"; N = 2^{row['log_n'][0]} to 2^{row['log_n'][1]}" if "log_n" in row else ""
        print(f"{name:<12} {row['about']}{degrees}")
        for axis in row["axes"]:
            print(f"  {axis['name']:<12} {', '.join(map(str, axis['values']))}")


def devices(options: Namespace) -> Facts:
    """List the stored devices."""
    import ringmill.explorer as explorer

    del options
    return cast("Facts", explorer.devices())


def show_devices(facts: Facts) -> None:
    """Print one line a device."""
    for name, device in facts.items():
        amounts = {k: v for k, v in device["resources"].items() if k != "source"}
        reported = ", ".join(f"{v:,.0f} {k}" for k, v in amounts.items())
        clock = f"{device['clock']['mhz']:g} MHz ({device['clock']['kind']})"
        print(f"{name:<12} {device['title']}: {reported}; {clock}")
