"""The options of the verbs that select pages: find, dump_pages, dump_links, top."""

from __future__ import annotations

from dataclasses import dataclass

from graphbrain.base.model import STATES
from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.numeric.methods import CASH, FORWARD, SCORES, UNINDEXED
from graphbrain.base.options.declare import declared

__all__ = ["MOST_TOP", "FindOptions", "LinkFilter", "PageFilter", "TopOptions"]

MOST_TOP = 10_000
_COUNT = Bounds(0, LARGEST)
_SCORES = ("authority", "hub", *UNINDEXED)
_KINDS = f"authority, hub, relevance, value, a live score ({', '.join(FORWARD)}) or a batch score ({', '.join(SCORES)})"


@dataclass(frozen=True, slots=True)
class PageFilter:
    """The pages that fit all that is given; None fits every page. These are all options of `dump_pages`."""

    regex: str | None = declared(None, "Only pages in whose URL this is found", metavar="RE", example="/news/")
    host: str | None = declared(None, "Only pages of this host", metavar="HOST", example="a.example")
    state: str | None = declared(None, "Only pages of this state", words=STATES, example="known")
    fetched: bool | None = declared(None, "Only pages that were, or never were, fetched", off="unfetched", example=True)


@dataclass(frozen=True, slots=True)
class FindOptions(PageFilter):
    """The options of `find`: the pages that fit, and the most of them."""

    text: str = declared("", "Only pages whose URL contains this", example="news")
    min_score: float | None = declared(
        None, "Only pages of at least this score", metavar="X", by_room=True, example=2.0
    )
    by: str = declared(
        "authority",
        f"The score: {_KINDS}",
        instead="authority",
        words=_SCORES,
        by_room=True,
        metavar="SCORE",
        example="authority",
    )
    limit: int | None = declared(None, "End after this number", instead="all", bounds=_COUNT, example=100)


@dataclass(frozen=True, slots=True)
class LinkFilter(PageFilter):
    """The options of `dump_links`: those of the pages whose links are wanted, and of the links."""

    between_hosts: bool = declared(False, "Only links to another host", example=False)


@dataclass(frozen=True, slots=True)
class TopOptions:
    """The options of `top`: the score, and the number of pages."""

    n: int = declared(10, "Number of pages", bounds=Bounds(0, MOST_TOP), example=10)
    by: str = declared(
        "authority",
        f"The score: {_KINDS}; or cash, the amount that waits on both sides",
        instead="authority",
        words=("authority", "hub", CASH, *UNINDEXED),
        by_room=True,
        metavar="SCORE",
        example="authority",
    )
