"""What each command does; every one returns the facts it prints."""

from __future__ import annotations

import json
import platform
import shlex
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from ringmill._checks.integers import whole
from ringmill._native import MachineSpec, costs_path, machine_help, machine_table
from ringmill.atomic import make_folder, write_text
from ringmill.cli.compile import compile as compile
from ringmill.cli.explore import devices as devices
from ringmill.cli.explore import explore as explore
from ringmill.cli.explore import show_devices as show_devices
from ringmill.cli.explore import show_explore as show_explore
from ringmill.cli.explore import show_targets as show_targets
from ringmill.cli.explore import targets as targets
from ringmill.cli.holder import decrypt as decrypt
from ringmill.cli.holder import encrypt as encrypt
from ringmill.cli.holder import keygen as keygen
from ringmill.cli.holder import rewrite as rewrite
from ringmill.cli.holder import show
from ringmill.cli.inspect import inspect as inspect
from ringmill.cli.interop import export as export
from ringmill.cli.interop import import_
from ringmill.cli.params import params as params
from ringmill.cli.places import to_write
from ringmill.cli.profile import profile as profile
from ringmill.cli.profile import show_profile as show_profile
from ringmill.cli.program import program as program
from ringmill.cli.read import evaluation_keys, named
from ringmill.cli.remote import remote as remote
from ringmill.cli.remote import serve as serve
from ringmill.cli.simulate import show_simulate as show_simulate
from ringmill.cli.simulate import simulate as simulate
from ringmill.cli.streams import say
from ringmill.cli.workload import show_workload as show_workload
from ringmill.cli.workload import workload as workload
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail
from ringmill.keys import forms_beside, load_public
from ringmill.machines import machine_of
from ringmill.progress import share
from ringmill.values import Values

Facts = dict[str, Any]

#: What ``compare`` takes beside papers: what chips of some capacities move.
CAPACITY = "capacity"

# The verb is a keyword of the language.
globals()["import"] = import_


def evaluate(options: Namespace) -> Facts:
    """Run a kernel on a file of encrypted arguments."""
    compiled = Compiled.load(options.kernel)
    target = to_write(options.out, options.kernel, options.keys, forms_beside(options.keys), options.input)
    with share("read keys", show(options)):
        keys = evaluation_keys(options.keys, compiled.params, options.key_memory)
    arguments = Values.load(options.input, "arguments", compiled.params)
    start = time.perf_counter()
    machine = _machine(options)
    with share(f"prepare {compiled.name}", show(options)):
        compiled.executable(machine)
    prepared = time.perf_counter()
    more: dict[str, Any] = {} if options.statistical is None else {"statistical": options.statistical}
    if options.sanitise is not None:
        more["sanitise"] = options.sanitise
    if options.public is not None:
        with named(options.public):
            more["public"] = load_public(compiled.params, options.public)
    results = compiled.evaluate(keys, arguments, machine=machine, progress=show(options), **more)
    done = time.perf_counter()
    size = results.save(target)
    return {
        "file": str(target),
        "bytes": size,
        "machine": str(machine),
        "prepare_seconds": round(prepared - start, 6),
        "seconds": round(done - prepared, 6),
        "predicted_error_log2": round(results.error_log2, 2),
    }


def _machine(options: Namespace) -> MachineSpec:
    """The machine that is asked for, with options of it in their old places."""
    machine = machine_of(options.machine)
    old = {name: getattr(options, name) for name in ("threads", "butterflies")}
    for name in (name for name, value in old.items() if value is not None):
        machine = machine.with_options(**{name: old[name]})
        say(f"ringmill evaluate: --{name} will go; write --machine {machine}")
    return machine


def machines(_options: Namespace) -> Facts:
    """What a program can run on."""
    return {
        "machines": [
            {
                "name": name,
                "about": about,
                "options": [
                    {"name": option, "values": values, "left_out": left_out, "about": meaning}
                    for option, _, values, left_out, meaning in options
                ],
            }
            for name, about, options in machine_table()
        ]
    }


def show_machines(_facts: Facts) -> None:
    """Print a line a machine, and one an option below it."""
    print(machine_help(), end="")


def build(options: Namespace) -> Facts:
    """Write the folder of a design, or of an engine for a kernel's parameters."""
    name, files = _built(options)
    return {
        "folder": options.out,
        "kernel": name,
        "files": len(files),
        "bytes": sum(map(len, files.values())),
        "next": f"cd {options.out} && make selftest",
    }


def _built(options: Namespace) -> tuple[str, dict[str, bytes]]:
    """The kernel's name, and the files of the folder."""
    from ringmill.project import BUILT, design, encryptor, pipelined, write

    out, overwrite = Path(options.out), options.overwrite
    if options.machine == BUILT[0]:
        read = design.made(options.design, lambda content: content)
        spec = MachineSpec(read["machine"])
        if spec.name == pipelined.MACHINE:
            compiled = design.compiled_of(read)
            return compiled.name, pipelined.write(
                compiled.name, compiled.params, spec, out, overwrite=overwrite
            )
        of_core = design.read(options.design)
        return of_core.compiled.name, write(
            of_core.compiled, of_core.core, out, design=of_core.content, overwrite=overwrite
        )
    engine = None if options.machine == BUILT[1] else machine_of(options.machine)
    if engine is not None and engine.name != pipelined.MACHINE:
        fail(
            CommandError,
            "NotBuilt",
            f"A folder is built of {', '.join(BUILT[:-1])} or {BUILT[-1]}, not of machine {engine.name!r}. "
            "Compact cores are built from design files: leave --machine out.",
            machine=options.machine,
        )
    from ringmill.cli.read import client

    kernel = client(options.design)
    if engine is None:
        files = encryptor.write(kernel.name, kernel.params, kernel.terms.level, out, overwrite=overwrite)
    else:
        files = pipelined.write(kernel.name, kernel.params, engine, out, overwrite=overwrite)
    return kernel.name, files


def validate(options: Namespace) -> Facts:
    """Predicted beside measured for designs."""
    from ringmill.project import design
    from ringmill.validate import stored
    from ringmill.validate.design import validate as held

    target, picture = (
        to_write(file, *options.designs) if file else None for file in (options.out, options.plot)
    )
    names, read = [], []
    for path in options.designs:
        if stored.is_results(path):
            found = [design.of(content) for content in stored.designs(path, options.points)]
        else:
            found = [design.read(path)]
        names += [f"{path} #{at + 1}" for at in range(len(found))] if len(found) > 1 else [str(path)]
        read += found
    rows = held(
        read,
        rtl=not options.no_rtl,
        synthesise=options.synthesise,
        runs=options.runs,
        show=show(options),
    )
    if target:
        write_text(target, json.dumps(rows, indent=1) + "\n")
    if picture:
        from ringmill.validate.plot import held_svg

        write_text(picture, held_svg(rows))
    return {"designs": names, "rows": rows}


def show_validate(facts: Facts) -> None:
    """Print a line for each figure."""
    from ringmill.validate.design import deviation

    for number, name in enumerate(facts["designs"]):
        print(name)
        for row in (r for r in facts["rows"] if r["design"] == number):
            measured = "–" if row["measured"] is None else f"{row['measured']:,.6g}"
            figures = f"{row['predicted']:>14,.6g} {measured:>14} {deviation(row):>12}"
            print(f"  {row['what']:<24} {figures}  {row['by']}")


def calibrate(options: Namespace) -> Facts:
    """Measure what this machine takes for each kind of work, for the choice of key-switch methods."""
    from ringmill import _native

    path = to_write(options.out) if options.out else costs_path()
    if path is None:
        fail(CommandError, "NoHome", "There is no home directory to write to; name a file with --out.")
    degrees = [whole(CommandError, "--log-n", log_n, 10, 17) for log_n in options.log_n or (14, 16)]
    text, timed = _native.calibrate(degrees, f"{platform.processor() or platform.machine()}, {_native.isa()}")
    make_folder(path.parent)
    write_text(path, text)
    worst = max(abs(reported / found - 1) for _, found, reported in timed)
    return {
        "file": str(path),
        "timed": [
            {"name": name, "ms": round(ms, 3), "by_costs_ms": round(reported, 3)}
            for name, ms, reported in timed
        ],
        "worst_deviation_percent": round(100 * worst, 1),
        "costs": text,
    }


def show_calibrate(facts: Facts) -> None:
    """Print the costs and how well they explain what was timed."""
    for row in facts["timed"]:
        deviation = 100 * (row["by_costs_ms"] / row["ms"] - 1)
        print(f"{row['name']:56} {row['ms']:9.2f} ms, by the costs {deviation:+5.1f} %")
    print(facts["costs"], end="")
    print(f"written to {facts['file']}; {_chosen_by(Path(facts['file']))}")


def _chosen_by(costs: Path) -> str:
    """When methods of key switching are chosen by a file of costs: the engine looks in one place for it."""
    place = costs_path()
    if place is not None and costs.resolve() == place.resolve():
        return "methods of key switching are chosen by it from now on"
    named = f"RINGMILL_COSTS={shlex.quote(str(costs.resolve()))}"
    return f"methods of key switching are chosen by it where {named} is set"


def compare(options: Namespace) -> Facts:
    """Put a paper's figures beside ours, say what became of one of its items, or count what chips move."""
    if options.paper == CAPACITY:
        from ringmill.studies import capacity

        return capacity.facts(show(options))
    from ringmill.studies.papers import items, paper, traceability
    from ringmill.studies.papers.paper import Settings

    chosen = paper(options.paper)
    if options.item is not None:
        found = traceability.asked(items(chosen.name), options.item)
        return {"paper": chosen.name, "items": [item.row() for item in found]}
    settings = Settings(options.word_bits, options.bus_bits, options.latency, options.effort)
    return {"paper": chosen.name, **chosen.facts(settings)}


def show_compare(facts: Facts) -> None:
    """Print the tables of a comparison, or the items asked for."""
    from ringmill.studies.papers import paper, sheets, traceability

    if facts["paper"] == CAPACITY:
        from ringmill.studies import capacity

        return sheets.show([capacity.sheet(facts["rows"])], list(capacity.NOTES))
    if "items" in facts:
        for row in facts["items"]:
            print(f"{row['item']}: {traceability.Item(**row).words()}")
        return
    chosen = paper(facts["paper"])
    sheets.show(chosen.sheets(facts["rows"]), chosen.notes(facts))
