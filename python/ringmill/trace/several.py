"""Encrypted arrays in more than one ciphertext: what goes ciphertext by ciphertext."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

from ringmill.trace.base import Tensor
from ringmill.trace.gather import Numbers
from ringmill.trace.symbol import Symbol

S = TypeVar("S", bound="Several")


class Several(Tensor):
    """An array whose elements are in several ciphertexts.

    Attributes
    ----------
        parts: the ciphertexts, in order.
    """

    __slots__ = ("parts",)
    parts: tuple[Symbol, ...]

    @abstractmethod
    def map(self: S, function: Callable[[Symbol], Symbol]) -> S:
        """The function applied to every ciphertext; it keeps shapes."""

    @abstractmethod
    def gathered(self, index: Numbers) -> Any:
        """The elements that have these numbers (`trace/gather.py`)."""

    @abstractmethod
    def one(self, index: Numbers) -> Any:
        """The same in one ciphertext."""

    def __neg__(self: S) -> S:
        return self.map(lambda part: -part)

    def __pow__(self, exponent: object) -> Any:
        return self.map(lambda part: part**exponent)

    def bootstrap(self: S, *, iterations: int | None = None) -> S:
        """The same elements with fresh levels: one bootstrapping for each ciphertext."""
        return self.map(lambda part: part.bootstrap(iterations=iterations))

    def conj(self: S) -> S:
        """Complex conjugate of every element."""
        return self.map(lambda part: part.conj())
