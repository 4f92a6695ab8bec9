"""What stands in a brain's database, read with the bare driver: nothing of graphbrain takes part.

`Exported.web` is what the linear oracle needs, made from the nodes and links themselves; the rest
is what the brain wrote about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import neo4j
import numpy as np

from tests.reference.linear import Floats, Web, intra_host_weights

__all__ = ["Exported", "export"]

_PAGES = "MATCH (p:Page) RETURN properties(p) AS page ORDER BY p.url"
_LINKS = "MATCH (p:Page)-[:LINKS]->(q:Page) RETURN p.url AS source, q.url AS target"


@dataclass(frozen=True)
class Exported:
    """A whole brain: `pages` are the properties of each, by URL; `web` numbers them in that order."""

    pages: list[dict[str, Any]]
    web: Web

    @property
    def urls(self) -> list[str]:
        """The URL of each page."""
        return [page["url"] for page in self.pages]

    @property
    def links(self) -> set[tuple[str, str]]:
        """The links by URL."""
        urls = self.urls
        pairs = zip(self.web.sources.tolist(), self.web.targets.tolist(), strict=True)
        return {(urls[a], urls[b]) for a, b in pairs}

    @property
    def number(self) -> dict[str, int]:
        """URL → the page's number."""
        return {url: number for number, url in enumerate(self.urls)}

    def column(self, name: str, usual: float | None = None) -> Floats:
        """One property of every page, `usual` where it is absent."""
        values = [page.get(name, usual) for page in self.pages]
        return np.array(values, dtype=np.float64)

    @property
    def hub(self) -> Floats:
        """The hub scores that the accounts say."""
        return self.column("hub_history") + self.column("hub_cash")

    @property
    def authority(self) -> Floats:
        """The authority scores that the accounts say."""
        return self.column("authority_history") + self.column("authority_cash")


def export(server: Any, intra_host_weight: float = 1.0) -> Exported:
    """Read the whole database of the server under test (the fixture `neo4j`)."""
    auth = (server.user, server.password)
    with neo4j.GraphDatabase.driver(server.uri, auth=auth) as driver:
        rows = driver.execute_query(_PAGES, database_="neo4j").records
        pairs = driver.execute_query(_LINKS, database_="neo4j").records
    pages = [dict(row["page"]) for row in rows]
    number = {page["url"]: place for place, page in enumerate(pages)}
    sources = np.array([number[pair["source"]] for pair in pairs], dtype=np.int64)
    targets = np.array([number[pair["target"]] for pair in pairs], dtype=np.int64)
    told = [page.get("relevance") for page in pages]
    web = Web(
        len(pages),
        sources,
        targets,
        np.array([np.nan if value is None else value for value in told], dtype=np.float64),
        np.array([page.get("payout", 1.0) for page in pages], dtype=np.float64),
        intra_host_weights([page["host"] for page in pages], sources, targets, intra_host_weight),
    )
    return Exported(pages, web)
