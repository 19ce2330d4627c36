#!/usr/bin/env python3
"""Builds what a release consists of: wheels for x86-64 and AArch64, sources, SBOMs, SHA256SUMS.

    dist.py --out dist [--only x86_64|aarch64]

Wheels are linked by zig for glibc 2.17, so that their tag is manylinux2014; code for each instruction set
is chosen when it runs. AArch64 is compiled by the tools of scripts/aarch64.sh. maturin writes a CycloneDX
SBOM of the Rust crates into each wheel; it is put beside the wheel too. auditwheel and twine look at all.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
#: What of the package python/ringmill a client's package is made of.
CLIENT = ROOT / "packaging/client"
#: Where the pyproject of each wheel stands.
PROJECTS = {
    "ringmill": ROOT,
    "ringmill-client": ROOT / "build/dist/client",
    "ringmill-serve": ROOT / "packaging/serve",
}
TARGETS = {"x86_64": "x86_64-unknown-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}
#: The oldest glibc that wheels run with.
TAG = "manylinux2014"
#: What else belongs to that policy than glibc.
PLATFORM = "manylinux_2_17"


def tool(name: str, *arguments: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """What a tool of this environment prints; its failure is ours."""
    command = [str(BIN / name), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{name} {arguments[0]}: exit status {done.returncode}")
    return done.stdout


def compilers(target: str) -> dict[str, str]:
    """The environment that a target is built in."""
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    # An interpreter says nothing of wheels for every CPython and another system.
    env.pop("PYO3_PYTHON", None)
    # Wheels are stripped: what is stripped need not be made.
    env["CARGO_PROFILE_RELEASE_DEBUG"] = "0"
    env["CARGO_TARGET_DIR"] = str(ROOT / "build/dist" / target)
    if target == "aarch64":
        compiler = ROOT / "build/aarch64/bin/rustc"
        if not compiler.is_file():
            sys.exit("AArch64 lacks its compiler: scripts/aarch64.sh build/aarch64")
        env["RUSTC"] = str(compiler)
    return env


def lay_out_client(folder: Path = PROJECTS["ringmill-client"]) -> None:
    """Put the client's package together: some files of the whole one, and its own."""
    shutil.rmtree(folder, ignore_errors=True)
    lines = (CLIENT / "files.txt").read_text().splitlines()
    pairs = [(ROOT / "python" / line, folder / "python" / line) for line in lines if not line.startswith("#")]
    own = list((CLIENT / "ringmill").rglob("*.py"))
    pairs += [(path, folder / "python" / path.relative_to(CLIENT)) for path in own]
    pairs += [(CLIENT / name, folder / name) for name in ("pyproject.toml", "README.md", "LICENSE")]
    for source, copy in pairs:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def wheel(name: str, target: str, out: Path) -> Path:
    """Build one wheel."""
    folder = out / ".new"
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--release", "--locked", "--zig", "--compatibility", TAG, "--target", TARGETS[target]]
    tool("maturin", "build", *options, "--out", folder, cwd=PROJECTS[name], env=compilers(target))
    (built,) = folder.iterdir()
    made = built.replace(out / built.name)
    folder.rmdir()
    return made


def bill(path: Path) -> Path:
    """Put the SBOM of a wheel beside it."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        if len(names) != 1:
            sys.exit(f"{path.name} has {len(names)} SBOMs, not one: {names}")
        beside = path.with_suffix(".cdx.json")
        beside.write_bytes(archive.read(names[0]))
    return beside


def looked_at(path: Path) -> None:
    """Refuse a wheel that needs more of a system than its tag says."""
    said = " ".join(tool("auditwheel", "show", path).split())
    if f'platform tag: "{PLATFORM}_' not in said:
        sys.exit(f"{path.name} does not keep to {PLATFORM}: {said}")


def sums(out: Path) -> None:
    """Write the hashes of all files, as `sha256sum --check` reads them."""
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines))


def main() -> int:
    """Build everything, look at it, and say what there is."""
    parser = argparse.ArgumentParser(description="Build what a release consists of.", allow_abbrev=False)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder, made anew")
    parser.add_argument("--only", choices=TARGETS, help="one processor, while trying")
    options = parser.parse_args()
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    lay_out_client()
    for target in [options.only] if options.only else TARGETS:
        for name in PROJECTS:
            print(f"== {name} for {target}", flush=True)
            made = wheel(name, target, out)
            looked_at(made)
            bill(made)
    tool("maturin", "sdist", "--out", out, env=compilers("x86_64"))
    packages = [path for path in out.iterdir() if path.suffix in (".whl", ".gz")]
    tool("twine", "check", "--strict", *packages)
    sums(out)
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
