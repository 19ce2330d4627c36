"""How rows stand in ciphertexts: along the slots with a ciphertext a feature, or each in one ciphertext."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ringmill.compiled import Compiled
from ringmill.errors import RingmillError
from ringmill.models.columns import Columns, Context
from ringmill.models.features import Array, Features
from ringmill.models.records import Sketch, Stage, Traced, planned
from ringmill.trace import kernel, vector
from ringmill.trace.stack import Stack

#: Whether rows stand along the slots, or a record in one ciphertext; or what is predicted to be faster.
Layout = Literal["auto", "rows", "record"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
#: Seconds to encrypt, for each coefficient of a ciphertext: on one core of Zen 4, as the shipped costs are.
ENCRYPTION = 1e-7


@dataclass(frozen=True, slots=True)
class Held:
    """A compiled model, and the places of its values in the slots of a record; none for rows."""

    compiled: Compiled
    stages: tuple[Stage, ...] = ()

    @property
    def seconds(self) -> float:
        """Seconds to encrypt and evaluate, as predicted for one core."""
        compiled = self.compiled
        coefficients = len(compiled.signature.input_parts) * 2 * compiled.params.slots
        return float(compiled.work()["seconds"]) + ENCRYPTION * coefficients


@dataclass(frozen=True, slots=True)
class Layouts:
    """What a model is compiled from.

    Attributes
    ----------
        features: what is encrypted.
        context: of the model, which has learnt.
        scaled: from base columns to results over their largest calibrated size.
        encrypted: the results that depend on the features.
        rows: rows of one evaluation; the ring is filled without.
        options: of ``Kernel.compile``.
    """

    features: Features
    context: Context
    scaled: Callable[[Sequence[Any]], Columns]
    encrypted: Array
    rows: int | None
    options: dict[str, int]

    def held(self, layout: Layout) -> Held:
        """Compile with a layout; with "auto" the one that is predicted to be faster.

        A full ring is used best by rows along its slots, so "auto" tries a record where rows are given alone.

        Raises
        ------
            ModelError: code ``Layout``, for a model that cannot have a record in one ciphertext.
            ParameterError, ProgramError, KernelError: what the kernel is refused with.
        """
        wanted: Layout = "rows" if layout == "auto" and self.rows is None else layout
        found: list[Held] = []
        refusals: list[RingmillError] = []
        for name, compiled in (("rows", self._in_rows), ("record", self._in_records)):
            if wanted not in ("auto", name):
                continue
            try:
                found.append(compiled())
            except RingmillError as refused:
                refusals.append(refused)
        if not found:
            raise refusals[0]
        # Of equals the first: rows.
        best = min(found, key=lambda one: one.seconds) if found[1:] else found[0]
        self.features.spread = bool(best.stages)
        return best

    def _compiled(self, results: Callable[[Any], Any], record: Any) -> Compiled:
        return kernel(results).compile(record, batch=self.rows or True, **self.options)

    def _in_rows(self) -> Held:
        def results(x: Any) -> Any:
            self.context.begin()
            unit = self.scaled(x.columns)
            return Stack([unit.evaluated(int(k)) for k in self.encrypted])

        return Held(self._compiled(results, vector(len(self.features.varying), packing="scalars")))

    def _in_records(self) -> Held:
        def evaluated(carrier: Sketch | Traced) -> Any:
            self.context.begin(carrier=carrier)
            every = carrier.base()
            unit = self.scaled([every[at] for at in self.features.varying]).chosen(self.encrypted)
            ((made,),) = carrier.values([unit], "results")
            return made

        # Features that do not vary keep their slots, or the others would lose their grid.
        sketch = Sketch(self.features.count)
        evaluated(sketch)
        stages = planned(sketch)

        def results(x: Any) -> Any:
            return evaluated(Traced(x, sketch, stages))

        return Held(self._compiled(results, vector(self.features.count)), stages)
