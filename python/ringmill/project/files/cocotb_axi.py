"""The program of this folder on its core behind cocotbext-axi: tests for `make selftest-cocotb`.

What drives the registers and answers the core's bursts is not of this project. Table, instructions and
limbs are put from program/layout.json, without the drivers.
"""

from __future__ import annotations

import json
import logging
import os
import random
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, SimTimeoutError, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp

HERE = Path(__file__).resolve().parents[1]
SEED = int(os.environ.get("SEED", "1"))
#: The core sees its memory above this address; what lies below and behind is nobody's.
BASE = 1 << 16
GUARD = 1 << 12
PATTERN = 0xA5
#: What the cycle model says of the program, and the time of a clock in ns.
CYCLES = int(os.environ["CYCLES"])
CLOCK = 10
#: Cycles that an access to a register may take, and runs that a program's time is enough for.
ACCESS = 1000
PATIENCE = 4

UNIT = 64
ID, VERSION, CONTROL, STATUS, PROGRAM, LOG_N, IRQ = 0x00, 0x04, 0x10, 0x14, 0x24, 0x28, 0x2C
COUNTER, TABLE, ENTRY, NOTHING = 0x100, 0x2000, 256, 0x0F00
START, SOFT_RESET, IRQ_ENABLE = 1, 2, 4
BUSY, DONE, ERROR, REFUSED = 1, 2, 4, 8


def pauses(seed: int) -> Iterator[bool]:
    """Stalls of a channel: quiet times, a cycle in four, and times in which nearly nothing moves."""
    rng = random.Random(seed)
    while True:
        share = rng.choice((0.0, 0.25, 0.25, 0.9))
        for _ in range(rng.randrange(1, 200)):
            yield rng.random() < share


class Bench:
    """The core, its registers, its memory."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.layout = json.loads((HERE / "program" / "layout.json").read_text())
        self.bytes = self.layout["bytes"]
        self.registers = AxiLiteMaster(
            AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn, reset_active_level=False
        )
        self.memory = AxiRam(
            AxiBus.from_prefix(dut, "m_axi"),
            dut.aclk,
            dut.aresetn,
            reset_active_level=False,
            size=BASE + self.bytes + GUARD,
        )
        for bus in (self.registers, self.memory):
            for half in (bus.write_if, bus.read_if):
                half.log.setLevel(logging.WARNING)  # else a line for each burst
        self.memory.write(0, bytes([PATTERN]) * BASE)
        self.memory.write(BASE + self.bytes, bytes([PATTERN]) * GUARD)

    async def start(self) -> None:
        """Clock and reset; what follows may come in the first cycle after it."""
        self.dut.aresetn.value = 0
        Clock(self.dut.aclk, CLOCK, unit="ns").start()
        await ClockCycles(self.dut.aclk, 5)
        self.dut.aresetn.value = 1

    def stall(self, seed: int) -> None:
        """Random stalls on all ten channels."""
        channels = [
            of
            for bus in (self.registers, self.memory)
            for of in (
                bus.write_if.aw_channel,
                bus.write_if.w_channel,
                bus.write_if.b_channel,
                bus.read_if.ar_channel,
                bus.read_if.r_channel,
            )
        ]
        for number, channel in enumerate(channels):
            channel.set_pause_generator(pauses(seed * len(channels) + number))

    async def read(self, offset: int) -> Any:
        """What the core answers to a read of a word."""
        return await self._answer(self.registers.read(offset, 4), f"a read of {offset:#x}")

    async def write(self, offset: int, data: bytes) -> Any:
        """What the core answers to a write."""
        return await self._answer(self.registers.write(offset, data), f"a write to {offset:#x}")

    @staticmethod
    async def _answer(access: Coroutine[Any, Any, Any], what: str) -> Any:
        try:
            return await with_timeout(access, ACCESS * CLOCK, "ns")
        except SimTimeoutError:
            raise AssertionError(f"no answer to {what} for {ACCESS} cycles") from None

    async def get(self, offset: int) -> int:
        """Read a register."""
        answer = await self.read(offset)
        assert answer.resp == AxiResp.OKAY, f"register {offset:#x} answers {answer.resp}"
        return int.from_bytes(answer.data, "little")

    async def set(self, offset: int, value: int) -> None:
        """Write a register."""
        answer = await self.write(offset, value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY, f"register {offset:#x} answers {answer.resp}"

    async def load(self) -> None:
        """Fill the table of moduli; put instructions and all input limbs into memory."""
        for number, row in enumerate(self.layout["table"]):
            for place, word in enumerate((row["q"], row["aux"], *row["roots"][: self.layout["log_n"]])):
                at = TABLE + ENTRY * number + 8 * place
                await self.set(at, word & 0xFFFF_FFFF)
                await self.set(at + 4, word >> 32)
        units = BASE // UNIT
        data = (HERE / "program" / "instructions.bin").read_bytes()
        words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
        for i in range(0, len(words), 4):
            # A first word says whether it and the second one hold an address.
            relative = words[i] >> 30 & 3
            words[i] += (units << 32) * (relative & 1)
            words[i + 1] += units * (relative >> 1)
        self.memory.write(BASE + self.layout["address"], b"".join(w.to_bytes(8, "little") for w in words))
        inputs = (HERE / "test" / "inputs.bin").read_bytes()
        size = 8 << self.layout["log_n"]
        factor = 1 << self.layout["factor_bits"]
        for place in self.layout["inputs"]:
            limb = inputs[size * place["limb"] : size * (place["limb"] + 1)]
            if place["scaled"]:
                q = self.layout["table"][place["modulus"]]["q"]
                scaled = (int.from_bytes(limb[i : i + 8], "little") * factor % q for i in range(0, size, 8))
                limb = b"".join(x.to_bytes(8, "little") for x in scaled)
            self.memory.write(BASE + place["address"], limb)

    async def begin(self) -> None:
        """Start the program."""
        await self.set(PROGRAM, (BASE + self.layout["address"]) // UNIT)
        await self.set(LOG_N, self.layout["log_n"])
        await self.set(CONTROL, START | IRQ_ENABLE)

    async def end(self) -> int:
        """Wait for the interrupt, clear it, and return the status."""
        if self.dut.irq.value != 1:
            try:
                await with_timeout(RisingEdge(self.dut.irq), PATIENCE * CYCLES * CLOCK, "ns")
            except SimTimeoutError:
                raise AssertionError(
                    f"no interrupt for {PATIENCE} times the {CYCLES} cycles of the model"
                ) from None
        status = await self.get(STATUS)
        await self.set(IRQ, 1)
        await ClockCycles(self.dut.aclk, 2)
        assert self.dut.irq.value == 0, "the interrupt stays after it was cleared"
        return status

    async def program(self) -> int:
        """Run the program to its end, compare every word of every result, and return its cycles."""
        size = 8 << self.layout["log_n"]
        for place in self.layout["outputs"]:
            self.memory.write(BASE + place["address"], bytes([PATTERN]) * size)
        await self.begin()
        status = await self.end()
        assert status & (BUSY | DONE | ERROR | REFUSED) == DONE, f"STATUS is {status:#x}"
        expected = (HERE / "test" / "expected.bin").read_bytes()
        assert self.layout["outputs"], "a program without results"
        assert len(expected) == size * len(self.layout["outputs"])
        for place in self.layout["outputs"]:
            found = self.memory.read(BASE + place["address"], size)
            assert found == expected[size * place["limb"] : size * (place["limb"] + 1)], (
                f"output limb {place['limb']} has other bits"
            )
        for at, count in ((0, BASE), (BASE + self.bytes, GUARD)):
            assert self.memory.read(at, count) == bytes([PATTERN]) * count, "written outside of the memory"
        return await self.get(COUNTER)


@cocotb.test()
async def program(dut: Any) -> None:
    """Memory and host that never wait; the first access comes with the first edge after the reset."""
    bench = Bench(dut)
    await bench.start()
    assert await bench.get(ID) == int.from_bytes(b"RMCC", "big")
    await bench.load()
    cycles = await bench.program()
    cocotb.log.info("%d cycles with a memory that never waits", cycles)


@cocotb.test()
async def stalled(dut: Any) -> None:
    """Random stalls on every channel of both buses: a run that is ended in the middle, then a whole one."""
    bench = Bench(dut)
    bench.stall(SEED)
    await bench.start()
    await bench.load()
    await bench.begin()
    await ClockCycles(dut.aclk, random.Random(SEED).randrange(500, 5000))
    assert await bench.get(STATUS) & BUSY, "the program ended before it was to be stopped"
    await bench.set(CONTROL, START | IRQ_ENABLE)
    assert await bench.get(STATUS) & REFUSED, "a start while a program runs was not refused"
    await bench.set(CONTROL, SOFT_RESET | IRQ_ENABLE)
    status = await bench.end()
    assert status & (BUSY | DONE | ERROR) == ERROR, f"STATUS is {status:#x} after a reset"
    cycles = await bench.program()
    cocotb.log.info("%d cycles with stalls on every channel, seed %d", cycles, SEED)


@cocotb.test()
async def refused_accesses(dut: Any) -> None:
    """Accesses to nothing, writes to what is read only, and reads of what is write only answer SLVERR."""
    bench = Bench(dut)
    bench.stall(SEED + 1)
    await bench.start()
    for offset in (ID, VERSION, STATUS, NOTHING):
        answer = await bench.write(offset, bytes(4))
        assert answer.resp == AxiResp.SLVERR, f"a write to {offset:#x} answers {answer.resp}"
    for offset in (NOTHING, TABLE):
        answer = await bench.read(offset)
        assert answer.resp == AxiResp.SLVERR, f"a read of {offset:#x} answers {answer.resp}"
    await bench.set(PROGRAM, 0x0102_0304)
    # One byte of four: the others stay.
    answer = await bench.write(PROGRAM + 2, b"\xff")
    assert answer.resp == AxiResp.OKAY
    assert await bench.get(PROGRAM) == 0x01FF_0304
