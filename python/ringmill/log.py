"""The library's logger, ``logging.getLogger("ringmill")``: what was done, and how long it took.

Nothing is shown unless the application asks for it, as ``logging.basicConfig(level=logging.INFO)`` does.
Lines hold public facts alone: names of kernels, counts, bytes, seconds. They never hold values, keys or
weights.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

logger = logging.getLogger("ringmill")
logger.addHandler(logging.NullHandler())


@contextmanager
def done(what: str, kernel: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Log one step of a kernel when it is done, with its seconds; failures at their end too.

    Facts may be added to the dictionary that it gives while the step runs.
    """
    start = time.perf_counter()
    try:
        yield facts
    except BaseException as error:
        logger.info("%s %s: failed after %.3f s (%s)", what, kernel, _since(start), type(error).__name__)
        raise
    reported = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in facts.items())
    logger.info("%s %s: %.3f s%s", what, kernel, _since(start), f", {reported}" if reported else "")


def _since(start: float) -> float:
    return time.perf_counter() - start
