"""A traced kernel: its HE program, and how clients pack its arguments and read its results."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill import bundle
from ringmill.errors import FileFormatError, MismatchError, ProgramError, fail
from ringmill.trace import bounds
from ringmill.trace.found import errors
from ringmill.trace.graph import Graph, Node
from ringmill.trace.layout import Layout
from ringmill.trace.spec import Slots, Spec, same_shape
from ringmill.trace.text import program_text

FORMAT = "ringmill-kernel"
VERSION = 1

# What a file may ask for: as many ciphertexts as a bundle has parts beside its header, axes as NumPy has at
# least, and names that repeat in those of all their ciphertexts.
MOST_CIPHERTEXTS = bundle.MAX_PARTS - 1
MOST_AXES = 32
LONGEST_NAME = 1 << 10


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a kernel: the ciphertexts that carry it and where its elements sit."""

    parts: tuple[str, ...]
    layout: Layout
    stacked: bool

    def read(self, slots: Mapping[str, ArrayLike], *, real: bool) -> NDArray[Any]:
        """The logical array, from decrypted slot vectors."""
        arrays = [self.layout.take(slots[part]) for part in self.parts]
        whole = np.stack(arrays, axis=-1) if self.stacked else arrays[0]
        return whole.real.copy() if real else whole

    def written(self, slots: Mapping[str, Slots], name: str, values: ArrayLike) -> dict[str, Slots]:
        """The same slot vectors with ``values`` in place of the logical array."""
        shape = (*self.layout.shape, len(self.parts)) if self.stacked else self.layout.shape
        array = same_shape(f"result {name!r}", values, shape)
        columns = np.moveaxis(array, -1, 0) if self.stacked else [array]
        return {
            part: self.layout.put(slots[part], column)
            for part, column in zip(self.parts, columns, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Signature:
    """What client and server must agree on beside the program's operations."""

    name: str
    slots: int
    inputs: dict[str, Spec]
    outputs: dict[str, Result]
    real: bool

    @property
    def input_parts(self) -> list[str]:
        """Names of all input ciphertexts."""
        return [part for name, spec in self.inputs.items() for part in spec.parts(name)]

    @property
    def output_parts(self) -> list[str]:
        """Names of all result ciphertexts."""
        return [part for result in self.outputs.values() for part in result.parts]

    def pack(self, arguments: Mapping[str, ArrayLike], magnitude: float = math.inf) -> dict[str, Slots]:
        """Slot vectors for every input ciphertext.

        Raises
        ------
            ProgramError: arguments that the kernel has not, or that are missing.
            EncodingError: values that do not fit, or are larger than ``magnitude``.
        """
        unknown = sorted(set(arguments) - set(self.inputs))
        missing = sorted(set(self.inputs) - set(arguments))
        if unknown or missing:
            what = (
                f"misses {', '.join(missing)}"
                if missing
                else f"has no encrypted argument {', '.join(unknown)}"
            )
            fail(
                ProgramError,
                "Arguments",
                f"Kernel {self.name!r} {what}; its encrypted arguments are {', '.join(self.inputs)}.",
                missing=missing,
                unknown=unknown,
            )
        packed: dict[str, Slots] = {}
        for name, spec in self.inputs.items():
            packed.update(spec.pack(name, arguments[name], self.slots, magnitude))
        return packed

    def unpack(self, slots: Mapping[str, ArrayLike]) -> Any:
        """Results as arrays: one array, or a dict by name when the kernel returns several."""
        arrays = {name: result.read(slots, real=self.real) for name, result in self.outputs.items()}
        return arrays["out"] if set(arrays) == {"out"} else arrays

    def written(self, slots: Mapping[str, Slots], results: Any) -> dict[str, Slots]:
        """The same slot vectors with other results, given as ``unpack`` gives them.

        Raises
        ------
            MismatchError: other results than the kernel has, or of another shape.
        """
        given = results if isinstance(results, Mapping) else {"out": results}
        if set(given) != set(self.outputs):
            fail(
                MismatchError,
                "Results",
                f"Kernel {self.name!r} has the results {', '.join(self.outputs)}, but "
                f"{', '.join(map(str, given)) or 'none'} are expected. Give what decrypt() should give.",
                expected=sorted(self.outputs),
                found=sorted(map(str, given)),
            )
        written: dict[str, Slots] = {}
        for name, result in self.outputs.items():
            written.update(result.written(slots, name, given[name]))
        return written

    def to_json(self) -> dict[str, Any]:
        """A JSON-serialisable description."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "slots": self.slots,
            "real": self.real,
            "inputs": {
                n: {
                    "shape": s.shape,
                    "packing": s.packing,
                    "real": s.real,
                    **({} if s.low is None else {"low": s.low, "high": s.high}),
                }
                for n, s in self.inputs.items()
            },
            "outputs": {
                n: {
                    "parts": r.parts,
                    "shape": r.layout.shape,
                    "strides": r.layout.strides,
                    "stacked": r.stacked,
                }
                for n, r in self.outputs.items()
            },
        }

    @classmethod
    def from_json(cls, data: Any) -> Signature:
        """Read what ``to_json`` wrote; ``FileFormatError`` on anything else."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            fail(
                FileFormatError, "NotAKernel", f"this is not a {FORMAT} file. Make one with Compiled.save()."
            )
        if data.get("version") != VERSION:
            fail(
                FileFormatError,
                "Version",
                f"the kernel file has version {data.get('version')!r}, this Ringmill reads {VERSION}. "
                "Compile the kernel again.",
            )
        try:
            return cls._parsed(data)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            fail(
                FileFormatError,
                "Damaged",
                f"the kernel file is damaged: {error!r}. Compile the kernel again.",
            )

    @classmethod
    def _parsed(cls, data: dict[str, Any]) -> Signature:
        slots = int(data["slots"])
        if slots < 1 or slots & (slots - 1) or slots > 1 << 16:
            raise ValueError(f"{slots} slots")
        inputs = {
            str(n): Spec(_sizes(s["shape"]), s["packing"], bool(s["real"]), *_declared(s))
            for n, s in data["inputs"].items()
        }
        for name, spec in inputs.items():
            axes = {"slots": len(spec.shape), "columns": 2, "scalars": 1}[spec.packing]
            if len(spec.shape) != axes or len(name) > LONGEST_NAME:
                raise ValueError("an argument has another shape than its packing, or too long a name")
            if spec.slots_needed > slots:
                raise ValueError("an argument does not fit the slots")
        if sum(spec.ciphertexts for spec in inputs.values()) > MOST_CIPHERTEXTS:
            raise ValueError(f"the arguments are more than {MOST_CIPHERTEXTS} ciphertexts")
        outputs = {}
        for name, r in data["outputs"].items():
            shape, strides = _sizes(r["shape"]), _sizes(r["strides"])
            last = sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
            if max(last, math.prod(shape) - 1) >= slots or not r["parts"]:
                raise ValueError("a result does not fit the slots")
            layout = Layout(shape, strides, slots)
            outputs[str(name)] = Result(tuple(str(p) for p in r["parts"]), layout, bool(r["stacked"]))
        if not inputs or not outputs:
            raise ValueError("no arguments or no results")
        return cls(str(data["name"]), slots, inputs, outputs, bool(data["real"]))


def _declared(given: dict[str, Any]) -> tuple[float | None, float | None]:
    """Bounds of an argument."""
    if "low" not in given:
        return None, None
    low, high = float(given["low"]), float(given["high"])
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"bounds from {low} to {high}")
    return low, high


def _sizes(given: list[Any]) -> tuple[int, ...]:
    """Sizes or strides of axes, each 1 or more."""
    sizes = tuple(int(k) for k in given)
    if len(sizes) > MOST_AXES or min(sizes, default=1) < 1:
        raise ValueError(f"axes {given!r:.80}")
    return sizes


@dataclass(frozen=True, slots=True)
class Traced:
    """A kernel traced for arguments of known shapes, and of known size if there is a magnitude.

    ``folded`` is an equal program in place of the one that was written, if there is one.
    """

    graph: Graph
    signature: Signature
    magnitude: float | None = None
    folded: str | None = None

    @property
    def name(self) -> str:
        """Name of the kernel's function."""
        return self.signature.name

    @property
    def text(self) -> str:
        """The HE program in full (docs/he-program.md)."""
        return self.folded or self.written

    @property
    def written(self) -> str:
        """The program as the kernel says it."""
        return program_text(self.graph, self.name)

    @property
    def depth(self) -> int:
        """Levels the program needs before any management: products on its longest path."""
        depths = self.graph.depths()
        return max(depths[node] for _, node in self.graph.outputs)

    @property
    def operations(self) -> dict[str, int]:
        """How many operations of each kind the program has."""
        return dict(Counter(self.graph.nodes[i].op for i in self.graph.live()))

    def bound(self, magnitude: float) -> float:
        """The greatest size that any value can have when no argument is larger than ``magnitude``."""
        return bounds.largest(self.graph, magnitude, real=self.signature.real)

    def leaves_interval(self, magnitude: float) -> tuple[Node, float] | None:
        """The first value that arguments of this magnitude bring out of its declared interval."""
        return bounds.leaving(self.graph, magnitude, real=self.signature.real)

    def approximation_errors(self, magnitude: float, *, chosen: bool = False) -> dict[str, float]:
        """What functions that polynomials stand for put into the worst element of every output ciphertext.

        ``chosen`` counts those alone that were chosen while the kernel was traced.
        """
        found = errors(self.graph, magnitude, real=self.signature.real, chosen=chosen)
        nodes = dict(self.graph.outputs)
        worst = {}
        for result in self.signature.outputs.values():
            slots = result.layout.index() if result.layout.shape else np.arange(self.graph.slots)
            for part in result.parts:
                if nodes[part] in found:
                    worst[part] = float(np.max(found[nodes[part]][slots]))
        return worst

    @property
    def chooses(self) -> bool:
        """Whether forms of functions were chosen while it was traced."""
        return any(found.chosen for found in self.graph.found)

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {op}" for op, n in sorted(self.operations.items()))
        return f"<kernel {self.name}: {self.signature.slots} slots, depth {self.depth}; {counts}>"
