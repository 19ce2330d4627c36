"""SoCs of LiteX around the core of this folder: a host reaches its registers and its DRAM over a serial line.

    python3 board/soc.py simulation BUILD          BUILD/soc.v for sim/soc.cpp, whose DRAM is LiteDRAM's model
    python3 board/soc.py ecpix5 BUILD [--mhz 60]   sources, software and scripts for the ECPIX-5 85F
    python3 board/soc.py ecpix5 BUILD --route      and its bitstream: yosys, nextpnr-ecp5 and ecppack

`make verilog` comes first. Needs LiteX 2024.12 with LiteDRAM, for the board also litex-boards, VexRiscv,
meson, ninja and a compiler for RISC-V. The host's side is driver/platform_uartbone.c.
"""

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
#: Where a host finds registers and memory: as driver/platform_uartbone.c has it.
REGISTERS = 0x9000_0000
MEMORY = 0x4000_0000
#: Bits a second of the board's serial line.
BAUD = 1_000_000


def simulated():
    """A SoC without a processor: the model of the DRAM needs nobody who calibrates it."""
    from litedram.modules import MT41K64M16
    from litedram.phy.model import SDRAMPHYModel
    from litex.build.generic_platform import Pins, Subsignal
    from litex.build.sim import SimPlatform
    from litex.soc.cores.uart import RS232PHYModel, UARTBone
    from litex.soc.integration.soc_core import SoCCore
    from litex_module import Ringmill
    from migen import ClockDomain, ClockSignal, Module, ResetSignal

    pads = [
        ("sys_clk", 0, Pins(1)),
        ("sys_rst", 0, Pins(1)),
        (
            "serial",
            0,
            *(Subsignal(f"{way}_{name}", Pins(bits)) for way in ("source", "sink") for name, bits in _STREAM),
        ),
    ]

    class Clocks(Module):
        def __init__(self, platform):
            self.clock_domains.cd_sys = ClockDomain()
            self.comb += [
                ClockSignal("sys").eq(platform.request("sys_clk")),
                ResetSignal("sys").eq(platform.request("sys_rst")),
            ]

    class Soc(SoCCore):
        def __init__(self, platform):
            self.mem_map = {**SoCCore.mem_map, "main_ram": MEMORY}
            hertz = 100_000_000
            self.crg = Clocks(platform)
            SoCCore.__init__(
                self,
                platform,
                hertz,
                cpu_type=None,
                with_uart=False,
                with_timer=False,
                integrated_sram_size=0,
                ident="core in simulation",
            )
            # DDR3 of 16 bits at four phases: LiteDRAM's ports have 128 bits, as on the board.
            module = MT41K64M16(hertz, "1:4")
            self.sdrphy = SDRAMPHYModel(module=module, data_width=16, clk_freq=hertz)
            self.add_sdram("sdram", phy=self.sdrphy, module=module, l2_cache_size=0)
            phy = RS232PHYModel(platform.request("serial"))
            self.add_module("uartbone_phy", phy)
            self.add_module("uartbone", UARTBone(phy, clk_freq=hertz))
            self.bus.add_master("uartbone", self.uartbone.wishbone)
            self.ringmill = Ringmill(platform, HERE, plain=PLAIN)
            self.ringmill.connect(self, origin=REGISTERS)

    soc = Soc(SimPlatform("SIM", pads))
    soc.finalize()
    soc.platform.get_verilog(soc, name="soc").write("soc.v")


_STREAM = (("valid", 1), ("ready", 1), ("data", 8))
PLAIN = HERE / "build" / "ringmill_axi.v"


def ecpix5(build, mhz, route):
    """The board's SoC: VexRiscv calibrates the DDR3; the host comes over the serial line beside it."""
    from litex.soc.integration.builder import Builder
    from litex_boards.targets.lambdaconcept_ecpix5 import BaseSoC
    from litex_module import Ringmill

    class Soc(BaseSoC):
        def __init__(self):
            self.mem_map = {**BaseSoC.mem_map, "main_ram": MEMORY}
            # Host and core share the DRAM, so that no cache stands before it.
            BaseSoC.__init__(
                self,
                device="85F",
                sys_clk_freq=int(mhz * 1e6),
                cpu_type="vexriscv",
                integrated_rom_size=0x10000,
                l2_size=0,
                # A console that nobody reads would stop the processor before it has calibrated the DRAM.
                uart_name="stub",
            )
            self.add_uartbone(uart_name="serial", baudrate=BAUD)
            self.ringmill = Ringmill(self.platform, HERE, plain=PLAIN)
            self.ringmill.connect(self, origin=REGISTERS)

    builder = Builder(
        Soc(), output_dir=".", compile_software=True, compile_gateware=route, csr_json="csr.json"
    )
    builder.build(build_name="ringmill_ecpix5", run=route)


def main(argv):
    """Make one SoC in its folder."""
    parser = argparse.ArgumentParser(prog="soc.py", description=__doc__.splitlines()[0])
    parser.add_argument("soc", choices=("simulation", "ecpix5"))
    parser.add_argument("build", type=Path)
    parser.add_argument("--mhz", type=float, default=60.0)
    parser.add_argument("--route", action="store_true")
    options = parser.parse_args(argv)
    try:
        import litedram  # noqa: F401
        import litex  # noqa: F401
    except ImportError as error:
        raise SystemExit(
            f"{error.name} cannot be imported by {sys.executable}: pip install litex litedram"
        ) from None
    if not PLAIN.is_file():
        raise SystemExit(f"{PLAIN} is not there: make verilog")
    options.build.mkdir(parents=True, exist_ok=True)
    os.chdir(options.build)
    if options.soc == "simulation":
        simulated()
    else:
        ecpix5(options.build, options.mhz, options.route)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
