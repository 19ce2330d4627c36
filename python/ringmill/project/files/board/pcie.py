"""A SoC of LiteX around the core of this folder for a card in a slot of PCI Express: the SQRL Acorn CLE-215+.

    python3 board/pcie.py BUILD [--mhz 100]    sources, software and Vivado's script in BUILD

`make verilog` comes first. Needs LiteX 2024.12 with LiteDRAM, LitePCIe, litex-boards, VexRiscv, meson,
ninja and a compiler for RISC-V; Vivado makes the bitstream: BUILD/gateware/build_ringmill_acorn.sh.

The host sees 256 MiB: the lower half is the beginning of the DRAM, the upper half the core's registers.
LiteX's `litex_server --pcie --pcie-bar SLOT` makes a socket of it, and the machine of Ringmill is
`board:tcp=HOST:1234,memory_at=0,registers_at=134217728,memory=134217728`.
"""

import argparse
import os
import sys
from pathlib import Path

from soc import HERE, MEMORY, PLAIN, REGISTERS, check_family

#: Bytes that the host sees of the DRAM, and as many for the registers.
HALF = 1 << 27


def moved(seen):
    """The bus with registers and memory, behind a Wishbone interface with addresses of the window."""
    from litex.soc.interconnect import wishbone
    from migen import Mux

    bus, words = wishbone.Interface(), HALF.bit_length() - 3
    base = Mux(seen.adr[words], REGISTERS >> 2, MEMORY >> 2)
    return bus, [seen.connect(bus, omit={"adr"}), bus.adr.eq(base | seen.adr[:words])]


def system(mhz):
    """The SoC: VexRiscv calibrates the DRAM; the host comes over PCI Express."""
    from litepcie.core import LitePCIeEndpoint
    from litepcie.frontend.wishbone import LitePCIeWishboneMaster
    from litepcie.phy.s7pciephy import S7PCIEPHY
    from litex_boards.targets.sqrl_acorn import BaseSoC
    from litex_module import Ringmill

    class Soc(BaseSoC):
        def __init__(self):
            self.mem_map = {**BaseSoC.mem_map, "main_ram": MEMORY}
            # Host and core share the DRAM, so that no cache stands before it.
            BaseSoC.__init__(
                self,
                sys_clk_freq=int(mhz * 1e6),
                cpu_type="vexriscv",
                integrated_rom_size=0x10000,
                l2_size=0,
                # A console that nobody reads would stop the processor before it has calibrated the DRAM.
                uart_name="stub",
            )
            self.ringmill = Ringmill(self.platform, HERE, plain=PLAIN)
            self.ringmill.connect(self, origin=REGISTERS)
            self.add_window()

        def add_window(self):
            """What the host reads and writes goes to the bus: DRAM below, registers above."""
            self.comb += self.platform.request("pcie_clkreq_n").eq(0)
            phy = S7PCIEPHY(
                self.platform, self.platform.request("pcie_x4"), data_width=128, bar0_size=2 * HALF
            )
            # LitePCIe leaves the block's own size at 1 MiB.
            phy.update_config({"Bar0_Scale": "Megabytes", "Bar0_Size": 2 * HALF >> 20})
            self.pcie_phy = phy
            self.pcie_endpoint = LitePCIeEndpoint(phy, endianness=phy.endianness, max_pending_requests=8)
            self.pcie_window = LitePCIeWishboneMaster(self.pcie_endpoint)
            bus, wires = moved(self.pcie_window.wishbone)
            self.comb += wires
            self.bus.add_master("pcie_window", bus)
            self.platform.add_period_constraint(self.crg.cd_sys.clk, 1e3 / mhz)
            self.platform.add_false_path_constraints(self.crg.cd_sys.clk, phy.cd_pcie.clk)

    return Soc()


def main(argv):
    """Write the system into its folder."""
    parser = argparse.ArgumentParser(prog="pcie.py", description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--mhz", type=float, default=100.0)
    options = parser.parse_args(argv)
    check_family("acorn", "xc7", "artix7-200t")
    try:
        import litepcie  # noqa: F401
        import litex_boards  # noqa: F401
        from litex.soc.integration.builder import Builder
    except ImportError as error:
        raise SystemExit(
            f"{error.name} cannot be imported by {sys.executable}: "
            "pip install litex litedram litepcie litex-boards"
        ) from None
    if not PLAIN.is_file():
        raise SystemExit(f"{PLAIN} is not there: make verilog")
    options.build.mkdir(parents=True, exist_ok=True)
    os.chdir(options.build)
    # A make around this one would offer children its own jobs, which they cannot reach.
    os.environ.pop("MAKEFLAGS", None)
    builder = Builder(
        system(options.mhz),
        output_dir=".",
        compile_software=True,
        compile_gateware=False,
        csr_json="csr.json",
    )
    builder.build(build_name="ringmill_acorn", run=False)
    print(f"Vivado makes the bitstream: {options.build}/gateware/build_ringmill_acorn.sh")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
