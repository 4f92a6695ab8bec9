"""The settings of one host (delay, limit, budget, block, robots.txt), and the backfills of all hosts after a change.

A transaction that sets a robots.txt writes a mark to the host. The mark is removed when all pages of the host were
checked against that text, so that any process can continue after a kill. Until then, a claim checks each page first. It
also does so for pages that are found later. After a change of the brain's settings all hosts are reviewed in the order
of their names, and the progress is stored on the brain. Statements: hosts/*, pages/hosts, brain/note.
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
    "turn",
    "unblock",
]

RobotsTexts = Mapping[str, tuple[str | None, str | None]]
"""The robots.txt of a host, as `HostState.robots` returns them."""

BATCH = 200
REVIEWING = frozenset({"groups", "hours", "pages_per_host", "revisit_seconds", "user_agent"})
"""The settings of the brain after whose change all hosts are reviewed."""
NEVER_DEAD = 2**53
MOST_LED = 10_000
"""Most pages of a host that are read to find a wall."""
OWN = {"delay": "delay", "in_flight": "most_in_flight", "budget": "budget"}
"""Value that can be set for a host → its property."""


def _view(row: Mapping[str, Any], manners: PolitenessPolicy, now: float) -> Host:
    """Return a host for the user, from its row of hosts/view or hosts/page."""
    host = HostState(row, manners)
    group, opens = manners.groups.of(host.name), manners.opens(host.name, now)
    return Host(
        name=host.name,
        # Its delay.
        delay=host.delay,
        own_delay=row["delay"],
        robots_delay=row["robots_delay"],
        response_seconds=row["response_seconds"],
        pace=host.pace,
        # Its back-off and its health.
        complaints=host.errors,
        blocked_until=row["blocked_until"],
        unanswered=host.unanswered,
        probe_at=row["probe_at"] if host.ill() else None,
        failing_since=host.failing_since or None,
        illness=host.illness,
        # Its open claims, its budget and its queues.
        next_at=row["next_at"],
        in_flight=host.in_flight,
        most_in_flight=host.most,
        own_in_flight=row["most_in_flight"],
        budget=host.budget,
        own_budget=row["budget"],
        budget_used=host.budget_used,
        set_aside=host.set_aside,
        queued=host.queued,
        # Its address and its robots.txt.
        address=host.address if group is None else None,
        robots_at=row["robots_at"],
        robots_agent=row["robots_agent"],
        robots_http_at=row["robots_http_at"],
        robots_https_at=row["robots_https_at"],
        discovered=row["discovered"],
        # Its rules.
        group=None if group is None else group.hosts,
        shut_until=opens if opens > now else None,
    )


def look(
    tx: Tx, after: str, limit: int, which: HostFilter, manners: PolitenessPolicy, now: float
) -> tuple[str | None, list[Host]]:
    """Return (last name that was read, hosts that fit) of the next hosts by name. The name is None after all hosts."""
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
    return last, [_view(row, manners, now) for row in rows]


def sized(tx: Tx, hosts: Sequence[Host], most: int) -> list[Host]:
    """Return hosts with the number of their pages, counted up to `most`, and with their walls."""
    if not hosts:
        return []
    names = [host.name for host in hosts]
    sizes = dict(tx.one("hosts/sizes", names=names, limit=most + 1)[0])
    rows = tx.one("hosts/walls", names=names, limit=MOST_LED, least=MANY)[0]
    walls = {name: {"wall": bare(url), "walled": pages} for name, url, pages in rows}

    def with_size(host: Host) -> Host:
        pages = sizes[host.name]
        return replace(host, pages=min(most, pages), more_pages=pages > most, **walls.get(host.name, {}))

    return [with_size(host) for host in hosts]


def listed(tx: Tx, name: str, manners: PolitenessPolicy, now: float) -> Host:
    """Return one host. Raises UnknownHost if it is not in the graph."""
    rows = tx.one("hosts/view", name=name)[0]
    if not rows:
        raise unknown(name)
    return _view(rows[0], manners, now)


def unknown(name: object) -> UnknownHost:
    """Return the error for a host that is not in the graph."""
    return UnknownHost(f"No page of host {name!r:.80} is known.")


def _locked(tx: Tx, name: str, manners: PolitenessPolicy, now: float) -> HostState:
    if name not in politeness.read(tx, [name], manners):
        raise unknown(name)
    return politeness.lock(tx, [name], manners, now)[name]


def _created(tx: Tx, name: str, manners: PolitenessPolicy, now: float) -> HostState:
    """Return a locked host. Create it if it is not in the graph."""
    tx.do("pages/hosts", names=[name], now=now)
    return politeness.lock(tx, [name], manners, now)[name]


def _rewrite(tx: Tx, host: HostState, properties: Mapping[str, Any], now: float) -> None:
    """Set properties of a host, and write it."""
    _set(tx, host, properties)
    politeness.write(tx, [host], (), now)


def _set(tx: Tx, host: HostState, properties: Mapping[str, Any]) -> None:
    """Set properties of a locked host, and what follows from them. The caller writes the host.

    A new delay counts from the last claim.
    """
    before = host.delay
    host.stored = {**host.stored, **{name: value for name, value in properties.items() if name in host.stored}}
    host.given |= properties
    if host.budget > 0 and host.budget_used is None:
        politeness.know_budgets(tx, [host])
    if host.next_at:
        host.next_at += host.delay - before
    host.reopen()


def set_manners(tx: Tx, name: str, given: Mapping[str, Any], manners: PolitenessPolicy, now: float) -> None:
    """Set the given ones of one host's `delay`, `in_flight` and `budget`. None restores the brain's setting."""
    host = _created(tx, name, manners, now)
    _rewrite(tx, host, {OWN[what]: value for what, value in given.items()}, now)


def block(tx: Tx, name: str, seconds: float | None, manners: PolitenessPolicy, now: float) -> None:
    """Block a host for some seconds, or until the end of its back-off if that is later. None: until an operator lifts
    the block."""
    host = _created(tx, name, manners, now)
    until = FOR_EVER if seconds is None else now + seconds
    if not host.blocked_at or until >= host.blocked_until:  # this replaces an earlier block by hand, also a longer one
        host.blocked_until, host.blocked_at = until, 0.0
    politeness.write(tx, [host], (), now)


def unblock(tx: Tx, name: str, manners: PolitenessPolicy, now: float) -> None:
    """Lift a host's block, forget its complaints and failures, and restore its full rate."""
    host = _locked(tx, name, manners, now)
    before = host.delay
    host.lift_block()
    host.pace = 1.0
    host.forget_failures()
    if host.next_at:
        host.next_at += host.delay - before
    politeness.write(tx, [host], (), now)


def turn(tx: Tx, name: str, url: str, within: float, manners: PolitenessPolicy, now: float) -> float | None:
    """Take the turn of a host for a request that no claim covers, such as a step of a redirect.

    Args:
        tx: The transaction.
        name: The host. It is created if it is not in the graph.
        url: The URL of the request.
        within: The longest wait in seconds.
        manners: The limits of hosts.
        now: Epoch seconds.

    Returns:
        0 if the request may be sent now; the next claim of the host comes a delay later. Otherwise the seconds after
        which to ask again; None if they are more than `within`, or if robots.txt forbids the URL.
    """
    host = _created(tx, name, manners, now)
    politeness.rules(tx, [host])
    wait = max(0.0, host.asked_from() - now)
    if wait > within or not host.allows(url):
        return None
    if wait == 0.0:
        host.next_at = now + host.delay
        politeness.write(tx, [host], (), now)
    return wait


def set_robots(
    tx: Tx, name: str, text: str | None, agent: str | None, manners: PolitenessPolicy, now: float, scheme: str = ""
) -> float | None:
    """Store the robots.txt of a host, or of its pages of one scheme, and mark its pages to be checked.

    Args:
        tx: The transaction.
        name: The host.
        text: The text; None removes it. Without a scheme, None removes those of all schemes.
        agent: The product token by which it is read; None: that of the brain.
        manners: The limits of hosts.
        now: Epoch seconds.
        scheme: The scheme for whose pages the text holds; empty: for those of all schemes without their own text.

    Returns:
        The Crawl-delay of the text in seconds; None if the host is not in the graph, and there is nothing to remove.
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
    """Store the robots.txt from a claim, for the pages of one scheme of a locked host. Return whether it has changed.
    The caller writes the host.

    `text`: None if there is none. The agent by whose rules the host is crawled stays. An unchanged text needs no check
    of pages.
    """
    texts = host.robots()
    mark, agent = texts.get(scheme, texts.get("", (None, None)))
    is_same = mark == (None if text is None else robots.fingerprint(text))
    if is_same and (scheme in texts or text is None):
        host.times[scheme] = Times.read(now)
        _set(tx, host, {f"{KEPT[scheme]}_at": now})
        return False
    _obey(tx, host, text, agent, now, scheme, claimed=True)
    return True


def _obey(
    tx: Tx, host: HostState, text: str | None, agent: str | None, now: float, scheme: str, *, claimed: bool = False
) -> float:
    """Store a robots.txt of a locked host. Mark its pages to be checked if the new or the old text forbids any.

    Return its Crawl-delay in seconds. `claimed`: True if a claim has read it: then it is known, also if it is missing.
    """
    manners, texts = host.manners, host.robots()
    if not host.rules:
        politeness.rules(tx, [host])
    rules, allowed_all = dict(host.rules), host.allows_all()
    # Replace the texts of the schemes. If there is a text for all schemes, store also that one scheme has none.
    schemes = (scheme,) if scheme or text is not None else tuple(KEPT)
    for each in schemes:
        texts.pop(each, None)
        rules.pop(each, None)
    is_stored = text is not None or (scheme != "" and "" in texts)
    if is_stored:
        texts[scheme] = (None, None) if text is None else (robots.fingerprint(text), agent)
        rules[scheme] = (None if text is None else robots.parsed(text), agent or manners.agent)
    host.rules = rules
    # Note when they were read.
    for each in (scheme,) if scheme else USUAL_PORT:
        host.times.pop(each, None)
        if is_stored or claimed:
            host.times[each] = Times.read(now)
    # Set the properties, with the mark by which pages are checked.
    changes: dict[str, Any] = {KEPT[each]: text for each in schemes}
    changes |= {f"{KEPT[each]}_at": now if is_stored else None for each in schemes}
    mark, agent_of_all = texts.get("", (None, None))
    changes |= {"robots_mark": mark, "robots_agent": agent_of_all, "robots_origins": politeness.origins(texts)}
    changes |= {"robots_delay": host.crawl_delay() or None}
    if not (allowed_all and host.allows_all()):
        changes |= {"robots_news": True}
    _set(tx, host, changes)
    own = rules[scheme][0] if is_stored else None
    return own.delay(agent or manners.agent) if own is not None else 0.0


def robots_text(tx: Tx, name: str, scheme: str, manners: PolitenessPolicy) -> str | None:
    """Return the robots.txt for a host's pages of a scheme. Without a scheme: the text for all, or else for one.

    Raises UnknownHost if the host is not in the graph.
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
    """Remove the mark after all pages of a host were checked against `texts`, if these are still its robots.txt."""
    host = politeness.lock(tx, [name], manners)[name]
    if host.robots() == texts:
        _rewrite(tx, host, {"robots_news": None}, now)


def review(
    tx: Tx, now: float, manners: PolitenessPolicy, revision: int, look: Callable[[list[HostState]], None] | None
) -> int:
    """Apply the brain's settings to the next hosts. Return their number, 0 when the backfill has ended.

    Pages that wait for room in a budget are queued if there is room now. A host shares the limits of its present group,
    and is looked at when its present hours begin. A robots.txt is read for the present user agent. Times of a clock
    that was ahead are corrected, and a host that waits for its address gets another turn.

    Args:
        tx: The transaction.
        now: Epoch seconds.
        manners: The limits of hosts.
        revision: The revision of the brain's settings.
        look: Sets, for locked hosts, the time from which on the first of their pages may be visited. None: the times of
            pages are not known yet, because they are being corrected. Then claims find out.

    Raises:
        BegunAnew: The settings have changed.
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
    untimed: list[HostState] = []
    for host in locked.values():
        # Its state may have a time for its queue that is too late.
        opens = max(host.opens_at(), host.stored["ready_at"] or 0.0)
        if host.ripe_at > now or (look is not None and host.queued and opens > now):
            untimed.append(host)
            changes[host.name] = {}
        # It may share other limits now, or wait for a turn or for room in a way that no longer holds.
        if host.address != host.stored["address"] or host.turn_at > now or host.set_aside or host.righted:
            host.turn_at = min(host.turn_at, now)
            changes[host.name] = {}
        # Its robots.txt must be read for another user agent.
        if any(agent is None for _, agent in host.robots().values()):
            changes[host.name] = {"robots_delay": host.crawl_delay() or None, "robots_news": True}
    # Find the times of queues, or let a claim find them.
    if look is not None:
        politeness.know_budgets(tx, untimed)
        look(untimed)
    else:
        for host in untimed:
            host.ripe_at = now
    # Write the hosts, and the progress.
    for name, properties in changes.items():
        _set(tx, locked[name], properties)
    politeness.write(tx, (locked[name] for name in sorted(changes)), (), now)
    tx.do("brain/note", notes={"reviewing_hosts": names[-1] if len(names) == BATCH else None})
    return len(names)
