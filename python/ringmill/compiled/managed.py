"""A program that is managed for parameters: what it takes, what it gives, and how far results may be off."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ringmill import _native, bundle
from ringmill._checks import sizes
from ringmill._checks.arguments import checked
from ringmill._checks.ordinals import numbered
from ringmill._checks.requirements import PRECISION
from ringmill._checks.stated import Declared
from ringmill._native import (
    Ciphertext,
    Comparison,
    Executable,
    LimbProgram,
    MachineSpec,
    Params,
    Plan,
    SecretKey,
)
from ringmill.algebra import Algebra
from ringmill.client import Client, ClientSide, Terms
from ringmill.errors import MachineError
from ringmill.flooding import BITS, Flooding, published
from ringmill.functions import Functions
from ringmill.keys import Keys
from ringmill.machines import Outside, beside, machine_of
from ringmill.switching import costs_of
from ringmill.trace.lanes import of_run
from ringmill.trace.signature import Signature
from ringmill.trace.spec import Slots, same_shape
from ringmill.trace.text import without_places
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.project import Core

# A bound of a result is no smaller, not even that of zeros.
_LEAST = 2.0**-40


def estimated(machine: MachineSpec, reported: dict[str, Any]) -> dict[str, Any]:
    """What a machine reports of a program, with the part of the cycles in which each unit works."""
    busy, cycles = reported.pop("busy"), reported["cycles"]
    return {
        "machine": str(machine),
        "cycles": cycles,
        "seconds": reported["seconds"],
        "utilisation": {unit: count / cycles for unit, count in busy.items() if cycles},
        **reported,
    }


class Managed(ClientSide):
    """A program, its plan and what is known of both; `Compiled` lists the attributes."""

    def __init__(
        self,
        text: str,
        signature: Signature,
        plan: Plan,
        switching: str = "hybrid",
        output_level: int | None = None,
        precision: int | None = None,
    ) -> None:
        self.text = text
        self.signature = signature
        self.plan = plan
        self.switching = switching
        self.forms = [] if switching == "hybrid" else _native.check_switching(plan.params, switching)
        self.output_level = output_level
        self.precision = PRECISION if precision is None else precision
        self.public = False
        self.functions = Functions()
        self.declared: Declared | None = None
        self.algebra: Algebra | None = None
        # Predictions by whether arguments are under the secret key: each takes a pass over the program.
        self._predicted: dict[str, float] | None = None
        self.capacity: sizes.Capacity | None = None
        self._ways: list[dict[str, Any]] | None = None
        self.flooding: Flooding | None = None
        self.sanitising: Flooding | None = None
        self._working: dict[str, float] | None = None  # bytes, counted when they are first asked for
        self._executables: dict[MachineSpec | Outside, Executable] = {}

    @property
    def params(self) -> Params:
        """The parameters."""
        return self.plan.params

    @property
    def rationale(self) -> str | None:
        """Why these parameters were chosen; ``None`` when they were given."""
        return self.declared.rationale if self.declared else self.plan.rationale

    @property
    def program(self) -> str:
        """The managed program as text: every value with its level and exact scale."""
        return self.plan.text

    def limb_program(self, machine: str | MachineSpec = "cpu") -> LimbProgram:
        """The limb program that a machine is given: see `ringmill.programs` for its files.

        Raises
        ------
            MachineError: a machine that does not exist.
        """
        return self.plan.lowered(self.switching, machine_of(machine), self.capacity)[0]

    @property
    def ways(self) -> list[dict[str, Any]]:
        """With a capacity, the ways to run the program that were counted for a chip of it.

        - ``recompute``: whether products of inputs are computed again where they are read;
        - ``by_primes``: whether the order goes prime by prime; ``by_cost``: whether what is cheap to bring
          back goes first;
        - ``off_chip`` bytes, of these ``spilled_and_refilled``; ``instructions``; ``peak_limbs``;
        - ``chosen``: the one that moves fewest bytes. All give the same bits, and the first is the program as
          it is written. Halves of keys are taken to be made from seeds on the chip.
        """
        if self._ways is None:
            held = self.capacity
            self._ways = [] if held is None else self.plan.lowered(self.switching, "cpu", held)[1]
        return self._ways

    @property
    def bootstraps(self) -> list[str]:
        """Where the program bootstraps, and why; one for each time that a line does."""
        return numbered(self.plan.bootstraps)

    @property
    def cost(self) -> dict[str, int]:
        """What one evaluation takes: operations by kind, key switches, levels, bytes of expanded keys."""
        counts = dict(self.plan.counts)
        switches = sum(counts.get(op, 0) for op in ("relin", "rotate", "conj"))
        return {
            **{name: n for name, n in counts.items() if name not in ("input", "const", "plain")},
            "key_switches": switches,
            "hoisted": self.plan.hoisted,
            "levels": self.plan.depth,
            "key_bytes": self.plan.key_bytes,
        }

    def work(
        self,
        machine: str | MachineSpec | Core = "cpu",
        butterflies: int | None = None,
        *,
        capacity: int | str | None = None,
        seeded: bool = True,
        by_cost: bool = False,
        reorder: bool = False,
    ) -> dict[str, Any]:
        """What one evaluation takes, counted in the limb program without running it.

        - ``transforms``, ``multiply_adds``, ``data_bytes``, ``peak_bytes``;
        - ``key_bytes``: the limbs of keys that are read, 8 bytes a residue; ``key_bytes_packed``: with
          residues as long as their primes; ``key_bytes_seeded``: of these, halves that seeds expand to;
        - ``kinds``: the limbs of each kind of work that costs are for;
        - ``switches``: level, method and number of key switches.

        With a capacity also ``traffic``: what moves over the edge of a chip of this capacity, where
        the limb with the farthest next use goes first.

        - ``limbs`` that it holds, of ``word_bits`` bits a word, and ``least_limbs``, the least that it could;
        - ``spills`` and ``refills`` in limbs; ``off_chip`` bytes;
        - ``bytes``, and ``distinct`` (each limb once), by class;
        - ``peak_limbs`` and ``mean_limbs``: results that are still to be read;
        - ``regions`` of the program;
        - with ``reorder`` also ``program``, the limb program in the other order as text,
          ``off_chip_as_written``, and ``orders``: how many changes were kept, of how many.

        Args:
            machine: whose ``costs`` choose the methods and predict the ``seconds``: one that ``evaluate``
                takes, or a `ringmill.project.Core`. For "cpu" those of one core that ``ringmill calibrate``
                measured, the shipped ones otherwise; a hardware core's follow from its cycle model, at its
                clock or, by name, at 100 MHz.
            butterflies: an option of ``machine`` in its old place; it will go.
            capacity: limbs as a whole number, or bytes as text ("128MiB").
            seeded: whether the uniform halves of keys are made on chip from seeds, and take no bytes.
            by_cost: whether what is cheap to bring back goes first: these halves, then limbs with a copy off
                chip, whose next use counts as twice as far away.
            reorder: whether an order of the limb program is looked for that moves fewer bytes. It has the
                same instructions and the same bits, and never moves more than the program as it is.

        Raises
        ------
            MachineError: a machine that does not exist, or that has no primes for the KLSS that is asked for;
                what is no capacity.
            ProgramError: a capacity below what one instruction reads and writes, with that.
        """
        costs = costs_of(beside(machine, 2, butterflies=butterflies))
        held = None if capacity is None else sizes.capacity(MachineError, "The capacity", capacity)
        facts = self.plan.work(self.switching, costs)
        if held is not None:
            facts["traffic"] = self.plan.traffic(
                self.switching, costs, *held, bool(seeded), bool(by_cost), bool(reorder)
            )
        return facts

    def estimate(self, machine: str | MachineSpec = "cpu") -> dict[str, Any]:
        """What one evaluation takes on a machine, without running it.

        Returns a dictionary; docs/machines.md says which machines give which entries.

        - ``cycles`` and ``seconds``, each ``None`` where no clock is known (``"compact:clock=200"`` sets it);
        - ``utilisation``: the part of the cycles in which each unit works;
        - ``counters``; ``parts``: where every cycle went; ``energy`` in joules;
        - ``spans``: (unit, what, first cycle, cycle after the last), in order of time;
        - ``by``: the source of the figures.

        Raises
        ------
            MachineError: a machine that does not exist, has no estimate, or cannot run the program.
        """
        spec = machine_of(machine)
        return estimated(spec, self.plan.estimate(self.switching, spec, self.capacity))

    @property
    def terms(self) -> Terms:
        """What its client has of it, with exact errors and bounds: they follow from private numbers."""
        plan = self.plan
        return Terms(
            magnitude=plan.magnitude,
            level=plan.input_level,
            scale=plan.input_scale,
            taken=tuple(plan.inputs),
            relin=plan.needs_relin,
            rotations=tuple(plan.rotations),
            conjugation=plan.needs_conjugation,
            encapsulation=plan.needs_encapsulation,
            forms=tuple(self.forms),
            depth=plan.depth,
            precision=self.precision,
            encryption=self.encryption,
            errors=self.predicted_error,
            noise=self._noise(),
            bounds=self.declared.bounds if self.declared else plan.output_bounds,
        )

    def client(self) -> Client:
        """This kernel for its client alone: without program and weights, with what results state of errors.

        Which keys it needs and how deep it is follow from the program.
        """
        exact = self.terms

        def stated(errors: Mapping[str, float]) -> dict[str, float]:
            bits, bounds = self.precision, exact.bounds
            return {name: _native.stated(bits, error, bounds[name])[0] for name, error in errors.items()}

        bounds = dict(exact.bounds)
        if self.declared is None:  # to a quarter of a bit: the modulus that was chosen shows about as much
            bounds = {n: 2.0 ** (math.ceil(4 * math.log2(max(b, _LEAST))) / 4) for n, b in bounds.items()}
        return Client(
            self.signature,
            self.params,
            replace(exact, errors=stated(exact.errors), noise=stated(exact.noise), bounds=bounds),
        )

    def _made(self, program: object) -> bool:
        """Whether a digest is this kernel's. Files of earlier versions have one of the whole program."""
        return program == self.digest or program in (
            self._of_program(without_places(self.text)),
            self._of_program(self.text),
        )

    def _of_program(self, text: str) -> str:
        content = f"{text}\0{self.params.fingerprint}\0{self.plan.magnitude!r} {self.plan.bound!r}"
        return bundle.digest(content.encode())

    @property
    def predicted_error(self) -> dict[str, float]:
        """log2 of the predicted error of the worst slot of every output ciphertext, before anything runs.

        It holds for arguments encrypted as ``encryption`` says, none larger than ``plan.magnitude``, and keys
        switched as ``switching`` says on "cpu". Results say the error of the machine that they come from.
        It counts what functions that polynomials stand for err by: ``error_parts`` separates the two.
        """
        return self.functions.added(self._noise())

    @property
    def encryption(self) -> str:
        """The key that arguments are encrypted under: "public", "undivided" or "secret"; errors count it."""
        return self.plan.encryption

    def _noise(self) -> dict[str, float]:
        """log2 of the error of encryption alone."""
        if self.declared:
            return dict(self.declared.errors)
        if self._predicted is None:
            self._predicted = self.plan.predicted_error(switching=self.switching)
        return dict(self._predicted)

    def _flooded(self, errors: dict[str, float]) -> dict[str, float]:
        """The same errors after flooding, where results are published."""
        counts, more = published(self.signature), 0.0
        if self.flooding:
            more += self.flooding.bits(counts)
        if self.sanitising:
            more += self.sanitising.sanitising(self.params.log_n, sum(counts.values()))
        return {name: error + more for name, error in errors.items()}

    @property
    def error_parts(self) -> dict[str, dict[str, float]]:
        """log2 of both parts of ``predicted_error``: "encryption", and "approximation" where there is one."""
        return self.functions.apart(self._noise())

    @checked
    def sanitised_error(self, sanitise: int, statistical: int = BITS) -> float:
        """log2 of how far a sanitised result may be off in its worst slot.

        Args:
            sanitise: how many results of one model there are.
            statistical: the bits of statistical security.

        Raises
        ------
            ParameterError: numbers that are not possible.
        """
        flooding = Flooding.of_results(sanitise, statistical) or Flooding(1)
        more = flooding.sanitising(self.params.log_n, sum(published(self.signature).values()))
        noise = max(self._errors(name)[1] for name in self._noise())
        return max(math.log2(noise) + more, max(self.predicted_error.values()))

    def measure_error(
        self, secret: SecretKey | Keys, results: Values, expected: Any
    ) -> dict[str, Comparison]:
        """Decrypt results whose values are known, and hold their errors to the predicted ones.

        Args:
            secret: the secret key.
            results: from ``evaluate``.
            expected: what ``decrypt`` should give: an array, or a dict of arrays.

        Returns for every ciphertext of the results, by its name in ``predicted_error``, the error that is
        predicted there, or more where the result says so, and the measured one of the worst slot (log2).
        Slots that hold no element are not compared, and of a real kernel real parts alone, as ``decrypt``
        gives them.

        Raises
        ------
            EncodingError: expected values that are no finite numbers.
            MismatchError: as ``decrypt``; expected values of other names or shapes.
        """
        runs = self._decrypted("compiled.measure_error()", secret, results)
        given = self.signature.named(expected)
        compared: dict[str, Comparison] = {}
        for at, (slots, parts) in enumerate(runs):
            label = f"{at}/" if len(runs) > 1 else ""
            own = given if results.records is None else self._of_run(given, at, results.records)
            for name, found in self._compared(slots, parts, own).items():
                compared[label + name] = found
        return compared

    def _of_run(self, given: dict[str, Any], at: int, records: int) -> dict[str, Any]:
        """What is expected of a run, whose last lanes repeat the last record."""
        arrays = {name: np.asarray(values) for name, values in given.items()}
        for name, array in arrays.items():
            same_shape(f"result {name!r}", array, (records, *self.signature.outputs[name].shape))
        which = of_run(at, self.signature.lanes, records)
        return {name: array[which] for name, array in arrays.items()}

    def _compared(
        self, slots: dict[str, Slots], parts: Mapping[str, Ciphertext], expected: dict[str, Any]
    ) -> dict[str, Comparison]:
        """The errors of one run."""
        if self.signature.real:
            slots = {name: values.real.astype(np.complex128) for name, values in slots.items()}
        wanted = self.signature.written(slots, expected)
        noise = self._noise()
        for name in wanted:
            stated = parts[name].error_log2
            noise[name] = noise[name] if stated <= self._stated(noise[name]) else stated
        predicted = self.functions.added(noise)
        return {n: parts[n].compare(slots[n], wanted[n], predicted[n]) for n in wanted}

    def _stated(self, error: float) -> float:
        """What a result carries of an error that is predicted here, with a margin for rounding in a file."""
        stated = error if self.public else _native.stated(self.precision, error, 1.0)[0]
        return stated + 0.3
