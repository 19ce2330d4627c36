"""What vectors at the prompt must keep to, beside parameters: room in the modulus, and one secret key.

Nothing in a ciphertext says when it is broken: a value that wraps around, or one under another key,
decrypts to other numbers, and at low levels to plausible ones. Keys are told apart as far as both sides hold
one for the same purpose: those without relinearisation and rotations say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ringmill.errors import LevelError, MismatchError, fail

if TYPE_CHECKING:
    from ringmill._native import Ciphertext, Evaluator, PublicKey, SecretKey
    from ringmill.keys import Keys


def has_room(cipher: Ciphertext) -> None:
    """Refuse values that the modulus of their level may not hold."""
    missing = -cipher.headroom_log2
    if missing > 0:
        fail(
            LevelError,
            "WrapsAround",
            f"Values up to {cipher.magnitude:.3g} at level {cipher.level} exceed half of the modulus by "
            f"{missing:.1f} bits and may have wrapped around. Compute at a higher level, scale values down, "
            "take parameters with more integer bits, or promise a closer bound first: x.within(bound).",
            magnitude=cipher.magnitude,
            level=cipher.level,
            bits=missing,
        )


def strangers(sentence: str, **fields: Any) -> NoReturn:
    """Refuse what was not made with one secret key."""
    fail(MismatchError, "KeysMismatch", sentence, **fields)


def same_keys(left: Evaluator, right: Evaluator) -> None:
    """Refuse vectors whose evaluation keys contradict each other."""
    if left is not right and not left.agrees(right):
        strangers(
            "The two ciphertexts are bound to different evaluation keys, so they seem to be under different "
            "secret keys, and together would decrypt under neither. Encrypt both with one set of keys; read "
            "ciphertexts of one secret key with one Evaluator.",
        )


def made_encrypting(keys: Keys, key: PublicKey | SecretKey) -> None:
    """Refuse a key to encrypt with that belongs to another secret key."""
    if key is not keys.public and key.params == keys.params and not keys.secret.made(key):
        strangers(
            "The key to encrypt with was not made with the secret key of these keys, so nothing could "
            "decrypt what they compute. Take both from one set of keys.",
        )


def made_evaluator(secret: SecretKey, evaluator: Evaluator) -> None:
    """Refuse to decrypt what is bound to evaluation keys of another secret key."""
    if evaluator.params == secret.params and not secret.made(evaluator):
        strangers(
            "The ciphertext is bound to evaluation keys that were not made with this secret key, so it would "
            "decrypt to noise. Give the secret key of the keys that encrypted it.",
        )
