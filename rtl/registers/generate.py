"""Makes from core_regs.rdl: the register block (RTL), constants (Rust, C), a page (docs), IP-XACT.

python -m rtl.registers.generate            write them
python -m rtl.registers.generate --check    status 1 if a tracked file is not what would be written
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from peakrdl_ipxact import IPXACTExporter, Standard
from peakrdl_regblock import RegblockExporter
from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened
from peakrdl_regblock.udps import ALL_UDPS
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, MemNode, RegfileNode, RegNode

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "core_regs.rdl"
RUST = ROOT / "crates" / "machine" / "src" / "compact" / "registers.rs"
PAGE = ROOT / "docs" / "registers.md"
ORIGIN = "rtl/registers/core_regs.rdl by `python -m rtl.registers.generate`"


def compiled() -> AddrmapNode:
    """Return the elaborated register map."""
    compiler = RDLCompiler()
    for udp in ALL_UDPS:
        compiler.register_udp(udp)
    compiler.compile_file(str(SOURCE))
    return compiler.elaborate().top


def verilog(top: AddrmapNode) -> dict[Path, str]:
    """Return the files of PeakRDL-regblock: AXI4-Lite, asynchronous reset, an error for what is not there.

    What is read goes through a register within the choice among all registers, which are far apart on a
    device; a read takes a cycle more.
    """
    with tempfile.TemporaryDirectory() as folder:
        RegblockExporter().export(
            top,
            folder,
            cpuif_cls=AXI4Lite_Cpuif_flattened,
            module_name="rm_core_regs_block",
            package_name="rm_core_regs_block_pkg",
            default_reset_activelow=True,
            default_reset_async=True,
            err_if_bad_addr=True,
            err_if_bad_rw=True,
            retime_read_fanin=True,
        )
        return {
            HERE / "generated" / file.name: file.read_text() for file in sorted(Path(folder).glob("*.sv"))
        }


def ipxact(top: AddrmapNode) -> str:
    """Return the memory map of PeakRDL-ipxact, a component of IEEE 1685-2014, as tools for boards read it."""
    version = next(reg for reg in top.registers() if reg.inst_name == "VERSION")
    reset = {field.inst_name: field.get_property("reset") or 0 for field in version.fields()}
    exporter = IPXACTExporter(
        standard=Standard.IEEE_1685_2014,
        vendor="ringmill",
        library="hardware",
        version=".".join(str(reset[name]) for name in ("major", "minor")),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.xml"
        # It warns that it leaves out memories below the top; here they follow as address blocks.
        with contextlib.redirect_stderr(io.StringIO()):
            exporter.export(top, str(path), component_name="ringmill_core")
        text = path.read_text()
    memories = [child for child in top.children() if isinstance(child, MemNode)]
    end = "      </ipxact:addressBlock>\n"
    text = text.replace(end, end + "".join(map(_memory_block, memories)))
    # Blocks of one map do not overlap: that of the registers ends where the first memory begins.
    first = min(memory.absolute_address for memory in memories)
    return text.replace(f"<ipxact:range>'h{top.size:x}<", f"<ipxact:range>'h{first:x}<", 1)


def _memory_block(memory: MemNode) -> str:
    access = {"r": "read-only", "w": "write-only", "rw": "read-write"}[memory.get_property("sw").name]
    return f"""\
      <ipxact:addressBlock>
        <ipxact:name>{memory.inst_name}</ipxact:name>
        <ipxact:description>{escape(_text(memory))}</ipxact:description>
        <ipxact:baseAddress>'h{memory.absolute_address:x}</ipxact:baseAddress>
        <ipxact:range>'h{memory.total_size:x}</ipxact:range>
        <ipxact:width>{memory.get_property("memwidth")}</ipxact:width>
        <ipxact:usage>memory</ipxact:usage>
        <ipxact:access>{access}</ipxact:access>
      </ipxact:addressBlock>
"""


def _title(node: RegNode | RegfileNode | MemNode | FieldNode) -> str:
    name = node.get_property("name", default=node.inst_name)
    return "" if name == node.inst_name else name


def _text(node: RegNode | RegfileNode | MemNode | FieldNode) -> str:
    return ". ".join(filter(None, (_title(node), node.get_property("desc") or ""))).removesuffix(".")


def _doc(text: str) -> str:
    return f"/// {text}."


def _wrap(line: str, width: int = 100) -> list[str]:
    """Cut one Rust doc comment into lines of `width`."""
    indent = line[: len(line) - len(line.lstrip())]
    out, current = [], indent + "///"
    for word in line.strip().removeprefix("///").split():
        if len(current) + 1 + len(word) > width:
            out.append(current)
            current = indent + "///"
        current += " " + word
    return [*out, current]


def _rust_register(reg: RegNode, name: str, offset: int) -> list[str]:
    whole = [field for field in reg.fields() if field.width == reg.size * 8]
    text = ". ".join([_text(reg), *map(_text, whole)])
    lines = [*_wrap(_doc(text)), f"pub const {name}: u32 = {offset:#x};"]
    for field in reg.fields():
        if field in whole:
            continue
        constant = f"{name}_{field.inst_name.upper()}"
        what = _text(field) or f"Field {field.inst_name} of [`{name}`]"
        lines += _wrap(_doc(what))
        mask = ((1 << field.width) - 1) << field.low
        lines.append(f"pub const {constant}: Field = Field::new({field.low}, {mask:#x});")
    return lines


def rust(top: AddrmapNode) -> str:
    """Return the constants: byte offsets, strides, and fields as shift and mask."""
    lines = ["//! Registers of the core: byte offsets and fields.", "//!", f"//! Made from {ORIGIN}.", ""]
    lines += [
        "/// A field of a 32-bit register.",
        "#[derive(Debug, Clone, Copy, PartialEq, Eq)]",
        "pub struct Field {",
        "    shift: u32,",
        "    mask: u32,",
        "}",
        "",
        "impl Field {",
        "    const fn new(shift: u32, mask: u32) -> Self {",
        "        Self { shift, mask }",
        "    }",
        "",
        "    /// The field's value in a register.",
        "    #[must_use]",
        "    pub const fn get(self, register: u32) -> u32 {",
        "        (register & self.mask) >> self.shift",
        "    }",
        "",
        "    /// A register with this value in the field and 0 elsewhere; bits beyond the field are dropped.",
        "    #[must_use]",
        "    pub const fn put(self, value: u32) -> u32 {",
        "        (value << self.shift) & self.mask",
        "    }",
        "}",
        "",
    ]
    for child in top.children():
        name, offset = (
            child.inst_name,
            child.raw_absolute_address if child.is_array else child.absolute_address,
        )
        if isinstance(child, RegNode):
            lines += [*_rust_register(child, name, offset), ""]
            if name in ("ID", "VERSION"):
                value = sum((f.get_property("reset") or 0) << f.low for f in child.fields())
                lines += [f"/// What [`{name}`] reads.", f"pub const {name}_VALUE: u32 = {value:#x};", ""]
        elif isinstance(child, RegfileNode):
            lines += [*_wrap(_doc(_text(child))), f"pub const {name}: u32 = {offset:#x};"]
            lines += [
                "/// Bytes from one to the next.",
                f"pub const {name}_STRIDE: u32 = {child.array_stride:#x};",
            ]
            lines += [
                "/// How many there are.",
                f"pub const {name}_COUNT: u32 = {child.array_dimensions[0]};",
                "",
            ]
        elif isinstance(child, MemNode):
            lines += [*_wrap(_doc(_text(child))), f"pub const {name}: u32 = {offset:#x};"]
            lines += ["/// Bytes of the window.", f"pub const {name}_BYTES: u32 = {child.total_size:#x};", ""]
    return "\n".join(lines).rstrip() + "\n"


def header(top: AddrmapNode) -> str:
    """Return offsets, values and fields for C: field F of register R is (R & R_F_MASK) >> R_F_SHIFT."""
    lines = [
        f"/* Offsets of the registers in bytes, and their fields. Made from {ORIGIN}. */",
        "#ifndef CORE_REGISTERS_H",
        "#define CORE_REGISTERS_H",
        "",
    ]
    for child in top.children():
        at = child.raw_absolute_address if child.is_array else child.absolute_address
        name = f"CORE_REG_{child.inst_name}"
        lines.append(f"#define {name} {at:#x}u")
        if isinstance(child, RegNode):
            lines += _c_fields(child, name)
        elif isinstance(child, RegfileNode):
            lines.append(f"#define {name}_STRIDE {child.array_stride:#x}u")
            lines.append(f"#define {name}_COUNT {child.array_dimensions[0]}u")
    return "\n".join([*lines, "", "#endif", ""])


def _c_fields(reg: RegNode, name: str) -> list[str]:
    lines = []
    if reg.inst_name in ("ID", "VERSION"):
        value = sum((f.get_property("reset") or 0) << f.low for f in reg.fields())
        lines.append(f"#define {name}_VALUE {value:#x}u")
    for field in reg.fields():
        if field.width == reg.size * 8:
            continue
        mask = ((1 << field.width) - 1) << field.low
        lines.append(f"#define {name}_{field.inst_name.upper()}_SHIFT {field.low}u")
        lines.append(f"#define {name}_{field.inst_name.upper()}_MASK {mask:#x}u")
    return lines


def _access(field: FieldNode) -> str:
    if field.get_property("singlepulse"):
        return "write 1"
    if field.get_property("onwrite") is not None:
        return "read, clear"
    return {"r": "read", "w": "write", "rw": "read, write"}[field.get_property("sw").name]


def page(top: AddrmapNode) -> str:
    """Return the page: one table a map, one line a field."""
    lines = [f"# {_title(top)}", "", f"<!-- Made from {ORIGIN}. -->", "", top.get_property("desc"), ""]
    lines += ["| offset | register | bits | field | access | meaning |", "|---|---|---|---|---|---|"]
    for child in top.children():
        if isinstance(child, MemNode):
            end = child.absolute_address + child.total_size - 1
            lines.append(
                f"| {child.absolute_address:#06x} – {end:#06x} | {child.inst_name} | | | write "
                f"| {_text(child)} |"
            )
        elif isinstance(child, RegfileNode):
            base, count = child.raw_absolute_address, child.array_dimensions[0]
            lines.append(
                f"| {base:#06x} + {child.array_stride}·i | {child.inst_name}[{count}] | | | read "
                f"| {_text(child)} |"
            )
            for reg in child.children():
                lines.append(f"| + {reg.raw_address_offset} | {reg.inst_name} | | | read | {_text(reg)} |")
        else:
            lines.append(f"| {child.absolute_address:#06x} | {child.inst_name} | | | | {_text(child)} |")
            for field in child.fields():
                reset = field.get_property("reset")
                bits = f"{field.high}:{field.low}" if field.width > 1 else f"{field.low}"
                fixed = f" ({reset:#x})" if child.inst_name in ("ID", "VERSION") else ""
                lines.append(f"| | | {bits} | {field.inst_name}{fixed} | {_access(field)} | {_text(field)} |")
    return "\n".join(lines) + "\n"


def outputs() -> dict[Path, str]:
    """Return every generated file with its text."""
    top = compiled()
    made = {RUST: rust(top), PAGE: page(top), HERE / "generated" / "core_registers.h": header(top)}
    made[HERE / "generated" / "ringmill_core.xml"] = ipxact(top)
    return verilog(top) | made


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(prog="python -m rtl.registers.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    stale = []
    for path, text in outputs().items():
        if not path.is_file() or path.read_text() != text:
            stale.append(str(path.relative_to(ROOT)))
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    for name in stale:
        print(f"{name}: {'not current; run python -m rtl.registers.generate' if check else 'written'}")
    if not stale:
        print("registers: RTL, Rust and docs are current")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
