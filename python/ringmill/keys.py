"""Keys: the secret one stays with the client, the others may travel."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ringmill import bundle, memory
from ringmill._checks import integers
from ringmill._checks.arguments import checked
from ringmill._checks.ownership import Owned, of_kind, one_secret
from ringmill._native import EvaluationKeys, Params, PublicKey, SecretKey
from ringmill.atomic import alone, make_folder, together, unwritable, writing
from ringmill.errors import CommandError, FileFormatError, MismatchError, ParameterError, fail
from ringmill.progress import Show, steps

# A client has no machines.
if TYPE_CHECKING:
    from ringmill._native import Evaluator, MachineSpec

SECRET, PUBLIC, EVALUATION, FORMS = "secret.key", "public.key", "evaluation.keys", "evaluation.forms"


@dataclass(frozen=True)
class Keys:
    """A secret key with its public key and its evaluation keys.

    Raises
    ------
        MismatchError: keys of different secret keys.
    """

    secret: SecretKey
    public: PublicKey
    evaluation: EvaluationKeys
    _evaluators: dict[MachineSpec, Evaluator] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        kinds = (("secret", SecretKey), ("public", PublicKey), ("evaluation", EvaluationKeys))
        for name, kind in kinds:
            of_kind("rm.Keys()", name, getattr(self, name), (kind,), "rm.keygen() makes all three.")
        one_secret("secret key", self.secret, "public key", self.public)
        one_secret("secret key", self.secret, "evaluation keys", self.evaluation)

    def evaluator(self, machine: str | MachineSpec = "cpu") -> Evaluator:
        """Operations one by one with these keys; what it has lowered is kept for the next operation.

        Raises
        ------
            MachineError: a machine that does not exist.
        """
        from ringmill._native import Evaluator
        from ringmill.machines import machine_of

        spec = machine_of(machine)
        if spec not in self._evaluators:
            self._evaluators[spec] = Evaluator(self.evaluation, spec)
        return self._evaluators[spec]

    @property
    def params(self) -> Params:
        """The parameters of all three."""
        return self.secret.params

    @property
    def identity(self) -> str | None:
        """The identity of the secret key: 16 hexadecimal digits that are independent of it.

        Files of keys and ciphertexts carry it (``ringmill inspect``). ``None`` for keys from files of before
        version 3.
        """
        return self.secret.identity

    @checked
    def save(self, folder: str | Path, *, overwrite: bool = False) -> dict[str, int]:
        """Write ``secret.key`` (readable by its owner only), ``public.key`` and ``evaluation.keys``.

        Forms beside the base one go to ``evaluation.forms``.

        An existing secret key is not overwritten unless asked: what it encrypted would be lost. So of two who
        save to one folder at once one is refused. No file changes before all new ones are on disk; a secret
        key that is replaced, which nothing else gives back, changes last. Returns the bytes of each file.

        Raises
        ------
            CommandError: the folder holds a secret key, or another process is writing keys to it.
            FileFormatError: a file cannot be written.
        """
        target = Path(folder)
        make_folder(target)
        forms = [FORMS] if self.evaluation.forms else []

        def taken() -> NoReturn:
            refuse_secret(target / SECRET, "overwrite=True")

        with alone(target):
            if (target / SECRET).exists() and not overwrite:
                taken()
            with together() as files:
                files.write(target / PUBLIC, self.public.to_bytes())
                _save(self.evaluation.save, files.beside(target / EVALUATION), target / EVALUATION)
                if forms:
                    files.write(target / FORMS, _forms(self.evaluation).to_bytes())
                secret = files.beside(target / SECRET, taken=None if overwrite else taken)
                _save(lambda path: self.secret.save_secret(path, overwrite=True), secret, target / SECRET)
            if not forms:  # those of other keys
                with writing(target / FORMS):
                    (target / FORMS).unlink(missing_ok=True)
        return {name: (target / name).stat().st_size for name in (SECRET, PUBLIC, EVALUATION, *forms)}

    @classmethod
    @checked
    def load(cls, params: Params, folder: str | Path, *, memory: str = "expanded") -> Keys:
        """Read what `save` wrote, for the client that holds all of it.

        Evaluation keys are read one by one; the file is never in memory beside them.

        Args:
            params: the parameters.
            folder: where they are.
            memory: how evaluation keys are kept. "expanded": every word, the fastest. "seeded": half of
                each key, packed; the other half is made from its seed when it is used. "mapped": like
                seeded, in the file, which must not change meanwhile. Results are the same.

        Raises
        ------
            FileFormatError: a file is missing, damaged or of another kind.
            MismatchError: keys of other parameters, or files that were not made together.
            ParameterError: another word for ``memory``.
        """
        source = Path(folder)
        evaluation = load_evaluation_keys(params, source / EVALUATION, memory=memory)
        secret = load_secret(params, source / SECRET)
        public = load_public(params, source / PUBLIC)
        if not secret.made(public):
            _refuse_strangers(source / PUBLIC, public, source / SECRET, secret)
        if not secret.made(evaluation):
            _refuse_strangers(source / EVALUATION, evaluation, source / SECRET, secret)
        return cls(secret, public, evaluation)


def refuse_secret(path: Path, remedy: str) -> NoReturn:
    """Refuse to write over a secret key."""
    fail(
        CommandError,
        "SecretExists",
        f"{path} exists, and what it encrypted could not be decrypted any more. "
        f"Choose another folder, or give {remedy}.",
        path=str(path),
    )


def _refuse_strangers(path: Path, stranger: Owned, secret_path: Path, secret: SecretKey) -> NoReturn:
    mine, theirs = (key.identity or "not known" for key in (secret, stranger))
    fail(
        MismatchError,
        "KeysMismatch",
        f"{path} (identity {theirs}) was not made with {secret_path} (identity {mine}): what it encrypts or "
        "computes would decrypt to noise. Put the files of one keygen into the folder.",
        path=str(path),
        found=stranger.identity,
        expected=secret.identity,
    )


def load_params(path: str | Path) -> Params:
    """The parameters of a file."""
    with _reading(path):
        return Params.load(path)


def load_secret(params: Params, path: str | Path) -> SecretKey:
    """The secret key of a file, of which no copy stays in memory."""
    with _reading(path):
        return SecretKey.load(params, path)


def load_public(params: Params, path: str | Path) -> PublicKey:
    """The public key of a file."""
    with _reading(path):
        return PublicKey.load(params, path)


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """Say of a file that the native module cannot read what is said of any other."""
    try:
        yield
    except FileFormatError as error:
        if error.code != "Io":
            raise
        bundle.unreadable(path, re.sub(r" \(os error \d+\)$", "", error.reason))


def _save(save: Callable[[Path], None], temporary: Path, target: Path) -> None:
    """Write keys for ``target``, which is what errors name."""
    try:
        save(temporary)
    except FileFormatError as error:
        if error.code != "Io":
            raise
        unwritable(target, error.reason)


def save_foreign_secret(save: Callable[[Path], None], target: Path, *, overwrite: bool) -> int:
    """Write a secret key in the format of another library, by a function that writes it; returns its bytes.

    A file that is there stays, unless asked: of two who save to one place at once, one is refused.
    """

    def taken() -> NoReturn:
        refuse_secret(target, "overwrite=True")

    if target.exists() and not overwrite:
        taken()
    with together() as files:
        _save(save, files.beside(target, taken=None if overwrite else taken), target)
    return target.stat().st_size


def _forms(keys: EvaluationKeys) -> bundle.Bundle:
    parts = {f"{element} {form}": data for element, form, data in keys.form_bytes()}
    return bundle.Bundle("key forms", {"params": str(keys.params.fingerprint)}, parts)


def _with_forms(keys: EvaluationKeys, path: Path) -> EvaluationKeys:
    for name, data in bundle.load(path, "key forms").parts.items():
        element = name.split(" ")[0]
        if not element.isdecimal():
            bundle.refuse_damaged(str(path), f"part {name!r} names no key")
        keys = keys.with_form_bytes(int(element), data)
    return keys


def forms_beside(path: str | Path) -> Path:
    """Where the forms of a file of evaluation keys are looked for."""
    keys = Path(path)
    return keys.parent / (keys.stem + Path(FORMS).suffix)


@checked
def load_evaluation_keys(params: Params, path: str | Path, *, memory: str = "expanded") -> EvaluationKeys:
    """Read evaluation keys with their forms, as a server does, who has no other keys.

    `Keys.save` writes ``evaluation.keys`` and, where keys have forms beside their base one,
    ``evaluation.forms``; forms are looked for in the file of the same name that ends in ``.forms``.

    Args:
        params: the parameters.
        path: the file of keys.
        memory: where keys are kept, as `Keys.load` takes it; forms of mapped keys are kept as seeded ones.

    Raises
    ------
        FileFormatError: a file is missing, damaged or of another kind.
        MachineError: code ``Memory``, for more bytes than there are.
        MismatchError: keys or forms of other parameters, or forms of another secret key.
        KeyMissingError: a form of a key that is not among these.
        ParameterError: another word for ``memory``.
    """
    forms = forms_beside(path)
    if memory in ("expanded", "seeded"):
        _room_to_load(params, [file for file in (Path(path), forms) if file.is_file()], memory)
    with _reading(path):
        keys = EvaluationKeys.load(params, path, memory=memory)
    if not forms.exists():
        return keys
    keys = _with_forms(keys, forms)
    return keys if memory == "expanded" else keys.seeded()


def _room_to_load(params: Params, files: list[Path], where: str) -> None:
    """Refuse files that memory does not hold; they hold a packed half of each key."""
    size = float(sum(file.stat().st_size for file in files))
    seeded = {'memory="seeded"': lambda: size} if where == "expanded" else {}
    # Forms of mapped keys are kept as seeded ones.
    mapped = {'memory="mapped"': lambda: float(sum(file.stat().st_size for file in files[1:]))}
    needed = size / memory.packed(params) if where == "expanded" else size
    memory.room("Loading evaluation keys", {"keys": needed}, {**seeded, **mapped})


@checked
def keygen(
    params: Params,
    *,
    relin: bool = True,
    rotations: Iterable[int] = (),
    conjugation: bool = False,
    encapsulation: bool = False,
    seeded: bool = False,
    forms: Iterable[str] = (),
    insecure: bool = False,
    progress: Show = "none",
) -> Keys:
    """Make a secret key and the keys that go with it.

    Args:
        params: the parameters.
        relin: make the relinearisation key, for products of ciphertexts.
        rotations: slots to the left, whole numbers, one key each; negative ones rotate to the right. They
            count modulo N/2; a rotation by 0 needs no key.
        conjugation: make the key for complex conjugation.
        encapsulation: make the keys to a sparse secret and back, for bootstrapping.
        seeded: keep half of each evaluation key in memory, packed; the other half is made when it is used.
        forms: what each key has beside its base form, as "26+9/9": `ringmill.key_switching`.
        insecure: accept parameters from a file that marks them insecure; its writer may be anybody.
        progress: how to show the work.

    Raises
    ------
        MachineError: code ``Memory``, for keys of more bytes than there are.
        MismatchError: no parameters; a form for more primes than they have.
        ParameterError: rotations that are no whole numbers, a text that is no form, another way to show
            progress, or ``encapsulation`` where the sparse secret is not known to be secure
            (``params.bootstraps``). Code ``InsecureFile``: parameters that a file marks insecure.
    """
    # Each once, to the shorter side, in order: they count modulo the slots, and the one by 0 needs no key.
    left = {k % params.slots for k in integers.rotations(ParameterError, rotations)} - {0}
    wanted = sorted(k if k <= params.slots // 2 else k - params.slots for k in left)
    more = list(forms)
    count = int(relin) + len(wanted) + int(conjugation) + int(encapsulation)
    needed = memory.of_keys(params, count, more, seeded=seeded)
    fits = {} if seeded else {"seeded=True": lambda: memory.of_keys(params, count, more, seeded=True)}
    memory.room(f"Making {count} evaluation keys", {"keys": needed}, fits)
    with steps("keygen", 2 + count, progress) as step:
        step("secret key")
        secret = SecretKey.generate(params, insecure=insecure)
        step("public key")
        public = secret.public_key()
        evaluation = EvaluationKeys(params)

        def keep(keys: EvaluationKeys) -> EvaluationKeys:
            keys = keys.with_forms(secret, more) if more else keys
            return keys.seeded() if seeded else keys

        if relin:
            step("relinearisation key")
            evaluation = keep(evaluation.with_relin(secret))
        for k in wanted:
            step(f"rotation by {k}")
            evaluation = keep(evaluation.with_rotation(secret, k))
        if conjugation:
            step("conjugation key")
            evaluation = keep(evaluation.with_conjugation(secret))
        if encapsulation:
            step("encapsulation key")
            evaluation = evaluation.with_encapsulation(secret)
    return Keys(secret, public, evaluation)
