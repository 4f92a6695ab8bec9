"""The servers of a world: their answer to an attempt at a time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from graphbrain.base.model import Kind
from graphbrain_lab.bench.worlds.world import GUESSED, MINUTE, Phase, Window, World, WorldFile, WorldHost, WorldPage

__all__ = ["Met", "WorldWeb"]

MAINTENANCE = WorldPage("/maintenance", (Phase(0.0, "fetched", 0.1),))
"""The page to which a host's pages redirect while it is under maintenance. It exists at all times."""
NOWHERE = Phase(0.0, "missing", 0.1, 404)
ABSENT = (WorldFile("/robots.txt", (NOWHERE,)), WorldFile(GUESSED, (NOWHERE,)))
"""The answers of a host that has no such file."""
NO_SITEMAP = b"<!doctype html><title>Maintenance</title>"


@dataclass(frozen=True, slots=True)
class Met:
    """The result of an attempt: the answer and, of a fetched page, its links and its content.

    Attributes:
        links: The links of a page, or the pages that a sitemap lists.
        content: A text that changes with the content of a page.
        body: The body of a robots.txt or a sitemap.
        text: The text of a robots.txt.
        sitemaps: The sitemaps that an index lists.
    """

    phase: Phase
    links: tuple[str, ...] = ()
    content: str = ""
    body: bytes | None = None
    text: str = ""
    sitemaps: tuple[str, ...] = ()


@dataclass(slots=True)
class WorldWeb:
    """The servers, and the requests to each in the last minute."""

    world: World
    _hosts: dict[str, WorldHost] = field(init=False)
    _served: dict[str, tuple[WorldHost, WorldPage | WorldFile]] = field(init=False)
    _asked: dict[str, deque[float]] = field(init=False)

    def __post_init__(self) -> None:
        self._hosts = {host.name: host for host in self.world.hosts}
        self._served = {}
        for host in self.world.hosts:
            served: list[WorldPage | WorldFile] = [MAINTENANCE, *ABSENT, *host.pages, *host.files()]
            self._served |= {host.url(each.path): (host, each) for each in served}
        self._asked = {name: deque() for name in self._hosts}

    def window(self, host: WorldHost, at: float) -> Window | None:
        """Return the window that is open on this host at this time. A window of the crawlers' line has priority."""
        return next((w for w in (*self.world.line, *host.windows) if w.start <= at < w.end), None)

    def ask(self, url: str, at: float, kind: Kind = "page") -> Met:
        """Return the result of an attempt. `kind`: the kind of its claim."""
        # Answer for paths without a server, and for windows of the host.
        found = self._served.get(url)
        if found is None:
            return Met(NOWHERE)
        host, served = found
        phase = served.phase(at)
        if phase.outcome == "not_sent":
            return Met(phase)
        window = self.window(host, at)
        if window is not None and not (window.kind == "maintenance_301" and served is MAINTENANCE):
            return Met(window.phase)
        # Answer for too many requests, ill pages, files, and pages.
        if self._too_many(host, at):
            return Met(Phase(0.0, "refused", 0.1, 429))
        if phase.outcome != "fetched":
            return Met(phase)
        if kind != "page":
            return _file(phase, served, kind)
        assert isinstance(served, WorldPage)
        version = int(at // served.changes_every) if served.changes_every else 0
        return Met(phase, served.links, f"{url} {version}")

    def _too_many(self, host: WorldHost, at: float) -> bool:
        if not host.rate:
            return False
        asked = self._asked[host.name]
        while asked and asked[0] <= at - MINUTE:
            asked.popleft()
        asked.append(at)
        return len(asked) > host.rate


def _file(phase: Phase, served: WorldPage | WorldFile, kind: Kind) -> Met:
    """Return the result of a claim of a robots.txt or a sitemap that was fetched. A page is an empty robots.txt, and no
    sitemap."""
    if isinstance(served, WorldPage):
        return Met(phase, body=b"") if kind == "robots" else Met(replace(phase, outcome="missing"), body=NO_SITEMAP)
    if kind == "robots":
        return Met(phase, body=served.text.encode(), text=served.text)
    root, entry = ("sitemapindex", "sitemap") if served.is_index else ("urlset", "url")
    entries = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in served.lists)
    body = f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'.encode()
    pages, sitemaps = ((), served.lists) if served.is_index else (served.lists, ())
    return Met(phase, pages, body=body, sitemaps=sitemaps)
