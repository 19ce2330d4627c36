"""What client and server agree on: names, shapes and packing of a kernel's arguments and results."""

from __future__ import annotations

import collections
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringmill import bundle
from ringmill.errors import EncodingError, FileFormatError, MismatchError, ProgramError, fail
from ringmill.trace.lanes import of_run, put_in_lanes, taken
from ringmill.trace.layout import MOST_SLOTS, Layout, Shape
from ringmill.trace.spec import Slots, Spec, same_shape

FORMAT = "ringmill-kernel"
#: How several results stand together.
FORMS = ("dict", "list", "namedtuple", "tuple")
VERSION = 1

# What a file may ask for: as many ciphertexts as a bundle has parts beside its header, axes as NumPy has at
# least, and names that repeat in those of all their ciphertexts.
MOST_CIPHERTEXTS = bundle.MAX_PARTS - 1
MOST_AXES = 32
LONGEST_NAME = 1 << 10


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a kernel: the ciphertexts that carry it and where its elements sit.

    Attributes
    ----------
        parts: names of the ciphertexts.
        layouts: where elements sit in each of them.
        stacked: each is a column, along a last axis of their own.
        cut: the axis that they are joined along, where the result is too large for one of them.
    """

    parts: tuple[str, ...]
    layouts: tuple[Layout, ...]
    stacked: bool = False
    cut: int | None = None

    @property
    def shape(self) -> Shape:
        """Shape of the logical array."""
        first = self.layouts[0].shape
        if self.cut is not None:
            length = sum(layout.shape[self.cut] for layout in self.layouts)
            return (*first[: self.cut], length, *first[self.cut + 1 :])
        return (*first, len(self.parts)) if self.stacked else first

    def read(self, slots: Mapping[str, ArrayLike], *, real: bool, lanes: int = 0) -> NDArray[Any]:
        """The logical array, from decrypted slot vectors; of every lane where there are many."""
        arrays = [
            layout.take(slots[part]) if not lanes else taken(layout, slots[part], lanes)
            for part, layout in zip(self.parts, self.layouts, strict=True)
        ]
        if self.cut is not None:
            whole = np.concatenate(arrays, axis=self.cut + (lanes > 0))
        else:
            whole = np.stack(arrays, axis=-1) if self.stacked else arrays[0]
        return whole.real.copy() if real else whole

    def written(
        self, slots: Mapping[str, Slots], name: str, values: ArrayLike, lanes: int = 0
    ) -> dict[str, Slots]:
        """The same slot vectors with ``values`` in place of the logical array."""
        shape = self.shape if not lanes else (lanes, *self.shape)
        array = same_shape(f"result {name!r}", values, shape)
        if self.cut is not None:
            ends = np.cumsum([layout.shape[self.cut] for layout in self.layouts])
            each = np.split(array, ends[:-1], axis=self.cut + (lanes > 0))
        else:
            each = list(np.moveaxis(array, -1, 0)) if self.stacked else [array]
        return {
            part: layout.put(slots[part], own) if not lanes else put_in_lanes(layout, lanes, slots[part], own)
            for part, layout, own in zip(self.parts, self.layouts, each, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Signature:
    """What client and server must agree on beside the program's operations.

    Attributes
    ----------
        name: of the kernel.
        slots: of a ciphertext.
        inputs, outputs: arguments and results of one record, by name.
        real: whether everything is real.
        lanes: records in one ciphertext of a kernel that takes batches; 0 of another. Slot i·lanes + b of it
            is slot i of record b.
        form: how results stand together: "tuple", "list", "namedtuple", "dict"; "" of a single one.
    """

    name: str
    slots: int
    inputs: dict[str, Spec]
    outputs: dict[str, Result]
    real: bool
    lanes: int = 0
    form: str = ""

    @property
    def input_parts(self) -> list[str]:
        """Names of all input ciphertexts."""
        return [part for name, spec in self.inputs.items() for part in spec.parts(name)]

    @property
    def output_parts(self) -> list[str]:
        """Names of all result ciphertexts."""
        return [part for result in self.outputs.values() for part in result.parts]

    @property
    def is_cut(self) -> bool:
        """Whether an argument is in several ciphertexts because one does not hold it."""
        return any(spec.rows for spec in self.inputs.values())

    def pack(self, arguments: Mapping[str, ArrayLike], magnitude: float = math.inf) -> dict[str, Slots]:
        """Slot vectors for every input ciphertext of one run.

        With many lanes an argument is one record for all of them, or has as many along a first axis.

        Raises
        ------
            ProgramError: arguments that the kernel has not, or that are missing.
            EncodingError: values that do not fit, or are larger than ``magnitude``.
        """
        self._hold_names(arguments)
        packed: dict[str, Slots] = {}
        for name, spec in self.inputs.items():
            packed.update(spec.pack(name, arguments[name], self.slots, magnitude, self.lanes))
        return packed

    def runs(
        self, arguments: Mapping[str, ArrayLike], magnitude: float = math.inf
    ) -> tuple[int | None, list[dict[str, Slots]]]:
        """How many records the arguments are, and slot vectors for every run: as many records as lanes.

        The last record fills the lanes of the last run. Without lanes there is one run, of no records.

        Raises
        ------
            ProgramError: as `pack`.
            EncodingError: as `pack`; code ``Batch`` for arguments of several numbers of records.
        """
        if not self.lanes:
            return None, [self.pack(arguments, magnitude)]
        self._hold_names(arguments)
        arrays = {
            name: spec.checked(name, arguments[name], magnitude, many=True)
            for name, spec in self.inputs.items()
        }
        many = {name for name, spec in self.inputs.items() if arrays[name].ndim > len(spec.shape)}
        records = _of_one_number({name: len(arrays[name]) for name in self.inputs if name in many})
        packed = []
        for at in range(-(-records // self.lanes)):
            which = of_run(at, self.lanes, records)
            run: dict[str, Slots] = {}
            for name, spec in self.inputs.items():
                array = arrays[name][which] if name in many else arrays[name]
                run.update(spec.placed(name, array, self.slots, self.lanes))
            packed.append(run)
        return records, packed

    def _hold_names(self, arguments: Mapping[str, ArrayLike]) -> None:
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

    def unpack(self, slots: Mapping[str, ArrayLike]) -> Any:
        """Results of one run as arrays, in the form in which the kernel returns them."""
        return self.formed(self.read(slots))

    def read(self, slots: Mapping[str, ArrayLike]) -> dict[str, NDArray[Any]]:
        """Results of one run by name; with a first axis of all lanes where there are many."""
        return {
            name: result.read(slots, real=self.real, lanes=self.lanes)
            for name, result in self.outputs.items()
        }

    def formed(self, arrays: Mapping[str, Any]) -> Any:
        """Results by name in the form in which the kernel returns them."""
        found = {name: arrays[name] for name in self.outputs}
        if self.form == "namedtuple":
            return collections.namedtuple(self.name, self.outputs, rename=True)(**found)
        if self.form in ("tuple", "list"):
            return (tuple if self.form == "tuple" else list)(found.values())
        # Files of earlier versions have no form.
        return found["out"] if not self.form and set(found) == {"out"} else found

    def named(self, results: Any) -> dict[str, Any]:
        """Results by name, given in the form of `formed` or by name.

        Raises
        ------
            MismatchError: other results than the kernel has.
        """
        if isinstance(results, Mapping):
            given = dict(results)
        elif self.form in FORMS and isinstance(results, (tuple, list)):
            names = [*self.outputs, *(f"out{i}" for i in range(len(self.outputs), len(results)))]
            given = dict(zip(names, results, strict=False))
        else:
            given = {"out": results}
        if set(given) != set(self.outputs):
            fail(
                MismatchError,
                "Results",
                f"Kernel {self.name!r} has the results {', '.join(self.outputs)}, but "
                f"{', '.join(map(str, given)) or 'none'} are expected. Give what decrypt() should give.",
                expected=sorted(self.outputs),
                found=sorted(map(str, given)),
            )
        return given

    def written(self, slots: Mapping[str, Slots], results: Any) -> dict[str, Slots]:
        """The same slot vectors of one run with other results, given as ``unpack`` gives them.

        Raises
        ------
            MismatchError: other results than the kernel has, or of another shape.
        """
        given = self.named(results)
        written: dict[str, Slots] = {}
        for name, result in self.outputs.items():
            written.update(result.written(slots, name, given[name], self.lanes))
        return written

    def to_json(self) -> dict[str, Any]:
        """A JSON-serialisable description."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "slots": self.slots,
            "real": self.real,
            **({} if not self.lanes else {"lanes": self.lanes}),
            **({"form": self.form} if self.form else {}),
            "inputs": {
                n: {
                    "shape": s.shape,
                    "packing": s.packing,
                    "real": s.real,
                    **({} if s.low is None else {"low": s.low, "high": s.high}),
                    **({"rows": s.rows, "pitch": s.pitch} if s.rows else {}),
                }
                for n, s in self.inputs.items()
            },
            "outputs": {
                n: {
                    "parts": r.parts,
                    "shape": r.layouts[0].shape,
                    "strides": r.layouts[0].strides,
                    "stacked": r.stacked,
                    **({} if r.cut is None else _cut_written(r)),
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
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            fail(
                FileFormatError,
                "Damaged",
                f"the kernel file is damaged: {error!r}. Compile the kernel again.",
            )

    @classmethod
    def _parsed(cls, data: dict[str, Any]) -> Signature:
        all_slots, lanes, form = int(data["slots"]), data.get("lanes", 0), data.get("form", "")
        for count in (all_slots, lanes if "lanes" in data else 1):
            if type(count) is not int or count < 1 or count & (count - 1) or count > MOST_SLOTS:
                raise ValueError(f"{count} slots or lanes")
        if lanes > all_slots or form not in ("", *FORMS):
            raise ValueError("more lanes than slots, or results in no known form")
        slots = all_slots // (lanes or 1)  # of a record
        inputs = {
            str(n): Spec(_sizes(s["shape"]), s["packing"], bool(s["real"]), *_declared(s), *_rows(s))
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
            parts = tuple(str(p) for p in r["parts"])
            if not parts:
                raise ValueError("a result without ciphertexts")
            if len(parts) > MOST_CIPHERTEXTS:
                raise ValueError(f"a result of more than {MOST_CIPHERTEXTS} ciphertexts")
            outputs[str(name)] = _result(r, parts, slots)
        if not inputs or not outputs:
            raise ValueError("no arguments or no results")
        return cls(str(data["name"]), all_slots, inputs, outputs, bool(data["real"]), lanes, form)


def _of_one_number(counts: Mapping[str, int]) -> int:
    """The number of records of all arguments."""
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        fail(
            EncodingError,
            "Batch",
            f"The arguments have different numbers of records along their first axis: {listed}. "
            "Give as many of each, or one record for all.",
            records=dict(counts),
        )
    return next(iter(counts.values()), 1)


def _rows(given: dict[str, Any]) -> tuple[int, int]:
    """Indices along the first axis that one ciphertext of an argument has, and their distance; 0 for all."""
    if "rows" not in given and "pitch" not in given:
        return 0, 0
    rows, pitch, shape = given["rows"], given["pitch"], _sizes(given["shape"])
    if given["packing"] != "slots" or not shape or type(rows) is not int or not 0 < rows < shape[0]:
        raise ValueError(f"{rows!r} rows in a ciphertext")
    if type(pitch) is not int or pitch < math.prod(shape[1:]):
        raise ValueError(f"rows that are {pitch!r} slots apart")
    return rows, pitch


def _cut_written(result: Result) -> dict[str, Any]:
    """What a file says of a result in several ciphertexts that are joined along an axis."""
    return {"cut": result.cut, "each": [[of.shape, of.strides] for of in result.layouts]}


def _result(given: dict[str, Any], parts: tuple[str, ...], slots: int) -> Result:
    """A result as a file describes it."""
    if "cut" not in given:
        layout = _layout(given["shape"], given["strides"], slots)
        stacked = bool(given["stacked"])
        if len(parts) > 1 and not stacked:
            raise ValueError("several ciphertexts of a result that has one")
        return Result(parts, (layout,) * len(parts), stacked)
    if len(given["each"]) != len(parts):
        raise ValueError("a result with more or fewer places than ciphertexts")
    layouts = tuple(_layout(shape, strides, slots) for shape, strides in given["each"])
    axis, first = given["cut"], layouts[0].shape
    if type(axis) is not int or not 0 <= axis < len(first):
        raise ValueError("a result that is cut along an axis that it has not")
    if any(a.shape[:axis] + a.shape[axis + 1 :] != first[:axis] + first[axis + 1 :] for a in layouts):
        raise ValueError("parts of a result that do not go together")
    return Result(parts, layouts, cut=axis)


def _layout(given: list[Any], along: list[Any], slots: int) -> Layout:
    """Where elements of a ciphertext sit."""
    shape, strides = _sizes(given), _sizes(along)
    last = sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if max(last, math.prod(shape) - 1) >= slots:
        raise ValueError("a result does not fit the slots")
    return Layout(shape, strides, slots)


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
