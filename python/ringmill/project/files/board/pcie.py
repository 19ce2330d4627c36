"""A SoC of LiteX around the core of this folder for a card in a slot of PCI Express: the SQRL Acorn CLE-215+.

    python3 board/pcie.py BUILD [--mhz 100]    sources, software and Vivado's script in BUILD

`make verilog` comes first. Needs LiteX 2024.12 with LiteDRAM, LitePCIe, litex-boards, VexRiscv, meson,
ninja and a compiler for RISC-V; Vivado makes the bitstream: BUILD/gateware/build_ringmill_acorn.sh.

The host sees 256 MiB: the lower half is the beginning of the DRAM, the upper half the core's registers.
LiteX's `litex_server --pcie --pcie-bar SLOT` makes a socket of it, and the machine of Ringmill is
`board:tcp=HOST:1234,memory_at=0,registers_at=134217728,memory=134217728`.
"""

import argparse
import sys
from pathlib import Path

from soc import MEMORY, REGISTERS, check_family, enter, on_board, write_system

#: Bytes that the host sees of the DRAM, and as many for the registers.
HALF = 1 << 27


def moved(seen):
    """The bus with registers and memory, behind a Wishbone interface with addresses of the window."""
    from litex.soc.interconnect import wishbone
    from migen import Mux

    bus, words = wishbone.Interface(), HALF.bit_length() - 3
    base = Mux(seen.adr[words], REGISTERS >> 2, MEMORY >> 2)
    return bus, [seen.connect(bus, omit={"adr"}), bus.adr.eq(base | seen.adr[:words])]


def add_window(soc):
    """What the host reads and writes goes to the bus: DRAM below, registers above."""
    from litepcie.core import LitePCIeEndpoint
    from litepcie.frontend.wishbone import LitePCIeWishboneMaster
    from litepcie.phy.s7pciephy import S7PCIEPHY

    platform, clock = soc.platform, soc.crg.cd_sys.clk
    soc.comb += platform.request("pcie_clkreq_n").eq(0)
    phy = S7PCIEPHY(platform, platform.request("pcie_x4"), data_width=128, bar0_size=2 * HALF)
    # LitePCIe leaves the block's own size at 1 MiB.
    phy.update_config({"Bar0_Scale": "Megabytes", "Bar0_Size": 2 * HALF >> 20})
    soc.pcie_phy = phy
    soc.pcie_endpoint = LitePCIeEndpoint(phy, endianness=phy.endianness, max_pending_requests=8)
    soc.pcie_window = LitePCIeWishboneMaster(soc.pcie_endpoint)
    bus, wires = moved(soc.pcie_window.wishbone)
    soc.comb += wires
    soc.bus.add_master("pcie_window", bus)
    platform.add_period_constraint(clock, 1e9 / soc.sys_clk_freq)
    platform.add_false_path_constraints(clock, phy.cd_pcie.clk)


def main(argv):
    """Write the system into its folder."""
    parser = argparse.ArgumentParser(prog="pcie.py", description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--mhz", type=float, default=100.0)
    options = parser.parse_args(argv)
    check_family("acorn", "xc7", "artix7-200t")
    enter(options.build, ["litex", "litedram", "litepcie", "litex-boards"])
    from litex_boards.targets.sqrl_acorn import BaseSoC

    write_system(on_board(BaseSoC, add_window, options.mhz), "ringmill_acorn")
    print(f"Vivado makes the bitstream: {options.build}/gateware/build_ringmill_acorn.sh")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
