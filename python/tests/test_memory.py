"""Memory estimates before allocation, and requests that are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm
from ringmill import memory
from ringmill.cli import main

PARAMS = rm.Params.from_bits(12, [50, 40, 40, 40], [50, 50, 50], 4, insecure=True)


def test_the_memory_of_keys_is_known_before_they_are_made() -> None:
    """The estimate equals what the keys then take, in every form that they are kept in."""
    for forms in ([], ["1+1/4"], ["1+3/4", "2+3/2"]):
        keys = rm.keygen(PARAMS, rotations=[1, 2], forms=forms)
        expected = memory.of_keys(PARAMS, 3, forms)
        assert keys.evaluation.nbytes == pytest.approx(expected, rel=0.02)
        one = memory.of_keys(PARAMS, 1, forms)
        seeded = memory.of_keys(PARAMS, 3, forms, seeded=True) - one
        assert keys.evaluation.seeded().nbytes == pytest.approx(seeded, rel=0.02)


def test_a_call_that_needs_more_memory_than_there_is_leaves_the_process_alive() -> None:
    """The limit of addresses is real: without the refusal the process would be aborted."""
    script = """
import resource, ringmill as rm
from ringmill import memory
from ringmill.cli import main
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 10**9, resource.RLIM_INFINITY))
assert 0 < memory.available() <= 10**9
try:
    rm.keygen(rm.Params.named("V50"), rotations=range(1, 400))
except rm.MachineError as error:
    print(error.code)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "Memory\n"), done.stderr


def test_a_control_group_leaves_what_it_may_take_and_what_its_files_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    monkeypatch.setattr(memory, "_MEMORY", tmp_path / "meminfo")
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable:  1000000 kB\n")
    assert memory.available() == 1_024_000_000
    for name, text in (("max", "5000"), ("current", "4000"), ("stat", "anon 900\nactive_file 200\n")):
        (tmp_path / f"memory.{name}").write_text(text)
    assert memory.available() == 1_024_000_000  # not all of it is counted
    (tmp_path / "memory.stat").write_text("active_file 200\ninactive_file 50\n")
    assert memory.available() == 1250
    (tmp_path / "memory.max").write_text("max")
    assert memory.available() == 1_024_000_000


def test_seeded_keys_of_a_kernel_take_less_memory_and_give_the_same_files_and_results() -> None:
    compiled = rm.kernel(lambda x: x * x.sum()).compile(rm.vector(4), params=PARAMS)
    seeded, expanded = (compiled.keygen(seeded=way) for way in (True, False))
    words = 3 * 2 * PARAMS.dnum * len(PARAMS.q + PARAMS.p) * 8 << PARAMS.log_n
    assert seeded.evaluation.nbytes < 0.4 * words
    assert seeded.evaluation.nbytes < 0.5 * expanded.evaluation.nbytes
    assert len(seeded.evaluation.to_bytes()) == len(expanded.evaluation.to_bytes())
    again = rm.EvaluationKeys.from_bytes(PARAMS, seeded.evaluation.to_bytes())
    assert again.nbytes == expanded.evaluation.nbytes
    sent = compiled.encrypt(seeded, x=np.arange(4) / 4)
    results = [compiled.evaluate(keys, sent) for keys in (seeded.evaluation, again)]
    assert results[0].to_bytes() == results[1].to_bytes()
    np.testing.assert_allclose(compiled.decrypt(seeded, results[0]), np.arange(4) * 0.375, atol=1e-6)


def test_the_command_line_keeps_no_more_of_keys_than_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = rm.kernel(lambda x: x * x.sum()).compile(rm.vector(4), params=PARAMS)
    compiled.save(tmp_path / "kernel")
    held, real = [], rm.Keys.save
    monkeypatch.setattr(
        rm.Keys, "save", lambda keys, *a, **o: held.append(keys.evaluation.nbytes) or real(keys, *a, **o)
    )
    folder = tmp_path / "keys"
    at = ["--kernel", str(tmp_path / "kernel"), "--out", str(folder)]
    assert main(["keygen", *at, "--insecure", "--quiet"]) == 0
    assert held[0] <= (folder / "evaluation.keys").stat().st_size
