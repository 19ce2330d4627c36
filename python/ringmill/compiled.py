"""A compiled kernel: its program managed for parameters, and the roles that run it.

The client holds the secret key: ``keygen``, ``encrypt``, ``decrypt``. The server holds the kernel, the
evaluation keys and ciphertexts: ``evaluate``. ``run`` plays both in one process.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ringmill import _native, bundle, html, memory
from ringmill._checks.arguments import checked
from ringmill._checks.bounds import bounded
from ringmill._checks.integers import whole
from ringmill._checks.ordinals import numbered
from ringmill._checks.ownership import of_kind, one_secret
from ringmill._checks.requirements import (
    PRECISION,
    algebra_of,
    encryption_of,
    hold_precision,
    hold_security,
    precision_of,
    security_of,
)
from ringmill._checks.stated import Declared
from ringmill._native import (
    Ciphertext,
    Comparison,
    EvaluationKeys,
    Executable,
    MachineSpec,
    Params,
    Plan,
    PublicKey,
    SecretKey,
)
from ringmill.algebra import Algebra, folded
from ringmill.choice import Wanted
from ringmill.client import MOST_KEYS, Client, ClientSide, Terms
from ringmill.errors import (
    FileFormatError,
    KeyMissingError,
    MismatchError,
    ParameterError,
    ProgramError,
    fail,
)
from ringmill.flooding import BITS, Flooding, hold_reserve, published, sanitised
from ringmill.functions import Functions
from ringmill.keys import Keys
from ringmill.log import done
from ringmill.machines import Outside, beside, machine_of, machine_or_function
from ringmill.progress import Share, Show, share
from ringmill.stopping import Stop
from ringmill.switching import SWITCHING, check_switching, costs_of
from ringmill.trace.bounds import positive
from ringmill.trace.program import Signature, Traced
from ringmill.trace.text import without_places
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.project import Core

# No precision that is asked for has more.
MOST_BITS = 64


# Keys of more bytes are reported with what takes fewer.
MANY_BYTES = 1e9


# What `cost` reports beside operations.
_NO_OPERATIONS = ("key_switches", "hoisted", "levels", "key_bytes")

# A bound of a result is no smaller, not even that of zeros.
_LEAST = 2.0**-40

# Files of clients, which have no program.
_CLIENTS = ("ringmill-client", "ringmill-model client")


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
    encryption: str = "public",
    publish: int | None = None,
    sanitise: bool | int = False,
    statistical: int = BITS,
    algebra: bool = False,
) -> Compiled:
    """Choose parameters for a traced kernel (unless given) and manage its program for them.

    Given ones are held to the precision and the security that are asked for, if any. ``output_level`` is the
    least level of results for a program after this one, where parameters are given; ``rotation_keys`` the
    most that the program may take, as ``Kernel.compile`` says, which has the other options too. With
    ``algebra`` an equal program may take its place, as there.
    """
    compiled = partial(
        _compiled,
        precision=precision,
        security=security,
        params=params,
        switching=switching,
        output_level=output_level,
        rotation_keys=rotation_keys,
        encryption=encryption,
        publish=publish,
        sanitise=sanitise,
        statistical=statistical,
    )
    magnitude = positive(magnitude)
    bound = bounded(traced, magnitude)
    other, saved = folded(traced, magnitude) if algebra_of(algebra) else (traced, None)
    if saved is not None:
        try:
            found = compiled(other, magnitude, max(bound, saved.largest))
        except ParameterError:
            pass  # its values may be larger than parameters hold
        else:
            found.algebra = saved
            if params is not None or saved.largest <= 2 * bound:
                return found
            # Larger values take a wider modulus, which can be more than the levels that are saved.
            written = compiled(traced, magnitude, bound)
            return min(found, written, key=lambda of: _size(of.params))
    return compiled(traced, magnitude, bound)


def _size(params: Params) -> tuple[int, float]:
    """What decides the time of every operation: the degree, then the bits of all primes."""
    return params.log_n, params.log_q + params.log_p


def _compiled(
    traced: Traced,
    magnitude: float,
    bound: float,
    *,
    precision: int | None,
    security: int | None,
    params: Params | None,
    switching: str,
    output_level: int | None,
    rotation_keys: int | None,
    encryption: str,
    publish: int | None,
    sanitise: bool | int,
    statistical: int,
) -> Compiled:
    """Compile the program as it is, whose values are no larger than ``bound``."""
    if params is not None:
        left = 'Make them, as rm.Params.named("III"), or leave them out to have them chosen.'
        of_kind("kernel.compile()", "params", params, (Params,), left)
    check_switching(switching)
    precision, security = precision_of(precision), security_of(security)
    secret = encryption_of(encryption) == "secret"
    flooding = None if publish is None else Flooding.of(publish, statistical)
    sanitising = Flooding.of_results(sanitise, statistical)
    real = traced.signature.real
    if rotation_keys is not None:
        rotation_keys = whole(ParameterError, "The number of rotation keys", rotation_keys, 0, MOST_KEYS)
    if params is None:
        wanted = Wanted(traced, magnitude, bound, security, rotation_keys, secret, flooding, sanitising)
        plan, bits = wanted.chosen(precision)
        compiled = Compiled(traced.text, traced.signature, plan, switching, output_level, bits)
    else:
        hold_security(params, security)
        plan = Plan.with_params(traced.text, params, magnitude, bound, real, output_level, rotation_keys)
        compiled = Compiled(traced.text, traced.signature, plan, switching, output_level, precision)
    compiled.encryption, compiled.flooding, compiled.sanitising = encryption, flooding, sanitising
    compiled.functions = Functions.of(traced, magnitude)
    if params is not None:
        # Approximations follow from the kernel, not from parameters.
        hold_precision(params, compiled._flooded(compiled._noise()), precision)
    return compiled


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


class Compiled(ClientSide):
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
        encryption: the key that arguments are encrypted under, "public" or "secret"; errors count it.
        flooding: for how many published decryptions the precision has a reserve, if for any.
        sanitising: for how many sanitised results of one model it has one, if for any.
        algebra: what an equal program saves that takes the place of the kernel's own; ``None`` where none
            does, and for a kernel from a file.
        declared: what follows from the declared bounds of private weights, where there are any.
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
        self.declared: Declared | None = None
        self.algebra: Algebra | None = None
        self.encryption = "public"
        # Predictions by whether arguments are under the secret key: each takes a pass over the program.
        self._predicted: dict[bool, dict[str, float]] = {}
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
        other.functions, other.declared, other.algebra = self.functions, self.declared, self.algebra
        other.encryption, other.flooding = self.encryption, self.flooding
        other.sanitising = self.sanitising
        return other

    def with_private(self, actual: Traced, moves: float) -> Compiled:
        """This kernel, compiled by declared bounds, with the numbers of a trace that differs in them alone.

        Args:
            actual: the trace.
            moves: what moving the numbers changes of results, at most.

        Raises
        ------
            ProgramError: code ``PrivateProgram``: the numbers change what is done with them.
        """
        plan = self.plan
        # Smaller numbers could end at a lower level, which would show.
        level = plan.output_level
        of = Plan.with_params(
            actual.text,
            self.params,
            plan.magnitude,
            plan.bound,
            self.signature.real,
            level,
            plan.rotation_keys,
        )
        same = of.levels() == plan.levels() and of.rotations == plan.rotations
        facts = ("input_level", "input_scale", "depth", "needs_relin", "needs_conjugation", "bootstraps")
        if not same or any(getattr(of, fact) != getattr(plan, fact) for fact in facts):
            fail(
                ProgramError,
                "PrivateProgram",
                f"Private weights of kernel {self.name!r} change what is done with them, which clients would "
                "see. Please report the kernel.",
            )
        other = Compiled(actual.text, self.signature, of, self.switching, level, self.precision)
        other.functions = self.functions
        other.encryption, other.flooding = self.encryption, self.flooding
        other.sanitising = self.sanitising
        errors = {name: math.log2(2.0**error + moves) for name, error in self._noise().items()}
        other.declared = Declared(self.plan.rationale, errors, self.plan.output_bounds)
        left = -max(other.predicted_error.values())
        if left < self.precision - 0.05 <= -max(self.predicted_error.values()):
            fail(
                ParameterError,
                "Precision",
                f"Private weights hold {math.floor(left)} bits here, and {self.precision} were asked for. "
                f"Compile with precision={math.floor(left)}, or declare a smaller bound.",
            )
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
            **({"algebra": str(self.algebra)} if self.algebra else {}),
            "operations": self._operations(),
            "keys": f"{self.keys_needed}; {self._key_bytes() / 1e6:,.1f} MB in memory{self._fewer_keys()}",
            "error": f"2^{max(self.predicted_error.values()):.1f} in the worst slot, as predicted"
            + self.functions.reported(self._noise()),
            **self._published(),
            **self.functions.lines(),
        }
        reported = [f"  {name:<11} {line}" for name, line in lines.items()]
        return "\n".join([f"kernel {self.name}, {self.signature.slots} slots", *reported])

    def _published(self) -> dict[str, str]:
        """What remains of the precision after flooding."""
        if self.sanitising:
            error = self.sanitised_error(self.sanitising.decryptions, self.sanitising.statistical)
            count, bits = self.sanitising.decryptions, self.sanitising.statistical
            what = f"{count:,} results of one model with {bits} bits of statistical security"
            return {"sanitised": f"2^{error:.1f} for {what}"}
        if self.flooding is None:
            return {}
        count, bits = self.flooding.decryptions, self.flooding.statistical
        left = self.published_error(count, bits)
        return {
            "published": f"2^{left:.1f} for {count:,} decryptions with {bits} bits of statistical security"
        }

    def _repr_html_(self) -> str:
        """The same lines for a notebook."""
        title, *lines = str(self).splitlines()
        return html.table(title, dict(line.strip().split(maxsplit=1) for line in lines))

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
        if self.declared:
            return dict(self.declared.errors)
        secret = self.encryption == "secret"
        if secret not in self._predicted:
            self._predicted[secret] = self.plan.predicted_error(switching=self.switching, secret=secret)
        return dict(self._predicted[secret])

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

    # ---- the client ---------------------------------------------------------------------------

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
        sanitise: bool | int = False,
        public: PublicKey | None = None,
        statistical: int = BITS,
        stop: Stop | None = None,
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
                elsewhere), "bar" or "lines"; or a function of steps done, all steps and a text, of which an
                exception ends the run. "cpu" and "reference" report it.
            sanitise: hide from the client what results show beside their values: each is re-randomised by a
                fresh encryption of zero, and noise floods its error. A number says for how many results of
                one model that holds; ``True`` is one. SECURITY.md states what it promises,
                ``compile(sanitise=…)`` reserves the precision.
            public: the client's public key, which ``sanitise`` needs; that of a ``Keys`` by default.
            statistical: the bits of statistical security of sanitised results.
            stop: a handle by which another thread ends the run, or that has a deadline: `ringmill.Stop`.

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
        sanitising = Flooding.of_results(sanitise, statistical)
        encrypting = self._to_sanitise(keys, public) if sanitising else None
        if sanitising:
            error = self.sanitised_error(sanitising.decryptions, sanitising.statistical)
            hold_reserve(error, max(self.terms.bounds.values()), f"sanitise={sanitising.decryptions}")
        where = machine_or_function(beside(machine, 2, threads=threads, butterflies=butterflies))
        if isinstance(where, MachineSpec) and where.computes_here:
            self._room_to_run(evaluation)
        if stop is not None:
            of_kind("compiled.evaluate()", "stop", stop, (Stop,), "Make one, as rm.Stop(after=60).")
            stop.check(f"Evaluating kernel {self.name!r}")
        with done("evaluate", self.name, machine=where) as facts, self._shared(progress, stop) as reported:
            out = self.executable(where).run(taken, evaluation, reported)
            facts["ciphertexts"] = len(out)
        if self.declared:
            out = {name: self._as_declared(name, cipher) for name, cipher in out.items()}
        if sanitising and encrypting:
            out = sanitised(out, encrypting, sanitising, self.terms.bounds)
        return Values("results", out, self.name, self.digest, public=self.public)

    @contextmanager
    def _shared(self, progress: Show, stop: Stop | None) -> Iterator[Share]:
        """What a machine calls now and then: it shows how far it is, and ends the run."""
        with share(f"evaluate {self.name}", progress) as reported:

            def both(done: int, total: int) -> None:
                if stop is not None:
                    stop.check(f"Evaluating kernel {self.name!r}")
                reported(done, total)

            yield both

    def _to_sanitise(self, keys: EvaluationKeys | Keys, public: PublicKey | None) -> PublicKey:
        """The public key that results are re-randomised under."""
        key = keys.public if public is None and isinstance(keys, Keys) else public
        if key is None:
            fail(
                KeyMissingError,
                "PublicKey",
                "sanitise encrypts zero under the client's public key, which evaluation keys do not hold. "
                "Give public=…, from public.key of the client.",
            )
        of_kind("compiled.evaluate()", "public", key, (PublicKey,), "It is public.key of the client.")
        self._same_params("public key", key.params)
        evaluation = keys.evaluation if isinstance(keys, Keys) else keys
        one_secret("public key", key, "evaluation keys", evaluation)
        return key

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
        noise = [_native.stated(self.precision, error, 1.0)[0] for error in self._noise().values()]
        return max(max(noise) + more, max(self.predicted_error.values()))

    def _as_declared(self, name: str, cipher: Ciphertext) -> Ciphertext:
        """A result that states what follows from declared bounds of private weights."""
        error, bound = _native.stated(self.precision, self._noise()[name], self.terms.bounds[name])
        return cipher.restated(max(bound, cipher.magnitude), max(error, cipher.error_log2))

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
    def save(
        self,
        path: str | Path | None = None,
        *,
        client: str | Path | None = None,
        server: str | Path | None = None,
    ) -> int:
        """Write the kernel file, which client and server share, or a file for each; returns all bytes.

        Args:
            path: the kernel file, with the program and its numbers.
            client: what the client needs, without program and weights: `ringmill.load_client` reads it.
            server: the kernel file again, under the name that says who may have it.

        Raises
        ------
            FileFormatError: code ``Unwritable``; nothing is left behind then.
            MismatchError: no path.
        """
        if path is None and client is None and server is None:
            fail(
                MismatchError,
                "WrongKind",
                'compiled.save() has no path. Give one, or save(client="client.rm", server="server.rm").',
            )
        size = sum(self._bundle().save(whole) for whole in (path, server) if whole is not None)
        return size + (0 if client is None else self.client().save(client))

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
            **({"encryption": self.encryption} if self.encryption == "secret" else {}),
            **({"declared": self.declared.facts()} if self.declared else {}),
        }

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Compiled:
        """Read a kernel file; the program is parsed, managed and checked anew.

        Raises
        ------
            FileFormatError: no kernel file, a damaged one, one of another version, or the client's.
        """
        try:
            read = bundle.load(path, "kernel")
        except FileFormatError as error:
            if error.fields.get("found") not in _CLIENTS:
                raise
            fail(
                FileFormatError,
                "WrongKind",
                f"{path} is a client's file: it has no program. Give server.rm, which was written beside it; "
                "the client's verbs take client.rm.",
                path=str(path),
                expected="kernel",
                found=error.fields["found"],
            )
        return cls._read(read, str(path))

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
        if read.facts.get("encryption", "public") not in ("public", "secret"):
            bundle.refuse_damaged(path, "its encryption is none")
        compiled.encryption = read.facts.get("encryption", "public")
        compiled.functions = Functions.read(read.facts, path, signature.output_parts)
        compiled.declared = Declared.read(read.facts, path, signature.output_parts)
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
