"""The limits of hosts and addresses by the brain's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphbrain.base.settings import Settings

__all__ = ["PolitenessPolicy"]


@dataclass(frozen=True, slots=True)
class PolitenessPolicy:
    """The limits of addresses, and of hosts without their own limits. 0 means that there is no limit.

    Attributes:
        delay: Seconds between two claims of a host.
        most: Most open claims of a host.
        budget: Most pages of a host that are fetched for the first time.
        response_times: The delay in multiples of the duration of the last fetch.
        longest: The longest delay in seconds that follows from Crawl-delay, response times and back-off.
        address_delay: Seconds between two claims of all hosts at one address.
        address_most: Most open claims of all hosts at one address.
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
    def ask_all(self) -> bool:
        """True if all hosts have a limit."""
        return self.delay > 0 or self.most > 0 or self.budget > 0 or self.by_address
