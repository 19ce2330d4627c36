"""Detect at decryption that a computation left the range it was compiled for.

Bounds on values are declared (``magnitude``), promised (``within``, the interval of an approximation) and
followed through every operation; moduli, scales and the arc of the sine in a bootstrapping rely on them.
The server sees no value. The client that decrypts does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringmill.errors import ResultError, fail

if TYPE_CHECKING:
    from ringmill import _native

#: Approximations overshoot their bounds by their errors, broken promises and wrapped values by more.
MARGIN = 2.0


def plausible(
    values: NDArray[Any], cipher: _native.Ciphertext, name: str = "", bound: float | None = None
) -> None:
    """Refuse decrypted values that are larger than their ciphertext, or its ``bound``, says that they can be.

    Raises
    ------
        ResultError: a value of more than twice the bound and the predicted error.
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    bound = cipher.magnitude if bound is None else bound
    if largest <= MARGIN * bound + 2.0**cipher.error_log2:
        return
    what = f"of {name!r} " if name else ""
    fail(
        ResultError,
        "BeyondBound",
        f"A decrypted value {what}is as large as {largest:.3g}; the computation relied on at most "
        f"{bound:.3g}, so all of them may be wrong. Values left a range that was declared or promised "
        "(magnitude, within, the interval of an approximation), or the secret key is another one. Give "
        "check=False to see them all the same.",
        largest=largest,
        bound=bound,
    )
