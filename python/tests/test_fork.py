"""Processes that are forked from one that computed: they lack its threads."""

from __future__ import annotations

import subprocess
import sys

# A child computes with what its parent made, on threads of the process and of an evaluator; then it explores.
FAMILY = """
import os, signal
import numpy as np
import ringmill as rm

params = rm.Params.from_bits(11, [50, 40, 40], [50], 3, insecure=True)
keys = rm.keygen(params, rotations=[1])
x = np.linspace(-1, 1, 64)
square = rm.kernel(lambda x: x * x).compile(rm.vector(64), params=params)
server = square.keygen()

def computes():
    c = rm.encrypt(x, keys)
    assert np.abs(rm.decrypt((c * c).rotate(1), keys) - np.roll(x * x, -1)).max() < 1e-6
    assert np.abs(square.run(server, machine="cpu:threads=2", x=x) - x * x).max() < 1e-6

computes()
child = os.fork()
if child == 0:
    signal.alarm(60)
    computes()
    try:
        rm.explore(rm.kernel(lambda x: x * x), "zcu102", rm.vector(4), progress="none")
    except rm.ExploreError as error:
        assert error.code == "Forked" and "spawn" in error.message, error
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
computes()
"""


def test_a_forked_process_computes_in_one_thread() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FAMILY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
