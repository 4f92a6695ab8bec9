"""Traps without end: calendars, lists that never end, paths that grow, dead links with answers, a wiki's history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from urllib.parse import urlsplit

from graphbrain_lab.bench.traps import words
from graphbrain_lab.bench.traps.site import Part, TrapNode, TrapPage, TrapSite, at, query_of, steps_of

__all__ = [
    "CalendarInPath",
    "CalendarInQuery",
    "GrowingPath",
    "GrowingSlashes",
    "Pagination",
    "SoftMissing",
    "WikiPast",
]


class Calendar(TrapSite):
    """A calendar in which nothing happens: each month names its days and its neighbours, without end.

    All its pages have the same text and other dates. `where`: the path of the month that the menu names, which is a
    real page.
    """

    where = "/events"
    today = (2026, 3)

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, type(self).__name__.lower())
        nodes = self.tree(size - 1)
        soon = [node.url for node in self.dice.sample(nodes[len(nodes) // 3 :], 10)]
        self.list = self.add(self.where, "Calendar of events", length=120, index=True, cards=soon)
        self.name_in_menu(nodes, self.list)

    def spelled(self, year: int, month: int, day: int = 0) -> str:
        """Return the path of a month, or of a day."""
        raise NotImplementedError

    def dated(self, url: str) -> list[int] | None:
        """Return the year, the month and the day, if any, of a URL; None if it is no page of the calendar."""
        raise NotImplementedError

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:  # noqa: ARG002
        return tuple(self._ways(*self.today)) if node is self.list else ()

    def _ways(self, year: int, month: int, day: int = 0) -> Iterator[Part]:
        for by in (-12, -1, 1, 12):
            there = 12 * year + month - 1 + by
            yield Part(href=self.spelled(there // 12, there % 12 + 1), label=f"{there % 12 + 1}/{there // 12}")
        days = range(1, 29) if not day else (each for each in (day - 1, day + 1) if 1 <= each <= 28)
        for each in days:
            yield Part(href=self.spelled(year, month, each), label=str(each))

    def strange(self, url: str) -> TrapPage | None:
        date = self.dated(url)
        if date is None or not 1 <= date[1] <= 12 or not all(1 <= day <= 28 for day in date[2:]):
            return None
        parts = (*self.text(self.list), *self._ways(*date))
        return TrapPage(f"Events {'-'.join(map(str, date))}", parts, repeats=(self.list.url,))


class CalendarInPath(Calendar):
    """A calendar with dates in the path: `/events/2026/3/14`."""

    def spelled(self, year: int, month: int, day: int = 0) -> str:
        return f"{self.where}/{year}/{month}" + (f"/{day}" if day else "")

    def dated(self, url: str) -> list[int] | None:
        first, *rest = steps_of(url) or [""]
        numbers = [int(each) for each in rest if each.isdecimal() and len(each) < 6]
        return numbers if f"/{first}" == self.where and len(numbers) == len(rest) and len(rest) in (2, 3) else None


class CalendarInQuery(Calendar):
    """A calendar with dates in the query, and views: `/events?year=2026&month=3&view=week`."""

    views = ("month", "week", "list")

    def spelled(self, year: int, month: int, day: int = 0) -> str:
        view = self.views[(year + month + day) % len(self.views)]
        days = [("day", str(day))] if day else []
        return at(self.where, [*days, ("month", str(month)), ("view", view), ("year", str(year))])

    def dated(self, url: str) -> list[int] | None:
        query = query_of(url)
        numbers = [query[name] for name in ("year", "month", "day") if name in query]
        valid = all(each.isdecimal() and len(each) < 6 for each in numbers) and {"year", "month"} <= query.keys()
        return [int(each) for each in numbers] if valid and urlsplit(url).path == self.where else None


class Pagination(TrapSite):
    """A list of a few pages whose "next" leads on without end: after the last page comes the last page again."""

    where, real, shown = "/archive", 5, 20

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, "pagination")
        lists = max(1, min(self.real, size // (3 * self.shown)))
        nodes = self.tree(size - lists)
        items = self.dice.sample(nodes[len(nodes) // 3 :], min(lists * self.shown, len(nodes) // 3))
        self.lists = []
        for number in range(1, lists + 1):
            shown = [node.url for node in items[self.shown * (number - 1) : self.shown * number]]
            self.lists.append(self.add(self._path(number), "Archive", length=20, index=True, cards=shown))
        self.name_in_menu(nodes, self.lists[0])

    def _path(self, number: int) -> str:
        return at(self.where, [("page", str(number))])

    def _ways(self, number: int) -> Iterator[Part]:
        for there in (number - 1, number + 1, number + 2, number + 5, number + 10):
            if there > 0:
                yield Part(href=self._path(there), label=str(there))

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:  # noqa: ARG002
        return tuple(self._ways(int(query_of(node.url)["page"]))) if node.index else ()

    def strange(self, url: str) -> TrapPage | None:
        number = query_of(url).get("page", "")
        if urlsplit(url).path != self.where or not number.isdecimal() or len(number) > 9:
            return None
        last = self.lists[-1]
        return TrapPage(last.title, (*self.text(last), *self._ways(int(number))), repeats=(last.url,))


class SoftMissing(TrapSite):
    """Links to missing pages. The answer is 200, with the same excuse, and with links to other missing pages."""

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, "softmissing")
        nodes = self.tree(size)
        self.popular = [(node.url, node.title) for node in self.dice.sample(nodes[len(nodes) // 3 :], 10)]
        self.excuse = words.sentences(self.dice, 70)
        self.name_in_menu(nodes)

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:  # noqa: ARG002
        return [self._gone(dice) for _ in range(3)]

    def _gone(self, dice: Random) -> Part:
        title = words.name(dice, 2)
        return Part(href=f"/old/{dice.randint(1998, 2012)}/{words.slug(title)}.html", label=title)

    def strange(self, url: str) -> TrapPage | None:
        if steps_of(url)[:1] != ["old"]:
            return None
        dice = self.dice_of(f"gone {url}")
        popular = (Part(href=href, label=label) for href, label in self.popular)
        parts = (Part(self.excuse), *popular, self._gone(dice), self._gone(dice))
        return TrapPage("Not found", parts, repeats=(f"{self.root}/old/2000/any.html",))


class GrowingPath(TrapSite):
    """Relative links in every page's text, without the slash that they need. The server uses only the last two steps.

    On the home page the links are right. `named`: the number of pages that they name. `written`: the links on another
    page.
    """

    named, written = 8, 4

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, "growingpath")
        nodes = self.tree(size - self.named)
        self.relative: dict[str, TrapNode] = {}
        for _ in range(self.named):
            path, title = self.fresh(f"/{words.slug(words.name(self.dice, 1))}/")
            self.relative[path[1:]] = self.add(path, title, length=150)
        self.name_in_menu(nodes)

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:
        return self._ways(dice, self.named if node.url == self.start else self.written)

    def _ways(self, dice: Random, count: int) -> list[Part]:
        paths = dice.sample(sorted(self.relative), count)
        return [Part(href=path, label=self.relative[path].title) for path in paths]

    def strange(self, url: str) -> TrapPage | None:
        node = self.relative.get("/".join(steps_of(url)[-2:]))
        if node is None:
            return None
        parts = (*self.text(node), *self._ways(self.dice_of(f"lures {url}"), self.written))
        return TrapPage(node.title, parts, repeats=(node.url,))


class GrowingSlashes(TrapSite):
    """Links whose path has one slash more than that of their page. The server ignores empty steps."""

    written = 4

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, "growingslashes")
        self.real_pages = self.tree(size)
        self.name_in_menu(self.real_pages)

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:  # noqa: ARG002
        return self._ways(dice, 1)

    def _ways(self, dice: Random, slashes: int) -> list[Part]:
        chosen = [(node, *node.url.rpartition("/")[::2]) for node in dice.sample(self.real_pages, self.written)]
        return [Part(href=f"{front}/{'/' * slashes}{last}", label=node.title) for node, front, last in chosen]

    def strange(self, url: str) -> TrapPage | None:
        path = urlsplit(url).path
        plain = re.sub("/{2,}", "/", path)
        node = self.nodes.get(f"{self.root}{plain}")
        if node is None:
            return None
        parts = (*self.text(node), *self._ways(self.dice_of(f"lures {url}"), len(path) - len(plain) + 1))
        return TrapPage(node.title, parts, repeats=(node.url,))


class WikiPast(TrapSite):
    """A wiki: each page has a history, old revisions, differences between two revisions, and its source.

    A line of a history quotes an addition of a revision. An old revision lacks a paragraph. A difference shows two
    paragraphs.
    """

    quoted, revisions = 25, (6, 30)

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, "wiki")
        titles: dict[str, None] = {}
        while len(titles) < size:
            titles[words.name(self.dice, 2).title().replace(" ", "_")] = None
        nodes = [
            self.add(f"/wiki/{title}", title.replace("_", " "), length=self.dice.randint(120, 240)) for title in titles
        ]
        for number, node in enumerate(nodes):
            below = nodes[4 * number + 1 : 4 * number + 5]
            elsewhere = self.dice.sample(nodes, min(4, len(nodes)))
            node.links = [(other.url, other.title) for other in (*below, *elsewhere) if other is not node]
        self.first = nodes[0]
        self.name_in_menu(nodes)

    @property
    def start(self) -> str:
        return self.first.url

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:  # noqa: ARG002
        name = node.url.rpartition("/")[2]
        return (self._way(name, "history", action="history"), self._way(name, "edit", action="edit"))

    def _way(self, name: str, label: str, **more: str) -> Part:
        return Part(href=at("/w/index.php", sorted({"title": name, **more}.items())), label=label)

    def _past(self, name: str) -> list[int]:
        dice = self.dice_of(f"past {name}")
        return sorted(dice.sample(range(1_000, 99_999), dice.randint(*self.revisions)), reverse=True)

    def strange(self, url: str) -> TrapPage | None:
        query = query_of(url)
        node = self.nodes.get(f"{self.root}/wiki/{query.get('title', '')}")
        if urlsplit(url).path != "/w/index.php" or node is None:
            return None
        name, text = query["title"], self.text(node)
        past = self._past(name)
        links: Sequence[Part] = ()
        if query.get("action") == "history":
            text, links = (*self._lines(text, past),), [way for number in past for way in self._of(name, number, past)]
        elif query.get("oldid", "").isdecimal():
            text, links = text[:-1], self._of(name, int(query["oldid"]), past)
        elif query.get("diff", "").isdecimal():
            text, links = text[:2], self._of(name, int(query["diff"]), past)
        elif query.get("action") != "edit":
            return None
        return TrapPage(node.title, (*text, *links), repeats=(node.url,))

    def _of(self, name: str, number: int, past: Sequence[int]) -> list[Part]:
        older = [each for each in past if each < number][:1]
        links = [self._way(name, "old", oldid=str(number))]
        links += [self._way(name, "changes", diff=str(number), oldid=str(each)) for each in older]
        return links + [self._way(name, "older", oldid=str(each)) for each in older]

    def _lines(self, text: Sequence[Part], past: Sequence[int]) -> Iterator[Part]:
        all_words = " ".join(part.text for part in text).split()
        for place, _ in enumerate(past):
            begin = place * self.quoted % len(all_words)
            yield Part(" ".join(all_words[begin : begin + self.quoted]))
