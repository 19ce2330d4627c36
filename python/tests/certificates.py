"""Certificates made for a test: an authority, and what it signs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


class Authority:
    """An authority in a folder; its certificate is ``ca``."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        if shutil.which("openssl") is None:
            pytest.skip("openssl is not installed: it makes the certificates of this test")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.ca, self.key = folder, folder / f"{name}.pem", folder / f"{name}.key"
        self._openssl(
            *("req", "-x509", "-days", "2", "-subj", f"/CN={name}", "-keyout", str(self.key), "-out"),
            *(str(self.ca), "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        )

    def _openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def signed(self, name: str, *, days: int = 2, server: bool = True) -> tuple[Path, Path]:
        """A certificate and its private key, for 127.0.0.1 or for a client."""
        cert, key, asked = (self.folder / f"{name}.{end}" for end in ("pem", "key", "csr"))
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
        self._openssl(
            "req", "-nodes", "-subj", f"/CN={name}", "-keyout", str(key), "-out", str(asked), *curve
        )
        use = "serverAuth" if server else "clientAuth"
        more = self.folder / f"{name}.ext"
        more.write_text(f"subjectAltName=IP:127.0.0.1\nextendedKeyUsage={use}\nbasicConstraints=CA:FALSE\n")
        self._openssl(
            *("x509", "-req", "-in", str(asked), "-CA", str(self.ca), "-CAkey", str(self.key)),
            *("-CAcreateserial", "-days", str(days), "-extfile", str(more), "-out", str(cert)),
        )
        return cert, key
