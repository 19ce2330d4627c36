"""Signed statements of a service on what it computed."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from typing import Any

from ringmill.errors import CommandError, RemoteError, fail


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a service says of a job, signed by Ed25519 (RFC 8032).

    A receipt shows who said it. That it is true is shown by computing again: results have the same bits.
    """

    #: The text that is signed, JSON: hashes of program, keys, arguments and results, the job, the engine.
    statement: str
    #: 64 bytes in hexadecimal digits.
    signature: str
    #: The key that the service says it signs by, 32 bytes in hexadecimal digits.
    public_key: str

    @property
    def facts(self) -> dict[str, Any]:
        """What is stated. Verify before you believe it.

        Raises
        ------
            RemoteError: code ``BadReceipt``: a text that is not a receipt.
        """
        try:
            found = json.loads(self.statement)
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("ringmill") != "receipt":
            fail(RemoteError, "BadReceipt", "The statement is no receipt of a Ringmill service.")
        return found

    def verify(self, public_key: str, *, results: str | None = None) -> dict[str, Any]:
        """Check the signature; returns what is stated.

        Args:
            public_key: the service's key, as `Client.signing_key` gave it when you first trusted the service.
            results: the BLAKE3 of the file of results that you hold, to be the one that is stated.

        Raises
        ------
            CommandError: code ``NoCryptography``: the package that checks signatures is not installed.
            RemoteError: code ``BadReceipt``: another key, another text than was signed, or other results.
        """
        if importlib.util.find_spec("cryptography") is None:
            fail(CommandError, "NoCryptography", "Receipts are checked by: pip install 'ringmill[receipts]'.")
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
            key.verify(bytes.fromhex(self.signature), self.statement.encode())
        except (InvalidSignature, ValueError):
            fail(
                RemoteError,
                "BadReceipt",
                "The statement was not signed by this key. Ask the service for the receipt again; if that "
                "fails too, it signs by another key than the one that you trusted.",
            )
        facts = self.facts
        if results is not None and facts["result"] != results:
            fail(
                RemoteError,
                "BadReceipt",
                f"The receipt is of results {facts['result']:.8}, and not of {results:.8}.",
            )
        return facts
