"""HTTP within an event loop, by httpx: what `transport` does in the calling thread."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import IO

from ringmill.errors import RemoteError, fail
from ringmill.remote.transport import BLOCK, Address, Answer, Piece, Trust, refused, repeatable

try:
    import httpx
except ImportError:
    fail(
        RemoteError,
        "NoHttpx",
        "AsyncClient needs httpx, which is not installed. Install it: pip install ringmill[async].",
    )


async def _sent(piece: Piece) -> AsyncIterator[bytes]:
    while data := await asyncio.to_thread(piece.read, BLOCK):
        yield data


class AsyncTransport:
    """Requests to one service, several at once."""

    def __init__(self, url: str, token: str | None, timeout: float, trust: Trust | None = None) -> None:
        self.address = Address.of(url, token)
        self.client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout, pool=None),
            verify=(trust or Trust()).context() if self.address.secure else ssl.create_default_context(),
            # As in `transport`: no proxy and no password that the environment names.
            trust_env=False,
        )

    async def close(self) -> None:
        """End the connections."""
        await self.client.aclose()

    async def ask(
        self,
        method: str,
        path: str,
        body: bytes | Piece | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        into: IO[bytes] | None = None,
        right: tuple[int, ...] = (200, 201, 204),
    ) -> Answer:
        """As `Transport.ask`."""
        sent = self.address.headers(body, headers)
        url = f"{self.address.origin}{path}"
        attempts = 2 if repeatable(method, body, sent) else 1
        while True:
            attempts -= 1
            content = _sent(body) if isinstance(body, Piece) else body
            try:
                async with self.client.stream(method, url, content=content, headers=sent) as response:
                    if into is not None and response.status_code == 200:
                        async for block in response.aiter_raw():
                            await asyncio.to_thread(into.write, block)
                        data = b""
                    else:
                        data = await response.aread()
                    answer = Answer(response.status_code, dict(response.headers), data)
            except httpx.HTTPError as error:
                if attempts == 0 or (into is not None and into.tell()):
                    self.address.unreachable(error)
            else:
                return answer if answer.status in right else refused(answer)
