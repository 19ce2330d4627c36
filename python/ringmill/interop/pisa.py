"""Program traces of Intel's Encrypted Computing SDK (p-isa): CSV of operations on ciphertexts, as kernels.

A trace has shapes and no numbers: it is a workload. ``load`` gives a kernel and the parameters of its shape,
to be counted and simulated as any other. Columns are ``instruction, scheme, poly_modulus_degree, rns_terms,
cipher_degree, arg0, …``. A symbol such as ``ct2-3-13`` is a name, its parts, and its primes.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill._native import Params
from ringmill.errors import FileFormatError, ProgramError, fail
from ringmill.trace import Kernel, kernel, vector
from ringmill.trace.callables import with_arguments

if TYPE_CHECKING:
    from ringmill.compiled import Compiled

_COLUMNS = ("instruction", "scheme", "poly_modulus_degree", "rns_terms", "cipher_degree")

#: Instructions by what follows the result: ciphertexts, and whether a number ends the row.
_INSTRUCTIONS = {
    "add": (2, False),
    "sub": (2, False),
    "mul": (2, False),
    "square": (1, False),
    "negate": (1, False),
    "relin": (1, False),
    "rescale": (1, False),
    "mod_switch": (1, False),
    "rotate": (1, True),
}

#: Rows of a trace at most.
ROWS = 1 << 20


@dataclass(frozen=True)
class Row:
    """One operation: its name, its result, primes of the result, operands, and a rotation's distance."""

    instruction: str
    result: str
    primes: int
    operands: tuple[str, ...]
    number: int


@dataclass(frozen=True)
class Workload:
    """A trace: its operations and the shape of its ciphertexts."""

    name: str
    log_n: int
    terms: int
    rows: tuple[Row, ...]

    def params(self, *, bits: int = 30) -> Params:
        """Return parameters of the trace's shape: `terms` primes of `bits` bits, the last one special.

        Raises
        ------
        ParameterError
            A size of primes that is not possible at this ring degree.
        """
        # The shape is the file's: it is a workload, and no data are encrypted by it.
        return Params.from_bits(
            self.log_n, [bits] * (self.terms - 1), [bits], self.terms - 1, scale_bits=bits, insecure=True
        )

    @property
    def inputs(self) -> list[str]:
        """Names of ciphertexts that are used before any row makes them."""
        made: set[str] = set()
        found: dict[str, None] = {}
        for row in self.rows:
            found.update(dict.fromkeys(name for name in row.operands if name not in made))
            made.add(row.result)
        return list(found)

    @property
    def outputs(self) -> list[str]:
        """Names of ciphertexts that are made and not used afterwards."""
        used = {name for row in self.rows for name in row.operands}
        return list(dict.fromkeys(row.result for row in self.rows if row.result not in used))

    @cached_property
    def kernel(self) -> Kernel:
        """The operations as a kernel of vectors of N/2 elements; relinearisation and rescaling follow."""

        def body(**given: Any) -> dict[str, Any]:
            values = dict(given)
            for row in self.rows:
                values[row.result] = _apply(row, [values[name] for name in row.operands])
            return {name: values[name] for name in self.outputs}

        return kernel(with_arguments(body, self.name, self.inputs))

    def compile(self, *, bits: int = 30, switching: str = "hybrid") -> Compiled:
        """Compile the kernel for parameters of the trace's shape; results have as many primes as there.

        Args:
            bits: of every prime.
            switching: as of `Kernel.compile`.

        Raises
        ------
        ParameterError
            A size of primes that is not possible at this ring degree.
        LevelError, ProgramError
            The trace multiplies more often than its primes allow.
        """
        from ringmill.compiled import compile_traced

        params = self.params(bits=bits)
        vectors: dict[str, Any] = {name: vector(params.slots) for name in self.inputs}
        traced = self.kernel.trace(**vectors, magnitude=1.0)
        last = min(row.primes for row in self.rows if row.result in self.outputs)
        return compile_traced(traced, params=params, switching=switching, output_level=last - 1)


def _apply(row: Row, operands: list[Any]) -> Any:
    first, last = operands[0], operands[-1]
    match row.instruction:
        case "add":
            return first + last
        case "sub":
            return first - last
        case "mul":
            return first * last
        case "square":
            return first * first
        case "negate":
            return -first
        case "rotate":
            return np.roll(first, -row.number)
        case _:  # relin, rescale, mod_switch: the planner places its own
            return first


def load(path: str | Path) -> Workload:
    """Read a program trace.

    Raises
    ------
    FileFormatError
        A file that cannot be read, or is no trace.
    ProgramError
        Rows of BGV or BFV, rows that do not belong together, or unknown instructions, which are named.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(_limited(csv.reader(file), path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fail(FileFormatError, "Unreadable", f"{path} cannot be read: {error}.")
    if not lines or tuple(lines[0][1][: len(_COLUMNS)]) != _COLUMNS:
        fail(FileFormatError, "NoTrace", f"{path} is no program trace: it begins with {', '.join(_COLUMNS)}.")
    body = lines[1:]
    if not body:
        fail(FileFormatError, "NoTrace", f"{path} has no operations.")
    _known(path, body)
    shape = _shape(path, *body[0])
    rows = tuple(_row(path, line, fields, shape) for line, fields in body)
    degree, terms = shape
    if degree < 1024 or degree > 1 << 17 or degree & (degree - 1) or not 2 <= terms <= 64:
        fail(
            ProgramError,
            "Shape",
            f"{path} has the ring degree {degree} and {terms} primes. Degrees are powers of two from 2^10 to "
            "2^17, and primes are 2 to 64.",
        )
    name = path.name.split(".")[0]
    return Workload(name if name.isidentifier() else "trace", degree.bit_length() - 1, terms, rows)


def _limited(rows: Any, path: Path) -> Any:
    for line, fields in enumerate(rows, 1):
        if line > ROWS:
            fail(FileFormatError, "TooLarge", f"{path} has more than {ROWS} rows.")
        fields = [field.strip() for field in fields]
        while fields and not fields[-1]:
            fields.pop()
        if fields:
            yield line, fields


def _known(path: Path, body: list[tuple[int, list[str]]]) -> None:
    schemes = {fields[1] for _, fields in body if len(fields) > 1} - {"CKKS"}
    if schemes:
        fail(
            ProgramError,
            "Scheme",
            f"{path} has rows of {', '.join(sorted(schemes))}. Ringmill computes CKKS alone.",
        )
    unknown = sorted({fields[0] for _, fields in body} - _INSTRUCTIONS.keys())
    if unknown:
        fail(
            ProgramError,
            "Instruction",
            f"{path} has instructions that are not known: {', '.join(unknown)}; known are "
            f"{', '.join(_INSTRUCTIONS)}.",
            instructions=unknown,
        )


def _number(path: Path, line: int, text: str) -> int:
    if not text.isascii() or not text.removeprefix("-").isdigit() or len(text) > 9:
        fail(FileFormatError, "Number", f"{path}, line {line}: {text!r} is no number.")
    return int(text)


def _shape(path: Path, line: int, fields: list[str]) -> tuple[int, int]:
    """Return a row's ring degree and number of primes."""
    if len(fields) < len(_COLUMNS) - 1:
        columns = ", ".join(_COLUMNS[:-1])
        fail(FileFormatError, "Operands", f"{path}, line {line}: a row begins with {columns}.")
    return _number(path, line, fields[2]), _number(path, line, fields[3])


def _row(path: Path, line: int, fields: list[str], shape: tuple[int, int]) -> Row:
    instruction = fields[0]
    operands, numbered = _INSTRUCTIONS[instruction]
    given = fields[len(_COLUMNS) - 1 :]
    # Files name a column `cipher_degree` that their rows leave out.
    if len(given) == operands + numbered + 2 and "-" not in given[0]:
        given = given[1:]
    wanted = 1 + operands + numbered
    where = f"{path}, line {line}"
    if len(given) != wanted:
        said = f"{instruction} has {len(given)} arguments, and takes {wanted}"
        fail(FileFormatError, "Operands", f"{where}: {said}.")
    if _shape(path, line, fields) != shape:
        fail(ProgramError, "Shape", f"{where}: rows have one ring degree and one number of primes.")
    symbols = [_symbol(where, symbol, shape[1]) for symbol in given[: 1 + operands]]
    names = [name for name, _ in symbols]
    number = _number(path, line, given[-1]) if numbered else 0
    return Row(instruction, names[0], symbols[0][1], tuple(names[1:]), number)


def _symbol(where: str, symbol: str, terms: int) -> tuple[str, int]:
    """Return the name of a ciphertext and the number of its primes."""
    name, *numbers = symbol.split("-")
    right = name.isidentifier() and name.isascii() and len(numbers) == 2
    if not right or not all(n.isascii() and n.isdigit() and len(n) < 4 for n in numbers):
        fail(FileFormatError, "Symbol", f"{where}: {symbol!r} is no ciphertext, such as ct0-2-13.")
    primes = int(numbers[1])
    if not 1 <= primes < terms:
        said = f"{symbol} has {primes} primes of {terms}, of which the last is special"
        fail(ProgramError, "Shape", f"{where}: {said}.")
    return name, primes
