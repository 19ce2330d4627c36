"""Fields and opcodes of the compact core's instructions, as they follow from `rtl/core/instructions.json`.

| what | where |
|---|---|
| SystemVerilog: codes, and an instruction as a packed struct | `rtl/common/src/rm_isa_pkg.sv` |
| Rust: the opcodes, and the fields for encoder and decoder | `crates/machine/src/compact/isa/printed.rs` |
| C++: the same for benches | `rtl/core/test/instructions.h` |
| the page | `docs/instructions.md` |
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rtl.tools.block import ROOT, RTL

SOURCE = RTL / "core" / "instructions.json"
ORIGIN = "rtl/core/instructions.json by `python -m rtl.tools isa`"
WORDS, WORD_BITS = 4, 64

Table = dict[str, Any]


class InstructionError(Exception):
    """Fields that overlap or leave bits out, or codes used twice; names them."""


def table(source: Path = SOURCE) -> Table:
    """Return the table.

    Raises
    ------
    InstructionError
        Fields that overlap, that leave bits out, or that do not fit their word; a code or a name twice.
    """
    read: Table = json.loads(source.read_text("utf-8"))
    owner: dict[tuple[int, int], str] = {}
    for field in read["fields"]:
        for bit in range(field["low"], field["low"] + field["bits"]):
            at = field["word"], bit
            if at in owner or bit >= WORD_BITS or field["word"] >= WORDS:
                raise InstructionError(
                    f"{field['name']}: w{at[0]}[{bit}] is {owner.get(at, 'no bit of a word')}"
                )
            owner[at] = field["name"]
    missing = [(w, b) for w in range(WORDS) for b in range(WORD_BITS) if (w, b) not in owner]
    if missing:
        raise InstructionError(f"w{missing[0][0]}[{missing[0][1]}] belongs to no field")
    for key in ("name", "code"):
        seen = [opcode[key] for opcode in read["opcodes"]]
        twice = {value for value in seen if seen.count(value) > 1}
        if twice:
            raise InstructionError(f"{key} {twice.pop()} stands twice")
    return read


def _bits(field: Table) -> str:
    low, high = field["low"], field["low"] + field["bits"] - 1
    return f"w{field['word']}[{high}:{low}]" if high > low else f"w{field['word']}[{low}]"


def systemverilog(isa: Table) -> Iterator[str]:
    """Yield the lines of the package."""
    yield f"// rm_isa_pkg - the instructions of the compact core. Made from {ORIGIN}."
    yield "package rm_isa_pkg;"
    yield ""
    yield f"  // {isa['names'].replace('·', '*').replace('−', '-')}"
    width = max(len(op["rust"]) for op in isa["opcodes"])
    for op in isa["opcodes"]:
        does = op["does"].replace("−", "-")
        yield f"  localparam logic [7:0] Op{op['rust']:<{width}} = 8'h{op['code']:02x};  // {does}"
    yield ""
    yield "  // The four words, w3 first."
    yield "  typedef struct packed {"
    fields = sorted(isa["fields"], key=lambda f: (f["word"], f["low"]), reverse=True)
    for field in fields:
        size = f"[{field['bits'] - 1}:0]" if field["bits"] > 1 else ""
        name = f"{field['name']};"
        yield f"    logic {size:<6} {name:<10} // {_bits(field)} {field['is']}"
    yield "  } instruction_t;"
    yield ""
    yield "endpackage"


def rust(isa: Table) -> Iterator[str]:
    """Yield the lines of the Rust file."""
    yield "//! Opcodes and fields of the instructions of the compact core."
    yield "//!"
    yield f"//! Made from {ORIGIN}."
    yield ""
    yield f"/// What an instruction does. {isa['names']}."
    yield "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]"
    yield "#[repr(u8)]"
    yield "pub enum Op {"
    for op in isa["opcodes"]:
        yield f"    /// {op['does'][0].upper() if op['does'][:2] != 'd ' else 'd'}{op['does'][1:]}."
        yield f"    {op['rust']} = 0x{op['code']:02x},"
    yield "}"
    yield ""
    yield "impl Op {"
    yield "    /// All opcodes."
    yield f"    pub const ALL: [Self; {len(isa['opcodes'])}] = ["
    yield from (f"        Self::{op['rust']}," for op in isa["opcodes"])
    yield "    ];"
    yield ""
    yield "    /// Its name in text."
    yield "    pub const fn name(self) -> &'static str {"
    yield "        match self {"
    yield from (f'            Self::{op["rust"]} => "{op["name"]}",' for op in isa["opcodes"])
    yield "        }"
    yield "    }"
    yield "}"
    yield ""
    yield "/// Some bits of one of the words."
    yield "#[derive(Debug, Clone, Copy, PartialEq, Eq)]"
    yield "pub(super) struct Field {"
    yield "    /// Number of the word."
    yield "    pub(super) word: usize,"
    yield "    /// The lowest bit."
    yield "    pub(super) low: u32,"
    yield "    /// How many bits."
    yield "    pub(super) bits: u32,"
    yield "}"
    for field in isa["fields"]:
        name, place = (
            field["name"].upper(),
            f"word: {field['word']}, low: {field['low']}, bits: {field['bits']}",
        )
        yield ""
        yield f"/// {field['is'][0].upper()}{field['is'][1:]}: `{_bits(field)}`."
        yield f"pub(super) const {name}: Field = Field {{ {place} }};"


def cpp(isa: Table) -> Iterator[str]:
    """Yield the lines of the header."""
    yield f"// Opcodes and fields of the compact core's instructions. Made from {ORIGIN}."
    yield "#pragma once"
    yield ""
    yield "#include <cstdint>"
    yield ""
    yield "namespace isa {"
    yield ""
    yield "enum Opcode : unsigned {"
    yield from (f"  k{op['rust']} = 0x{op['code']:02x},  // {op['does']}" for op in isa["opcodes"])
    yield "};"
    yield ""
    yield "// Some bits of one of the four words."
    yield "struct Field {"
    yield "  unsigned word, low, bits;"
    yield ""
    mask = "bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1"
    yield f"  std::uint64_t mask() const {{ return {mask}; }}"
    yield "  std::uint64_t get(const std::uint64_t* w) const { return w[word] >> low & mask(); }"
    yield "  void put(std::uint64_t* w, std::uint64_t value) const { w[word] |= (value & mask()) << low; }"
    yield "};"
    yield ""
    for field in isa["fields"]:
        place = f"{{{field['word']}, {field['low']}, {field['bits']}}}"
        yield f"constexpr Field {field['name']}{place};  // {field['is']}"
    yield ""
    yield "}  // namespace isa"


def page(isa: Table) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Instructions of the compact core"
    yield ""
    yield "After this page you can read an instruction of the core, bit by bit."
    yield ""
    yield f"<!-- Made from {ORIGIN}. -->"
    yield ""
    yield "An instruction has 32 bytes: four little-endian words w0 … w3. Addresses count units of 64 bytes."
    core = "[The core](../rtl/core/README.md#instruction)"
    yield f"{core} says which operands go together, and in what order errors are found."
    yield ""
    yield "## Opcodes"
    yield ""
    yield f"{isa['names'][0].upper()}{isa['names'][1:]}."
    yield ""
    yield "| opcode | code | does | takes |"
    yield "|---|---|---|---|"
    for op in isa["opcodes"]:
        yield f"| `{op['name']}` | 0x{op['code']:02x} | {op['does']} | {op['takes']} |"
    yield ""
    yield "## Fields"
    yield ""
    yield "| bits | name | is |"
    yield "|---|---|---|"
    for field in isa["fields"]:
        yield f"| {_bits(field)} | `{field['name']}` | {field['is']} |"


PRINTED = {
    RTL / "common" / "src" / "rm_isa_pkg.sv": systemverilog,
    ROOT / "crates" / "machine" / "src" / "compact" / "isa" / "printed.rs": rust,
    RTL / "core" / "test" / "instructions.h": cpp,
    ROOT / "docs" / "instructions.md": page,
}


def files() -> dict[Path, str]:
    """Return the files and what they hold.

    Raises
    ------
    InstructionError
        As `table`.
    """
    isa = table()
    return {path: "\n".join(of(isa)) + "\n" for path, of in PRINTED.items()}
