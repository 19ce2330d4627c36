"""Pickles and copies of what may leave the process: the bytes of its file, checked as a file is when read.

So parameters, public and evaluation keys and ciphertexts go to other processes as any value does. Secret keys
refuse.
"""

from __future__ import annotations

import copyreg
import functools
from typing import Any

from ringmill._native import Ciphertext, EvaluationKeys, Params, PublicKey

Forms = list[tuple[int, str, bytes]]


@functools.lru_cache(maxsize=16)
def params(data: bytes) -> Params:
    """Parameters, once for all that have them."""
    return Params.from_bytes(data)


def public_key(of: bytes, data: bytes) -> PublicKey:
    """A public key."""
    return PublicKey.from_bytes(params(of), data)


def evaluation_keys(of: bytes, data: bytes, forms: Forms) -> EvaluationKeys:
    """Evaluation keys with their forms, every word in memory."""
    keys = EvaluationKeys.from_bytes(params(of), data)
    for element, _, form in forms:
        keys = keys.with_form_bytes(element, form)
    return keys


def ciphertext(of: bytes, data: bytes) -> Ciphertext:
    """A ciphertext without keys."""
    return Ciphertext.from_bytes(params(of), data)


def _reduced(value: Any, read: Any) -> tuple[Any, ...]:
    return read, (value.params.to_bytes(), value.to_bytes())


copyreg.pickle(Params, lambda value: (params, (value.to_bytes(),)))
copyreg.pickle(PublicKey, lambda value: _reduced(value, public_key))
copyreg.pickle(Ciphertext, lambda value: _reduced(value, ciphertext))
copyreg.pickle(
    EvaluationKeys,
    lambda value: (evaluation_keys, (value.params.to_bytes(), value.to_bytes(), value.form_bytes())),
)
