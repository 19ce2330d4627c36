"""A compiled kernel: its program managed for parameters, and the roles that run it.

The client holds the secret key: ``keygen``, ``encrypt``, ``decrypt``. The server holds the kernel, the
evaluation keys and ciphertexts: ``evaluate``. ``run`` plays both in one process.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ringmill import _native, bundle, memory
from ringmill._checks.arguments import checked
from ringmill._checks.bounds import bounded
from ringmill._checks.integers import whole
from ringmill._checks.ordinals import numbered
from ringmill._checks.ownership import of_kind
from ringmill._checks.requirements import (
    PRECISION,
    SECURITY,
    hold_precision,
    hold_security,
    precision_of,
    security_of,
)
from ringmill._checks.results import plausible
from ringmill._native import (
    Comparison,
    EvaluationKeys,
    Executable,
    MachineSpec,
    Params,
    Plan,
    PublicKey,
    SecretKey,
)
from ringmill.errors import FileFormatError, MismatchError, ParameterError, ProgramError, fail
from ringmill.functions import Functions
from ringmill.keys import Keys, keygen
from ringmill.machines import Outside, beside, machine_of, machine_or_function
from ringmill.progress import Show, share, steps
from ringmill.switching import SWITCHING, check_switching, costs_of
from ringmill.trace.bounds import positive
from ringmill.trace.program import Signature, Traced
from ringmill.trace.spec import Slots
from ringmill.trace.text import without_places
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.project import Core

# Rotations of the largest ring.
MOST_KEYS = 1 << 16

# No precision that is asked for has more.
MOST_BITS = 64


# Keys of more bytes are reported with what takes fewer.
MANY_BYTES = 1e9


# What `cost` reports beside operations.
_NO_OPERATIONS = ("key_switches", "hoisted", "levels", "key_bytes")


def compile_traced(
    traced: Traced,
    *,
    precision: int | None = None,
    magnitude: float = 1.0,
    security: int | None = None,
    params: Params | None = None,
    switching: str = "hybrid",
    output_level: int | None = None,
    rotation_keys: int | None = None,
) -> Compiled:
    """Choose parameters for a traced kernel (unless given) and manage its program for them.

    Given ones are held to the precision and the security that are asked for, if any. ``output_level`` is the
    least level of results for a program after this one, where parameters are given; ``rotation_keys`` the
    most that the program may take, as ``Kernel.compile`` says.
    """
    if params is not None:
        left = 'Make them, as rm.Params.named("III"), or leave them out to have them chosen.'
        of_kind("kernel.compile()", "params", params, (Params,), left)
    check_switching(switching)
    precision, security = precision_of(precision), security_of(security)
    magnitude = positive(magnitude)
    bound = bounded(traced, magnitude)
    real = traced.signature.real
    if rotation_keys is not None:
        rotation_keys = whole(ParameterError, "The number of rotation keys", rotation_keys, 0, MOST_KEYS)
    if params is None:
        bits = PRECISION if precision is None else precision
        # Approximations that were chosen have the other half of the error.
        noise = bits + 1 if traced.chooses else bits
        plan = Plan.choose(traced.text, noise, magnitude, bound, real, security or SECURITY, rotation_keys)
        compiled = Compiled(traced.text, traced.signature, plan, switching, output_level, bits)
        compiled.functions = Functions.of(traced, magnitude)
        return compiled
    hold_security(params, security)
    plan = Plan.with_params(traced.text, params, magnitude, bound, real, output_level, rotation_keys)
    compiled = Compiled(traced.text, traced.signature, plan, switching, output_level, precision)
    hold_precision(params, compiled.predicted_error, precision)
    compiled.functions = Functions.of(traced, magnitude)
    return compiled


def estimated(machine: MachineSpec, told: dict[str, Any]) -> dict[str, Any]:
    """What a machine reports of a program, with the part of the cycles in which each unit works."""
    busy, cycles = told.pop("busy"), told["cycles"]
    return {
        "machine": str(machine),
        "cycles": cycles,
        "seconds": told["seconds"],
        "utilisation": {unit: count / cycles for unit, count in busy.items() if cycles},
        **told,
    }


class Compiled:
    """A kernel ready to run.

    Attributes
    ----------
        text: the traced program (docs/he-program.md).
        signature: names, shapes and packing of arguments and results.
        plan: the managed program, its depth, its key needs and its counts.
        switching: how keys are switched, as ``key_switching`` writes it. Keys of KLSS are derived from the
            others by who evaluates.
        forms: the forms that keys need beside their base one.
        output_level: the least level of results that was asked for.
        precision: the bits that were asked for. Results carry them as their error: what is predicted in full
            follows from the numbers that the program holds. Where none were asked for, they are 20.
        functions: what polynomials stand for functions such as ``numpy.exp``, and what they put into the
            error of results.
        public: whether everybody may know the numbers that the program holds; then results carry what is
            predicted. They are private unless this is set.
    """

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
        self._working: dict[str, float] | None = None  # bytes, counted when they are first asked for
        self._executables: dict[MachineSpec | Outside, Executable] = {}

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.signature.name

    @property
    def params(self) -> Params:
        """The parameters."""
        return self.plan.params

    @property
    def rationale(self) -> str | None:
        """Why these parameters were chosen; ``None`` when they were given."""
        return self.plan.rationale

    @property
    def program(self) -> str:
        """The managed program as text: every value with its level and exact scale."""
        return self.plan.text

    @property
    def keys_needed(self) -> str:
        """The evaluation keys that the program needs, as text."""
        parts = ["relinearisation"] if self.plan.needs_relin else []
        if self.plan.rotations:
            parts.append("rotations by " + ", ".join(str(k) for k in self.plan.rotations))
        parts += ["conjugation"] if self.plan.needs_conjugation else []
        parts += ["encapsulation"] if self.plan.needs_encapsulation else []
        parts += [f"each also as {', '.join(self.forms)}"] if parts and self.forms else []
        return "; ".join(parts) or "none"

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

    def switched(self, method: str) -> Compiled:
        """This kernel with another method of key switching: "klss", say, or what ``key_switching`` gives.

        Raises
        ------
            ParameterError: a method that there is not, or forms that the parameters do not allow.
        """
        check_switching(method)
        other = Compiled(self.text, self.signature, self.plan, method, self.output_level, self.precision)
        other.functions = self.functions
        return other

    def work(
        self, machine: str | MachineSpec | Core = "cpu", butterflies: int | None = None
    ) -> dict[str, Any]:
        """What one evaluation takes, counted in the limb program without running it.

        ``transforms``, ``multiply_adds``, ``key_bytes`` (the limbs that are read), ``data_bytes``,
        ``peak_bytes``; ``kinds``, the limbs of each kind of work that costs are for; ``switches``: level,
        method and number of key switches.

        Args:
            machine: whose ``costs`` choose the methods and predict the ``seconds``: one that ``evaluate``
                takes, or a `ringmill.project.Core`. For "cpu" those of one core that ``ringmill calibrate``
                measured, the shipped ones otherwise; a hardware core's follow from its cycle model, at its
                clock or, by name, at 100 MHz.
            butterflies: an option of ``machine`` in its old place; it will go.

        Raises
        ------
            MachineError: a machine that does not exist, or that has no primes for the KLSS that is asked for.
        """
        return self.plan.work(self.switching, costs_of(beside(machine, 2, butterflies=butterflies)))

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
        return estimated(spec, self.plan.estimate(self.switching, spec))

    @property
    def digest(self) -> str:
        """Identifies what arguments and results are made for; they carry it.

        It follows from public facts alone: names, shapes and packing, parameters, the bound on arguments,
        their level and scale. Two kernels that differ in the numbers which they hold have one digest.
        """
        facts = {
            "signature": self.signature.to_json(),
            "params": self.params.fingerprint,
            "magnitude": self.plan.magnitude,
            "level": self.plan.input_level,
            "scale": self.plan.input_scale,
        }
        return bundle.digest(json.dumps(facts, sort_keys=True).encode())

    def _made(self, program: object) -> bool:
        """Whether a digest is this kernel's. Files of earlier versions have one of the whole program."""
        return program == self.digest or program in (
            self._of_program(without_places(self.text)),
            self._of_program(self.text),
        )

    def _of_program(self, text: str) -> str:
        content = f"{text}\0{self.params.fingerprint}\0{self.plan.magnitude!r} {self.plan.bound!r}"
        return bundle.digest(content.encode())

    def __repr__(self) -> str:
        places = len(self.bootstraps)
        often = f"{places} bootstrapping{'s' if places > 1 else ''}, " if places else ""
        return (
            f"<compiled {self.name}: {self.signature.slots} slots, depth {self.plan.depth}, {often}"
            f"keys: {self.keys_needed}; switching {self.switching}; {self.params!r}>"
        )

    def __str__(self) -> str:
        """What it is, needs and gives, a line each."""
        lines = {
            "parameters": repr(self.params),
            "depth": f"{self.plan.depth} level{'s' if self.plan.depth != 1 else ''}",
            "operations": self._operations(),
            "keys": f"{self.keys_needed}; {self._key_bytes() / 1e6:,.1f} MB in memory{self._fewer_keys()}",
            "error": f"2^{max(self.predicted_error.values()):.1f} in the worst slot, as predicted"
            + self.functions.told(self._noise()),
            **self.functions.lines(),
        }
        told = [f"  {name:<11} {line}" for name, line in lines.items()]
        return "\n".join([f"kernel {self.name}, {self.signature.slots} slots", *told])

    def _operations(self) -> str:
        """How many operations of each kind, and what takes the time."""
        counts = {name: n for name, n in self.cost.items() if name not in _NO_OPERATIONS}
        parts = [", ".join(f"{n:,} {name}" for name, n in counts.items())]
        parts += [f"{self.cost['key_switches']:,} key switches"]
        parts += [f"{len(self.bootstraps):,} bootstrappings"] if self.bootstraps else []
        return "; ".join(parts)

    def _fewer_keys(self) -> str:
        """What takes fewer, where keys are many."""
        few = 2 * max(self.signature.slots.bit_length() - 1, 1)
        count = len(self.plan.rotations)
        if self._key_bytes() < MANY_BYTES or count <= few:
            return ""
        others = self.plan.needs_relin + self.plan.needs_conjugation
        less = memory.of_keys(self.params, others + few, self.forms)
        return f"; compiled with rotation_keys={few} about {less / 1e6:,.0f} MB, for more key switches"

    def _key_bytes(self) -> float:
        """Bytes of the keys that ``keygen`` makes, in this machine's memory."""
        params, plan = self.params, self.plan
        count = plan.needs_relin + plan.needs_conjugation + len(plan.rotations)
        words = 2 * params.dnum * (len(params.q) + len(params.p)) * 8 << params.log_n
        # What the plan counts beside these, words too, is the encapsulation key.
        return memory.of_keys(params, count, self.forms) + plan.key_bytes - count * words

    @property
    def predicted_error(self) -> dict[str, float]:
        """log2 of the predicted error of the worst slot of every output ciphertext, before anything runs.

        It holds for arguments encrypted under the public key, none larger than ``plan.magnitude``, and keys
        switched as ``switching`` says on "cpu". Results say the error of the machine that they come from.
        It counts what functions that polynomials stand for err by: ``error_parts`` separates the two.
        """
        return self.functions.added(self._noise())

    def _noise(self) -> dict[str, float]:
        """log2 of the error of encryption alone."""
        return self.plan.predicted_error(switching=self.switching)

    @property
    def error_parts(self) -> dict[str, dict[str, float]]:
        """log2 of both parts of ``predicted_error``: "encryption", and "approximation" where there is one."""
        return self.functions.apart(self._noise())

    # ---- the client ---------------------------------------------------------------------------

    def keygen(self, *, seeded: bool = False, insecure: bool = False, progress: Show = "none") -> Keys:
        """A secret key, its public key, and exactly the evaluation keys that this kernel needs.

        Args:
            seeded: keep half of each evaluation key in memory, packed; the other half is made when it is
                used. Files and results are the same.
            insecure: accept parameters that the kernel's file marks insecure; its writer may be anybody.
            progress: how to show the work, as `evaluate` says.

        Raises
        ------
            MachineError: code ``Memory``, for keys of more bytes than there are.
            ParameterError: code ``InsecureFile``, for a kernel file of insecure parameters.
        """
        self._room_for_keys(seeded=seeded)
        return keygen(
            self.params,
            relin=self.plan.needs_relin,
            rotations=self.plan.rotations,
            conjugation=self.plan.needs_conjugation,
            encapsulation=self.plan.needs_encapsulation,
            seeded=seeded,
            forms=self.forms,
            insecure=insecure,
            progress=progress,
        )

    def _room_for_keys(self, *, seeded: bool) -> None:
        """Refuse keys that memory does not hold, and name what it would hold."""
        plan, fits = self.plan, {}
        others = plan.needs_relin + plan.needs_conjugation + plan.needs_encapsulation
        count = others + len(plan.rotations)
        size = functools.partial(memory.of_keys, self.params, forms=self.forms)
        if not seeded:
            fits["seeded=True"] = lambda: size(count, seeded=True)
        fewest = others + 1
        if count > fewest:
            # A fifth is left to the evaluation.
            most = min(max(int(0.8 * memory.available() // size(1)), fewest), count)
            fits[f"a kernel compiled with rotation_keys={most - others}"] = lambda: size(most)
        memory.room(
            f"Making {count} evaluation keys for kernel {self.name!r}",
            {"keys": size(count, seeded=seeded)},
            fits,
        )

    @checked
    def encrypt(
        self,
        key: PublicKey | SecretKey | Keys,
        arguments: Mapping[str, ArrayLike] | None = None,
        /,
        *,
        progress: Show = "none",
        **named: ArrayLike,
    ) -> Values:
        """Pack and encrypt the kernel's arguments, given by name or as one mapping.

        Every argument is to be given, as to any function; ciphertexts that no result needs are not made.
        With a secret key fresh ciphertexts take half the bytes on the wire, since one half of each expands
        from a seed.

        Raises
        ------
            EncodingError: arrays of other shapes, of no finite numbers, or larger than ``plan.magnitude``.
            MismatchError: no key that encrypts, or one of other parameters.
            ProgramError: arguments that are missing or not known.
        """
        kinds = (PublicKey, SecretKey, Keys)
        of_kind("compiled.encrypt()", "key", key, kinds, "Give keys.public, or arguments by name after it.")
        key = key.public if isinstance(key, Keys) else key
        self._same_params("key", key.params)
        given = self.signature.pack({**(arguments or {}), **named}, self.plan.magnitude)
        packed = {name: given[name] for name in self._needed(given)}
        level, scale = self.plan.input_level, self.plan.input_scale
        out = {}
        with steps("encrypt", len(packed), progress) as step:
            for name, slots in packed.items():
                step(name)
                out[name] = key.encrypt(slots, level=level, magnitude=self.plan.magnitude, scale=scale)
        return Values("arguments", out, self.name, self.digest)

    @checked
    def decrypt(self, secret: SecretKey | Keys, results: Values, *, check: bool = True) -> Any:
        """Decrypt results: an array, or a dict of arrays when the kernel returns several.

        Raises
        ------
            MismatchError: no key that decrypts; results of another program, or under another secret key.
            ResultError: values beyond the bound that the program relied on, unless ``check`` is false.
        """
        slots = self._decrypted("compiled.decrypt()", secret, results)
        if check:
            bounds = self.plan.output_bounds
            for name, values in slots.items():
                plausible(values, results.parts[name], name, bounds[name])
        return self.signature.unpack(slots)

    def rewritten(self, values: Values) -> Values:
        """Arguments or results of this kernel, stating public facts alone.

        Those from files of before version 4 state what follows from the numbers of the program. Arguments
        then state the bound that the kernel was compiled for, results the precision, as those of today do.

        Raises
        ------
            MismatchError: values of another kernel.
        """
        role = values.role if isinstance(values, Values) else "results"
        self._check_values(
            role, values, self._needed(self.signature.input_parts) if role == "arguments" else []
        )
        parts = {}
        for name, cipher in values.parts.items():
            # What was rounded on the way is taken for itself.
            error = cipher.error_log2 - 1e-6
            if role == "arguments":
                error, bound = math.ceil(4.0 * error) / 4.0, max(self.plan.magnitude, cipher.magnitude)
            else:
                error, bound = _native.stated(self.precision, error, cipher.magnitude)
            parts[name] = cipher.restated(bound, error)
        return Values(role, parts, self.name, self.digest, public=values.public)

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
        slots = self._decrypted("compiled.measure_error()", secret, results)
        if self.signature.real:
            slots = {name: values.real.astype(np.complex128) for name, values in slots.items()}
        wanted = self.signature.written(slots, expected)
        noise = self._noise()
        for name in wanted:
            stated = results.parts[name].error_log2
            noise[name] = noise[name] if stated <= self._stated(noise[name]) else stated
        predicted, compared = self.functions.added(noise), {}
        for name in wanted:
            error = predicted[name]
            compared[name] = results.parts[name].compare(slots[name], wanted[name], error)
        return compared

    def _stated(self, error: float) -> float:
        """What a result carries of an error that is predicted here, with a margin for rounding in a file."""
        stated = error if self.public else _native.stated(self.precision, error, 1.0)[0]
        return stated + 0.3

    def _decrypted(self, call: str, secret: SecretKey | Keys, results: Values) -> dict[str, Slots]:
        """All slots of results."""
        of_kind(call, "secret", secret, (SecretKey, Keys), "Only the secret key decrypts: keys.secret.")
        key = secret.secret if isinstance(secret, Keys) else secret
        self._same_params("secret key", key.params)
        self._check_values("results", results, self.signature.output_parts)
        return {name: key.decrypt(cipher) for name, cipher in results.parts.items()}

    # ---- the server ---------------------------------------------------------------------------

    def evaluate(
        self,
        keys: EvaluationKeys | Keys,
        arguments: Values,
        *,
        machine: str | MachineSpec | Outside = "cpu",
        threads: int | None = None,
        butterflies: int | None = None,
        progress: Show = "none",
    ) -> Values:
        """Run the program on encrypted arguments; needs no secret.

        Args:
            keys: evaluation keys; the secret key of a ``Keys`` is not touched.
            arguments: from ``encrypt``.
            machine: "cpu" (fast), "reference" (plain interpreter), "compact" (the hardware core, its
                instructions emulated one by one) or "verilator" (the core's RTL under Verilator). The last
                is built for this degree once, in a minute or two, and kept. All give the same bits. With
                options as "cpu:threads=4" or "compact:butterflies=8", or as a value of ``rm.machines``
                (docs/machines.md). Or a function that runs limbs elsewhere, as the host of `ringmill build`
                on a board.
            threads: an option of ``machine`` in its old place; it will go.
            butterflies: the same.
            progress: how to show how far a long run is: "none", "auto" (a bar on a terminal, lines
                elsewhere), "bar" or "lines". "cpu" and "reference" report it.

        Raises
        ------
            KeyMissingError: a key that the program needs is missing.
            MachineError: a machine that does not exist or cannot run this program, or, by code ``Memory``,
                has less memory than it takes.
            MismatchError: no evaluation keys or no arguments; arguments of another program, or keys and
                arguments of different secret keys.
        """
        server = "Give keys.evaluation first, then the arguments; a secret key stays with the client."
        of_kind("compiled.evaluate()", "keys", keys, (EvaluationKeys, Keys), server)
        evaluation = keys.evaluation if isinstance(keys, Keys) else keys
        self._same_params("evaluation keys", evaluation.params)
        needed = self._needed(self.signature.input_parts)
        self._check_values("arguments", arguments, needed)
        taken = {name: arguments.parts[name] for name in needed}
        where = machine_or_function(beside(machine, 2, threads=threads, butterflies=butterflies))
        if isinstance(where, MachineSpec) and where.computes_here:
            self._room_to_run(evaluation)
        with share(f"evaluate {self.name}", progress) as told:
            out = self.executable(where).run(taken, evaluation, told)
        return Values("results", out, self.name, self.digest, public=self.public)

    def _room_to_run(self, keys: EvaluationKeys) -> None:
        """Refuse a run that memory does not hold beside the keys."""
        if self._working is None:
            work = self.work()
            self._working = {"arguments and results": work["data_bytes"], "values": work["peak_bytes"]}
        needed = sum(self._working.values())
        count = len(keys.galois_elements) + keys.has_relin
        seeded = memory.of_keys(self.params, count, keys.forms, seeded=True)

        def without(spared: float) -> float:
            return max(needed - max(spared, 0), 0)

        fits = {
            'keys that are loaded with memory="seeded"': lambda: without(keys.nbytes - seeded),
            'keys that are loaded with memory="mapped"': lambda: without(keys.nbytes),
        }
        memory.room(f"Evaluating kernel {self.name!r}", self._working, fits if keys.nbytes else {})

    def executable(
        self,
        machine: str | MachineSpec | Outside = "cpu",
        threads: int | None = None,
        butterflies: int | None = None,
    ) -> Executable:
        """The lowered program for a machine, as `evaluate` takes it; lowered once."""
        where = machine_or_function(beside(machine, 2, threads=threads, butterflies=butterflies))
        if where not in self._executables:
            self._executables[where] = self._executable(where)
        return self._executables[where]

    def _executable(self, machine: MachineSpec | Outside) -> Executable:
        promised = None if self.public else self.precision
        if not isinstance(machine, MachineSpec):
            return Executable.through(self.plan, machine, promised)
        if machine.to_build is not None:
            from ringmill.project import simulator

            machine = machine.with_options(**{machine.to_build: simulator.library(self, machine)})
        return Executable(self.plan, machine, self.switching, promised)

    def run(
        self,
        keys: Keys | None = None,
        /,
        *,
        machine: str | MachineSpec | Outside = "cpu",
        threads: Any = None,
        butterflies: Any = None,
        progress: Show = "none",
        **arguments: ArrayLike,
    ) -> Any:
        """Encrypt, evaluate and decrypt in this process; keys are made when none are given.

        ``machine``, and ``threads`` and ``butterflies`` in their old places, as `evaluate` says; where the
        kernel has an argument ``threads`` or ``butterflies``, it is that. ``progress`` shows each step.

        Raises
        ------
            EncodingError, ProgramError: as `encrypt`.
            KeyMissingError, MachineError: as `evaluate`.
            ResultError: as `decrypt`.
        """
        if keys is not None:
            named = "Arguments go by name, as run(x=…); keys may be left out."
            of_kind("compiled.run()", "keys", keys, (Keys,), named)
        options = {"threads": threads, "butterflies": butterflies}
        for name in options.keys() & self.signature.inputs.keys():
            arguments[name] = options.pop(name)
        where = machine_or_function(beside(machine, 2, **options))
        # Nothing of a run leaves the process.
        keys = keys or self.keygen(insecure=True, progress=progress)
        encrypted = self.encrypt(keys, arguments, progress=progress)
        results = self.evaluate(keys, encrypted, machine=where, progress=progress)
        return self.decrypt(keys, results)

    # ---- files --------------------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The kernel file's bytes; equal kernels give equal bytes."""
        return self._bundle().to_bytes()

    @checked
    def save(self, path: str | Path) -> int:
        """Write the kernel file, which client and server share; returns its bytes.

        Raises
        ------
            FileFormatError: code ``Unwritable``; nothing is left behind then.
        """
        return self._bundle().save(path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies are the kernel file, read anew."""
        return type(self).from_bytes, (self.to_bytes(),)

    def _bundle(self) -> bundle.Bundle:
        parts = {
            "program": self.text.encode(),
            "signature": json.dumps(self.signature.to_json()).encode(),
            "params": self.params.to_bytes(),
        }
        return bundle.Bundle("kernel", self._facts(), parts)

    def _facts(self) -> dict[str, Any]:
        return {
            "kernel": self.name,
            "program": self.digest,
            "magnitude": self.plan.magnitude,
            "bound": self.plan.bound,
            "switching": self.switching,
            "output_level": self.output_level,
            "rotation_keys": self.plan.rotation_keys,
            "precision": self.precision,
            **self.functions.facts(),
        }

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Compiled:
        """Read a kernel file; the program is parsed, managed and checked anew.

        Raises
        ------
            FileFormatError: no kernel file, a damaged one, or one of another version.
        """
        return cls._read(bundle.load(path, "kernel"), str(path))

    @classmethod
    @checked
    def from_bytes(cls, data: bytes) -> Compiled:
        """Read what ``to_bytes`` wrote, as ``load`` reads a file.

        Raises
        ------
            FileFormatError: as `load`.
        """
        return cls._read(bundle.parse(data, "kernel", "What was given"), "What was given")

    @classmethod
    def _read(cls, read: bundle.Bundle, path: str) -> Compiled:
        """The kernel of a bundle; ``path`` is for messages."""
        if set(read.parts) != {"program", "signature", "params"}:
            bundle.refuse_damaged(path, "it lacks the program, the signature or the parameters")
        try:
            text = read.parts["program"].decode()
            signature = Signature.from_json(json.loads(read.parts["signature"]))
        except (ValueError, RecursionError) as error:
            if isinstance(error, FileFormatError):
                raise
            bundle.refuse_damaged(path, "its text cannot be read")
        magnitude, bound = (read.facts.get(name) for name in ("magnitude", "bound"))
        if not (
            isinstance(magnitude, float) and isinstance(bound, float) and 0 < magnitude <= bound < math.inf
        ):
            bundle.refuse_damaged(path, "its bounds are not positive numbers")
        switching, level = read.facts.get("switching", "hybrid"), read.facts.get("output_level")
        named = isinstance(switching, str) and switching.split(" ")[0] in SWITCHING
        if not named or not (level is None or (type(level) is int and 0 <= level < 100)):
            bundle.refuse_damaged(path, "its key switching or its last level is none")
        rotation_keys = read.facts.get("rotation_keys")
        if not (rotation_keys is None or (type(rotation_keys) is int and 0 <= rotation_keys <= MOST_KEYS)):
            bundle.refuse_damaged(path, "its number of rotation keys is none")
        precision = read.facts.get("precision")
        if not (precision is None or (type(precision) is int and 1 <= precision <= MOST_BITS)):
            bundle.refuse_damaged(path, "its precision is not a number of bits")
        params = Params.from_bytes(read.parts["params"])
        plan = Plan.with_params(text, params, magnitude, bound, signature.real, level, rotation_keys)
        compiled = cls(text, signature, plan, switching, level, precision)
        if not compiled._made(read.facts.get("program")):
            bundle.refuse_other(path, read.facts, compiled.digest, compiled.name)
        compiled.check_names()
        compiled.functions = Functions.read(read.facts, path, signature.output_parts)
        return compiled

    def check_names(self) -> None:
        """Refuse a signature that does not name the program's inputs and outputs."""
        inputs, outputs = self.plan.inputs, self.plan.outputs
        if set(inputs) - set(self.signature.input_parts) or set(self.signature.output_parts) != set(outputs):
            fail(
                ProgramError,
                "Signature",
                f"The signature of kernel {self.name!r} names other inputs or outputs than its program. "
                "Compile the kernel again.",
            )

    # ---- checks -------------------------------------------------------------------------------

    def _needed(self, names: Iterable[str]) -> list[str]:
        """Those of the signature's ciphertexts that the program takes, in their order."""
        taken = set(self.plan.inputs)
        return [name for name in names if name in taken]

    def _same_params(self, what: str, params: Params) -> None:
        if params != self.params:
            s = "" if what.endswith("s") else "s"
            fail(
                MismatchError,
                "ParamsMismatch",
                f"The {what} belong{s} to other parameters ({params!r}) than kernel {self.name!r} "
                f"({self.params!r}). Use keys made by this kernel's keygen.",
                what=what,
                expected=self.params.fingerprint,
                found=params.fingerprint,
            )

    def _check_values(self, role: str, values: Values, names: list[str]) -> None:
        if not isinstance(values, Values) or values.role != role:
            found = values.role if isinstance(values, Values) else type(values).__name__
            fail(
                MismatchError,
                "WrongRole",
                f"Encrypted {role} are wanted here, but {found} were given. "
                "encrypt() makes arguments, evaluate() turns them into results, decrypt() reads results.",
                expected=role,
                found=found,
            )
        if not self._made(values.program):
            fail(
                MismatchError,
                "OtherProgram",
                f"These {role} were made by kernel {values.kernel!r} with another program or other "
                f"parameters ({values.program!s:.8}) than {self.name!r} here ({self.digest:.8}). Encrypt the "
                "arguments again with this kernel.",
                expected=self.digest,
                found=values.program,
            )
        missing = sorted(set(names) - set(values.parts))
        if missing:
            fail(
                MismatchError,
                "Incomplete",
                f"The {role} miss {', '.join(missing)}. Encrypt all arguments together.",
                missing=missing,
            )
