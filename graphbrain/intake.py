"""Reported items, checked before any transaction: addresses and keys, hashed bodies, folded links, tokens.

What cannot be used is refused item by item, with the reason; the batch goes on. The token of a claimed visit is its
claim's; that of an unclaimed one is made here, once, so that recording it twice can be noticed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from numbers import Integral
from typing import Any

from graphbrain import fingerprints, retry_after
from graphbrain.errors import BadInput
from graphbrain.fingerprints import Change
from graphbrain.model import Answer, Claim, Failed, Fetched, Link, Report, Seen, number
from graphbrain.report import Item
from graphbrain.url import Rules, cleaner, is_key

__all__ = ["Intake"]

BY_BODY = Change("body")
SKEW = 60.0
"""Seconds that a visit may lie in the future: clocks differ. It is then taken as now."""


@dataclass(frozen=True, slots=True)
class _Led:
    """What is made of a redirect: the report, its target (key → address), what the answer says of it, and, of one that
    comes back to the page itself (`circles`), the other spelling of its URL, if it is another."""

    report: Report
    target: dict[str, tuple[str, None]] = field(default_factory=dict)
    note: str = ""
    spelling: str | None = None
    circles: bool = False


class Intake:
    """Checks the items of one call. `change`: what must be taken of bodies, to tell later whether they have changed."""

    def __init__(self, rules: Rules, max_links: int, now: float, change: Change = BY_BODY) -> None:
        self._rules = rules
        self._max_links = max_links
        self._now = now
        self._change = change
        self._seen: set[str] = set()

    def check(self, report: Fetched | Failed) -> Item | Answer:
        """The item ready to be recorded, or the refusal."""
        try:
            return self._item(report)
        except BadInput as error:
            return Answer(_shown(getattr(report, "url", report)), False, str(error))

    def _item(self, report: Fetched | Failed) -> Item:
        if not isinstance(report, Fetched | Failed):
            raise BadInput(f"a report is a Fetched or a Failed, not {type(report).__name__}")
        _check_types(report)
        report = _plain(_waiting(report, self._now))
        url, key = self._page(report)
        claim = report.claim
        if key in self._seen:
            raise BadInput("the same page is reported twice in one batch")
        led = self._led(report, url, key)
        report = led.report
        token = claim.token if claim else uuid.uuid4().hex
        item = Item(report, key, url, token, self._at(report), address=_address(report.address), note=led.note)
        item.spelling, item.circles = led.spelling, led.circles
        if isinstance(report, Fetched):
            item.seen = _seen(report, item.at, self._change)
            self._take_links(item, report, led.target)
        self._seen.add(key)
        return item

    def _page(self, report: Report) -> tuple[str, str]:
        """The address and the key of the reported page: the claim's, whatever rules make of its address now."""
        claim = report.claim
        if claim is None:
            return self._rules.page(report.url)
        # The page may have been fetched by way of a redirect: what counts is the page that was claimed.
        if report.url != claim.url and self._rules.page(report.url)[1] != claim.key:
            raise BadInput(f"the claim is for {claim.url}, not for this URL")
        return claim.url, claim.key

    def _at(self, report: Fetched | Failed) -> float:
        if report.fetched_at is None:
            return self._now
        if report.fetched_at > self._now + SKEW:
            raise BadInput("the visit lies in the future")
        return min(report.fetched_at, self._now)

    def _led(self, report: Report, own_url: str, own: str) -> _Led:
        """Where a permanent redirect leads. One that leads nowhere is a page that is not there: were it refused, its
        claim would lapse and be handed out again and again."""
        if isinstance(report, Failed) or report.redirected_to is None:
            return _Led(report)
        circles, spelling = False, None
        try:
            url, key = self._rules.page(report.redirected_to)
            if key != own:
                return _Led(report, {key: (url, None)})
            circles, spelling = True, url if url != own_url else None
            why = "the page redirects to itself" if spelling is None else "that is its own URL in another spelling"
        except BadInput as error:
            why = str(error)
        note = f"redirects to {_shown(report.redirected_to)}: {why}"
        status = report.status if 300 <= report.status < 400 else 301
        failed = Failed(report.url, report.claim, status, note, fetched_at=report.fetched_at)
        return _Led(failed, {}, note, spelling, circles)

    def _take_links(self, item: Item, report: Fetched, target: dict[str, tuple[str, None]]) -> None:
        refused: list[tuple[str, str]] = []
        if target:
            item.targets = dict(target)
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
                refused.append((_shown(getattr(link, "url", link)), str(error)))
                continue
            if key == own:
                continue
            if key in targets:
                known = targets[key][1]
                better = known if guess is None or (known is not None and guess <= known) else guess
                targets[key] = (cleaner(targets[key][0], url), better)
            elif len(targets) == self._max_links:
                over.add(key)
            else:
                targets[key] = (url, guess)
        return targets, len(over)


_NUMBERS = ("fetched_at", "status", "seconds", "relevance")
_TEXTS = ("body_hash", "text_hash", "content_type", "etag", "last_modified", "redirected_to", "error")


def _check_types(report: Fetched | Failed) -> None:
    """Everything that would fail only in the transaction, where it would take the batch with it."""
    if not isinstance(report.url, str):
        raise BadInput(f"a URL must be text, not {type(report.url).__name__}")
    if report.claim is not None and not isinstance(report.claim, Claim):
        raise BadInput(f"claim must be a Claim, not {type(report.claim).__name__}")
    if report.claim is not None and not (isinstance(report.claim.token, str) and report.claim.token):
        raise BadInput("the claim has no token")
    if report.claim is not None and not is_key(report.claim.key):
        raise BadInput(f"the key of the claim is not the key of a page: {report.claim.key!r:.80}")
    for name in _TEXTS:
        text = getattr(report, name, None)
        if text is not None and not (isinstance(text, str) and _sendable(text)):
            raise BadInput(f"{name} must be text, not {text!r:.80}")
    _check_number("fetched_at", report.fetched_at, 0.0, 1e11)
    _check_number("status", report.status, 100, 999)
    _check_number("seconds", report.seconds, 0.0, 1e6)
    if isinstance(report, Failed):
        return
    _share("relevance", report.relevance)
    if report.body is not None and not isinstance(report.body, bytes | bytearray | memoryview):
        raise BadInput(f"body must be bytes, not {type(report.body).__name__}")
    _check_word("changed", report.changed)
    simhash = report.simhash
    if simhash is not None and (isinstance(simhash, bool) or not isinstance(simhash, int) or simhash.bit_length() > 64):
        raise BadInput(f"simhash must be a whole number of 64 bits, not {simhash!r:.80}")
    if isinstance(report.links, str | bytes) or not isinstance(report.links, Iterable):
        raise BadInput("links must be a list of URLs or Links")


def _plain(report: Report) -> Report:
    """Its numbers as the database takes them: others than Python's own, as numpy's, have been let in."""
    given = {name: getattr(report, name, None) for name in _NUMBERS}
    others = {name: value for name, value in given.items() if value is not None and type(value) not in (int, float)}
    if not others:
        return report
    plain: dict[str, Any] = {n: int(v) if isinstance(v, Integral) else float(v) for n, v in others.items()}
    return replace(report, **plain)


def _waiting(report: Report, now: float) -> Report:
    """Its Retry-After in seconds: whatever a server has written there, the visit counts."""
    if isinstance(report, Fetched) or report.retry_after is None:
        return report
    return replace(report, retry_after=retry_after.seconds(report.retry_after, now))


def _check_word(name: str, value: object) -> None:
    if value is not None and not isinstance(value, bool):
        raise BadInput(f"{name} must be true, false or nothing, not {value!r:.80}")


def _sendable(text: str) -> bool:
    """No lone surrogates: they cannot be sent to the server."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def _shown(thing: object) -> str:
    return str(thing).encode("utf-8", "replace").decode()[:200]


def _check_number(name: str, value: object, least: float, most: float) -> None:
    if value is None:
        return
    if not number(value) or not least <= value <= most:
        raise BadInput(f"{name} must be a number from {least:g} to {most:g}, not {value!r:.80}")


def _address(text: object) -> str | None:
    """An IP address in its usual spelling."""
    if text is None:
        return None
    try:
        if isinstance(text, str):
            return str(ip_address(text.strip()))
    except ValueError:
        pass
    raise BadInput(f"address must be an IP address, as in '192.0.2.1', not {text!r:.80}")


def _share(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    if not number(value) or not 0 <= value <= 1:
        raise BadInput(f"{name} must be from 0 to 1, not {value!r:.80}")
    return float(value)


def _seen(report: Fetched, at: float, change: Change) -> Seen:
    """What is kept of the content: the crawler's own hashes, and those of the body that it has not taken itself."""
    if report.not_modified or report.redirected_to is not None:
        return Seen(at=at)
    own = Seen(
        report.body_hash and report.body_hash[:128],
        report.text_hash and report.text_hash[:128],
        None if report.simhash is None else fingerprints.signed(report.simhash),
        report.etag,
        report.last_modified,
        at,
    )
    return fingerprints.take(own, report.body, report.content_type, change)
