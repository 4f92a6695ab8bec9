"""The verbs on hosts: views of hosts, and values that are set for one host: delay, limit, budget, block, robots.txt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from types import EllipsisType
from typing import Any

from graphbrain.analyst.inspect import sections
from graphbrain.base.errors import BadInput
from graphbrain.base.model import Host, RobotsAnswer, number
from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.options.hosts import COUNTED, HOST_VALUES, LONGEST_HAND_DELAY, HostFilter
from graphbrain.base.options.verbs import CRAWLERS, EVERYBODY, HOST, OPERATORS, READERS, verb, within
from graphbrain.base.records import Section
from graphbrain.base.urls.hostnames import NamedHost, host_and_port, named
from graphbrain.brain.session import whole
from graphbrain.brain.topic import Topic
from graphbrain.content import input_checks
from graphbrain.frontier.claims import resources
from graphbrain.frontier.hosts import admin
from graphbrain.frontier.hosts.robots import readable
from graphbrain.frontier.hosts.state import LONGEST_BLOCK
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["Hosting"]

_RANGES = {
    "delay": f"0 to {LONGEST_HAND_DELAY:.0f} seconds",
    **dict.fromkeys(("in_flight", "budget"), "a whole number, 0 (no limit) or more"),
}

LOOK_BATCH = 1_000
COUNTED_OF_ONE = 1_000_000
"""The most pages that the view of one host counts. A list of hosts counts `base.options.hosts.COUNTED`."""
_USUAL_PORT = re.compile(r"(?<=[^:]):(?:80|443)$")


class Hosting(Topic):
    """The verbs that read hosts, and set values of one host."""

    @verb(READERS, "", reads=True, name=HOST)
    def host(self, name: str) -> Host:
        """Return what is known of one host. Raises UnknownHost, a BadInput, for a host that is not in the graph."""
        self._session.refresh()
        key = self._names.host(name)

        def look(tx: Tx) -> Host:
            seen = admin.sized(
                tx, [admin.listed(tx, key, self._session.policy.manners, self._session.now())], COUNTED_OF_ONE
            )[0]
            resources_of = resources.of_host(tx, seen.name, self._session.trust)
            return replace(seen, in_scope=self._session.policy.scope.holds_host(seen.name), resources=resources_of)

        return self._session.graph.read(look, "hosts/view")

    @verb(READERS, "sections", reads=True, name=HOST)
    def sections(self, name: str) -> list[Section]:
        """Return the sections of a host, those with the most pages first. All its pages are read. Raises
        UnknownHost."""
        key = self._names.host(name)

        def look(tx: Tx) -> list[Section]:
            admin.listed(tx, key, self._session.policy.manners, self._session.now())
            return sections.view(tx, key, self._session.book)

        return self._session.graph.read(look, "sections/pages")

    @verb(
        READERS,
        reads=True,
        text={"example": "example"},
        count={"bounds": Bounds(0, COUNTED_OF_ONE), "example": 1000},
        limit={"bounds": Bounds(0, LARGEST), "example": 100},
    )
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
        """Return the hosts that fit all that is given, by name. They are read as the iterator proceeds.

        Args:
            text: Only hosts whose name contains this.
            blocked: Only hosts that are, or are not, blocked or backed off now.
            queued: Only hosts that have, or have not, pages in their own queues.
            slowed: Only hosts that are, or are not, asked less often since they answered 429 or 503.
            silent: Only hosts that are, or are not, probed alone because they do not answer.
            outside: Only hosts that `allow_hosts` and `deny_hosts` keep, or do not keep, out of the scope.
            count: Most pages of a host that are counted.
            limit: End after this number; all unless given.
        """
        which = HostFilter(
            text=text,
            blocked=blocked,
            queued=queued,
            slowed=slowed,
            silent=silent,
            outside=outside,
            count=count,
            limit=limit,
        )
        # Check the arguments now, and not when the iterator is read.
        if not whole(which.count) or not 0 <= which.count < 2**53:
            raise BadInput(f"Pages are counted up to a whole number, not {which.count!r:.80}.")
        if which.limit is not None and (not whole(which.limit) or which.limit < 0):
            raise BadInput(f"Give a whole number, 0 or more, not {which.limit!r}.")
        which = replace(which, text=None if which.text is None else _part(which.text))
        self._session.refresh()
        return self._list(which)

    def _list(self, which: HostFilter) -> Iterator[Host]:
        """Yield the hosts that fit, by name. Each transaction reads LOOK_BATCH hosts."""
        limit, outside = which.limit, which.outside
        after: str | None = ""
        remaining = LOOK_BATCH if limit is None else limit
        while after is not None and remaining > 0:
            # Read the hosts after the last name; the scope is not stored, so it is tested here.

            def look(
                tx: Tx, after: str = after, most: int = min(remaining, LOOK_BATCH)
            ) -> tuple[str | None, list[Host]]:
                manners, now = self._session.policy.manners, self._session.now()
                last, hosts = admin.look(tx, after, LOOK_BATCH, which, manners, now)
                placed = [replace(host, in_scope=self._session.policy.scope.holds_host(host.name)) for host in hosts]
                fitting = [host for host in placed if outside is None or host.in_scope != outside]
                return last, admin.sized(tx, fitting[:most], which.count)

            after, hosts = self._session.graph.read(look, "hosts/page")
            remaining -= 0 if limit is None else len(hosts)
            yield from hosts

    @verb(
        OPERATORS,
        wakes=True,
        host=HOST,
        delay=within(HOST_VALUES["delay"], 2.0, metavar="SECONDS|none"),
        in_flight=within(HOST_VALUES["in_flight"], 1, metavar="N|none"),
        budget=within(HOST_VALUES["budget"], 1000, metavar="N|none"),
    )
    def set_host(
        self,
        host: str,
        *,
        delay: float | EllipsisType | None = ...,
        in_flight: int | EllipsisType | None = ...,
        budget: int | EllipsisType | None = ...,
    ) -> None:
        """Set one host's own politeness. An argument that is not given stays as it is, None is the brain's setting.

        The host need not have been met yet.

        Args:
            host: Its name.
            delay: Least seconds between two claims; 0 is no delay.
            in_flight: Most claims at once; 0 is no limit.
            budget: Most pages fetched for the first time, with those fetched until now; 0 is no limit.

        Raises:
            BadInput: An argument is out of range.
        """
        # Check the values.
        values: dict[str, Any] = {"delay": delay, "in_flight": in_flight, "budget": budget}
        values = {what: value for what, value in values.items() if value is not ...}
        for what, value in values.items():
            is_kind = number if what == "delay" else whole
            if value is not None and not (is_kind(value) and HOST_VALUES[what].hold(value)):
                raise BadInput(f"A host's {what} is {_RANGES[what]}, not {value!r}.")
        if values.get("delay") is not None:
            values["delay"] = float(values["delay"])
        # A budget needs counts of first visits; then write the values.
        if values.get("budget"):
            self._backfill.count_budgets()
        name = self._names.host(host)
        self._manage(lambda tx, policy, now: admin.set_manners(tx, name, values, policy.manners, now))

    @verb(OPERATORS, host=HOST, seconds=within(Bounds(0, LONGEST_BLOCK), 3_600))
    def block(self, host: str, seconds: float | None = None) -> None:
        """Block a host for so many seconds from now; None: until `unblock`.

        It need not have been met yet. A wait that the host itself has asked for (Retry-After) is not made shorter.
        Raises BadInput.
        """
        if seconds is not None and not (number(seconds) and 0 <= seconds <= LONGEST_BLOCK):
            raise BadInput(
                f"A host is blocked for 0 to {LONGEST_BLOCK:.0f} seconds, or for ever (None), not {seconds!r}."
            )
        name, length = self._names.host(host), None if seconds is None else float(seconds)
        self._manage(lambda tx, policy, now: admin.block(tx, name, length, policy.manners, now))

    @verb(OPERATORS, wakes=True, host=HOST)
    def unblock(self, host: str) -> None:
        """Ask a host again, at its full rate, as if it had always answered. Raises BadInput for an unknown host."""
        name = self._names.host(host)
        self._manage(lambda tx, policy, now: admin.unblock(tx, name, policy.manners, now))

    @verb(
        CRAWLERS,
        "",
        wakes=True,
        host={**HOST, "example": "https://a.example"},
        text={"example": "User-agent: *\nDisallow: /private\n"},
        agent={"example": "graphbrain"},
    )
    def set_robots(self, host: str, text: str | bytes | None, *, agent: str | None = None) -> RobotsAnswer:
        """Obey a host's robots.txt.

        Pages that it forbids go outside (`outside_because` is "robots"), those of them that it allows now come back,
        and a forbidden page that is met later is never claimed. Its Crawl-delay becomes part of the host's delay, up to
        `longest_delay_seconds`. The host need not have been met yet.

        Args:
            host: An origin, as in `https://a.example`, or a name, `a.example`. Each scheme and port has its own
                robots.txt. The text of a name is that of both schemes; the text of an origin takes precedence over it.
            text: The answer of the host; None: it has none, and all may be fetched. Of a longer text the first 512,000
                characters are read.
            agent: The user agent whose rules hold for this host; None: that of the setting `user_agent`. Of a whole
                header the product token counts.

        Raises:
            BadInput: The name is no host's.
        """
        # Store the text on the host.
        agent = None if agent is None else input_checks.name("agent", agent)
        name, scheme = self._names.host(host), named(host).scheme or ""
        rules = None if text is None else readable(text)
        delay = self._session.graph.write(
            lambda tx: admin.set_robots(
                tx, name, rules, agent, self._session.policy.manners, self._session.now(), scheme
            ),
            "set_robots",
        )
        # Apply its rules to the pages of the host.
        taken_out, let_in = self._backfill.obey(name) if delay is not None else (0, 0)
        return RobotsAnswer(delay or 0.0, taken_out, let_in)

    @verb(EVERYBODY, "text", reads=True, host=HOST)
    def robots(self, host: str) -> str | None:
        """Return the robots.txt that was set for a host, or None.

        Of an origin it is the one that holds for it; of a name that of both schemes, or else of one of them. Raises
        BadInput for a host that is not in the graph.
        """
        name, scheme = self._names.host(host), named(host).scheme or ""
        return self._session.graph.read(
            lambda tx: admin.robots_text(tx, name, scheme, self._session.policy.manners), "hosts/robots"
        )

    def _manage(self, work: Callable[[Tx, Policy, float], object]) -> None:
        self._session.refresh()
        self._session.perform("hosts/write", work)


def _part(text: object) -> str:
    """Return a part of a host's name in the spelling of the graph. Raise BadInput for text that no host's name has."""
    message = f"A host's name has no {text!r:.80} in it; give a part of it, as in 'example.org'."
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise BadInput(message)
    part = text.strip().removeprefix("*")
    # A part of an IPv6 address need not be an address itself.
    if part.count(":") > 1:
        with suppress(BadInput):
            return named(part).name
    # Convert a URL, or an international name, to the name that the graph has.
    try:
        if "/" in part:
            return named(part).name
        core = part.strip(".。．｡")
        if not core.isascii() or "%" in core:
            part = part.replace(core, NamedHost(*host_and_port(core)).name)
    except BadInput as error:
        raise BadInput(f"{message[:-1]} ({error}).") from None
    if "*" in part or " " in part:
        raise BadInput(message)
    return _USUAL_PORT.sub("", part.lower())
