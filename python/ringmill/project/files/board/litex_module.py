"""The core of this folder as a module of a LiteX SoC, on a port of LiteDRAM.

    from litex_module import Ringmill
    self.ringmill = Ringmill(self.platform, "mycore")
    self.ringmill.connect(self, origin=0x9000_0000)

Needs LiteX 2024.04 or newer and LiteDRAM. The clock and the reset are those of the domain ``sys``.
``soc.py`` beside this file makes whole SoCs.
"""

from pathlib import Path

from litedram.frontend.axi import LiteDRAMAXI2Native
from litex.gen import LiteXModule
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import axi
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetSignal, Signal

#: Bits of a beat of the core's memory: a port of LiteDRAM of another width is converted.
DATA_BITS = int("$data_bits")
#: Bytes of the window of registers.
REGISTERS = 0x4000


class Ringmill(LiteXModule):
    """Registers behind ``bus``, memory behind ``memory``, an event when a program has ended."""

    def __init__(self, platform, folder, plain=None):
        """Add the core with its ports, and its sources: the folder's, or one file of plain Verilog."""
        self.bus = axi.AXILiteInterface(data_width=32, address_width=32)
        self.memory = axi.AXIInterface(data_width=DATA_BITS, address_width=32, id_width=1)
        self.ev = EventManager()
        self.ev.done = EventSourceLevel()
        self.ev.finalize()
        irq, high = Signal(), [Signal(38), Signal(38)]
        self.comb += self.ev.done.trigger.eq(irq)
        ports = {"i_aclk": ClockSignal("sys"), "i_aresetn": ~ResetSignal("sys"), "o_irq": irq}
        for channel, of, given in (
            ("aw", "host", ("valid", "addr", "prot")),
            ("w", "host", ("valid", "data", "strb")),
            ("b", "core", ("valid", "resp")),
            ("ar", "host", ("valid", "addr", "prot")),
            ("r", "core", ("valid", "data", "resp")),
        ):
            ports |= self._channel("s_axi", self.bus, channel, given, core_gives=of == "core")
        for channel, of, given in (
            ("aw", "core", ("valid", "id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos")),
            ("w", "core", ("valid", "data", "strb", "last")),
            ("b", "memory", ("valid", "id", "resp")),
            ("ar", "core", ("valid", "id", "addr", "len", "size", "burst", "lock", "cache", "prot", "qos")),
            ("r", "memory", ("valid", "id", "data", "resp", "last")),
        ):
            ports |= self._channel("m_axi", self.memory, channel, given, core_gives=of == "core")
        ports["i_s_axi_awaddr"] = self.bus.aw.addr[:14]
        ports["i_s_axi_araddr"] = self.bus.ar.addr[:14]
        # The core's addresses count the bytes of its own memory; a SoC's have 32 bits.
        for channel, wide in zip(("aw", "ar"), high, strict=True):
            ports[f"o_m_axi_{channel}addr"] = wide
            self.comb += getattr(self.memory, channel).addr.eq(wide)
        self.specials += Instance("ringmill_axi", **ports)
        if plain:
            platform.add_source(str(plain), "verilog")
            return
        for name in (Path(folder) / "core.f").read_text().splitlines():
            if name and not name.startswith("//"):
                platform.add_source(str(Path(folder) / name), "systemverilog")
        platform.add_source(str(Path(folder) / "board/ringmill_axi.v"), "verilog")

    @staticmethod
    def _channel(prefix, bus, channel, names, core_gives):
        wires = getattr(bus, channel)
        out, back = ("o", "i") if core_gives else ("i", "o")
        ports = {f"{out}_{prefix}_{channel}{name}": getattr(wires, name) for name in names}
        return {**ports, f"{back}_{prefix}_{channel}ready": wires.ready}

    def connect(self, soc, origin, port=None):
        """Put the registers on a SoC's bus, the memory on a port of its DRAM, the event on its interrupts."""
        region = SoCRegion(origin=origin, size=REGISTERS, cached=False)
        base = soc.bus.regions["main_ram"].origin
        port = port or soc.sdram.crossbar.get_port()
        memory = self.memory
        if port.data_width > DATA_BITS:
            # Bursts are whole units of 64 bytes. LiteDRAM's own converter of ports comes to a standstill.
            memory = axi.AXIInterface(data_width=port.data_width, address_width=32, id_width=1)
            self.widened = axi.AXIUpConverter(self.memory, memory)
        elif port.data_width < DATA_BITS:
            # A row of commands for each of the core's.
            port = soc.sdram.crossbar.get_port(data_width=DATA_BITS)
        self.to_memory = LiteDRAMAXI2Native(memory, port, base_address=base)
        soc.bus.add_slave("ringmill", self.bus, region)
        if soc.irq.enabled:
            soc.irq.add("ringmill", use_loc_if_exists=True)
