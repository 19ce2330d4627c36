"""Plain arrays in files: ``.npz`` without pickles, or ``.json``."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ringmill.atomic import write_bytes
from ringmill.bundle import opened, read_text_file
from ringmill.errors import CommandError, FileFormatError, RingmillError, fail
from ringmill.trace.spec import Spec

# Of a text in JSON: what may stand beside numbers, and a number with the space around it.
_JSON_BYTES, _JSON_ELEMENT = 1 << 20, 1 << 7
# Elements of all records of one argument.
_MANY_ELEMENTS = 1 << 27


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix
    if suffix not in (".npz", ".json"):
        fail(
            CommandError,
            "ArrayFormat",
            f"{path} ends in {suffix or 'nothing'}: arrays are .npz or .json files. Write one with "
            "numpy.savez(path, name=array), or as an object of lists in JSON.",
            path=str(path),
        )
    return suffix


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names differ: of two values, nothing says which is meant."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it holds {twice!r} twice")
    return content


def _unpacked(archive: zipfile.ZipFile, wanted: Mapping[str, Spec], *, many: bool) -> dict[str, Any]:
    """What `numpy.savez` wrote. The head of an array is read, and compared, before its numbers are."""
    arrays: dict[str, Any] = _once([(name.removesuffix(".npy"), None) for name in archive.namelist()])
    for name, spec in wanted.items():
        if name not in arrays:
            continue
        part = f"{name}.npy"
        with archive.open(part) as head:
            shape, dtype = _head(head)
        if dtype.kind not in "biufc":
            raise ValueError(f"{name} is of dtype {dtype}, which is none of numbers")
        spec.hold_shape(name, shape, many=many)
        if math.prod(shape) > _MANY_ELEMENTS:
            raise ValueError(f"{name} has {math.prod(shape)} elements, and at most {_MANY_ELEMENTS} are read")
        with archive.open(part) as whole:
            arrays[name] = np.lib.format.read_array(whole, allow_pickle=False)
    return arrays


def _head(part: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(part)
    known = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in known:
        raise ValueError(f"it is of version {version} of the format, in which NumPy writes no numbers")
    shape, _, dtype = known[version](part)
    return shape, dtype


def read(path: str, wanted: Mapping[str, Spec], *, many: bool = False) -> dict[str, Any]:
    """Arrays by argument name: no more of the file than arguments of these shapes have, or ``many`` records.

    Of what is not wanted names alone are read; ``Signature.pack`` says what is wrong with them.
    """
    suffix = _suffix(path)
    try:
        if suffix == ".npz":
            with opened(path) as file, zipfile.ZipFile(file) as archive:
                return _unpacked(archive, wanted, many=many)
        elements = _MANY_ELEMENTS if many else sum(math.prod(spec.shape) for spec in wanted.values())
        data = read_text_file(path, _JSON_BYTES + _JSON_ELEMENT * elements)
        content = json.loads(data, object_pairs_hook=_once)
        if not isinstance(content, dict):
            raise ValueError("it holds no object")
        return {str(name): np.asarray(value) for name, value in content.items()}
    except RingmillError:
        raise
    except Exception as error:  # NumPy raises many kinds for damaged archives; all mean the same here.
        fail(
            FileFormatError,
            "Arrays",
            f"{path} does not hold arrays by name ({error}). "
            "Write it with numpy.savez, or as a JSON object of lists.",
            path=path,
        )


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays atomically."""
    if _suffix(path) == ".npz":
        # numpy.savez takes arrays as keywords beside its own, of which "file" is one.
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as part:
                    np.lib.format.write_array(part, np.asarray(array), allow_pickle=False)
        write_bytes(path, buffer.getvalue())
        return
    if any(np.iscomplexobj(array) for array in arrays.values()):
        fail(
            CommandError,
            "ComplexJson",
            f"{path}: JSON has no complex numbers. Write .npz instead.",
            path=str(path),
        )
    content = {name: array.tolist() for name, array in arrays.items()}
    write_bytes(path, (json.dumps(content) + "\n").encode())
