"""Ringmill for a client alone: keys, encryption, decryption, and the client of a service.

import ringmill as rm

client = rm.load_client("client.rm")
keys = client.keygen()
"""

from typing import Any

from ringmill import errors, html, remote
from ringmill import pickling as pickling
from ringmill._native import Ciphertext, EvaluationKeys, Params, PublicKey, SecretKey, __version__
from ringmill.client import Client, load_client
from ringmill.errors import *  # noqa: F403
from ringmill.keys import Keys, keygen, load_evaluation_keys
from ringmill.trace.signature import Signature
from ringmill.trace.spec import Spec
from ringmill.values import Values

html.install()


def __getattr__(name: str) -> Any:
    """Say where the rest is."""
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r} here: ringmill-client is the client's side alone. "
        "For the rest install ringmill in its place."
    )


__all__ = [
    "Ciphertext",
    "Client",
    "EvaluationKeys",
    "Keys",
    "Params",
    "PublicKey",
    "SecretKey",
    "Signature",
    "Spec",
    "Values",
    "errors",
    "keygen",
    "load_client",
    "load_evaluation_keys",
    "remote",
    "__version__",
    *errors.__all__,
]
