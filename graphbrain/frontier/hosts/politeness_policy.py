"""The limits of hosts, of groups of hosts and of addresses by the brain's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphbrain.base.settings import Settings
from graphbrain.base.urls import host_rules
from graphbrain.base.urls.host_rules import MARK, Group, HostRules, Opening

__all__ = ["PolitenessPolicy"]


@dataclass(frozen=True, slots=True)
class PolitenessPolicy:
    """The limits of groups and addresses, and of hosts without their own limits. 0 means that there is no limit.

    Attributes:
        delay: Seconds between two claims of a host.
        most: Most open claims of a host.
        budget: Most pages of a host that are fetched for the first time.
        response_times: The delay in multiples of the duration of the last fetch.
        longest: The longest delay in seconds that follows from Crawl-delay, response times and back-off.
        address_delay: Seconds between two claims of all hosts at one address.
        address_most: Most open claims of all hosts at one address.
        groups: The groups of hosts that share limits. A host of a group shares these in place of those of its address.
        hours: The hours in which hosts may be asked.
        agent: The user agent by whose rules a robots.txt is read.
        counting: True if budgets were ever used in this brain. From then on the first visits of hosts with a budget are
            counted.
        longest_block: Most seconds for which a Retry-After is obeyed.
        dead_after: The number of events of failure in a row after which a host is only probed.
        robots_unreachable: Seconds without any robots.txt after which a host counts as having none.
    """

    delay: float = 0.0
    most: int = 0
    budget: int = 0
    response_times: float = 0.0
    longest: float = 300.0
    address_delay: float = 0.0
    address_most: int = 0
    groups: HostRules[Group] = field(default_factory=HostRules)
    hours: HostRules[Opening] = field(default_factory=HostRules)
    agent: str = "*"
    counting: bool = False
    longest_block: float = 86_400.0
    dead_after: int = 0
    robots_unreachable: float = 2_592_000.0

    @classmethod
    def of(cls, settings: Settings, stored: Mapping[str, Any]) -> PolitenessPolicy:
        """Return the limits by the brain's settings. `stored`: the properties of the brain."""
        return cls(
            delay=settings.delay_seconds,
            most=settings.in_flight,
            budget=settings.pages_per_host,
            response_times=settings.response_times,
            longest=settings.longest_delay_seconds,
            address_delay=settings.address_delay_seconds,
            address_most=settings.address_in_flight,
            groups=host_rules.groups(settings.groups),
            hours=host_rules.hours(settings.hours),
            agent=settings.user_agent,
            counting=settings.pages_per_host > 0 or bool(stored.get("counts_budgets")),
            longest_block=settings.longest_block_seconds,
            dead_after=settings.dead_after,
            robots_unreachable=settings.robots_unreachable_seconds,
        )

    @property
    def by_address(self) -> bool:
        """True if addresses have limits."""
        return self.address_delay > 0 or self.address_most > 0

    @property
    def shares_most(self) -> bool:
        """True if hosts share a limit of open claims."""
        return self.address_most > 0 or any(group.in_flight > 0 for _, group in self.groups.rules)

    def shared_name(self, host: str, address: str | None) -> str | None:
        """Return the name under which a host shares limits: that of its group, else its IP address, if it is known.

        `address`: the name that was stored, which may be that of a former group.
        """
        group = self.groups.of(host)
        if group is not None:
            return group.name
        return None if address is not None and address.startswith(MARK) else address

    def limits_of(self, name: str) -> tuple[float, int]:
        """Return (delay, most open claims) of all hosts of a group or at an address."""
        if not name.startswith(MARK):
            return self.address_delay, self.address_most
        groups = (group for _, group in self.groups.rules if group.name == name)
        return next(((group.delay, group.in_flight) for group in groups), (0.0, 0))

    def opens(self, host: str, now: float) -> float:
        """Return the first time from `now` on that is within the hours of a host."""
        opening = self.hours.of(host)
        return now if opening is None else opening.opens(now)

    @property
    def ask_all(self) -> bool:
        """True if all hosts have a limit."""
        return self.delay > 0 or self.most > 0 or self.budget > 0 or self.by_address
