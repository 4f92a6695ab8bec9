"""The check of reports of claimed resources, and the meaning of their answers.

This module needs no graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Claim, Failed, Fault, Fetched, Hint, Resource, Unusable
from graphbrain.base.runtime import tokens
from graphbrain.base.urls.normalization import address, host_of, resolved
from graphbrain.content import input_checks, retry_after
from graphbrain.content.feeds import reading
from graphbrain.frontier.claims.link_state import head_refused
from graphbrain.frontier.hosts import health
from graphbrain.frontier.hosts.resource import Said
from graphbrain.frontier.hosts.robots import readable

__all__ = ["MOST_ENTRIES", "Listed", "ResourceVisit", "visited"]

NO_BODY = "a {} that was fetched needs its body"
NAMES = {"robots": "robots.txt", "sitemap": "sitemap"}
MOST_ENTRIES = 50_000
"""Most entries of one sitemap that are read: the limit of sitemaps.org."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The entries of a sitemap or an index, in order. `mark`: their fingerprint; `note`: what is wrong with it."""

    hints: tuple[Hint, ...]
    sitemaps: tuple[str, ...]
    mark: str
    note: str = ""

    @property
    def entries(self) -> int:
        """The number of its entries, pages and sitemaps."""
        return len(self.hints) + len(self.sitemaps)


@dataclass(frozen=True, slots=True)
class ResourceVisit:
    """One checked report of a claimed resource.

    `kind`: the kind of the attempt (`frontier.hosts.health`). `note`: a remark for the answer. `refusal`: the reason
    why the report was refused; the attempt counts as failed then. `fault`, `error`: those that the crawler reports.
    """

    url: str
    key: str
    token: str
    answer: Said
    at: float
    kind: health.Kind
    status: int | None = None
    retry_after: float | None = None
    seconds: float | None = None
    address: str | None = None
    note: str = ""
    refusal: str = ""
    listed: Listed | None = field(default=None, repr=False)
    etag: str | None = None
    last_modified: str | None = None
    fault: Fault | None = None
    error: str = ""

    @property
    def entries(self) -> int:
        """The number of entries of a sitemap that are to be written."""
        return 0 if self.listed is None else self.listed.entries


def visited(report: object, claim: Claim, now: float) -> ResourceVisit:
    """Return the checked report of a resource's claim. A report that cannot be used is a failure, with the reason."""
    try:
        return _visited(report, claim, now)
    except Exception as error:  # noqa: BLE001  # the caller's own class
        why = str(error) if isinstance(error, BadInput) else f"it cannot be read ({type(error).__name__})"
        return ResourceVisit(
            claim.url, claim.key, claim.token, Said("fails"), now, "none", refusal=input_checks.shown(why)
        )


def _visited(report: object, claim: Claim, now: float) -> ResourceVisit:
    if isinstance(report, Unusable):
        raise BadInput(report.reason)
    if isinstance(report, Resource):
        report = report.as_report()
    if not isinstance(report, Fetched | Failed):
        raise BadInput(f"a report is a Resource, a Fetched or a Failed, not {type(report).__name__}")
    # Find the meaning of the answer.
    wait = retry_after.seconds(report.retry_after, now) if isinstance(report, Failed) else None
    visit = input_checks.checked(_plain(report))
    answer, note, listed = _answer_of(visit, claim)
    # Limit the time of the visit to that between claim and report: the clock of a crawler may be wrong.
    at = now if visit.fetched_at is None else min(max(float(visit.fetched_at), tokens.made_at(claim.token) or 0.0), now)
    return ResourceVisit(
        claim.url,
        claim.key,
        claim.token,
        answer,
        at,
        _kind_of(visit, claim),
        visit.status,
        wait,
        visit.seconds,
        input_checks.address(visit.address),
        note,
        listed=listed,
        etag=visit.etag if isinstance(visit, Fetched) else None,
        last_modified=visit.last_modified if isinstance(visit, Fetched) else None,
        fault=visit.fault if isinstance(visit, Failed) else None,
        error=input_checks.shown(visit.error) if isinstance(visit, Failed) else "",
    )


def _kind_of(report: Fetched | Failed, claim: Claim) -> health.Kind:
    """Return the kind of the attempt. A host that answers HEAD with an error is well."""
    if report.status is not None and head_refused(claim.method, report.status):
        return "well"
    return health.kind_of(report.status, report.fault if isinstance(report, Failed) else None)


def _plain(report: Fetched | Failed) -> Fetched | Failed:
    """Return the part of a report that matters to a resource: it has no links and no facts."""
    if isinstance(report, Failed):
        return Failed(
            report.url, report.claim, report.status, report.error,
            fetched_at=report.fetched_at, seconds=report.seconds, address=report.address, fault=report.fault,
        )  # fmt: skip
    leads = report.redirected_to or (report.led_to[0] if report.led_to and 300 <= report.status < 400 else None)
    return Fetched(
        report.url, claim=report.claim, status=304 if report.not_modified else report.status, body=report.body,
        redirected_to=leads, fetched_at=report.fetched_at, seconds=report.seconds, address=report.address,
        etag=report.etag, last_modified=report.last_modified,
    )  # fmt: skip


def _answer_of(report: Fetched | Failed, claim: Claim) -> tuple[Said, str, Listed | None]:
    """Return the meaning of an answer, a remark on it, and the entries of a sitemap."""
    if claim.kind == "sitemap":
        return _said_of_sitemap(report, claim)
    return (*(_said_of_link(report, claim) if claim.kind == "link" else _answer_in(report, claim)), None)


def _answer_in(report: Fetched | Failed, claim: Claim) -> tuple[Said, str]:
    """Return the meaning of an answer, and a remark on it."""
    status = report.status
    if isinstance(report, Fetched) and report.redirected_to is not None:
        return _leads(claim.url, report.redirected_to, Said("rules"), "all is allowed")
    # After an answer that shows nothing about the file, its rules are not known.
    if status is None or not 200 <= status < 500 or health.kind_of(status) != "well":
        return Said("fails"), "robots.txt cannot be had: what it forbids is not known"
    if status == health.NOT_MODIFIED:
        raise BadInput("the claim of a robots.txt has no ETag or date to be asked with, so 304 has no meaning")
    # Without a file all is allowed (RFC 9309, 2.3.1.3).
    if status >= 300:
        where = "" if status >= 400 else " it leads nowhere;"
        return Said("rules"), f"there is no robots.txt:{where} all is allowed"
    body = report.body
    if body is None and status == 204:
        body = b""
    if body is None:
        raise BadInput(NO_BODY.format(NAMES["robots"]))
    try:
        return Said("rules", readable(body)), ""
    except BadInput as error:
        return Said("rules", ""), f"all is allowed: {error}"


def _said_of_sitemap(report: Fetched | Failed, claim: Claim) -> tuple[Said, str, Listed | None]:
    """Return the meaning of an answer for a sitemap, a remark on it, and the entries."""
    status = report.status
    if isinstance(report, Fetched) and report.redirected_to is not None:
        return (*_leads(claim.url, report.redirected_to, Said("gone"), "there is no sitemap"), None)
    # After an answer that shows nothing about the file, it is tried again.
    if status is None or not 200 <= status < 500 or health.kind_of(status) != "well":
        return Said("fails"), "the sitemap cannot be had; it is tried again later", None
    if status == health.NOT_MODIFIED:
        if not (claim.etag or claim.last_modified):
            raise BadInput("this claim has no ETag or date to be asked with, so 304 has no meaning")
        return Said("same"), "", None
    if status >= 300:
        return Said("gone"), "there is no sitemap", None
    if report.body is None:
        raise BadInput(NO_BODY.format(NAMES["sitemap"]))
    try:
        listed = _listed(report.body, claim.url)
    except BadInput as error:
        return Said("gone"), input_checks.shown(str(error)), None
    return Said("lists", listed.mark), listed.note, listed


def _said_of_link(report: Fetched | Failed, claim: Claim) -> tuple[Said, str]:
    """Return the meaning of an answer for the check of a link, and a remark on it. The body is not read."""
    status = report.status
    if isinstance(report, Fetched) and report.redirected_to is not None:
        return _leads(claim.url, report.redirected_to, Said("gone"), "the link is broken")
    if head_refused(claim.method, status):
        return Said("fails"), "HEAD has brought an error, or no answer; the URL is asked by GET next"
    if status is None or not 200 <= status < 500 or health.kind_of(status) != "well":
        return Said("fails"), "the URL cannot be had; it is tried again later, or the link is broken"
    return (Said("gone"), "the link is broken") if status >= 400 else (Said("found"), "")


def _listed(body: bytes, url: str) -> Listed:
    """Return the entries of a sitemap. Raises BadInput for a text that is no sitemap."""
    entries = reading.read(body, url).at(url)
    hints, children = entries.hints[:MOST_ENTRIES], entries.sitemaps[:MOST_ENTRIES]
    over = len(entries.hints) + len(entries.sitemaps) - len(hints) - len(children)
    notes = [f"{over:,} entries are more than a sitemap may have, and were left out"] if over else []
    notes += entries.refused[:1] + entries.mended[:1]
    mark = blake2b(digest_size=16)
    for hint in hints:
        mark.update(f"{hint.url} {hint.at}\n".encode("utf-8", "replace"))
    for child in children:
        mark.update(f"{child}\n".encode("utf-8", "replace"))
    return Listed(hints, children, mark.hexdigest(), input_checks.shown("; ".join(notes)) if notes else "")


def _leads(url: str, target: str, none: Said, means: str) -> tuple[Said, str]:
    """Return the effect of a redirect: the address that is claimed next, or `none` if its target is no URL."""
    try:
        location = address(resolved(url, target)).partition("#")[0]
    except BadInput as error:
        return none, f"redirects to {input_checks.shown(target)}: {error}; {means}"
    return Said(
        "leads", url=location, host=host_of(location)
    ), f"redirects to {input_checks.shown(location)}, which is claimed next"
