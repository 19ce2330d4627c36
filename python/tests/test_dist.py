"""What `make dist` leaves, in empty environments: README's first lines, the service, a client, AArch64."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
TOOLS = Path(os.environ.get("AARCH64", ROOT / "build/aarch64"))
LARGEST_CLIENT = 3_000_000

KERNEL = """
import numpy as np
import ringmill as rm

@rm.kernel
def score(x=rm.vector(8), w=np.arange(8) / 8):
    return (x @ w) ** 2 + 0.5
"""

#: Evaluates what stands in a folder; the same files give the same bits on every processor.
EVALUATE = """
import sys
import ringmill as rm
folder = sys.argv[1]
kernel = rm.Compiled.load(f"{folder}/server.rm")
keys = rm.load_evaluation_keys(kernel.params, f"{folder}/keys/evaluation.keys")
arguments = rm.Values.load(f"{folder}/arguments", "arguments", kernel.params)
kernel.evaluate(keys, arguments).save(sys.argv[2])
"""

long = pytest.mark.long


def test_the_package_of_a_client_is_whole(tmp_path: Path) -> None:
    """Its modules import each other and no others; the native module has more here than a client's."""
    program = "import sys, runpy, pathlib; runpy.run_path(sys.argv[1])['lay_out_client'](pathlib.Path('c'))"
    run([sys.executable, "-c", program, str(ROOT / "scripts/dist.py")], tmp_path)
    package = tmp_path / "c/python/ringmill"
    (native,) = (ROOT / "python/ringmill").glob("_native*.so")
    shutil.copy(native, package)
    names = [path.relative_to(package.parent).with_suffix("").parts for path in package.rglob("*.py")]
    modules = sorted({".".join(name).removesuffix(".__init__") for name in names} - {"ringmill.__main__"})
    program = f"import importlib\nfor name in {modules!r}: importlib.import_module(name)"
    run([sys.executable, "-c", program], tmp_path, PYTHONPATH=str(package.parent))
    said = run([sys.executable, "-m", "ringmill", "--help"], tmp_path, PYTHONPATH=str(package.parent))
    assert "keygen" in said
    assert "compile" not in said


def wheels(name: str, processor: str) -> list[str]:
    """A wheel of the release."""
    found = sorted(DIST.glob(f"{name}-*_{processor}.whl"))
    assert len(found) == 1, f"make dist leaves one wheel of {name} for {processor}: {found}"
    return [str(found[0])]


def run(command: list[str], folder: Path, **options: str) -> str:
    """What a command prints in an environment that knows nothing of the checkout."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PIP_CERT") if name in os.environ}
    env = {**kept, **options, "XDG_CONFIG_HOME": str(folder / "config")}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(folder: Path, *names: str) -> Path:
    """The folder of programs of a new environment with some wheels of the release."""
    venv.create(folder, with_pip=True)
    files = [file for name in names for file in wheels(name, "x86_64")]
    run([str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *files], folder)
    return folder / "bin"


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("full"), "ringmill", "ringmill_serve")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("alone"), "ringmill_client")


@pytest.fixture(scope="module")
def split(full: Path, alone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the whole package compiled, and a client alone made keys and encrypted."""
    folder = tmp_path_factory.mktemp("split")
    (folder / "score.py").write_text(KERNEL)
    (folder / "x.json").write_text(json.dumps({"x": [0.5] * 8}))
    run([str(full / "ringmill"), "compile", "score.py:score", "--out", "."], folder)
    ringmill = str(alone / "ringmill")
    run([ringmill, "keygen", "--kernel", "client.rm", "--out", "keys"], folder)
    encrypt = ["encrypt", "--kernel", "client.rm", "--key", "keys/public.key", "--input", "x.json"]
    run([ringmill, *encrypt, "--out", "arguments"], folder)
    return folder


def decrypted(alone: Path, split: Path, results: str) -> float:
    """The number that the client reads."""
    decrypt = ["decrypt", "--kernel", "client.rm", "--key", "keys/secret.key", "--input", results]
    run([str(alone / "ringmill"), *decrypt, "--out", f"{results}.npz"], split)
    with np.load(split / f"{results}.npz") as found:
        (name,) = found.files
        return float(np.real(found[name]).ravel()[0])


EXPECTED = float((np.full(8, 0.5) @ (np.arange(8) / 8)) ** 2 + 0.5)


@long
def test_hashes_are_those_of_the_files() -> None:
    lines = [line.split("  ") for line in (DIST / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in lines} == {path.name for path in DIST.iterdir()} - {"SHA256SUMS"}
    for digest, name in lines:
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == digest, name


@long
def test_every_wheel_has_a_bill_of_its_crates() -> None:
    for path in DIST.glob("*.whl"):
        bill = json.loads(path.with_suffix(".cdx.json").read_text())
        assert bill["bomFormat"] == "CycloneDX"
        names = {part["name"] for part in bill["components"]}
        assert {"ringmill-ring", "blake3"} <= names, path.name


@long
def test_the_first_lines_of_readme_run(full: Path, tmp_path: Path) -> None:
    printed = run([str(full / "python"), str(ROOT / "scripts/first_lines.py"), "first.py"], tmp_path)
    assert "score" in printed


@long
def test_the_service_starts_from_its_wheel(full: Path, tmp_path: Path) -> None:
    command = [str(full / "ringmill"), "serve", "--dir", "data", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        assert service.stdout.readline().startswith("Ringmill serves on http://127.0.0.1:")
        service.send_signal(signal.SIGTERM)
        assert service.wait(timeout=60) == 0


@long
def test_a_client_alone_does_its_part(full: Path, alone: Path, split: Path) -> None:
    run([str(full / "python"), "-c", EVALUATE, ".", "results"], split)
    assert abs(decrypted(alone, split, "results") - EXPECTED) < 1e-5


@long
def test_a_client_alone_is_small_and_says_so(alone: Path, tmp_path: Path) -> None:
    for processor in ("x86_64", "aarch64"):
        (file,) = wheels("ringmill_client", processor)
        assert Path(file).stat().st_size <= LARGEST_CLIENT, file
    program = "import ringmill\ntry:\n    ringmill.kernel\nexcept AttributeError as error:\n    print(error)"
    assert "install ringmill in its place" in run([str(alone / "python"), "-c", program], tmp_path)


@long
def test_aarch64_gives_the_same_bits(full: Path, alone: Path, split: Path, tmp_path: Path) -> None:
    """The wheel for AArch64 evaluates under QEMU what x86-64 encrypted."""
    python = TOOLS / "bin/aarch64-python"
    assert python.is_file(), "make test-full sets the tools up: scripts/aarch64.sh build/aarch64"
    site = tmp_path / "site"
    tags = ["--platform", "manylinux_2_28_aarch64", "--platform", "manylinux2014_aarch64"]
    version = ["--python-version", "3.11", "--implementation", "cp", "--only-binary", ":all:"]
    files = wheels("ringmill", "aarch64")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(site), *tags, *version]
    run([*pip, *files], tmp_path)
    run([str(full / "python"), "-c", EVALUATE, ".", "results-x86"], split)
    for isa in ("neon", "scalar"):
        evaluate = [str(python), "-c", EVALUATE, ".", f"results-{isa}"]
        run(evaluate, split, PYTHONPATH=str(site), RINGMILL_ISA=isa)
        assert (split / f"results-{isa}").read_bytes() == (split / "results-x86").read_bytes(), isa
    assert abs(decrypted(alone, split, "results-neon") - EXPECTED) < 1e-5
    first = [str(python), str(ROOT / "scripts/first_lines.py"), "first.py"]
    assert "score" in run(first, tmp_path, PYTHONPATH=str(site))


@long
def test_the_sources_hold_what_a_build_reads(tmp_path: Path) -> None:
    (archive,) = DIST.glob("ringmill-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    (folder,) = tmp_path.iterdir()
    listed = (folder / "rtl/compact_core.f").read_text().splitlines()
    names = [f"rtl/{line}" for line in listed if line and not line.startswith("//")]
    for name in [*names, "Cargo.lock", "LICENSE", "rtl/sim/src/rm_core.cpp", "python/ringmill/__init__.py"]:
        assert (folder / name).is_file(), name
