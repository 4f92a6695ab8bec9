"""The politeness that the brain's settings demand of all hosts and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphbrain.base.settings import Settings

__all__ = ["PolitenessPolicy"]


@dataclass(frozen=True, slots=True)
class PolitenessPolicy:
    """The limits of hosts that have none of their own, and of addresses; 0 is none, everywhere.

    Attributes:
        delay: Seconds between claims.
        most: Claims at once.
        budget: Pages fetched for the first time.
        response_times: The delay in multiples of the duration of the last fetch.
        longest: Seconds that Crawl-delay, response times and back-off make at most.
        agent: The user agent whose rules of a robots.txt hold.
        counting: Whether budgets have ever been used here. From then on every first visit is counted where there is a
            budget.
        longest_block: Seconds for which a Retry-After is obeyed.
        dead_after: Events of failure in a row after which a host is only probed.
        robots_unreachable: Seconds without any robots.txt after which a host is taken to have none.
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
        """Return the limits by the brain's settings, and its other properties."""
        return cls(
            settings.delay_seconds,
            settings.in_flight,
            settings.pages_per_host,
            settings.response_times,
            settings.longest_delay_seconds,
            settings.address_delay_seconds,
            settings.address_in_flight,
            settings.user_agent,
            settings.pages_per_host > 0 or bool(stored.get("counts_budgets")),
            settings.longest_block_seconds,
            settings.dead_after,
            settings.robots_unreachable_seconds,
        )

    @property
    def by_address(self) -> bool:
        """True if hosts that share an address share a limit."""
        return self.address_delay > 0 or self.address_most > 0

    @property
    def ask_all(self) -> bool:
        """True if every host has a limit."""
        return self.delay > 0 or self.most > 0 or self.budget > 0 or self.by_address
