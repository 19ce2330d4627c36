"""A client of a service: stores files once, starts jobs, fetches results."""

from __future__ import annotations

import base64
import json
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ringmill import _native
from ringmill._checks.arguments import checked
from ringmill._checks.ownership import of_kind
from ringmill._native import EvaluationKeys, SecretKey
from ringmill.atomic import writing
from ringmill.bundle import opened
from ringmill.compiled import Compiled
from ringmill.errors import FileFormatError, RemoteError, SecretError, fail
from ringmill.keys import Keys
from ringmill.progress import Show, share
from ringmill.remote.transport import Piece, Transport
from ringmill.values import Values

#: How often an upload that broke is taken up again, and the first wait, which doubles.
RETRIES = 6
FIRST_WAIT = 0.5

#: Seconds that one request waits for a job to change.
_PATIENCE = 30

_TUS = {"Tus-Resumable": "1.0.0"}
_PIECE = {**_TUS, "Content-Type": "application/offset+octet-stream"}

#: States in which a job stays.
ENDED = ("done", "failed", "cancelled", "expired")


class Client:
    """Speaks to a service as one tenant.

    Args:
        url: its address, as "http://127.0.0.1:8750".
        token: what the service or its operator gave.
        timeout: seconds to wait for the service to say anything.

    >>> Client("http://127.0.0.1:8750", "rms_x")
    <client of http://127.0.0.1:8750>
    """

    @checked
    def __init__(self, url: str, token: str | None = None, *, timeout: float = 60.0) -> None:
        if not 0 < timeout < 1e9:
            fail(RemoteError, "BadTimeout", f"The timeout is {timeout!r}; give a positive number of seconds.")
        self.url = url
        self._transport = Transport(url, token, max(timeout, _PATIENCE + 5.0))

    def __repr__(self) -> str:
        return f"<client of {self.url}>"

    def close(self) -> None:
        """End the connection; it is made again when it is needed."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _json(self, method: str, path: str, value: Any = None, **headers: str) -> Any:
        body = None if value is None else json.dumps(value).encode()
        sent = {"Content-Type": "application/json"} if body else {}
        return self._transport.ask(method, path, body, {**sent, **headers}).json()

    # ---- objects ------------------------------------------------------------------------------

    @checked
    def push(self, what: Any, *, progress: Show = "none") -> str:
        """Store a file, or what would be one, and return its hash; stored already, nothing is sent.

        An upload that breaks is taken up where it broke, also by another process later.

        Args:
            what: a path, or a `Compiled`, `EvaluationKeys`, `Keys` or `Values`. Of `Keys` the evaluation keys
                alone are sent.
            progress: how to show the work: "none", "auto", "bar" or "lines".

        Raises
        ------
            SecretError: a secret key.
            RemoteError: what the service refuses, by its code: ``QuotaBytes``, ``Damaged``, …
            FileFormatError: a file that cannot be read.
        """
        with _as_file(what) as path:
            _refuse_secret(path)
            digest = _native.blake3_file(path)
            if not self.has(digest):
                self._upload(path, digest, progress)
        return digest

    @checked
    def has(self, digest: str) -> bool:
        """Whether the service has an object of this hash from this tenant."""
        return self._transport.ask("HEAD", f"/v1/objects/{_named(digest)}", right=(200, 404)).status == 200

    def _upload(self, path: Path, digest: str, progress: Show) -> None:
        size = path.stat().st_size
        with opened(path) as file, share(f"push {path.name}", progress) as reported:
            location = self._begun(digest, size)
            wait = FIRST_WAIT
            for attempt in range(RETRIES):
                try:
                    if location is None:
                        location = self._begin(digest, size)
                    offset = self._offset(location)
                    reported(offset, size)
                    headers = {**_PIECE, "Upload-Offset": str(offset)}
                    self._transport.ask("PATCH", location, Piece(file, offset, size), headers)
                    reported(size, size)
                    return
                except RemoteError as error:
                    passing = error.code in ("Unreachable", "Locked", "Busy", "Draining", "CutOff", "TooSlow")
                    if error.code in ("NotFound", "Gone"):
                        # It was completed before the answer was lost, or has expired.
                        if self.has(digest):
                            return
                        location = None
                    elif not passing and error.code != "Offset":
                        raise
                    if attempt == RETRIES - 1:
                        raise
                time.sleep(wait)
                wait *= 2

    def _begun(self, digest: str, size: int) -> str | None:
        """An upload of the same bytes that was begun before."""
        with suppress(RemoteError):
            for upload in self._json("GET", "/v1/uploads"):
                if upload["hash"] == digest and upload["size"] == size:
                    return f"/v1/uploads/{_named(upload['id'])}"
        return None

    def _begin(self, digest: str, size: int) -> str:
        metadata = f"hash {base64.b64encode(digest.encode()).decode()}"
        headers = {**_TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
        return self._transport.ask("POST", "/v1/uploads", b"", headers).headers["location"]

    def _offset(self, location: str) -> int:
        return int(self._transport.ask("HEAD", location, headers=_TUS).headers["upload-offset"])

    @checked
    def fetch(self, digest: str, path: str | Path) -> int:
        """Write the object of a hash to a file, which then is complete, or not there; returns its bytes.

        Raises
        ------
            RemoteError: code ``NotFound``; code ``Altered`` for bytes of another hash.
            FileFormatError: a file that cannot be written.
        """
        target = Path(path)
        with writing(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".ringmill-") as folder:
            temporary = Path(folder) / "object"
            with temporary.open("wb") as file:
                self._transport.ask("GET", f"/v1/objects/{_named(digest)}", into=file)
            found = _native.blake3_file(temporary)
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

    def objects(self) -> list[dict[str, Any]]:
        """The tenant's objects, the newest first: hash, kind, size, facts, created, used."""
        return list(self._json("GET", "/v1/objects"))

    @checked
    def delete(self, digest: str) -> None:
        """Remove an object that no open job needs."""
        self._transport.ask("DELETE", f"/v1/objects/{_named(digest)}")

    @checked
    def missing_keys(self, program: str, keys: str | None = None) -> list[str]:
        """The keys that a stored program needs and a stored file of keys lacks, by name."""
        reported = self._json("POST", f"/v1/programs/{_named(program)}/missing-keys", {"keys": keys})
        return list(reported["missing"])

    # ---- jobs ---------------------------------------------------------------------------------

    @checked
    def submit(
        self,
        program: str,
        keys: str,
        arguments: str,
        *,
        deadline: float | None = None,
        idempotency: str | None = None,
    ) -> dict[str, Any]:
        """Ask for a job by the hashes of its files; returns it.

        Args:
            program: hash of the kernel file.
            keys: hash of the evaluation keys.
            arguments: hash of the arguments.
            deadline: seconds from now after which the job is not worth anything; an hour if ``None``.
            idempotency: a name for this job; asked for again under the same name, the first one is returned.

        Raises
        ------
            RemoteError: ``KeysMissing``, ``Memory``, ``QueueFull``, …
        """
        asked: dict[str, Any] = {"program": program, "keys": keys, "arguments": arguments}
        if deadline is not None:
            asked["deadline"] = int(deadline)
        key = idempotency or uuid.uuid4().hex
        if not key.isascii() or not key.isprintable():
            fail(
                RemoteError, "BadName", f"The name {key!r:.80} of a job is to be printable ASCII. Choose one."
            )
        return dict(self._json("POST", "/v1/jobs", asked, **{"Idempotency-Key": key}))

    @checked
    def job(self, identifier: str, *, wait: float = 0.0) -> dict[str, Any]:
        """A job, at once, or when it has ended but after ``wait`` seconds at the latest (60 at most)."""
        seconds = int(min(max(wait, 0.0), _PATIENCE))
        return dict(self._json("GET", f"/v1/jobs/{_named(identifier)}?wait={seconds}"))

    def jobs(self) -> list[dict[str, Any]]:
        """The tenant's jobs, the newest first."""
        return list(self._json("GET", "/v1/jobs"))

    @checked
    def cancel(self, identifier: str) -> dict[str, Any]:
        """Cancel a job; one that has ended stays as it is."""
        return dict(self._json("DELETE", f"/v1/jobs/{_named(identifier)}"))

    @checked
    def wait(
        self, identifier: str, *, timeout: float | None = None, progress: Show = "none"
    ) -> dict[str, Any]:
        """Wait for a job to end; returns it as it is then, or after ``timeout`` seconds as it is by then."""
        until = None if timeout is None else time.monotonic() + timeout
        # Where progress is shown, it is asked for often.
        often = _PATIENCE if progress == "none" else 1
        with share(f"job {identifier:.8}", progress) as reported:
            while True:
                left = often if until is None else min(often, until - time.monotonic())
                job = self.job(identifier, wait=max(left, 0))
                if job["state"] in ENDED or (until is not None and time.monotonic() >= until):
                    return job
                reported(round(1000 * (job["progress"] or 0)), 1000)

    @checked
    def run(
        self,
        kernel: Compiled,
        keys: EvaluationKeys | Keys,
        arguments: Values,
        *,
        deadline: float | None = None,
        progress: Show = "none",
    ) -> Values:
        """Run a kernel there as ``Compiled.evaluate`` runs it here: the results have the same bits.

        Raises
        ------
            RemoteError: what the service refuses; a job that did not come to its end, by the code of its
                failure or by its state.
        """
        of_kind("client.run()", "kernel", kernel, (Compiled,), "Give what kernel.compile() returns.")
        of_kind("client.run()", "keys", keys, (EvaluationKeys, Keys), "Give keys.evaluation.")
        of_kind("client.run()", "arguments", arguments, (Values,), "Give what compiled.encrypt() returns.")
        hashes = [self.push(what, progress=progress) for what in (kernel, keys, arguments)]
        job = self.wait(self.submit(*hashes, deadline=deadline)["id"], progress=progress)
        with tempfile.TemporaryDirectory(prefix="ringmill-") as folder:
            path = Path(folder) / "results"
            self.fetch(result_of(job), path)
            return Values.load(path, "results", kernel.params)


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


def _named(name: str) -> str:
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


@contextmanager
def _as_file(what: Any) -> Iterator[Path]:
    """A file of what is to be sent."""
    if isinstance(what, (str, os.PathLike)):
        path = Path(what)
        with opened(path):
            yield path
        return
    if isinstance(what, SecretKey):
        fail(SecretError, "SecretKey", "A secret key is not sent. A service needs keys.evaluation.")
    kinds = (Compiled, EvaluationKeys, Keys, Values)
    of_kind("client.push()", "what", what, kinds, "Give a path, a kernel, evaluation keys or arguments.")
    with tempfile.TemporaryDirectory(prefix="ringmill-") as folder:
        path = Path(folder) / "object"
        (what.evaluation if isinstance(what, Keys) else what).save(path)
        yield path
