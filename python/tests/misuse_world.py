"""Running the misuse list: each case in a namespace of its own, with source lines that messages can show."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import ringmill as rm
from ringmill import memory
from ringmill.cli import main
from ringmill.compiled import Compiled

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = Path(__file__).with_name("misuse")


def cases() -> list[dict[str, str]]:
    """All cases, each with its area: the name of its file."""
    return [
        {"area": file.stem, **case}
        for file in sorted(LISTS.glob("*.toml"))
        for case in tomllib.loads(file.read_text(encoding="utf-8"))["case"]
    ]


# ---- what the cases find around them ------------------------------------------------------------------


def first_version(name: str) -> bytes:
    """A file as the first format version wrote it."""
    return (LISTS.parents[2] / "crates/ckks/tests/golden/v1" / name).read_bytes()


@functools.cache
def keys() -> rm.Keys:
    """Keys of toy parameters with three levels: relinearisation and rotation by 1."""
    params = rm.Params.from_bits(12, [50, 40, 40, 40], [50], 4, insecure=True)
    return rm.keygen(params, rotations=[1])


@functools.cache
def keys_without_relin() -> rm.Keys:
    """Keys of the same parameters that cannot multiply."""
    return rm.keygen(keys().params, relin=False)


@functools.cache
def other_keys() -> rm.Keys:
    """Keys of other parameters."""
    return rm.keygen(rm.Params.from_bits(11, [40, 30], [40], 2, insecure=True))


@functools.cache
def deep() -> rm.Params:
    """Toy parameters that bootstrap."""
    return rm.Params.bootstrapping(2, log_n=10, insecure=True)


@rm.kernel
def _sum_of_squares(x: Any) -> Any:
    return (x * x).sum()


@rm.kernel
def _double(x: Any) -> Any:
    return x * 2 + 0.5


@functools.cache
def kernel() -> Compiled:
    """A compiled kernel of one argument x with four elements up to 2."""
    return _sum_of_squares.compile(rm.vector(4), precision=12, magnitude=2.0)


@functools.cache
def other_kernel() -> Compiled:
    """Another kernel of the same argument."""
    return _double.compile(rm.vector(4), precision=12)


@functools.cache
def kernel_keys() -> rm.Keys:
    """Keys of the kernel."""
    return kernel().keygen()


@functools.cache
def _contents() -> dict[str, bytes]:
    arguments = kernel().encrypt(kernel_keys(), x=[0.5, 0.25, -0.5, 1.0])
    return {
        "arguments": arguments.to_bytes(),
        "results": kernel().evaluate(kernel_keys(), arguments).to_bytes(),
        "secret.key": kernel_keys().secret.export_secret(),
        "public.key": kernel_keys().public.to_bytes(),
        "evaluation.keys": kernel_keys().evaluation.to_bytes(),
    }


def files(folder: Path) -> Path:
    """A folder with the kernel's files."""
    target = folder / "files"
    target.mkdir(exist_ok=True)
    kernel().save(target / "kernel")
    for name, data in _contents().items():
        (target / name).write_bytes(data)
    return target


def cli(*arguments: object) -> None:
    """Run the command line in this process; its refusal becomes the exception that it reported."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([*(str(a) for a in arguments), "--json", "--quiet"])
    if status == 0:
        return
    reported = json.loads(out.getvalue())
    assert reported["message"] in err.getvalue()
    raise getattr(rm, reported["error"])(reported["message"], reported["code"])


@contextlib.contextmanager
def with_memory(left: float, *, small: float = 1.0) -> Iterator[None]:
    """A machine with a number of free bytes; what takes less than ``small`` starts without a check."""
    with mock.patch.multiple(memory, available=lambda: left, _SMALL=small):
        yield


def fresh_process() -> AbstractContextManager[object]:
    """What other tests have taken is not counted."""
    return mock.patch.object(memory, "held", return_value=1e8)


@rm.kernel
def _explorable(x: Any = rm.vector(16)) -> Any:
    return (x * x).sum()


#: A space that is simulated in a moment.
NARROW = {
    "log_n": [12],
    "level_bits": [28],
    "scale_offsets": [0],
    "special_extra": [2],
    "words": [36],
    "butterflies": [16],
    "multipliers": ["word-montgomery"],
    "buses": [512],
}

WORLD = {
    "rm": rm,
    "np": np,
    "Compiled": Compiled,
    "first_version": first_version,
    "keys": keys,
    "keys_without_relin": keys_without_relin,
    "other_keys": other_keys,
    "deep": deep,
    "kernel": kernel,
    "other_kernel": other_kernel,
    "kernel_keys": kernel_keys,
    "files": files,
    "cli": cli,
    "with_memory": with_memory,
    "fresh_process": fresh_process,
    "explorable": _explorable,
    "narrow": NARROW,
}


# ---- running and comparing ----------------------------------------------------------------------------


def provoke(case: dict[str, str], tmp: Path) -> BaseException:
    """Run a case and return what it raises; an ``AssertionError`` if it raises nothing."""
    source = case["run"].lstrip("\n")
    linecache.cache["user.py"] = (len(source), None, source.splitlines(keepends=True), "user.py")
    try:
        exec(compile(source, "user.py", "exec"), {**WORLD, "tmp": tmp})
    except Exception as error:
        return error
    return AssertionError(f"nothing was raised: {case['what']}")


def shown(error: BaseException, tmp: Path) -> str:
    """The message as the list writes it: temporary paths shortened."""
    return str(error).replace(str(tmp), "TMP")


def matches(message: str, pattern: str) -> bool:
    """Whether a message is the listed one, … standing for anything."""
    regex = ".*".join(re.escape(piece) for piece in pattern.strip().split("…"))
    return re.fullmatch(regex, message.strip(), re.DOTALL) is not None
