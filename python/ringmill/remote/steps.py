"""What a client says to a service, without a connection.

Each function is a generator. It yields a request, a pause or work on files, and gets back what came of it, or
the error. `Client` does what they ask for in the calling thread, `AsyncClient` in an event loop.
"""

from __future__ import annotations

import base64
import json
import os
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import quote

from ringmill import _native, bundle
from ringmill._checks.ownership import of_kind
from ringmill._native import EvaluationKeys, KeyPieces, Params, SecretKey
from ringmill.atomic import writing
from ringmill.bundle import opened
from ringmill.errors import FileFormatError, RemoteError, SecretError, fail
from ringmill.keys import Keys
from ringmill.progress import Show, share
from ringmill.remote.receipt import Receipt
from ringmill.remote.transport import Answer, Piece
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.compiled import Compiled

#: How often an upload that broke is taken up again, the first wait, which doubles, and the longest.
RETRIES = 6
FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0

#: Seconds for which an upload asks again for a place among those that run.
BUSY = 300.0

#: What an upload that is refused with is asked again.
PASSING = frozenset(
    ("Unreachable", "Locked", "Busy", "Draining", "CutOff", "TooSlow", "DatabaseAway", "BucketAway")
)

#: Seconds that one request waits for a job to change.
PATIENCE = 30

_TUS = {"Tus-Resumable": "1.0.0"}
_PIECE = {**_TUS, "Content-Type": "application/offset+octet-stream"}

#: States in which a job stays.
ENDED = ("done", "failed", "cancelled", "expired")


@dataclass(frozen=True, slots=True)
class Ask:
    """A request; its answer comes back."""

    method: str
    path: str
    body: bytes | Piece | None = None
    headers: dict[str, str] = field(default_factory=dict)
    into: IO[bytes] | None = None
    right: tuple[int, ...] = (200, 201, 204)


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Work:
    """Work on files, or computing, that takes a while; its value comes back."""

    call: Callable[[], Any]


T = TypeVar("T")
Steps: TypeAlias = Generator[Ask | Pause | Work, Any, T]


def ask_json(method: str, path: str, value: Any = None, **headers: str) -> Steps[Any]:
    """A request whose answer is JSON."""
    body = None if value is None else json.dumps(value).encode()
    sent = {"Content-Type": "application/json"} if body else {}
    answer: Answer = yield Ask(method, path, body, {**sent, **headers})
    return answer.json()


# ---- objects ----------------------------------------------------------------------------------


def push(what: Any, progress: Show, params: Params | None = None) -> Steps[str]:
    """Store a file, or what would be one; of several keys the set that names them."""
    with tempfile.TemporaryDirectory(prefix="ringmill-") as folder:
        path: Path = yield Work(partial(_file_of, what, Path(folder)))
        keys: KeyPieces | None = yield Work(
            partial(_pieces_of, path, params or getattr(what, "params", None))
        )
        if keys is not None and len(keys) > 1:
            return (yield from _push_keys(keys, path.name, Path(folder), progress))
        digest: str = yield Work(partial(_native.blake3_file, path))
        if not (yield from has(digest)):
            yield from _upload(path, digest, path.name, progress)
    return digest


def _push_keys(keys: KeyPieces, name: str, folder: Path, progress: Show) -> Steps[str]:
    """Store the keys of a file that are not there yet, and the set that names all."""
    piece, manifest = folder / "piece", folder / "set"
    digests = []
    for index in range(len(keys)):
        yield Work(partial(keys.write, index, piece))
        digests.append((yield Work(partial(_native.blake3_file, piece))))
    # The one form of a set: equal sets are one object.
    form = {"ringmill": "key set", "keys": sorted(digests)}
    manifest.write_text(json.dumps(form, separators=(",", ":")))
    whole: str = yield Work(partial(_native.blake3_file, manifest))
    if (yield from has(whole)):
        # A set is there only while all that it names is.
        return whole
    for index, digest in enumerate(digests):
        if not (yield from has(digest)):
            # One at a time: a file of keys may be larger than what is free beside it.
            yield Work(partial(keys.write, index, piece))
            yield from _upload(piece, digest, f"{name}, key {index + 1} of {len(keys)}", progress)
    yield from _upload(manifest, whole, name, progress)
    return whole


def _pieces_of(path: Path, params: Params | None) -> KeyPieces | None:
    """The keys of a file of evaluation keys."""
    with suppress(FileFormatError):
        found = _native.identify_file(path)
        if found["kind"] == "set of evaluation keys":
            # Keys of other parameters are refused by the service, with all that does not fit.
            own = params is not None and str(params.fingerprint) == found["fingerprint"]
            return KeyPieces(path, params if own else None)
    return None


def params_of(*files: str | Path) -> Params | None:
    """The parameters of the first kernel file among these."""
    for file in files:
        with suppress(FileFormatError, KeyError):
            return Params.from_bytes(bundle.load(file, "kernel").parts["params"])
    return None


def has(digest: str) -> Steps[bool]:
    """Whether there is an object."""
    answer: Answer = yield Ask("HEAD", f"/v1/objects/{named(digest)}", right=(200, 404))
    return answer.status == 200


def _upload(path: Path, digest: str, name: str, progress: Show) -> Steps[None]:
    size = path.stat().st_size
    with opened(path) as file, share(f"push {name}", progress) as reported:
        location = yield from _begun(digest, size)
        wait, left, until = FIRST_WAIT, RETRIES, time.monotonic() + BUSY
        while True:
            try:
                if location is None:
                    location = yield from _begin(digest, size)
                head: Answer = yield Ask("HEAD", location, headers=_TUS)
                offset = int(head.headers["upload-offset"])
                reported(offset, size)
                headers = {**_PIECE, "Upload-Offset": str(offset)}
                yield Ask("PATCH", location, Piece(file, offset, size), headers)
                reported(size, size)
                return
            except RemoteError as error:
                passing = error.code in PASSING
                if error.code in ("NotFound", "Gone", "OtherNode"):
                    # It was completed before the answer was lost, has expired, or another node holds it.
                    if (yield from has(digest)):
                        return
                    location = None
                elif not passing and error.code != "Offset":
                    raise
                # A service that has no place free is not one that fails.
                left -= error.code != "Busy" or time.monotonic() > until
                if left == 0:
                    raise
            # Clients that were refused together do not come back together.
            yield Pause(wait * random.uniform(0.5, 1.5))
            wait = min(2 * wait, LONGEST_WAIT)


def _begun(digest: str, size: int) -> Steps[str | None]:
    """An upload of the same bytes that was begun before."""
    with suppress(RemoteError):
        for upload in (yield from ask_json("GET", "/v1/uploads")):
            if upload["hash"] == digest and upload["size"] == size:
                return f"/v1/uploads/{named(upload['id'])}"
    return None


def _begin(digest: str, size: int) -> Steps[str]:
    metadata = f"hash {base64.b64encode(digest.encode()).decode()}"
    headers = {**_TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
    answer: Answer = yield Ask("POST", "/v1/uploads", b"", headers)
    return answer.headers["location"]


def fetch(digest: str, path: str | Path) -> Steps[int]:
    """Write an object to a file."""
    target = Path(path)
    with writing(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".ringmill-") as folder:
        temporary = Path(folder) / "object"
        with temporary.open("wb") as file:
            yield Ask("GET", f"/v1/objects/{named(digest)}", into=file)
        found = yield Work(partial(_native.blake3_file, temporary))
        if found != digest:
            fail(
                RemoteError,
                "Altered",
                f"The bytes that came have hash {found:.16}, not {digest:.16}. Fetch them again.",
                found=found,
                expected=digest,
            )
        temporary.replace(target)
    return target.stat().st_size


def delete(digest: str) -> Steps[None]:
    """Remove an object."""
    yield Ask("DELETE", f"/v1/objects/{named(digest)}")


def pin(digest: str, pinned: bool) -> Steps[dict[str, Any]]:
    """Keep an object whatever its age, or no longer."""
    return dict((yield from ask_json("PATCH", f"/v1/objects/{named(digest)}", {"pinned": bool(pinned)})))


def missing_keys(program: str, keys: str | None) -> Steps[list[str]]:
    """The keys that a program lacks."""
    asked = {"keys": keys}
    reported = yield from ask_json("POST", f"/v1/programs/{named(program)}/missing-keys", asked)
    return list(reported["missing"])


def delete_tenant(name: str) -> Steps[dict[str, Any]]:
    """Delete the tenant of the token, which has this name."""
    return dict((yield from ask_json("DELETE", f"/v1/tenant?name={quote(name, safe='')}")))


# ---- jobs -------------------------------------------------------------------------------------


def submit(
    program: str, keys: str, arguments: str, deadline: float | None, idempotency: str | None
) -> Steps[dict[str, Any]]:
    """Ask for a job."""
    asked: dict[str, Any] = {"program": program, "keys": keys, "arguments": arguments}
    if deadline is not None:
        asked["deadline"] = int(deadline)
    key = idempotency or uuid.uuid4().hex
    if not key.isascii() or not key.isprintable():
        fail(RemoteError, "BadName", f"The name {key!r:.80} of a job is to be printable ASCII. Choose one.")
    return dict((yield from ask_json("POST", "/v1/jobs", asked, **{"Idempotency-Key": key})))


def job(identifier: str, wait: float) -> Steps[dict[str, Any]]:
    """A job."""
    seconds = int(min(max(wait, 0.0), PATIENCE))
    return dict((yield from ask_json("GET", f"/v1/jobs/{named(identifier)}?wait={seconds}")))


def receipt(identifier: str) -> Steps[Receipt]:
    """The signed statement on a job."""
    found = yield from ask_json("GET", f"/v1/jobs/{named(identifier)}/receipt")
    return Receipt(str(found["statement"]), str(found["signature"]), str(found["public_key"]))


def signing_key() -> Steps[str]:
    """The key by which a service signs."""
    return str((yield from ask_json("GET", "/v1/signing-key"))["public_key"])


def cancel(identifier: str) -> Steps[dict[str, Any]]:
    """Cancel a job."""
    return dict((yield from ask_json("DELETE", f"/v1/jobs/{named(identifier)}")))


def wait_for(identifier: str, timeout: float | None, progress: Show) -> Steps[dict[str, Any]]:
    """Wait for a job to end."""
    until = None if timeout is None else time.monotonic() + timeout
    # Where progress is shown, it is asked for often.
    often = PATIENCE if progress == "none" else 1
    with share(f"job {identifier:.8}", progress) as reported:
        while True:
            left = often if until is None else min(often, until - time.monotonic())
            found = yield from job(identifier, max(left, 0))
            if found["state"] in ENDED or (until is not None and time.monotonic() >= until):
                return found
            reported(round(1000 * (found["progress"] or 0)), 1000)


def run(
    kernel: Compiled, keys: EvaluationKeys | Keys, arguments: Values, deadline: float | None, progress: Show
) -> Steps[Values]:
    """Run a kernel."""
    of_kind("client.run()", "kernel", kernel, _kernels(), "Give what kernel.compile() returns.")
    of_kind("client.run()", "keys", keys, (EvaluationKeys, Keys), "Give keys.evaluation.")
    of_kind("client.run()", "arguments", arguments, (Values,), "Give what compiled.encrypt() returns.")
    hashes = []
    for what in (kernel, keys, arguments):
        hashes.append((yield from push(what, progress, kernel.params)))
    asked = yield from submit(hashes[0], hashes[1], hashes[2], deadline, None)
    ended = yield from wait_for(asked["id"], None, progress)
    with tempfile.TemporaryDirectory(prefix="ringmill-") as folder:
        path = Path(folder) / "results"
        yield from fetch(result_of(ended), path)
        loaded: Values = yield Work(partial(Values.load, path, "results", kernel.params))
        return loaded


def result_of(job: dict[str, Any]) -> str:
    """The hash of the results of a job that is done; the error of one that is not."""
    if job["state"] == "done":
        return str(job["result"])
    code = job["code"] or str(job["state"]).capitalize()
    why = str(job["message"] or "").rstrip(".")
    fail(
        RemoteError,
        code,
        f"Job {job['id']} is {job['state']}{f': {why}' if why else ''}."
        + ("" if job["state"] in ENDED else " Wait for it to end."),
        job=job["id"],
        state=job["state"],
        failure_class=job["class"],
    )


def named(name: str) -> str:
    """A name that is part of an address."""
    if not (name.isascii() and name.isalnum()):
        fail(
            RemoteError,
            "BadName",
            f"{name!r:.80} names nothing of a service: names are letters and digits. "
            "Give what push() or submit() returned.",
        )
    return name


def _refuse_secret(path: Path) -> None:
    with suppress(FileFormatError):
        if _native.identify_file(path)["kind"] == "secret key":
            fail(
                SecretError,
                "SecretKey",
                f"{path} is a secret key, and nothing of it was sent. A service needs evaluation.keys.",
                path=str(path),
            )


def _kernels() -> tuple[type, ...]:
    """The class of kernels with programs. Installations for clients have none: there they are files."""
    try:
        from ringmill.compiled import Compiled
    except ModuleNotFoundError:
        return ()
    return (Compiled,)


def _file_of(what: Any, folder: Path) -> Path:
    """A file of what is to be sent; a secret key is refused."""
    if isinstance(what, (str, os.PathLike)):
        path = Path(what)
        with opened(path):
            _refuse_secret(path)
            return path
    if isinstance(what, SecretKey):
        fail(SecretError, "SecretKey", "A secret key is not sent. A service needs keys.evaluation.")
    kinds = (*_kernels(), EvaluationKeys, Keys, Values)
    of_kind("client.push()", "what", what, kinds, "Give a path, a kernel, evaluation keys or arguments.")
    path = folder / "object"
    (what.evaluation if isinstance(what, Keys) else what).save(path)
    return path
