"""Lint of the blocks (verible, slang, Verilator) and their proofs (sby)."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rtl.tools import printed
from rtl.tools.block import ROOT, RTL, Block, expand, load, names, sources
from rtl.tools.simulate import BUILD, Outcome


def _run(command: list[str], where: Path = ROOT) -> tuple[bool, str]:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def slang(top: str, params: dict[str, str], files: list[Path], *options: str) -> tuple[bool, str]:
    """Elaborate with slang, warnings as errors. In a process of its own: it prints from native code."""
    script = (
        "import sys; from pyslang.driver import Driver; d = Driver(); d.addStandardArgs();"
        "ok = d.parseCommandLine(sys.argv[1]) and d.processOptions() and d.parseAllSources();"
        "sys.exit(0 if ok and d.runFullCompilation(False) else 1)"
    )
    python = Path(os.environ["EDA_HOME"]) / "venv" / "bin" / "python"
    # A cast that is idle at one point of the parameters is needed at another.
    words = ["slang", "-Wextra", "-Wno-useless-cast", "-Werror", "--top", top]
    words += [*options, *(f"-G{key}={value}" for key, value in params.items())]
    words += [f"--suppress-warnings={path.parent}" for path in files if path.parent.name == "generated"]
    return _run([str(python), "-c", script, " ".join([*words, *map(str, files)])])


def lint_top(block: Block, top: str, params: dict[str, str]) -> list[str]:
    """Return the findings of slang and Verilator for one top module at one point of its parameters."""
    files, waivers = sources(block)
    found = []
    ok, text = slang(top, params, files)
    if not ok:
        found.append(text)
    generics = [f"-G{key}={value}" for key, value in params.items()]
    ok, text = _run(
        ["verilator", "--lint-only", "-Wall", "--assert", "--timing", *generics, "--top-module", top]
        + [str(path) for path in [*waivers, *files]]
    )
    if not ok:
        found.append(text)
    return found


def lint_proof(block: Block, file: Path) -> list[str]:
    """Return what slang finds in a proof; a port that the design has won since would be free, unnoticed."""
    # A register's first value is given apart from what it does.
    ok, text = slang(file.stem, {}, [*sources(block)[0], file], "-Wno-multiple-always-assigns")
    return [] if ok else [f"{file.relative_to(ROOT)}: {text}"]


def _proofs(block: Block) -> list[Path]:
    return sorted(file for folder in {sby.parent for sby in block.formal} for file in folder.glob("fv_*.sv"))


def lint(chosen: list[str]) -> int:
    """Lint the chosen blocks; return how many places have findings."""
    blocks = [load(name) for name in chosen or names()]
    work = [
        (block, str(one["top"]), params)
        for block in blocks
        for one in block.lint
        for _, params in expand(one.get("each", {}), one.get("params", {}))
    ]
    findings = printed.stale()
    print(*findings, sep="\n", end="\n" if findings else "")
    bad = len(findings)
    # Style is a matter between people: generated sources are for the other two to judge.
    files = [str(path) for block in blocks for path in block.sources if path.parent.name != "generated"]
    rules = f"--rules_config={RTL / 'verible.rules'}"
    ok, text = _run(["verible-verilog-lint", rules, *files]) if files else (True, "")
    if not ok:
        bad += 1
        print(text)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for (block, top, params), found in zip(work, pool.map(lambda w: lint_top(*w), work), strict=True):
            if found:
                bad += 1
                print(f"rtl/{block.name}: {top} {params}", *found, sep="\n")
        proofs = [(block, proof) for block in blocks for proof in _proofs(block)]
        for found in pool.map(lambda p: lint_proof(*p), proofs):
            bad += len(found)
            print(*found, sep="\n", end="\n" if found else "")
    print(
        f"{len(files)} files, {len(work)} tops, {len(proofs)} proofs: "
        + ("clean" if bad == 0 else f"{bad} with findings")
    )
    return bad


def tasks(file: Path) -> list[str]:
    """The tasks of an sby file."""
    lines = file.read_text(encoding="utf-8").split("[tasks]", 1)[1].split("[", 1)[0].splitlines()
    return [line.split()[0] for line in lines if line.strip()]


def proof(file: Path, task: str, out: Path) -> tuple[int, str]:
    """Run one task of an sby file in the folder `out`; return its status, 0 if all is as the file expects."""
    out.parent.mkdir(parents=True, exist_ok=True)
    command = ["sby", "-f", "-d", str(out), file.name, task]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def formal(chosen: list[str]) -> list[Outcome]:
    """Run every task of the blocks' sby files."""
    outcomes = []
    for file in [file for name in chosen or names() for file in load(name).formal]:
        for task in tasks(file):
            start = time.monotonic()
            status, text = proof(file, task, BUILD / file.parents[1].name / "formal" / f"{file.stem}_{task}")
            ok = status == 0
            last = "as expected" if ok else "\n    ".join(text.splitlines()[-8:])
            outcome = Outcome(
                f"{file.parents[1].name}/{file.stem}:{task}", ok, time.monotonic() - start, last
            )
            print(
                f"{'ok  ' if ok else 'FAIL'} {outcome.label:<34} {outcome.seconds:6.1f} s  {last}", flush=True
            )
            outcomes.append(outcome)
    return outcomes
