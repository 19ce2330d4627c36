"""Which line of the user's kernel is being traced."""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

import numpy as np

from ringmill.errors import KernelError

# Frames of the tracer itself are never "the user's line", nor those of vectors at the prompt; those of
# ringmill.kernels may be.
_HERE = Path(__file__).resolve().parent
_TRACER = (str(_HERE), str(_HERE.parent / "ciphertext.py"))
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
    """The innermost frame outside the tracer: the line of the kernel that asked for an operation."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_users(frame):
            return Where(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return UNKNOWN


def raised(error: BaseException) -> Where:
    """The line of the kernel that an exception came from."""
    found, trace = UNKNOWN, error.__traceback__
    while trace is not None:
        if _is_users(trace.tb_frame):
            found = Where(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
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
