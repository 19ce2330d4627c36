"""Compares every file of this folder with the manifest; status 1 if one is missing, changed or new."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


def main() -> int:
    """Print each difference."""
    listed: dict[str, str] = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))["files"]
    found = {
        path.relative_to(HERE).as_posix(): path
        for path in HERE.rglob("*")
        if path.is_file() and path.relative_to(HERE).parts[0] not in ("build", "manifest.json")
    }
    faults = [f"missing: {name}" for name in listed if name not in found]
    faults += [f"not in the manifest: {name}" for name in found if name not in listed]
    faults += [
        f"changed: {name}"
        for name, path in found.items()
        if name in listed and hashlib.sha256(path.read_bytes()).hexdigest() != listed[name]
    ]
    print("\n".join(sorted(faults)) or f"{len(listed)} files, all as the manifest says")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
