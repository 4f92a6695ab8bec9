"""The options of the verbs that select pages, find, dump_pages, dump_links, top; and of the one that sets values of a
page, set_page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphbrain.base.model import STATES
from graphbrain.base.numeric.bounds import LARGEST, Bounds
from graphbrain.base.numeric.methods import CASH, FORWARD, SCORES, UNINDEXED
from graphbrain.base.options.declare import declared, options_of

__all__ = ["MOST_TOP", "PAGE_VALUES", "FindOptions", "LinkFilter", "PageFilter", "PageOptions", "TopOptions"]

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


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The options of `set_page`. None is the default."""

    value: float | None = declared(
        ..., "Its worth to you, which counts under value=own", bounds=Bounds(0, 1e12), by_room=True, example=3.5
    )
    rate: float | None = declared(
        ..., "How often it changes, in changes a day", bounds=Bounds(1e-6, 1e6), by_room=True, example=0.5
    )
    interval: float | None = declared(
        ..., "Seconds between its visits, whatever it is worth", bounds=Bounds(1, 1e9), by_room=True, example=3_600
    )
    relevance: float | None = declared(
        ..., "How near it is to the topic, 0 to 1", bounds=Bounds(0, 1), by_room=True, example=0.9
    )
    payout: float | None = declared(
        ..., "What it is paid for being there", bounds=Bounds(0, 1e9, below=True), by_room=True, example=2.0
    )


PAGE_VALUES: Mapping[str, Bounds] = {
    name: option.bounds for name, option in options_of(PageOptions).items() if option.bounds is not None
}
"""The values of a page that can be set, each with its range."""
