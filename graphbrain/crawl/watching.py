"""Counters of a crawl's events, and the recognition of sites that block the crawl.

An answer of a host is a page, or a *wall*: a status by which a site refuses, a redirect to a login, or silence. Other
answers, such as a 404, are neither. Several threads call `CrawlWatch`. It remembers a bounded number of hosts.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from graphbrain.base.model import Answer, Failed, Fetched

__all__ = ["REFUSING", "CrawlWatch", "CrawledHost", "has_content", "rest_after"]

MOST_HOSTS = 10_000
"""Most hosts whose answers are counted."""
MOST_LEFT_OUT = 100_000
"""Most links that are not followed and are remembered, so that each is counted once."""
MOST_LAST_VISITS = 100_000
"""Most pages that redirect or fail and are remembered, so that each is counted once. Of more each visit counts."""
REFUSING = (401, 403, 407, 429, 451, 503)
"""Statuses by which a site refuses all visitors or this crawler."""
MOVED = (301, 302, 303, 307, 308)
REFUSALS = 5
"""Number of refusals, without a page in between, after which a site is reported as blocking."""
PATIENCE = 30.0
"""Seconds after a refusal, without a page since, after which a site is reported as blocking."""
LOGINS = 3
"""A site is behind a login if at least so many of its pages lead to one, and at least as many as do not."""
MOST_PLACES = 100
"""Most addresses per host that are remembered, of those to which pages lead, and of those with a password field."""
RATE_SECONDS = 60.0
REST_PER_READ = 20.0
"""The rest after a read of all pages of a brain is at least so many times as long as the read."""
FETCHED = ("new", "changed", "same")
FAILED = ("retry", "gone", "slowed")
REDIRECTING = ("alias", "led")

_WHY = {
    401: "it wants a login: --cookies, --header or --login can bring one",
    403: "it forbids this crawler, perhaps by its user agent or address: ask its owner",
    407: "a proxy on the way wants a login",
    429: "it is asked too often: a larger --delay may help, or waiting",
    451: "it may not be shown where this crawler is",
    503: "it is overloaded, or refuses crawlers in this way",
}
NO_NAME = "the name of the host is not known"
_SILENCE = {
    "CannotResolveHost": NO_NAME,
    "DownloadConnectionRefused": "it refuses connections",
    "DownloadTimeout": "it does not answer in time",
}
"""Beginning of the name of one of Scrapy's exceptions → the reason of the silence."""


@dataclass(slots=True)
class CrawledHost:
    """The answers of one host.

    Attributes:
        pages: The number of answers with a page, including logins.
        walls: Status of a refusal, or reason of a silence → their number since the last page.
        since: The time of the first of `walls`, in monotonic seconds.
        moved: Address → the number of redirects to it.
        forms: Address of a page with a password field → the number of its visits.
        seconds: The mean time of good answers, with exponentially decreasing weights.
        reported: True if the site was reported as blocking.
    """

    pages: int = 0
    walls: Counter[int | str] = field(default_factory=Counter)
    since: float = 0.0
    moved: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    reported: bool = False

    def login(self) -> str:
        """Return the address of the login to which most pages lead; empty if no page leads to one."""
        places = {address: count for address in self.forms if (count := self.moved[address])}
        return max(places, key=places.__getitem__, default="")

    def logins(self) -> int:
        """Return the number of visits that led to a login."""
        return sum(self.moved[address] for address in self.forms)

    def login_pages(self) -> int:
        """Return how many of `pages` were logins to which other pages lead."""
        return sum(count for address, count in self.forms.items() if self.moved[address])

    def useful(self) -> int:
        """Return how many of `pages` were not such logins."""
        return self.pages - self.login_pages()


class CrawlWatch:
    """Counters of one run. Any thread may call the methods. `clock`: monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.began = self.now()
        self.outcomes: Counter[str] = Counter()
        """Outcome in the brain's answer → the number of visits; `led` for visits with a temporary redirect."""
        self.bytes = self.again = 0
        """The bytes of all answers; the number of visits with a content of pages that this run had fetched before."""
        self.hosts: dict[str, CrawledHost] = {}
        self.left_out: Counter[str] = Counter()
        self._files: set[int] = set()
        self._last_visits: dict[int, str] = {}
        """Hash of a page's URL → what its last visit was: `alias` or `led` for a redirect, or the kind of failure."""
        self._kinds: Counter[str] = Counter()
        """The number of pages by what their last visit was."""
        self._recent: deque[float] = deque()
        self.last_url = ""

    def now(self) -> float:
        """Return the time in seconds, by the clock of the watch."""
        return self._clock()

    @property
    def fetched(self) -> int:
        """Number of pages that were fetched and recorded."""
        return sum(self.outcomes[name] for name in FETCHED)

    def failures(self) -> Counter[str]:
        """Return the number of pages that failed at their last visit, by status or kind of failure."""
        with self._lock:
            return Counter({kind: count for kind, count in self._kinds.items() if count and kind not in REDIRECTING})

    def redirects(self) -> dict[str, int]:
        """Return the number of pages that redirected at their last visit: `alias` for good, `led` for now."""
        with self._lock:
            return {kind: self._kinds[kind] for kind in REDIRECTING}

    def rate(self) -> float:
        """Return the number of pages per second in the last minute."""
        with self._lock:
            now = self.now()
            while self._recent and self._recent[0] < now - RATE_SECONDS:
                self._recent.popleft()
            return len(self._recent) / max(1.0, min(RATE_SECONDS, now - self.began))

    # ---------------------------------------------------------------- events

    def answered(
        self, host: str, status: int, seconds: float | None, size: int, *, address: str = "", form: bool = False
    ) -> None:
        """Count an answer.

        Args:
            host: The host of the requested page.
            status: The status of the answer, also if it is a redirect.
            seconds: The seconds that the answer took; None if not known.
            size: The bytes of its body.
            address: The address of the answer, or the target of a redirect, without the query.
            form: True if the page has a password field.
        """
        with self._lock:
            self.bytes += size
            if (seen := self._host(host)) is None:
                return
            # Count refusals and redirects; they may be walls.
            if status in REFUSING:
                self._wall(seen, status)
            elif status in MOVED:
                _count(seen.moved, address)
            elif status < 400:
                # Count a page. It ends the walls of its host, unless it is a login to which other pages lead.
                seen.pages += 1
                if form:
                    _count(seen.forms, address)
                if not (form and seen.moved[address]):
                    seen.walls.clear()
                if seconds is not None:
                    seen.seconds = seconds if not seen.seconds else 0.8 * seen.seconds + 0.2 * seconds

    def silent(self, host: str, error: str) -> None:
        """Count a request without an answer. `error`: 'name of the exception: text'."""
        with self._lock:
            if (seen := self._host(host)) is not None:
                name, _, text = error.partition(": ")
                reasons = (why for start, why in _SILENCE.items() if name.startswith(start))
                self._wall(seen, next(reasons, text[:100].rstrip(".")))

    def _wall(self, seen: CrawledHost, kind: int | str) -> None:
        seen.since = seen.since if seen.walls else self.now()
        if kind in seen.walls or len(seen.walls) < MOST_PLACES:
            seen.walls[kind] += 1

    def useful(self) -> int:
        """Return the number of pages that were fetched and recorded, without logins to which other pages lead."""
        with self._lock:
            return self.fetched - sum(seen.login_pages() for seen in self.hosts.values())

    def reported(self, reports: Sequence[Fetched | Failed], answers: Sequence[Answer]) -> None:
        """Count visits by the brain's answers to their reports."""
        with self._lock:
            for report, answer in zip(reports, answers, strict=True):
                if not answer.accepted:
                    self._count_last(report.url, "refused report")
                    continue
                outcome: str = answer.outcome or ""
                if outcome in FETCHED and not has_content(report):
                    outcome = "led"
                self.outcomes[outcome] += 1
                is_failure = isinstance(report, Failed) or outcome in FAILED
                self._count_last(report.url, outcome if outcome in REDIRECTING else _kind(report) if is_failure else "")
                if outcome in FETCHED:
                    self._recent.append(self.now())
                    self.last_url = report.url

    def _count_last(self, url: str, kind: str) -> None:
        """Count a page by what its last visit was. `kind`: empty for a visit that brought a page."""
        mark = hash(url)
        if before := self._last_visits.pop(mark, ""):
            self._kinds[before] -= 1
        if kind:
            self._kinds[kind] += 1
            if len(self._last_visits) < MOST_LAST_VISITS:
                self._last_visits[mark] = kind

    def leave(self, host: str) -> None:
        """Note that the user knows of the trouble with this site: `blocking` does not report it again."""
        with self._lock:
            if (seen := self._host(host)) is not None:
                seen.reported = True

    def leave_out(self, url: str, why: str) -> None:
        """Count a link that is not followed, by the reason. Of the first `MOST_LEFT_OUT` each is counted once."""
        with self._lock:
            mark = hash((url, why))
            if mark not in self._files and len(self._files) < MOST_LEFT_OUT:
                self._files.add(mark)
                self.left_out[why] += 1

    def _host(self, name: str) -> CrawledHost | None:
        if name not in self.hosts and len(self.hosts) < MOST_HOSTS:
            self.hosts[name] = CrawledHost()
        return self.hosts.get(name)

    # ---------------------------------------------------------------- sentences

    def slow(self, most: int = 3, least: float = 1.0) -> list[tuple[str, float]]:
        """Return (host, seconds) of the `most` slowest hosts whose answers take at least `least` seconds."""
        with self._lock:
            hosts = [(name, seen.seconds) for name, seen in self.hosts.items() if seen.seconds >= least]
        return sorted(hosts, key=lambda pair: -pair[1])[:most]

    def blocking(self) -> Iterator[str]:
        """Yield a sentence for each site that blocks and was not reported before."""
        with self._lock:
            for name, seen in self.hosts.items():
                if not seen.reported and (why := self._blocks(name, seen)):
                    seen.reported = True
                    yield why

    def _blocks(self, name: str, seen: CrawledHost) -> str:
        """Return the sentence on a site that blocks; empty if it does not."""
        walls, useful, logins = seen.walls.total(), seen.useful(), seen.logins()
        # It has shown no page. A host whose name is unknown is reported at once, since waiting does not help.
        is_long = self.now() > seen.since + PATIENCE
        if walls and not useful and (walls >= REFUSALS or is_long or NO_NAME in seen.walls):
            return _walled_from_start(name, seen)
        # It has shown pages, and no more for a while.
        if (walls >= REFUSALS and is_long) or (walls >= 4 * REFUSALS and walls > useful / 10):
            return _walled(name, seen, f"its last {walls} requests")
        # Its pages lead to a login.
        if logins and logins >= useful and (logins >= LOGINS or self.now() > self.began + PATIENCE):
            return _leads_to_login(name, seen)
        return ""

    def meets_walls(self) -> bool:
        """Return whether the last answers of any host are walls."""
        with self._lock:
            return any(seen.walls for seen in self.hosts.values())

    def ends_walled(self) -> Iterator[str]:
        """Yield, at the end of a crawl, sentences on sites with too few answers for `blocking`."""
        with self._lock:
            for name, seen in self.hosts.items():
                if seen.reported:
                    continue
                if seen.walls and not seen.useful():
                    yield _walled_from_start(name, seen)
                elif seen.logins() >= max(1, seen.useful()):
                    yield _leads_to_login(name, seen)
                elif 0 < seen.pages == seen.forms.total() < LOGINS:
                    yield _asks_for_password(name, seen)


def _count(places: Counter[str], address: str) -> None:
    if address in places or len(places) < MOST_PLACES:
        places[address] += 1


def _walled_from_start(name: str, seen: CrawledHost) -> str:
    """Return the sentence on a site all of whose answers are walls."""
    walls = seen.walls.total()
    return _walled(name, seen, "its only request" if walls == 1 else f"all of its {walls} requests")


def _walled(name: str, seen: CrawledHost, which: str) -> str:
    """Return the sentence on a site whose answers are walls. `which`: the requests with such an answer, in words."""
    kind = seen.walls.most_common(1)[0][0]
    if isinstance(kind, str):
        does = "answers no more" if seen.useful() else "does not answer"
        return f"{name} {does}: {which} failed ({kind}); check its address, or try later."
    does = "began to block" if seen.useful() else "blocks"
    return f"{name} {does} this crawl: {which} had the status {kind}; {_WHY[kind]}."


def _leads_to_login(name: str, seen: CrawledHost) -> str:
    return f"{name} leads to a login ({seen.login()}): --cookies, --header or --login can bring a session."


def _asks_for_password(name: str, seen: CrawledHost) -> str:
    pages = "its only page asks" if seen.pages == 1 else f"all of its {seen.pages} pages ask"
    return (
        f"{name}: {pages} for a password ({next(iter(seen.forms))}); if that is a login, --cookies, --header or "
        "--login can bring a session."
    )


def has_content(report: Fetched | Failed) -> bool:
    """Return whether a visit has brought a page, and no redirect."""
    return isinstance(report, Fetched) and not report.redirected_to


def _kind(report: Fetched | Failed) -> str:
    """Return the status of a failed visit, or its kind in a few words. A page that was fetched and counts as failed
    redirects to itself, or to no page."""
    if isinstance(report, Fetched) or report.status in MOVED:
        return "redirect to itself or to no page"
    if report.status is not None:
        return str(report.status)
    return {"not_sent": "not sent", "not_understood": "not understood"}.get(report.fault or "", "no answer")


def rest_after(read: float, least: float) -> float:
    """Return the seconds to rest after a read of all pages of a brain that took `read` seconds: `least`, or more."""
    return max(least, REST_PER_READ * read)
