"""Attackers on a service, in a process of their own: broken and endless heads, bodies that come by bytes, answers that
are read slowly or not at all, tokens that are wrong. What each does is drawn from a seed.

    python -m tests.acceptance.service.attacker '{"port": 1, "token": "…", "seed": 1, "attackers": 40}'
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable

GIVES_UP = 40.0
"""Seconds after which an attacker takes something else up."""
LARGEST = 400_000_000


class Attacker:
    """One connection after another."""

    def __init__(self, port: int, token: str, seed: int) -> None:
        self._port, self._token, self._random = port, token, random.Random(seed)
        self.done: Counter[str] = Counter()

    async def attack(self) -> None:
        """Go on for ever."""
        kinds: list[Callable[[], Awaitable[None]]]
        kinds = [self.endless, self.headers, self.bytes_of_head, self.nonsense, self.body, self.unread, self.slowly]
        kinds += [self.strangers]
        while True:
            kind = self._random.choice(kinds)
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
                async with asyncio.timeout(GIVES_UP):
                    await kind()
            self.done[kind.__name__] += 1
            await asyncio.sleep(0.01)

    @contextlib.asynccontextmanager
    async def _connected(self, receives: int = 65_536):  # type: ignore[no-untyped-def]
        there = socket.socket()
        there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        there.setblocking(False)
        await asyncio.get_running_loop().sock_connect(there, ("127.0.0.1", self._port))
        reader, writer = await asyncio.open_connection(sock=there, limit=receives)
        try:
            yield reader, writer
        finally:
            writer.close()

    def _begin(self, method: str = "POST", path: str = "/v1/report", *, known: bool = False) -> bytes:
        token = self._token if known else f"gbt_{self._random.randrange(10**9)}"
        return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n".encode()

    async def endless(self) -> None:
        """A head, a target, a trailer or a chunk's extension that does not end."""
        chunked = b"Transfer-Encoding: chunked\r\n\r\n"
        begins = [self._begin() + b"X: ", b"POST /", self._begin() + chunked + b"0\r\nX: ", b"\r\n"]
        begins += [self._begin(known=True) + chunked + b"1;x=", self._begin(known=True) + chunked + b"0\r\nX: "]
        async with self._connected() as (_, writer):
            writer.write(self._random.choice(begins))
            part = bytes(self._random.choices(b"ab", k=1)) * self._random.choice((1_000, 65_536, 1_048_576))
            for _ in range(LARGEST // len(part)):
                writer.write(part)
                await writer.drain()

    async def headers(self) -> None:
        """Thousands of headers, whole or without an end."""
        async with self._connected() as (reader, writer):
            line = b"X-%d: a\r\n" % self._random.randrange(100)
            writer.write(self._begin() + line * self._random.choice((90, 101, 10_000, 200_000)))
            writer.write(self._random.choice((b"", b"\r\n")))
            await writer.drain()
            await reader.read()

    async def bytes_of_head(self) -> None:
        """A head that comes by bytes."""
        async with self._connected() as (_, writer):
            for byte in self._begin() + b"X: " + b"y" * 100_000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(self._random.random() * 0.2)

    async def nonsense(self) -> None:
        """Bytes that are no HTTP, or nearly."""
        async with self._connected() as (reader, writer):
            given = bytearray(self._begin() + b"Content-Length: 5\r\n\r\nabcde")
            for _ in range(self._random.randrange(1, 20)):
                given[self._random.randrange(len(given))] = self._random.randrange(256)
            writer.write(given * self._random.randrange(1, 50))
            await writer.drain()
            await reader.read()

    async def body(self) -> None:
        """A body that is too large, ends too early, or comes by bytes."""
        async with self._connected() as (reader, writer):
            length = self._random.choice((5, 1_000, 16 * 2**20, 10**12))
            head = b"Content-Length: %d\r\nContent-Type: application/json\r\n\r\n" % length
            writer.write(self._begin(known=self._random.random() < 0.5) + head)
            for _ in range(self._random.randrange(1, 500)):
                writer.write(b"[" * self._random.randrange(1, 10_000))
                await writer.drain()
                await asyncio.sleep(self._random.random() * 0.1)
            await reader.read()

    async def unread(self) -> None:
        """Hundreds of requests at once whose answers nobody reads."""
        async with self._connected(4_096) as (_, writer):
            ask = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for _ in range(500):
                writer.write(ask)
            await writer.drain()
            await asyncio.sleep(GIVES_UP)

    async def slowly(self) -> None:
        """A dump that is read slowly."""
        async with self._connected(4_096) as (reader, writer):
            writer.write(self._begin("GET", "/v1/dump_pages", known=True) + b"\r\n")
            pace = self._random.choice((100, 5_000, 9_000, 50_000))
            while await reader.read(max(1, pace // 10)):
                await asyncio.sleep(0.1)

    async def strangers(self) -> None:
        """Tokens that are wrong, as fast as they are refused."""
        async with self._connected() as (reader, writer):
            for _ in range(500):
                writer.write(self._begin("GET", "/v1/now") + b"\r\n")
                await writer.drain()
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))


async def main(order: str) -> None:
    """Attack until the end of standard input."""
    told = json.loads(order)
    all_ = [Attacker(told["port"], told["token"], told["seed"] + number) for number in range(told["attackers"])]
    tasks = [asyncio.create_task(attacker.attack()) for attacker in all_]
    await asyncio.to_thread(sys.stdin.read)
    failed = [task.exception() for task in tasks if task.done()]
    print(json.dumps({"done": sum((attacker.done for attacker in all_), Counter()), "failed": list(map(repr, failed))}))
    sys.stdout.flush()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
