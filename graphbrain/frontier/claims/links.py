"""Requests for checks of links that leave the scope.

A check is a resource, and creates no page. The target of such a link is a page of the graph outside the scope, whose
URL is in the key of the check. Statements: resources/*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from graphbrain.base.model import RESOURCE_KEY
from graphbrain.frontier.claims import resources
from graphbrain.frontier.claims.link_state import LinkState, key_of
from graphbrain.frontier.hosts import politeness
from graphbrain.frontier.policy import Policy
from graphbrain.graph.connection import Tx

__all__ = ["ask", "outside"]


def outside(tx: Tx, first: int, last: int) -> list[str]:
    """Return the URLs outside the scope to which pages link, of the pages with these internal ids."""
    urls: list[str] = tx.one("resources/outside", first=first, last=last)[0]
    return urls


def ask(tx: Tx, urls: Iterable[str], before: float, policy: Policy, now: float) -> int:
    """Request the check of the URLs that were not checked after `before`. Return their number.

    URLs whose check waits or is claimed already are not counted. URLs that are too long for a claim are left out.
    """
    usable = [url for url in urls if re.fullmatch(RESOURCE_KEY, key_of(url))]
    if not usable:
        return 0
    resources.create(tx, {key_of(url): url for url in usable}, now)
    links = [one for one in resources.lock(tx, map(key_of, usable)).values() if isinstance(one, LinkState)]
    hosts = politeness.lock(tx, {one.host for one in links}, policy.manners, now)
    count = sum(one.ask(before, now) for one in links)
    resources.write(tx, links, hosts, now)
    return count
