"""Rules for hosts, by their names: the values of the settings `groups` and `hours`.

A text has one rule in each part between semicolons or newlines: hosts as in `allow_hosts`, and what holds for them. Of
several rules that name a host, the first one holds.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.urls.hostnames import HostList, domains

__all__ = ["MARK", "Group", "HostRules", "Opening", "groups", "hours", "texts_of_rules"]

T = TypeVar("T")

MARK = "group "
"""The beginning of the name of each group. No host and no IP address begins with it."""
MOST_RULES = 1_000
LONGEST_DELAY, MOST_IN_FLIGHT = 86_400.0, 1_000_000
LONGEST_NAME = 120
"""Most characters of the hosts in the name of a group."""
MINUTE, MINUTES = 60.0, 1_440
"""A minute in seconds, and a day in minutes."""
FURTHEST = 2 * MINUTES
"""The minutes after which the next opening is at the latest, also around a change to summer time."""
_PARTS = re.compile(r"[\n;]")
_SPAN = re.compile(r"(?P<from_hour>\d\d):(?P<from_minute>\d\d)-(?P<to_hour>\d\d):(?P<to_minute>\d\d)")
_LIMIT = re.compile(r"(?P<limit>delay|in_flight) +(?P<value>\S+)")


class Group(NamedTuple):
    """Hosts that share one delay and one number of claims in flight.

    Attributes:
        name: The name in the graph. It follows from the hosts alone, so other limits keep the claims in flight counted.
        delay: Seconds between two claims of all its hosts; 0 for none.
        in_flight: Most open claims of all its hosts; 0 for no limit.
    """

    name: str
    delay: float
    in_flight: int

    @property
    def hosts(self) -> str:
        """Its hosts, as the setting names them."""
        return self.name.removeprefix(MARK)


class HostRules(Generic[T]):
    """Rules for hosts, of which the first one holds that names a host or a domain above it.

    Args:
        rules: The rules in their order: hosts, and what holds for them.
    """

    def __init__(self, rules: Iterable[tuple[HostList, T]] = ()) -> None:
        self.rules = tuple(rules)
        # Domain, or (domain, port) → number of the first rule that names it.
        self._first: dict[str | tuple[str, str], int] = {}
        for number in reversed(range(len(self.rules))):
            hosts, _ = self.rules[number]
            self._first |= dict.fromkeys(hosts.anyway | hosts.at_port, number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostRules) and self.rules == other.rules

    def __hash__(self) -> int:
        return hash(self.rules)

    def __bool__(self) -> bool:
        return bool(self.rules)

    def of(self, host: str) -> T | None:
        """Return what holds for a host of the graph; None if no rule names it."""
        if not self.rules:
            return None
        numbers = [self._first[each] for each in domains(host) if each in self._first]
        return self.rules[min(numbers)][1] if numbers else None


class Span(NamedTuple):
    """A part of the day by the clock on the wall, in minutes since midnight. It passes midnight if it ends before it
    begins. The minute of its end is outside."""

    begin: int
    end: int

    def holds(self, minute: int) -> bool:
        """Return whether it holds a minute of the day."""
        if self.begin < self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end


class Opening(NamedTuple):
    """The hours of some hosts, and the time zone in which they count."""

    spans: tuple[Span, ...]
    zone: ZoneInfo

    def is_open(self, at: float) -> bool:
        """Return whether a time (epoch seconds) is within the hours.

        It is if the clock on the wall shows a time within them. So an hour that summer time skips does not occur on
        that day, and an hour that it repeats counts twice.
        """
        wall = datetime.fromtimestamp(at, UTC).astimezone(self.zone)
        return any(span.holds(60 * wall.hour + wall.minute) for span in self.spans)

    def opens(self, now: float) -> float:
        """Return the first time from `now` on that is within the hours, in epoch seconds."""
        if self.is_open(now):
            return now
        return _next_opening(self, math.floor(now / MINUTE))


@lru_cache(maxsize=10_000)
def _next_opening(opening: Opening, minute: int) -> float:
    """Return the first open time after a minute (number since the epoch) that is not open."""
    later = range(minute + 1, minute + 1 + FURTHEST)
    return next(MINUTE * each for each in later if opening.is_open(MINUTE * each))


@lru_cache(maxsize=64)
def groups(text: str) -> HostRules[Group]:
    """Return the groups in a text, as in `*.blogs.example other.example delay 5 in_flight 2`.

    Raises:
        SettingsError: A part of the text is no rule; the message quotes it.
    """
    return HostRules(_rules("groups", text, _group, "*.blogs.example delay 5 in_flight 2"))


@lru_cache(maxsize=64)
def hours(text: str) -> HostRules[Opening]:
    """Return the hours in a text, as in `a.example 22:00-06:00 Europe/Rome`. Without a time zone they are in UTC.

    Raises:
        SettingsError: A part of the text is no rule; the message quotes it.
    """
    return HostRules(_rules("hours", text, _opening, "a.example 22:00-06:00 Europe/Rome"))


def texts_of_rules(name: str, text: str) -> list[str]:
    """Return the texts of the rules in a setting. Raise SettingsError for too many."""
    parts = [part.strip() for part in _PARTS.split(text) if part.strip()]
    if len(parts) > MOST_RULES:
        raise SettingsError(f"{name} must have at most {MOST_RULES:,} rules, not {len(parts):,}.")
    return parts


def _rules(name: str, text: str, parsed: Callable[[str], tuple[str, T]], example: str) -> Iterator[tuple[HostList, T]]:
    """Yield the rules of a text. `parsed`: returns (hosts, what holds for them) of one part."""
    for part in texts_of_rules(name, text):
        try:
            hosts, rule = parsed(part)
            yield HostList.of(hosts), rule
        except BadInput as error:
            raise SettingsError(f"{name} must have rules like {example!r}, but in {part!r:.80} {error}.") from None


def _group(part: str) -> tuple[str, Group]:
    """Return (hosts, group) of a rule."""
    first = _LIMIT.search(part)
    hosts = part if first is None else part[: first.start()]
    limits = {limit["limit"]: limit["value"] for limit in _LIMIT.finditer(part)}
    if not limits or _LIMIT.sub("", part[len(hosts) :]).strip():
        raise BadInput("hosts are not followed by 'delay SECONDS', 'in_flight NUMBER' or both")
    delay = _number(limits.get("delay", "0"), LONGEST_DELAY)
    in_flight = _number(limits.get("in_flight", "0"), MOST_IN_FLIGHT)
    if not in_flight.is_integer():
        raise BadInput("in_flight is not a whole number")
    return hosts, Group(_name_of(hosts), delay, int(in_flight))


def _number(text: str, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= most:
        raise BadInput(f"{text!r:.40} is not a number from 0 to {most:,.0f}")
    return number


def _name_of(hosts: str) -> str:
    """Return the name of the group of these hosts: the hosts, or the first of them with a hash if they are many."""
    words = " ".join(hosts.split())
    if len(words) > LONGEST_NAME:
        words = f"{words[:LONGEST_NAME]}… {hashlib.sha256(words.encode()).hexdigest()[:16]}"
    return MARK + words


def _opening(part: str) -> tuple[str, Opening]:
    """Return (hosts, opening) of a rule."""
    spans = list(_SPAN.finditer(part))
    if not spans:
        raise BadInput("hosts are not followed by hours, as 22:00-06:00")
    hosts, zone = part[: spans[0].start()], part[spans[-1].end() :].strip()
    if _SPAN.sub("", part[len(hosts) : len(part) - len(zone)]).replace(",", "").strip():
        raise BadInput("there is something between the hours")
    return hosts, Opening(tuple(_span(each) for each in spans), _zone(zone or "UTC"))


def _span(written: re.Match[str]) -> Span:
    """Return a part of the day; `00:00-24:00` is all of it."""
    hour, minute, end_hour, end_minute = (int(each) for each in written.groups())
    begin, end = 60 * hour + minute, 60 * end_hour + end_minute
    if begin >= MINUTES or end > MINUTES or max(minute, end_minute) > 59:
        raise BadInput(f"{written[0]!r} is no part of a day")
    if begin == end:
        raise BadInput(f"{written[0]!r} is empty; all day is 00:00-24:00")
    return Span(begin, end)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(f"{name!r:.40} is no time zone, as Europe/Rome") from None
