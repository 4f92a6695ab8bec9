"""Honest sites that look like traps: pages with similar URLs or links, each with another text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from graphbrain_lab.bench.traps import words
from graphbrain_lab.bench.traps.site import TrapNode, TrapSite, at

__all__ = ["Dictionary", "Forum", "Gallery", "Languages", "Newspaper", "Products", "Symbols", "Versions"]

PLAIN = 0.5
"""The share of the pages that do not look like a trap. These are more pages than a crawl fetches, so that the others
may get no fetch."""
NAMED = 2
"""The number of pages of the part that looks like a trap that each ordinary page names."""


class Honest(TrapSite):
    """A site with an ordinary part, and a part that looks like a trap. The menu names the first pages of the latter,
    and each ordinary page names some pages of it."""

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, type(self).__name__.lower())
        nodes = self.tree(max(8, int(PLAIN * size)))
        before = set(self.nodes)
        entrance = self.build(size - len(nodes))
        self.own = frozenset(self.nodes.keys() - before)
        self.name_in_menu(nodes, *entrance)
        others = sorted(self.own)
        for node in nodes:
            node.links += [(url, self.nodes[url].title) for url in self.dice.sample(others, NAMED)]

    def build(self, count: int) -> Iterable[TrapNode]:
        """Add `count` pages that look like a trap. Return those that the menu names."""
        raise NotImplementedError

    def chain(self, nodes: Sequence[TrapNode]) -> None:
        """Link each page to the next page, and back."""
        for one, other in pairwise(nodes):
            one.links.append((other.url, "next"))
            other.links.append((one.url, "previous"))

    def under(self, parent: TrapNode, nodes: Iterable[TrapNode]) -> None:
        """Let the parent name these pages, and each of them name the parent."""
        for node in nodes:
            parent.links.append((node.url, node.title))
            node.links.append((parent.url, parent.title))

    def titles(self, count: int, words_each: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found[words.name(self.dice, words_each)] = None
        return list(found)


class Dictionary(Honest):
    """Short articles on words, by letters. Each names some others."""

    letters = 26

    def build(self, count: int) -> list[TrapNode]:
        letters = min(self.letters, max(1, count // 10))
        titles = sorted(self.titles(count - letters, 2))
        entries = [self.add(f"/word/{words.slug(title)}", title, length=self.dice.randint(40, 80)) for title in titles]
        pages = [self.add(f"/letter/{chr(97 + place)}", f"Words {place}", length=30) for place in range(letters)]
        for place, page in enumerate(pages):
            self.under(page, entries[place::letters])
        for node in entries:
            node.links += [(other.url, other.title) for other in self.dice.sample(entries, min(3, len(entries)))]
        self.chain(entries)
        self.chain(pages)
        return pages[:1]


class Products(Honest):
    """Products in categories. Each names twenty related ones."""

    related, each = 20, 35

    def build(self, count: int) -> list[TrapNode]:
        categories = max(1, count // (self.each + 1))
        titles = self.titles(count, 2)
        pages = [self.add(f"/category/{words.slug(title)}", title, length=40) for title in titles[:categories]]
        nodes = [
            self.add(f"/product/{number}-{words.slug(title)}", title, length=self.dice.randint(120, 180))
            for number, title in enumerate(titles[categories:], 1000)
        ]
        for place, page in enumerate(pages):
            self.under(page, nodes[place::categories])
        for node in nodes:
            near = self.dice.sample(nodes, min(self.related, len(nodes)))
            node.links += [(other.url, other.title) for other in near if other is not node]
        self.chain(pages)
        return pages[:3]


class Newspaper(Honest):
    """Articles by date, with a page for each day and month."""

    def build(self, count: int) -> list[TrapNode]:
        # Draw days from the latest one backwards, with their articles.
        months, days, page_count = list[TrapNode](), list[TrapNode](), 0
        while page_count < count:
            day = len(days)
            year, month, here = 2026 - day // 336, 12 - day // 28 % 12, 28 - day % 28
            if day % 28 == 0:
                months.append(self.add(f"/{year}/{month:02}/", f"Month {month} of {year}", length=40))
                page_count += 1
            page = self.add(f"/{year}/{month:02}/{here:02}/", f"Day {here} of {month}, {year}", length=50)
            days.append(page)
            self.under(months[-1], [page])
            articles = [self.fresh(f"/{year}/{month:02}/{here:02}/", count=3) for _ in range(self.dice.randint(2, 5))]
            self.under(page, [self.add(path, title, length=self.dice.randint(120, 260)) for path, title in articles])
            page_count += 1 + len(articles)
        # Chain days and months.
        self.chain(days)
        self.chain(months)
        return months[:1]


class Forum(Honest):
    """Threads of some pages each, in forums of many pages, with numbers in queries. Posts quote each other."""

    a_page = 25

    def build(self, count: int) -> list[TrapNode]:
        threads, page_count = list[TrapNode](), 0
        # Draw threads of one or more pages. The lists need the rest of `count`.
        while page_count < count - count // self.a_page - 1:
            number, title, quote = 100 + 7 * len(threads), words.name(self.dice, 3), words.sentences(self.dice, 24)
            pages = [
                self.add(
                    at("/viewtopic", [*([("start", str(20 * page))] if page else []), ("t", str(number))]),
                    title,
                    length=self.dice.randint(150, 320),
                    shared=quote,
                )
                for page in range(self.dice.choice((1, 1, 2, 3, 5)))
            ]
            self.chain(pages)
            threads.append(pages[0])
            page_count += len(pages)
        # List the threads.
        lists = [
            self.add(at("/viewforum", [("f", "3"), *([("start", str(begin))] if begin else [])]), "Threads", length=40)
            for begin in range(0, len(threads), self.a_page)
        ]
        for place, page in enumerate(lists):
            self.under(page, threads[place * self.a_page : (place + 1) * self.a_page])
        self.chain(lists)
        return lists[:1]


class Symbols(Honest):
    """An API: modules, classes and methods, a page each, with few words."""

    said = "Returns the value, or raises an error where there is none."

    def build(self, count: int) -> list[TrapNode]:
        # Draw modules, their classes, and the methods of these.
        index = self.add("/api/", "Index of modules", length=60)
        modules, classes, page_count = list[TrapNode](), list[TrapNode](), 1
        while page_count < count:
            module = "".join(words.name(self.dice, 2).split())
            page = self.add(f"/api/{module}.html", f"Module {module}", length=60)
            modules.append(page)
            page_count += 1
            for _ in range(min(self.dice.randint(1, 4), count - page_count)):
                name = f"{module}.{words.name(self.dice, 2).title().replace(' ', '')}"
                one = self.add(f"/api/{name}.html", f"Class {name}", length=50)
                self.under(page, [one])
                methods = dict.fromkeys(
                    words.name(self.dice, 2) for _ in range(min(self.dice.randint(3, 9), count - page_count))
                )
                each = [self._method(f"{name}.{words.slug(method).replace('-', '_')}") for method in methods]
                self.under(one, each)
                classes.append(one)
                page_count += 1 + len(each)
        # Link the modules from the index, and the classes from each other.
        self.under(index, modules)
        for one in classes:
            one.links += [(other.url, other.title) for other in self.dice.sample(classes, min(3, len(classes)))]
        return [index]

    def _method(self, name: str) -> TrapNode:
        return self.add(f"/api/{name}.html", name, length=self.dice.randint(40, 70), shared=self.said)


class Gallery(Honest):
    """Pictures, each with a dozen words of its own, in albums."""

    album = 40

    def build(self, count: int) -> list[TrapNode]:
        albums = max(1, count // (self.album + 1))
        titles = self.titles(count, 2)
        pages = [self.add(f"/album/{place + 1}", title, length=25) for place, title in enumerate(titles[:albums])]
        photos = [
            self.add(f"/photo/{number}", title, length=self.dice.randint(12, 16))
            for number, title in enumerate(titles[albums:], 40_000)
        ]
        for place, page in enumerate(pages):
            self.under(page, photos[place::albums])
        self.chain(photos)
        self.chain(pages)
        return pages[:1]


class Copied(Honest):
    """Several trees with the same names and other texts. Each page names its counterparts in the other trees."""

    def begins(self) -> Sequence[str]:
        """Return the folder of each tree."""
        raise NotImplementedError

    def share(self, nodes: Sequence[TrapNode]) -> None:
        """Give counterparts their common text. By default they have none."""

    def build(self, count: int) -> list[TrapNode]:
        begins = self.begins()
        size = count // len(begins)
        trees = [self.tree(size, begins[0])]
        for number, begin in enumerate(begins[1:], 1):
            trees.append([self._counterpart(node, begins[0], begin, number) for node in trees[0]])
        for nodes in zip(*trees, strict=True):
            self.share(nodes)
            for node in nodes:
                node.links += [(other.url, other.title) for other in nodes if other is not node]
        return [tree[0] for tree in trees]

    def _counterpart(self, node: TrapNode, begin: str, other: str, number: int) -> TrapNode:
        there = self.root + other
        copy = self.add(node.url.replace(self.root + begin, other, 1), node.title, length=node.length)
        copy.links = [(url.replace(self.root + begin, there, 1), title) for url, title in node.links]
        self.retitle(copy, number)
        return copy

    def retitle(self, node: TrapNode, number: int) -> None:
        """Change a counterpart's title. By default it stays."""


class Versions(Copied):
    """Documentation in four versions under the same names. The versions of a page have one paragraph in common."""

    def begins(self) -> Sequence[str]:
        return [f"/docs/{number}.0/" for number in (4, 3, 2, 1)]

    def share(self, nodes: Sequence[TrapNode]) -> None:
        shared = words.sentences(self.dice_of(f"shared {nodes[0].url}"), 24)
        for node in nodes:
            node.shared = shared


class Languages(Copied):
    """A site in five languages under the same names."""

    def begins(self) -> Sequence[str]:
        return [f"/{code}/" for code in ("en", "de", "fr", "es", "it")]

    def retitle(self, node: TrapNode, number: int) -> None:
        node.language = number
        node.title = words.foreign(node.title, number)
