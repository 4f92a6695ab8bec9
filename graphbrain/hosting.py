"""Hosts: looking at them, and what is set for one of them: delay, limit, budget, blocks, its robots.txt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import EllipsisType
from typing import Any

from graphbrain import hosts, manners
from graphbrain.core import whole
from graphbrain.errors import BadInput
from graphbrain.graph import Tx
from graphbrain.model import Host, RobotsAnswer, number
from graphbrain.passing import Passing
from graphbrain.robots import readable

__all__ = ["Hosting"]

LOOK_BATCH = 1_000
LONGEST_DELAY = 86_400.0


class Hosting(Passing):
    """The verbs about hosts. A host is named as in a URL: in lower case, with its port unless that is the usual one."""

    def host(self, name: str) -> Host:
        """What is known of one host. Raises BadInput for a host nobody has met."""
        self._reread()
        return self.graph.read(lambda tx: manners.listed(tx, _name(name), self.policy.manners), "hosts/view")

    def hosts(
        self,
        text: str | None = None,
        *,
        blocked: bool | None = None,
        queued: bool | None = None,
        slowed: bool | None = None,
        limit: int | None = None,
    ) -> Iterator[Host]:
        """The hosts that fit all that is given, by name, at most `limit` of them; they are read as they are asked for.

        `text`: what the name must contain. `blocked`: is it left alone now? `queued`: do pages wait in its own queue?
        `slowed`: is it asked less often since it answered 429 or 503?
        """
        if limit is not None and (not whole(limit) or limit < 0):
            raise BadInput(f"Give a whole number, 0 or more, not {limit!r}.")
        which = {"text": None if text is None else _name(text), "blocked": blocked, "queued": queued, "slowed": slowed}
        self._reread()
        return self._list(which, limit)

    def _list(self, which: dict[str, Any], limit: int | None) -> Iterator[Host]:
        after: str | None = ""
        left = math.inf if limit is None else limit
        while after is not None and left > 0:
            after, found = self.graph.read(
                lambda tx, a=after: manners.look(tx, a, LOOK_BATCH, which, self.policy.manners, self.now()),  # type: ignore[misc]
                "hosts/page",
            )
            for host in found[: int(min(left, LOOK_BATCH))]:
                left -= 1
                yield host

    def set_host(
        self,
        host: str,
        *,
        delay: float | EllipsisType | None = ...,
        in_flight: int | EllipsisType | None = ...,
        budget: int | EllipsisType | None = ...,
    ) -> None:
        """Set one host's own manners: seconds between claims, most claims out, most pages fetched for the first time.

        What is not given stays. None goes back to the brain's settings; 0 is no delay or no limit. A budget counts the
        pages of the host that were fetched until now. Raises BadInput, also for a host nobody has met.
        """
        given: dict[str, Any] = {"delay": delay, "in_flight": in_flight, "budget": budget}
        given = {what: value for what, value in given.items() if value is not ...}
        if "delay" in given and given["delay"] is not None:
            if not number(given["delay"]) or not 0 <= given["delay"] <= LONGEST_DELAY:
                raise BadInput(f"A host's delay is 0 to {LONGEST_DELAY:.0f} seconds, not {given['delay']!r}.")
            given["delay"] = float(given["delay"])
        for what in given.keys() & {"in_flight", "budget"}:
            if given[what] is not None and not (whole(given[what]) and 0 <= given[what] < 2**53):
                raise BadInput(f"A host's {what} is a whole number, 0 (no limit) or more, not {given[what]!r}.")
        if given.get("budget"):
            self._count_budgets()
        self._manage(lambda tx, now: manners.set_manners(tx, _name(host), given, self.policy.manners, now))

    def block(self, host: str, seconds: float | None = None) -> None:
        """Leave a host alone for so many seconds from now; None: until `unblock`. Raises BadInput."""
        if seconds is not None and not (number(seconds) and 0 <= seconds <= hosts.LONGEST_BLOCK):
            raise BadInput(
                f"A host is blocked for 0 to {hosts.LONGEST_BLOCK:.0f} seconds, or for ever (None), not {seconds!r}."
            )
        length = None if seconds is None else float(seconds)
        self._manage(lambda tx, now: manners.block(tx, _name(host), length, self.policy.manners, now))

    def unblock(self, host: str) -> None:
        """Ask a host again: no block, and its full rate. Raises BadInput for a host nobody has met."""
        self._manage(lambda tx, now: manners.unblock(tx, _name(host), self.policy.manners, now))

    def set_robots(self, host: str, text: str | bytes | None, *, agent: str | None = None) -> RobotsAnswer:
        """Obey a host's robots.txt: `text` is what it answered; None: it has none, all may be fetched.

        Pages that it forbids go outside (`outside_because` is "robots"), those of them that it allows now come back,
        and a forbidden page that is met later is never handed out. Its Crawl-delay becomes part of the host's delay, up
        to `longest_delay_seconds`. `agent`: whose rules hold for this host; None: those of the setting `user_agent`.
        Of a longer text the first 512,000 characters are read. Raises BadInput, also for a host nobody has met.
        """
        if agent is not None and not (isinstance(agent, str) and agent.strip()):
            raise BadInput(f"agent must be a name, not {agent!r:.80}.")
        name, read = _name(host), None if text is None else readable(text)
        delay = self.graph.write(
            lambda tx: manners.set_robots(tx, name, read, agent, self.policy.manners, self.now()), "set_robots"
        )
        taken_out, let_in = self._obey(name)
        return RobotsAnswer(delay, taken_out, let_in)

    def robots(self, host: str) -> str | None:
        """The robots.txt that was set for a host, or None. Raises BadInput for a host nobody has met."""
        name = _name(host)

        def look(tx: Tx) -> str | None:
            manners.listed(tx, name, self.policy.manners)
            return dict(tx.one("hosts/robots", names=[name])[0]).get(name)

        return self.graph.read(look, "hosts/robots")

    def _manage(self, work: Any) -> None:
        self._reread()
        self._correct(work, "hosts/write")


def _name(host: object) -> str:
    """The name of a host as it is kept. Raises BadInput for what is none."""
    if not isinstance(host, str) or not host.isprintable() or not host:
        raise BadInput(f"A host is named by its name, as in 'www.example.org', not {host!r:.80}.")
    return host.lower()
