"""What an encrypted vector is: its facts, and the same values with other levels or bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringmill import _native, html
from ringmill._checks.arguments import checked
from ringmill._checks.integers import whole
from ringmill._checks.ownership import has_room, one_secret, that_bootstraps
from ringmill._native import Evaluator, Params
from ringmill.errors import LevelError, MismatchError, ParameterError, fail
from ringmill.progress import Show, share, shown
from ringmill.trace.base import Encrypted
from ringmill.trace.tables import Entries

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self


class Facts(Encrypted):
    """What an encrypted vector is, and the same values with other levels or bounds."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        native: _native.Ciphertext,
        evaluator: Evaluator,
        length: int,
        *,
        real: bool,
        clean: bool = False,
    ) -> None:
        if native.params != evaluator.params:
            fail(
                MismatchError,
                "ParamsMismatch",
                f"The ciphertext has parameters {native.params!r}, but the evaluation keys have "
                f"{evaluator.params!r}. Use keys and ciphertexts of one context.",
            )
        one_secret("ciphertext", native, "evaluation keys", evaluator)
        self._native = native
        self.evaluator = evaluator
        self._length = length
        self._real = real
        self._clean = clean or length == native.slots

    @property
    def length(self) -> int:
        """Number of elements."""
        return self._length

    @property
    def real(self) -> bool:
        """Whether everything that went into it was real."""
        return self._real

    @property
    def clean(self) -> bool:
        """Whether slots beyond the length are known to be zero; sums need that."""
        return self._clean

    @property
    def shape(self) -> tuple[int]:
        """Its length, as NumPy gives shapes."""
        return (self.length,)

    @property
    def ndim(self) -> int:
        """One axis."""
        return 1

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.length

    @property
    def native(self) -> _native.Ciphertext:
        """The ciphertext itself, to compute with, send or decrypt: refused if its values may wrap around."""
        has_room(self._native)
        return self._native

    @property
    def params(self) -> Params:
        """The parameters."""
        return self._native.params

    @property
    def identity(self) -> str | None:
        """The identity of the secret key that it is under, as ``keys.identity``; ``None`` if not known."""
        return self._native.identity

    @property
    def slots(self) -> int:
        """Packed slots: a power of two that is at least the length."""
        return self._native.slots

    @property
    def level(self) -> int:
        """Products that remain."""
        return self._native.level

    @property
    def scale(self) -> str:
        """The exact scale, as a product of powers."""
        return self._native.scale

    @property
    def error_log2(self) -> float:
        """log2 of the predicted error of the worst element."""
        return self._native.error_log2

    @property
    def nbytes(self) -> int:
        """Bytes of its residues in memory."""
        return self._native.nbytes

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return (
            f"<encrypted vector ({self.length}): {self.slots} slots, level {self.level}, "
            f"scale 2^{self._native.scale_log2:.2f}, predicted error 2^{self.error_log2:.1f}, "
            f"{self.nbytes} bytes>"
        )

    def _repr_html_(self) -> str:
        """Its facts for a notebook."""
        return html.table(f"encrypted vector ({self.length})", html.ciphertext(self.native))

    def _with(
        self, native: _native.Ciphertext, *, real: bool = True, length: int = 0, clean: bool | None = None
    ) -> Self:
        clean = self.clean if clean is None else clean
        return type(self)(native, self.evaluator, length or self.length, real=self.real and real, clean=clean)

    @checked
    def within(self, bound: float) -> Self:
        """The same values, with the promise that no slot is larger than ``bound``.

        The size of every result is bounded by those of its operands, and what may exceed the modulus is
        refused. You may know better. A promise that is broken gives wrong results; beside the elements of a
        slice stand those that it was cut from.

        Raises
        ------
            EncodingError: a bound that is no positive number.
        """
        return self._with(self._native.within(float(bound)))

    @checked
    def restated(self, magnitude: float, error_log2: float) -> Self:
        """The same values, which state these bounds and nothing else of their size and error.

        A vector that was read from a file of before version 4 states what its operands made of it. This is
        how to write it without that. Both bounds are public.

        Args:
            magnitude: bound on the size of a slot, no less than it states now.
            error_log2: log2 of a bound on the error of a slot, no less than it states now.

        Raises
        ------
            EncodingError: a bound that is not positive, or less than it states now.
        """
        return self._with(self._native.restated(float(magnitude), float(error_log2)))

    def drop_level(self, level: int) -> Self:
        """The same values with fewer levels: less to compute and to send.

        Raises
        ------
            LevelError: an invalid level, or one above the own.
        """
        level = whole(LevelError, "The level", level, 0, self.level)
        return self._with(self.evaluator.drop_level(self.native, level))

    def bootstrap(self, *, iterations: int | None = None, progress: Show | None = None) -> Self:
        """The same values with fresh levels: needs the keys that ``bootstrap_keys`` lists.

        Takes four slots or more, and level 3 or above (level 2 at sets of small rings:
        ``params.bootstraps["start"]``). Real vectors take less time than complex ones. A second iteration
        bootstraps what the first one left out: twice the time, for up to 36 bits on a chain from
        ``Params.bootstrapping(bits=…, iterations=2)``. Left out, iterations are as many as the chain was laid
        out for (``params.bootstraps["iterations"]``), and one for values whose bound is too small for two.
        ``progress`` shows how far it is: "none", "auto" (a bar on a terminal, lines elsewhere), "bar" or
        "lines"; left out, as `ringmill.showing` says.

        Raises
        ------
            KeyMissingError: keys that are missing, with the call that makes them.
            MismatchError: a level below the one where it starts.
            ParameterError: another number of iterations.
            ProgramError: too few slots; code ``Depth``, for parameters that do not bootstrap.
        """
        if isinstance(iterations, bool) or iterations not in (None, 1, 2):
            fail(
                ParameterError,
                "Iterations",
                f"A bootstrapping in {iterations!r} iterations is not possible: 1 or 2 are to be had.",
            )
        with that_bootstraps(self.params, self.slots), share("bootstrap", progress or shown()) as reported:
            return self._with(self.evaluator.bootstrap(self.native, self.real, iterations, reported))

    def lookup(
        self, table: ArrayLike, *, first: int = 0, noise: float = 0.0, progress: Show | None = None
    ) -> Self:
        """The entry of a table for the whole number in every element, as `ringmill.lookup`.

        Takes the slots, level and keys of ``bootstrap``. Numbers without an entry get that of the number that
        lies a table's length away.

        Raises
        ------
            KernelError: a table that cannot be looked up.
            KeyMissingError: keys that are missing, with the call that makes them.
            MismatchError: a level below the one where it starts, an error that reaches one half, or values
                that are not real.
            ProgramError: too few slots; code ``Depth``, for parameters that do not bootstrap, or with too few
                levels for the table.
        """
        entries = Entries.of(table, first, noise)
        if not self.real:
            fail(
                MismatchError,
                "NotReal",
                "A look-up of complex values: real numbers alone are looked up. Take real parts first, "
                "(x + x.conj()) * 0.5 of real data.",
            )
        clean = self.clean and not entries.noise and float(entries.at(0.0)) == 0.0
        with that_bootstraps(self.params, self.slots), share("lookup", progress or shown()) as reported:
            found = self.evaluator.lookup(
                self.native, list(entries.values), entries.first, entries.noise, reported
            )
        return self._with(found, clean=clean)
