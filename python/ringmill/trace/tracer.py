"""A kernel run on symbolic values: in the fewest slots that hold them, with functions close enough."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringmill._checks.requirements import PRECISION, precision_of
from ringmill._native import Params
from ringmill.errors import KernelError, RingmillError
from ringmill.trace.base import parts_of
from ringmill.trace.bounds import positive
from ringmill.trace.cut import Cut
from ringmill.trace.function import Function
from ringmill.trace.graph import Graph
from ringmill.trace.layout import MOST_SLOTS, power_of_two
from ringmill.trace.marks import tracing
from ringmill.trace.private import Private, Sizes, replaced
from ringmill.trace.program import Traced
from ringmill.trace.samples import Samples, checked, declared, sized
from ringmill.trace.several import Several
from ringmill.trace.signature import MOST_CIPHERTEXTS, Result, Signature
from ringmill.trace.spec import Spec, cut, slots_for
from ringmill.trace.stack import Stack
from ringmill.trace.symbol import Symbol
from ringmill.trace.where import MissingError, MoreSlotsError, raised, refuse

# Slots of the ciphertexts that large arguments are cut over, until parameters say how many theirs have.
CUT_SLOTS = 1 << 12

# How often a kernel is traced anew for closer approximations.
CLOSER = 8


def most_slots(params: object) -> int:
    """Slots of a ciphertext at most: those of the parameters, if any are given."""
    return params.slots if isinstance(params, Params) else MOST_SLOTS


@dataclass(frozen=True, slots=True)
class Known:
    """What a trace goes by: the size of arguments, what functions may err by, samples, slots at most.

    ``sizes`` are those of private constants.
    """

    magnitude: float | None
    tolerance: float
    samples: Samples
    most: int
    sizes: Sizes


def revealed(value: Any) -> Any:
    """A clear argument with its private numbers, for code that runs in the clear."""
    return replaced(value, Private.revealed)


class Tracer(Function):
    """A function that can be traced."""

    def trace(
        self, /, *args: Any, magnitude: float | None = None, precision: int | None = None, **kwargs: Any
    ) -> Traced:
        """Run the function on symbolic values.

        Encrypted arguments are given as ``ringmill.vector(n)``, ``ringmill.matrix(r, c)`` or
        ``ringmill.scalar()``; everything else is plaintext that becomes part of the program. A bound on the
        size of the arguments, where it is known, can save masks before polynomials; the program is for
        arguments up to that size then. Functions such as ``numpy.exp`` become polynomials on the
        intervals that follow from it and from bounds of the arguments, within the bits of ``precision`` (20).
        Raises ``KernelError``, naming the line, where the kernel asks for what encrypted values cannot give.
        """
        bound = self._bound(args, kwargs)
        clear = {name: revealed(value) for name, value in bound.items()}
        return self._trace(clear, magnitude, precision=precision)

    def _trace(
        self,
        arguments: dict[str, Any],
        magnitude: float | None,
        least: int = 1,
        *,
        precision: int | None = None,
        calibrate: Any = None,
        params: Params | None = None,
    ) -> Traced:
        """Run the function in as few slots as hold its values, ``least`` or more.

        Functions are approximated so that results keep half of the error that the precision allows; the
        other half is for encryption.
        """
        known = {n: v for n, v in arguments.items() if isinstance(v, Spec)}
        seen: Samples = {} if calibrate is None else checked(calibrate, known, magnitude)
        arguments = {**arguments, **(declared(known, seen, magnitude) if seen else {})}
        arguments, magnitude = sized(arguments, None if magnitude is None else positive(magnitude))
        most = most_slots(params)

        def once(tolerance: float) -> Traced:
            known = Known(magnitude, tolerance, seen, most, {})
            return self._fitting(arguments, known, least)

        return self._close(once, precision, magnitude)

    def _close(
        self, once: Callable[[float], Traced], precision: int | None, magnitude: float | None
    ) -> Traced:
        """Trace with closer approximations until results keep half of what the precision allows."""
        bits = precision_of(precision)
        allowed = 2.0 ** -(1 + (PRECISION if bits is None else bits))
        tolerance = allowed / 2
        for _ in range(CLOSER):
            traced = once(tolerance)
            if magnitude is None or not traced.chooses:
                return traced
            worst = max(traced.approximation_errors(magnitude, chosen=True).values(), default=0.0)
            if worst <= allowed:
                return traced
            tolerance *= 0.75 * allowed / worst
            if not tolerance > 2.0**-60:
                break
        refuse(
            "Precision",
            f"functions in {self.function.__name__} cannot be approximated so closely that results keep "
            f"{bits if bits is not None else PRECISION} bits",
            f"Ask for precision={max(int(-math.log2(worst)) - 1, 1)} or less, or keep errors from growing",
            next(f.where for f in traced.graph.found if f.chosen),
        )

    def _fitting(self, arguments: dict[str, Any], known: Known, least: int) -> Traced:
        """Trace in the least number of slots that holds all values.

        Arguments that no ciphertext holds are cut over several, of ``CUT_SLOTS`` or of ``least``.
        """
        specs = {name: value for name, value in arguments.items() if isinstance(value, Spec)}
        slots = max(slots_for(specs), least)
        held = 0  # slots that arguments are cut for
        if slots > known.most:
            held = known.most if known.most < MOST_SLOTS else min(max(CUT_SLOTS, least), MOST_SLOTS)
            specs = self._cut(specs, held)
            slots = max(slots_for(specs), held)
        # What fits one ciphertext of the largest ring is refused later where the parameters have fewer slots.
        most = known.most if held else MOST_SLOTS
        while slots <= most:
            try:
                return self._traced({**arguments, **specs}, specs, slots, known, held)
            except MoreSlotsError as more:
                # More than there were, whatever was asked for: so this ends.
                slots = max(power_of_two(more.slots), 2 * slots)
            if held and slots > known.most:
                # Shorter parts take fewer slots, until a part is one element.
                held = held * known.most // slots
                if not held:
                    break
                specs, slots = self._cut(specs, held), known.most
        refuse(
            "TooManySlots",
            f"{self.function.__name__} needs {slots} slots in a ciphertext; the largest has {most}",
            "Arguments are cut over ciphertexts along their first axis: give fewer elements along the "
            'others, or pack matrices by columns (packing="columns")',
            self.where,
        )

    def _cut(self, specs: dict[str, Spec], slots: int) -> dict[str, Spec]:
        """Large arguments in ciphertexts of ``slots`` slots."""
        specs = cut(specs, slots)
        count = sum(spec.ciphertexts for spec in specs.values())
        if count > MOST_CIPHERTEXTS:
            refuse(
                "TooManySlots",
                f"the arguments of {self.function.__name__} take {count} ciphertexts of {slots} slots; a "
                f"kernel takes {MOST_CIPHERTEXTS} at most",
                "Split the data, and run the kernel on each part",
                self.where,
            )
        return specs

    def _traced(
        self, arguments: dict[str, Any], specs: dict[str, Spec], slots: int, known: Known, held: int
    ) -> Traced:
        real = all(s.real for s in specs.values())
        graph = Graph(slots, known.magnitude if real else None, self.where)
        graph.tolerance, graph.most, graph.sizes = known.tolerance, known.most, known.sizes
        graph.held = held or slots
        values = {name: v.symbols(graph, name) if isinstance(v, Spec) else v for name, v in arguments.items()}
        for name, records in known.samples.items():
            for part, value in zip(specs[name].parts(name), parts_of(values[name]), strict=True):
                packed = [specs[name].pack(name, record, slots)[part].real for record in records]
                graph.samples[value.node] = np.array(packed)
        token = tracing.set(graph)
        try:
            returned = self._call(values)
        finally:
            tracing.reset(token)
        form, outputs = self._outputs(graph, returned)
        needed = set(graph.live()) if graph.deferred else set()
        for node, refused in graph.deferred:
            if node in needed:
                raise refused
        graph.relax()
        graph.reaches.clear()  # 16 bytes a slot each
        constants = [graph.nodes[i].value for i in graph.live() if graph.nodes[i].plain]
        real = all(s.real for s in specs.values()) and all(bool(np.all(np.imag(c) == 0)) for c in constants)  # type: ignore[arg-type]
        name = self.function.__name__
        name = name if name.isidentifier() and name.isascii() else "kernel"
        return Traced(graph, Signature(name, graph.slots, specs, outputs, real, form=form), known.magnitude)

    def _call(self, values: dict[str, Any]) -> Any:
        positional = [n for n, p in self.parameters.parameters.items() if p.kind is p.POSITIONAL_ONLY]
        named = {n: v for n, v in values.items() if n not in positional}
        try:
            return self.function(*[values[n] for n in positional], **named)
        except RecursionError as error:
            raise KernelError(
                f"{self.where}: {self.function.__name__} recurses without end while it is traced. "
                "Recursion must end by a plaintext argument.",
                "Recursion",
                {"file": self.where.file, "line": self.where.line},
            ) from error
        except (RingmillError, MoreSlotsError):
            raise
        except MissingError as error:
            refuse("UnsupportedConstruct", str(error), error.remedy, raised(error))
        except Exception as error:
            text = str(error).strip().rstrip(".")
            refuse(
                "Raised",
                type(error).__name__ + (f": {text}" if text else ""),
                "A kernel is called once, with symbols in place of encrypted arguments",
                raised(error),
            )

    def _outputs(self, graph: Graph, returned: Any) -> tuple[str, dict[str, Result]]:
        """How results stand together, and the results."""
        form, named = _named_results(returned)
        outputs: dict[str, Result] = {}
        for name, value in named:
            if not isinstance(value, (Symbol, Several)):
                refuse(
                    "NotEncrypted",
                    f"{self.function.__name__} returns {type(value).__name__} as {name!r}",
                    "Return encrypted values, a tuple or a dict of them; plaintext results need no kernel",
                    self.where,
                )
            parts = parts_of(value)
            if any(part.graph is not graph for part in parts):
                refuse(
                    "ForeignValue",
                    "a value of another kernel's trace cannot be used",
                    "Use only this kernel's arguments",
                    self.where,
                )
            several = isinstance(value, Several)
            labels = tuple(f"{name}.{j}" if several else name for j in range(len(parts)))
            # 1 and "1" are one name; a column of "a" may be called as another result is, "a.0".
            others = {label for other in outputs.values() for label in other.parts}
            if name in outputs or others.intersection(labels):
                refuse(
                    "SameName",
                    f"{self.function.__name__} returns two results that would both be called {name!r}",
                    "Give each a name of its own",
                    self.where,
                )
            for label, part in zip(labels, parts, strict=True):
                graph.output(label, part.node)
            cut_axis = value.axis if isinstance(value, Cut) else None
            layouts = tuple(part.layout for part in parts)
            outputs[name] = Result(labels, layouts, isinstance(value, Stack), cut_axis)
        if not outputs:
            refuse(
                "NotEncrypted", f"{self.function.__name__} returns nothing", "Return the results", self.where
            )
        return form, outputs


def _named_results(returned: Any) -> tuple[str, list[tuple[str, Any]]]:
    """How results stand together, and their names."""
    if isinstance(returned, tuple) and hasattr(returned, "_fields"):
        return "namedtuple", list(zip(returned._fields, returned, strict=True))
    if isinstance(returned, (tuple, list)):
        form = "tuple" if isinstance(returned, tuple) else "list"
        return form, [(f"out{i}", value) for i, value in enumerate(returned)]
    if isinstance(returned, dict):
        return "dict", [(str(name), value) for name, value in returned.items()]
    if dataclasses.is_dataclass(returned) and not isinstance(returned, (type, Symbol, Several)):
        return "dict", [(f.name, getattr(returned, f.name)) for f in dataclasses.fields(returned)]
    return "", [("out", returned)]
