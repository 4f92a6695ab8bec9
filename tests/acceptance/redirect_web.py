"""A web of redirects that a seed draws from a grammar, and what a crawl of it must know, by plain dictionaries.

A form is a chain of one to four redirects, for good and for now in any order, and the end to which it leads. Such an
end may lead to itself with a new cookie. The form's first page is linked from none to three pages, by an absolute or a
relative address, and listed in a sitemap or not. Nothing of graphbrain takes part in what is expected.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from dataclasses import dataclass, field

HOST, OTHER, EXCLUDED = (f"http://{name}.example" for name in ("forms", "other", "excluded"))
FOR_GOOD, FOR_NOW = (301, 308), (302, 303, 307)
WITH_PAGE = ("page", "other", "excluded", "fragment", "refresh", "relative")
"""Ends that are a page of the form's own."""
WITH_COOKIE = {"cookie for good": 301, "cookie for now": 302}
"""Ends that lead to themselves with a new cookie."""
ENDS = (*WITH_PAGE, *WITH_COOKIE, "missing", "circle", "itself", "nowhere", "shared")
FORMS = 52
"""Each end with each length: thirteen ends, four lengths."""
LINKING = 3

Row = tuple[object, ...]


@dataclass
class Forms:
    """The web: `links` of its pages, `steps` of those that redirect (status, target as it is sent), `missing` pages,
    those that lead to another by a refresh, those that want a cookie (status), and those that a sitemap lists."""

    links: dict[str, list[str]] = field(default_factory=dict)
    steps: dict[str, tuple[int, str]] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    refresh: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, int] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)

    @classmethod
    def drawn(cls, seed: int, *, jar: bool) -> Forms:
        """The web, as a crawler with a jar for cookies gets to know it, or one without."""
        web, dice = cls(), random.Random(seed)
        home, shared = f"{HOST}/", f"{HOST}/shared"
        linking = [f"{HOST}/links/{number}" for number in range(LINKING)]
        web.links = {home: [*linking], shared: [home], **{page: [home] for page in linking}}
        web.listed = [f"{HOST}/alone"]
        web.links[f"{HOST}/alone"] = [home]
        for number in range(FORMS):
            first = web._form(f"{HOST}/{number}", ENDS[number % len(ENDS)], number % 4 + 1, dice, jar)
            named = dice.sample(linking, dice.choice((0, 1, 1, 2, 3)))
            for page in named:
                web.links[page].append(first)
            if not named or dice.random() < 0.2:
                web.listed.append(first)
        return web

    def _form(self, place: str, kind: str, length: int, dice: random.Random, jar: bool) -> str:
        """Add a chain, and return its first page."""
        chain = [f"{place}/step/{step}" for step in range(length)]
        ends = {
            "other": f"{OTHER}{place.removeprefix(HOST)}",
            "excluded": f"{EXCLUDED}{place.removeprefix(HOST)}",
            "circle": chain[0],
            "itself": chain[-1],
            "nowhere": "mailto:ann@forms.example",
            "shared": f"{HOST}/shared",
        }
        end = ends.get(kind, f"{place}/end")
        if kind in WITH_COOKIE:
            self.cookies[end] = WITH_COOKIE[kind]
            if not jar:
                self.steps[end] = self.cookies[end], end
        if kind in WITH_PAGE or (kind in WITH_COOKIE and jar):
            self.links[end] = [f"{HOST}/"]
        if kind == "missing":
            self.missing.add(end)
        if kind == "refresh":
            self.refresh[end] = f"{HOST}/shared"
        sent = {"fragment": f"{end}#part", "relative": "../end"}.get(kind, end)
        for page, target in zip(chain, [*chain[1:], sent], strict=True):
            # Five pages that lead to one for now would be a wall.
            kinds = (FOR_GOOD,) if kind == "shared" else (FOR_GOOD, FOR_NOW)
            self.steps[page] = dice.choice(dice.choice(kinds)), target
        return chain[0]

    # ------------------------------------------------------------------------------------ what is to be known

    def goes(self, page: str) -> str | None:
        """Where a page redirects; None where it does not, or not to another page of the web."""
        if page not in self.steps:
            return None
        target = self.steps[page][1].partition("#")[0]
        if target.startswith("../"):
            target = page.rpartition("/step/")[0] + "/" + target.removeprefix("../")
        return None if target == page or target.startswith("mailto:") else target

    def way(self, page: str) -> list[str]:
        """The page and all to which it leads; the last one stands twice where it is a circle."""
        way = [page]
        while (on := self.goes(way[-1])) is not None:
            way.append(on)
            if on in way[:-1]:
                break
        return way

    def circles(self, page: str) -> bool:
        way = self.way(page)
        return way[-1] in way[:-1]

    def fails(self, page: str) -> bool:
        """Whose visit brings neither a page nor another address."""
        return page in self.missing or (page in self.steps and self.goes(page) is None)

    def for_good(self, page: str) -> bool:
        return self.goes(page) is not None and self.steps[page][0] in FOR_GOOD

    def goal(self, page: str) -> str:
        """Where a link ends: the redirects for good are gone along; the page itself if they have no end."""
        at, seen = page, {page}
        while self.for_good(at):
            at = str(self.goes(at))
            if at in seen:
                return page
            seen.add(at)
        return at

    def named(self) -> list[tuple[str, str]]:
        """(page, address that it names), of all links of pages that are fetched. A refresh is a link."""
        pairs = [(page, name) for page, names in self.links.items() for name in names]
        return [pair for pair in [*pairs, *self.refresh.items()] if not pair[0].startswith(EXCLUDED)]

    def broken_links(self) -> set[Row]:
        return {(on, name) for on, name in self.named() if self.fails(self.way(name)[-1]) or self.circles(name)}

    def links_to_redirects(self) -> set[Row]:
        found = set[Row]()
        for on, name in self.named():
            if self.for_good(name):
                way, circle = self.way(name), self.circles(name)
                to = None if circle else next(page for page in way if not self.for_good(page))
                found.add((on, name, None if circle else len(way) - 1, to, tuple(way[1:])))
        return found

    def chains(self) -> set[Row]:
        """Chains of two steps and more; a circle from the least of its pages."""
        reached = {self.goes(page) for page in self.steps}
        ways = [tuple(self.way(page)) for page in self.steps]
        return {
            (way, way[-1] in way[:-1])
            for way in ways
            if len(way) > 2 and (way[0] not in reached or (way[-1] == way[0] == min(way)))
        }

    def redirects(self) -> set[Row]:
        by_name = defaultdict(set)
        for on, name in self.named():
            by_name[name].add(on)
        return {(page, self.goes(page), len(by_name[page])) for page in self.steps if self.for_good(page)}

    def in_links(self) -> dict[str, int]:
        """Of each page that is no alias, the pages that link to it, or to an alias of it."""
        sources = defaultdict(set)
        for on, name in self.named():
            if self.goal(name) != on:
                sources[self.goal(name)].add(on)
        return {page: len(sources[page]) for page in self.pages() if not self.for_good(page)}

    def pages(self) -> set[str]:
        return {*self.links, *self.steps, *self.missing}

    def clicks(self) -> dict[str, int]:
        """A link costs a click, a redirect none."""
        near, queue = {f"{HOST}/": 0}, deque([f"{HOST}/"])
        while queue:
            page = queue.popleft()
            on = self.goes(page)
            names = [name for source, name in self.named() if source == page]
            for end, cost in [(on, 0)] if on else [(name, 1) for name in names]:
                if near[page] + cost < near.get(end, 99):
                    near[end] = near[page] + cost
                    (queue.append if cost else queue.appendleft)(end)
        return near

    def orphans(self) -> set[str]:
        """Pages with a content of their own, or that fail, to which neither link nor redirect leads."""
        led = {self.goes(page) for page in self.steps} | {name for _, name in self.named()}
        return {page for page in self.pages() if page not in led and self.goes(page) is None}

    def coverage(self) -> tuple[int, int]:
        """How many pages the sitemap lists, and how many of them redirect, also to themselves or to no page."""
        return len(self.listed), sum(page in self.steps for page in self.listed)

    def states(self) -> dict[str, str]:
        return {
            page: "outside" if page.startswith(EXCLUDED)
            else "alias" if self.for_good(page)
            else "frontier" if self.fails(page)
            else "known"
            for page in self.pages()
        }  # fmt: skip

    def answer(self, url: str, cookies: str) -> tuple[int, dict[str, str], str]:
        """What the web answers to a request with these cookies: status, headers, HTML."""
        ticket = f"{url.removeprefix(HOST).replace('/', '-')}=1"
        if url in self.cookies and ticket not in cookies:
            return self.cookies[url], {"Location": url, "Set-Cookie": f"{ticket}; Path=/"}, ""
        if url in self.steps:
            status, target = self.steps[url]
            return status, {"Location": target}, ""
        if url not in self.links:
            return 404, {}, "<title>404</title><p>There is no such page.</p>"
        head = f'<meta http-equiv="refresh" content="0; url={self.refresh[url]}">' if url in self.refresh else ""
        anchors = " ".join(f'<a href="{name}">to {name}</a>' for name in self.links[url])
        return 200, {}, f"<!doctype html><title>{url}</title>{head}<p>This is {url}.</p>{anchors}"
