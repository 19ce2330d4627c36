#!/usr/bin/env python3
"""Checks what no other linter sees: addresses and paths of one machine in tracked files, and stray binaries.

A tracked file must mean the same on every machine, so it names no package host (clients know theirs), no path
of the machine it was written on, and text ends in a newline.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# Spelled apart so that this file passes its own check.
_HOSTS = ("crates" + ".io/", "pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "debian" + ".org")
_ROOTS = ("t" + "mp", "wo" + "rk", "ro" + "ot", "ho" + "me")
_PATH = re.compile(r"(?<![\w.$}*)~/-])/(?:" + "|".join(_ROOTS) + r")(?:/|\b)(?![\w-])")
_HOST = re.compile("|".join(re.escape(host) for host in _HOSTS))

# Compared by size alone.
_BINARY = {".png", ".bin", ".gz"}
_LARGEST = 2 << 20


def tracked() -> list[Path]:
    """Return the files that git tracks and that exist."""
    names = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in names.split("\0") if name and Path(name).is_file()]


def faults(path: Path) -> list[str]:
    """Return one line for each fault of one file."""
    data = path.read_bytes()
    found = [f"{path}: {len(data)} bytes, more than {_LARGEST}"] if len(data) > _LARGEST else []
    if path.suffix in _BINARY:
        return found
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return found if b"\0" in data else [*found, f"{path}: neither text nor binary"]
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in (("machine path", _PATH), ("package host", _HOST)):
            if match := pattern.search(line):
                found.append(f"{path}:{number}: {what} {match.group()!r}")
    if text and not text.endswith("\n"):
        found.append(f"{path}: no newline at the end")
    return found


def main() -> int:
    """Print every fault; the number of them decides the exit status."""
    files = tracked()
    found = [fault for path in files for fault in faults(path)]
    print("\n".join(found) if found else f"{len(files)} files: no package hosts, no machine paths")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
