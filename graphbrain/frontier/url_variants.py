"""Better addresses: a page takes another spelling of its URL if the page can be fetched better with that.

All spellings of a page share its key, and its address is the first spelling that was found. This may be a bad one: it
has the session of a visitor, or robots.txt or the scope forbids it and allows another spelling. A page that was never
fetched, is outside, or has failed takes a later spelling that has fewer arguments outside the key (`url_surplus`), or
that is allowed if its address is not. The caller that offers a spelling has locked the page. A page also takes the
spelling to which its server redirects it, but only a few times in a row, since a server may redirect back and forth.
Statements: pages/spellings, pages/respell, pages/state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphbrain.base.model import ROBOTS, SCOPE
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.urls.normalization import host_of, name_of, path_repeats, surplus
from graphbrain.content.scope import Scope
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.state import SHARED_QUEUE, HostState
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["MOST_ROUNDS", "SURPLUS", "improve", "may_improve", "row_of"]

SURPLUS = "surplus"
"""A reason why a page may take a better address: its address has arguments that are no part of its key. The other
reasons are the values of `outside_because`."""
MOST_ROUNDS = 3
"""The most times in a row that a page takes the spelling to which its server redirects."""


@dataclass(slots=True)
class _Spelt:
    """A locked page, as pages/spellings returns it."""

    page: int
    url: str
    host: str
    depth: int
    fetched: bool
    failed: bool
    surplus: int
    because: str | None
    busy: bool

    @property
    def open(self) -> bool:
        """True if a better URL may replace its URL."""
        return not self.fetched or self.failed or self.because is not None


def may_improve(why: str | None, url: str, scope: Scope) -> bool:
    """Return whether this spelling may be a better address. `why`: the reason that pages/find returns for the page."""
    if why is None or (why == SCOPE and not scope.by_url):
        return False
    return why == SURPLUS or any(c in url for c in "?%;(")


def row_of(page: int, url: str, rounds: int | None, rule: Rule) -> list[object]:
    """Return the row of pages/respell that gives a page this address. `rounds`: how many times in a row it took the
    spelling of a redirect."""
    weight = rule.weights.product(url)
    facts = (name_of(url), surplus(url) or None, rounds, path_repeats(url) or None, None if weight == 1.0 else weight)
    return [page, url, host_of(url), *facts]


def improve(tx: Tx, offers: Mapping[int, Iterable[str]], policy: Policy, now: float) -> None:
    """Give locked pages better addresses, if spellings are better than their addresses.

    `offers`: id of a page → other spellings of its URL.
    """
    if not offers:
        return
    scope, manners, rule = policy.scope, policy.manners, policy.rule
    # Read the pages that may take another address, and the robots.txt of hosts with pages outside.
    pages = [page for row in tx.one("pages/spellings", ids=sorted(offers))[0] if (page := _Spelt(*row)).open]
    outside = {page.host for page in pages if page.because is not None}
    hosts = politeness.read(tx, outside, manners)
    politeness.rules(tx, hosts.values())
    # Choose the best spelling of each, and write it.
    better = [
        (page, url)
        for page in pages
        if (url := _best(page, offers[page.page], scope, hosts.get(page.host))) is not None
    ]
    if not better:
        return
    tx.do("pages/respell", rows=[row_of(page.page, url, None, rule) for page, url in better], now=now)
    # Pages that are allowed now come back from outside. They wait in the shared queue; claims sort them by host.
    returning = [
        page for page, url in better if page.because is not None and _allowed(page, url, scope, hosts.get(page.host))
    ]
    if returning:
        tx.do("pages/state", rows=[_state_row(page, rule.revisits) for page in returning])


def _state_row(page: _Spelt, revisits: bool) -> Sequence[object]:
    is_waiting = not page.busy and (revisits or not page.fetched)
    return [page.page, "known" if page.fetched else "frontier", SHARED_QUEUE if is_waiting else None, None]


def _best(row: _Spelt, offers: Iterable[str], scope: Scope, host: HostState | None) -> str | None:
    """Return the best spelling, if it is better than the page's address; else None."""
    others = [url for url in dict.fromkeys(offers) if url != row.url and host_of(url) == row.host]
    if row.because in (SCOPE, ROBOTS):
        others.sort(key=lambda url: (not _allowed(row, url, scope, host), surplus(url)))
        if others and _allowed(row, others[0], scope, host):
            return others[0]
    shorter = [url for url in others if surplus(url) < row.surplus]
    return min(shorter, key=surplus, default=None)


def _allowed(row: _Spelt, url: str, scope: Scope, host: HostState | None) -> bool:
    return scope.holds(url, row.host, row.depth) and (host is None or host.allows(url))
