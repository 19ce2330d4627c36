"""Reading MLIR: a module in the generic notation, as operations with names, attributes and values.

Every operation is read as one that is not registered, whatever dialect it has, so that all are alike.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ringmill.errors import CommandError, FileFormatError, fail

#: The most bytes of a module: constants are printed as text, so a model of a million weights has some 20 MB.
LARGEST = 256 << 20

#: Arrays of numbers with a splat are one number in the file; the most elements that one may stand for.
ELEMENTS = 1 << 26


def heir_opt() -> Path | None:
    """Return the program ``heir-opt``: of the environment that runs this, or on the search path."""
    for folder in map(Path, sys.path):
        beside = folder / "heir" / "heir-opt"
        if beside.is_file():
            return beside
    found = shutil.which("heir-opt")
    return Path(found) if found else None


def _generic(text: str) -> str:
    """The module in the generic notation."""
    if re.search(r'^\s*"builtin\.module"', text, re.MULTILINE):
        return text
    program = heir_opt()
    if program is None:
        fail(
            FileFormatError,
            "Notation",
            "The module is not in MLIR's generic notation, and heir-opt was not found. Print the module with "
            "`heir-opt --mlir-print-op-generic`, or install heir_py.",
        )
    done = subprocess.run(
        [str(program), "--mlir-print-op-generic"], input=text, text=True, capture_output=True, check=False
    )
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), "no reason is given")
        fail(FileFormatError, "Notation", f"heir-opt does not read the module: {reason}.")
    return done.stdout


def read(text: str) -> Any:
    """Read a module; the result is xDSL's.

    Raises
    ------
    FileFormatError
        The text is no module, or is too large.
    CommandError
        The package xdsl is not installed.
    """
    if len(text) > LARGEST:
        fail(
            FileFormatError,
            "TooLarge",
            f"The module has {len(text) >> 20} MB, and at most {LARGEST >> 20} are read. Split the program.",
        )
    try:
        from xdsl.context import Context
        from xdsl.dialects.builtin import Builtin
        from xdsl.parser import Parser
        from xdsl.utils.exceptions import ParseError, VerifyException
    except ImportError:
        fail(
            CommandError,
            "NoXdsl",
            "Modules of HEIR are read with the package xdsl: pip install 'ringmill[heir]'.",
        )
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    try:
        return Parser(context, _generic(text)).parse_module()
    except (ParseError, VerifyException, ValueError, RecursionError) as error:
        first = str(error).strip().splitlines()
        reason = next((line.strip() for line in reversed(first) if line.strip()), type(error).__name__)
        fail(FileFormatError, "NoModule", f"The text is no MLIR module: {reason}.")


def name_of(operation: Any) -> str:
    """Return the name of an operation, its dialect before a dot."""
    given = getattr(operation, "op_name", None)
    return str(given.data) if given is not None else str(operation.name)


def attribute(operation: Any, name: str) -> Any:
    """Return an attribute or a property of an operation, ``None`` without it."""
    found = operation.properties.get(name)
    return operation.attributes.get(name) if found is None else found


def functions(module: Any) -> dict[str, Any]:
    """Return the functions of a module that have a body, by name."""
    found = {}
    for operation in module.body.block.ops:
        if name_of(operation) == "func.func" and operation.regions and operation.regions[0].blocks:
            found[str(attribute(operation, "sym_name").data)] = operation
    return found


def shape_of(of_type: Any) -> tuple[int, ...] | None:
    """Return the shape of a tensor's type, ``None`` for the type of a single value."""
    get = getattr(of_type, "get_shape", None)
    return tuple(get()) if get is not None else None


def holds_ciphertexts(of_type: Any) -> bool:
    """Whether a type is that of ciphertexts, one or a tensor of them."""
    element = getattr(of_type, "element_type", of_type)
    return "lwe.lwe_ciphertext" in str(getattr(element, "attr_name", ""))


def integers(of_array: Any) -> list[int]:
    """Return the numbers of an array attribute."""
    return [int(value) for value in of_array.get_values()] if of_array is not None else []


def constant(value: Any) -> Any:
    """Return what a constant holds: an ``int``, a ``float``, or an array."""
    number = getattr(value, "value", None)
    if number is not None and hasattr(number, "data"):
        return int(number.data) & 1 if _truth(value.type) else number.data
    shape = shape_of(value.type) or ()
    size = int(np.prod(shape, dtype=object))
    if size > ELEMENTS:
        fail(FileFormatError, "TooLarge", f"A constant has {size} elements, and at most {ELEMENTS} are read.")
    whole = "int" in type(value.type.element_type).__name__.lower() or str(value.type.element_type) == "index"
    numbers: Any = np.array(list(value.get_values()), np.int64 if whole else np.float64)
    numbers = numbers & 1 if _truth(value.type.element_type) else numbers
    return np.full(shape, numbers[0]) if value.is_splat() else numbers.reshape(shape)


def _truth(of_type: Any) -> bool:
    """Whether a type is ``i1``, of which xDSL reads true as −1."""
    return str(of_type) == "i1"
