"""Programs as files: limb programs as text or in their compact form, HE programs without their vectors."""

from __future__ import annotations

from pathlib import Path

from ringmill import bundle
from ringmill._native import LimbProgram as LimbProgram
from ringmill._native import with_tables, without_tables
from ringmill.atomic import together
from ringmill.compiled import Compiled

__all__ = ["LimbProgram", "joined", "load", "save", "save_apart"]


def load(path: str | Path) -> LimbProgram:
    """Read a limb program of either form; the compact one is read as a stream.

    Raises
    ------
        FileFormatError: a file that is not there, is no limb program, or is damaged.
        ProgramError: a program that breaks a rule.
    """
    return LimbProgram.load(Path(path))


def save(program: LimbProgram, path: str | Path, *, text: bool = False) -> int:
    """Write a limb program in the compact form, or as text; gives the bytes of the file.

    Raises
    ------
        FileFormatError: a place that cannot be written.
    """
    with together() as files:
        return program.write(files.beside(Path(path), 0o666), text)


def save_apart(program: Compiled | str, path: str | Path, tables: str | Path) -> int:
    """Write a kernel's managed program, or the text of an HE program, and its vectors to a file of their own.

    The text names each vector by its digest. Gives the bytes of both files.

    Raises
    ------
        FileFormatError: a place that cannot be written.
        ProgramError: a text that is no HE program.
    """
    text, data = program.plan.apart() if isinstance(program, Compiled) else without_tables(program)
    with together() as files:
        files.write(Path(path), text.encode())
        files.write(Path(tables), data)
    return len(text.encode()) + len(data)


def joined(text: str, tables: str | Path) -> str:
    """The text of an HE program that names its vectors, with these in it.

    Raises
    ------
        FileFormatError: a file of tables that is damaged: the error names the digest.
        ProgramError: code ``MissingTable``: a table that is not in the file.
    """
    with bundle.opened(tables) as file:
        return with_tables(text, file.readall())
