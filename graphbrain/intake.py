"""Reported items, checked before any transaction: canonical URLs, hashed bodies, folded links, tokens.

What cannot be used is refused item by item, with the reason; the batch goes on. The token of a claimed visit is its
claim's; that of an unclaimed one is made here, once, so that recording it twice can be noticed.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable
from hashlib import blake2b

from graphbrain.errors import BadInput
from graphbrain.model import Answer, Failed, Fetched, Link
from graphbrain.report import Item
from graphbrain.url import Rules

__all__ = ["Intake"]

SKEW = 60.0
"""Seconds that a visit may lie in the future: clocks differ. It is then taken as now."""


class Intake:
    """Checks the items of one call."""

    def __init__(self, rules: Rules, max_links: int, now: float) -> None:
        self._rules = rules
        self._max_links = max_links
        self._now = now
        self._seen: set[str] = set()

    def check(self, report: Fetched | Failed) -> Item | Answer:
        """The item ready to be recorded, or the refusal."""
        try:
            return self._item(report)
        except BadInput as error:
            return Answer(str(getattr(report, "url", report))[:200], False, str(error))

    def _item(self, report: Fetched | Failed) -> Item:
        if not isinstance(report, Fetched | Failed):
            raise BadInput(f"a report is a Fetched or a Failed, not {type(report).__name__}")
        url, key = self._rules.page(report.url)
        claim = report.claim
        if claim is not None and claim.key != key:
            # The page may have been fetched by way of a redirect: what counts is the page that was claimed.
            raise BadInput(f"the claim is for {claim.url}, not for this URL")
        if key in self._seen:
            raise BadInput("the same page is reported twice in one batch")
        self._seen.add(key)
        _check_numbers(report)
        item = Item(report, key, url, claim.token if claim else uuid.uuid4().hex, self._at(report))
        if isinstance(report, Fetched):
            item.body_hash = _hash(report)
            self._take_links(item, report)
        return item

    def _at(self, report: Fetched | Failed) -> float:
        if report.fetched_at is None:
            return self._now
        if report.fetched_at > self._now + SKEW:
            raise BadInput("the visit lies in the future")
        return min(report.fetched_at, self._now)

    def _take_links(self, item: Item, report: Fetched) -> None:
        refused: list[tuple[str, str]] = []
        if report.redirected_to is not None:
            url, key = self._rules.page(report.redirected_to)
            if key == item.key:
                raise BadInput("the page redirects to itself")
            item.targets = {key: (url, None)}
        else:
            item.targets, item.over = self._fold(item.key, report.links, refused)
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
                else:
                    url, key = page(link.url)
                    guess = _share("relevance", link.relevance)
            except (BadInput, TypeError, AttributeError) as error:
                refused.append((str(getattr(link, "url", link))[:200], str(error)))
                continue
            if key == own:
                continue
            if key in targets:
                if guess is not None and guess > (targets[key][1] or 0.0):
                    targets[key] = (url, guess)
            elif len(targets) == self._max_links:
                over.add(key)
            else:
                targets[key] = (url, guess)
        return targets, len(over)


def _check_numbers(report: Fetched | Failed) -> None:
    for name, value in (("fetched_at", report.fetched_at), ("status", report.status)):
        if value is not None and not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
            raise BadInput(f"{name} must be a number, not {value!r}")
    if isinstance(report, Fetched):
        _share("relevance", report.relevance)
    elif report.retry_after is not None and not (
        isinstance(report.retry_after, int | float) and 0 <= report.retry_after < math.inf
    ):
        raise BadInput(f"retry_after must be seconds, not {report.retry_after!r}")


def _share(name: str, value: float | None) -> float | None:
    if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
        raise BadInput(f"{name} must be from 0 to 1, not {value!r}")
    return value


def _hash(report: Fetched) -> str | None:
    if report.body_hash is not None:
        return report.body_hash
    return None if report.body is None else blake2b(report.body, digest_size=16).hexdigest()
