"""Encrypted arguments or results of a kernel: named ciphertexts that travel in one file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringmill import bundle, html
from ringmill._checks.arguments import checked
from ringmill._native import Ciphertext, Params
from ringmill.errors import ProgramError, fail


class Values:
    """Ciphertexts by name.

    Attributes
    ----------
        role: "arguments" or "results".
        parts: ciphertexts by the names of the program's inputs or outputs; "1/x" is the x of the second run,
            where records take several.
        kernel: name of the kernel they were made for.
        program: digest of its program and parameters.
        public: whether they may show to everybody; results may if the numbers of their kernel are public.
        records: how many there are, of a kernel that takes batches.
    """

    def __init__(
        self,
        role: str,
        parts: Mapping[str, Ciphertext],
        kernel: str,
        program: str,
        *,
        public: bool = False,
        records: int | None = None,
    ) -> None:
        self.role = role
        self.parts = dict(parts)
        self.kernel = kernel
        self.program = program
        self.public = public
        self.records = records

    @classmethod
    def _of_runs(
        cls, role: str, runs: Sequence[Mapping[str, Ciphertext]], kernel: str, program: str, **more: Any
    ) -> Values:
        """The ciphertexts of several runs, each by the names of the program."""
        several = len(runs) > 1
        parts = {
            f"{at}/{name}" if several else name: cipher
            for at, run in enumerate(runs)
            for name, cipher in run.items()
        }
        return cls(role, parts, kernel, program, **more)

    def _runs(self, lanes: int) -> list[dict[str, Ciphertext]]:
        """The ciphertexts of each run of a kernel of ``lanes`` lanes, by the names of the program."""
        count = -(-self.records // lanes) if self.records and lanes else 1
        if count == 1:
            return [dict(self.parts)]
        # More runs than ciphertexts have none of their own.
        found: list[dict[str, Ciphertext]] = [{} for _ in range(min(count, len(self.parts) + 1))]
        for label, cipher in self.parts.items():
            at, _, name = label.partition("/")
            if at.isdecimal() and int(at) < len(found):
                found[int(at)][name] = cipher
        return found

    @property
    def error_log2(self) -> float:
        """log2 of the predicted error of the worst slot of these ciphertexts; -∞ without ciphertexts."""
        return max((c.error_log2 for c in self.parts.values()), default=-math.inf)

    def __repr__(self) -> str:
        if not self.parts:
            return f"<encrypted {self.role} of {self.kernel}: no ciphertexts>"
        first, count = next(iter(self.parts.values())), len(self.parts)
        held = "" if self.records is None else f"{self.records} record{'s' if self.records > 1 else ''} in "
        return (
            f"<encrypted {self.role} of {self.kernel}: {held}{count} ciphertext{'s' if count > 1 else ''} of "
            f"{first.slots} slot{'s' if first.slots > 1 else ''}, level {first.level}, predicted error "
            f"2^{self.error_log2:.1f}>"
        )

    def _repr_html_(self) -> str:
        """Its facts for a notebook, a row a ciphertext."""
        rows = {
            name: ", ".join(f"{what} {fact}" for what, fact in html.ciphertext(cipher).items())
            for name, cipher in self.parts.items()
        }
        return html.table(f"encrypted {self.role} of {self.kernel}", rows)

    def to_bytes(self) -> bytes:
        """The file's bytes.

        Raises
        ------
            ProgramError: code ``Transparent``, for a result that everybody could decrypt.
        """
        return self._bundle().to_bytes()

    @checked
    def save(self, path: str | Path) -> int:
        """Write the file atomically; returns its bytes.

        Raises
        ------
            FileFormatError: code ``Unwritable``; nothing is left behind then.
            ProgramError: code ``Transparent``, for a result that everybody could decrypt.
        """
        return self._bundle().save(path)

    def _bundle(self) -> bundle.Bundle:
        if not self.public:
            self._hold_secret()
        facts: dict[str, Any] = {"kernel": self.kernel, "program": self.program}
        if self.records is not None:
            facts["records"] = self.records
        return bundle.Bundle(self.role, facts, {name: c.to_bytes() for name, c in self.parts.items()})

    def _hold_secret(self) -> None:
        """Refuse ciphertexts in which nothing of the secret key is."""
        for name, cipher in self.parts.items():
            if cipher.transparent:
                fail(
                    ProgramError,
                    "Transparent",
                    f"The ciphertext {name!r} of kernel {self.kernel!r} does not depend on what was "
                    "encrypted: the numbers of the kernel make it constant, and everybody who has it could "
                    "decrypt it, and learn that. Evaluate with sanitise=True and public=, which sends a "
                    "fresh encryption of it; leave it out of the results; or, if everybody may know the "
                    "numbers, set compiled.public = True.",
                    part=name,
                )

    @classmethod
    @checked
    def load(cls, path: str | Path, role: str, params: Params) -> Values:
        """Read a file of arguments or results made under ``params``.

        Raises
        ------
            FileFormatError: no file of this role, or a damaged one.
            MismatchError: ciphertexts of other parameters.
        """
        return cls._read(bundle.load(path, role), str(path), params)

    @classmethod
    @checked
    def from_bytes(cls, data: bytes, role: str, params: Params) -> Values:
        """Read what ``to_bytes`` wrote, as ``load`` reads a file.

        Raises
        ------
            FileFormatError, MismatchError: as `load`.
        """
        return cls._read(bundle.parse(data, role, "What was given"), "What was given", params)

    @classmethod
    def _read(cls, read: bundle.Bundle, path: str, params: Params) -> Values:
        """The values of a bundle; ``path`` is for messages."""
        if not read.parts:
            bundle.refuse_damaged(path, "it holds no ciphertext")
        parts = {name: Ciphertext.from_bytes(params, data) for name, data in read.parts.items()}
        facts = read.facts
        names = str(facts.get("kernel", "")), str(facts.get("program", ""))
        records = facts.get("records")
        if not (records is None or (type(records) is int and 0 < records < 1 << 40)):
            bundle.refuse_damaged(path, "its number of records is none")
        return cls(read.kind, parts, *names, public=True, records=records)  # as their writer made sure
