"""The encrypted vector, and its bytes."""

from __future__ import annotations

from typing import NoReturn

from ringmill import _native
from ringmill._checks.integers import whole
from ringmill._checks.ownership import of_kind
from ringmill._native import EvaluationKeys, Evaluator
from ringmill.ciphertext.refused import Answering
from ringmill.errors import EncodingError, MismatchError, fail
from ringmill.keys import Keys


class Ciphertext(Answering):
    """An encrypted vector, bound to the evaluation keys that compute with it.

    ``+ - * **``, ``rotate``, ``sum``, ``mean``, ``conj`` work as in NumPy, as do ``np.sum``, ``np.dot`` and
    others. A product costs a level; operands of
    different levels are brought together exactly.
    """

    def to_bytes(self) -> bytes:
        """The ciphertext for a file or a wire.

        Raises
        ------
            EncodingError: code ``Transparent``, for a vector that everybody could decrypt, as x - x.
            LevelError: code ``WrapsAround``, for values that the modulus may not hold.
        """
        if self.native.transparent:
            fail(
                EncodingError,
                "Transparent",
                "Nothing of the secret key is left in this vector, as in x - x: everybody could decrypt it, "
                "with all that was added to it. Encrypt what shall be secret, and add that.",
            )
        return self.native.to_bytes()

    def __reduce__(self) -> NoReturn:
        """Refused: keys would go with every vector."""
        fail(
            MismatchError,
            "Pickle",
            "An encrypted vector is bound to the keys that compute with it and does not pickle. Send "
            "x.to_bytes(), and read it by rm.Ciphertext.from_bytes(data, keys).",
        )

    def __copy__(self) -> Ciphertext:
        """Itself: nothing changes a vector."""
        return self

    def __deepcopy__(self, _memo: object) -> Ciphertext:
        """Itself."""
        return self

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        keys: Keys | EvaluationKeys | Evaluator,
        length: int | None = None,
        *,
        real: bool = False,
    ) -> Ciphertext:
        """Read what ``to_bytes`` wrote, to compute with ``keys``; give one ``Evaluator`` for many reads.

        Args:
            data: the bytes.
            keys: what computes with it.
            length: elements, as many as there are slots by default: the bytes do not contain it.
            real: whether its values are real, which the bytes do not contain either: `decrypt` gives real
                numbers then, and `bootstrap` takes less time. Imaginary parts that there are get lost.

        Raises
        ------
            EncodingError: a length that the slots do not hold.
            FileFormatError: damaged bytes, or another kind of file.
            MismatchError: no bytes, no keys to compute with; a ciphertext of other parameters, or under
                another secret key.
        """
        computing = (Keys, EvaluationKeys, Evaluator)
        of_kind("Ciphertext.from_bytes()", "keys", keys, computing, "Give what computes with it.")
        of_kind("Ciphertext.from_bytes()", "real", real, (bool,), "Say whether its values are real.")
        if isinstance(keys, Keys):
            keys = keys.evaluator()
        evaluator = Evaluator(keys) if isinstance(keys, EvaluationKeys) else keys
        native = _native.Ciphertext.from_bytes(evaluator.params, data)
        most = native.slots
        length = most if length is None else whole(EncodingError, "The length", length, 1, most)
        return cls(native, evaluator, length, real=real)
