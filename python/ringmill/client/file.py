"""``client.rm``: a kernel for its client alone, without program and weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from ringmill import bundle, html
from ringmill._checks.arguments import checked
from ringmill._native import Params
from ringmill.client.side import ClientSide
from ringmill.client.terms import WRITTEN, Terms, terms_of
from ringmill.errors import FileFormatError, fail
from ringmill.trace.signature import Signature


class Client(ClientSide):
    """What ``client.rm`` holds: a kernel for the client alone. `ringmill.load_client` reads it.

    It has no program and no weights. ``errors`` and ``bounds`` of its terms are those that results state.

    Attributes
    ----------
        signature: names, shapes and packing of arguments and results.
    """

    _called = "client"
    #: What a bundle says that it is.
    KIND: ClassVar[str] = "client"
    #: The parts of its file.
    _PARTS: ClassVar[frozenset[str]] = frozenset({"signature", "params"})

    def __init__(self, signature: Signature, params: Params, terms: Terms) -> None:
        self.signature = signature
        self._params = params
        self._terms = terms

    @property
    def params(self) -> Params:
        """The parameters."""
        return self._params

    @property
    def terms(self) -> Terms:
        """What client and server agree on."""
        return self._terms

    @property
    def predicted_error(self) -> dict[str, float]:
        """log2 of the error of the worst slot of every output ciphertext, as results state it."""
        return dict(self._terms.errors)

    def __repr__(self) -> str:
        return (
            f"<client of {self.name}: {self.signature.slots} slots, depth {self._terms.depth}, "
            f"keys: {self.keys_needed}; {self._params!r}>"
        )

    def _repr_html_(self) -> str:
        """Its facts for a notebook."""
        rows = {
            "parameters": repr(self._params),
            "depth": self._terms.depth,
            "keys": self.keys_needed,
            "arguments": ", ".join(f"{n} {list(s.shape)}" for n, s in self.signature.inputs.items()),
            "results": ", ".join(f"{n} {list(r.shape)}" for n, r in self.signature.outputs.items()),
            "error": f"2^{max(self._terms.errors.values()):.1f} in the worst slot, as results state it",
        }
        return html.table(f"client of kernel {self.name}, {self.signature.slots} slots", rows)

    # ---- files --------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The client file's bytes; equal clients give equal bytes."""
        return self._bundle().to_bytes()

    @checked
    def save(self, path: str | Path) -> int:
        """Write the client file; returns its bytes.

        Raises
        ------
            FileFormatError: code ``Unwritable``; nothing is left behind then.
        """
        return self._bundle().save(path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies are the client file, read anew."""
        return type(self).from_bytes, (self.to_bytes(),)

    def _parts(self) -> dict[str, bytes]:
        return {
            "signature": json.dumps(self.signature.to_json()).encode(),
            "params": self._params.to_bytes(),
        }

    def _bundle(self) -> bundle.Bundle:
        parts = self._parts()
        facts = {"kernel": self.name, "program": self.digest, **asdict(self._terms)}
        facts["encryption"] = WRITTEN[self._terms.encryption]
        return bundle.Bundle(self.KIND, {**facts, "digest": _digest(facts, parts)}, parts)

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Client:
        """Read a client file.

        Raises
        ------
            FileFormatError: no client file, a damaged one, or one of another version.
        """
        try:
            read = bundle.load(path, cls.KIND)
        except FileFormatError as error:
            if error.fields.get("found") != "ringmill-kernel":
                raise
            fail(
                FileFormatError,
                "WrongKind",
                f"{path} is a server's file: it holds the program with its weights. "
                "Give client.rm, which was written beside it.",
                path=str(path),
                expected=cls.KIND,
                found=error.fields["found"],
            )
        return cls._read(read, str(path))

    @classmethod
    @checked
    def from_bytes(cls, data: bytes) -> Client:
        """Read what ``to_bytes`` wrote, as ``load`` reads a file.

        Raises
        ------
            FileFormatError: as `load`.
        """
        return cls._read(bundle.parse(data, cls.KIND, "What was given"), "What was given")

    @classmethod
    def _read(cls, read: bundle.Bundle, path: str) -> Client:
        """The client of a bundle; ``path`` is for messages."""
        if set(read.parts) != cls._PARTS:
            bundle.refuse_damaged(path, "it lacks the signature or the parameters")
        try:
            signature = Signature.from_json(json.loads(read.parts["signature"]))
        except (ValueError, RecursionError) as error:
            if isinstance(error, FileFormatError):
                raise
            bundle.refuse_damaged(path, "its text cannot be read")
        params = Params.from_bytes(read.parts["params"])
        facts = dict(read.facts)
        reported = facts.pop("digest", None), facts.pop("kernel", None), facts.pop("program", None)
        try:
            terms = terms_of(facts, signature, params)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            bundle.refuse_damaged(path, f"what it says of its kernel cannot be read ({error})")
        client = cls._made_of(signature, params, terms, read, path)
        known = {"kernel": client.name, "program": client.digest, **facts}
        if reported != (_digest(known, read.parts), client.name, client.digest):
            bundle.refuse_damaged(path, "its digest is not that of its parts")
        return client

    @classmethod
    def _made_of(
        cls, signature: Signature, params: Params, terms: Terms, _read: bundle.Bundle, _path: str
    ) -> Client:
        """The client of what was read, and of the parts that a kind of clients has of its own."""
        return cls(signature, params, terms)


def _digest(facts: Mapping[str, Any], parts: Mapping[str, bytes]) -> str:
    """The digest of all that a client's file holds."""
    each = {name: bundle.digest(data) for name, data in parts.items()}
    return bundle.digest(json.dumps([facts, each], sort_keys=True).encode())


@checked
def load_client(path: str | Path) -> Client:
    """Read ``client.rm``, a kernel or a model for its client: it makes keys, encrypts and decrypts.

    Args:
        path: the file that ``ringmill compile``, or ``save(client=…)`` of a kernel or a model, wrote.

    Raises
    ------
        FileFormatError: no client file, a damaged one, or the server's.
    """
    if bundle.kind_of(path) == "model client":
        try:
            from ringmill.models.client import ModelClient
        except ModuleNotFoundError:
            fail(
                FileFormatError,
                "NeedsModels",
                f"{path} is the client file of a model, and this installation prepares no records. "
                "Install ringmill in place of ringmill-client.",
                path=str(path),
            )
        return ModelClient.load(path)
    return Client.load(path)
