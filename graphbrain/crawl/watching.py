"""What happens in a crawl, counted as it happens, and what is to be said of it at once: sites that block.

`Watch` is told of answers and visits from several threads. It remembers a bounded number of hosts.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from graphbrain.model import Answer, Failed, Fetched

__all__ = ["REFUSING", "HostSeen", "Watch"]

MOST_HOSTS = 10_000
"""Hosts of which answers are counted."""
MOST_LEFT_OUT = 100_000
"""Links to files that are counted once each."""
REFUSING = (401, 403, 407, 429, 451, 503)
"""Statuses by which a site refuses whoever asks."""
REFUSALS = 5
"""So many refusals without any page in between, the site is said to block."""
PATIENCE = 30.0
"""Or one, and so many seconds later still no page."""
LOGINS = 3
"""So many pages that lead to a form with a password, and no other page: a login wall."""
RATE_SECONDS = 60.0
FETCHED = ("new", "changed", "same")

_WHY = {
    401: "it wants a login: --cookies or --header can bring one",
    403: "it forbids this crawler, perhaps by its user agent or address: ask its owner",
    407: "a proxy on the way wants a login",
    429: "it says that it is asked too often: a larger --delay may help, or waiting",
    451: "it may not be shown where this crawler is",
    503: "it is overloaded, or refuses crawlers in this way",
}


@dataclass(slots=True)
class HostSeen:
    """The answers of one host. `pages`: good ones; `refusals`: by status, since the last good one; `since`: when the
    first of these came (monotonic); `logins`: pages that led to a login; `seconds`: how long good answers took, the
    newer the weightier; `said`: was it said that it blocks?"""

    pages: int = 0
    refusals: Counter[int] = field(default_factory=Counter)
    since: float = 0.0
    logins: int = 0
    login: str = ""
    seconds: float = 0.0
    said: bool = False


class Watch:
    """Counts one run. All methods may be called by any thread. `clock`: monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.began = self.now()
        self.outcomes: Counter[str] = Counter()
        """What the brain made of the visits: new, changed, same, alias, retry, gone, slowed."""
        self.errors: Counter[str] = Counter()
        """Failed visits, by status or how they failed."""
        self.bytes = 0
        self.hosts: dict[str, HostSeen] = {}
        self.left_out: Counter[str] = Counter()
        self._files: set[int] = set()
        self._recent: deque[float] = deque()
        self.last_url = ""

    def now(self) -> float:
        """Seconds by the watch's clock."""
        return self._clock()

    @property
    def fetched(self) -> int:
        """Pages that were fetched and recorded."""
        return sum(self.outcomes[name] for name in FETCHED)

    @property
    def failed(self) -> int:
        """Visits that failed."""
        return self.errors.total()

    def rate(self) -> float:
        """Pages a second, of the last minute."""
        with self._lock:
            now = self.now()
            while self._recent and self._recent[0] < now - RATE_SECONDS:
                self._recent.popleft()
            return len(self._recent) / max(1.0, min(RATE_SECONDS, now - self.began))

    # ---------------------------------------------------------------- what happens

    def answered(self, host: str, status: int, seconds: float | None, size: int, login: str = "") -> None:
        """A page of this host was answered. `login`: where it led, if that is a form with a password."""
        with self._lock:
            self.bytes += size
            if (seen := self._host(host)) is None:
                return
            if login:
                seen.logins, seen.login = seen.logins + 1, login
            elif status in REFUSING:
                seen.since = seen.since if seen.refusals else self.now()
                seen.refusals[status] += 1
            elif status < 400:
                seen.pages += 1
                seen.refusals.clear()
                if seconds is not None:
                    seen.seconds = seconds if not seen.seconds else 0.8 * seen.seconds + 0.2 * seconds

    def reported(self, reports: Sequence[Fetched | Failed], answers: Sequence[Answer]) -> None:
        """These visits were reported."""
        with self._lock:
            for report, answer in zip(reports, answers, strict=True):
                if not answer.accepted:
                    self.errors["refused report"] += 1
                    continue
                self.outcomes[answer.outcome or ""] += 1
                if answer.outcome in FETCHED:
                    self._recent.append(self.now())
                    self.last_url = report.url
                elif isinstance(report, Failed):
                    self.errors[_kind(report)] += 1

    def left(self, url: str, why: str) -> None:
        """A link was not followed. Each counts once, as far as is remembered."""
        with self._lock:
            mark = hash((url, why))
            if mark not in self._files and len(self._files) < MOST_LEFT_OUT:
                self._files.add(mark)
                self.left_out[why] += 1

    def _host(self, name: str) -> HostSeen | None:
        if name not in self.hosts and len(self.hosts) < MOST_HOSTS:
            self.hosts[name] = HostSeen()
        return self.hosts.get(name)

    # ---------------------------------------------------------------- what is to be said

    def slow(self, most: int = 3, least: float = 1.0) -> list[tuple[str, float]]:
        """The slowest hosts, and their seconds."""
        with self._lock:
            found = [(name, seen.seconds) for name, seen in self.hosts.items() if seen.seconds >= least]
        return sorted(found, key=lambda pair: -pair[1])[:most]

    def blocking(self) -> Iterator[str]:
        """Sites that block and of which that was not said before: a sentence for each."""
        with self._lock:
            for name, seen in self.hosts.items():
                if not seen.said and (why := self._blocks(name, seen)):
                    seen.said = True
                    yield why

    def _blocks(self, name: str, seen: HostSeen) -> str:
        many = seen.refusals.total()
        if many and not seen.pages and (many >= REFUSALS or self.now() > seen.since + PATIENCE):
            status = seen.refusals.most_common(1)[0][0]
            asked = "its only answer" if many == 1 else f"all of its {many} answers"
            return f"{name} blocks this crawl: {asked} had the status {status}; {_WHY[status]}."
        if many >= 4 * REFUSALS and many > seen.pages / 10:
            status = seen.refusals.most_common(1)[0][0]
            return f"{name} began to block this crawl: its last {many} answers had the status {status}; {_WHY[status]}."
        alone = seen.logins and seen.logins >= seen.pages
        if alone and (seen.logins >= LOGINS or self.now() > self.began + PATIENCE):
            return _leads_to_login(name, seen)
        return ""

    def ends_walled(self) -> Iterator[str]:
        """At the end of a crawl: the same, of sites of which less was seen."""
        with self._lock:
            for name, seen in self.hosts.items():
                if seen.said or seen.pages > seen.logins:
                    continue
                with suppress(KeyError):
                    if seen.refusals and not seen.pages:
                        status = seen.refusals.most_common(1)[0][0]
                        yield f"{name} answered with the status {status}: {_WHY[status]}."
                    elif seen.logins:
                        yield _leads_to_login(name, seen)


def _leads_to_login(name: str, seen: HostSeen) -> str:
    return f"{name} leads to a login ({seen.login}): --cookies or --header can bring a session."


def _kind(report: Failed) -> str:
    """How a visit failed, in a word or two."""
    if report.status is not None:
        return str(report.status)
    return {"not_sent": "not sent", "not_understood": "not understood"}.get(report.fault or "", "no answer")
