"""AArch64: instructions of NEON kernels against those of one lane, counted under QEMU. They are no times."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("AARCH64", ROOT / "build/aarch64"))
TRIPLE = "aarch64-unknown-linux-gnu"
LOG_N = 12

pytestmark = pytest.mark.long


def environment() -> dict[str, str]:
    """The variables of the tools, read from the file that a shell reads."""
    script = TOOLS / "env.sh"
    if not script.is_file():
        pytest.fail("make test-full sets the tools up: scripts/aarch64.sh build/aarch64")
    text = subprocess.run(
        ["bash", "-c", f". {script} && env -0"], capture_output=True, text=True, check=True
    ).stdout
    return dict(entry.split("=", 1) for entry in text.split("\0") if entry)


@pytest.fixture(scope="module")
def program() -> Path:
    """The example that repeats a kernel, for AArch64."""
    env = environment()
    build = ["cargo", "build", "--quiet", "--release", "--locked", "--target", TRIPLE]
    subprocess.run([*build, "-p", "ringmill-ring", "--example", "repeat"], cwd=ROOT, env=env, check=True)
    return Path(env["CARGO_TARGET_DIR"]) / TRIPLE / "release/examples/repeat"


def executed(program: Path, isa: str, kernel: str, bits: int, times: int) -> tuple[int, str]:
    """How many instructions a whole process took, and what it printed."""
    command = [TOOLS / "bin/qemu-aarch64", "-plugin", TOOLS / "count.so", program]
    done = subprocess.run(
        [*map(str, command), kernel, str(LOG_N), str(bits), str(times)],
        env={**os.environ, "RINGMILL_ISA": isa},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.fullmatch(r"instructions: (\d+)\n", done.stderr)
    assert found, done.stderr
    return int(found.group(1)), done.stdout


def of_one(program: Path, isa: str, kernel: str, bits: int) -> float:
    """Instructions of one kernel: what ten more of them add."""
    few, _ = executed(program, isa, kernel, bits, 1)
    many, said = executed(program, isa, kernel, bits, 11)
    assert said.startswith(f"{isa} ")
    return (many - few) / 10


@pytest.mark.parametrize(("kernel", "bits"), [("forward", 50), ("inverse", 50), ("inner", 49), ("inner", 40)])
def test_neon_takes_at_most_half_the_instructions(kernel: str, bits: int, program: Path) -> None:
    assert of_one(program, "scalar", kernel, bits) >= 2 * of_one(program, "neon", kernel, bits)


@pytest.mark.parametrize("kernel", ["forward", "inverse", "inner"])
@pytest.mark.parametrize("bits", [50, 60])
def test_neon_never_takes_more(kernel: str, bits: int, program: Path) -> None:
    least = of_one(program, "scalar", kernel, bits)
    assert of_one(program, "neon", kernel, bits) <= 1.001 * least


@pytest.mark.parametrize("kernel", ["forward", "inverse", "inner"])
@pytest.mark.parametrize("bits", [40, 50, 60])
def test_both_give_the_same_word(kernel: str, bits: int, program: Path) -> None:
    words = {executed(program, isa, kernel, bits, 3)[1].split()[-1] for isa in ("scalar", "neon")}
    assert len(words) == 1
