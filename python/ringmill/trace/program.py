"""A traced kernel: its HE program, and what is known of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ringmill.trace import bounds
from ringmill.trace.found import errors
from ringmill.trace.graph import Graph, Node
from ringmill.trace.signature import Signature
from ringmill.trace.text import in_lanes, program_text


@dataclass(frozen=True, slots=True)
class Traced:
    """A kernel traced for arguments of known shapes, and of known size if there is a magnitude.

    ``folded`` is an equal program in place of the one that was written, if there is one. The graph is of one
    record, also where ``signature`` has many lanes.
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
        return in_lanes(self.folded or self.written, self.signature.lanes or 1)

    def in_lanes(self, lanes: int) -> Traced:
        """The same kernel over ``lanes`` records at once; 0 is that over one, without an axis for records."""
        own = self.signature.slots // (self.signature.lanes or 1)
        return replace(self, signature=replace(self.signature, slots=own * (lanes or 1), lanes=lanes))

    @property
    def written(self) -> str:
        """The program as the kernel says it, of one record."""
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
            for part, layout in zip(result.parts, result.layouts, strict=True):
                slots = layout.index() if layout.shape else np.arange(self.graph.slots)
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
