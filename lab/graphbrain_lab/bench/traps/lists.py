"""Traps of lists: the same pages are listed again and again, by facets, orders, tags and queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from urllib.parse import urlsplit

from graphbrain_lab.bench.traps import words
from graphbrain_lab.bench.traps.site import Part, TrapNode, TrapPage, TrapSite, at, query_of, steps_of

__all__ = [
    "FacetsByFolder",
    "FacetsByPath",
    "FacetsByQuery",
    "FacetsCrosswise",
    "FacetsCrosswiseInOneFolder",
    "Searches",
    "SortOrders",
    "TagCloud",
]

ITEMS = (60, 100)
"""The least and the largest number of pages that the catalogue shows."""
SHOWN = 20
"""The number of these pages that a made-up list shows."""


class Listed(TrapSite):
    """A site whose menu names a list of some of its pages, each with its first paragraph.

    All other lists are made up, and show some of these pages again. `where`: the path of the list.
    """

    where = "/catalogue"

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, type(self).__name__.lower())
        nodes = self.tree(size - 1)
        count = min(self.dice.randint(*ITEMS), len(nodes) // 3)
        self.items = [node.url for node in self.dice.sample(nodes[len(nodes) // 3 :], count)]
        self.list = self.add(self.where, "All of the catalogue", length=20, index=True, cards=self.items)
        self.name_in_menu(nodes, self.list)

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:
        """Return links from the list to narrower lists."""
        return tuple(self.ways(node.url, dice)) if node is self.list else ()

    def ways(self, url: str, dice: Random) -> Iterable[Part]:
        """Return links from a list to others."""
        raise NotImplementedError

    def listing(self, url: str, title: str) -> TrapPage:
        """Return a made-up list of some items."""
        shown = self.shown(self.dice_of(f"list {url}"))
        cards = (self.card(item) for item in shown)
        return TrapPage(title, (*cards, *self.ways(url, self.dice_of(f"ways {url}"))), repeats=(self.list.url,))

    def shown(self, dice: Random) -> list[str]:
        """Return the items that a made-up list shows."""
        return dice.sample(self.items, min(SHOWN, len(self.items)))


class Facets(Listed):
    """Lists by any combination of values of some facets. Each names the lists with one value more or less."""

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size)
        dice = self.dice
        names = [words.name(dice, 1) for _ in range(dice.randint(4, 6))]
        self.facets = {name: sorted({words.name(dice, 1) for _ in range(dice.randint(6, 12))}) for name in names}

    def spelled(self, chosen: Mapping[str, str]) -> str:
        """Return the path of the list with these values (facet → value)."""
        raise NotImplementedError

    def chosen(self, url: str) -> dict[str, str] | None:
        """Return the values of the list at this URL (facet → value); None if there is no list."""
        raise NotImplementedError

    def ways(self, url: str, dice: Random) -> Iterator[Part]:  # noqa: ARG002
        chosen = self.chosen(url) or {}
        for facet, values in self.facets.items():
            for value in values:
                there = {name: each for name, each in chosen.items() if (name, each) != (facet, value)}
                there |= {} if chosen.get(facet) == value else {facet: value}
                yield Part(href=self.spelled(there), label=value)

    def strange(self, url: str) -> TrapPage | None:
        chosen = self.chosen(url)
        valid = chosen and all(value in self.facets.get(name, ()) for name, value in chosen.items())
        return self.listing(url, " ".join((chosen or {}).values())) if valid else None

    def in_order(self, chosen: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return the chosen facets and values, in the order of the site's facets."""
        return [(name, chosen[name]) for name in self.facets if name in chosen]


class FacetsByQuery(Facets):
    """A list whose facets are arguments of the query."""

    def spelled(self, chosen: Mapping[str, str]) -> str:
        return at(self.where, self.in_order(chosen))

    def chosen(self, url: str) -> dict[str, str] | None:
        return query_of(url) if urlsplit(url).path == self.where else None


class FacetsByPath(Facets):
    """Facets in one step of the path: `/catalogue/colour-red_size-large`."""

    def spelled(self, chosen: Mapping[str, str]) -> str:
        step = "_".join(f"{name}-{value}" for name, value in self.in_order(chosen))
        return at(f"{self.where}/{step}" if step else self.where)

    def chosen(self, url: str) -> dict[str, str] | None:
        steps = steps_of(url)
        if len(steps) != 2 or f"/{steps[0]}" != self.where:
            return None
        pairs = [each.partition("-") for each in steps[1].split("_")]
        return {name: value for name, _, value in pairs}


class FacetsByFolder(Facets):
    """Facets as folders, each list in a folder of its own: `/catalogue/colour-red/size-large/list.html`."""

    def spelled(self, chosen: Mapping[str, str]) -> str:
        steps = "/".join(f"{name}-{value}" for name, value in self.in_order(chosen))
        return at(f"{self.where}/{steps}/list.html" if steps else self.where)

    def chosen(self, url: str) -> dict[str, str] | None:
        steps = steps_of(url)
        if len(steps) < 3 or f"/{steps[0]}" != self.where or steps[-1] != "list.html":
            return None
        pairs = [each.partition("-") for each in steps[1:-1]]
        return {name: value for name, _, value in pairs}


class FacetsCrosswise(Listed):
    """Two hundred lists in separate folders. Each names all others, and all show the same pages."""

    count, end = 200, "/all.html"

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size)
        self.names = sorted({words.slug(words.name(self.dice, 2)) for _ in range(self.count)})

    def ways(self, url: str, dice: Random) -> Iterator[Part]:  # noqa: ARG002
        for name in self.names:
            yield Part(href=f"{self.where}/{name}{self.end}", label=name.replace("-", " "))

    def strange(self, url: str) -> TrapPage | None:
        name = url.removeprefix(f"{self.root}{self.where}/").removesuffix(self.end)
        if url != f"{self.root}{self.where}/{name}{self.end}" or name not in self.names:
            return None
        return self.listing(url, name.replace("-", " "))

    def shown(self, dice: Random) -> list[str]:  # noqa: ARG002
        return self.items[:SHOWN]


class FacetsCrosswiseInOneFolder(FacetsCrosswise):
    """Two hundred lists in one folder. Each names all others, and all show the same pages."""

    end = ""


class SortOrders(Listed):
    """The list by any order, number on a page, and look; each names those with one choice changed."""

    choices: Mapping[str, Sequence[str]] = {
        "sort": ("price", "name", "date", "rating", "stock"),
        "dir": ("asc", "desc"),
        "show": ("10", "20", "50", "100"),
        "view": ("grid", "list", "table"),
        "currency": ("eur", "usd", "gbp", "chf"),
    }

    def ways(self, url: str, dice: Random) -> Iterator[Part]:  # noqa: ARG002
        chosen = query_of(url)
        for name, values in self.choices.items():
            for value in values:
                if chosen.get(name) != value:
                    there = {**chosen, name: value}
                    yield Part(
                        href=at(self.where, [(each, there[each]) for each in self.choices if each in there]),
                        label=value,
                    )

    def strange(self, url: str) -> TrapPage | None:
        chosen = query_of(url)
        if urlsplit(url).path != self.where or not all(v in self.choices.get(k, ()) for k, v in chosen.items()):
            return None
        return self.listing(url, self.list.title)


class TagCloud(Listed):
    """A page for each tag and for each combination of tags; each page of the site has some tags."""

    tags = 150

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size)
        self.names = sorted({words.name(self.dice, 1) for _ in range(self.tags)})

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:
        count = 60 if node is self.list else 4
        return tuple(self._link([tag]) for tag in dice.sample(self.names, min(count, len(self.names))))

    def ways(self, url: str, dice: Random) -> Iterator[Part]:
        mine = steps_of(url)[-1].split("+")
        for tag in dice.sample(self.names, 12):
            yield self._link([tag])
            if tag not in mine:
                yield self._link(sorted([*mine, tag]))

    def _link(self, tags: Sequence[str]) -> Part:
        return Part(href=at(f"/tag/{'+'.join(tags)}"), label=" ".join(tags))

    def strange(self, url: str) -> TrapPage | None:
        steps = steps_of(url)
        if len(steps) != 2 or steps[0] != "tag" or not set(steps[1].split("+")) <= set(self.names):
            return None
        return self.listing(url, " ".join(steps[1].split("+")))


class Searches(Listed):
    """Results of searches. Each page names the searches of others."""

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:  # noqa: ARG002
        return tuple(self.ways("", dice))

    def ways(self, url: str, dice: Random) -> Iterator[Part]:  # noqa: ARG002
        for _ in range(4):
            query = words.name(dice, dice.randint(1, 3))
            yield Part(href=at("/search", [("q", query)]), label=query)

    def strange(self, url: str) -> TrapPage | None:
        query = query_of(url).get("q", "")
        return self.listing(url, f"Results for {query}") if urlsplit(url).path == "/search" and query else None
