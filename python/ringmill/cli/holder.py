"""What the holder of the secret key does with a kernel at the command line: keys, encryption, decryption."""

from __future__ import annotations

import argparse
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ringmill import bundle
from ringmill.atomic import make_folder
from ringmill.cli import arrays
from ringmill.cli.places import to_write
from ringmill.cli.read import client, encryption_key, secret
from ringmill.cli.running import Verb
from ringmill.client.machine import CPU, engine_of
from ringmill.errors import CommandError, fail
from ringmill.keys import refuse_secret
from ringmill.progress import Show
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.encryptor import Encryptor

Facts = dict[str, Any]


def kernel(sub: argparse.ArgumentParser, what: str = "client.rm, or the whole kernel file") -> None:
    """The option that names the kernel."""
    sub.add_argument("--kernel", required=True, metavar="FILE", help=what)


def keygen_options(verb: Verb) -> None:
    """The options of `keygen`."""
    sub = verb("keygen", "Make the secret key and the keys that a kernel needs.")
    kernel(sub)
    sub.add_argument("--out", required=True, metavar="DIR", help="folder for the key files")
    sub.add_argument("--overwrite", action="store_true", help="replace an existing secret key")
    sub.add_argument(
        "--insecure", action="store_true", help="accept a kernel file of less than 128 bits of security"
    )


def encrypt_options(verb: Verb) -> None:
    """The options of `encrypt`."""
    sub = verb("encrypt", "Encrypt the arguments of a kernel.")
    kernel(sub)
    sub.add_argument(
        "--key", required=True, metavar="FILE", help="public key, or secret key (half the bytes)"
    )
    sub.add_argument(
        "--input", required=True, metavar="FILE", help=".npz or .json with one array an argument"
    )
    sub.add_argument("--out", required=True, metavar="FILE", help="encrypted arguments")
    _machine(sub)


def decrypt_options(verb: Verb) -> None:
    """The options of `decrypt`."""
    sub = verb("decrypt", "Decrypt the results of a kernel.")
    kernel(sub)
    sub.add_argument("--key", required=True, metavar="FILE", help="secret key")
    sub.add_argument("--input", required=True, metavar="FILE", help="encrypted results")
    sub.add_argument("--out", required=True, metavar="FILE", help=".npz or .json for the arrays")
    _machine(sub)
    publish_options(sub, "add the noise that hides errors when N decryptions of this key are published")


def rewrite_options(verb: Verb) -> None:
    """The options of `rewrite`."""
    sub = verb("rewrite", "Write encrypted arguments or results anew, stating public facts alone.")
    kernel(sub)
    sub.add_argument("--input", required=True, metavar="FILE", help="arguments or results of any version")
    sub.add_argument("--out", required=True, metavar="FILE", help="the same in the newest version")


def publish_options(sub: argparse.ArgumentParser, what: str) -> None:
    """The options of results that are published."""
    sub.add_argument("--publish", type=int, metavar="N", help=what)
    sub.add_argument(
        "--statistical", type=int, metavar="BITS", help="bits of statistical security of --publish (30)"
    )


def _machine(sub: argparse.ArgumentParser) -> None:
    """The machine that encrypts or decrypts."""
    sub.add_argument(
        "--machine",
        default=CPU,
        metavar="MACHINE",
        help="cpu (default), or encryptor: the simulated encryption engine, which prints its cycles",
    )
    sub.add_argument(
        "--report", metavar="FILE", help="of the encryption engine: write a page of which unit works when"
    )


def _engine(options: Namespace) -> Encryptor | None:
    """The simulated encryption engine, if it is the machine; refuses a page that could not be written."""
    engine = engine_of(options.machine)
    if not options.report:
        return engine
    if engine is None:
        fail(
            CommandError,
            "NoPage",
            f"--report {options.report} draws the encryption engine, and the machine is {CPU}. "
            "Give --machine encryptor, or leave --report out.",
            path=options.report,
        )
    from ringmill.explorer.result import can_report

    can_report()
    to_write(options.report, options.kernel, options.key, options.input, options.out)
    return engine


def _cycles(engine: Encryptor | None, report: str | None) -> Facts:
    """What the simulated encryption engine took, a job after the other."""
    if engine is None:
        return {}
    if report:
        engine.report(report)
    return {"machine": "encryptor", "cycles": engine.cycles, **({"report": report} if report else {})}


def show(options: Namespace) -> Show:
    """Whether progress is shown."""
    return "none" if options.quiet else "auto"


def keygen(options: Namespace) -> Facts:
    """Make keys for a kernel."""
    compiled = client(options.kernel)
    folder = Path(options.out)
    if (folder / "secret.key").exists() and not options.overwrite:
        refuse_secret(folder / "secret.key", "--overwrite")
    make_folder(folder)
    # Files hold seeds: the halves that they stand for need not be in memory.
    keys = compiled.keygen(seeded=True, insecure=options.insecure, progress=show(options))
    sizes = keys.save(folder, overwrite=options.overwrite)
    files = [f"{folder / name} ({size} bytes)" for name, size in sizes.items()]
    return {
        "kernel": compiled.name,
        "keys": compiled.keys_needed,
        "identity": keys.identity,
        "files": files,
    }


def encrypt(options: Namespace) -> Facts:
    """Encrypt arrays from a file."""
    compiled = client(options.kernel)
    target = to_write(options.out, options.kernel, options.key, options.input)
    key = encryption_key(options.key, compiled.params)
    engine = _engine(options)
    values = compiled.encrypt(
        key,
        arrays.read(options.input, compiled.arguments, many=compiled.signature.lanes > 0),
        progress=show(options),
        machine=engine or CPU,
    )
    size = values.save(target)
    counted = _cycles(engine, options.report)
    return {"file": str(target), "bytes": size, "ciphertexts": len(values.parts), **counted}


def decrypt(options: Namespace) -> Facts:
    """Decrypt a file of results."""
    compiled = client(options.kernel)
    target = to_write(options.out, options.kernel, options.key, options.input)
    key = secret(compiled.params, options.key)
    results = Values.load(options.input, "results", compiled.params)
    more = {} if options.statistical is None else {"statistical": options.statistical}
    engine = _engine(options)
    named = compiled.decrypted(key, results, publish=options.publish, machine=engine or CPU, **more)
    arrays.write(target, named)
    shapes = [f"{name} {list(array.shape)}" for name, array in named.items()]
    facts = {
        "file": str(target),
        "arrays": shapes,
        "predicted_error_log2": round(results.error_log2, 2),
        **_cycles(engine, options.report),
    }
    if options.publish is not None:
        facts["published_error_log2"] = round(compiled.published_error(options.publish, **more), 2)
    return facts


def rewrite(options: Namespace) -> Facts:
    """Write encrypted arguments or results anew, stating public facts alone."""
    compiled = client(options.kernel)
    target = to_write(options.out, options.kernel, options.input)
    role = bundle.kind_of(options.input)
    if role not in ("arguments", "results"):
        fail(
            CommandError,
            "WrongKind",
            f"{options.input} holds {role or 'something else'}, but arguments or results are wanted. "
            "Keys and kernels need no rewriting.",
            path=options.input,
        )
    values = compiled.rewritten(Values.load(options.input, role, compiled.params))
    size = values.save(target)
    return {"file": str(target), "bytes": size, "role": role, "ciphertexts": len(values.parts)}
