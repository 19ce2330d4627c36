"""A backend for Orion, which compiles networks of PyTorch: `scheme()` takes the place of the module `orion`.

Orion packs the layers of a network, places bootstrappings and evaluates the network on tensors of
ciphertexts. Its operations are recorded here instead of computed. When a tensor is decrypted, the
operations that lead to it become a kernel: parameters are planned for it, it runs on encrypted inputs, and
the result is decrypted. Networks need the packages `orion-fhe` and `torch`.
"""

from __future__ import annotations

from ringmill.interop.orion.backend import CALLS, Backend
from ringmill.interop.orion.scheme import scheme

__all__ = ["Backend", "page", "scheme"]

#: Calls of Orion's backends, and how they are taken here.
_NOTES = {
    "SerializeSecretKey": "no: keys of a kernel are saved by `Compiled.keygen().save`",
    "LoadSecretKey": "no",
    "GenerateAndSerializeRotationKey": "no",
    "LoadRotationKey": "no",
    "RemoveRotationKeys": "no",
    "SerializeDiagonal": "no",
    "LoadPlaintextDiagonal": "no",
    "RemovePlaintextDiagonals": "no",
    "Rescale": "counted: the planner places its own",
    "RescaleNew": "counted: the planner places its own",
    "SetCiphertextScale": "the nominal scale alone",
    "SetPlaintextScale": "the nominal scale alone",
    "GenerateMinimaxSignCoeffs": "by the library that comes with Orion",
}


def page() -> str:
    """Return the table of calls in ``docs/interop.md``."""
    plain = [name for name in CALLS if name not in _NOTES]
    rows = [f"| {', '.join(f'`{name}`' for name in plain)} | yes |"]
    noted: dict[str, list[str]] = {}
    for name, note in _NOTES.items():
        noted.setdefault(note, []).append(f"`{name}`")
    # What is saved and loaded has one answer.
    refused = [name for note, names in noted.items() if note.startswith("no") for name in names]
    rows += [f"| {', '.join(names)} | {note} |" for note, names in noted.items() if not note.startswith("no")]
    rows.append(f"| {', '.join(refused)} | no: `io_mode` is `none` |")
    return "\n".join(["| call | covered |", "|---|---|", *rows, ""])
