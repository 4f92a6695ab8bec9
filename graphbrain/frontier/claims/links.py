"""Checks of links that leave the scope: which URLs are asked for their status, and since when.

A check is a resource, and makes no page. Pages outside the scope are in the graph where links lead to them; a check has
the URL of such a page in its key.
Statements: resources/*.
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
    """Let these URLs be checked that were not checked after `before`; return how many.

    One whose check waits or is claimed already is not counted. One that is longer than the URL of a claim may be is
    left out.
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
