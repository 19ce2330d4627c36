"""The drivers of a built folder: portable, exact, and careful of caches."""

from __future__ import annotations

import ctypes
import importlib.util
import platform
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sample_designs import SMALL, small_kernel

from ringmill.project import layout

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "python/ringmill/project/files"
WARNINGS = [
    "-std=c11",
    "-pedantic-errors",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wno-sign-conversion",
    "-Werror",
]
INCLUDE = [f"-I{FILES}", f"-I{ROOT}/rtl/registers/generated"]
ADDRESSES = ["-DRINGMILL_AT_REGISTERS=0x10000000u", "-DRINGMILL_AT_MEMORY=0x80000000u"]
HOOKS = [
    "-DRINGMILL_CLEAN(at,bytes)=((void)(at),(void)(bytes))",
    "-DRINGMILL_INVALIDATE(at,bytes)=((void)(at),(void)(bytes))",
]
#: Of a processor that has both, x86; others compile for themselves here.
WORDS_OF = ["-m64", "-m32"] if platform.machine() == "x86_64" else ["-O1"]
TARGETS = (
    "arm-linux-musleabihf",
    "thumb-freestanding-eabi",
    "aarch64-linux-musl",
    "riscv32-freestanding",
    "riscv64-linux-musl",
)


def compiled(compiler: list[str], source: str, out: Path, *more: str) -> None:
    command = [*compiler, *WARNINGS, "-ffreestanding", "-fno-pic", *INCLUDE, *more]
    done = subprocess.run(
        [*command, "-c", str(FILES / source), "-o", str(out)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("bits", WORDS_OF)
def test_the_c_driver_needs_no_library(bits: str, tmp_path: Path) -> None:
    out = tmp_path / "driver.o"
    compiled(["cc", bits], "ringmill_core.c", out)
    needed = subprocess.run(["nm", "-u", str(out)], capture_output=True, text=True, check=True).stdout.split()
    assert needed == []


@pytest.mark.parametrize("bits", WORDS_OF)
@pytest.mark.parametrize("more", [[], HOOKS], ids=["coherent", "with caches"])
def test_the_bare_platform_compiles_with_and_without_hooks(
    bits: str, more: list[str], tmp_path: Path
) -> None:
    compiled(["cc", bits], "platform_bare.c", tmp_path / "bare.o", *ADDRESSES, *more)


def test_the_bare_platform_asks_for_its_addresses(tmp_path: Path) -> None:
    command = ["cc", *INCLUDE, "-c", str(FILES / "platform_bare.c"), "-o", str(tmp_path / "bare.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "define RINGMILL_AT_REGISTERS and RINGMILL_AT_MEMORY" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", ["ringmill_core.c", "platform_bare.c"])
def test_the_c_driver_compiles_for_other_processors(target: str, source: str, tmp_path: Path) -> None:
    if importlib.util.find_spec("ziglang") is None:
        pytest.fail("make test-full installs ziglang (requirements/cross.txt)")
    compiled([sys.executable, "-m", "ziglang", "cc", "-target", target], source, tmp_path / "o.o", *ADDRESSES)


def test_the_rust_driver_needs_core_alone(tmp_path: Path) -> None:
    shutil.copy(FILES / "ringmill_core.rs", tmp_path)
    shutil.copy(ROOT / "crates/machine/src/compact/registers.rs", tmp_path)
    (tmp_path / "layout.rs").write_text(layout.rust(SMALL, SMALL.image(small_kernel().plan)))
    (tmp_path / "lib.rs").write_text(
        "#![no_std]\npub mod layout;\npub mod registers;\npub mod ringmill_core;\n"
    )
    command = ["rustc", "--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-D", "warnings"]
    done = subprocess.run([*command, "lib.rs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- what the C driver does, seen through a platform in Python ----------------------------------------------

N, LOG_N, WORDS = 16, 4, 17
GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint32))
SET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
WAIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
RANGE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)


class Platform(ctypes.Structure):
    _fields_ = [
        ("user", ctypes.c_void_p),
        ("read", GET),
        ("write", SET),
        ("wait", WAIT),
        ("memory", ctypes.POINTER(ctypes.c_uint64)),
        ("memory_bytes", ctypes.c_uint64),
        ("base", ctypes.c_uint64),
        ("clean", RANGE),
        ("invalidate", RANGE),
    ]


class Place(ctypes.Structure):
    _fields_ = [
        ("limb", ctypes.c_uint32),
        ("modulus", ctypes.c_uint32),
        ("scaled", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
    ]


class Program(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("word_bits", "butterflies", "kind", "bus_bits")),
        *(
            (name, ctypes.c_uint32)
            for name in ("log_n", "factor_bits", "moduli", "input_limbs", "places", "output_limbs")
        ),
        *((name, ctypes.c_uint64) for name in ("instructions", "address", "bytes")),
        ("table", ctypes.POINTER(ctypes.c_uint64 * WORDS)),
        ("inputs", ctypes.POINTER(Place)),
        ("outputs", ctypes.POINTER(Place)),
    ]


class Opened(ctypes.Structure):
    _fields_ = [
        ("platform", Platform),
        ("program", ctypes.POINTER(Program)),
        ("stopped_code", ctypes.c_uint32),
        ("stopped_at", ctypes.c_uint32),
    ]


class Bench:
    """The driver as a library, over memory of ours and registers that answer what a test says."""

    def __init__(self, library: Path, q: int, factor_bits: int) -> None:
        self.driver = ctypes.CDLL(str(library))
        self.memory = (ctypes.c_uint64 * 512)()
        self.cleaned: list[tuple[int, int]] = []
        self.invalidated: list[tuple[int, int]] = []
        self.written: list[tuple[int, int]] = []
        self.status = [0]
        self.table = ((ctypes.c_uint64 * WORDS) * 1)((ctypes.c_uint64 * WORDS)(q))
        self.inputs = (Place * 2)(Place(0, 0, 0, 0), Place(1, 0, 1, 8 * N))
        self.outputs = (Place * 1)(Place(0, 0, 0, 16 * N))
        self.program = Program(
            log_n=LOG_N, factor_bits=factor_bits, moduli=1, input_limbs=2, places=2, output_limbs=1,
            bytes=8 * 512, table=self.table, inputs=self.inputs, outputs=self.outputs,
        )  # fmt: skip
        self.calls = GET(self._get), SET(self._set), RANGE(self._clean), RANGE(self._invalidate)
        get, put, clean, invalidate = self.calls
        platform = Platform(None, get, put, WAIT(), self.memory, 8 * 512, 0, clean, invalidate)
        self.core = Opened(platform, ctypes.pointer(self.program), 0, 0)

    def _get(self, _: Any, offset: int, value: Any) -> int:
        value[0] = self.status.pop(0) if len(self.status) > 1 else self.status[0]
        return 0

    def _set(self, _: Any, offset: int, value: int) -> int:
        self.written.append((offset, value))
        return 0

    def _clean(self, _: Any, offset: int, size: int) -> None:
        self.cleaned.append((offset, size))

    def _invalidate(self, _: Any, offset: int, size: int) -> None:
        self.invalidated.append((offset, size))
        self.memory[offset // 8] = 77  # what the core wrote is seen from here on

    def put(self, limb: int, words: list[int]) -> int:
        return int(self.driver.ringmill_put(ctypes.byref(self.core), limb, (ctypes.c_uint64 * N)(*words)))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("driver") / "driver.so"
    command = [
        "cc",
        *WARNINGS,
        "-O2",
        "-fPIC",
        "-shared",
        *INCLUDE,
        str(FILES / "ringmill_core.c"),
        "-o",
        str(out),
    ]
    subprocess.run(command, check=True)
    return out


def test_scaled_limbs_are_exact(library: Path) -> None:
    draw = random.Random(1)
    for bits in (20, 31, 32, 33, 36, 54, 60, 62):
        for _ in range(20):
            q = draw.randrange(1 << (bits - 1), 1 << bits) | 1
            factor_bits = draw.choice((bits, 54, 60, 64))
            bench = Bench(library, q, factor_bits)
            words = [0, 1, q - 1, *(draw.randrange(q) for _ in range(N - 3))]
            assert bench.put(1, words) == 0
            assert list(bench.memory[N : 2 * N]) == [word * 2**factor_bits % q for word in words]
            assert bench.put(0, words) == 0
            assert list(bench.memory[:N]) == words


def test_caches_are_told_what_was_written_and_what_will_be_read(library: Path) -> None:
    bench = Bench(library, 97, 7)
    bench.put(1, [1] * N)
    assert bench.cleaned == [(8 * N, 8 * N)]
    words = (ctypes.c_uint64 * N)()
    assert bench.driver.ringmill_get(ctypes.byref(bench.core), 0, words) == 0
    assert bench.invalidated == [(16 * N, 8 * N)]
    assert words[0] == 77
    assert bench.put(2, [1] * N) == bench.driver.ringmill_get(ctypes.byref(bench.core), 1, words) == 4


def test_a_reset_waits_until_the_core_stands_still(library: Path) -> None:
    bench = Bench(library, 97, 7)
    bench.driver.ringmill_reset.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    bench.status = [1, 1, 0]
    assert bench.driver.ringmill_reset(ctypes.byref(bench.core), 10) == 0
    assert bench.written[0][1] == 2, "CONTROL.soft_reset"
    bench.status = [1]
    assert bench.driver.ringmill_reset(ctypes.byref(bench.core), 5) == 6, "it never stands still"
