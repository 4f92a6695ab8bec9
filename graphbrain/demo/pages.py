"""The pages of the demo's web, their links and texts. The same seed gives the same web.

The web has five sites of topics, a directory of links, a lexicon and a diary, all on hosts under the reserved
`.example`. A site has articles, and a few guides that many pages link to. The guides are the authorities: their links
follow a Zipf law. Articles are linked to by preferential attachment. The pages of the directory are the hubs. The web
has the faults of the real one: dead links, a dead host, temporary errors, redirects, pages that change, validators,
links that are no URLs, broken HTML. web.py serves it.
"""

from __future__ import annotations

import html
import itertools
import posixpath
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from graphbrain.base.errors import BadInput

__all__ = ["FEWEST", "SEEDS", "TOPICS", "WebPage", "build", "render"]

Kind = Literal["page", "moved", "found", "flaky", "busy"]

FEWEST = 120  # pages that the fixed part and a few articles need
PER_LIST = 10  # articles on one list page
SEEDS = ("http://links.example/", "http://notes.example/")

_TOPICS = {
    "birds": (
        "owl heron wren kestrel swift robin kingfisher lapwing finch plover stork gull tern crane",
        (
            "{A} nests within sight of {b}.",
            "At dusk {a} calls and {b} answers.",
            "Few have ringed {a}.",
        ),
    ),
    "stars": (
        "nova comet nebula pulsar eclipse meteor galaxy quasar aurora zenith orbit moon vega",
        ("{A} rises an hour before {b}.", "Tonight {a} outshines {b}.", "We drew {a} by hand."),
    ),
    "bread": (
        "rye sourdough baguette brioche ciabatta spelt bagel focaccia pita bun crust yeast oven",
        ("{A} wants more heat than {b}.", "Knead {a} until {b} is done.", "My aunt swore by {a}."),
    ),
    "trains": (
        "viaduct signal tender tunnel sleeper express turntable railcar gauge depot siding",
        ("{A} is a year older than {b}.", "From here {a} hides {b}.", "They repainted {a}."),
    ),
    "gardens": (
        "rose compost orchard fern trellis iris mulch hedge tulip pond clover lavender thyme",
        ("{A} likes shade and {b} does not.", "Plant {a} beside {b}.", "Frost took {a} again."),
    ),
}
# topic → its things (six have a guide, four a lexicon entry), and phrases about one of them
TOPICS = {topic: (things.split(), sayings) for topic, (things, sayings) in _TOPICS.items()}
ODD_LINKS = (
    "mailto:keeper@links.example",
    "javascript:void(0)",
    "ftp://links.example/old.zip",
    "http://",
    "http://[broken/",
    "http://links.example/" + "long/" * 2000,
    "   http://birds.example/\t",
    "",
)


@dataclass(frozen=True, slots=True)
class WebPage:
    """One address of the web.

    Attributes:
        links: The links as written in its HTML.
        kind: The kind of its answers. `moved` and `found` redirect to `target` permanently (301) or temporarily (302).
            `flaky` answers 500 to its first `fails` requests, `busy` answers 503 with Retry-After.
        changing: Whether it has another body at every visit.
        validator: The validator that it sends. It answers 304 to a request with this validator.
    """

    url: str
    title: str
    topic: str = ""
    links: tuple[str, ...] = ()
    kind: Kind = "page"
    target: str = ""
    fails: int = 0
    changing: bool = False
    validator: Literal["", "etag", "date"] = ""


def build(seed: int, count: int) -> dict[str, WebPage]:
    """Return `count` pages by URL.

    Raises:
        BadInput: `count` is below `FEWEST`.
    """
    if count < FEWEST:
        raise BadInput(f"The web needs at least {FEWEST} pages, not {count}.")
    return _Builder(seed, count).build()


def render(page: WebPage, visit: int = 1) -> bytes:
    """Return the page's HTML. A changing page shows the number of the visit."""
    # Write the heading and a text about the topic.
    rng = random.Random(page.url)
    title = html.escape(page.title)
    lines = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>',
        f"<h1>{title}</h1>",
        f"<p>{_sentences(rng, page.topic, 3)}</p>",
    ]
    if page.changing:
        lines.append(f"<p>You are visitor number {visit}.</p>")
    # Write the links in broken markup, in a list, or each in a sentence.
    links = [f'<a href="{html.escape(href)}">{html.escape(_label(href))}</a>' for href in page.links]
    if page.links == ODD_LINKS:
        lines += ["<base href='http://[::'>", *links, "<p <a hre=f=>>", "<![bogus[ <a href='/never"]
    elif len(links) > 10:
        lines += ["<ul>", *(f"<li>{link}</li>" for link in links), "</ul>"]
    else:
        lines += [f"<p>{_sentences(rng, page.topic, 1)} See {link}.</p>" for link in links]
    return "\n".join([*lines, "</body></html>", ""]).encode()


def _sentences(rng: random.Random, topic: str, count: int) -> str:
    things, sayings = TOPICS[topic or rng.choice(list(TOPICS))]
    sentences = []
    for _ in range(count):
        one, two = rng.sample(things, 2)
        sentences.append(rng.choice(sayings).format(A=f"The {one}", a=f"the {one}", b=f"the {two}"))
    return " ".join(sentences)


def _label(href: str) -> str:
    path = href.split("#")[0].split("?utm")[0].rstrip("/")
    return path.rsplit("/", 1)[-1].replace("-", " ")[:60] or "here"


class _Builder:
    """The construction of the web from one random generator: first the fixed part, then articles up to `count`
    pages.

    Attributes:
        links: The URL of a page → the URLs that it links to.
        guides: Topic → its guides.
        entries: Topic → its entries in the lexicon.
        urns: Topic → its articles, each once, and once more for each link to it.
        lists: Name of a site → its list pages.
    """

    def __init__(self, seed: int, count: int) -> None:
        self.rng = random.Random(seed)
        self.count = count
        self.pages: dict[str, WebPage] = {}
        self.links: dict[str, list[str]] = {}
        self.guides: dict[str, list[str]] = {}
        self.entries: dict[str, list[str]] = {}
        self.urns: dict[str, list[str]] = {topic: [] for topic in TOPICS}
        self.lists: dict[str, list[str]] = {}

    def build(self) -> dict[str, WebPage]:
        self._lexicon()
        for topic in TOPICS:
            self._site(topic)
        self._directory()
        self._diary()
        self._oddities()
        sites = itertools.cycle([*TOPICS, "notes"])
        while len(self.pages) < self.count:
            self._article(next(sites))
        self._fill_directory()
        written = {url: self._written(url) for url in self.pages}
        return {url: replace(page, links=written[url]) for url, page in self.pages.items()}

    def _add(self, url: str, title: str, links: Sequence[str] = (), **more: Any) -> str:
        self.pages[url] = WebPage(url, title, **more)
        self.links[url] = list(links)
        return url

    def _lexicon(self) -> None:
        home = self._add("http://lexicon.example/", "The Lexicon")
        for topic, (things, _) in TOPICS.items():
            urls = [f"http://lexicon.example/{thing}" for thing in things[:4]]
            for url, thing in zip(urls, things, strict=False):
                links = [url, home, *self.rng.sample([u for u in urls if u != url], 2)]
                self._add(url, f"{thing.title()}", links, topic=topic, validator="etag")
            self.links[home] += urls
            self.entries[topic] = urls

    def _site(self, topic: str) -> None:
        root = f"http://{topic}.example"
        home = self._add(f"{root}/", f"All about {topic}", topic=topic, changing=True)
        guides = [f"{root}/guide/{thing}" for thing in TOPICS[topic][0][:6]]
        for rank, (url, thing) in enumerate(zip(guides, TOPICS[topic][0], strict=False)):
            links = [f"{url}#top", home, self.entries[topic][rank % 4], guides[rank - 1]]
            validator = ("date", "etag")[rank % 2]
            self._add(url, f"The {thing} guide", links, topic=topic, validator=validator)
        about = self._add(f"{root}/about", f"Who writes about {topic}", [home], topic=topic)
        self._add(f"{root}/links", f"{topic.title()} elsewhere", topic=topic)
        self.guides[topic] = guides
        self.links[home] = [about, f"{root}/links", *guides[:4]]

    def _directory(self) -> None:
        home = self._add("http://links.example/", "The directory of links")
        for topic in TOPICS:
            page = self._add(f"http://links.example/{topic}", f"Links: {topic}", topic=topic)
            self.links[home].append(page)
        best = self._add("http://links.example/best", "Links: the best of everything")
        odd = self._add("http://links.example/odd", "Links: found on the floor", ODD_LINKS)
        self.links[home] += [best, odd, "http://lexicon.example/"]

    def _diary(self) -> None:
        latest = "http://notes.example/latest"
        self._add("http://notes.example/", "Notes: a diary", [latest], changing=True)
        self._add(latest, "The latest note", kind="found", target="/today")
        self._add("http://notes.example/today", "Today", [self.guides["birds"][0]], changing=True)

    def _oddities(self) -> None:
        """Add permanent redirects, errors and dead links, each on a page that every crawl reaches."""
        for topic in ("birds", "stars", "bread"):
            root = f"http://{topic}.example"
            old = self._add(f"{root}/old", "Moved", kind="moved", target=self.guides[topic][0])
            self.links[f"{root}/"].append(old)
        moved = "http://lexicon.example/trains"
        self._add(moved, "Moved", kind="moved", target="http://trains.example/")
        dead = ["http://vanished.example/", "http://lexicon.example/zzz"]
        self.links["http://lexicon.example/"] += [moved, *dead]
        # Choose the pages that fail at first.
        for topic, word, title, kind, fails in (
            ("trains", "timetable", "Timetable", "flaky", 1),
            ("gardens", "calendar", "Calendar", "flaky", 2),
            ("bread", "today", "Bread of the day", "busy", 1),
        ):
            url, home = f"http://{topic}.example/{word}", f"http://{topic}.example/"
            self._add(url, title, [home], topic=topic, kind=kind, fails=fails)
            self.links[f"{home}about"].append(url)

    def _article(self, site: str) -> None:
        """Add one article to a topic's site, or one note, with links to the pages that have the most links."""
        # Find a list page for the article. A new list page may be the last page of the web.
        topic = site if site in TOPICS else self.rng.choice(list(TOPICS))
        root = f"http://{site}.example"
        contents = self._contents(root, topic, self.lists.setdefault(site, []))
        if len(self.pages) == self.count:
            return
        # Add the article, under a URL that is not in use.
        one, two = self.rng.sample(TOPICS[topic][0], 2)
        wish = f"{root}/{'articles' if site in TOPICS else '2025'}/{one}-and-{two}"
        url, again = wish, 1
        while url in self.pages:
            again += 1
            url = f"{wish}-{again}"
        validator = self.rng.choice(("", "", "etag", "date"))
        self._add(url, f"Of {one} and {two}", topic=topic, validator=validator)
        self.links[contents].append(url)
        # Link to popular guides and entries, and to articles in proportion to the links that these have.
        links = self._popular(self.guides[topic], self.rng.randint(1, 3))
        links += self._popular(self.entries[topic], self.rng.randint(0, 1))
        urn = self.urns[topic]
        links += dict.fromkeys(self.rng.choice(urn) for _ in range(self.rng.randint(1, 3)) if urn)
        if self.rng.random() < 0.05:
            links.append(f"{root}/lost/{one}")
        self.rng.shuffle(links)
        self.links[url] = links
        urn += [url, *(link for link in links if link in urn)]

    def _contents(self, root: str, topic: str, pages: list[str]) -> str:
        """Return the list page that has room for one more article. Add a new one if all are full."""
        if pages and len(self.links[pages[-1]]) <= PER_LIST:
            return pages[-1]
        number = len(pages) + 1
        url = f"{root}/list?page={number}"
        self._add(url, f"Contents, page {number}", [f"{root}/"], topic=topic, changing=number == 1)
        self.links[pages[-1] if pages else f"{root}/"].append(url)
        pages.append(url)
        return url

    def _fill_directory(self) -> None:
        """Add the links of the hubs. A topic's directory page links to its site, guides, entries and many articles."""
        for number, topic in enumerate(TOPICS):
            home = f"http://{topic}.example/"
            articles = [url for url in dict.fromkeys(self.urns[topic]) if url.startswith(home)]
            chosen = self.rng.sample(articles, min(len(articles), 15 + 2 * number))
            entries = [*self.guides[topic], *self.entries[topic]]
            directory = f"http://links.example/{topic}"
            other = self.guides[self.rng.choice([t for t in TOPICS if t != topic])][0]
            self.links[directory] = [home, *entries, *chosen]
            self.links[f"{home}links"] = [*entries, other, directory]
            self.links["http://links.example/best"] += [*self.guides[topic][:4], entries[6], entries[7]]

    def _popular(self, urls: Sequence[str], count: int) -> list[str]:
        """Return at most `count` different URLs. The n-th of `urls` is drawn with a weight of 1/n (Zipf)."""
        weights = [1 / rank for rank in range(1, len(urls) + 1)]
        return list(dict.fromkeys(self.rng.choices(urls, weights, k=count)))

    def _written(self, base: str) -> tuple[str, ...]:
        """Return the links of a page as its HTML has them: some are relative, repeated, or have tracking arguments."""
        if base.endswith("/odd"):
            return tuple(self.links[base])
        links = [self._href(base, url) for url in self.links[base]]
        if links and self.rng.random() < 0.15:
            links.append(self.rng.choice(links))
        return tuple(links)

    def _href(self, base: str, url: str) -> str:
        here, there = urlsplit(base), urlsplit(url)
        chance = self.rng.random()
        if chance < 0.06 and not there.fragment:
            return f"{url}#more"
        if chance < 0.12 and not there.query and here.netloc != there.netloc:
            return f"{url}?utm_source={here.netloc}&utm_medium=web"
        if chance < 0.18:
            return url.removeprefix("http:")
        if here.netloc != there.netloc or chance < 0.35:
            return url
        path = there.path
        if chance < 0.65:
            path = posixpath.relpath(path, posixpath.dirname(here.path))
        return urlunsplit(("", "", path, there.query, there.fragment))
