"""Where the command line keeps the address of a service and its token."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ringmill.atomic import make_folder, write_bytes
from ringmill.errors import CommandError, fail
from ringmill.remote.transport import Trust

#: Environment variables that stand in for the file.
URL, TOKEN = "RINGMILL_URL", "RINGMILL_TOKEN"
TRUST = {"ca": "RINGMILL_CA", "cert": "RINGMILL_CERT", "key": "RINGMILL_KEY"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """An address, a token, and the files of certificates."""

    url: str
    token: str
    trust: Trust = field(default_factory=Trust)

    def __repr__(self) -> str:
        return f"Credentials({self.url!r}, a token)"

    def save(self) -> Path:
        """Keep them in a file that its owner alone reads."""
        path = place()
        make_folder(path.parent)
        kept = {"url": self.url, "token": self.token}
        kept |= {name: value for name, value in asdict(self.trust).items() if value is not None}
        data = json.dumps(kept).encode()
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
            kept = {k: str(reported[k]) for k in ("url", "token", *TRUST) if k in reported}
        except (OSError, ValueError, KeyError, TypeError):
            pass
        url, token = os.environ.get(URL, kept.get("url")), os.environ.get(TOKEN, kept.get("token"))
        if not url or not token:
            fail(
                CommandError,
                "NoLogin",
                f"No service is known. Log in with `ringmill remote login URL`, or set {URL} and {TOKEN}.",
            )
        named = {name: os.environ.get(variable, kept.get(name)) for name, variable in TRUST.items()}
        return cls(url, token, Trust(**named))


def place() -> Path:
    """The file: in ``$XDG_CONFIG_HOME``, or ``~/.config``."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(folder) / "ringmill" / "remote.json"
