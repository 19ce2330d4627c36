"""How notebooks show kernels, parameters and ciphertexts: as tables of public facts."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from ringmill import _native

_CELL = 'style="text-align:left;vertical-align:top;padding:0.1em 0.8em 0.1em 0"'


def table(title: str, rows: Mapping[str, Any]) -> str:
    """A table of facts under a title; every text is escaped.

    >>> table("kernel f", {"depth": "1 level"}).count("<tr>")
    1
    """
    lines = "".join(
        f"<tr><th {_CELL}>{escape(str(name))}</th><td {_CELL}>{escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<div><b>{escape(title)}</b><table>{lines}</table></div>"


def _params(self: _native.Params) -> str:
    rows = {
        "ring degree": f"2^{self.log_n}",
        "slots": f"{self.slots:,}",
        "ciphertext primes": ", ".join(f"{q.bit_length()} bits" for q in self.q),
        "special primes": ", ".join(f"{p.bit_length()} bits" for p in self.p),
        "security": f"{self.security} bits" if self.security else "below 128 bits",
    }
    return table("CKKS parameters", rows)


def ciphertext(cipher: _native.Ciphertext) -> dict[str, str]:
    """The public facts of a ciphertext."""
    return {
        "slots": f"{cipher.slots:,}",
        "level": str(cipher.level),
        "scale": f"2^{cipher.scale_log2:.2f}",
        "values up to": f"{cipher.magnitude:.3g}",
        "predicted error": f"2^{cipher.error_log2:.1f}",
        "memory": f"{cipher.nbytes:,} bytes",
    }


def install() -> None:
    """Give the native classes their form in notebooks."""
    _native.Params._repr_html_ = _params  # type: ignore[method-assign]
    _native.Ciphertext._repr_html_ = lambda self: table("encrypted vector", ciphertext(self))  # type: ignore[method-assign]
