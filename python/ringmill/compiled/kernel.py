"""A compiled kernel in one process, and as a file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from ringmill import bundle
from ringmill._checks import sizes
from ringmill._checks.arguments import checked
from ringmill._checks.ownership import of_kind
from ringmill._checks.stated import Declared
from ringmill._native import MachineSpec, Params, Plan
from ringmill.client import MOST_KEYS
from ringmill.client.terms import READ, WRITTEN
from ringmill.compiled.server import ServerSide
from ringmill.errors import FileFormatError, MismatchError, ParameterError, ProgramError, fail
from ringmill.functions import Functions
from ringmill.keys import Keys
from ringmill.machines import Outside, beside, machine_or_function
from ringmill.progress import Show
from ringmill.switching import SWITCHING, check_switching
from ringmill.trace.program import Traced
from ringmill.trace.signature import Signature

# No precision that is asked for has more.
MOST_BITS = 64

# Files of clients, which have no program.
_CLIENTS = ("ringmill-client", "ringmill-model client")


class Compiled(ServerSide):
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
        flooding: for how many published decryptions the precision has a reserve, if for any.
        sanitising: for how many sanitised results of one model it has one, if for any.
        capacity: of the chip that the limb program is chosen for, if for any; `ways` says what was counted.
        algebra: what an equal program saves that takes the place of the kernel's own; ``None`` where none
            does, and for a kernel from a file.
        declared: what follows from the declared bounds of private weights, where there are any.
    """

    def switched(self, method: str) -> Compiled:
        """This kernel with another method of key switching: "klss", say, or what ``key_switching`` gives.

        Raises
        ------
            ParameterError: a method that there is not, or forms that the parameters do not allow.
        """
        check_switching(method)
        other = Compiled(self.text, self.signature, self.plan, method, self.output_level, self.precision)
        other.functions, other.declared, other.algebra = self.functions, self.declared, self.algebra
        other.capacity = self.capacity
        other.flooding, other.sanitising = self.flooding, self.sanitising
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
            plan.encryption,
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
        other.functions, other.capacity = self.functions, self.capacity
        other.flooding, other.sanitising = self.flooding, self.sanitising
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
            # Absent in files from before keys that divide: any public key.
            **({} if self.encryption == "undivided" else {"encryption": WRITTEN[self.encryption]}),
            **({"declared": self.declared.facts()} if self.declared else {}),
            **({"capacity": str(self.capacity)} if self.capacity else {}),
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
        said = read.facts.get("encryption", WRITTEN["undivided"])
        if not (isinstance(said, str) and said in READ):
            bundle.refuse_damaged(path, "its encryption is none")
        plan = Plan.with_params(
            text, params, magnitude, bound, signature.real, level, rotation_keys, READ[said]
        )
        compiled = cls(text, signature, plan, switching, level, precision)
        if not compiled._made(read.facts.get("program")):
            bundle.refuse_other(path, read.facts, compiled.digest, compiled.name)
        compiled.check_names()
        if (held := read.facts.get("capacity")) is not None:
            compiled.capacity = sizes.capacity(FileFormatError, f"The capacity of {path}", held)
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
