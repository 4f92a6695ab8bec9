"""A cluster, as a driver with a `neo4j://` address sees it: proxies on loopback before one Neo4j, or before several.

Each member has a port. A member answers ROUTE itself, refuses transactions that write where it does not lead, and
passes everything else on to its server. It speaks Bolt 5.4 at most, in which a failure is a code and a message. What it
does not show: replication, elections, and members that disagree about who leads.
"""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

MAGIC = b"\x60\x60\xb0\x17"
VERSIONS = b"\x00\x04\x04\x05" + bytes(12)
"""What is offered to the server in place of what the driver offers: Bolt 5.4 to 5.0."""
GOODBYE, RESET, RUN, BEGIN, COMMIT, ROLLBACK, ROUTE = 0x02, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x66
SUCCESS, RECORD, IGNORED, FAILURE = 0x70, 0x71, 0x7E, 0x7F
WORK = re.compile(rb"\x84work(?:[\x80-\x8f]|\xd0.)([a-z_/]+)", re.DOTALL)
STATEMENT = re.compile(rb"/\* graphbrain ([\w/.-]+) \*/")
MILLIS = b"\xb1\x71\x91\xcb"
"""The beginning of a record that has one whole number of 64 bits."""
NOT_A_LEADER = "Neo.ClientError.Cluster.NotALeader"
UNAVAILABLE = "Neo.TransientError.General.DatabaseUnavailable"
INVALID_BOOKMARK = "Neo.ClientError.Transaction.InvalidBookmark"


def packed(value: Any) -> bytes:
    """A value in PackStream, of the kinds that answers have here."""
    if isinstance(value, bool) or value is None:
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return b"\xcb" + struct.pack(">q", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xd1" + struct.pack(">H", len(text)) + text
    if isinstance(value, list):
        return bytes([0x90 + len(value)]) + b"".join(map(packed, value))
    return bytes([0xA0 + len(value)]) + b"".join(packed(key) + packed(each) for key, each in value.items())


def answer(tag: int, facts: dict[str, Any] | None = None) -> bytes:
    """A message of a server."""
    return bytes([0xB0 if facts is None else 0xB1, tag]) + (b"" if facts is None else packed(facts))


@dataclass
class Transaction:
    """What a member has seen of one transaction. `reads`: was it begun for reading?"""

    work: str
    reads: bool
    bookmarks: bool
    statements: list[str] = field(default_factory=list)


Trouble = Callable[["Member", "Transaction | None", int], str | None]
"""Member, transaction, the tag of a message → the code of the failure that answers it, or None."""


class Cluster:
    """Some members, the first of which leads. `trouble`: is asked about each message of a client."""

    def __init__(self, *servers: tuple[str, int]) -> None:
        self.members = [Member(self, server) for server in servers]
        self.leader = self.members[0]
        self.trouble: Trouble = lambda *_: None
        self.routes = True
        """Does any member answer ROUTE?"""
        self.answered_first = False
        """Is COMMIT done by the server before `trouble` answers it?"""
        self.failures = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self.members:
            member.close()

    @property
    def uri(self) -> str:
        """An address by which a driver finds all members."""
        return f"neo4j://127.0.0.1:{self.members[0].port}"

    def lead(self, member: Member) -> None:
        """Let this member lead from now on."""
        self.leader = member

    def table(self) -> dict[str, Any]:
        """The routing table: the others are followers."""
        followers = [member for member in self.members if member is not self.leader] or self.members
        roles = {"WRITE": [self.leader], "READ": followers, "ROUTE": self.members}
        servers = [
            {"role": role, "addresses": [f"127.0.0.1:{member.port}" for member in members]}
            for role, members in roles.items()
        ]
        return {"rt": {"ttl": 300, "db": "neo4j", "servers": servers}}

    def fail_once(self, code: str, work: str, tag: int, then: Callable[[], None] = lambda: None) -> None:
        """Answer the next such message of a transaction called `work` by a failure, after `then`."""
        self.failures = 0

        def trouble(_member: Member, transaction: Transaction | None, met: int) -> str | None:
            if self.failures or met != tag or transaction is None or transaction.work != work:
                return None
            self.failures = 1
            then()
            return code

        self.trouble = trouble

    def refuse(self, code: str, times: int, when: Callable[[Transaction], bool] = lambda _: True) -> None:
        """Answer the next BEGINs so often by a failure."""
        self.failures = 0

        def trouble(_member: Member, transaction: Transaction | None, met: int) -> str | None:
            if met != BEGIN or transaction is None or self.failures == times or not when(transaction):
                return None
            self.failures += 1
            return code

        self.trouble = trouble


class Member:
    """One port, and the server behind it. `ahead`: milliseconds by which its clock is ahead."""

    def __init__(self, cluster: Cluster, server: tuple[str, int]) -> None:
        self.cluster, self.server, self.ahead = cluster, server, 0
        self.seen: list[Transaction] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End all connections, and take no more."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """End all connections."""
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, EOFError), client, socket.create_connection(self.server) as server:
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets.append(end)
            _Conversation(self, client, server).go()


class _Conversation:
    """One connection of a client: each message is answered before the next is read."""

    def __init__(self, member: Member, client: socket.socket, server: socket.socket) -> None:
        self.member, self.client, self.server = member, client, server
        self.failed = False
        self.transaction: Transaction | None = None

    def go(self) -> None:
        """Speak until one of both ends is gone."""
        assert _exactly(self.client, 20)[:4] == MAGIC
        self.server.sendall(MAGIC + VERSIONS)
        self.client.sendall(_exactly(self.server, 4))
        while True:
            message = _message(self.client)
            tag = message[1]
            if tag == RESET:
                self.failed, self.transaction = False, None
            if self.failed:
                self._say(answer(IGNORED))
                continue
            if tag == ROUTE:
                self._route()
                continue
            if tag == BEGIN:
                self._begin(message)
            if tag == RUN and self.transaction is not None and (found := STATEMENT.search(message)):
                self.transaction.statements.append(found[1].decode())
            if (code := self._trouble(tag)) is not None:
                if tag == COMMIT and self.member.cluster.answered_first:
                    self._pass_on(message, tell=False)
                self._fail(code)
            elif tag == GOODBYE:
                return
            else:
                self._pass_on(message)

    def _route(self) -> None:
        if self.member.cluster.routes:
            self._say(answer(SUCCESS, self.member.cluster.table()))
        else:
            self._fail(UNAVAILABLE)

    def _begin(self, message: bytes) -> None:
        found = WORK.search(message)
        work = found[1].decode() if found else ""
        self.transaction = Transaction(work, b"\x84mode\x81r" in message, b"bookmarks" in message)
        self.member.seen.append(self.transaction)

    def _trouble(self, tag: int) -> str | None:
        cluster, transaction = self.member.cluster, self.transaction
        if (code := cluster.trouble(self.member, transaction, tag)) is not None:
            return code
        writes = tag in (BEGIN, RUN, COMMIT) and transaction is not None and not transaction.reads
        return NOT_A_LEADER if writes and cluster.leader is not self.member else None

    def _fail(self, code: str) -> None:
        self.failed = True
        self._say(answer(FAILURE, {"code": code, "message": f"{code}, says the test"}))

    def _pass_on(self, message: bytes, tell: bool = True) -> None:
        """Send a message to the server, and its answer, up to its end, to the client."""
        self.server.sendall(_chunked(message))
        clock = self.transaction is not None and self.transaction.statements[-1:] == ["brain/clock"]
        while True:
            said = _message(self.server)
            if clock and said.startswith(MILLIS):
                said = MILLIS + struct.pack(">q", struct.unpack(">q", said[4:12])[0] + self.member.ahead)
            if tell:
                self._say(said)
            if said[1] != RECORD:
                return

    def _say(self, message: bytes) -> None:
        self.client.sendall(_chunked(message))


def _chunked(message: bytes) -> bytes:
    parts = [message[start : start + 0xFFFF] for start in range(0, len(message), 0xFFFF)]
    return b"".join(struct.pack(">H", len(part)) + part for part in parts) + b"\x00\x00"


def _message(end: socket.socket) -> bytes:
    """The next whole message; empty ones keep a connection open, and are passed over."""
    parts: list[bytes] = []
    while True:
        (size,) = struct.unpack(">H", _exactly(end, 2))
        if size:
            parts.append(_exactly(end, size))
        elif parts:
            return b"".join(parts)


def _exactly(end: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        more = end.recv(size - len(found))
        if not more:
            raise EOFError
        found += more
    return bytes(found)
