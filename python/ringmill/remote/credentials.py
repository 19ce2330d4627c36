"""Where the command line keeps the address of a service and its token."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from ringmill.atomic import make_folder, write_bytes
from ringmill.errors import CommandError, fail

#: Environment variables that stand in for the file.
URL, TOKEN = "RINGMILL_URL", "RINGMILL_TOKEN"


@dataclass(frozen=True, slots=True)
class Credentials:
    """An address and a token."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Credentials({self.url!r}, a token)"

    def save(self) -> Path:
        """Keep them in a file that its owner alone reads."""
        path = place()
        make_folder(path.parent)
        data = json.dumps({"url": self.url, "token": self.token}).encode()
        write_bytes(path, data, secret=True)
        return path

    @classmethod
    def load(cls) -> Credentials:
        """Those of the environment, or those that were kept.

        Raises
        ------
            CommandError: code ``NoLogin``.
        """
        kept: dict[str, str] = {}
        try:
            reported = json.loads(place().read_bytes())
            kept = {k: str(reported[k]) for k in ("url", "token")}
        except (OSError, ValueError, KeyError, TypeError):
            pass
        url, token = os.environ.get(URL, kept.get("url")), os.environ.get(TOKEN, kept.get("token"))
        if not url or not token:
            fail(
                CommandError,
                "NoLogin",
                f"No service is known. Log in with `ringmill remote login URL`, or set {URL} and {TOKEN}.",
            )
        return cls(url, token)


def place() -> Path:
    """The file: in ``$XDG_CONFIG_HOME``, or ``~/.config``."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(folder) / "ringmill" / "remote.json"
