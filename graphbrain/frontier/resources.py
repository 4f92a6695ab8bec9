"""Resources: what is claimed and reported as a page is, and is no page. A robots.txt is one (`hosts.origins`).

A caller that asks for the kind is handed the robots.txt of an origin in place of the first page of it that he could
have. Its claim is a lease with a fencing token, and counts for the delay, the address and the limit of the host that is
asked; what becomes of it is evidence on the health of that host.
A resource is locked after pages and before hosts, by key. What a host keeps of its robots.txt is written under the
host's lock.
Statements: resources/*, pages/hosts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphbrain import border, retry_after, tokens
from graphbrain.errors import BadInput
from graphbrain.frontier.leases import Lease
from graphbrain.frontier.verdicts import RETURNED, Policy
from graphbrain.graph.connection import Tx, intact
from graphbrain.hosts import admin, health, origins, politeness
from graphbrain.hosts.origins import Origin, Said, Times
from graphbrain.hosts.politeness import Ends
from graphbrain.hosts.robots import readable
from graphbrain.hosts.state import HostState, Manners, Request
from graphbrain.model import Answer, Claim, Failed, Fetched, Outcome, Resource, Unusable, kind_of
from graphbrain.url import address, host_of, resolved

__all__ = [
    "RESOURCES",
    "Visited",
    "lock",
    "mine",
    "origin_of",
    "outlook",
    "record",
    "visited",
    "wanted",
    "write",
]

NO_BODY = "a robots.txt that was fetched needs its body"
GONE = "the lease lapsed, or somebody else holds it"
GIVEN_BACK = "the claim was given back or had lapsed"


# ---------------------------------------------------------------- claims


def origin_of(url: str, host: str) -> str:
    """The key of the robots.txt that holds for a page."""
    return origins.key_of(url.partition(":")[0], host)


def wanted(tx: Tx, pages: Iterable[tuple[str, str]], manners: Manners, now: float) -> dict[str, Origin]:
    """Lock, and create, the robots.txt that are to be read before these pages (URL, host), as their hosts say without
    a lock; by key."""
    met = dict(pages)
    hosts = politeness.read(tx, set(met.values()), manners, now)
    rows = {}
    for url, name in met.items():
        scheme, host = url.partition(":")[0], hosts.get(name)
        if host is not None and host.robots_hold <= now and host.wants_robots(scheme, now):
            key = origins.key_of(scheme, name)
            rows[key] = [key, kind_of(key), f"{scheme}://{name}/robots.txt", name]
    if not rows:
        return {}
    tx.do("resources/create", rows=[rows[key] for key in sorted(rows)], now=now)
    return lock(tx, rows)


def lock(tx: Tx, keys: Iterable[str]) -> dict[str, Origin]:
    """Lock those of these resources that are there, by key. No page may be locked after this."""
    names = sorted(set(keys))
    rows = tx.one("resources/lock", keys=names)[0] if names else []
    return {row[0]: Origin(*row) for row in rows}


def write(tx: Tx, held: Iterable[Origin]) -> None:
    """Write what has changed of locked resources."""
    rows = [[origin.key, changes] for origin in held if (changes := origin.changes())]
    if rows:
        tx.do("resources/write", rows=rows)


def mine(tx: Tx, tokens_of: Collection[str], tried: Iterable[str]) -> list[Claim]:
    """The claims among the keys `tried` that carry one of the tokens; what is a page's key is passed over."""
    keys = sorted(key for key in tried if kind_of(key) != "page")
    rows = tx.one("resources/mine", keys=keys, tokens=sorted(tokens_of))[0] if keys else []
    for row in rows:
        intact(*row)
    return [Claim(url, key, token, until, host, 0) for key, url, host, until, token in sorted(rows)]


def outlook(tx: Tx, limit: int) -> list[list[object]]:
    """The first leases to lapse: [when, host, token]."""
    rows: list[list[object]] = tx.one("resources/outlook", limit=limit)[0]
    return rows


# ---------------------------------------------------------------- claims that end, or go on


class _Resources:
    """Resources as what is leased (`leases.Leasing`)."""

    name = "resources"

    def has(self, key: str) -> bool:
        return kind_of(key) != "page"

    def found(self, tx: Tx, keys: Iterable[str]) -> list[Lease]:
        return self.locked(tx, [*keys])

    def lapsed(self, tx: Tx, now: float, limit: int) -> list[str]:
        keys: list[str] = tx.one("resources/lapsed", now=now, limit=limit)[0]
        return keys

    def locked(self, tx: Tx, nodes: Sequence[str]) -> list[Lease]:
        return [
            Lease(one.key, one.lease, one.lease_until, (one.last_lease, one.last_outcome), one)
            for one in lock(tx, nodes).values()
        ]

    def hold(self, tx: Tx, leases: Sequence[Lease], until: float) -> None:
        for lease in leases:
            lease.locked.lease_until = until
        write(tx, [lease.locked for lease in leases])

    def let_go(self, tx: Tx, leases: Sequence[Lease], policy: Policy, now: float) -> None:
        _let_go(tx, [lease.locked for lease in leases], policy.manners, now)


RESOURCES = _Resources()


def _let_go(tx: Tx, held: Sequence[Origin], manners: Manners, now: float) -> None:
    """End leases without an answer: the resources may be claimed again at once, and pages wait for them no longer."""
    if not held:
        return
    ends: dict[str, Ends] = {}
    for origin in held:
        _end(ends, origin)
        origin.let_go(RETURNED)
    hosts = _concluded(tx, held, ends, manners, now)
    for host in hosts.values():
        host.end_robots_hold()
    politeness.write(tx, (hosts[name] for name in sorted(hosts)), (), now)
    write(tx, held)


def _end(ends: dict[str, Ends], origin: Origin) -> Ends:
    """What the end of a claim means to the host that was asked."""
    end = ends.setdefault(origin.host, Ends())
    end.claims += bool(origin.counted)
    end.at.update(() if origin.counted_at is None else (origin.counted_at,))
    return end


def _concluded(
    tx: Tx, held: Iterable[Origin], ends: Mapping[str, Ends], manners: Manners, now: float
) -> dict[str, HostState]:
    """Tell the hosts that were asked; the hosts of the origins, locked, as they are then."""
    names = {origin.name for origin in held}
    politeness.conclude_and_hold(tx, ends, {}, manners, now, involved=names | ends.keys())
    return politeness.lock(tx, names, manners, now)


# ---------------------------------------------------------------- reports


@dataclass(frozen=True, slots=True)
class Visited:
    """One reported answer to the claim of a resource, checked. `kind`: of the attempt (`hosts.health`); `note`: what
    the answer says beside; `refusal`: why the report was refused, and the attempt counts as failed."""

    url: str
    key: str
    token: str
    said: Said
    at: float
    kind: health.Kind
    status: int | None = None
    retry_after: float | None = None
    seconds: float | None = None
    address: str | None = None
    note: str = ""
    refusal: str = ""


def visited(report: object, claim: Claim, now: float) -> Visited:
    """What a report of the claim of a robots.txt says. What cannot be used is a failure, with the reason."""
    try:
        return _visited(report, claim, now)
    except Exception as error:  # noqa: BLE001  # the caller's own class
        why = str(error) if isinstance(error, BadInput) else f"it cannot be read ({type(error).__name__})"
        return Visited(claim.url, claim.key, claim.token, Said("fails"), now, "none", refusal=border.shown(why))


def _visited(report: object, claim: Claim, now: float) -> Visited:
    if isinstance(report, Unusable):
        raise BadInput(report.reason)
    if isinstance(report, Resource):
        report = report.as_report()
    if not isinstance(report, Fetched | Failed):
        raise BadInput(f"a report is a Resource, a Fetched or a Failed, not {type(report).__name__}")
    wait = retry_after.seconds(report.retry_after, now) if isinstance(report, Failed) else None
    known = border.checked(_plain(report))
    said, note = _said(known, claim)
    at = now if known.fetched_at is None else min(max(float(known.fetched_at), tokens.made_at(claim.token) or 0.0), now)
    fault = known.fault if isinstance(known, Failed) else None
    return Visited(
        claim.url,
        claim.key,
        claim.token,
        said,
        at,
        health.kind_of(known.status, fault),
        known.status,
        wait,
        known.seconds,
        border.address(known.address),
        note,
    )


def _plain(report: Fetched | Failed) -> Fetched | Failed:
    """What of a report speaks of a robots.txt: a page's links and facts are nothing to it."""
    if isinstance(report, Failed):
        return Failed(
            report.url, report.claim, report.status, report.error,
            fetched_at=report.fetched_at, seconds=report.seconds, address=report.address, fault=report.fault,
        )  # fmt: skip
    leads = report.redirected_to or (report.led_to[0] if report.led_to and 300 <= report.status < 400 else None)
    return Fetched(
        report.url, claim=report.claim, status=304 if report.not_modified else report.status, body=report.body,
        redirected_to=leads, fetched_at=report.fetched_at, seconds=report.seconds, address=report.address,
    )  # fmt: skip


def _said(report: Fetched | Failed, claim: Claim) -> tuple[Said, str]:
    """What an answer means, and what is to be said of it."""
    status = report.status
    if isinstance(report, Fetched) and report.redirected_to is not None:
        return _leads(claim.url, report.redirected_to)
    if status is None or not 200 <= status < 500 or health.kind_of(status) != "well":
        return Said("fails"), "robots.txt cannot be had: what it forbids is not known"
    if status == health.NOT_MODIFIED:
        raise BadInput("the claim of a robots.txt has no ETag or date to be asked with, so 304 says nothing")
    if status >= 300:
        where = "" if status >= 400 else " it leads nowhere;"
        return Said("rules"), f"there is no robots.txt:{where} all is allowed"
    body = report.body
    if body is None and status == 204:
        body = b""
    if body is None:
        raise BadInput(NO_BODY)
    try:
        return Said("rules", readable(body)), ""
    except BadInput as error:
        return Said("rules", ""), f"all is allowed: {error}"


def _leads(url: str, target: str) -> tuple[Said, str]:
    """Where a redirect leads, as it is claimed next."""
    try:
        place = address(resolved(url, target)).partition("#")[0]
    except BadInput as error:
        return Said("rules"), f"redirects to {border.shown(target)}: {error}; all is allowed"
    return Said("leads", url=place, host=host_of(place)), f"redirects to {border.shown(place)}, which is claimed next"


def record(tx: Tx, found: Sequence[Visited], policy: Policy, now: float) -> dict[str, Answer]:
    """Record what came of claims, each resource at most once; the answers, by key."""
    held = lock(tx, [one.key for one in found])
    done: dict[str, Answer] = {}
    live: list[tuple[Visited, Origin]] = []
    for one in found:
        origin = held.get(one.key)
        if origin is not None and origin.lease == one.token:
            live.append((one, origin))
        else:
            done[one.key] = _told_again(one, origin)
    if not live:
        return done
    if targets := sorted({one.said.host for one, _ in live if one.said.what == "leads"}):
        tx.do("pages/hosts", names=targets, now=now)
    ends: dict[str, Ends] = {}
    for one, origin in live:
        _attempted(_end(ends, origin), one, origin)
    hosts = _concluded(tx, [origin for _, origin in live], ends, policy.manners, now)
    for one, origin in live:
        outcome = _follow(tx, one, origin, hosts[origin.name], policy.manners, now)
        origin.let_go(outcome)
        done[one.key] = _answer(one, outcome)
    write(tx, [origin for _, origin in live])
    return done


def _told_again(one: Visited, origin: Origin | None) -> Answer:
    """The answer where the claim is over: as before, if this report has ended it."""
    if origin is None or origin.last_lease != one.token:
        return Answer(one.url, False, GONE)
    if origin.last_outcome == RETURNED:
        return Answer(one.url, False, GIVEN_BACK)
    stated: Outcome | None = origin.last_outcome  # type: ignore[assignment]  # written by `record`
    return _answer(one, stated)


def _answer(one: Visited, outcome: Outcome | None) -> Answer:
    return Answer(one.url, False, one.refusal) if one.refusal else Answer(one.url, True, one.note, outcome)


def _attempted(end: Ends, one: Visited, origin: Origin) -> None:
    """What an attempt means to the host that was asked."""
    if one.kind == "well":
        end.well_at = max(end.well_at or 0.0, one.at)
        end.successes.update([one.token])
    elif one.kind == "none":
        end.inconclusive = True
    else:
        claimed_at = tokens.made_at(one.token)
        at = one.at if claimed_at is None else min(claimed_at, one.at)
        failed = origin.failed if origin.failing_since is not None else None
        end.failures.append(
            Request(at, claimed_at is not None, one.retry_after, one.kind, one.at, failed_before=failed)
        )
    end.seconds = one.seconds if one.seconds is not None else end.seconds
    end.address = one.address or end.address


def _follow(tx: Tx, one: Visited, origin: Origin, host: HostState, manners: Manners, now: float) -> Outcome:
    """What follows from an answer for the origin's host, which is locked; the outcome."""
    known, first = host.knows_robots(origin.scheme), origin.scheme not in host.times
    rules = origin.hear(one.said, now, known=known, unreachable=manners.robots_unreachable)
    host.end_robots_hold()
    if rules is not None:
        changed = admin.take_robots(tx, host, rules.text, origin.scheme, now)
        if origin.due_at is not None:  # it fails still, and is tried again before these rules would be
            host.times[origin.scheme] = Times(now, origin.due_at)
            politeness.write(tx, [host], (), now)
        return "new" if first else "changed" if changed else "same"
    if origin.due_at is not None and known:
        read_at = host.times.get(origin.scheme, Times(now, now)).at
        host.times[origin.scheme] = Times(read_at, origin.due_at)
    elif origin.due_at is not None and not host.knows_other_robots(origin.scheme):
        host.hold_for_robots(origin.due_at, now)
    politeness.write(tx, [host], (), now)
    if one.said.what == "leads":
        return "alias"
    return "slowed" if one.kind == "refused" else "retry"
