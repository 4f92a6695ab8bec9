"""What is set for one host: delay, limit, budget, blocks, its robots.txt; and the passes that follow from a change.

Whoever sets a robots.txt leaves a mark on the host in the same transaction; it goes when all pages of the host have
been judged by that text, so that anybody can go on where a killed process has stopped. Until then, and for pages that
are met later, claims judge each page before they hand it out. What follows for every host from a change of the brain's
settings is done in the order of names, and how far it is stands on the brain.
Statements: hosts/*, brain/note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphbrain import hosts, passes, robots
from graphbrain.errors import BadInput
from graphbrain.graph import Tx
from graphbrain.hosts import Host, Manners
from graphbrain.model import FOR_EVER
from graphbrain.model import Host as HostView

__all__ = ["block", "listed", "look", "no_news", "review", "set_manners", "set_robots", "unblock"]

BATCH = 200
REVIEWING = frozenset({"pages_per_host", "revisit_seconds", "user_agent"})
"""Settings after which all hosts are reviewed."""
NEVER_DEAD = 2**53
OWN = {"delay": "delay", "in_flight": "most_in_flight", "budget": "budget"}
"""What can be set for a host, and the property that holds it."""


def _view(row: Mapping[str, Any], manners: Manners) -> HostView:
    host = Host(row, manners)
    return HostView(
        name=host.name,
        delay=host.delay,
        own_delay=row["delay"],
        robots_delay=row["robots_delay"],
        response_seconds=row["response_seconds"],
        pace=host.pace,
        complaints=host.errors,
        blocked_until=row["blocked_until"],
        unanswered=host.unanswered,
        probe_at=row["probe_at"] if host.dead() else None,
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
        discovered=row["discovered"],
    )


def look(
    tx: Tx, after: str, limit: int, which: Mapping[str, Any], manners: Manners, now: float
) -> tuple[str | None, list[HostView]]:
    """Of the next hosts by name those that fit, and the last name that was looked at (None: there is none)."""
    dead = manners.dead_after or NEVER_DEAD
    last, rows = tx.one("hosts/page", after=after, limit=limit, now=now, dead=dead, **which)
    return last, [_view(row, manners) for row in rows]


def listed(tx: Tx, name: str, manners: Manners) -> HostView:
    """One host. Raises BadInput when nobody has met it."""
    rows = tx.one("hosts/view", name=name)[0]
    if not rows:
        raise unknown(name)
    return _view(rows[0], manners)


def unknown(name: object) -> BadInput:
    """The error for a host that nobody has met."""
    return BadInput(f"No page of host {name!r:.80} is known.")


def _locked(tx: Tx, name: str, manners: Manners) -> Host:
    if name not in hosts.read(tx, [name], manners):
        raise unknown(name)
    return hosts.lock(tx, [name], manners)[name]


def _rewrite(tx: Tx, host: Host, properties: Mapping[str, Any], now: float) -> None:
    """Write properties that were set, and what follows: a longer or shorter delay counts from the last claim."""
    before = host.delay
    host.stored = {**host.stored, **{name: value for name, value in properties.items() if name in host.stored}}
    if host.budget > 0 and host.budget_used is None:
        hosts.know_budgets(tx, [host])
    if host.next_at:
        host.next_at += host.delay - before
    host.reopen()
    if properties:
        tx.do("hosts/write", rows=[[host.name, dict(properties)]])
    hosts.write(tx, [host], (), now)


def set_manners(tx: Tx, name: str, given: Mapping[str, Any], manners: Manners, now: float) -> None:
    """Set what is given of one host's `delay`, `in_flight` and `budget`; None goes back to the brain's."""
    host = _locked(tx, name, manners)
    _rewrite(tx, host, {OWN[what]: value for what, value in given.items()}, now)


def block(tx: Tx, name: str, seconds: float | None, manners: Manners, now: float) -> None:
    """Leave a host alone for so long from now; None: until somebody lifts it."""
    host = _locked(tx, name, manners)
    host.blocked_until = FOR_EVER if seconds is None else now + seconds
    hosts.write(tx, [host], (), now)


def unblock(tx: Tx, name: str, manners: Manners, now: float) -> None:
    """Lift a host's block, forget its complaints and that it did not answer, and give it back its full rate."""
    host = _locked(tx, name, manners)
    before = host.delay
    host.blocked_until, host.errors, host.pace = 0.0, 0, 1.0
    host.answered()
    if host.next_at:
        host.next_at += host.delay - before
    hosts.write(tx, [host], (), now)


def set_robots(tx: Tx, name: str, text: str | None, agent: str | None, manners: Manners, now: float) -> float:
    """Keep a host's robots.txt (None: forget it), and mark its pages as still to be judged; its Crawl-delay."""
    host = _locked(tx, name, manners)
    rules = None if text is None else robots.parsed(text)
    delay = rules.delay(agent or manners.agent) if rules is not None else 0.0
    kept = {
        "robots": text,
        "robots_mark": None if text is None else robots.fingerprint(text),
        "robots_agent": None if text is None else agent,
        "robots_delay": delay or None,
        "robots_at": None if text is None else now,
        "robots_news": True,
    }
    _rewrite(tx, host, kept, now)
    return delay


def no_news(tx: Tx, name: str, mark: str | None, manners: Manners, now: float) -> None:
    """All pages of a host were judged by the text with this fingerprint: if it is still that one, the mark goes."""
    host = hosts.lock(tx, [name], manners)[name]
    if host.stored["robots_mark"] == mark:
        _rewrite(tx, host, {"robots_news": None}, now)


def review(tx: Tx, now: float, manners: Manners, revision: int) -> int:
    """Do for the next hosts what follows from the brain's settings; how many, 0 when the pass has ended.

    Pages that were set aside are offered where there is room now, a robots.txt is read for who the crawler is now, and
    a host that rests is looked at again. Raises BegunAnew.
    """
    stored = passes.standing(tx, revision)
    if stored.get("reviewing_hosts") is None:
        return 0
    names = tx.one("hosts/after", after=stored["reviewing_hosts"], limit=BATCH)[0]
    held = hosts.lock(tx, names, manners) if names else {}
    hosts.rules(tx, held.values())
    for name in names:
        host, changed = held[name], dict[str, Any]()
        if host.rules is not None and host.stored["robots_agent"] is None:
            changed = {"robots_delay": host.rules.delay(manners.agent) or None, "robots_news": True}
        rests = host.stored["resting"]
        if rests:
            host.file(now)
        if changed or host.set_aside or rests:
            _rewrite(tx, host, changed, now)
    tx.do("brain/note", notes={"reviewing_hosts": names[-1] if len(names) == BATCH else None})
    return len(names)
