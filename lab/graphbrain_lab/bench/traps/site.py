"""A generated site: real pages, which are worth a visit, and pages that the server makes up from their URLs.

A page is its template (header, menu, footer), which all pages of the site have, and a main part. `repeats` concerns the
main part, with its headings and the texts of its links.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from graphbrain.base.urls.normalization import normal
from graphbrain_lab.bench.traps import words

__all__ = ["Build", "Part", "TrapNode", "TrapPage", "TrapSite", "at", "query_of", "steps_of"]

FOOTER = 40
"""Number of words of the footer."""
LANGUAGES = ("en", "de", "fr", "es", "it")
"""The languages that pages in the invented languages declare."""
ACROSS, SECTIONS = (0, 1, 3), (1, 4, 8)
"""The possible numbers of links of a page to any others, and of pages of the tree that the menu names."""
LENGTH = (140, 240)
"""The least and the largest number of words of an ordinary page."""
FIRST, OTHERS = 36, (2, 4)
"""The words of a page's first paragraph, which lists quote; and the possible numbers of other paragraphs."""


@dataclass(frozen=True, slots=True)
class Part:
    """One block of a main part: a text, a link with its text, or both."""

    text: str = ""
    href: str = ""
    label: str = ""

    def words(self) -> str:
        """Return the text that a reader sees."""
        return f"{self.label} {self.text}".strip()

    def html(self) -> str:
        link = f'<a href="{html.escape(self.href)}">{html.escape(self.label)}</a>' if self.href else ""
        tag = "p" if self.text else "li"
        return f"<{tag}>{link} {html.escape(self.text)}</{tag}>"


@dataclass(frozen=True, slots=True)
class TrapPage:
    """The server's answer to one URL.

    Attributes:
        worth: True for a page of the site, False for one that was made up.
        repeats: URLs of the pages whose text a made-up page has.
        canonical: The URL of its `rel=canonical`, if it has one.
        moved_to: The target of its permanent redirect, if it is one. Such a page has no text.
    """

    title: str
    parts: tuple[Part, ...]
    worth: bool = False
    repeats: tuple[str, ...] = ()
    canonical: str = ""
    language: str = "en"
    moved_to: str = ""

    def main(self) -> list[str]:
        """Return the words of the main part, block by block."""
        return [self.title, *(part.words() for part in self.parts)]


@dataclass(slots=True)
class TrapNode:
    """A real page.

    Attributes:
        length: Its number of words.
        links: (href, text) of its links.
        index: True for a list of other pages, whose text may be theirs.
        cards: The URLs of pages that it shows with their first paragraphs.
        shared: A text that it has in common with others.
        language: The number of its invented language.
    """

    url: str
    title: str
    length: int = 150
    links: list[tuple[str, str]] = field(default_factory=list)
    index: bool = False
    cards: list[str] = field(default_factory=list)
    shared: str = ""
    language: int = 0


class TrapSite:
    """The pages of one host.

    `nodes`: its real pages by URL. `lures` returns the links of a real page to pages that the server makes up.
    `strange` returns the answer to a URL that no real page has, None for a 404.
    """

    def __init__(self, seed: int, size: int, name: str) -> None:
        self.seed, self.size = seed, size
        self.root = f"http://www.{name}-{seed}.example"
        self.dice = self.dice_of("site")
        self.nodes: dict[str, TrapNode] = {}
        self.menu: list[tuple[str, str]] = []
        self.own: frozenset[str] = frozenset()
        """The pages of the part of an honest site that looks like a trap; empty for other sites."""

    # ------------------------------------------------------------ the shape's part

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:  # noqa: ARG002
        """Links of a real page to pages that are made up."""
        return ()

    def strange(self, url: str) -> TrapPage | None:  # noqa: ARG002
        """Return the page that the server makes up for a URL; None for a 404."""
        return None

    # ------------------------------------------------------------ answers to a crawler

    @property
    def start(self) -> str:
        return f"{self.root}/"

    def page(self, url: str) -> TrapPage | None:
        """Return the answer to a URL in its normal form; None for a 404."""
        node = self.nodes.get(url)
        if node is None:
            return self.strange(url) if url.startswith(f"{self.root}/") else None
        lures = tuple(self.lures(node, self.dice_of(f"lures {url}")))
        return TrapPage(
            node.title, (*self.text(node), *self.links(node), *lures), worth=True, language=LANGUAGES[node.language]
        )

    def html(self, page: TrapPage) -> bytes:
        """Return a page as the server sends it."""
        canonical = f'<link rel="canonical" href="{html.escape(page.canonical)}">' if page.canonical else ""
        menu = "".join(f'<li><a href="{html.escape(url)}">{html.escape(text)}</a></li>' for url, text in self.menu)
        title, name = html.escape(page.title), urlsplit(self.root).netloc
        lines = [
            f'<!doctype html>\n<html lang="{page.language}"><head><meta charset="utf-8">',
            f"<title>{title} - {name}</title>{canonical}</head><body>",
            f'<header><p><a href="{self.start}">{name}</a></p><nav><ul>{menu}</ul></nav></header>',
            f"<main><h1>{title}</h1>",
            *(part.html() for part in page.parts),
            f"</main><footer><p>{html.escape(self.footer)}</p></footer></body></html>\n",
        ]
        return "\n".join(lines).encode()

    # ------------------------------------------------------------ parts of pages

    def dice_of(self, what: str) -> Random:
        """Return dice for one purpose. They are the same each time, and independent of others."""
        return Random(f"{self.seed} {what}")

    @cached_property
    def footer(self) -> str:
        """Return the text at the end of each page."""
        return words.sentences(self.dice_of("footer"), FOOTER)

    def text(self, node: TrapNode) -> tuple[Part, ...]:
        """Return the paragraphs of a real page."""
        dice = self.dice_of(f"text {node.url}")
        cards = tuple(self.card(url) for url in node.cards)
        shared = (Part(node.shared),) if node.shared else ()
        if node.length <= FIRST:
            return (Part(words.foreign(words.sentences(dice, node.length), node.language)), *shared, *cards)
        lead, rest, paragraphs = words.sentences(dice, FIRST), node.length - FIRST, dice.randint(*OTHERS)
        texts = [lead, *(words.sentences(dice, max(1, rest // paragraphs)) for _ in range(paragraphs))]
        return (*(Part(words.foreign(text, node.language)) for text in texts), *shared, *cards)

    def links(self, node: TrapNode) -> tuple[Part, ...]:
        """Return a block for each link of a real page."""
        return tuple(Part(href=href, label=label) for href, label in node.links)

    def card(self, url: str) -> Part:
        """Return a real page in a list: its title and its first paragraph."""
        node = self.nodes[url]
        lead = words.sentences(self.dice_of(f"text {url}"), min(FIRST, node.length))
        return Part(lead, url, node.title)

    def add(self, path: str, title: str, **more: object) -> TrapNode:
        """Add a real page, and return it. Its URL becomes the normal form."""
        url = normal(self.root + path)
        node = self.nodes[url] = TrapNode(url, title, **more)  # type: ignore[arg-type]
        return node

    def fresh(self, path: str, dice: Random | None = None, count: int = 2) -> tuple[str, str]:
        """Return a path below this one that no real page has, without slash or extension, and its title."""
        dice = dice or self.dice
        while True:
            title = words.name(dice, count)
            found = f"{path}{words.slug(title)}"
            if not any(normal(self.root + found + end) in self.nodes for end in ("", "/", ".html")):
                return found, title

    def tree(self, size: int, begin: str = "/") -> list[TrapNode]:
        """Generate real pages. Each names its parent, some pages below it, and a few elsewhere. The first is at
        `begin`.

        The number of links is drawn, and so is the form of URLs: paths of all steps or of the first and the last one,
        with `.html`, with a slash, or with neither.
        """
        dice = self.dice
        # Draw the form of the tree.
        branch, end, deep = dice.choice((3, 4, 6)), dice.choice((".html", "/", "")), dice.random() < 0.5
        across = dice.choice(ACROSS)
        nodes = [self.add(begin, words.name(dice, 3), length=dice.randint(*LENGTH))]
        stems = [begin]
        # Add pages below their parents.
        while len(nodes) < size:
            parent = (len(nodes) - 1) // branch
            first = "/".join(stems[parent].split("/")[:2]) + "/" if begin == "/" and parent else begin
            below = stems[parent] if deep or not parent else first
            path, title = self.fresh(below if below.endswith("/") else f"{below}/", dice)
            node = self.add(path + end, title, length=dice.randint(*LENGTH))
            nodes[parent].links.append((node.url, title))
            node.links.append((nodes[parent].url, nodes[parent].title))
            nodes.append(node)
            stems.append(path)
        # Add links elsewhere.
        for node in nodes[1:]:
            near = dice.sample(nodes, min(across, len(nodes)))
            node.links += [(other.url, other.title) for other in near if other is not node]
        return nodes

    def name_in_menu(self, tree: Sequence[TrapNode], *others: TrapNode) -> None:
        """Let the menu of the template name the first pages of the tree (a drawn number), and the others."""
        named = (*tree[: self.dice.choice(SECTIONS)], *others)
        self.menu = [(node.url, node.title) for node in named]


Build = Callable[[int, int], TrapSite]
"""A function from a seed and a number of real pages to a site."""


def at(path: str, arguments: Iterable[tuple[str, str]] = ()) -> str:
    """Return a path with a query."""
    query = urlencode(list(arguments))
    return quote(path, safe="/-._~:@!$&'()*+,;=%") + (f"?{query}" if query else "")


def query_of(url: str) -> dict[str, str]:
    """Return the arguments of a URL."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def steps_of(url: str) -> list[str]:
    """Return the steps of a URL's path."""
    return [step for step in urlsplit(url).path.split("/") if step]
