"""`ringmill import` and `ringmill export`: files of other libraries to ours and back."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ringmill import bundle
from ringmill._native import Ciphertext, EvaluationKeys, PublicKey, SecretKey
from ringmill.atomic import write_bytes
from ringmill.cli.places import to_write
from ringmill.cli.read import evaluation_keys, secret
from ringmill.cli.simulate import limb_program
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, fail
from ringmill.interop import arguments, openfhe, seal
from ringmill.keys import load_params, load_public
from ringmill.values import Values

Facts = dict[str, Any]

LIBRARIES = ("seal", "openfhe")
#: Tools whose programs are read as kernels.
PROGRAMS = ("heir", "pisa", "fhetch")
#: Tools for which programs are written.
TRACES = ("fhetch",)
IMPORTS = ("parameters", "secret", "public", "keys", "arguments")
EXPORTS = ("parameters", "secret", "public", "relin", "galois", "results")


def add(verb: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """The options of both verbs."""
    for name, what, text in (
        (
            "import",
            (*IMPORTS, "program"),
            "Read a file of another library or compiler and write it as one of Ringmill.",
        ),
        ("export", (*EXPORTS, "program"), "Write a file of Ringmill as one of another library or tool."),
    ):
        sub = verb(name, text)
        libraries = (*LIBRARIES, *(PROGRAMS if name == "import" else TRACES))
        sub.add_argument("library", metavar="LIBRARY", help=" or ".join(libraries))
        sub.add_argument("what", metavar="WHAT", help=", ".join(what))
        files = "the file; for arguments NAME=FILE, one for each" if name == "import" else "the file"
        sub.add_argument("files", nargs="+" if name == "import" else 1, metavar="FILE", help=files)
        sub.add_argument("--out", required=True, metavar="FILE", help="file to write")
        sub.add_argument(
            "--context",
            metavar="FILE",
            help="seal: its parameters; openfhe: any file of the client, whose context and key tag it has",
        )
        sub.add_argument("--kernel", metavar="FILE", help="kernel file, for arguments and results")
        sub.add_argument("--scale-bits", type=int, metavar="N", help="seal: log2 of the client's scale")
        sub.add_argument("--insecure", action="store_true", help="accept less than 128 bits of security")
        sub.add_argument("--overwrite", action="store_true", help="replace an existing secret key")
        if name == "import":
            sub.add_argument("--galois", metavar="FILE", help="keys: those of rotations and conjugation")
            sub.add_argument("--magnitude", type=float, metavar="M", help="bound on the size of a slot (1)")
            sub.add_argument(
                "--function", metavar="NAME", help="heir: the function, if the module has several"
            )
            sub.add_argument(
                "--precision", type=int, metavar="BITS", help="heir: wanted bits of results (20)"
            )
            sub.add_argument(
                "--faithful", action="store_true", help="heir: keep the module's ring and primes"
            )
            sub.add_argument(
                "--log-n", type=int, metavar="K", help="fhetch: log2 of the degree, where the trace has none"
            )
            sub.add_argument(
                "--keys-from",
                type=int,
                metavar="ADDRESS",
                help="fhetch: the first address of evaluation keys",
            )
        else:
            sub.add_argument("--name", metavar="NAME", help="results: which one, if there are several")
            sub.add_argument("--tag", metavar="TAG", help="openfhe: tag of the key, if not that of --context")
            sub.add_argument("--seal-version", default=seal.VERSION, metavar="V", help="4.0 to 4.4 (4.3)")
            sub.add_argument(
                "--compression", default=seal.COMPRESSION, metavar="C", help="seal: none, zlib or zstd (none)"
            )
            sub.add_argument("--form", default=openfhe.FORM, metavar="F", help="openfhe: binary or json")


def _refuse(code: str, message: str) -> NoReturn:
    fail(CommandError, code, message)


def _checked(options: Namespace, known: tuple[str, ...]) -> None:
    if options.library not in LIBRARIES:
        all_of_them = (*LIBRARIES, *(PROGRAMS if options.verb == "import" else TRACES))
        listed = ", ".join(all_of_them)
        _refuse("NoLibrary", f"There is no library {options.library!r}; {options.verb} knows {listed}.")
    if options.what not in known:
        _refuse("NoKind", f"{options.what!r} is not {options.verb}ed; there are {', '.join(known)}.")


def _kernel(options: Namespace) -> Compiled:
    if options.kernel is None:
        _refuse("NoKernel", f"{options.what.capitalize()} belong to a kernel. Give its file with --kernel.")
    return Compiled.load(options.kernel)


class _Seal:
    """The readers and writers of one context of SEAL."""

    def __init__(self, options: Namespace, file: str) -> None:
        context = options.context or (file if options.what == "parameters" else None)
        if context is None:
            _refuse("NoContext", "Files of SEAL do not hold their parameters. Give them with --context.")
        if options.verb == "export" and options.what == "parameters":
            self.params = load_params(file)
        else:
            self.params = seal.load_parameters(
                context, scale_bits=options.scale_bits, insecure=options.insecure
            )
        self.style = {}
        if options.verb == "export":
            self.style = {"version": options.seal_version, "compression": options.compression}
        self.overwrite = options.overwrite

    def secret(self, file: str) -> SecretKey:
        return seal.load_secret_key(self.params, file)

    def public(self, file: str) -> PublicKey:
        return seal.load_public_key(self.params, file)

    def keys(self, file: str, galois: str | None) -> EvaluationKeys:
        return seal.load_evaluation_keys(self.params, file, galois)

    def ciphertext(self, file: str, magnitude: float | None) -> Ciphertext:
        return seal.load_ciphertext(self.params, file, magnitude=magnitude)

    def save_parameters(self, out: Path) -> int:
        return seal.save_parameters(self.params, out, **self.style)

    def save_secret(self, key: SecretKey, out: Path) -> int:
        return seal.save_secret_key(key, out, overwrite=self.overwrite, **self.style)

    def save_public(self, file: str, out: Path) -> int:
        # Drawn anew, modulo the special prime too: it takes the secret key.
        return seal.save_public_key(secret(self.params, file), out, **self.style)

    def save_relin(self, keys: EvaluationKeys, out: Path) -> int:
        return seal.save_relin_keys(keys, out, **self.style)

    def save_galois(self, keys: EvaluationKeys, out: Path) -> int:
        return seal.save_galois_keys(keys, out, **self.style)

    def save_ciphertext(self, cipher: Ciphertext, out: Path) -> int:
        return seal.save_ciphertext(cipher, out, **self.style)


class _OpenFhe:
    """The readers and writers of one context of OpenFHE."""

    def __init__(self, options: Namespace, file: str) -> None:
        if options.verb == "import":
            self.context = openfhe.load_context(options.context or file, insecure=options.insecure)
        elif options.context is not None:
            self.context = openfhe.load_context(options.context, insecure=options.insecure)
        elif options.what == "parameters":
            self.context = openfhe.context_of(load_params(file))
        else:
            _refuse(
                "NoContext",
                "What OpenFHE reads holds its context and the tag of a key. "
                "Give a file of the client with --context.",
            )
        if options.verb == "export" and options.tag is not None:
            self.context = self.context.tagged(options.tag)
        self.params = self.context.params
        self.form = options.form if options.verb == "export" else openfhe.FORM
        self.overwrite = options.overwrite

    def secret(self, file: str) -> SecretKey:
        return openfhe.load_secret_key(self.context, file)

    def public(self, file: str) -> PublicKey:
        return openfhe.load_public_key(self.context, file)

    def keys(self, file: str, galois: str | None) -> EvaluationKeys:
        return openfhe.load_evaluation_keys(self.context, file, galois)

    def ciphertext(self, file: str, magnitude: float | None) -> Ciphertext:
        return openfhe.load_ciphertext(self.context, file, magnitude=magnitude)

    def save_parameters(self, out: Path) -> int:
        return openfhe.save_context(self.context, out, form=self.form)

    def save_secret(self, key: SecretKey, out: Path) -> int:
        return openfhe.save_secret_key(self.context, key, out, overwrite=self.overwrite, form=self.form)

    def save_public(self, file: str, out: Path) -> int:
        return openfhe.save_public_key(self.context, load_public(self.params, file), out, form=self.form)

    def save_relin(self, keys: EvaluationKeys, out: Path) -> int:
        return openfhe.save_mult_key(self.context, keys, out, form=self.form)

    def save_galois(self, keys: EvaluationKeys, out: Path) -> int:
        return openfhe.save_automorphism_keys(self.context, keys, out, form=self.form)

    def save_ciphertext(self, cipher: Ciphertext, out: Path) -> int:
        return openfhe.save_ciphertext(self.context, cipher, out, form=self.form)


def _library(options: Namespace, file: str) -> _Seal | _OpenFhe:
    return _Seal(options, file) if options.library == "seal" else _OpenFhe(options, file)


def _program(options: Namespace) -> Facts:
    """Read a program of another tool and write it as a kernel."""
    if options.what != "program" or len(options.files) != 1:
        use = f"ringmill import {options.library} program FILE --out KERNEL"
        _refuse("NoKind", f"Of {options.library} one program is imported: `{use}`.")
    target = Path(to_write(options.out, options.files[0]))
    if options.library == "fhetch":
        return _read_trace(options, target)
    compiled = (_heir if options.library == "heir" else _pisa)(options, Path(options.files[0]))
    return {
        "file": str(target),
        "bytes": compiled.save(target),
        "arguments": ", ".join(compiled.signature.inputs),
        "slots": compiled.signature.slots,
        "parameters": repr(compiled.params),
    }


def _heir(options: Namespace, file: Path) -> Compiled:
    from ringmill.interop import heir

    program = heir.load(file, options.function)
    clear = [argument.name for argument in program.arguments if not argument.encrypted]
    if clear:
        _refuse(
            "ClearArguments",
            f"{', '.join(clear)} of {program.name} are in the clear, and a file cannot name them here. "
            "Compile the module in Python: ringmill.interop.heir.load(…).compile(NAME=value).",
        )
    given = {"magnitude": options.magnitude, "precision": options.precision}
    known = {name: value for name, value in given.items() if value is not None}
    return program.compile(faithful=options.faithful, insecure=options.insecure, **known)


def _pisa(_: Namespace, file: Path) -> Compiled:
    from ringmill.interop import pisa

    return pisa.load(file).compile()


def _read_trace(options: Namespace, target: Path) -> Facts:
    """A trace as the text of a limb program: its primes are its own, so it is no kernel."""
    from ringmill.interop import fhetch

    trace = fhetch.load(options.files[0], log_n=options.log_n, keys_from=options.keys_from)
    return {
        "file": str(target),
        "bytes": trace.save(target),
        "instructions": trace.lines,
        "degree": 1 << trace.log_n,
        "primes": len(trace.moduli),
        "inputs": ", ".join(f"{group.name} ({len(group.moduli)} limbs)" for group in trace.inputs),
        "outputs": ", ".join(f"{group.name} ({len(group.moduli)} limbs)" for group in trace.outputs),
    }


def _write_trace(options: Namespace) -> Facts:
    """The limb program of a kernel, or one as text, as a trace."""
    from ringmill.interop import fhetch

    file = options.files[0]
    target = Path(to_write(options.out, file))
    if options.what != "program":
        _refuse(
            "NoKind", "Of fhetch a program is exported: `ringmill export fhetch program FILE --out TRACE`."
        )
    if bundle.is_bundle(file):
        compiled = Compiled.load(file)
        text = compiled.plan.limb_program(compiled.switching, "compact")
    else:
        text = limb_program(file).to_text()
    return {"file": str(target), "bytes": fhetch.write(text, target)}


def import_(options: Namespace) -> Facts:
    """Read a file of another library and write it as ours."""
    if options.library in PROGRAMS:
        return _program(options)
    _checked(options, IMPORTS)
    named = dict(part.split("=", 1) if "=" in part else ("", part) for part in options.files)
    files = list(named.values())
    if options.what == "arguments":
        if "" in named:
            _refuse("NoName", "Arguments have names. Give NAME=FILE for each.")
    elif len(options.files) != 1:
        _refuse("Files", f"One file of {options.what} is read at a time, not {len(options.files)}.")
    given = [files[0], options.context, options.kernel, options.galois]
    target = Path(to_write(options.out, *(file for file in given if file is not None)))
    library = _library(options, files[0])
    facts: Facts = {"file": str(target), "parameters": repr(library.params)}
    if options.what == "parameters":
        write_bytes(target, library.params.to_bytes())
    elif options.what == "secret":
        library.secret(files[0]).save_secret(target, overwrite=options.overwrite)
    elif options.what == "public":
        write_bytes(target, library.public(files[0]).to_bytes())
    elif options.what == "keys":
        keys = library.keys(files[0], options.galois)
        write_bytes(target, keys.to_bytes())
        facts["keys"] = repr(keys)
    else:
        compiled = _kernel(options)
        parts = {name: library.ciphertext(file, options.magnitude) for name, file in named.items()}
        arguments(compiled, **parts).save(target)
        facts["ciphertexts"] = len(parts)
    return {**facts, "bytes": target.stat().st_size}


def export(options: Namespace) -> Facts:
    """Write a file of ours as one of another library."""
    if options.library in TRACES:
        return _write_trace(options)
    _checked(options, EXPORTS)
    file = options.files[0]
    given = [file, options.context, options.kernel]
    target = Path(to_write(options.out, *(path for path in given if path is not None)))
    library = _library(options, file)
    if options.what == "parameters":
        size = library.save_parameters(target)
    elif options.what == "secret":
        size = library.save_secret(secret(library.params, file), target)
    elif options.what == "public":
        size = library.save_public(file, target)
    elif options.what in ("relin", "galois"):
        keys = evaluation_keys(file, library.params, "expanded")
        size = (library.save_relin if options.what == "relin" else library.save_galois)(keys, target)
    else:
        compiled = _kernel(options)
        parts = Values.load(file, "results", compiled.params).parts
        if options.name is None and len(parts) != 1:
            _refuse("NoName", f"There are the results {', '.join(parts)}. Choose one with --name.")
        name = options.name or next(iter(parts))
        if name not in parts:
            _refuse("NoName", f"There is no result {name!r}; there are {', '.join(parts)}.")
        size = library.save_ciphertext(parts[name], target)
    return {"file": str(target), "bytes": size, "parameters": repr(library.params)}
