"""The values that are set for one host: delay, limit, budget, blocks, its robots.txt; and the backfills after a change.

A transaction that sets a robots.txt leaves a mark on the host. The mark goes when all pages of the host have been
judged by that text, so that any process can continue where a killed one has stopped. Until then, and for pages that are
met later, a claim judges each page first. The consequences of a change of the brain's settings are applied to every
host in the order of names, and the progress is stored on the brain. Statements: hosts/*, pages/hosts, brain/note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphbrain.base.errors import UnknownHost
from graphbrain.base.model import FOR_EVER, Host
from graphbrain.base.options.hosts import HostFilter
from graphbrain.base.urls.hostnames import USUAL_PORT
from graphbrain.base.urls.walls import MANY, bare
from graphbrain.frontier.hosts import politeness, robots
from graphbrain.frontier.hosts.origins import Times
from graphbrain.frontier.hosts.state import KEPT, HostState, PolitenessPolicy
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Tx

__all__ = [
    "RobotsTexts",
    "block",
    "listed",
    "look",
    "no_news",
    "review",
    "robots_text",
    "set_manners",
    "set_robots",
    "sized",
    "take_robots",
    "unblock",
]

RobotsTexts = Mapping[str, tuple[str | None, str | None]]
"""The robots.txt that was set for a host, as `Host.robots` returns it."""

BATCH = 200
REVIEWING = frozenset({"pages_per_host", "revisit_seconds", "user_agent"})
"""Settings after which all hosts are reviewed."""
NEVER_DEAD = 2**53
MOST_LED = 10_000
"""Pages of a host that are read, at most, to see where many of them lead."""
OWN = {"delay": "delay", "in_flight": "most_in_flight", "budget": "budget"}
"""The values that can be set for a host, and the property that holds each."""


def _view(row: Mapping[str, Any], manners: PolitenessPolicy) -> Host:
    host = HostState(row, manners)
    return Host(
        name=host.name,
        delay=host.delay,
        own_delay=row["delay"],
        robots_delay=row["robots_delay"],
        response_seconds=row["response_seconds"],
        pace=host.pace,
        complaints=host.errors,
        blocked_until=row["blocked_until"],
        unanswered=host.unanswered,
        probe_at=row["probe_at"] if host.ill() else None,
        failing_since=host.failing_since or None,
        illness=host.illness,
        next_at=row["next_at"],
        in_flight=host.in_flight,
        most_in_flight=host.most,
        own_in_flight=row["most_in_flight"],
        budget=host.budget,
        own_budget=row["budget"],
        budget_used=host.budget_used,
        set_aside=host.set_aside,
        queued=host.queued,
        address=host.address,
        robots_at=row["robots_at"],
        robots_agent=row["robots_agent"],
        robots_http_at=row["robots_http_at"],
        robots_https_at=row["robots_https_at"],
        discovered=row["discovered"],
    )


def look(
    tx: Tx, after: str, limit: int, which: HostFilter, manners: PolitenessPolicy, now: float
) -> tuple[str | None, list[Host]]:
    """Return those of the next hosts by name that fit, and the last name that was looked at (None: there is none)."""
    dead = manners.dead_after or NEVER_DEAD
    last, rows = tx.one(
        "hosts/page",
        after=after,
        limit=limit,
        now=now,
        dead=dead,
        text=which.text,
        blocked=which.blocked,
        queued=which.queued,
        slowed=which.slowed,
        silent=which.silent,
    )
    return last, [_view(row, manners) for row in rows]


def sized(tx: Tx, hosts: Sequence[Host], most: int) -> list[Host]:
    """These hosts with how many pages they have, of which no more are counted than `most`; and with the place to which
    many of them lead for now."""
    if not hosts:
        return []
    names = [host.name for host in hosts]
    sizes = dict(tx.one("hosts/sizes", names=names, limit=most + 1)[0])
    led = tx.one("hosts/walls", names=names, limit=MOST_LED, least=MANY)[0]
    walls = {name: {"wall": bare(url), "walled": pages} for name, url, pages in led}

    def full(host: Host) -> Host:
        pages = sizes[host.name]
        return replace(host, pages=min(most, pages), more_pages=pages > most, **walls.get(host.name, {}))

    return [full(host) for host in hosts]


def listed(tx: Tx, name: str, manners: PolitenessPolicy) -> Host:
    """Return one host. Raises UnknownHost when it has not been met."""
    rows = tx.one("hosts/view", name=name)[0]
    if not rows:
        raise unknown(name)
    return _view(rows[0], manners)


def unknown(name: object) -> UnknownHost:
    """Return the error for a host that has not been met."""
    return UnknownHost(f"No page of host {name!r:.80} is known.")


def _locked(tx: Tx, name: str, manners: PolitenessPolicy, now: float) -> HostState:
    if name not in politeness.read(tx, [name], manners):
        raise unknown(name)
    return politeness.lock(tx, [name], manners, now)[name]


def _created(tx: Tx, name: str, manners: PolitenessPolicy, now: float) -> HostState:
    """Return the same of a host that need not have been met."""
    tx.do("pages/hosts", names=[name], now=now)
    return politeness.lock(tx, [name], manners, now)[name]


def _rewrite(tx: Tx, host: HostState, properties: Mapping[str, Any], now: float) -> None:
    """Set properties of a host, and write it."""
    _set(tx, host, properties)
    politeness.write(tx, [host], (), now)


def _set(tx: Tx, host: HostState, properties: Mapping[str, Any]) -> None:
    """Set properties of a host, which are written with it, and what follows: a longer or shorter delay counts from the
    last claim."""
    before = host.delay
    host.stored = {**host.stored, **{name: value for name, value in properties.items() if name in host.stored}}
    host.given |= properties
    if host.budget > 0 and host.budget_used is None:
        politeness.know_budgets(tx, [host])
    if host.next_at:
        host.next_at += host.delay - before
    host.reopen()


def set_manners(tx: Tx, name: str, given: Mapping[str, Any], manners: PolitenessPolicy, now: float) -> None:
    """Set what is given of one host's `delay`, `in_flight` and `budget`; None goes back to the brain's."""
    host = _created(tx, name, manners, now)
    _rewrite(tx, host, {OWN[what]: value for what, value in given.items()}, now)


def block(tx: Tx, name: str, seconds: float | None, manners: PolitenessPolicy, now: float) -> None:
    """Block a host for so long from now, and for as long as it has asked for; None: until an operator lifts the
    block."""
    host = _created(tx, name, manners, now)
    until = FOR_EVER if seconds is None else now + seconds
    if not host.blocked_at or until >= host.blocked_until:  # a block that was set by hand before is replaced
        host.blocked_until, host.blocked_at = until, 0.0
    politeness.write(tx, [host], (), now)


def unblock(tx: Tx, name: str, manners: PolitenessPolicy, now: float) -> None:
    """Lift a host's block, forget its complaints and that it did not answer, and give it back its full rate."""
    host = _locked(tx, name, manners, now)
    before = host.delay
    host.lift_block()
    host.pace = 1.0
    host.forget_failures()
    if host.next_at:
        host.next_at += host.delay - before
    politeness.write(tx, [host], (), now)


def set_robots(
    tx: Tx, name: str, text: str | None, agent: str | None, manners: PolitenessPolicy, now: float, scheme: str = ""
) -> float | None:
    """Keep the robots.txt of a host, or of its pages of one scheme, and mark its pages as still to be judged.

    A text of a scheme takes precedence over that of both. None: there is none; without a scheme, none at all is kept.
    Return the text's Crawl-delay; None where there is nothing to forget, because the host has not been met.
    """
    if text is not None:
        tx.do("pages/hosts", names=[name], now=now)
    elif name not in politeness.read(tx, [name], manners):
        return None
    host = politeness.lock(tx, [name], manners)[name]
    host.end_robots_hold()
    delay = _obey(tx, host, text, agent, now, scheme)
    politeness.write(tx, [host], (), now)
    return delay


def take_robots(tx: Tx, host: HostState, text: str | None, scheme: str, now: float) -> bool:
    """Keep the robots.txt that a claim has brought, of a locked host, for its pages of one scheme. Return whether it
    has changed. The caller writes the host.

    None: there is none. The agent whose rules hold stays as it was set. A text that is unchanged leaves no pages to be
    judged.
    """
    texts = host.robots()
    mark, agent = texts.get(scheme, texts.get("", (None, None)))
    same = mark == (None if text is None else robots.fingerprint(text))
    if same and (scheme in texts or text is None):
        host.times[scheme] = Times.read(now)
        _set(tx, host, {f"{KEPT[scheme]}_at": now})
        return False
    _obey(tx, host, text, agent, now, scheme, claimed=True)
    return True


def _obey(
    tx: Tx, host: HostState, text: str | None, agent: str | None, now: float, scheme: str, *, claimed: bool = False
) -> float:
    """Keep a robots.txt of a locked host, and mark its pages as still to be judged, if it forbids any, or forbade any.
    Return its Crawl-delay. `claimed`: a claim has asked the host, so that it has none is known, too."""
    manners, texts = host.manners, host.robots()
    if not host.rules:
        politeness.rules(tx, [host])
    rules, allowed_all = dict(host.rules), host.allows_all()
    schemes = (scheme,) if scheme or text is not None else tuple(KEPT)
    for each in schemes:
        texts.pop(each, None)
        rules.pop(each, None)
    keeps = text is not None or (scheme != "" and "" in texts)  # that a scheme has none goes over the text of both
    if keeps:
        texts[scheme] = (None, None) if text is None else (robots.fingerprint(text), agent)
        rules[scheme] = (None if text is None else robots.parsed(text), agent or manners.agent)
    changed: dict[str, Any] = {KEPT[each]: text for each in schemes}
    changed |= {f"{KEPT[each]}_at": now if keeps else None for each in schemes}
    for each in (scheme,) if scheme else USUAL_PORT:
        host.times.pop(each, None)
        if keeps or claimed:
            host.times[each] = Times.read(now)
    host.rules = rules
    mark, whose = texts.get("", (None, None))
    changed |= {"robots_mark": mark, "robots_agent": whose, "robots_origins": politeness.origins(texts)}
    changed |= {"robots_delay": host.crawl_delay() or None}
    if not (allowed_all and host.allows_all()):
        changed |= {"robots_news": True}
    _set(tx, host, changed)
    own = rules[scheme][0] if keeps else None
    return own.delay(agent or manners.agent) if own is not None else 0.0


def robots_text(tx: Tx, name: str, scheme: str, manners: PolitenessPolicy) -> str | None:
    """Return the robots.txt that holds for a host's pages of a scheme; without one, that of both, or else of one of
    them.

    Raises UnknownHost when the host has not been met.
    """
    host_state = politeness.read(tx, [name], manners).get(name)
    if host_state is None:
        raise unknown(name)
    rows = tx.one("hosts/robots", names=[name])[0]
    texts = dict(zip(KEPT, rows[0][1:], strict=True)) if rows else {}
    if scheme in host_state.robots():
        return texts.get(scheme)
    return texts.get("") or (None if scheme else texts.get("https") or texts.get("http"))


def no_news(tx: Tx, name: str, texts: RobotsTexts, manners: PolitenessPolicy, now: float) -> None:
    """Remove the mark after all pages of a host were judged by `told`, if that is still its robots.txt."""
    host = politeness.lock(tx, [name], manners)[name]
    if host.robots() == texts:
        _rewrite(tx, host, {"robots_news": None}, now)


def review(
    tx: Tx, now: float, manners: PolitenessPolicy, revision: int, look: Callable[[list[HostState]], None] | None
) -> int:
    """Apply the brain's settings to the next hosts. Return their number, 0 when the backfill has ended.

    Pages that were set aside are offered where there is room now, a robots.txt is read for the present user agent.
    Times that a clock wrote which was ahead are put right, and a host that waits for its address gets another turn.
    `look`: sets when the first page of each of these locked hosts may be visited. It gets the hosts that rest, and
    those that open later: callers wait for the time that a host's state has for its queue. None: that is not known yet,
    as while the times of pages are being put right; then a claim looks at hosts that rest. Raises BegunAnew.
    """
    stored = brain_state.stored(tx, revision)
    if stored.get("reviewing_hosts") is None:
        return 0
    # Lock the next hosts, with the rules of their robots.txt.
    names = tx.one("hosts/after", after=stored["reviewing_hosts"], limit=BATCH)[0]
    locked = politeness.lock(tx, names, manners, now) if names else {}
    if names:
        tx.do("hosts/put_right", names=names, now=now)
    politeness.rules(tx, locked.values())
    changes: dict[str, dict[str, Any]] = {}
    unsure: list[HostState] = []
    for host in locked.values():
        # A page of its queue may be due before the time that its state has.
        if host.ripe_at > now or (look is not None and host.queued and host.opens_at() > now):
            unsure.append(host)
            changes[host.name] = {}
        # It waits for a time that no longer holds.
        if host.turn_at > now or host.set_aside or host.righted:
            host.turn_at = min(host.turn_at, now)
            changes[host.name] = {}
        # Its robots.txt is to be read for another user agent.
        if any(agent is None for _, agent in host.robots().values()):
            changes[host.name] = {"robots_delay": host.crawl_delay() or None, "robots_news": True}
    # Find when the first page of the unsure ones may be visited, or let a claim find out.
    if look is not None:
        politeness.know_budgets(tx, unsure)
        look(unsure)
    else:
        for host in unsure:
            host.ripe_at = now
    for name, properties in changes.items():
        _set(tx, locked[name], properties)
    politeness.write(tx, (locked[name] for name in sorted(changes)), (), now)
    tx.do("brain/note", notes={"reviewing_hosts": names[-1] if len(names) == BATCH else None})
    return len(names)
