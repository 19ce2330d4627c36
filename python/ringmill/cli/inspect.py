"""`ringmill inspect`: what a file is and, with the kernel that it belongs to, what it contains."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ringmill import bundle, memory
from ringmill._checks import sizes
from ringmill._native import Ciphertext, EvaluationKeys, identify, identify_file, program_traffic
from ringmill.atomic import write_text
from ringmill.cli import traffic
from ringmill.cli.places import to_write
from ringmill.cli.read import client, evaluation_keys, named, warn_if_open
from ringmill.cli.simulate import limb_program
from ringmill.client import Client, ClientSide
from ringmill.compiled import Compiled
from ringmill.errors import CommandError, FileFormatError, MismatchError, RingmillError, fail
from ringmill.switching import costs_of
from ringmill.values import Values

Facts = dict[str, Any]


def inspect(options: Namespace) -> Facts:
    """Say what a file is, without any key; with a kernel, what only its parameters can read."""
    path = Path(options.file)
    if options.capacity is not None:
        return {"file": options.file, **_traffic(options.file, options.capacity, options.reorder)}
    if options.reorder is not None:
        fail(CommandError, "NoCapacity", "--reorder is for a chip; give its size, as --capacity 128MiB.")
    if path.is_dir():
        return {"folder": options.file, "files": _files(path)}
    kernel = client(options.kernel) if options.kernel else None
    facts = _alone(options.file)
    if kernel is not None:
        facts |= _of_kernel(options.file, facts, kernel)
    return facts


def _traffic(path: str, capacity: str, out: str | None) -> Facts:
    """What a kernel or a limb program moves over the edge of a chip; with ``out`` in a better order."""
    held = sizes.capacity(CommandError, "--capacity", capacity)
    target = None if out is None else to_write(out, path)
    seeded, by_cost, reorder = True, False, target is not None
    if bundle.is_bundle(path):
        compiled = Compiled.load(path)
        moved = compiled.plan.traffic(compiled.switching, costs_of("cpu"), *held, seeded, by_cost, reorder)
    else:
        with named(path):
            moved = program_traffic(limb_program(path), *held, seeded, by_cost, reorder)
    if target is not None:
        write_text(target, moved["program"])
    return traffic.facts(moved) | ({} if target is None else {"program": str(target)})


def _files(folder: Path) -> list[str]:
    """What the files of a folder are, a line each."""
    lines = []
    for path in sorted(entry for entry in folder.iterdir() if entry.is_file()):
        try:
            facts = _alone(str(path))
        except RingmillError:
            lines.append(f"{path.name}: no Ringmill file")
            continue
        owner = f", identity {facts['identity']}" if facts.get("identity") else ""
        lines.append(f"{path.name}: {facts['kind']}, {facts['bytes']} bytes{owner}")
    return lines


def _alone(path: str) -> Facts:
    """What a file says of itself."""
    return _of_bundle(path) if bundle.is_bundle(path) else _of_file(path)


def _of_file(path: str) -> Facts:
    """What the head of one object's file says."""
    with named(path):
        reported = identify_file(path)
    if reported["kind"] == "secret key":
        warn_if_open(path)
    return {"file": path, "bytes": Path(path).stat().st_size, **reported}


def _of_bundle(path: str) -> Facts:
    data = bundle.read_packed(path, "bundle")
    for kind in ("kernel", "client", "arguments", "results", "key forms"):
        try:
            read = bundle.parse(data, kind, path)
        except FileFormatError as error:
            if error.code != "WrongKind":
                raise
            continue
        facts: Facts = {"file": path, "bytes": len(data), "kind": kind, **read.facts}
        if kind == "kernel":
            facts |= _of_compiled(Compiled.load(path))
        elif kind == "client":
            kernel = Client.from_bytes(data)
            facts = {name: facts[name] for name in ("file", "bytes", "kind", "kernel", "program", "digest")}
            errors = {part: f"2^{error:.1f}" for part, error in kernel.predicted_error.items()}
            facts |= {**_of_client(kernel), "magnitude": kernel.terms.magnitude, "stated errors": errors}
        else:
            reported = {name: identify(part) for name, part in read.parts.items()}
            # One, unless what is in the file was not made together.
            owners = {part["identity"] for part in reported.values()} - {None}
            facts["identity"] = " and ".join(sorted(owners)) or None
            facts["forms" if kind == "key forms" else "ciphertexts"] = [
                f"{name}: {part['kind']}, {len(read.parts[name])} bytes" for name, part in reported.items()
            ]
        return facts
    fail(
        FileFormatError,
        "WrongKind",
        f"{path} is a ZIP archive, but no Ringmill file. Check the path.",
        path=path,
    )


def _of_compiled(compiled: Compiled) -> Facts:
    """What a kernel file holds."""
    reported = _of_client(compiled)
    return {
        **{name: reported[name] for name in ("parameters", "depth")},
        **(
            {"bootstrappings": len(compiled.bootstraps), "bootstraps": compiled.bootstraps}
            if compiled.bootstraps
            else {}
        ),
        **reported,
    }


def _of_client(kernel: ClientSide) -> Facts:
    """What a kernel takes and gives."""
    signature, taken = kernel.signature, set(kernel.terms.taken)
    return {
        "parameters": repr(kernel.params),
        "depth": kernel.terms.depth,
        "keys needed": kernel.keys_needed,
        "arguments": [
            f"{n} {list(s.shape)} ({s.packing})"
            + ("" if taken.intersection(s.parts(n)) else ", which no result needs")
            for n, s in signature.inputs.items()
        ],
        "results": [f"{n} {list(r.shape)}" for n, r in signature.outputs.items()],
    }


def _of_kernel(path: str, facts: Facts, kernel: ClientSide) -> Facts:
    """Describe a file by its parameters: levels and errors of ciphertexts, the keys that it holds."""
    readers: dict[str, Callable[[], Facts]] = {
        "ciphertext": lambda: _ciphertext(Ciphertext.load(kernel.params, path)),
        "arguments": lambda: _values(path, "arguments", kernel),
        "results": lambda: _values(path, "results", kernel),
        "set of evaluation keys": lambda: _keys(path, kernel),
    }
    print_there, wanted = facts.get("fingerprint"), kernel.params.fingerprint
    if print_there is not None and print_there != wanted:
        fail(
            MismatchError,
            "ParamsMismatch",
            f"{path} belongs to other parameters ({print_there}) than kernel {kernel.name!r} ({wanted}). "
            "Give the kernel that it was made for.",
            path=path,
            expected=wanted,
            found=print_there,
        )
    read = readers.get(facts["kind"], dict)
    with named(path):
        return {"parameters": repr(kernel.params), **read()}


def _ciphertext(cipher: Ciphertext) -> Facts:
    return {
        "slots": cipher.slots,
        "level": cipher.level,
        "scale_log2": round(cipher.scale_log2, 2),
        "predicted_error_log2": round(cipher.error_log2, 2),
        "magnitude": cipher.magnitude,
    }


def _values(path: str, role: str, kernel: ClientSide) -> Facts:
    values = Values.load(path, role, kernel.params)
    ours = kernel._made(values.program)
    reported = [
        f"{name}: {c.slots} slots, level {c.level}, scale 2^{c.scale_log2:.2f}, "
        f"predicted error 2^{c.error_log2:.1f}, values up to {c.magnitude:.3g}, {c.nbytes} bytes in memory"
        for name, c in values.parts.items()
    ]
    whose = "yes" if ours else "no, of another program or other bounds"
    return {"of this kernel": whose, "ciphertexts": reported}


def _keys(path: str, kernel: ClientSide) -> Facts:
    params = kernel.params
    keys = evaluation_keys(path, params, "mapped")
    count = len(keys.galois_elements) + keys.has_relin
    return {
        "relinearisation": "yes" if keys.has_relin else "no",
        "rotations": ", ".join(map(str, keys.rotations)) or "none",
        "conjugation": "yes" if keys.has_conjugation else "no",
        "encapsulation": "yes" if keys.has_encapsulation else "no",
        "forms": ", ".join(keys.forms) or "none beside the base one",
        "bytes in memory": round(memory.of_keys(params, count, keys.forms)),
        "for this kernel": _missing(keys, kernel),
    }


def _missing(keys: EvaluationKeys, kernel: ClientSide) -> str:
    """Which of the keys that a kernel needs are not there."""
    terms, there = kernel.terms, set(keys.rotations)
    lacks = ["relinearisation"] if terms.relin and not keys.has_relin else []
    lacks += [f"rotation by {k}" for k in terms.rotations if k not in there]
    lacks += ["conjugation"] if terms.conjugation and not keys.has_conjugation else []
    lacks += ["encapsulation"] if terms.encapsulation and not keys.has_encapsulation else []
    lacks += [f"the form {form}" for form in terms.forms if form not in keys.forms]
    return f"lacks {', '.join(lacks)}" if lacks else "all that it needs"
