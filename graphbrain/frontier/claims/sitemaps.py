"""The search for sitemaps of hosts in robots.txt and in indexes, and the writing of their entries as hints.

A host stores the fingerprint of the robots.txt whose sitemaps are in the graph. The entries of a claimed sitemap are
written in batches before its claim ends. Its node stores the number of written entries of a text, so that after a kill
another report of the same text continues there.
Statements: sitemaps/*, hosts/robots.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from graphbrain.base.errors import BadInput
from graphbrain.base.model import RESOURCE_KEY
from graphbrain.base.urls.normalization import address, host_of, resolved
from graphbrain.frontier.claims import resources
from graphbrain.frontier.claims.resource_reports import Listed
from graphbrain.frontier.claims.sitemap_state import DEEPEST, MOST_OF_HOST, Evidence, SitemapState, guess_of, key_of
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.hosts.resource import ResourceState
from graphbrain.frontier.hosts.robots import sitemaps_of
from graphbrain.frontier.hosts.state import HostState, PolitenessPolicy
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["Begun", "Progress", "begin", "find", "go_on", "list_children"]


# ---------------------------------------------------------------- robots.txt


def find(tx: Tx, schemes: Mapping[str, str], robots: bool, manners: PolitenessPolicy, now: float) -> set[str]:
    """Find the sitemaps of hosts whose robots.txt has changed since the last search.

    Args:
        tx: The transaction.
        schemes: Host → the scheme of one of its pages.
        robots: Skip hosts whose robots.txt must be read first.
        manners: The politeness settings.
        now: Epoch seconds.

    Returns:
        The hosts whose sitemaps are known now.
    """
    # Find these hosts without locks: the robots.txt of most hosts has not changed.
    read_hosts = politeness.read(tx, schemes, manners, now)
    noted = {row[0]: row[1:] for row in tx.one("sitemaps/hosts", names=sorted(read_hosts))[0]}
    ready = {name for name, host in read_hosts.items() if not robots or host.knows_robots(schemes[name])}
    news = sorted(name for name in ready if noted[name][0] != _mark(read_hosts[name]))
    if not news:
        return ready
    # Create the sitemaps that their robots.txt names, or the usual one.
    texts = {row[0]: row[1:] for row in tx.one("hosts/robots", names=news)[0]}
    named = {name: _named(texts.get(name, ()), schemes[name], name) for name in news}
    _create(tx, [url for urls in named.values() for url in urls], now)
    before = {name: set(noted[name][1] or ()) for name in news}
    keys = {key_of(url) for urls in named.values() for url in urls}.union(*before.values())
    # Lock them, and those that were named before. Skip a host whose robots.txt has changed meanwhile.
    locked = resources.lock(tx, keys)
    hosts = politeness.lock(tx, {*news, *(one.host for one in locked.values())}, manners, now)
    same = [name for name in news if hosts[name].robots() == read_hosts[name].robots()]
    for name in same:
        # Note the sitemaps that the host names, and those that it does not name any more.
        mine = {key_of(url) for url in named[name]}
        for key in mine & locked.keys():
            state = _sitemap(locked[key])
            guessed = not any(sitemaps_of(text) for text in texts.get(name, ()) if text)
            state.guessed = guessed if state.named_by is None and state.parent is None else None
            state.depth = 0
            state.name(() if state.guessed else (name,), now)
        for key in (before[name] - mine) & locked.keys():
            _sitemap(locked[key]).unname(name, now)
    _count(tx, locked.values())
    resources.write(tx, locked.values(), hosts, now)
    tx.do(
        "sitemaps/named",
        rows=[[name, _mark(read_hosts[name]), sorted(key_of(url) for url in named[name])] for name in same],
    )
    return ready - (set(news) - set(same))


def _mark(host: HostState) -> str:
    """Return the fingerprint of all robots.txt of a host."""
    return blake2b(repr(sorted(host.robots().items())).encode(), digest_size=8).hexdigest()


def _named(texts: Iterable[str | None], scheme: str, host: str) -> list[str]:
    """Return the sitemaps that robots.txt names, else the usual one."""
    urls: dict[str, None] = {}
    for text in texts:
        for value in sitemaps_of(text or ""):
            if (url := _usable(f"{scheme}://{host}/robots.txt", value)) is not None:
                urls.setdefault(url)
    return list(urls)[:MOST_OF_HOST] or [guess_of(scheme, host)]


def _usable(base: str, value: str) -> str | None:
    """Return the URL of a sitemap for a claim; None for a text that is no URL."""
    try:
        url = address(resolved(base, value)).partition("#")[0]
    except BadInput:
        return None
    return url if re.fullmatch(RESOURCE_KEY, key_of(url)) else None


def _create(tx: Tx, urls: Iterable[str], now: float) -> None:
    resources.create(tx, {key_of(url): url for url in urls}, now)


def _count(tx: Tx, states: Iterable[ResourceState]) -> None:
    """Count the sitemaps that are new, by host: those that wait in no queue and were never claimed."""
    new: Counter[str] = Counter()
    for state in states:
        if isinstance(state, SitemapState) and state.counts():
            new[state.concerns] += 1
    if new:
        tx.do("sitemaps/counted", rows=[[name, many] for name, many in sorted(new.items())])


def _sitemap(state: ResourceState) -> SitemapState:
    assert isinstance(state, SitemapState)
    return state


# ---------------------------------------------------------------- entries


@dataclass(frozen=True, slots=True)
class Begun:
    """A sitemap as it was when the writing of its entries began. `written`: the number of written entries."""

    state: SitemapState
    written: int


def begin(
    tx: Tx, texts: Mapping[str, tuple[str, Listed]], lease: float, _policy: Policy, now: float
) -> dict[str, Begun]:
    """Begin to write the entries of claimed sitemaps, or continue.

    `texts`: key → (token of the claim, entries). A sitemap whose claim has ended is not in the answer.
    """
    leased = _lock_leased(tx, {key: token for key, (token, _) in texts.items()})
    begun = {key: Begun(state, state.begin(texts[key][1].mark, now + lease)) for key, state in leased.items()}
    resources.write(tx, leased.values(), {}, now)
    return begun


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a claimed sitemap: the number of written entries, and the evidence of those that were written
    last."""

    token: str
    written: int
    evidence: Evidence


def go_on(tx: Tx, done: Mapping[str, Progress], lease: float, _policy: Policy, now: float) -> frozenset[str]:
    """Write the progress of claimed sitemaps, and renew their claims. Return the keys whose claims had not ended."""
    leased = _lock_leased(tx, {key: one.token for key, one in done.items()})
    for key, state in leased.items():
        one = done[key]
        if (state.written or 0) < one.written:  # a repeated transaction learns nothing new
            state.learn(one.evidence)
        state.written = max(state.written or 0, one.written)
        state.lease_until = max(state.lease_until or 0.0, now + lease)
    resources.write(tx, leased.values(), {}, now)
    return frozenset(leased)


def _lock_leased(tx: Tx, tokens: Mapping[str, str]) -> dict[str, SitemapState]:
    """Lock sitemaps (key → token) that are claimed by these tokens. Return them by key."""
    locked = resources.lock(tx, tokens)
    return {key: _sitemap(state) for key, state in locked.items() if state.lease == tokens[key]}


def list_children(tx: Tx, parent: SitemapState, urls: Sequence[str], policy: Policy, now: float) -> int:
    """Create the sitemaps that an index lists and may list. Return the number of those that it may list.

    Of a sitemap that is in the graph already, only the hosts that name it are changed, so indexes that list each other
    make no endless loop.
    """
    depth = (parent.depth or 0) + 1
    children: dict[str, None] = {}
    for value in urls:
        url = _usable(parent.home, value)
        # An index that robots.txt names may list sitemaps on any host, as robots.txt itself may.
        if url is not None and depth <= DEEPEST and (parent.named_by or parent.lists(url)):
            children.setdefault(url)
    if not children:
        return 0
    of_host = {row[0]: row[3] for row in tx.one("sitemaps/hosts", names=sorted({host_of(url) for url in children}))[0]}
    fits = [url for url in children if of_host.get(host_of(url), 0) < MOST_OF_HOST]
    _create(tx, fits, now)
    locked = resources.lock(tx, map(key_of, fits))
    hosts = politeness.lock(tx, {one.host for one in locked.values()}, policy.manners, now)
    for each in locked.values():
        state = _sitemap(each)
        if state.key != parent.key and state.named_by is None and state.parent is None and not state.guessed:
            state.parent, state.depth = parent.key, depth
        state.name(parent.named_by or (), now)
    _count(tx, locked.values())
    resources.write(tx, locked.values(), hosts, now)
    return len(fits)
