"""What the holder of the secret key does with a kernel."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ringmill import _native, bundle, memory
from ringmill._checks.arguments import checked
from ringmill._checks.ownership import of_kind
from ringmill._checks.results import plausible
from ringmill._native import Ciphertext, Params, PublicKey, SecretKey
from ringmill.client.machine import CPU, engine_of
from ringmill.client.terms import Terms
from ringmill.errors import MismatchError, fail
from ringmill.flooding import BITS, Flooding, flood, hold_count, hold_reserve, published
from ringmill.keys import Keys, keygen
from ringmill.log import done
from ringmill.progress import Show, steps
from ringmill.trace.signature import Signature
from ringmill.trace.spec import Slots, Spec
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.encryptor import Encryptor

#: What a decoded slot of size 1 is off by: `ckks::noise` has it.
ROUNDING = 2.0**-50


class ClientSide:
    """What the holder of the secret key does with a kernel: ``keygen``, ``encrypt``, ``decrypt``."""

    #: How messages call it.
    _called: ClassVar[str] = "compiled"

    signature: Signature

    @property
    def params(self) -> Params:
        """The parameters."""
        raise NotImplementedError

    @property
    def terms(self) -> Terms:
        """What client and server agree on."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.signature.name

    @property
    def keys_needed(self) -> str:
        """The evaluation keys that the program needs, as text."""
        return self.terms.keys_needed

    @property
    def digest(self) -> str:
        """Identifies what arguments and results are made for; they carry it.

        It follows from public facts alone: names, shapes and packing, parameters, the bound on arguments,
        their level and scale. Two kernels that differ in the numbers which they hold have one digest.
        """
        terms = self.terms
        facts = {
            "signature": self.signature.to_json(),
            "params": self.params.fingerprint,
            "magnitude": terms.magnitude,
            "level": terms.level,
            "scale": terms.scale,
        }
        return bundle.digest(json.dumps(facts, sort_keys=True).encode())

    def _made(self, program: object) -> bool:
        """Whether a digest is this kernel's."""
        return program == self.digest

    @property
    def arguments(self) -> dict[str, Spec]:
        """What `encrypt` takes, by name."""
        return self.signature.inputs

    def decrypted(self, secret: SecretKey | Keys, results: Values, **options: Any) -> dict[str, Any]:
        """As `decrypt`, by the names of results."""
        return self.signature.named(self.decrypt(secret, results, **options))

    def keygen(self, *, seeded: bool = False, insecure: bool = False, progress: Show = "none") -> Keys:
        """A secret key, its public key, and exactly the evaluation keys that this kernel needs.

        Args:
            seeded: keep half of each evaluation key in memory, packed; the other half is made when it is
                used. Files and results are the same.
            insecure: accept parameters that the file marks insecure; its writer may be anybody.
            progress: how to show the work: "none", "auto" (a bar on a terminal, lines elsewhere), "bar" or
                "lines"; or a function of steps done, all steps and the name of the next one.

        Raises
        ------
            MachineError: code ``Memory``, for keys of more bytes than there are.
            ParameterError: code ``InsecureFile``, for a file of insecure parameters.
        """
        terms = self.terms
        self._room_for_keys(seeded=seeded)
        with done("keygen", self.name, evaluation_keys=terms.keys):
            return keygen(
                self.params,
                relin=terms.relin,
                rotations=terms.rotations,
                conjugation=terms.conjugation,
                encapsulation=terms.encapsulation,
                seeded=seeded,
                forms=terms.forms,
                insecure=insecure,
                progress=progress,
            )

    def _room_for_keys(self, *, seeded: bool) -> None:
        """Refuse keys that memory does not hold, and name what it would hold."""
        terms, fits = self.terms, {}
        count = terms.keys
        others = count - len(terms.rotations)
        size = functools.partial(memory.of_keys, self.params, forms=list(terms.forms))
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
        machine: str | Encryptor = CPU,
        **named: ArrayLike,
    ) -> Values:
        """Pack and encrypt the kernel's arguments, given by name or as one mapping.

        Every argument is to be given, as to any function; ciphertexts that no result needs are not made.
        A kernel that takes batches takes records along a first axis of arguments, of any number; arguments
        without that axis are the same for all.
        With a secret key fresh ciphertexts take half the bytes on the wire, since one half of each expands
        from a seed.

        Args:
            key: the public or the secret key, or all keys.
            arguments: the arguments by name.
            progress: how to show the work, as for ``keygen``.
            machine: "cpu", or "encryptor" for the simulated encryption engine (``ringmill.encryptor``), which
                makes the same ciphertexts; an ``Encryptor()`` notes the cycles.
            named: arguments by name.

        Raises
        ------
            MachineError: parameters or keys that the engine does not do, or no simulator.
            EncodingError: arrays of other shapes, of no finite numbers, or larger than the bound that the
                kernel was compiled for.
            MismatchError: no key that encrypts, or one of other parameters.
            ProgramError: arguments that are missing or not known.
        """
        kinds = (PublicKey, SecretKey, Keys)
        left = "Give keys.public, or arguments by name after it."
        of_kind(f"{self._called}.encrypt()", "key", key, kinds, left)
        terms = self.terms
        if isinstance(key, Keys):
            key = key.secret if terms.encryption == "secret" else key.public
        self._same_params("key", key.params)
        if terms.encryption == "secret" and not isinstance(key, SecretKey):
            fail(
                MismatchError,
                "PublicEncryption",
                f"Kernel {self.name!r} is compiled for arguments under the secret key, and a public key adds "
                'more error than it keeps. Give keys.secret, or compile with encryption="public".',
            )
        if terms.encryption == "public" and isinstance(key, PublicKey) and not key.divides:
            fail(
                MismatchError,
                "UndividedEncryption",
                f"Kernel {self.name!r} is compiled for a public key whose encryptions are divided by one "
                "prime more. Those of this key, of an older version or another library, are not, and have "
                'more error. Make keys anew, or compile with encryption="undivided".',
            )
        records, runs = self.signature.runs({**(arguments or {}), **named}, terms.magnitude)
        needed = self._needed(self.signature.input_parts)
        engine = engine_of(machine)
        encrypt = key.encrypt if engine is None else functools.partial(engine.encrypt, key)
        count = len(runs) * len(needed)
        out: list[dict[str, Ciphertext]] = []
        with (
            done("encrypt", self.name, ciphertexts=count),
            steps("encrypt", count, progress) as step,
        ):
            for packed in runs:
                out.append({})
                for name in needed:
                    step(name)
                    out[-1][name] = encrypt(
                        packed[name], level=terms.level, magnitude=terms.magnitude, scale=terms.scale
                    )
        return Values._of_runs("arguments", out, self.name, self.digest, records=records)

    @checked
    def decrypt(
        self,
        secret: SecretKey | Keys,
        results: Values,
        *,
        check: bool = True,
        publish: int | None = None,
        statistical: int = BITS,
        machine: str | Encryptor = CPU,
    ) -> Any:
        """Decrypt results: an array, or a dict of arrays when the kernel returns several.

        The numbers are for the owner of the key alone, since their errors depend on it, unless ``publish`` is
        given.

        Args:
            secret: the secret key.
            results: from ``evaluate``.
            check: refuse values beyond the bound that the program relied on.
            publish: how many decryptions under this key will be published, all together. Noise then floods
                the error, as SECURITY.md states; ``published_error`` states how far numbers may be off.
            statistical: the bits of statistical security of published numbers.
            machine: as of ``encrypt``.

        Raises
        ------
            MachineError: parameters, keys or results that the engine does not do, or no simulator.
            MismatchError: no key that decrypts; results of another program, or under another secret key.
            ParameterError: a number of decryptions or of bits that is not possible; code ``NoReserve`` where
                the noise leaves nothing of the result.
            ResultError: values beyond the bound that the program relied on, unless ``check`` is false.
        """
        flooding = None if publish is None else Flooding.of(publish, statistical)
        if flooding:
            error = self.published_error(flooding.decryptions, flooding.statistical)
            hold_reserve(error, max(self.terms.bounds.values()), f"publish={flooding.decryptions}")
        with done("decrypt", self.name):
            runs = self._decrypted(f"{self._called}.decrypt()", secret, results, engine_of(machine))
        hold_count(flooding, len(runs), "publish")
        read = []
        for slots, parts in runs:
            if check:
                bounds = self.terms.bounds
                for name, values in slots.items():
                    plausible(values, parts[name], name, bounds[name])
            if flooding:
                counts = published(self.signature)
                # What is predicted here, or what a result states if that is more.
                errors = {n: self._error_of(n, parts[n]) for n in counts}
                slots = flood(slots, flooding, flooding.norm(errors, counts), real=self.signature.real)
            read.append(self.signature.read(slots))
        return self.signature.formed(
            {n: _records([run[n] for run in read], results.records) for n in self.signature.outputs}
        )

    @checked
    def published_error(self, publish: int, statistical: int = BITS) -> float:
        """log2 of how far a number may be off that ``decrypt`` gives with these options.

        Args:
            publish: how many decryptions are published.
            statistical: the bits of statistical security.

        Raises
        ------
            ParameterError: numbers that are not possible.
        """
        flooding, counts = Flooding.of(publish, statistical), published(self.signature)
        noise = {name: self._errors(name)[0] for name in counts}
        deviation, error = flooding.deviation(flooding.norm(noise, counts)), max(self.terms.errors.values())
        return math.log2(2.0**error + deviation * flooding.worst(sum(counts.values())))

    def _errors(self, name: str) -> tuple[float, float]:
        """The error of a decoded result, and what the result states of it at most.

        Both are as asked for or predicted, with the rounding of doubles: of the kernel's bound, and of the
        one that results state.
        """
        terms = self.terms
        error, bound = _native.stated(terms.precision, terms.noise[name], terms.bounds[name])
        kept, said = (math.hypot(2.0**error, size * ROUNDING) for size in (terms.bounds[name], bound))
        return kept, said

    def _error_of(self, name: str, result: Ciphertext) -> float:
        """The error of a decoded result; what the result states, where that is more than usual."""
        stated, (kept, usual) = 2.0**result.error_log2, self._errors(name)
        return kept if stated <= usual * (1 + 1e-9) else stated

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
                error, bound = math.ceil(4.0 * error) / 4.0, max(self.terms.magnitude, cipher.magnitude)
            else:
                error, bound = _native.stated(self.terms.precision, error, cipher.magnitude)
            parts[name] = cipher.restated(bound, error)
        return Values(role, parts, self.name, self.digest, public=values.public, records=values.records)

    # ---- checks -------------------------------------------------------------------------------

    def _decrypted(
        self, call: str, secret: SecretKey | Keys, results: Values, engine: Encryptor | None = None
    ) -> list[tuple[dict[str, Slots], dict[str, Ciphertext]]]:
        """All slots of results, and the ciphertexts that hold them, of every run."""
        of_kind(call, "secret", secret, (SecretKey, Keys), "Only the secret key decrypts: keys.secret.")
        key = secret.secret if isinstance(secret, Keys) else secret
        self._same_params("secret key", key.params)
        runs = self._check_values("results", results, self.signature.output_parts)
        decrypt = key.decrypt if engine is None else functools.partial(engine.decrypt, key)
        return [({name: decrypt(cipher) for name, cipher in run.items()}, run) for run in runs]

    def _needed(self, names: Iterable[str]) -> list[str]:
        """Those of the signature's ciphertexts that the program takes, in their order."""
        taken = set(self.terms.taken)
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

    def _check_values(self, role: str, values: Values, names: list[str]) -> list[dict[str, Ciphertext]]:
        """The ciphertexts of each run, of which none of these is missing."""
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
        if (values.records is None) == (self.signature.lanes > 0):
            fail(
                MismatchError,
                "Batch",
                f"The {role} do not say how many records they hold, or say it of a kernel that takes one. "
                "Encrypt the arguments again with this kernel.",
            )
        runs = values._runs(self.signature.lanes)
        missing = sorted({name for run in runs for name in set(names) - set(run)})
        if missing:
            fail(
                MismatchError,
                "Incomplete",
                f"The {role} miss {', '.join(missing)}. Encrypt all arguments together.",
                missing=missing,
            )
        return runs


def _records(runs: list[Any], records: int | None) -> Any:
    """A result of all runs: without those that fill the last one."""
    return runs[0] if records is None else np.concatenate(runs)[:records]
