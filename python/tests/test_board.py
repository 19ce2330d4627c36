"""The machine `board` from Python: what it says of boards, LiteX's own server, a SoC in simulation."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hardware_tools import have
from sample_designs import SMALL, small_kernel
from uartbone import MEMORY, Stand

import ringmill as rm
from ringmill._native import MachineSpec
from ringmill.cli import main
from ringmill.compiled import Compiled
from ringmill.project import write
from ringmill.project.make import make

needs_litex = pytest.mark.skipif(
    not have("litex, litedram", "verilator", "yosys"),
    reason="needs LiteX, LiteDRAM, Verilator, yosys: scripts/eda.sh",
)

#: What a core of W = 54, one butterfly, N <= 2^10, 4 moduli, Montgomery and a bus of 64 bits says of itself.
REGISTERS = {0x00: 0x524D4343, 0x04: 0x00010001, 0x08: 54 | 1 << 8 | 10 << 16 | 4 << 24, 0x0C: 3 | 64 << 16}


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return small_kernel()


@pytest.fixture(scope="module")
def keys(compiled: Compiled) -> rm.Keys:
    return compiled.keygen(insecure=True)


def _given(compiled: Compiled, keys: rm.Keys) -> rm.Values:
    return compiled.encrypt(keys, x=np.linspace(-1, 1, 8), y=np.linspace(1, 0, 8))


def _machine(place: str) -> MachineSpec:
    return MachineSpec(f"board:{place},wait=1,effort=0")


def _refused(compiled: Compiled, machine: str | MachineSpec) -> rm.MachineError:
    with pytest.raises(rm.MachineError) as refused:
        compiled.executable(machine)
    return refused.value


@pytest.mark.parametrize("serial", [False, True])
def test_a_board_is_a_machine_by_its_text_and_by_its_options(serial: bool, compiled: Compiled) -> None:
    stand = Stand(REGISTERS, bits=20, serial=serial)
    way, _, place = stand.place.partition("=")
    machine = rm.machines.board(**{way: place}, wait=1)
    assert machine == MachineSpec(f"board:{stand.place},wait=1")
    assert str(machine) == f"board:{stand.place},wait=1"
    # The machine is shared, and with it the line.
    assert compiled.executable(machine).machine == str(machine)
    # By the model, which knows the core by its registers.
    same = "compact:word=54,butterflies=1,log_n=10,moduli=4,bus=64"
    assert compiled.estimate(machine)["cycles"] == compiled.estimate(same)["cycles"]


@pytest.mark.parametrize(
    ("change", "code", "fields"),
    [
        ({0x00: 0xFFFFFFFF}, "NoCore", {"id": 0xFFFFFFFF, "expected": 0x524D4343}),
        ({0x04: 0x00020000}, "OtherVersion", {"major": 2, "minor": 0, "needed_major": 1, "needed_minor": 1}),
        ({0x08: 36 | 1 << 8 | 10 << 16 | 4 << 24}, "ModulusClass", {"word_bits": 36}),
        ({0x08: 54 | 1 << 8 | 10 << 16 | 3 << 24}, "TooManyModuli", {"found": 4, "max": 3}),
        ({0x08: 54 | 1 << 8 | 9 << 16 | 4 << 24}, "Parameter", {"name": "log_n_max", "value": "9"}),
    ],
)
def test_a_core_that_cannot_run_the_kernel_is_an_error_with_fields(
    change: dict[int, int], code: str, fields: dict[str, Any], compiled: Compiled
) -> None:
    stand = Stand({**REGISTERS, **change}, bits=20)
    error = _refused(compiled, _machine(stand.place))
    assert error.code == code
    found = {**error.fields}
    if "place" in found:
        assert found["place"] == stand.place
    assert {name: found[name] for name in fields} == fields


def test_a_memory_that_is_too_small_is_found(compiled: Compiled) -> None:
    error = _refused(compiled, _machine(Stand(REGISTERS, bits=16).place))
    assert (error.code, error.fields["available"]) == ("Memory", 1 << 16)


@pytest.mark.parametrize("serial", [False, True])
@pytest.mark.parametrize("after", [0, 3, 40, 300])
def test_a_line_that_is_unplugged_is_an_error(
    after: int, serial: bool, compiled: Compiled, keys: rm.Keys
) -> None:
    stand = Stand(REGISTERS, bits=20, drop_after=after, serial=serial)
    with pytest.raises(rm.MachineError) as refused:
        compiled.evaluate(keys, _given(compiled, keys), machine=_machine(stand.place))
    assert refused.value.code == "Unplugged"
    assert refused.value.fields["place"] == stand.place


def test_the_command_line_names_a_board_that_does_not_answer(
    compiled: Compiled, keys: rm.Keys, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled.save(tmp_path / "kernel")
    keys.save(tmp_path)
    _given(compiled, keys).save(tmp_path / "a")
    files = {"kernel": "kernel", "keys": "evaluation.keys", "input": "a", "out": "r"}
    named = [word for option, name in files.items() for word in (f"--{option}", str(tmp_path / name))]
    with socket.create_server(("127.0.0.1", 0)) as door:
        gone = f"tcp=127.0.0.1:{door.getsockname()[1]}"
    assert main(["evaluate", *named, "--json", "--quiet", "--machine", f"board:{gone}"]) == 1
    refused = json.loads(capsys.readouterr().out)
    assert (refused["code"], refused["fields"]["place"]) == ("Closed", gone)


@contextmanager
def _litex_server(behind: str) -> Iterator[str]:
    """LiteX's own server of a bus, which speaks Etherbone to its hosts and UARTBone to a line."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    program = (
        "import time\n"
        "from litex.tools.litex_server import RemoteServer\n"
        "from litex.tools.remote.comm_uart import CommUART\n"
        f"server = RemoteServer(CommUART('socket://{behind}', 1000000), '127.0.0.1', {port})\n"
        "server.open()\n"
        "server.start(1)\n"
        "print('open', flush=True)\n"
        "time.sleep(3600)\n"
    )
    python = shutil.which("python3")
    assert python is not None
    with subprocess.Popen([python, "-c", program], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            while "open" not in (line := server.stdout.readline()):
                assert line, "the server ended"
            yield f"tcp=127.0.0.1:{port}"
        finally:
            server.kill()


@needs_litex
def test_litex_server_puts_the_same_words_where_the_line_itself_does() -> None:
    """Etherbone as LiteX has it. Memory in Python computes nothing, so that results are what lay there."""
    params = rm.Params.from_bits(10, [50, 40], [50], 2, insecure=True)
    compiled = rm.kernel(lambda x, y: x + y).compile(rm.vector(8), rm.vector(8), params=params)
    keys = compiled.keygen(insecure=True)
    given = _given(compiled, keys)
    held = []
    for through in (False, True):
        stand = Stand(REGISTERS, bits=20)
        place = stand.place
        if through:
            with _litex_server(place.partition("=")[2]) as server:
                compiled.evaluate(keys, given, machine=_machine(server))
        else:
            compiled.evaluate(keys, given, machine=_machine(place))
        held.append(stand.words)
    assert held[0] == held[1]
    # Four limbs, two of each argument, and more.
    assert sum(at >> 28 == MEMORY >> 28 for at in held[0]) > 4 * 2 * 1024


@pytest.fixture(scope="module")
def soc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board") / "cubic"
    write(small_kernel(), SMALL, out)
    done = make(out, "build/soc/soc")
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "build" / "soc"


@contextmanager
def _running(soc: Path) -> Iterator[str]:
    with subprocess.Popen(["./soc", "0"], cwd=soc, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield f"tcp={running.stdout.readline().split()[-1]}"
        finally:
            running.kill()


@pytest.mark.long
@needs_litex
def test_an_encrypted_product_on_a_simulated_soc_has_the_bits_of_the_cpu(
    soc: Path, compiled: Compiled, keys: rm.Keys
) -> None:
    """Line, bus, core, and LiteDRAM with its model of DDR3; another kernel than the folder's as well."""
    given = _given(compiled, keys)
    x = np.linspace(-1, 1, 8)
    with _running(soc) as place:
        machine = f"board:{place}"
        # Twice: keys are there the second time.
        for _ in range(2):
            found = compiled.evaluate(keys, given, machine=machine)
            assert found.to_bytes() == compiled.evaluate(keys, given).to_bytes()
        product = rm.encrypt(x, keys, machine=machine) * rm.encrypt(x, keys, machine=machine)
        assert np.abs(rm.decrypt(product, keys) - x * x).max() < 1e-4
    with pytest.raises(rm.MachineError) as refused:
        compiled.evaluate(keys, given, machine=machine)
    assert refused.value.code in ("Closed", "Unplugged")
