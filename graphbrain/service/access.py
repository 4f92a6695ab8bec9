"""Tokens: who may use the service, in which role, and until when.

A token has 256 random bits, is shown once, and is kept as its SHA-256 digest. A slow hash would add nothing, because
256 bits cannot be guessed. Digests are kept in the brain's own graph, each on a node of its own label, and not in a
file: several services on one brain know the same tokens, a token can be revoked from any place that reaches the brain,
and a service has no files to lose. A person who may write to the graph may make tokens, but has the whole brain
already. Statements: access/*.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.model import number
from graphbrain.base.options.verbs import ROLES, Role
from graphbrain.content import input_checks
from graphbrain.graph.connection import Graph

__all__ = ["ROLES", "Gatekeeper", "Grant", "Role", "grants", "make", "revoke"]

PREFIX = "gbt_"
"""The prefix of a token, by which tools that look for leaked secrets recognise it."""
SECRET_BYTES = 32
LONGEST_TOKEN = 200
LONGEST_LIFE = 10 * 365 * 86_400.0
HOLDS, READ_AHEAD, LOOK_AGAIN = 2.0, 1.0, 0.5
"""Seconds. Tokens that were read longer ago than `HOLDS` admit no request, so a revoked one works no longer than that.
They are read again once they are `READ_AHEAD` old, so that steady requests never wait for it, and at most every
`LOOK_AGAIN`."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One token, without its text; times in epoch seconds. `expires`: None: never. `revoked`: None: it was not."""

    name: str
    role: Role
    made: float
    expires: float | None
    revoked: float | None
    digest: str | None = field(default=None, repr=False)

    def good(self, now: float) -> bool:
        """Return whether it may be used now."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def as_dict(self) -> dict[str, Any]:
        """Return all its values but its digest."""
        names = ("name", "role", "made", "expires", "revoked")
        return {name: getattr(self, name) for name in names}


def make(graph: Graph, name: str, role: Role, now: float, seconds: float | None = None) -> str:
    """Make a token that lasts for so many seconds (None: until it is revoked), and return it, the only time that it is
    shown. Raise BadInput for the name of another valid token."""
    name = input_checks.name("a token's name", name)
    if role not in ROLES:
        raise BadInput(f"A role is {', '.join(ROLES[:-1])} or {ROLES[-1]}, not {role!r:.80}.")
    if seconds is not None and not (number(seconds) and 0 < seconds <= LONGEST_LIFE):
        raise BadInput(f"A token lasts for more than 0 and at most {LONGEST_LIFE:.0f} seconds, not {seconds!r:.80}.")
    token = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    facts = {"name": name, "role": role, "digest": digest_of(token), "now": now}
    expires = None if seconds is None else now + seconds
    if not graph.write(lambda tx: tx.one("access/make", **facts, expires=expires)[0], "access/make"):
        raise BadInput(f"There is a token {name!r}: revoke it first ('graphbrain token revoke'), or take another name.")
    return token


def grants(graph: Graph, *, patient: bool = True) -> list[Grant]:
    """Return all tokens by name, revoked ones included."""
    rows = graph.read(lambda tx: tx.many("access/list"), "access/list", patient=patient)
    return [
        Grant(name, role, created, expires, revoked, digest) for name, role, digest, created, expires, revoked in rows
    ]


def revoke(graph: Graph, name: str, now: float) -> bool:
    """Revoke a token. Return False if it was revoked before. Services refuse it within seconds. Raise BadInput if no
    token has this name."""
    name = input_checks.name("a token's name", name)
    existed, fresh = graph.write(lambda tx: tx.one("access/revoke", name=name, now=now), "access/revoke")
    if not existed:
        raise BadInput(f"No token is called {name!r}; 'graphbrain token list' shows all.")
    return bool(fresh)


def digest_of(token: str) -> str:
    """Return the digest of a token, which is kept in its place."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Gatekeeper:
    """The tokens of a graph, as they were last read. Thread-safe."""

    def __init__(self, graph: Graph, now: Callable[[], float]) -> None:
        self._graph, self._now = graph, now
        self._lock = threading.Lock()
        self._grants: tuple[Grant, ...] = ()
        self._known_at = self._tried_at = -math.inf

    def known_since(self, moment: float) -> bool:
        """Return whether the tokens were read at this moment of `time.monotonic`, or later."""
        return self._known_at >= moment

    def rests(self) -> float:
        """Seconds until an unknown token may be looked up in the graph: many wrong ones cost it no more than one."""
        return max(0.0, self._tried_at + LOOK_AGAIN - time.monotonic())

    def read(self) -> None:
        """Read all tokens from the graph. Raises GraphbrainError where it does not answer: the known ones stay."""
        with self._lock:
            began = self._tried_at = time.monotonic()
            self._grants = tuple(grant for grant in grants(self._graph, patient=False) if grant.digest is not None)
            self._known_at = began

    def who(self, token: str) -> Grant | None:
        """Return the grant of this token, valid or expired; None for an unknown token. The duration does not depend on
        how much of it is right: all digests are compared, to their ends."""
        if not 0 < len(token) <= LONGEST_TOKEN:
            return None
        digest, granted = digest_of(token), None
        for grant in self._grants:
            if hmac.compare_digest(grant.digest or "", digest):
                granted = grant
        return granted

    def holds(self, grant: Grant) -> bool:
        """Return whether this token is still valid, by the tokens last read."""
        return any(each.digest == grant.digest and each.good(self.now()) for each in self._grants)

    def now(self) -> float:
        """Epoch seconds by the server's clock."""
        return self._now()
