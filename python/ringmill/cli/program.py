"""`ringmill program`: the program of a kernel as a file, or a program file in another form."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, NoReturn

from ringmill import bundle, programs
from ringmill._native import LimbProgram
from ringmill.atomic import write_text
from ringmill.cli.places import to_write
from ringmill.cli.read import named
from ringmill.cli.simulate import limb_program
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail

Facts = dict[str, Any]


def program(options: Namespace) -> Facts:
    """Write a program."""
    path, managed = options.file, options.form == "managed"
    target = Path(to_write(options.out, path))
    for option in ("tables", "with_tables"):
        if getattr(options, option) is not None and not managed:
            _refuse(f"--{option.replace('_', '-')} is for HE programs; add --form managed")
    if options.machine is not None and (managed or not bundle.is_bundle(path)):
        _refuse("--machine is for the limb program of a kernel; leave it out")
    if managed:
        return _managed(options, target)
    found = _limb(path, options.machine)
    size = programs.save(found, target, text=options.form == "text")
    return {"file": str(target), "bytes": size, "program": repr(found)}


def _limb(path: str, machine: str | None) -> LimbProgram:
    if bundle.is_bundle(path):
        return Compiled.load(path).limb_program(machine or "cpu")
    return limb_program(path)


def _managed(options: Namespace, target: Path) -> Facts:
    path, found = options.file, _he_program(options.file, options.with_tables)
    if options.tables is not None:
        tables = to_write(options.tables, path, options.out)
        size = programs.save_apart(found, target, tables)
        return {"file": str(target), "tables": str(tables), "bytes": size}
    text = found.program if isinstance(found, Compiled) else found
    write_text(target, text)
    return {"file": str(target), "bytes": len(text.encode())}


def _he_program(path: str, tables: str | None) -> Compiled | str:
    """A kernel, or the text of an HE program with the vectors of a file of tables."""
    if bundle.is_bundle(path):
        if tables is not None:
            _refuse("--with-tables is for an HE program without its vectors, and a kernel has its own")
        return Compiled.load(path)
    with bundle.opened(path) as file:
        text = file.readall().decode(errors="replace")
    if tables is None:
        return text
    with named(tables):
        return programs.joined(text, tables)


def _refuse(message: str) -> NoReturn:
    fail(CommandError, "Options", f"{message[0].upper()}{message[1:]}.")
