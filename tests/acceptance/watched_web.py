"""The demo's web with robots.txt and sitemaps, in which some hosts fail; and a judge of the requests that it got."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from urllib.parse import urljoin, urlsplit

from graphbrain import Brain
from graphbrain.demo.web import Answer, Headers, Web, WebPage

LISTED = "/listed"
"""The page of each host that its sitemap alone names."""
INDEX, PAGES = "/maps/index.xml", "/maps/pages.xml"
SCHEMA = "http://www.sitemaps.org/schemas/sitemap/0.9"
XML = {"Content-Type": "text/xml"}
BUSY = 1.0
"""Seconds by which a request may come later than another one after their claims."""
KNOWN = (200, 404)
"""The answers for a robots.txt after which pages may be asked for."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, with the times of its arrival and of its answer (`time.monotonic`); `status` is None where the
    connection was closed without one."""

    url: str
    came: float
    answered: float
    status: int | None

    @property
    def host(self) -> str:
        """The host that was asked."""
        return urlsplit(self.url).netloc


class WatchedWeb(Web):
    """A web whose hosts have a robots.txt that names an index of sitemaps, which lists itself, too.

    Args:
        dead: Hosts that never answer.
        fails: Host → the answers for its robots.txt before it is well: a status, or None for no answer.
        moved: Host → the host that its robots.txt redirects to.
    """

    def __init__(
        self,
        *,
        seed: int = 1,
        pages: int = 120,
        dead: Collection[str] = (),
        fails: Mapping[str, Sequence[int | None]] | None = None,
        moved: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(seed=seed, pages=pages)
        self.dead, self.fails, self.requests = frozenset(dead), dict(fails or {}), list[Request]()
        self.robots_at = {host: f"http://{host}/robots.txt" for host in self.hosts}
        self.robots_at |= {host: f"http://{other}/robots-of-{host}" for host, other in (moved or {}).items()}
        """Host → where its rules are."""
        followed = (page for page in self.pages.values() if page.kind == "found")
        self.led_to = frozenset(urljoin(page.url, page.target) for page in followed)
        """The targets of temporary redirects, which crawlers follow without a claim."""
        for host in self.hosts:
            listed = WebPage(f"http://{host}{LISTED}", "Named by the sitemap alone", validator="etag")
            self.pages[listed.url] = listed
            self.robots[host] = f"User-agent: *\nDisallow: /private/\nSitemap: http://{host}{INDEX}\n"

    def answer(self, url: str, headers: Headers) -> Answer:
        """Answer a request, and note when it came and was answered."""
        came, status = time.monotonic(), None
        try:
            found = super().answer(url, headers)
            status = found[0]
        finally:
            self.requests.append(Request(url, came, time.monotonic(), status))
        return found

    def _respond(self, url: str, nth: int, headers: Headers) -> Answer:
        parts = urlsplit(url)
        if parts.netloc in self.dead:
            raise ConnectionAbortedError("it is dead")
        if parts.path == "/robots.txt" and nth <= len(failures := self.fails.get(parts.netloc, ())):
            status = failures[nth - 1]
            if status is None:
                raise ConnectionAbortedError("no answer")
            return status, {"Content-Type": "text/plain"}, b"not now"
        if parts.path == "/robots.txt" and url != (there := self.robots_at.get(parts.netloc, url)):
            return 301, {"Location": there}, b"It is elsewhere"
        if (of := next((host for host, where in self.robots_at.items() if where == url), None)) is not None:
            return 200, {"Content-Type": "text/plain"}, self.robots[of].encode()
        if parts.netloc in self.hosts and parts.path == INDEX:
            return _unless_known(_listing("sitemap", parts.netloc, (INDEX, PAGES)), headers)
        if parts.netloc in self.hosts and parts.path == PAGES:
            return _unless_known(_listing("url", parts.netloc, (LISTED, "/")), headers)
        return super()._respond(url, nth, headers)

    # ---------------------------------------------------------------- the judge

    def claimed(self) -> list[Request]:
        """The requests but for those of redirects that were followed, in the order in which they came."""
        return sorted((each for each in self.requests if each.url not in self.led_to), key=lambda each: each.came)

    def judge(self, delay: float) -> None:
        """Hold what was asked against robots.txt, which come first, and against the delay of each host."""
        known: dict[str, float] = {}
        host_of = {where: host for host, where in self.robots_at.items()}
        for each in sorted(self.claimed(), key=lambda each: each.answered):
            if each.url in host_of and each.status in KNOWN:
                known.setdefault(host_of[each.url], each.answered)
        early = [each for each in self.claimed() if not _of_rules(each, host_of) and not _after(each, known)]
        assert not early, early
        hold_delay(((each.host, each.came) for each in self.claimed()), delay)


def _of_rules(request: Request, host_of: Mapping[str, str]) -> bool:
    return request.url in host_of or urlsplit(request.url).path == "/robots.txt"


def _after(request: Request, known: Mapping[str, float]) -> bool:
    return request.host in known and known[request.host] <= request.came


def _listing(tag: str, host: str, paths: Iterable[str]) -> bytes:
    root = "urlset" if tag == "url" else "sitemapindex"
    entries = "".join(f"<{tag}><loc>http://{host}{path}</loc></{tag}>" for path in paths)
    return f'<{root} xmlns="{SCHEMA}">{entries}</{root}>'.encode()


def _unless_known(body: bytes, headers: Headers) -> Answer:
    """Return the answer with a sitemap, or 304 to a crawler that has it."""
    stamp = {"ETag": f'"{blake2b(body, digest_size=8).hexdigest()}"'}
    return (304, stamp, b"") if headers.get("If-None-Match") == stamp["ETag"] else (200, XML | stamp, body)


def hold_delay(requests: Iterable[tuple[str, float]], delay: float) -> None:
    """Hold requests (host, when it came) against the delay. A request comes some time after its claim, on a busy
    machine some tenths of a second: so single gaps may be shorter, and the sum of all only by `BUSY`."""
    times: dict[str, list[float]] = {}
    for host, came in requests:
        times.setdefault(host, []).append(came)
    for host, each in times.items():
        gaps = [after - before for before, after in pairwise(sorted(each))]
        assert sum(gaps) >= delay * (len(gaps) - 1) - BUSY, (host, gaps)
        assert sum(gap < delay / 2 for gap in gaps) <= 0.5 * len(gaps) + 1, (host, sorted(gaps))


def holds_nothing(brain: Brain) -> bool:
    """Return whether no page, robots.txt or sitemap is claimed."""
    return not brain.stats()["leased"] and not any(host.in_flight for host in brain.hosts(limit=1_000))
