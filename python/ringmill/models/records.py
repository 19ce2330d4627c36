"""A record in one ciphertext: columns that stand side by side in the slots of one vector.

Every affine part of a model becomes a linear map from the vectors before it. The places of its results decide
how many diagonals it has, and how many the next one has. A convolution has few if its results stay where they
were read, a dense layer if they stand close together. `planned` looks for the places that take the least key
switches in all, before anything is traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ringmill.models.columns import Columns
from ringmill.models.places import Slots, kept, rotations
from ringmill.trace.layout import Layout, power_of_two
from ringmill.trace.linear import mapped, matrix_vector
from ringmill.trace.where import MoreSlotsError

Array = NDArray[np.float64]

#: What a product with numbers in the clear costs, in key switches: about their ratio on a processor. And what
#: a level costs for a function of a vector, whose other slots a mask makes zero.
PRODUCT, MASK = 0.05, 8
#: Plans that are followed at once, and entries of the largest matrix that is written out.
BEAM, LARGEST = 6, 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A base column: element ``at`` of a vector."""

    vector: int
    at: int


@dataclass(frozen=True, slots=True)
class Map:
    """A linear map from one vector: element ``source[i]`` times ``weight[i]`` is in result ``target[i]``."""

    vector: int
    source: Slots
    target: Slots
    weight: Array


@dataclass(frozen=True, slots=True)
class Step:
    """Results that stand in the same places: the operands of a product, or of a function.

    Attributes
    ----------
        name: of what is done with them.
        count: results of each member.
        members: the maps that make one vector, for each.
    """

    name: str
    count: int
    members: tuple[tuple[Map, ...], ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """A planned step.

    Attributes
    ----------
        name: of what is done with its results.
        places: slot of each result.
        kept: whether results stay where their operands stand, or stand close together.
        written_out: for each member, for each map, whether it is a matrix that is written out.
        diagonals, rotations: of its maps, as estimated when plans are compared.
    """

    name: str
    places: Slots
    kept: bool
    written_out: tuple[tuple[bool, ...], ...]
    diagonals: int
    rotations: int


@dataclass(slots=True)
class Sketch:
    """The steps of a model, noted while it is evaluated without values."""

    width: int
    steps: list[Step] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def base(self) -> tuple[Place, ...]:
        """The features, as the elements of the first vector."""
        return self._vector(self.width)

    def _vector(self, count: int) -> tuple[Place, ...]:
        self.counts.append(count)
        return tuple(Place(len(self.counts) - 1, at) for at in range(count))

    def values(self, groups: Sequence[Columns], name: str) -> list[list[Any]]:
        """Nothing yet, but what it takes is noted."""
        self.steps.append(Step(name, groups[0].count, tuple(_maps(columns) for columns in groups)))
        return [[np.zeros(1)] for _ in groups]

    def columns(self, values: list[Any], scale: Array) -> Columns:
        """Results as base columns; those of numbers alone are numbers."""
        made = self._vector(len(scale))
        return Columns.of(made, scale) if any(self.steps[-1].members) else Columns.constant(scale)


class Traced:
    """The same steps on an encrypted vector, as planned."""

    def __init__(self, x: Any, sketch: Sketch, stages: Sequence[Stage]) -> None:
        least = slots_of(sketch.width, stages)
        if x.slots < least:
            raise MoreSlotsError(least)
        self._stages = iter(stages)
        self._vectors: list[tuple[Any, Slots]] = [(x, np.arange(sketch.width))]
        self._places: Slots = np.arange(0)

    def base(self) -> tuple[Place, ...]:
        """The features, as the elements of the first vector."""
        return tuple(Place(0, at) for at in range(len(self._vectors[0][1])))

    def values(self, groups: Sequence[Columns], name: str) -> list[list[Any]]:
        """For each group the vector of its columns."""
        stage = next(self._stages)
        self._places = stage.places
        return [[self._vector(columns, stage, which)] for which, columns in enumerate(groups)]

    def columns(self, values: list[Any], scale: Array) -> Columns:
        """A vector of results as base columns."""
        (value,) = values
        self._vectors.append((value, self._places))
        if isinstance(value, np.ndarray):
            return Columns.constant(value[self._places] * scale)
        made = tuple(Place(len(self._vectors) - 1, at) for at in range(len(scale)))
        return Columns.of(made, scale)

    def _vector(self, columns: Columns, stage: Stage, member: int) -> Any:
        x = self._vectors[0][0]
        places = stage.places
        reach = int(places.max()) + 1
        total: Any = None
        with x.graph.part(stage.name):
            maps = _maps(columns)
            for one, written_out in zip(maps, stage.written_out[member], strict=True):
                value, standing = self._vectors[one.vector]
                if written_out:
                    term = _product(one, value, standing, columns.count)
                else:
                    term = _moved(one, value, standing, places, alone=len(maps) == 1)
                total = term if total is None else total + term
            offset = np.zeros(reach)
            offset[places] = columns.offset
            return offset if total is None else total + offset if np.any(offset) else total


def _product(one: Map, value: Any, standing: Slots, count: int) -> Any:
    """A map as the product with a matrix; its results stand close together."""
    matrix = np.zeros((count, int(value.shape[0])), complex)
    matrix[one.target, standing[one.source]] = one.weight
    return matrix_vector(matrix, value)


def _moved(one: Map, value: Any, standing: Slots, places: Slots, *, alone: bool) -> Any:
    """A map by its diagonals, from where elements stand to their places."""
    source, target = standing[one.source], places[one.target]
    if alone and np.array_equal(source, target) and np.all(one.weight == 1):
        return value
    layout = Layout.contiguous((int(places.max()) + 1,), value.slots)
    return mapped(value, source, target, one.weight.astype(complex), layout)


def _maps(columns: Columns) -> tuple[Map, ...]:
    """The maps that columns are a sum of, one for each vector."""
    vectors = np.array([place.vector for place in columns.base], int)
    at = np.array([place.at for place in columns.base], int)
    found = []
    for vector in np.unique(vectors):
        rows = np.flatnonzero(vectors == vector)
        own = columns.weights[rows].tocoo()
        # A column may stand among the base columns twice: its weights are added.
        width = int(at.max()) + 1
        map_ = csc_array((own.data, (at[rows][own.row], own.col)), shape=(width, columns.count)).tocoo()
        inside = np.flatnonzero(map_.data)
        if len(inside):
            source, target = (part[inside].astype(np.int64) for part in (map_.row, map_.col))
            found.append(Map(int(vector), source, target, map_.data[inside]))
    return tuple(found)


# --- what places cost ---------------------------------------------------------------------------------


def _by_matrix(rows: int, reach: int, *, last: bool) -> tuple[int, float, int]:
    """Diagonals of a matrix that is written out, their cost, and its rotations.

    It has as many diagonals as its shorter side, and sums what is left of the longer one. Where rows are the
    shorter side, sums stand between the results too.
    """
    short, long = sorted((power_of_two(rows), power_of_two(reach)))
    turns = rotations(np.arange(short)) + (long // short).bit_length() - 1
    mask = 0 if last or rows >= reach else MASK
    return short, turns + PRODUCT * short + mask, turns


def _cost(
    step: Step, places: Slots, standing: Sequence[Slots], *, kept: bool, last: bool
) -> tuple[Stage, float]:
    """A step with results in some places, and its cost."""
    diagonals = turned = 0
    cost = 0.0
    written_out = []
    for member in step.members:
        forms = []
        for one in member:
            source, target = standing[one.vector][one.source], places[one.target]
            shifts = np.unique(source - target)
            turns = rotations(shifts)
            found = (len(shifts), turns + PRODUCT * len(shifts), turns)
            reach = int(standing[one.vector].max()) + 1
            matrix = _by_matrix(step.count, reach, last=last)
            forms.append(not kept and step.count * reach <= LARGEST and matrix[1] < found[1])
            if forms[-1]:
                found = matrix
            diagonals, cost, turned = diagonals + found[0], cost + found[1], turned + found[2]
        written_out.append(tuple(forms))
    return Stage(step.name, places, kept, tuple(written_out), diagonals, turned), cost


def _operands(step: Step, standing: Sequence[Slots]) -> list[Slots]:
    """The slots that each result reads."""
    parts: list[list[Slots]] = [[] for _ in range(step.count)]
    for one in (one for member in step.members for one in member):
        source = standing[one.vector][one.source]
        order = np.argsort(one.target, kind="stable")
        ends = np.searchsorted(one.target[order], np.arange(step.count + 1))
        for target in range(step.count):
            parts[target].append(source[order[ends[target] : ends[target + 1]]])
    return [np.concatenate(own) if own else np.zeros(0, np.int64) for own in parts]


def slots_of(width: int, stages: Sequence[Stage]) -> int:
    """Slots that a record of ``width`` features takes."""
    reach = max([width, *(int(stage.places.max()) + 1 for stage in stages)])
    return power_of_two(reach)


@dataclass(frozen=True, slots=True)
class _Plan:
    cost: float
    standing: tuple[Slots, ...]
    stages: tuple[Stage, ...]


def planned(sketch: Sketch) -> tuple[Stage, ...]:
    """Places for every step, with the least estimated cost among the plans that are followed.

    The last step stands close together, as it is decrypted.
    """
    widest = max([sketch.width, *(step.count for step in sketch.steps)])
    slots = power_of_two(widest)
    plans = [_Plan(0.0, (np.arange(sketch.width),), ())]
    for number, step in enumerate(sketch.steps):
        last = number == len(sketch.steps) - 1
        followed: list[_Plan] = []
        for plan in plans:
            choices = [(np.arange(step.count), False)]
            if not last:
                operands = _operands(step, plan.standing)
                # Twice the slots may keep a grid that results would fill to the last slot.
                choices += [(kept(operands, size), True) for size in (slots, 2 * slots)]
            for places, stays in choices:
                stage, cost = _cost(step, places, plan.standing, kept=stays, last=last)
                standing = (*plan.standing, places)
                followed.append(_Plan(plan.cost + cost, standing, (*plan.stages, stage)))
        plans = sorted(followed, key=lambda plan: plan.cost)[:BEAM]
    return plans[0].stages
