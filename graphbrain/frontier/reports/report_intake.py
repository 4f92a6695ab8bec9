"""Reported items, checked before any transaction: addresses and keys, hashed bodies, folded links, tokens.

Unusable items are refused one by one, with the reason; the batch goes on, even if the caller's own classes and
functions fail. The claim of a refused visit ends as a failure of its page: if it were left to lapse, the page would be
claimed, and refused, again and again. The token of a claimed visit is its claim's; that of an unclaimed one is made
here, once, so that recording it twice can be noticed.
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
from graphbrain.schedule import blocks, fingerprints, shingles
from graphbrain.schedule.fingerprints import ChangeTest

__all__ = ["TWICE", "Intake", "named", "refused", "unreadable"]

BY_BODY = ChangeTest("body")
TWICE = "the same page is reported twice in one batch"
SKEW = 60.0
"""Seconds that an unclaimed visit may lie in the future: clocks differ. It is then taken as now."""


@dataclass(frozen=True, slots=True)
class _Led:
    """A redirect: the report, its target (key → address), the remark in the answer, and, of one that comes back to the
    page itself (`circles`), the other spelling of its URL, if it is another."""

    report: Report
    target: dict[str, tuple[str, None]] = field(default_factory=dict)
    note: str = ""
    spelling: str | None = None
    circles: bool = False
    users: int = 0
    """does the target name a user, who is left out?"""


class Intake:
    """Checks the items of one call. `change`: the facts that must be taken of bodies, to find later whether they have
    changed."""

    def __init__(self, rules: Rules, max_links: int, now: float, change: ChangeTest = BY_BODY) -> None:
        self._rules = rules
        self._max_links = max_links
        self._now = now
        self._change = change
        self._seen: set[str] = set()

    def all(self, reports: Sequence[Report | Unusable]) -> list[Item | Answer]:
        """Return the items to record, each in its place, or the refusal. An item that was refused under a claim is
        recorded as a failure, unless a valid report of the same page is beside it."""
        items = [self.check(report) for report in reports]
        for index, report in enumerate(reports):
            refusal = items[index]
            claim = input_checks.claim_of(report) if isinstance(refusal, Answer) else None
            if isinstance(refusal, Answer) and claim is not None and claim.key not in self._seen:
                self._seen.add(claim.key)
                items[index] = _failure(claim, refusal.url, self._now, refusal.reason)
        return items

    def check(self, report: Report | Unusable) -> Item | Answer:
        """Return the item ready to be recorded, or the refusal."""
        try:
            return self._item(report)
        except Exception as error:  # noqa: BLE001  # the caller's own: a generator of links, a class, canonical
            reason = unreadable(error)
        return Answer(named(report), False, reason)

    def _item(self, report: Report | Unusable) -> Item:
        if isinstance(report, Unusable):
            raise BadInput(report.reason)
        if not isinstance(report, Fetched | Failed):
            raise BadInput(f"a report is a Fetched or a Failed, not {type(report).__name__}")
        if isinstance(report, Failed) and report.retry_after is not None:
            # The visit counts whatever a server has written there.
            report = replace(report, retry_after=retry_after.seconds(report.retry_after, self._now))
        what = meant(input_checks.checked(report))
        report = what.report
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
        if isinstance(report, Fetched):
            item.seen = _seen(report, item.at, self._change)
            if led.target and what.follows:
                item.led_by = report.status
                item.report = replace(report, redirected_to=None)
                item.seen = _seen_to_lead(key, next(iter(led.target)), item.at)
            item.facts = facts.of_page(report, url, self._rules)
            item.led_to = facts.led_to(report, url, self._rules) if report.led_to else ()
            if item.led_to and report.status in TEMPORARY:
                item.leads_to = place_of(url, item.led_to)
        else:
            item.missing_simhash = facts.missing_simhash(report)
        item.users = led.users
        if led.target:
            item.targets = dict(led.target)
        else:
            self._fold(item, what.links)
        item.link_bytes = sum(len(url) for url, _ in item.targets.values())
        item.completeness = what.completeness if what.completeness != "any" else "all" if item.targets else "none"
        self._seen.add(key)
        return item

    def _page(self, report: Report) -> tuple[str, str]:
        """Return the address and the key of the reported page: the claim's, whatever rules make of its address now."""
        claim = report.claim
        if claim is None:
            try:
                return self._rules.page(report.url)
            except BadInput as error:
                raise BadInput(f"url: {error}") from None
        # The page may have been fetched by way of a redirect: what counts is the page that was claimed.
        if report.url != claim.url and self._rules.page(report.url)[1] != claim.key:
            raise BadInput(f"the claim is for {claim.url}, not for this URL")
        return without_user(claim.url), claim.key  # a caller may have made the claim itself

    def _at(self, report: Fetched | Failed) -> float:
        """Return the time of a report by the clock of the server. A claimed visit was between its claim and now,
        whatever time the crawler's clock has."""
        if report.fetched_at is None:
            return self._now
        at = float(report.fetched_at)
        if report.claim is not None:
            at = max(at, tokens.made_at(report.claim.token) or 0.0)
        elif at > self._now + SKEW:
            raise BadInput("the visit lies in the future")
        return min(at, self._now)

    def _led(self, report: Report, own_url: str, own: str) -> _Led:
        """Return where a permanent redirect leads, seen from its page (RFC 9110, 10.2.2). One that leads nowhere is a
        missing page: if it were refused, its claim would lapse and the page be claimed again and again."""
        if isinstance(report, Failed) or report.redirected_to is None:
            return _Led(report)
        circles, spelling, target = False, None, report.redirected_to
        try:
            target = resolved(own_url, target)
            url, key = self._rules.page(target)
            if key != own:
                return _Led(report, {key: (url, None)}, users=int(names_user(target)))
            circles, spelling = True, url if url != own_url else None
            why = "the page redirects to itself" if spelling is None else "that is its own URL in another spelling"
        except BadInput as error:
            why = str(error)
        note = f"redirects to {input_checks.shown(without_user(target))}: {why}"
        status = report.status if 300 <= (report.status or 0) < 400 else 301
        failed = Failed(
            report.url, report.claim, status, note[:200],
            fetched_at=report.fetched_at, seconds=report.seconds, address=report.address,
        )  # fmt: skip
        return _Led(failed, {}, note, spelling, circles)

    def _hop(self, report: Fetched, own_url: str, own: str) -> str | None:
        """Return the first URL to which a followed temporary redirect led, the page itself apart. None where it
        came back to the page, as with a new cookie: then the page has brought its own content."""
        at, hops = own_url, []
        for reference in report.led_to:
            with suppress(BadInput, ValueError):
                at = resolved(at, reference.strip())
                hops.append((at, self._rules.page(at)[1]))
        if hops and hops[-1][1] == own:
            return None
        return next((url for url, key in hops if key != own), report.led_to[0])

    def _fold(self, item: Item, links: Iterable[str | Link]) -> None:
        """Give the item its distinct targets in page order, at most `max_links`, and what else its links have; of
        several guesses the largest holds."""
        page, own, values, targets = self._rules.page, item.key, item.values, item.targets
        link_facts: facts.LinkFacts | None = None
        refused: list[tuple[str, str]] = []
        over: set[str] = set()
        for link in links:
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
                    value = getattr(link, "value", None)  # a class of the caller's own may know nothing of it
                    value = None if value is None else input_checks.worth("value", value)
                    input_checks.words("anchor", getattr(link, "anchor", None))
                    input_checks.words("rel", getattr(link, "rel", None))
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no Link
                refused.append((named(link), unreadable(error)))
                continue
            if "@" in written and names_user(written):
                item.users += 1
            if key == own:
                continue
            if (link_facts is not None and link_facts.found) or not isinstance(link, str):
                link_facts = link_facts or facts.LinkFacts()
                link_facts.take(key, link)
            if key in targets:
                best = targets[key][1]
                better = best if guess is None or (best is not None and guess <= best) else guess
                targets[key] = (cleaner(targets[key][0], url), better)
            elif len(targets) == self._max_links:
                over.add(key)
            else:
                targets[key] = (url, guess)
            if value is not None and key in targets:
                values[key] = max(value, values.get(key, 0.0))
        item.refused, item.over = tuple(refused), len(over)
        item.link_facts = link_facts.rows() if link_facts is not None else {}


def _failure(claim: Claim, url: str, at: float, why: str) -> Item:
    """Return the item that is recorded of a visit that is refused under a claim: its page has failed."""
    failed = Failed(url, claim, error=input_checks.shown(f"refused: {why}"))
    return Item(failed, claim.key, url, claim.token, at, refusal=why)


def refused(item: Item, why: str) -> Item | None:
    """Return the item to record of a visit that is refused; None: nothing, for its page was not claimed."""
    claim = item.report.claim
    return None if claim is None else _failure(claim, item.report.url, item.at, why)


def named(thing: object) -> str:
    """Return the name in an answer of a report or a link that was refused."""
    try:
        return input_checks.shown(getattr(thing, "url", thing))
    except Exception:  # noqa: BLE001  # the caller's own class
        return input_checks.shown(thing)


def _kind(thing: object) -> str:
    return type(thing).__name__


def unreadable(error: Exception) -> str:
    """Return the reason why an item is unusable: our own message, or the error of the caller's own code."""
    if isinstance(error, BadInput):
        return str(error)
    return f"it cannot be read ({_kind(error)}: {' '.join(input_checks.shown(error).split())})"


def _seen_to_lead(key: str, target: str, at: float) -> Seen:
    """Return what is kept of a page that leads elsewhere for now: its target, which no other page has."""
    return fingerprints.take(Seen(at=at), f"{key} leads to {target}".encode(), None, ChangeTest("body"))


def _seen(report: Fetched, at: float, change: ChangeTest) -> Seen:
    """Return the facts of the content that are kept: the crawler's own hashes, and those of the body that it has not
    taken itself."""
    if report.not_modified or report.redirected_to is not None:
        return Seen(at=at)
    # What the crawler brings must be readable.
    if report.blocks is not None:
        blocks.read(report.blocks)
    if report.shingles is not None:
        shingles.read(report.shingles)
    own = Seen(
        report.body_hash,
        report.text_hash,
        None if report.simhash is None else fingerprints.signed(report.simhash),
        report.etag,
        report.last_modified,
        at,
        report.blocks,
        report.shingles,
    )
    return fingerprints.take(own, report.body, report.content_type, change, report.url)
