"""Which hardware tools are there: `scripts/eda.sh` installs them."""

import shutil
import subprocess


def have(modules: str, *commands: str) -> bool:
    """Whether the commands are on the path, and the first Python there imports the modules, as `a, b`."""
    if any(shutil.which(name) is None for name in ("python3", *commands)):
        return False
    return (
        subprocess.run(["python3", "-c", f"import {modules}"], capture_output=True, check=False).returncode
        == 0
    )
