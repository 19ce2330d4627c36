"""SoCs of LiteX around the core of this folder: a host reaches its registers and its DRAM over a serial line.

    python3 board/soc.py simulation BUILD          BUILD/soc.v for sim/soc.cpp, whose DRAM is LiteDRAM's model
    python3 board/soc.py BOARD BUILD [--mhz 75]    sources, software and scripts for a board: ecpix5, ulx3s
    python3 board/soc.py BOARD BUILD --route       and its bitstream, with a report: route.py

`make verilog` comes first. Needs LiteX 2024.12 with LiteDRAM, for a board also litex-boards, VexRiscv,
meson, ninja and a compiler for RISC-V. The host's side is driver/platform_uartbone.c.
"""

import argparse
import contextlib
import os
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
#: Where a host finds registers and memory: as driver/platform_uartbone.c has it.
REGISTERS = 0x9000_0000
MEMORY = 0x4000_0000
#: Bits a second of the board's serial line.
BAUD = 1_000_000


def simulated(dram):
    """A SoC without a processor: the model of the DRAM needs nobody who calibrates it."""
    from litedram.modules import MT41K64M16, MT48LC16M16
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
            # LiteDRAM's ports have 128 bits with the ECPIX-5's DDR3, and 16 with the ULX3S's SDRAM.
            module = MT41K64M16(hertz, "1:4") if dram == "ddr3" else MT48LC16M16(hertz, "1:1")
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
#: The core's parameters, and cycles of one run of its program by the cycle model.
CORE = {"parameters": "$parameters", "cycles": int("$cycles")}
#: For which devices the core was built: what its multipliers are made of.
FAMILY = "$family"


def check_family(board, family, device):
    """Refuse a board whose device is of another family than the core."""
    if family != FAMILY:
        raise SystemExit(
            f"the core of this folder is built for the family {FAMILY}, and {board} has one of {family}: "
            f"ringmill explore … --device {device}, then ringmill build"
        )


#: Of each board: the module and the arguments of its system in litex-boards, and for which device a core is
#: explored. Both have an 85F.
BOARDS = {
    "ecpix5": ("litex_boards.targets.lambdaconcept_ecpix5", {"device": "85F"}, "ecpix5"),
    "ulx3s": ("litex_boards.targets.radiona_ulx3s", {"device": "LFE5U-85F"}, "ecp5-85"),
}


@contextlib.contextmanager
def _said_to(log):
    """Whatever this process and its children say goes to a file."""
    kept = {fd: os.dup(fd) for fd in (1, 2)}
    with open(log, "w") as file:
        for fd in kept:
            os.dup2(file.fileno(), fd)
        try:
            yield
        finally:
            sys.stdout.flush()
            for fd, there in kept.items():
                os.dup2(there, fd)
                os.close(there)


def on_board(base, reach, mhz, **arguments):
    """A board's SoC around the core: VexRiscv calibrates the DRAM; ``reach`` adds what the host comes by."""
    from litex_module import Ringmill

    class Soc(base):
        def __init__(self):
            self.mem_map = {**base.mem_map, "main_ram": MEMORY}
            # Host and core share the DRAM, so that no cache stands before it.
            base.__init__(
                self,
                sys_clk_freq=int(mhz * 1e6),
                cpu_type="vexriscv",
                integrated_rom_size=0x10000,
                l2_size=0,
                # A console that nobody reads would stop the processor before it has calibrated the DRAM.
                uart_name="stub",
                **arguments,
            )
            reach(self)
            self.ringmill = Ringmill(self.platform, HERE, plain=PLAIN)
            self.ringmill.connect(self, origin=REGISTERS)

    return Soc()


def write_system(soc, named, **options):
    """Have LiteX write a SoC, compile its software, and write the scripts of its toolchain."""
    from litex.soc.integration.builder import Builder

    # A make around this one would offer children its own jobs, which they cannot reach.
    os.environ.pop("MAKEFLAGS", None)
    builder = Builder(soc, output_dir=".", compile_software=True, compile_gateware=False, csr_json="csr.json")
    builder.build(build_name=named, run=False, **options)


def board(name, build, mhz, seed, route):
    """A board's SoC, which the host reaches over the serial line, and its bitstream if that is asked for."""
    from route import PLACE_AND_ROUTE, bitstream, sources, write

    module, arguments, _ = BOARDS[name]
    named = f"ringmill_{name}"
    print(f"LiteX writes the system, and compiles its software: {build}/litex.log", flush=True)
    with _said_to("litex.log"):
        base = import_module(module).BaseSoC
        soc = on_board(
            base, lambda soc: soc.add_uartbone(uart_name="serial", baudrate=BAUD), mhz, **arguments
        )
        soc.platform.toolchain._pnr_opts += PLACE_AND_ROUTE
        write_system(soc, named, abc9=True, timingstrict=True, seed=seed)
    if route:
        Path("report.json").unlink(missing_ok=True)
        report = {"board": name, "mhz": mhz, "sources": sources(HERE), "core": CORE}
        write("report.json", report | bitstream(Path("gateware").resolve(), named, mhz, seed))
        print(f"{build}/gateware/{named}.bit, and what it is in {build}/report.json")


def enter(build, needed):
    """Go to the folder of a SoC, once the packages and the core's plain Verilog are there."""
    try:
        for package in needed:
            import_module(package.replace("-", "_"))
    except ImportError as error:
        raise SystemExit(
            f"{error.name} cannot be imported by {sys.executable}: pip install {' '.join(needed)}"
        ) from None
    if not PLAIN.is_file():
        raise SystemExit(f"{PLAIN} is not there: make verilog")
    build.mkdir(parents=True, exist_ok=True)
    os.chdir(build)


def main(argv):
    """Make one SoC in its folder."""
    parser = argparse.ArgumentParser(prog="soc.py", description=__doc__.splitlines()[0])
    parser.add_argument("soc", choices=("simulation", *BOARDS))
    parser.add_argument("build", type=Path)
    parser.add_argument("--mhz", type=float, default=75.0)
    parser.add_argument("--route", action="store_true", help="make the bitstream: minutes to an hour")
    parser.add_argument("--seed", type=int, default=1, help="where nextpnr begins")
    parser.add_argument("--dram", choices=("ddr3", "sdram"), default="ddr3", help="of the simulation")
    options = parser.parse_args(argv)
    needed = ["litex", "litedram"]
    if options.soc != "simulation":
        check_family(options.soc, "ecp5", BOARDS[options.soc][2])
        needed.append("litex-boards")
    enter(options.build, needed)
    if options.soc == "simulation":
        simulated(options.dram)
        return 0
    from route import RouteError

    try:
        board(options.soc, options.build, options.mhz, options.seed, options.route)
    except RouteError as error:
        raise SystemExit(str(error)) from None
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
