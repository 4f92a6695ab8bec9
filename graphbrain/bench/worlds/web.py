"""The servers of a world: what an attempt meets at a moment."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from graphbrain.bench.worlds.world import MINUTE, Phase, Window, World, WorldHost, WorldPage

__all__ = ["Met", "WorldWeb"]

MAINTENANCE = WorldPage("/maintenance", (Phase(0.0, "fetched", 0.1),))
"""The page to which a host's pages redirect while it is under maintenance. It exists at all times."""
NOWHERE = Phase(0.0, "missing", 0.1, 404)


@dataclass(frozen=True, slots=True)
class Met:
    """The result of an attempt: the answer and, of a fetched page, its links and its content."""

    phase: Phase
    links: tuple[str, ...] = ()
    content: str = ""


@dataclass(slots=True)
class WorldWeb:
    """The servers, and the requests to each in the last minute."""

    world: World
    _hosts: dict[str, WorldHost] = field(init=False)
    _pages: dict[str, tuple[WorldHost, WorldPage]] = field(init=False)
    _asked: dict[str, deque[float]] = field(init=False)

    def __post_init__(self) -> None:
        self._hosts = {host.name: host for host in self.world.hosts}
        self._pages = {url: (host, page) for host, page, url in self.world.pages()}
        self._pages |= {host.url(MAINTENANCE.path): (host, MAINTENANCE) for host in self.world.hosts}
        self._asked = {name: deque() for name in self._hosts}

    def window(self, host: WorldHost, at: float) -> Window | None:
        """Return the window that is open on this host at this time. That of the crawlers' line comes first."""
        return next((w for w in (*self.world.line, *host.windows) if w.start <= at < w.end), None)

    def ask(self, url: str, at: float) -> Met:
        found = self._pages.get(url)
        if found is None:
            return Met(NOWHERE)
        host, page = found
        phase = page.phase(at)
        if phase.outcome == "not_sent":
            return Met(phase)
        window = self.window(host, at)
        if window is not None and not (window.kind == "maintenance_301" and page is MAINTENANCE):
            return Met(window.phase)
        if self._too_many(host, at):
            return Met(Phase(0.0, "refused", 0.1, 429))
        if phase.outcome != "fetched":
            return Met(phase)
        version = int(at // page.changes_every) if page.changes_every else 0
        return Met(phase, page.links, f"{url} {version}")

    def _too_many(self, host: WorldHost, at: float) -> bool:
        if not host.rate:
            return False
        asked = self._asked[host.name]
        while asked and asked[0] <= at - MINUTE:
            asked.popleft()
        asked.append(at)
        return len(asked) > host.rate
