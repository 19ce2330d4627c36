"""End a long evaluation: by a handle that another thread holds, or at a deadline."""

from __future__ import annotations

import math
import threading
import time

from ringmill.errors import MachineError, ParameterError, fail


class Stop:
    """A handle that ends evaluations: ``compiled.evaluate(keys, arguments, stop=handle)``.

    One handle may end several evaluations. They end within a task of the machine, as by Ctrl-C, and raise
    ``MachineError``: code ``Cancelled`` or ``Deadline``.

    Args:
        after: seconds from now after which evaluations end by themselves; never by default.

    Raises
    ------
        ParameterError: a number of seconds that is not positive.

    >>> handle = Stop(after=60)
    >>> handle.now()  # from any thread
    >>> handle.stopped
    True
    """

    def __init__(self, after: float | None = None) -> None:
        number = isinstance(after, (int, float)) and not isinstance(after, bool)
        if after is not None and not (number and 0 < after < math.inf):
            fail(
                ParameterError,
                "Deadline",
                f"after={after!r} is no time to stop after. Give seconds, a positive number.",
                after=after,
            )
        self._after = after
        self._end = math.inf if after is None else time.monotonic() + after
        self._asked = threading.Event()

    def now(self) -> None:
        """End the evaluations."""
        self._asked.set()

    @property
    def stopped(self) -> bool:
        """Whether evaluations end."""
        return self._asked.is_set() or time.monotonic() >= self._end

    def check(self, what: str) -> None:
        """Raise if ``what`` is to end.

        Raises
        ------
            MachineError: code ``Cancelled`` or ``Deadline``.
        """
        if self._asked.is_set():
            fail(MachineError, "Cancelled", f"{what} was ended by its handle. No result was made.")
        if time.monotonic() >= self._end:
            fail(
                MachineError,
                "Deadline",
                f"{what} was not done after {self._after:g} seconds. Give more, or a faster machine.",
                after=self._after,
            )

    def __repr__(self) -> str:
        state = "stopped" if self.stopped else "running"
        return (
            f"<stop handle, {state}>" if self._after is None else f"<stop handle, {state}, {self._after:g} s>"
        )
