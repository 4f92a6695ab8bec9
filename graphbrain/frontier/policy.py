"""The settings that claims, reports and corrections obey, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graphbrain.base.numeric.rules import Rule
from graphbrain.content.scope import Scope
from graphbrain.frontier.hosts import health
from graphbrain.frontier.hosts.state import PolitenessPolicy
from graphbrain.frontier.section_factors import Acting
from graphbrain.schedule.fingerprints import ChangeTest
from graphbrain.schedule.value import Schedule

__all__ = ["BY_BODY", "RETURNED", "Policy"]

RETURNED = "returned"
"""The outcome of a claim that was given back or has lapsed."""
BY_BODY = ChangeTest("body")


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules that claims, reports and corrections obey."""

    rule: Rule
    scope: Scope
    manners: PolitenessPolicy
    max_errors: int
    schedule: Schedule = field(default_factory=Schedule)
    change: ChangeTest = BY_BODY
    orphans: str = "keep"
    park_after: float = 3 * health.DAY
    """A page is parked after it has been failing for this number of seconds."""
    sections: int = 0
    """The most sections of a host that are learned."""
    acting: Acting | None = field(default=None, compare=False)
    """The use of sections for new pages; None if sections do not change the order."""
    key_of: Callable[[str], str | None] | None = field(default=None, compare=False)
    """Returns the key of the page of a URL, if links follow canonicals; else None."""
