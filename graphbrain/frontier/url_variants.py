"""Better addresses: of two ways to write one page's URL, the one with which it can be fetched.

All spellings of a page share its key, and the first that was met is its address. That may be a poor one: with a
visitor's session in it, or written so that robots.txt or the scope forbids it while another is allowed. A page that was
never fetched, is outside, or has failed takes a later spelling that carries fewer arguments that are no part of its key
(`url_surplus`), or is allowed where its address is not. The caller that offers a spelling has locked the page. A page
whose server redirects one spelling to another takes that one: a few times in a row, for a server may bounce between
two. Statements: pages/spellings, pages/respell, pages/state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphbrain.base.model import ROBOTS, SCOPE
from graphbrain.base.urls.normalization import host_of, name_of, path_repeats, surplus
from graphbrain.content.scope import Scope
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.state import SHARED_QUEUE, HostState, PolitenessPolicy
from graphbrain.graph.connection import Tx

__all__ = ["MOST_ROUNDS", "SURPLUS", "improve", "may_improve", "row_of"]

SURPLUS = "surplus"
"""A reason why an address may get better: it carries arguments that are no part of its key. The other reasons are those
of being outside."""
MOST_ROUNDS = 3
"""So often in a row a page takes the spelling that its server redirects to."""


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
    """Return whether this spelling may be better. `why`: the reason that pages/find returns for the page."""
    if why is None or (why == SCOPE and not scope.by_url):
        return False
    return why == SURPLUS or any(c in url for c in "?%;(")


def row_of(page: int, url: str, rounds: int | None) -> list[object]:
    """Return the row for pages/respell of a page with this address, taken from redirects for so many rounds."""
    return [page, url, host_of(url), name_of(url), surplus(url) or None, rounds, path_repeats(url) or None]


def improve(
    tx: Tx, offers: Mapping[int, Iterable[str]], scope: Scope, manners: PolitenessPolicy, revisits: bool, now: float
) -> None:
    """Take better addresses for locked pages: id → spellings of the same page that were met. `revisits`: fetched pages
    wait, too, to be fetched again."""
    if not offers:
        return
    rows = [_Spelt(*row) for row in tx.one("pages/spellings", ids=sorted(offers))[0]]
    open_ = [row for row in rows if row.open]
    outside = {row.host for row in open_ if row.because is not None}
    hosts = politeness.read(tx, outside, manners)
    politeness.rules(tx, hosts.values())
    chosen = [
        (row, url) for row in open_ if (url := _best(row, offers[row.page], scope, hosts.get(row.host))) is not None
    ]
    if not chosen:
        return
    tx.do("pages/respell", rows=[row_of(row.page, url, None) for row, url in chosen], now=now)
    back = [row for row, url in chosen if row.because is not None and _allowed(row, url, scope, hosts.get(row.host))]
    if back:
        # They wait in the shared queue: claims sort them by host.
        tx.do("pages/state", rows=[_stands(row, revisits) for row in back])


def _stands(row: _Spelt, revisits: bool) -> Sequence[object]:
    waits = not row.busy and (revisits or not row.fetched)
    return [row.page, "known" if row.fetched else "frontier", SHARED_QUEUE if waits else None, None]


def _best(row: _Spelt, offers: Iterable[str], scope: Scope, host: HostState | None) -> str | None:
    """The best of the spellings that are better than its address; None: none is."""
    others = [url for url in dict.fromkeys(offers) if url != row.url and host_of(url) == row.host]
    if row.because in (SCOPE, ROBOTS):
        others.sort(key=lambda url: (not _allowed(row, url, scope, host), surplus(url)))
        if others and _allowed(row, others[0], scope, host):
            return others[0]
    fewer = [url for url in others if surplus(url) < row.surplus]
    return min(fewer, key=surplus, default=None)


def _allowed(row: _Spelt, url: str, scope: Scope, host: HostState | None) -> bool:
    return scope.holds(url, row.host, row.depth) and (host is None or host.allows(url))
