"""One round of `next_urls`: the calls that are answered together, and the claims that each call has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from graphbrain.base.model import Claim, Claims, Kind
from graphbrain.base.runtime.fair import Turns
from graphbrain.brain.combine import Ticket
from graphbrain.frontier.claims import idempotency
from graphbrain.frontier.claims.batches import Holder
from graphbrain.frontier.claims.taking import Taken
from graphbrain.graph.connection import Tx

__all__ = ["Caller", "Round", "RoundTicket", "Wish"]


@dataclass(frozen=True, slots=True)
class Wish:
    """The request of one call.

    Attributes:
        n: The number of claims.
        holder: The holder of the claims.
        key: The caller's idempotency key, if there is one.
        now_only: Claim only pages that `crawl_now` has named.
        notes: Read the notes on the claimed pages, too.
    """

    n: int
    holder: Holder
    key: str | None = None
    now_only: bool = False
    notes: bool = False


RoundTicket = Ticket[Wish, Claims]


class Caller:
    """One call of a round, and its claims. The claims in `last` come after the others in the answer."""

    __slots__ = ("got", "key", "last", "n", "notes", "ticket", "wish")

    def __init__(self, ticket: RoundTicket) -> None:
        self.ticket, self.wish = ticket, ticket.request
        self.n, self.key = self.wish.n, self.wish.key
        self.got: list[Claim] = []
        self.last: list[Claim] = []
        self.notes: dict[str, str] = {}

    @property
    def claims(self) -> list[Claim]:
        """All its claims, in the order of the answer."""
        return [*self.got, *self.last]

    @property
    def count(self) -> int:
        """The number of its claims."""
        return len(self.got) + len(self.last)

    @property
    def missing(self) -> int:
        """The number of claims that it still wants."""
        return self.n - len(self.got) - len(self.last)


class Round:
    """The calls that are answered together. Their owners get pages by turns, the best page first."""

    def __init__(self, tickets: Sequence[RoundTicket], *, robots: bool = False) -> None:
        self.robots = robots
        """True if the calls ask for robots.txt, too."""
        self.callers: list[Caller] = []
        self.answered: list[Caller] = []
        """The calls whose keys were used before, by an earlier call or by another call of this round."""
        # Of several calls with one idempotency key, the first makes claims.
        keys: set[str] = set()
        for caller in map(Caller, tickets):
            (self.answered if caller.key in keys else self.callers).append(caller)
            keys.update(() if caller.key is None else (caller.key,))
        self.keyed = any(caller.key is not None for caller in self.callers)
        """True if a call has an idempotency key."""
        self.notes = any(caller.wish.notes for caller in self.callers)
        """True if a call wants notes."""
        self.by_source: Counter[str] = Counter()
        """The number of claims that were made, by source."""
        self.clock_corrected = False
        """True once this round has corrected times that a clock wrote while it was ahead."""

    @property
    def kinds(self) -> frozenset[Kind]:
        """All kinds that the calls ask for."""
        return frozenset().union(*(caller.wish.holder.kinds for caller in (*self.callers, *self.answered)))

    @property
    def missing(self) -> int:
        """The number of claims that the calls still want."""
        return sum(caller.missing for caller in self.callers)

    @property
    def count(self) -> int:
        """The number of claims that were made."""
        return sum(caller.count for caller in self.callers)

    def has(self, share: float) -> bool:
        """Return whether each call has at least this share of its claims."""
        return all(caller.count >= share * caller.n for caller in self.callers)

    def asking(self, kind: Kind) -> list[Caller]:
        """Return the calls that ask for this kind."""
        return [caller for caller in self.callers if kind in caller.wish.holder.kinds]

    def claims_for(self, kind: Kind) -> list[Claim] | None:
        """Return the claims of the calls that ask for this kind; None if there is no such call."""
        callers = self.asking(kind)
        return [claim for caller in callers for claim in caller.claims] if callers else None

    def wanting(self, kind: Kind) -> int:
        """Return the number of claims that the calls for this kind still want."""
        return sum(caller.missing for caller in self.asking(kind))

    def holders(self) -> list[Holder]:
        """Return the holders of all claims that the calls still want, in the order in which they get pages."""
        if len(self.callers) == 1:
            return [self.callers[0].wish.holder] * self.missing
        turns: Turns[Holder] = Turns()
        for turn in range(max((caller.missing for caller in self.callers), default=0)):
            for caller in self.callers:
                if caller.missing > turn:
                    turns.put(caller.ticket.owner, caller.wish.holder)
        return [turns.take() for _ in range(len(turns))]

    def bind(self, tx: Tx, leased: Sequence[Claim]) -> None:
        """Record the leased pages under the callers' idempotency keys. Raises Answered if a key was used before."""
        by_token = _by_token(leased)
        idempotency.bind(
            tx,
            {
                caller.key: by_token[caller.wish.holder.token]
                for caller in self.callers
                if caller.key is not None and caller.wish.holder.token in by_token
            },
        )

    def took(self, result: Taken) -> None:
        """Give the claims of one transaction to their calls. Claims from sources beside the queues of pages come last.
        A call that has all its claims is answered at once."""
        got, last = _by_token(result.claims), _by_token(result.beside)
        self.by_source += result.by_source
        for caller in self.callers:
            token = caller.wish.holder.token
            if token not in got and token not in last:
                continue
            caller.got += got.get(token, ())
            caller.last += last.get(token, ())
            if caller.wish.notes:
                caller.notes |= {
                    claim.key: result.notes[claim.key] for claim in caller.claims if claim.key in result.notes
                }
            if not caller.missing:
                caller.ticket.answer(Claims(caller.claims, notes=caller.notes))

    def drop(self, keys: Collection[str]) -> None:
        """Move the calls with these keys, which were used before, to `answered`."""
        self.answered += [caller for caller in self.callers if caller.key in keys]
        self.callers = [caller for caller in self.callers if caller.key not in keys]


def _by_token(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    by_token: dict[str, list[Claim]] = {}
    for claim in claims:
        by_token.setdefault(claim.token, []).append(claim)
    return by_token
