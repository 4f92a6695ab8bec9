"""Hosts: looking at them, and what is set for one of them: delay, limit, budget, blocks, its robots.txt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from types import EllipsisType
from typing import Any

from graphbrain import border
from graphbrain.brain.backfill import Passing
from graphbrain.brain.session import whole
from graphbrain.errors import BadInput
from graphbrain.graph.connection import Tx
from graphbrain.hostnames import Named, host_and_port, named
from graphbrain.hosts import admin, politeness
from graphbrain.hosts.robots import readable
from graphbrain.model import Host, RobotsAnswer, number

__all__ = ["Hosting"]

LOOK_BATCH = 1_000
COUNTED, COUNTED_OF_ONE = 1_000, 1_000_000
"""Pages of a host that are counted at most, in a list and of one: by the index, a million in less than a second."""
LONGEST_DELAY = 86_400.0
_USUAL_PORT = re.compile(r"(?<=[^:]):(?:80|443)$")


class Hosting(Passing):
    """The verbs about hosts. A host is named in any way that a URL names it, with its port unless that is the usual
    one, or by an origin, as in `https://a.example`; its scheme matters to `set_robots` and `robots` alone."""

    def host(self, name: str) -> Host:
        """What is known of one host. Raises BadInput for a host nobody has met."""
        self._reread()
        known = self._host(name)

        def look(tx: Tx) -> Host:
            found = admin.sized(tx, [admin.listed(tx, known, self.policy.manners)], COUNTED_OF_ONE)[0]
            return replace(found, in_scope=self.policy.scope.holds_host(found.name))

        return self.graph.read(look, "hosts/view")

    def hosts(
        self,
        text: str | None = None,
        *,
        blocked: bool | None = None,
        queued: bool | None = None,
        slowed: bool | None = None,
        silent: bool | None = None,
        outside: bool | None = None,
        count: int = COUNTED,
        limit: int | None = None,
    ) -> Iterator[Host]:
        """The hosts that fit all that is given, by name, at most `limit` of them; they are read as they are asked for.

        `text`: what the name must contain. `blocked`: is it left alone now? `queued`: do pages wait in its own queue?
        `slowed`: is it asked less often since it answered 429 or 503? `silent`: is it only probed, for it does not
        answer? `outside`: do `allow_hosts` and `deny_hosts` keep it out of the scope? `count`: how many pages of each
        are counted at most.
        """
        if not whole(count) or not 0 <= count < 2**53:
            raise BadInput(f"Pages are counted up to a whole number, not {count!r:.80}.")
        if limit is not None and (not whole(limit) or limit < 0):
            raise BadInput(f"Give a whole number, 0 or more, not {limit!r}.")
        which = {"text": None if text is None else _part(text), "blocked": blocked, "queued": queued}
        which |= {"slowed": slowed, "silent": silent}
        self._reread()
        return self._list(which, outside, count, limit)

    def _list(self, which: dict[str, Any], outside: bool | None, count: int, limit: int | None) -> Iterator[Host]:
        after: str | None = ""
        left = LOOK_BATCH if limit is None else limit
        while after is not None and left > 0:

            def look(tx: Tx, after: str = after, most: int = min(left, LOOK_BATCH)) -> tuple[str | None, list[Host]]:
                last, found = admin.look(tx, after, LOOK_BATCH, which, self.policy.manners, self.now())
                placed = [replace(host, in_scope=self.policy.scope.holds_host(host.name)) for host in found]
                fitting = [host for host in placed if outside is None or host.in_scope != outside]
                return last, admin.sized(tx, fitting[:most], count)

            after, found = self.graph.read(look, "hosts/page")
            left -= 0 if limit is None else len(found)
            yield from found

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
        name = self._host(host)
        self._manage(lambda tx, now: admin.set_manners(tx, name, given, self.policy.manners, now))

    def block(self, host: str, seconds: float | None = None) -> None:
        """Leave a host alone for so many seconds from now; None: until `unblock`. Raises BadInput."""
        if seconds is not None and not (number(seconds) and 0 <= seconds <= politeness.LONGEST_BLOCK):
            raise BadInput(
                f"A host is blocked for 0 to {politeness.LONGEST_BLOCK:.0f} seconds, or for ever (None), "
                f"not {seconds!r}."
            )
        name, length = self._host(host), None if seconds is None else float(seconds)
        self._manage(lambda tx, now: admin.block(tx, name, length, self.policy.manners, now))

    def unblock(self, host: str) -> None:
        """Ask a host again, at its full rate, as if it had always answered. Raises BadInput for an unknown host."""
        name = self._host(host)
        self._manage(lambda tx, now: admin.unblock(tx, name, self.policy.manners, now))

    def set_robots(self, host: str, text: str | bytes | None, *, agent: str | None = None) -> RobotsAnswer:
        """Obey a host's robots.txt: `text` is what it answered; None: it has none, all may be fetched.

        Each scheme and port has its own: `host` is an origin, as in `https://a.example`, or a name, `a.example`. The
        text of a name is that of both schemes; the text of an origin goes over it. Pages that it forbids go outside
        (`outside_because` is "robots"), those of them that it allows now come back, and a forbidden page that is met
        later is never handed out. Its Crawl-delay becomes part of the host's delay, up to `longest_delay_seconds`.
        `agent`: whose rules hold for this host; None: those of the setting `user_agent`; of a whole header the product
        token counts. Of a longer text the first 512,000 characters are read. The host need not have been met yet.
        Raises BadInput.
        """
        agent = None if agent is None else border.name("agent", agent)
        name, scheme = self._host(host), named(host).scheme or ""
        read = None if text is None else readable(text)
        delay = self.graph.write(
            lambda tx: admin.set_robots(tx, name, read, agent, self.policy.manners, self.now(), scheme), "set_robots"
        )
        taken_out, let_in = self._obey(name) if delay is not None else (0, 0)
        return RobotsAnswer(delay or 0.0, taken_out, let_in)

    def robots(self, host: str) -> str | None:
        """The robots.txt that was set for a host, or None: of an origin the one that holds for it, of a name that of
        both schemes, or else of one of them. Raises BadInput for a host nobody has met."""
        name, scheme = self._host(host), named(host).scheme or ""
        return self.graph.read(lambda tx: admin.robots_text(tx, name, scheme, self.policy.manners), "hosts/robots")

    def _manage(self, work: Any) -> None:
        self._reread()
        self._correct(work, "hosts/write")


def _part(text: object) -> str:
    """A part of hosts' names as they are spelt in the graph; a dot at its end ends the name. Raises BadInput."""
    wrong = f"A host's name has no {text!r:.80} in it; give a part of it, as in 'example.org'."
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise BadInput(wrong)
    part = text.strip().removeprefix("*")
    if part.count(":") > 1:
        with suppress(BadInput):  # a part of an IPv6 address may be none
            return named(part).name
    try:
        if "/" in part:
            return named(part).name
        core = part.strip(".。．｡")
        if not core.isascii() or "%" in core:
            part = part.replace(core, Named(*host_and_port(core)).name)
    except BadInput as error:
        raise BadInput(f"{wrong[:-1]} ({error}).") from None
    if "*" in part or " " in part:
        raise BadInput(wrong)
    return _USUAL_PORT.sub("", part.lower())
