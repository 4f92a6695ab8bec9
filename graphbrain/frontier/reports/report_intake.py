"""The check of reported items before any transaction: addresses and keys, hashes of bodies, distinct links, tokens.

An unusable item is refused with the reason, and does not stop the batch, even if the caller's classes and functions
fail. The claim of a refused visit ends as a failure of its page; if the lease lapsed instead, the page would be claimed
and refused again and again. A claimed visit has the token of its claim. An unclaimed visit gets a token here, once, so
that a second attempt to record it is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Answer, Claim, Failed, Fetched, Link, Report, Seen, Unusable
from graphbrain.base.runtime import tokens
from graphbrain.base.urls.normalization import USER_LEFT_OUT, Rules, cleaner, names_user, resolved, without_user
from graphbrain.base.urls.walls import place_of
from graphbrain.content import input_checks, retry_after
from graphbrain.content.report_semantics import TEMPORARY, meant
from graphbrain.frontier.reports import facts
from graphbrain.frontier.reports.outcomes import Item
from graphbrain.schedule import blocks, fingerprints, parts, shingles
from graphbrain.schedule.fingerprints import ChangeTest

__all__ = ["TWICE", "Intake", "named", "refused", "unreadable"]

BY_BODY = ChangeTest("body")
TWICE = "the same page is reported twice in one batch"
SKEW = 60.0
"""Seconds by which an unclaimed visit may be in the future, since clocks differ. It then counts as a visit of now."""


@dataclass(frozen=True, slots=True)
class _Led:
    """A visit after the check of its permanent redirect.

    Attributes:
        report: The report; a failure in place of a redirect without a usable target.
        target: The target (key → address); empty if there is none.
        note: The remark in the answer.
        spelling: For a redirect to the page itself, the other spelling of its URL, if it differs.
        circles: True if the redirect leads to the page itself.
        users: 1 if the target names a user, which is left out; else 0.
    """

    report: Report
    target: dict[str, tuple[str, None]] = field(default_factory=dict)
    note: str = ""
    spelling: str | None = None
    circles: bool = False
    users: int = 0


@dataclass(slots=True)
class Intake:
    """Checks the items of one call. `change`: the test of changes, which needs certain hashes of bodies."""

    _rules: Rules
    _max_links: int
    _now: float
    _change: ChangeTest = BY_BODY
    _seen: set[str] = field(default_factory=set)

    def all(self, reports: Sequence[Report | Unusable]) -> list[Item | Answer]:
        """Return for each report the item to record, or the refusal. A refused item with a claim becomes a failure of
        its page, unless the call has a valid report of the same page."""
        items = [self.check(report) for report in reports]
        for index, report in enumerate(reports):
            refusal = items[index]
            claim = input_checks.claim_of(report) if isinstance(refusal, Answer) else None
            if isinstance(refusal, Answer) and claim is not None and claim.key not in self._seen:
                self._seen.add(claim.key)
                items[index] = _failure(claim, refusal.url, self._now, refusal.reason)
        return items

    def check(self, report: Report | Unusable) -> Item | Answer:
        """Return the item to record, or the refusal."""
        try:
            return self._item(report)
        except Exception as error:  # noqa: BLE001  # the caller's generators, classes and canonical may raise any error
            reason = unreadable(error)
        return Answer(named(report), False, reason)

    def _item(self, report: Report | Unusable) -> Item:
        """Return the item to record. Raise BadInput for a report that cannot be recorded."""
        # Check the form. A bad Retry-After does not spoil a visit.
        if isinstance(report, Unusable):
            raise BadInput(report.reason)
        if not isinstance(report, Fetched | Failed):
            raise BadInput(f"a report is a Fetched or a Failed, not {type(report).__name__}")
        if isinstance(report, Failed) and report.retry_after is not None:
            report = replace(report, retry_after=retry_after.seconds(report.retry_after, self._now))
        what = meant(input_checks.checked(report))
        report = what.report
        # Find the page, and where a redirect leads.
        url, key = self._page(report)
        claim = report.claim
        if key in self._seen:
            raise BadInput(TWICE)
        if what.follows and isinstance(report, Fetched) and report.redirected_to is None:
            report = replace(report, redirected_to=self._hop(report, url, key))
        led = self._led(report, url, key)
        report = led.report
        token = claim.token if claim else tokens.token(self._now)
        item = Item(
            report, key, url, token, self._at(report), address=input_checks.address(report.address), note=led.note
        )
        if claim is None and names_user(report.url):
            item.note = "; ".join(filter(None, (USER_LEFT_OUT, led.note)))
        item.spelling, item.circles = led.spelling, led.circles
        # Take the hashes of the content, and the facts of the page.
        if isinstance(report, Fetched):
            item.seen = _seen(report, item.at, self._change)
            if led.target and what.follows:
                item.led_by = report.status
                item.report = replace(report, redirected_to=None)
                item.seen = _seen_to_lead(key, next(iter(led.target)), item.at)
            item.facts = facts.of_page(report, url, self._rules, item.seen.words)
            item.led_to = facts.led_to(report, url, self._rules) if report.led_to else ()
            if item.led_to and report.status in TEMPORARY:
                item.leads_to = place_of(url, item.led_to)
        else:
            item.missing_simhash = facts.missing_simhash(report)
        # Take the links; a redirect has its target only.
        item.users = led.users
        if led.target:
            item.targets = dict(led.target)
        else:
            self._fold(item, what.links)
        item.link_bytes = sum(len(url) for url, _ in item.targets.values())
        item.completeness = what.completeness if what.completeness != "any" else "all" if item.targets else "none"
        if isinstance(report, Fetched) and not led.target:
            item.seen = replace(item.seen, parts=facts.parts(item))
        self._seen.add(key)
        return item

    def _page(self, report: Report) -> tuple[str, str]:
        """Return the address and the key of the reported page. A claim's key counts even if the URL rules have changed
        since."""
        claim = report.claim
        if claim is None:
            try:
                return self._rules.page(report.url)
            except BadInput as error:
                raise BadInput(f"url: {error}") from None
        # The reported URL may be another spelling of the page that was claimed, but no other page.
        if report.url != claim.url and self._rules.page(report.url)[1] != claim.key:
            raise BadInput(f"the claim is for {claim.url}, not for this URL")
        return without_user(claim.url), claim.key  # a caller may have created the claim object itself

    def _at(self, report: Fetched | Failed) -> float:
        """Return the time of a visit by the server's clock. The time of a claimed visit is bounded by its claim and by
        now, since the crawler's clock may be wrong."""
        if report.fetched_at is None:
            return self._now
        at = float(report.fetched_at)
        if report.claim is not None:
            at = max(at, tokens.made_at(report.claim.token) or 0.0)
        elif at > self._now + SKEW:
            raise BadInput("the visit lies in the future")
        return min(at, self._now)

    def _led(self, report: Report, own_url: str, own: str) -> _Led:
        """Return the report with the target of its permanent redirect, resolved against its page (RFC 9110, 10.2.2). A
        redirect without a usable target becomes a failure: if it were refused, the page would be claimed again and
        again."""
        if isinstance(report, Failed) or report.redirected_to is None:
            return _Led(report)
        # A target that is another page is the one link of the visit.
        circles, spelling, target = False, None, report.redirected_to
        try:
            target = resolved(own_url, target)
            url, key = self._rules.page(target)
            if key != own:
                return _Led(report, {key: (url, None)}, users=int(names_user(target)))
            circles, spelling = True, url if url != own_url else None
            reason = "the page redirects to itself" if spelling is None else "that is its own URL in another spelling"
        except BadInput as error:
            reason = str(error)
        # Any other redirect is a failure of the page.
        note = f"redirects to {input_checks.shown(without_user(target))}: {reason}"
        status = report.status if 300 <= (report.status or 0) < 400 else 301
        failed = Failed(
            report.url, report.claim, status, note[:200],
            fetched_at=report.fetched_at, seconds=report.seconds, address=report.address,
        )  # fmt: skip
        return _Led(failed, {}, note, spelling, circles)

    def _hop(self, report: Fetched, own_url: str, own: str) -> str | None:
        """Return the first other page to which followed temporary redirects led. None if they led back to the page, for
        instance with a new cookie: then the visit has brought the page's own content."""
        target, hops = own_url, []
        for reference in report.led_to:
            with suppress(BadInput, ValueError):
                target = resolved(target, reference.strip())
                hops.append((target, self._rules.page(target)[1]))
        if hops and hops[-1][1] == own:
            return None
        return next((url for url, key in hops if key != own), report.led_to[0])

    def _fold(self, item: Item, links: Iterable[str | Link]) -> None:
        """Give the item its distinct link targets in page order, at most `max_links`, with their guesses of relevance
        and value, and their facts. Of several links to one target, the largest guess counts."""
        page, own, values, targets = self._rules.page, item.key, item.values, item.targets
        link_facts: facts.LinkFacts | None = None
        refused: list[tuple[str, str]] = []
        over: set[str] = set()
        for link in links:
            # Read the link; refuse one that cannot be read.
            try:
                if isinstance(link, str):
                    written = link
                    url, key = page(link)
                    guess = value = None
                elif not hasattr(link, "url"):
                    raise BadInput(f"a link is a URL or a Link, not {_kind(link)}")
                else:
                    written = link.url
                    url, key = page(written)
                    guess = None if link.relevance is None else input_checks.share("relevance", link.relevance)
                    value = getattr(link, "value", None)  # a caller's class may lack this attribute
                    value = None if value is None else input_checks.worth("value", value)
                    input_checks.words("anchor", getattr(link, "anchor", None))
                    input_checks.words("rel", getattr(link, "rel", None))
            except Exception as error:  # noqa: BLE001  # the user's canonical, and a caller's class, may raise any error
                refused.append((named(link), unreadable(error)))
                continue
            if "@" in written and names_user(written):
                item.users += 1
            if key == own:
                continue
            if (link_facts is not None and link_facts.found) or not isinstance(link, str):
                link_facts = link_facts or facts.LinkFacts()
                link_facts.take(key, link)
            # Add the target, or combine the link with earlier links to it.
            if key in targets:
                address, best = targets[key]
                better = best if guess is None or (best is not None and guess <= best) else guess
                targets[key] = (cleaner(address, url), better)
            elif len(targets) == self._max_links:
                over.add(key)
            else:
                targets[key] = (url, guess)
            if value is not None and key in targets:
                values[key] = max(value, values.get(key, 0.0))
        item.refused, item.over = tuple(refused), len(over)
        item.link_facts = link_facts.rows() if link_facts is not None else {}


def _failure(claim: Claim, url: str, at: float, reason: str) -> Item:
    """Return the item to record for a refused visit with a claim: a failure of its page."""
    failed = Failed(url, claim, error=input_checks.shown(f"refused: {reason}"))
    return Item(failed, claim.key, url, claim.token, at, refusal=reason)


def refused(item: Item, reason: str) -> Item | None:
    """Return the item to record for a refused visit; None for a visit without a claim, which is not recorded."""
    claim = item.report.claim
    return None if claim is None else _failure(claim, item.report.url, item.at, reason)


def named(thing: object) -> str:
    """Return the text by which an answer names a refused report or link."""
    try:
        return input_checks.shown(getattr(thing, "url", thing))
    except Exception:  # noqa: BLE001  # a property of the caller's class may raise any error
        return input_checks.shown(thing)


def _kind(thing: object) -> str:
    return type(thing).__name__


def unreadable(error: Exception) -> str:
    """Return the reason why an item is unusable: the message of a BadInput, or the error of the caller's code."""
    if isinstance(error, BadInput):
        return str(error)
    return f"it cannot be read ({_kind(error)}: {' '.join(input_checks.shown(error).split())})"


def _seen_to_lead(key: str, target: str, at: float) -> Seen:
    """Return the content of a page that redirects temporarily: a hash of its key and its target. No other page has
    it."""
    return fingerprints.take(Seen(at=at), f"{key} leads to {target}".encode(), None, ChangeTest("body"))


def _seen(report: Fetched, at: float, change: ChangeTest) -> Seen:
    """Return the content as hashes: those that the crawler has sent, and the others from the body. Raise BadInput for
    blocks, shingles or parts that cannot be read."""
    if report.not_modified or report.redirected_to is not None:
        return Seen(at=at)
    # Check what the crawler has sent.
    if report.blocks is not None:
        blocks.read(report.blocks)
    if report.shingles is not None:
        shingles.read(report.shingles)
    if report.parts is not None:
        parts.read(report.parts)
    # Compute the other hashes from the body.
    sent = Seen(
        report.body_hash,
        report.text_hash,
        None if report.simhash is None else fingerprints.signed(report.simhash),
        report.etag,
        report.last_modified,
        at,
        report.blocks,
        report.shingles,
        report.words,
        report.parts,
    )
    return fingerprints.take(sent, report.body, report.content_type, change, report.url)
