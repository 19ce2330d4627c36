"""Which line of the user's kernel is being traced."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

import numpy as np

from ringmill.errors import KernelError

# Frames of the tracer itself are never "the user's line", nor those of vectors at the prompt; those of
# ringmill.kernels may be.
_HERE = Path(__file__).resolve().parent
_TRACER = (str(_HERE), str(_HERE.parent / "ciphertext") + os.sep)
# What calls a kernel.
_CALLERS = (str(_HERE / "kernel.py"), str(_HERE / "tracer.py"))
# Packages that are installed, Python's own, and functions made here for a line of a kernel. A kernel that
# stands there is called by the tracer itself.
_LIBRARIES = (
    *{sysconfig.get_paths()[name] + os.sep for name in ("purelib", "platlib", "stdlib", "platstdlib")},
    str(_HERE.parent / "kernels" / "functions.py"),
)
# NumPy's dispatcher stands between the kernel and us for np.sum(x) and the like.
_NUMPY = (str(Path(np.__file__).parent) + os.sep, "<__array_function__")


@dataclass(frozen=True, slots=True)
class Where:
    """A place in Python source."""

    file: str
    line: int

    @property
    def source(self) -> str:
        """Text of the line, stripped; empty when the source is not available."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


UNKNOWN = Where("<unknown>", 0)


def here() -> Where:
    """The line of the kernel that asked for an operation: the innermost frame outside of the tracer.

    What a library does with an operand is not that line, if a frame outside of all libraries called it.
    """
    frame: FrameType | None = sys._getframe(1)
    innermost, inside = UNKNOWN, True
    while frame is not None and (inside or frame.f_code.co_filename not in _CALLERS):
        if _is_users(frame):
            found = Where(frame.f_code.co_filename, frame.f_lineno)
            if not found.file.startswith(_LIBRARIES):
                return found
            innermost = found if innermost is UNKNOWN else innermost
            inside = False
        frame = frame.f_back
    return innermost


def raised(error: BaseException) -> Where:
    """The line of the kernel that an exception came from."""
    found, trace = UNKNOWN, error.__traceback__
    while trace is not None:
        if _is_users(trace.tb_frame):
            place = Where(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
            library = place.file.startswith(_LIBRARIES)
            found = place if found is UNKNOWN or not library else found
        trace = trace.tb_next
    return found


def _is_users(frame: FrameType) -> bool:
    return not frame.f_code.co_filename.startswith((*_TRACER, *_NUMPY))


class MoreSlotsError(Exception):
    """Asks the kernel to be traced again with at least this many slots."""

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self.slots = slots


class MissingError(AttributeError):
    """An attribute that encrypted values do not have; where a kernel does not ask, it is refused so."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


def refuse(code: str, why: str, remedy: str, where: Where | None = None) -> NoReturn:
    """Raise a ``KernelError`` that names the user's line, the reason and the remedy."""
    place = where or here()
    shown = f": `{place.source}`" if place.source else ""
    raise KernelError(
        f"{place}{shown}: {why}. {remedy}.",
        code,
        {"file": place.file, "line": place.line, "source": place.source, "remedy": remedy},
    )
