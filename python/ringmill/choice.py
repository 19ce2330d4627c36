"""Parameters for a kernel: for the key that encrypts, for results that are published, while there are any."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NoReturn

from ringmill._checks.requirements import PRECISION, SECURITY
from ringmill._native import Plan
from ringmill.errors import ParameterError, fail
from ringmill.flooding import Flooding, published
from ringmill.trace.program import Traced

#: The least ring that is chosen at 128 bits of security and some levels.
LEAST_LOG_N = 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """What parameters are chosen for.

    Attributes
    ----------
        traced, magnitude, bound: the kernel, and the size of arguments and of values.
        security, rotation_keys: as `Kernel.compile` takes them.
        encryption: the key that arguments are encrypted under: "public", "undivided" or "secret".
        flooding: for results that are published, what their error is flooded for.
        sanitising: the same for results that are sanitised.
        log_n: log2 of the ring degree that the reserve is for.
        word: bits of the widest prime, as `Kernel.compile` takes it.
    """

    traced: Traced
    magnitude: float
    bound: float
    security: int | None
    rotation_keys: int | None
    encryption: str = "public"
    flooding: Flooding | None = None
    sanitising: Flooding | None = None
    log_n: int = LEAST_LOG_N
    word: int | None = None

    @property
    def reserve(self) -> int:
        """Bits that flooding takes."""
        counts, bits = published(self.traced.signature), 0.0
        if self.flooding:
            bits += self.flooding.bits(counts)
        if self.sanitising:
            bits += self.sanitising.sanitising(self.log_n, sum(counts.values()))
        # Rounding of doubles adds a little: `_reached` keeps it below that.
        return math.ceil(bits + 0.05) if bits else 0

    def chosen(self, precision: int | None) -> tuple[Plan, int]:
        """A plan for the precision of results, and the bits that these have before they are flooded.

        Where results are published and no precision is asked for, it is 20 or as much as remains.

        Raises
        ------
            ParameterError: code ``Precision``, for more bits than any parameters hold.
        """
        plan, bits = self._chosen(precision)
        if self.sanitising and plan.params.log_n > self.log_n:
            # Noise stands in every coefficient: a larger ring takes more.
            return replace(self, log_n=plan.params.log_n).chosen(precision)
        return plan, bits

    def _chosen(self, precision: int | None) -> tuple[Plan, int]:
        bits = PRECISION if precision is None else precision
        plan = self._reached(bits + self.reserve)
        if plan:
            return plan, bits + self.reserve
        most = self._most(bits + self.reserve) - self.reserve
        if precision is None and self.reserve and most >= 1:
            return self._plan(most + self.reserve), most + self.reserve
        self._refuse(bits, most)

    def _refuse(self, bits: int, most: int) -> NoReturn:
        size = f"{self.bound:.3g}"
        flooded = f", beside {self.reserve} bits for noise that hides errors" if self.reserve else ""
        remedy = "scale values down" if self.bound > 2 else "split the computation"
        instead = f"at most {most}" if most >= 1 else "not even one bit is"
        fail(
            ParameterError,
            "Precision",
            f"A precision of {bits} bits is not reachable with values up to {size}{flooded}: {instead}. "
            + (f"Compile with precision={most}, or {remedy}." if most >= 1 else "Publish fewer results."),
            precision=bits,
            most=most,
            values=self.bound,
        )

    def _most(self, below: int) -> int:
        """The largest precision under one that no parameters hold; 0 if none hold any."""
        least, most = 0, below
        while most - least > 1:
            middle = (least + most) // 2
            if self._reached(middle):
                least = middle
            else:
                most = middle
        return least

    def _reached(self, bits: int) -> Plan | None:
        """A plan; ``None`` where no parameters hold the bits, or where noise would flood rounding."""
        # A decoded slot of size 1 is off by 2^−50; four times that hardly counts. What a server sees of a
        # bound is a multiple of eight bits.
        size = math.log2(max(self.bound, 2.0))
        finest = 48 - (8 * math.ceil(size / 8) if self.sanitising else math.ceil(size))
        if self.reserve and bits > finest:
            return None
        try:
            return self._plan(bits)
        except ParameterError as error:
            if not _of_precision(error):
                raise
            return None

    def _plan(self, bits: int) -> Plan:
        """A plan for an error of 2^−bits, of which approximations that were chosen have the other half."""
        traced, security = self.traced, self.security or SECURITY
        return Plan.choose(
            traced.text,
            bits + 1 if traced.chooses else bits,
            self.magnitude,
            self.bound,
            traced.signature.real,
            security,
            self.rotation_keys,
            self.encryption,
            self.word,
        )


def _of_precision(error: ParameterError) -> bool:
    """Whether fewer bits may be had: scales want wider primes than are supported."""
    return error.code == "Params" and error.fields.get("source") == "PrimeBits"
