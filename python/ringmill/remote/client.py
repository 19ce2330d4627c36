"""Clients of a service, in the calling thread and in an event loop: both take the steps of `steps`."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ringmill._checks.arguments import checked
from ringmill._native import EvaluationKeys, Params
from ringmill.errors import RemoteError, fail
from ringmill.keys import Keys
from ringmill.progress import Show
from ringmill.remote import steps
from ringmill.remote.receipt import Receipt
from ringmill.remote.steps import Ask, Pause, Steps
from ringmill.remote.transport import Transport, Trust
from ringmill.values import Values

if TYPE_CHECKING:
    from ringmill.compiled import Compiled

T = TypeVar("T")
Job = dict[str, Any]


def _patience(timeout: float) -> float:
    if not 0 < timeout < 1e9:
        fail(RemoteError, "BadTimeout", f"The timeout is {timeout!r}; give a positive number of seconds.")
    return max(timeout, steps.PATIENCE + 5.0)


def _trust(*files: str | Path | None) -> Trust:
    return Trust(*(None if file is None else str(file) for file in files))


class Client:
    """Speaks to a service as one tenant.

    Args:
        url: its address, as "http://127.0.0.1:8750".
        token: what the service or its operator gave.
        timeout: seconds to wait for the service to say anything.
        ca: file of the authorities that the service may be of (PEM); those of the system without it.
        cert: file of the client's certificate, where the service wants one (PEM).
        key: file of its private key (PEM), without a password.

    >>> Client("http://127.0.0.1:8750", "rms_x")
    <client of http://127.0.0.1:8750>
    """

    @checked
    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        ca: str | Path | None = None,
        cert: str | Path | None = None,
        key: str | Path | None = None,
    ) -> None:
        self.url = url
        self._transport = Transport(url, token, _patience(timeout), _trust(ca, cert, key))

    def __repr__(self) -> str:
        return f"<client of {self.url}>"

    def close(self) -> None:
        """End the connection; it is made again when it is needed."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _do(self, all_steps: Steps[T]) -> T:
        def one(step: Any) -> Any:
            if isinstance(step, Ask):
                return self._transport.ask(
                    step.method, step.path, step.body, step.headers, into=step.into, right=step.right
                )
            return time.sleep(step.seconds) if isinstance(step, Pause) else step.call()

        try:
            step = next(all_steps)
            while True:
                try:
                    came = one(step)
                except BaseException as error:
                    # The steps decide whether they go on; what they hold is given back.
                    step = all_steps.throw(error)
                else:
                    step = all_steps.send(came)
        except StopIteration as end:
            value: T = end.value
            return value

    # ---- objects ------------------------------------------------------------------------------

    @checked
    def push(self, what: Any, *, params: Params | None = None, progress: Show = "none") -> str:
        """Store a file, or what would be one, and return its hash; stored already, nothing is sent.

        Evaluation keys go key by key, those alone that are not there yet, and the hash is that of the set
        that names them. An upload that breaks is taken up where it broke, also by another process later.

        Args:
            what: a path, or a `Compiled`, `EvaluationKeys`, `Keys` or `Values`. Of `Keys` the evaluation keys
                alone are sent.
            params: those of a file of keys. Without them a file that has keys of bootstrapping goes as one.
            progress: how to show the work: "none", "auto", "bar" or "lines".

        Raises
        ------
            SecretError: a secret key.
            RemoteError: what the service refuses, by its code: ``QuotaBytes``, ``Damaged``, …
            FileFormatError: a file that cannot be read.
        """
        return self._do(steps.push(what, progress, params))

    @checked
    def has(self, digest: str) -> bool:
        """Whether the service has an object of this hash from this tenant."""
        return self._do(steps.has(digest))

    @checked
    def fetch(self, digest: str, path: str | Path) -> int:
        """Write the object of a hash to a file, which then is complete, or not there; returns its bytes.

        Raises
        ------
            RemoteError: code ``NotFound``; code ``Altered`` for bytes of another hash.
            FileFormatError: a file that cannot be written.
        """
        return self._do(steps.fetch(digest, path))

    def objects(self) -> list[dict[str, Any]]:
        """The tenant's objects, the newest first: hash, kind, size, facts, created, used, pinned, expires."""
        return list(self._do(steps.ask_json("GET", "/v1/objects")))

    @checked
    def delete(self, digest: str) -> None:
        """Remove an object that no open job needs."""
        self._do(steps.delete(digest))

    @checked
    def pin(self, digest: str, *, pinned: bool = True) -> dict[str, Any]:
        """Keep an object whatever its age, or no longer; returns it."""
        return self._do(steps.pin(digest, pinned))

    @checked
    def missing_keys(self, program: str, keys: str | None = None) -> list[str]:
        """The keys that a stored program needs and a stored file of keys lacks, by name."""
        return self._do(steps.missing_keys(program, keys))

    def account(self) -> dict[str, Any]:
        """What the tenant holds and may hold: name, quotas, bytes by kind, how long things are kept."""
        return dict(self._do(steps.ask_json("GET", "/v1/tenant")))

    @checked
    def delete_tenant(self, name: str) -> dict[str, Any]:
        """Delete the token's tenant, whose name says that it is meant, with everything it has.

        Returns the number of its objects and the names of its open jobs, which end. Needs scope ``admin``.
        """
        return self._do(steps.delete_tenant(name))

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
    ) -> Job:
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
        return self._do(steps.submit(program, keys, arguments, deadline, idempotency))

    @checked
    def job(self, identifier: str, *, wait: float = 0.0) -> Job:
        """A job, at once, or when it has ended but after ``wait`` seconds at the latest (60 at most)."""
        return self._do(steps.job(identifier, wait))

    def jobs(self) -> list[Job]:
        """The tenant's jobs, the newest first."""
        return list(self._do(steps.ask_json("GET", "/v1/jobs")))

    @checked
    def receipt(self, identifier: str) -> Receipt:
        """The service's signed statement on the results of a job that is done.

        Raises
        ------
            RemoteError: ``NotFound``: no such job, or one that is not done.
        """
        return self._do(steps.receipt(identifier))

    def signing_key(self) -> str:
        """The public key by which the service signs receipts. Keep it: `Receipt.verify` asks for it."""
        return self._do(steps.signing_key())

    @checked
    def cancel(self, identifier: str) -> Job:
        """Cancel a job; one that has ended stays as it is."""
        return self._do(steps.cancel(identifier))

    @checked
    def wait(self, identifier: str, *, timeout: float | None = None, progress: Show = "none") -> Job:
        """Wait for a job to end; returns it as it is then, or after ``timeout`` seconds as it is by then."""
        return self._do(steps.wait_for(identifier, timeout, progress))

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
        return self._do(steps.run(kernel, keys, arguments, deadline, progress))


class AsyncClient:
    """Speaks to a service as one tenant, within an event loop of asyncio: `Client` with ``await``.

    Calls may run side by side. One that is cancelled leaves nothing behind but what the service has accepted;
    an upload is taken up by the next `push` of the same bytes. It needs ``pip install ringmill[async]``.

    Args:
        url: its address, as "http://127.0.0.1:8750".
        token: what the service or its operator gave.
        timeout: seconds to wait for the service to say anything.
        ca: file of the authorities that the service may be of (PEM); those of the system without it.
        cert: file of the client's certificate, where the service wants one (PEM).
        key: file of its private key (PEM), without a password.
    """

    @checked
    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 60.0,
        ca: str | Path | None = None,
        cert: str | Path | None = None,
        key: str | Path | None = None,
    ) -> None:
        from ringmill.remote.asynchronous import AsyncTransport

        self.url = url
        self._transport = AsyncTransport(url, token, _patience(timeout), _trust(ca, cert, key))

    def __repr__(self) -> str:
        return f"<client of {self.url}>"

    async def close(self) -> None:
        """End the connections; the client is not used afterwards."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _do(self, all_steps: Steps[T]) -> T:
        async def one(step: Any) -> Any:
            if isinstance(step, Ask):
                return await self._transport.ask(
                    step.method, step.path, step.body, step.headers, into=step.into, right=step.right
                )
            if isinstance(step, Pause):
                return await asyncio.sleep(step.seconds)
            return await asyncio.to_thread(step.call)

        try:
            step = next(all_steps)
            while True:
                try:
                    came = await one(step)
                except BaseException as error:
                    # A cancellation too: what the steps hold is given back.
                    step = all_steps.throw(error)
                else:
                    step = all_steps.send(came)
        except StopIteration as end:
            value: T = end.value
            return value

    async def push(self, what: Any, *, params: Params | None = None, progress: Show = "none") -> str:
        """As `Client.push`."""
        return await self._do(steps.push(what, progress, params))

    async def has(self, digest: str) -> bool:
        """As `Client.has`."""
        return await self._do(steps.has(digest))

    async def fetch(self, digest: str, path: str | Path) -> int:
        """As `Client.fetch`."""
        return await self._do(steps.fetch(digest, path))

    async def objects(self) -> list[dict[str, Any]]:
        """As `Client.objects`."""
        return list(await self._do(steps.ask_json("GET", "/v1/objects")))

    async def delete(self, digest: str) -> None:
        """As `Client.delete`."""
        await self._do(steps.delete(digest))

    async def pin(self, digest: str, *, pinned: bool = True) -> dict[str, Any]:
        """As `Client.pin`."""
        return await self._do(steps.pin(digest, pinned))

    async def missing_keys(self, program: str, keys: str | None = None) -> list[str]:
        """As `Client.missing_keys`."""
        return await self._do(steps.missing_keys(program, keys))

    async def account(self) -> dict[str, Any]:
        """As `Client.account`."""
        return dict(await self._do(steps.ask_json("GET", "/v1/tenant")))

    async def delete_tenant(self, name: str) -> dict[str, Any]:
        """As `Client.delete_tenant`."""
        return await self._do(steps.delete_tenant(name))

    async def submit(
        self,
        program: str,
        keys: str,
        arguments: str,
        *,
        deadline: float | None = None,
        idempotency: str | None = None,
    ) -> Job:
        """As `Client.submit`."""
        return await self._do(steps.submit(program, keys, arguments, deadline, idempotency))

    async def job(self, identifier: str, *, wait: float = 0.0) -> Job:
        """As `Client.job`."""
        return await self._do(steps.job(identifier, wait))

    async def jobs(self) -> list[Job]:
        """As `Client.jobs`."""
        return list(await self._do(steps.ask_json("GET", "/v1/jobs")))

    async def receipt(self, identifier: str) -> Receipt:
        """As `Client.receipt`."""
        return await self._do(steps.receipt(identifier))

    async def signing_key(self) -> str:
        """As `Client.signing_key`."""
        return await self._do(steps.signing_key())

    async def cancel(self, identifier: str) -> Job:
        """As `Client.cancel`."""
        return await self._do(steps.cancel(identifier))

    async def wait(self, identifier: str, *, timeout: float | None = None, progress: Show = "none") -> Job:
        """As `Client.wait`."""
        return await self._do(steps.wait_for(identifier, timeout, progress))

    async def run(
        self,
        kernel: Compiled,
        keys: EvaluationKeys | Keys,
        arguments: Values,
        *,
        deadline: float | None = None,
        progress: Show = "none",
    ) -> Values:
        """As `Client.run`."""
        return await self._do(steps.run(kernel, keys, arguments, deadline, progress))
