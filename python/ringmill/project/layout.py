"""Where limbs lie in the core's memory, and its table of moduli: as JSON, C and Rust."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from ringmill._native import CoreImage
from ringmill.project.core import Core

_ORIGIN = "Written by `ringmill build`."
_ENTRY_WORDS = 17
_INSTRUCTION_BYTES = 32

_Place = tuple[str, int, str, int, bool, int]


def _facts(core: Core, image: CoreImage) -> dict[str, int]:
    """The numbers of `ringmill_program`, in the order of its fields."""
    return {
        "word_bits": core.word_bits,
        "butterflies": core.butterflies,
        "kind": image.kind,
        "bus_bits": core.bus_bits,
        "log_n": image.log_n,
        "factor_bits": image.factor_bits,
        "moduli": len(image.table),
        "input_limbs": image.input_limbs,
        "places": len(image.inputs),
        "output_limbs": len(image.outputs),
        "instructions": len(image.instructions) // _INSTRUCTION_BYTES,
        "address": image.address,
        "bytes": image.memory,
    }


def _entry(place: _Place) -> dict[str, Any]:
    group, limb, kind, modulus, scaled, address = place
    return {
        "group": group,
        "limb_of_group": limb,
        "class": kind,
        "modulus": modulus,
        "scaled": scaled,
        "address": address,
    }


def to_json(core: Core, image: CoreImage) -> str:
    """For hosts and people."""
    content = {
        **_facts(core, image),
        "limb_program_sha256": hashlib.sha256(image.limb_program.encode()).hexdigest(),
        "table": [{"q": row[0], "aux": row[1], "roots": row[2:]} for row in image.table],
        "inputs": [{"limb": limb, **_entry(place)} for limb, place in image.inputs],
        "outputs": [{"limb": limb, **_entry(place)} for limb, place in enumerate(image.outputs)],
    }
    return json.dumps(content, indent=1) + "\n"


def _rows(image: CoreImage) -> list[list[int]]:
    return [[*row, *[0] * (_ENTRY_WORDS - len(row))] for row in image.table]


def _places(image: CoreImage) -> tuple[list[tuple[int, _Place]], list[tuple[int, _Place]]]:
    return sorted(image.inputs), list(enumerate(image.outputs))


def c_header(core: Core, image: CoreImage) -> str:
    """The declaration, and what the cycle model says of which memory."""
    return (
        f"/* What this folder's program needs. {_ORIGIN} */\n"
        "#ifndef RINGMILL_LAYOUT_H\n#define RINGMILL_LAYOUT_H\n\n"
        '#include "ringmill_core.h"\n\nextern const ringmill_program RINGMILL_PROGRAM;\n\n'
        "/* Cycles of the first run and of later ones by the cycle model, for a memory like this. */\n"
        f"#define RINGMILL_MODEL_FIRST_CYCLES {image.first_cycles}u\n"
        f"#define RINGMILL_MODEL_CYCLES {image.cycles}u\n"
        f"#define RINGMILL_MODEL_LATENCY {core.memory_latency}u\n"
        f"#define RINGMILL_MODEL_BEAT_CYCLES {core.beat_cycles}u\n\n#endif\n"
    )


def c_source(core: Core, image: CoreImage) -> str:
    """The tables."""

    def places(name: str, of: Iterable[tuple[int, _Place]]) -> str:
        lines = "".join(
            f"  {{{limb}, {place[3]}, {int(place[4])}, {place[5]:#x}}}, /* {place[0]}[{place[1]}] */\n"
            for limb, place in of
        )
        return f"static const ringmill_place {name}[] = {{\n{lines}}};\n\n"

    inputs, outputs = _places(image)
    rows = "".join(f"  {{{', '.join(f'UINT64_C({x})' for x in row)}}},\n" for row in _rows(image))
    fields = "".join(f"  .{name} = {value},\n" for name, value in _facts(core, image).items())
    return (
        f'/* {_ORIGIN} */\n#include "layout.h"\n\n'
        f"static const uint64_t kTable[][RINGMILL_ENTRY_WORDS] = {{\n{rows}}};\n\n"
        + places("kInputs", inputs)
        + places("kOutputs", outputs)
        + f"const ringmill_program RINGMILL_PROGRAM = {{\n{fields}"
        "  .table = kTable,\n  .inputs = kInputs,\n  .outputs = kOutputs,\n};\n"
    )


def rust(core: Core, image: CoreImage) -> str:
    """The same for the Rust driver."""

    def places(of: Iterable[tuple[int, _Place]]) -> str:
        return "".join(
            f"        Place {{ limb: {limb}, modulus: {place[3]}, scaled: {str(place[4]).lower()}, "
            f"address: {place[5]:#x} }}, // {place[0]}[{place[1]}]\n"
            for limb, place in of
        )

    skipped = ("moduli", "places", "output_limbs")
    facts = {name: value for name, value in _facts(core, image).items() if name not in skipped}
    wide = ("instructions", "address", "bytes")
    declared = "".join(f"    pub {name}: {'u64' if name in wide else 'u32'},\n" for name in facts)
    fields = "".join(f"    {name}: {value},\n" for name, value in facts.items())
    inputs, outputs = _places(image)
    rows = "".join(f"        [{', '.join(map(str, row))}],\n" for row in _rows(image))
    return f"""//! What this folder's program needs. {_ORIGIN}

/// A copy of an input limb in memory, or an output limb.
#[derive(Debug, Clone, Copy)]
pub struct Place {{
    /// Number of the limb among all inputs, or outputs.
    pub limb: u32,
    /// Row of the table.
    pub modulus: u32,
    /// Stored times 2^R modulo q.
    pub scaled: bool,
    /// In bytes.
    pub address: u64,
}}

/// What a program needs: the core, sizes, table of moduli (q, aux, roots of the stages, zeros), places.
#[derive(Debug, Clone, Copy)]
pub struct Program {{
{declared}    pub table: &'static [[u64; {_ENTRY_WORDS}]],
    pub inputs: &'static [Place],
    pub outputs: &'static [Place],
}}

/// Cycles of the first run by the cycle model, …
pub const MODEL_FIRST_CYCLES: u64 = {image.first_cycles};
/// … of later ones, …
pub const MODEL_CYCLES: u64 = {image.cycles};
/// … for a memory of this latency in cycles …
pub const MODEL_LATENCY: u32 = {core.memory_latency};
/// … and this number of cycles from one beat to the next.
pub const MODEL_BEAT_CYCLES: u32 = {core.beat_cycles};

/// This folder's program.
pub static PROGRAM: Program = Program {{
{fields}    table: &[
{rows}    ],
    inputs: &[
{places(inputs)}    ],
    outputs: &[
{places(outputs)}    ],
}};
"""


def summary(image: CoreImage) -> str:
    """How much of the memory is what, as a Markdown table."""
    n = 8 << image.log_n
    classes = {"data": "data, before every run", "key": "keys", "plain": "constants"}
    lines = ["| what | limbs in memory | bytes |", "|---|---|---|"]
    for kind, text in classes.items():
        count = sum(place[2] == kind for _, place in image.inputs)
        lines.append(f"| {text} | {count} | {count * n} |")
    results = len(image.outputs)
    instructions = len(image.instructions)
    rest = image.address - n * (len(image.inputs) + results)
    lines += [
        f"| results | {results} | {results * n} |",
        f"| space for intermediate limbs | {rest // n} | {rest} |",
        f"| instructions ({instructions // _INSTRUCTION_BYTES}) | | {instructions} |",
    ]
    return "\n".join(lines)
