"""A trace read line by line into columns: each line defines a value, and addresses name values in turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from ringmill.errors import FileFormatError, ProgramError, fail
from ringmill.interop.fhetch.columns import NONE, Columns, least_root
from ringmill.interop.fhetch.emit import program_of
from ringmill.interop.fhetch.grammar import (
    ADDRESS,
    COPY,
    KNOWN,
    LINE_BYTES,
    LINES,
    MODULI,
    NUMBER,
    OPERATIONS,
    ROOTED,
    TWO,
)
from ringmill.interop.fhetch.trace import Trace

_MODULUS = re.compile(r"m\[(\d{1,4})\]\s+0[xX]([0-9a-fA-F]{1,16})\Z")
_WORD = re.compile(r"\d{1,20}\Z|0[xX][0-9a-fA-F]{1,16}\Z")
_NAME = re.compile(r"[A-Za-z_]\w{0,99}\Z", re.ASCII)


class _Reader:
    def __init__(self, name: str) -> None:
        self.name, self.line = name, 0
        self.columns = Columns()
        self.log_n: int | None = None
        #: The value at each address, and addresses that are read after they were written last.
        self.at: dict[int, int] = {}
        self.read: set[int] = set()
        self.unknown: Counter[str] = Counter()
        self.roots: set[tuple[int, int]] = set()
        self.weak: dict[int, int] = {}
        self.marked: list[tuple[str, list[int]]] = []

    def fail(self, said: str, code: str = "Line") -> NoReturn:
        fail(FileFormatError, code, f"{self.name}, line {self.line}: {said}.", line=self.line)

    # --- lines ----------------------------------------------------------------------------------------------

    def all(self, file: BinaryIO) -> None:
        for text in self.lines(file):
            if text.startswith("#"):
                self.comment(text[1:].strip())
            elif text.startswith("m["):
                self.modulus(text)
            elif text.startswith("modulus_count"):
                self.word(text.removeprefix("modulus_count").strip())
            elif text.split("#", 1)[0].strip().lower() == "halt":
                self.columns.instructions += 1
                break
            else:
                self.instruction(text.split("#", 1)[0])
        # What stands behind the end may name outputs.
        for text in self.lines(file):
            if not text.startswith("#"):
                self.fail("nothing but comments follows `halt`")
            self.comment(text[1:].strip())

    def lines(self, file: BinaryIO) -> Iterator[str]:
        while line := file.readline(LINE_BYTES + 1):
            self.line += 1
            if len(line) > LINE_BYTES or self.line > LINES:
                fail(
                    FileFormatError,
                    "TooLarge",
                    f"{self.name} has more than {LINES} lines, or a line of more than {LINE_BYTES} bytes.",
                )
            try:
                text = line.decode().strip()
            except UnicodeDecodeError:
                self.fail("it is no text")
            if text:
                yield text

    def comment(self, text: str) -> None:
        key, _, value = text.partition(":")
        words = text.split()
        if key.strip() == "Ring Dimension" and value.strip():
            degree = self.word(value.strip())
            if degree & (degree - 1):
                self.fail(f"the ring dimension {degree} is no power of two")
            self.degree(degree.bit_length() - 1)
        elif words[:1] == ["output"] and len(words) > 2 and all(w.startswith("%") for w in words[2:]):
            self.marked.append((words[1], [self.address(w) for w in words[2:]]))
        elif words[:1] == ["input"] and len(words) > 4 and words[3] in ("coeff", "eval"):
            # As `write` says it; recorders say it in another file.
            kind, name, domain = words[1:4]
            if kind not in ("data", "key", "plain") or not _NAME.match(name) or name in self.columns.declared:
                self.fail("an input is `data`, `key` or `plain`, and has a name of its own")
            self.columns.declared[name] = (kind, domain, [self.address(w) for w in words[4:]])

    def degree(self, log_n: int) -> None:
        if self.log_n not in (None, log_n):
            self.fail(f"the ring degree is 2^{log_n} here, and 2^{self.log_n} elsewhere", "Degree")
        self.log_n = log_n

    def modulus(self, text: str) -> None:
        found, table = _MODULUS.match(text), self.columns.moduli
        if found is None or int(found[1]) != len(table) or len(table) >= MODULI:
            self.fail(f"a modulus is written `m[{len(table)}] 0x…`, in order, and there are at most {MODULI}")
        if self.columns.kind:
            self.fail("moduli stand before the instructions")
        table.append(int(found[2], 16))
        self.columns.row.append(len(table) - 1)

    def instruction(self, text: str) -> None:
        op, *rest = text.replace(",", " ").split()
        op = op.lower()
        if op not in KNOWN:
            known = OPERATIONS.get(op) is not None or _NAME.match(op) is not None
            self.unknown[op if known else "a line without a name"] += 1
            return
        self.columns.instructions += 1
        named = dict(word.split("=", 1) for word in rest if "=" in word)
        plain = [word for word in rest if "=" not in word]
        if len(plain) != 2 + (op in TWO) + (op in NUMBER) or "m" not in named:
            self.fail(f"{op} has other operands than `{op} %r, %a…, m=i`")
        row = self.word(named["m"])
        if row >= len(self.columns.moduli):
            # Readers take what is no row for the modulus itself.
            row = (
                self.columns.moduli.index(row)
                if row in self.columns.moduli
                else self.fail(f"m={row} is no row of the table, which has {len(self.columns.moduli)}")
            )
        self.value(op, [self.address(w) for w in plain if w.startswith("%")], plain[2:], named, row)

    def value(self, op: str, at: list[int], more: list[str], named: dict[str, str], row: int) -> None:
        if len(at) != 2 + (op in TWO):
            self.fail(f"{op} has {len(at)} addresses")
        number = self.word(more[0]) if op in NUMBER else 0
        if op == "sr_automorph_eval":
            number = self.word(named.get("k", ""))
            if "logn" in named:
                self.degree(self.word(named["logn"]))
        copies = self.columns.moduli[row] == COPY
        if op in ROOTED and "omega" in named:
            self.roots.add((row, self.word(named["omega"])))
        if copies and op != "sr_automorph_eval" and not (op in ("sr_addps", "sr_subps") and number == 0):
            self.fail(f"{op} has the modulus of copies, m={row}")
        target, *operands = at
        values = [self.operand(address) for address in operands]
        if op in ("sr_addps", "sr_subps") and number == 0:
            made = values[0]
        else:
            cell = row
            if op == "sr_automorph_eval" and copies:
                cell = self.columns.cell[values[0]]
            elif op == "sr_mulps":
                self.weak.setdefault(self.columns.cell[values[0]], row)
            else:
                for value in values:
                    self.same(value, row)
            second = values[1] if len(values) > 1 else NONE
            made = self.columns.push(op, values[0], second, number, cell, self.line)
        self.at[target] = made
        self.read.discard(target)

    def operand(self, address: int) -> int:
        self.read.add(address)
        if address not in self.at:
            c = self.columns
            c.row.append(NONE)
            self.at[address] = c.push("input", NONE, NONE, 0, len(c.row) - 1, self.line)
            c.inputs[self.at[address]] = address
        return self.at[address]

    def same(self, value: int, row: int) -> None:
        c = self.columns
        cell = c.cell[value]
        if c.row[cell] == NONE:
            c.row[cell] = row
        elif c.row[cell] != row:
            self.fail(
                f"words modulo {c.moduli[c.row[cell]]} are taken modulo {c.moduli[row]}; only sr_mulps may",
                "Modulus",
            )

    # --- words ----------------------------------------------------------------------------------------------

    def word(self, text: str) -> int:
        if not _WORD.match(text):
            self.fail(f"{text!r} is no number of 64 bits")
        found = int(text, 0) if text[:2] in ("0x", "0X") else int(text)
        if found > COPY:
            self.fail(f"{text} is no number of 64 bits")
        return found

    def address(self, text: str) -> int:
        found = self.word(text.removeprefix("%"))
        if found > ADDRESS:
            self.fail(f"the address {text} is above 2^32 − 1")
        return found

    # --- the end --------------------------------------------------------------------------------------------

    def finish(self) -> None:
        if self.unknown:
            listed = ", ".join(
                f"{name} ({count} times{': ' + OPERATIONS[name] if OPERATIONS.get(name) else ''})"
                for name, count in sorted(self.unknown.items())
            )
            fail(
                ProgramError,
                "Operation",
                f"{self.name} has operations that limb programs do not have: {listed}.",
                operations=dict(self.unknown),
            )
        c = self.columns
        if not c.instructions:
            fail(FileFormatError, "NoTrace", f"{self.name} has no instructions of a FHETCH trace.")
        for cell, row in enumerate(c.row):
            if row == NONE and cell in self.weak:
                c.row[cell] = self.weak[cell]
        for value, address in c.inputs.items():
            if c.row[c.cell[value]] == NONE:
                fail(
                    ProgramError,
                    "Modulus",
                    f"No line says what %{address} is modulo: it is copied or turned alone.",
                )
        for name, addresses in self.marked:
            missing = [f"%{address}" for address in addresses if address not in self.at]
            if missing:
                fail(
                    ProgramError,
                    "Output",
                    f"The output {name} is {', '.join(missing)}, which nothing writes.",
                )
            c.outputs.setdefault(name, []).extend(self.at[address] for address in addresses)
        if not c.outputs:
            unread = {a: v for a, v in self.at.items() if a not in self.read and v not in c.inputs}
            c.outputs["out"] = [unread[address] for address in sorted(unread)]
        if not any(c.outputs.values()):
            fail(ProgramError, "Output", f"{self.name} computes nothing that is not overwritten or read.")


def _rooted(reader: _Reader, log_n: int) -> None:
    other = []
    for row, omega in sorted(reader.roots):
        q = reader.columns.moduli[row]
        least = least_root(q, log_n)
        if omega not in (0, least):
            other.append(f"omega={omega} modulo {q} (the least is {least})")
    if other:
        fail(
            ProgramError,
            "Root",
            f"{reader.name} transforms by other roots than the least ones of 2N = 2^{log_n + 1}, in "
            f"whose order values stand here: {', '.join(other)}. Record none, or the least.",
            roots=other,
        )


def load(
    source: str | Path | BinaryIO, *, log_n: int | None = None, keys_from: int | None = None, name: str = ""
) -> Trace:
    """Read a trace.

    Args:
        source: a path, or an open binary file.
        log_n: log2 of the ring degree. Traces have it in a comment or at automorphisms, or not at all.
        keys_from: the first address of evaluation keys, as the recorder's manifest says; inputs from there
        on are keys.
        name: of the program; that of the file if it is left out.

    Raises
    ------
    FileFormatError
        A file that cannot be read, or a line that is none of a trace.
    ProgramError
        Operations that are not known, or transforms by other roots, all of them named; no ring degree; moduli
        that are no primes of the ring; words modulo one prime that are taken modulo another.
    """
    if not isinstance(source, (str, Path)):
        return _load(source, name or "trace", log_n, keys_from)
    path = Path(source)
    try:
        with path.open("rb") as file:
            return _load(file, name or path.name.split(".")[0], log_n, keys_from)
    except OSError as error:
        fail(FileFormatError, "Unreadable", f"{path} cannot be read: {error}.")


def _load(file: Any, name: str, log_n: int | None, keys_from: int | None) -> Trace:
    reader = _Reader(name)
    reader.all(file)
    reader.finish()
    if log_n is None:
        log_n = reader.log_n
    elif reader.log_n not in (None, log_n):
        fail(ProgramError, "Degree", f"{name} is of N = 2^{reader.log_n}, and log_n={log_n} was given.")
    if log_n is None:
        fail(ProgramError, "Degree", f"{name} does not say its ring degree. Give its logarithm: log_n=…")
    if not 1 <= log_n <= 17:
        fail(ProgramError, "Degree", f"The ring degree is 2^{log_n}; there are those from 2^1 to 2^17.")
    _rooted(reader, log_n)
    return program_of(reader.columns, name if _NAME.match(name) else "trace", log_n, keys_from)
