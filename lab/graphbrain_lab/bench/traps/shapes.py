"""The shapes by their names: traps, and honest sites that look like traps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphbrain.base.errors import BadInput
from graphbrain_lab.bench.traps import copies, drawn, endless, honest, lists
from graphbrain_lab.bench.traps.site import Build, TrapSite

__all__ = ["DRAWN", "LOOK_ALIKES", "SHAPES", "TRAPS", "TrapShape", "chosen", "site_of"]


@dataclass(frozen=True, slots=True)
class TrapShape:
    """A kind of site.

    Attributes:
        says: Its description, in a line.
        repeats: The pages whose text a trap's pages repeat, so that a fetch of one brings nearly nothing new. Empty for
            a site that is no trap.
    """

    name: str
    build: Build
    says: str
    repeats: str = ""

    @property
    def trap(self) -> bool:
        """Return True if the server makes pages up."""
        return bool(self.repeats)


_ITSELF = "the page itself"
_MONTH = "the calendar's first page"
_LIST = "the site's one list"

TRAPS: Sequence[TrapShape] = (
    TrapShape("facets-query", lists.FacetsByQuery, "lists by all combinations of facets, as arguments", _LIST),
    TrapShape("facets-path", lists.FacetsByPath, "the same in one step of the path", _LIST),
    TrapShape("facets-folder", lists.FacetsByFolder, "the same in folders, a list in each", _LIST),
    TrapShape("facets-crosswise", lists.FacetsCrosswise, "200 lists in folders that all name each other", _LIST),
    TrapShape("crosswise-path", lists.FacetsCrosswiseInOneFolder, "the same in one folder", _LIST),
    TrapShape("sort-orders", lists.SortOrders, "a list by any order, length, look and currency", _LIST),
    TrapShape("tag-cloud", lists.TagCloud, "150 tags and their combinations; each page has four", _LIST),
    TrapShape("searches", lists.Searches, "results of searches; each page names four", _LIST),
    TrapShape("calendar-path", endless.CalendarInPath, "empty days and months by path, without end", _MONTH),
    TrapShape("calendar-query", endless.CalendarInQuery, "the same by query, with views", _MONTH),
    TrapShape("pagination", endless.Pagination, "a list whose last page comes again and again", "the list's last page"),
    TrapShape(
        "soft-404", endless.SoftMissing, "links to old pages, answered by 200 and an excuse", "any other of them"
    ),
    TrapShape(
        "growing-path", endless.GrowingPath, "relative links that grow at each page", "the page of its last two steps"
    ),
    TrapShape("growing-slashes", endless.GrowingSlashes, "links with one slash more at each page", _ITSELF),
    TrapShape("growing-query", copies.GrowingQuery, "links to the page itself with one argument more", _ITSELF),
    TrapShape(
        "session-path", copies.SessionInPath, "links that carry a new session in the path, beside plain ones", _ITSELF
    ),
    TrapShape("session-query", copies.SessionInQuery, "the same in an argument of no known name", _ITSELF),
    TrapShape(
        "tracking", copies.Tracking, "links that name their place on the page, in an argument of no known name", _ITSELF
    ),
    TrapShape("print", copies.Print, "each page to be printed, and to be sent by mail", _ITSELF),
    TrapShape("mobile", copies.Mobile, "a mobile copy of the site in a folder, with canonical links", _ITSELF),
    TrapShape("replies", copies.Replies, "each page once for each comment, with canonical links", _ITSELF),
    TrapShape("redirects", copies.Attachments, "attachments of each page, which redirect to it for good", _ITSELF),
    TrapShape("mirrors", copies.Mirrors, "three copies of the site in folders", _ITSELF),
    TrapShape("cases", copies.Cases, "upper and lower case are the same to the server", _ITSELF),
    TrapShape("index-files", copies.IndexFiles, "each page under five names of an index, too", _ITSELF),
    TrapShape("wiki-past", endless.WikiPast, "histories, old revisions, diffs and sources of a wiki", _ITSELF),
)
LOOK_ALIKES: Sequence[TrapShape] = (
    TrapShape("dictionary", honest.Dictionary, "short articles on words, by letters"),
    TrapShape("products", honest.Products, "products that name twenty related ones each"),
    TrapShape("newspaper", honest.Newspaper, "articles by date, with pages for days and months"),
    TrapShape("forum", honest.Forum, "threads of some pages, with numbers in queries"),
    TrapShape("api-symbols", honest.Symbols, "modules, classes and methods, with few words"),
    TrapShape("gallery", honest.Gallery, "pictures with a dozen words of their own"),
    TrapShape("versions", honest.Versions, "documentation in four versions that do differ"),
    TrapShape("languages", honest.Languages, "a site in five languages"),
)
DRAWN: Sequence[TrapShape] = (
    TrapShape("drawn-trap", drawn.DrawnTrap, "a trap that the seed draws from a grammar", "a real page"),
    TrapShape("drawn-honest", drawn.DrawnHonest, "an honest site that the seed draws likewise"),
    TrapShape("drawn-mixed", drawn.DrawnMixed, "one with a trap beside it"),
)
"""Shapes that are crawled only if they are named. Each seed draws another site."""
SHAPES: Mapping[str, TrapShape] = {shape.name: shape for shape in (*TRAPS, *LOOK_ALIKES, *DRAWN)}


def chosen(names: Sequence[str]) -> list[TrapShape]:
    """Return the shapes of these names; without names all except the drawn ones. Raise BadInput for an unknown name."""
    if unknown := [name for name in names if name not in SHAPES]:
        raise BadInput(f"There is no shape {unknown[0]!r:.80}: name one of {', '.join(SHAPES)}.")
    return [SHAPES[name] for name in dict.fromkeys(names)] or [*TRAPS, *LOOK_ALIKES]


def site_of(shape: str, seed: int, size: int) -> TrapSite:
    """Return the site of this shape and seed, with about `size` real pages."""
    return SHAPES[shape].build(seed, size)
