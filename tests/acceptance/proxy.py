"""A TCP proxy on loopback that cuts the connection at a chosen moment of a Bolt conversation."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

COMMIT = b"\x00\x02\xb0\x12\x00\x00"


class Cutter:
    """Forwards to a server. Once armed it cuts once, at the chosen client message, and forwards again afterwards.

    `arm(n, lost)`: at the n-th batch of bytes the client sends from now on. `lost="request"`: the server never sees
    it; `lost="answer"`: the server sees it and answers, but the client never learns what.
    `arm_commit(lost)`: the same at the next COMMIT.
    """

    def __init__(self, host: str, port: int) -> None:
        self._upstream = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._left: int | None = None
        self._commit = False
        self._lost = "request"
        self._pairs: list[_Pair] = []
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """From now on nobody reaches the server through it."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self._listener.close()
        for pair in self._pairs:
            pair.close()

    def arm(self, n: int, lost: str) -> None:
        with self._lock:
            self._left, self._commit, self._lost, self.cuts = n, False, lost, 0

    def arm_commit(self, lost: str) -> None:
        with self._lock:
            self._left, self._commit, self._lost, self.cuts = None, True, lost, 0

    def disarm(self) -> None:
        with self._lock:
            self._left, self._commit = None, False

    def _due(self, data: bytes) -> bool:
        with self._lock:
            if self._commit and COMMIT in data:
                self._commit = False
            elif self._left is not None and self._left > 1:
                self._left -= 1
                return False
            elif self._left == 1:
                self._left = None
            else:
                return False
            self.cuts += 1
            return True

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._upstream)
                pair = _Pair(client, server)
                self._pairs.append(pair)
                threading.Thread(target=self._forward, args=(pair,), daemon=True).start()
                threading.Thread(target=pair.answer, daemon=True).start()

    def _forward(self, pair: _Pair) -> None:
        with suppress(OSError):
            while data := pair.client.recv(1 << 20):
                if self._due(data):
                    if self._lost == "answer":
                        pair.swallow.set()
                        pair.server.sendall(data)
                        pair.swallowed.wait(10)
                    break
                pair.server.sendall(data)
        pair.close()


class _Pair:
    """One connection: what the client said goes to the server, and back, unless it is to be swallowed."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.swallow, self.swallowed = threading.Event(), threading.Event()

    def answer(self) -> None:
        with suppress(OSError):
            while data := self.server.recv(1 << 20):
                if self.swallow.is_set():
                    self.swallowed.set()
                    break
                self.client.sendall(data)
        self.swallowed.set()
        self.close()

    def close(self) -> None:
        for end in (self.client, self.server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
