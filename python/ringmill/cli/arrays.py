"""Plain arrays in files: ``.npz`` without pickles, or ``.json``."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmill.atomic import write_bytes
from ringmill.bundle import opened, read_text_file
from ringmill.errors import CommandError, FileFormatError, fail


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix
    if suffix not in (".npz", ".json"):
        fail(
            CommandError,
            "ArrayFormat",
            f"{path} ends in {suffix or 'nothing'}: arrays are .npz or .json files. Rename it.",
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


def read(path: str) -> dict[str, Any]:
    """Arrays by argument name."""
    suffix = _suffix(path)
    try:
        if suffix == ".npz":
            # One array after the other, each as large as its head says.
            with opened(path) as file, np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        data = read_text_file(path)
        content = json.loads(data, object_pairs_hook=_once)
        if not isinstance(content, dict):
            raise ValueError("it holds no object")
        return {str(name): np.asarray(value) for name, value in content.items()}
    except FileFormatError:
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
