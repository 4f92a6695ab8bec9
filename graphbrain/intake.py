"""Reported items, checked before any transaction: canonical URLs, hashed bodies, folded links, tokens.

What cannot be used is refused item by item, with the reason; the batch goes on, whatever the caller's own classes and
functions do here. The claim of a refused visit ends as a failure of its page: were it left to lapse, the page would be
handed out, and refused, again and again. The token of a claimed visit is its claim's; that of an unclaimed one is made
here, once, so that recording it twice can be noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphbrain import border, fingerprints, tokens
from graphbrain.errors import BadInput
from graphbrain.fingerprints import Change
from graphbrain.meaning import meant
from graphbrain.model import Answer, Failed, Fetched, Link, Report, Seen, Unusable
from graphbrain.report import Item
from graphbrain.url import Rules

__all__ = ["Intake", "named", "unreadable"]

BY_BODY = Change("body")
SKEW = 60.0
"""Seconds that an unclaimed visit may lie in the future: clocks differ. It is then taken as now."""


class Intake:
    """Checks the items of one call. `change`: what must be taken of bodies, to tell later whether they have changed."""

    def __init__(self, rules: Rules, max_links: int, now: float, change: Change = BY_BODY) -> None:
        self._rules = rules
        self._max_links = max_links
        self._now = now
        self._change = change
        self._seen: set[str] = set()

    def all(self, reports: Sequence[Report | Unusable]) -> list[Item | Answer]:
        """What is to be recorded of these, each in its place, or the refusal. What was refused under a claim is to be
        recorded as a failure, unless the same page is reported rightly beside it."""
        made = [self.check(report) for report in reports]
        for place, report in enumerate(reports):
            refusal = made[place]
            claim = border.claim_of(report) if isinstance(refusal, Answer) else None
            if isinstance(refusal, Answer) and claim is not None and claim.key not in self._seen:
                self._seen.add(claim.key)
                failed = Failed(refusal.url, claim, error=border.shown(f"refused: {refusal.reason}"))
                made[place] = Item(failed, claim.key, refusal.url, claim.token, self._now, refusal=refusal.reason)
        return made

    def check(self, report: Report | Unusable) -> Item | Answer:
        """The item ready to be recorded, or the refusal."""
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
        what = meant(border.checked(report))
        report = what.report
        url, key = self._rules.page(report.url)
        claim = report.claim
        if claim is not None and claim.key != key:
            # The page may have been fetched by way of a redirect: what counts is the page that was claimed.
            raise BadInput(f"the claim is for {claim.url}, not for this URL")
        if key in self._seen:
            raise BadInput("the same page is reported twice in one batch")
        report, target, note = self._led(report, key)
        token = claim.token if claim else tokens.token(self._now)
        item = Item(report, key, url, token, self._at(report), address=border.address(report.address), note=note)
        if isinstance(report, Fetched):
            item.seen = _seen(report, item.at, self._change)
        if target and what.follows and isinstance(report, Fetched):
            item.report = replace(report, redirected_to=None)
        self._take_links(item, what.links, target)
        item.told = what.told if what.told != "any" else "all" if item.targets else "none"
        self._seen.add(key)
        return item

    def _at(self, report: Fetched | Failed) -> float:
        """When it was, by the clock of the server. A claimed visit was between its claim and now, whatever the clock
        of the crawler says."""
        if report.fetched_at is None:
            return self._now
        at = float(report.fetched_at)
        if report.claim is not None:
            at = max(at, tokens.made_at(report.claim.token) or 0.0)
        elif at > self._now + SKEW:
            raise BadInput("the visit lies in the future")
        return min(at, self._now)

    def _led(self, report: Report, own: str) -> tuple[Report, dict[str, tuple[str, None]], str]:
        """Where a permanent redirect leads: the target. One that leads nowhere is a page that is not there: were it
        refused, its claim would lapse and be handed out again and again."""
        if isinstance(report, Failed) or report.redirected_to is None:
            return report, {}, ""
        try:
            url, key = self._rules.page(report.redirected_to)
            if key == own:
                raise BadInput("the page redirects to itself")
        except BadInput as error:
            note = f"redirects to {border.shown(report.redirected_to)}: {error}"
            status = report.status if 300 <= (report.status or 0) < 400 else 301
            return Failed(report.url, report.claim, status, note[:200], fetched_at=report.fetched_at), {}, note
        return report, {key: (url, None)}, ""

    def _take_links(self, item: Item, links: Iterable[str | Link], target: dict[str, tuple[str, None]]) -> None:
        refused: list[tuple[str, str]] = []
        if target:
            item.targets = dict(target)
        else:
            item.targets, item.over = self._fold(item.key, links, refused)
        item.refused = tuple(refused)

    def _fold(
        self, own: str, links: Iterable[str | Link], refused: list[tuple[str, str]]
    ) -> tuple[dict[str, tuple[str, float | None]], int]:
        """Distinct targets in page order, at most `max_links`; of several guesses the largest holds."""
        page = self._rules.page
        targets: dict[str, tuple[str, float | None]] = {}
        over: set[str] = set()
        for link in links:
            try:
                if isinstance(link, str):
                    url, key = page(link)
                    guess = None
                elif not hasattr(link, "url"):
                    raise BadInput(f"a link is a URL or a Link, not {_kind(link)}")
                else:
                    url, key = page(link.url)
                    guess = None if link.relevance is None else border.share("relevance", link.relevance)
            except Exception as error:  # noqa: BLE001  # the caller's own: canonical, or what is no Link
                refused.append((named(link), unreadable(error)))
                continue
            if key == own:
                continue
            if key in targets:
                known = targets[key][1]
                if guess is not None and (known is None or guess > known):
                    targets[key] = (url, guess)
            elif len(targets) == self._max_links:
                over.add(key)
            else:
                targets[key] = (url, guess)
        return targets, len(over)


def named(thing: object) -> str:
    """What a report or a link is called that was refused."""
    try:
        return border.shown(getattr(thing, "url", thing))
    except Exception:  # noqa: BLE001  # the caller's own class
        return border.shown(thing)


def _kind(thing: object) -> str:
    return type(thing).__name__


def unreadable(error: Exception) -> str:
    """Why something cannot be used: what we say of it, or what the caller's own code has raised."""
    if isinstance(error, BadInput):
        return str(error)
    return " ".join(f"it cannot be read ({_kind(error)}: {border.shown(error)})".split())


def _seen(report: Fetched, at: float, change: Change) -> Seen:
    """What is kept of the content: the crawler's own hashes, and those of the body that it has not taken itself."""
    if report.not_modified or report.redirected_to is not None:
        return Seen(at=at)
    own = Seen(
        report.body_hash,
        report.text_hash,
        None if report.simhash is None else fingerprints.signed(report.simhash),
        report.etag,
        report.last_modified,
        at,
    )
    return fingerprints.take(own, report.body, report.content_type, change)
