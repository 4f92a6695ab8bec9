"""The limits of open requests, waiting polls and running streams of each token: none has so many that others get none.

Of each kind some places are reserved for operators, who must get in to put things right. Callers without a valid token
have few places, all of them together and each address alone. They wait for the answer once their address has shown too
many wrong tokens: a flood of them then costs next to nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from weakref import WeakValueDictionary

from graphbrain.base.runtime.newest import Newest
from graphbrain.service.access import Grant
from graphbrain.service.refusals import Refusal

__all__ = ["ANYBODY", "CALLER", "Buckets", "Places", "Seat", "Strangers"]

ANYBODY = Grant("anybody", "operator", 0.0, None, None)
"""The caller of a service that was started without tokens, who has all places."""
CALLER: ContextVar[Grant] = ContextVar("caller", default=ANYBODY)
"""The grant of the caller, within a request."""
BURST_SECONDS = 2.0
ADDRESSES = 10_000
STRANGERS, OF_ADDRESS = 100, 20
"""Requests without a token that is known whose token is being looked up: in all, and of one address."""
STRANGE_RATE = 20.0
"""Refused strangers of one address a second; of more each is answered after `STRANGE_PAUSE` seconds."""
STRANGE_PAUSE, STRANGE_WAITING = 2.0, 2_000


class Places:
    """So many places in all, `each` at most for one token, and `kept` of them for operators. What takes more than one,
    as a body takes its bytes, gives its `amount`."""

    def __init__(self, most: int, each: int, kept: int, what: str) -> None:
        self._most, self._each, self._kept, self._what = most, min(each, most), min(kept, max(0, most - 1)), what
        self._in_use: Counter[str] = Counter()
        self._count = 0
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    def __len__(self) -> int:
        return self._count

    def take(self, grant: Grant, amount: int = 1, *, kept: bool = False) -> None:
        """Take a place; `kept`: also one of those that are kept. Raises Refusal where there is none."""
        most = self._most if kept or grant.role == "operator" else self._most - self._kept
        if self._count + amount > most:
            raise Refusal(503, "Busy", f"{self._count:,} {self._what}; try again.", try_again=True)
        if grant is not ANYBODY and self._in_use[grant.name] + amount > self._each:
            raise Refusal(503, "Busy", f"{self._each:,} {self._what} by this token alone; try again.", try_again=True)
        self.add(grant, amount)

    def add(self, grant: Grant, amount: int = 1) -> None:
        """Take a place, whether there is one or not."""
        self._in_use[grant.name] += amount
        self._count += amount

    def turn(self, grant: Grant) -> asyncio.Lock:
        """Return the lock of a token, for work that it has done only once at a time."""
        return self._turns.setdefault(grant.name, asyncio.Lock())

    def leave(self, grant: Grant, amount: int = 1) -> None:
        """Give a place of this kind back."""
        self._count -= amount
        self._in_use[grant.name] -= amount
        if not self._in_use[grant.name]:
            del self._in_use[grant.name]


class Seat:
    """The place of one open request, which it gives up while it only waits."""

    def __init__(self, open_: Places, waiting: Places, grant: Grant, *, kept: bool) -> None:
        open_.take(grant, kept=kept)
        self._open, self._waiting, self._grant = open_, waiting, grant

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Within the block the request only waits. Raises Refusal where too many do."""
        self._waiting.take(self._grant)
        self._open.leave(self._grant)
        try:
            yield
        finally:
            self._open.add(self._grant)  # it was let in before
            self._waiting.leave(self._grant)

    def leave(self) -> None:
        """End the request, and give its place back."""
        self._open.leave(self._grant)


class Buckets:
    """Buckets by name, each of which fills at a rate and holds the amount of two seconds."""

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self.rate, self._clock = rate, clock
        self._buckets: Newest[str, tuple[float, float]] = Newest(ADDRESSES)

    def draw(self, name: str) -> float:
        """Take one out of the name's bucket: 0, or the seconds until there is one."""
        if self.rate <= 0:
            return 0.0
        now, most = self._clock(), max(1.0, self.rate * BURST_SECONDS)
        tokens, at = self._buckets.get(name, (most, now))
        tokens = min(most, tokens + (now - at) * self.rate)
        enough = tokens >= 1.0
        self._buckets[name] = (tokens - enough, now)
        return 0.0 if enough else (1.0 - tokens) / self.rate


class Strangers:
    """The limits of requests without a known token."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._looked_up: Counter[str] = Counter()
        self._refused = Buckets(STRANGE_RATE, clock)
        self._pausing = 0

    @asynccontextmanager
    async def looked_up(self, address: str) -> AsyncIterator[None]:
        """Hold a place for the lookup of a token. Raises Refusal where too many requests do."""
        own = _network(address)
        if self._looked_up.total() >= STRANGERS or self._looked_up[own] >= OF_ADDRESS:
            await self.pause(address)
            raise Refusal(503, "Busy", "Too many requests show tokens that are not known; try again.", try_again=True)
        self._looked_up[own] += 1
        try:
            yield
        finally:
            self._looked_up[own] -= 1
            if not self._looked_up[own]:
                del self._looked_up[own]

    async def pause(self, address: str) -> None:
        """Delay a refusal, if its address was refused often just now."""
        if self._refused.draw(_network(address)) and self._pausing < STRANGE_WAITING:
            self._pausing += 1
            try:
                await asyncio.sleep(STRANGE_PAUSE)
            finally:
                self._pausing -= 1


def _network(address: str) -> str:
    """Return the network that counts as one caller: the owner of an IPv6 address has 2⁶⁴ of them."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed) >> 64 << 64, 64)).network_address)
