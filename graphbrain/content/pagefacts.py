"""The facts that a page states about itself, read in one way by all crawlers: titles, descriptions, headings,
canonical, noindex, nofollow, language, hreflang, refresh, what it loads, and its structured data.

A parser of HTML calls `start`, `data` and `end`. The headers of the answer state further facts. Sources: WHATWG HTML
(`base`, `title`, the end of a head, `meta http-equiv=refresh`: "shared declarative refresh steps"), RFC 8288 (`Link`),
RFC 6596 (`rel=canonical`), and Google's "Robots meta tag, data-nosnippet, and X-Robots-Tag specifications" for the
directives that search engines share.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import resolved

__all__ = [
    "ASIDE",
    "ELEMENTS",
    "HEADERS",
    "INVALID",
    "ITEM_TYPES",
    "PageFacts",
    "canonical_in",
    "forbids",
    "refresh_in",
]

TEXTS = ("title", "h1", "script")
"""The elements whose text is read. Of a script that is if it holds structured data."""
FILES = {"img": "image", "script": "script", "video": "media", "audio": "media", "source": "media", "embed": "media"}
"""The elements that load a file, and its kind. A style sheet is a `link`."""
ELEMENTS = frozenset({"html", "base", "title", "link", "meta", "body", "h1", "form", *FILES})
"""The elements that hold facts of their page, and the one that ends its head. An element that names the type of an item
(`ITEM_TYPES`) holds one, too."""
ITEM_TYPES = {"itemtype": "microdata", "typeof": "rdfa"}
"""The attributes that name the types of an item, and their syntax."""
OF_HEAD = frozenset({"html", "base", "title", "link", "meta"}) | {
    *("head", "script", "style", "noscript", "template", "noframes", "basefont", "bgsound"),
}
"""The elements that a head may contain. Any other element begins the body."""
MOST_CANONICALS = 5
"""The most canonicals of a page that are kept if they contradict each other."""
MOST_TEXTS = 5
"""The most titles, descriptions or headings of a page."""
MOST_HREFLANG = 100
MOST_FILES = 200
"""The most files of each kind that are kept of a page."""
MOST_TYPES = 20
"""The most types of structured data that are kept of a page."""
LONGEST_ALT = 100
LONGEST_FILE_URL = 1_000
"""The most characters of the URL of a file that is kept."""
LONGEST_DATA = 1_000_000
"""The most characters of a block of JSON-LD that is parsed."""
INVALID = "invalid json-ld"
"""The word among the types of a page whose JSON-LD cannot be parsed."""
ASIDE = frozenset({"svg", "math", "template", "noscript", "iframe"})
"""Elements whose content is no fact of the page. The title in a drawing, for example, is that of the drawing."""
HEADERS = ("x-robots-tag", "link", "refresh")
"""The headers that hold facts of their page."""
VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
"""Directives with a value behind a colon. Any other word before a colon is the name of an agent."""
LONGEST = 100_000
"""The most characters that are read of a header or an attribute."""
_AGENT = re.compile(r"[a-z_*][\w*.-]*", re.ASCII | re.IGNORECASE)
_TARGET = re.compile(r"[\s,]*<([^>]*)>")
_PARAM = re.compile(
    r"""(?:\s*;)+\s*(?P<name>[\w!#$&+.^`|~*-]+)(?:\s*=\s*(?P<value>"(?:[^"\\]|\\.)*"|[^\s;,"]*))?""", re.ASCII
)
_REFRESH = re.compile(r"\s*(?P<seconds>\d+|(?=\.))[\d.]*(?=[;,\s]|$)\s*[;,]?\s*(?P<reference>.*)", re.DOTALL)
_URL = re.compile(r"url\s*=\s*(.*)", re.DOTALL | re.IGNORECASE)


class PageFacts:
    """The facts of one page.

    Args:
        base: The URL against which its references are resolved.
        headers: The values of the headers in `HEADERS`, by their names in lower case.
        agent: The crawler's name as in a robots.txt. Directives for other agents are ignored.
    """

    def __init__(self, url: str, headers: Mapping[str, Sequence[str]] | None = None, agent: str = "") -> None:
        self.base = self._url = url
        self._headers, self._agent = headers or {}, agent.lower()
        self._based = self._in_body = self._is_html = False
        self._aside = 0
        self._open: str | None = None
        """The element whose text is being read."""
        self._text: list[str] = []
        self._title: str | None = None
        self._titles: list[str] = []
        self._headings: list[str] = []
        self._descriptions: list[str] = []
        self._hreflang: list[tuple[str, str]] = []
        self._files: list[tuple[str, str, str | None]] = []
        self._of_kind: Counter[str] = Counter()
        self._types: dict[str, None] = {}
        self._canonicals: list[tuple[str, str]] = []
        self._refresh: tuple[float, str] | None = None
        self._language: str | None = None
        self._directives: list[str] = []

    def start(self, tag: str, attrs: Mapping[str, str | None]) -> None:
        """Process the start of an element. Names are in lower case."""
        self._is_html = True
        if not self._aside:
            self._in_body = self._in_body or tag not in OF_HEAD
        # Skip the content of templates, noscript and the like: it states nothing about this page.
        if tag in ASIDE:
            self._aside += 1
            return
        if self._aside:
            return
        for name in ITEM_TYPES.keys() & attrs.keys():
            self._take_types(ITEM_TYPES[name], (attrs.get(name) or "").split())
        if tag in TEXTS and self._open is None and (tag != "script" or _is_data(attrs)):
            self._open, self._text = tag, []
        elif tag == "html":
            self._language = self._language or attrs.get("lang") or attrs.get("xml:lang")
        elif tag == "base":
            self._take_base(attrs.get("href"))
        elif tag == "link":
            self._take_link(attrs)
        elif tag == "meta":
            self._take_meta(attrs)
        elif tag == "form":
            self._load("form", attrs.get("action"))
        elif tag in FILES:
            self._take_file(tag, attrs)

    def end(self, tag: str) -> None:
        """Process the end of an element."""
        if tag in ASIDE and self._aside:
            self._aside -= 1
        if tag == self._open:
            text, self._open = "".join(self._text), None
            if tag == "script":
                self._take_types("json-ld", _types_in(text))
            else:
                self._take_text(tag, " ".join(text.split()))

    @property
    def reads_text(self) -> bool:
        """True while the text of an element matters."""
        return self._open is not None

    def data(self, text: str) -> None:
        """Process a piece of text."""
        if self._open is not None and not self._aside:
            self._text.append(text)

    def arguments(self) -> dict[str, Any]:
        """Return what the page states, as arguments of a `Fetched`; `canonicals` and `titles` where these contradict
        each other. The lists of descriptions and headings may be empty: the page has none."""
        facts: dict[str, Any] = {
            "title": self._title,
            "noindex": self.forbids("noindex"),
            "nofollow": self.forbids("nofollow"),
        }
        facts |= {"language": self._language, **self._canonical_facts(), "hreflang": self._alternates()}
        facts |= {"requisites": self._requisites(), "structured": tuple(self._types)}
        if len(self._titles) > 1 or any(title.startswith("body ") for title in self._titles):
            facts["titles"] = tuple(self._titles)
        stated = {name: value for name, value in facts.items() if value}
        if self._is_html:
            stated |= {"descriptions": tuple(self._descriptions), "h1": tuple(self._headings)}
        return stated

    def _canonical_facts(self) -> dict[str, Any]:
        """Return the canonical: the first one that the head or a header states. Search engines ignore one in the body.

        If the page states several different ones, or one in its body, `canonicals` has all of them, each after its
        place.
        """
        stated = [(source, self._joined(self.base, reference)) for source, reference in self._canonicals]
        stated += [("header", self._joined(self._url, each)) for each in canonical_in(self._headers.get("link", ()))]
        urls = [url for source, url in stated if url and source != "body"]
        if len(set(urls)) <= 1 and all(source != "body" for source, url in stated if url):
            return {"canonical": urls[0] if urls else None}
        places = dict.fromkeys(f"{source} {url}" for source, url in stated if url)
        return {"canonical": urls[0] if urls else None, "canonicals": tuple(places)[:MOST_CANONICALS]}

    def forbids(self, directive: str) -> bool:
        """Return True if the page or a header has this directive for all crawlers, or for this one.

        `directive`: `noindex` or `nofollow`.
        """
        agents = {"", self._agent} - {"*"}
        return forbids(directive, self._directives, {""}) or forbids(
            directive, self._headers.get("x-robots-tag", ()), agents
        )

    def refresh(self) -> tuple[float, str] | None:
        """Return the seconds after which the page sends a browser to another URL, and that URL; None if it does not."""
        leads = self._refresh
        for header in self._headers.get("refresh", ()):
            leads = leads or refresh_in(header)
        if leads is None or not leads[1]:
            return None
        url = self._joined(self.base, leads[1])
        return None if url is None or not url.startswith(("http:", "https:")) else (leads[0], url)

    def _take_base(self, href: str | None) -> None:
        if href is None or self._based:
            return
        self._based = True  # as in HTML, only the first base counts, even if it is no URL
        url = self._joined(self._url, href)
        if url is not None and url.startswith(("http:", "https:")):
            self.base = url

    def _take_text(self, tag: str, text: str) -> None:
        """Take the text of a title or a heading. Only the first title counts, even if it is empty."""
        if tag == "h1":
            if text and len(self._headings) < MOST_TEXTS:
                self._headings.append(text)
            return
        self._title = text if self._title is None else self._title
        if text and len(self._titles) < MOST_TEXTS:
            self._titles.append(f"{self._place} {text}")

    @property
    def _place(self) -> str:
        return "body" if self._in_body else "head"

    def _take_link(self, attrs: Mapping[str, str | None]) -> None:
        words, href = (attrs.get("rel") or "").lower().split(), (attrs.get("href") or "").strip()
        if "canonical" in words and len(self._canonicals) < MOST_CANONICALS:
            self._canonicals.append((self._place, href))
        if "alternate" in words and (code := attrs.get("hreflang")) and not self._in_body:
            self._hreflang.append((code.strip(), href))
        if "stylesheet" in words:
            self._load("style", href)

    def _take_file(self, tag: str, attrs: Mapping[str, str | None]) -> None:
        """Take a file that the page loads. A page that loads its images late has the URL in another attribute."""
        source = attrs.get("src")
        if tag == "img" and (not source or source.lstrip()[:5].lower() == "data:"):
            source = attrs.get("data-src")
        alt = " ".join((attrs.get("alt") or "").split())[:LONGEST_ALT] if tag == "img" and "alt" in attrs else None
        self._load(FILES[tag], source, alt)

    def _load(self, kind: str, reference: str | None, alt: str | None = None) -> None:
        if reference and len(reference) <= LONGEST_FILE_URL and self._of_kind[kind] < MOST_FILES:
            self._of_kind[kind] += 1
            self._files.append((kind, reference.strip(), alt))

    def _requisites(self) -> tuple[str, ...]:
        """Return the files that the page loads, and where its forms send: kind, URL and, of an image that has one, the
        text in its place, with a space between."""
        requisites: dict[str, None] = {}
        for kind, reference, alt in self._files:
            url = self._joined(self.base, reference)
            if url is not None and url.startswith(("http:", "https:")):
                item = f"{kind} {url.partition('#')[0]}"
                requisites[item if alt is None else f"{item} {alt}"] = None
        return tuple(requisites)

    def _alternates(self) -> tuple[str, ...]:
        """Return the versions of the page in other languages: code and URL, with a space between."""
        stated = [(code, self._joined(self.base, reference)) for code, reference in self._hreflang[:MOST_HREFLANG]]
        for target, params in _links_in(self._headers.get("link", ())):
            if "alternate" in params.get("rel", "").lower().split() and params.get("hreflang"):
                stated.append((params["hreflang"].strip(), self._joined(self._url, target)))
        return tuple(dict.fromkeys(f"{code} {url}" for code, url in stated if code and url))[:MOST_HREFLANG]

    def _take_types(self, syntax: str, types: Iterable[str]) -> None:
        for name in types:
            if len(self._types) < MOST_TYPES:
                self._types[name if name == INVALID else f"{syntax} {_short(name)}"] = None

    def _take_meta(self, attrs: Mapping[str, str | None]) -> None:
        name, content = (attrs.get("name") or "").strip().lower(), (attrs.get("content") or "")[:LONGEST]
        if name == "description" and (text := " ".join(content.split())) and len(self._descriptions) < MOST_TEXTS:
            self._descriptions.append(text)
        if name == "robots" or (self._agent and name == self._agent):
            self._directives.append(content)
        if (attrs.get("http-equiv") or "").strip().lower() == "refresh" and self._refresh is None:
            self._refresh = refresh_in(content)

    @staticmethod
    def _joined(base: str, reference: str | None) -> str | None:
        if not reference:
            return None
        with suppress(BadInput):  # it is no URL
            return resolved(base, reference)
        return None


def forbids(directive: str, values: Iterable[str], agents: Iterable[str]) -> bool:
    """Return True if one of these lists of directives has the directive for one of the agents.

    A list is `noindex, max-image-preview:none`, or in a header `googlebot: noindex, otherbot: none`. The name of an
    agent applies to the directives that follow it, up to the next name. Directives before any name apply to all agents.

    Args:
        directive: `noindex`, which forbids to index a page, or `nofollow`, which forbids to follow its links. The
            directive `none` means both.
        agents: Names of crawlers. The empty name selects the directives for all agents.
    """
    names = {agent.lower() for agent in agents}
    for value in values:
        agent = ""
        for piece in value[:LONGEST].split(","):
            word, colon, rest = (part.strip() for part in piece.partition(":"))
            # A word before a colon is a directive with a value, or the name of an agent.
            if colon and word.lower() in VALUED:
                continue
            if colon and _AGENT.fullmatch(word):
                agent = "" if word == "*" else word.lower()
                word = rest
            if word.lower() in (directive, "none") and agent in names:
                return True
    return False


def canonical_in(values: Iterable[str]) -> Iterator[str]:
    """Yield the targets of rel=canonical in `Link` headers, as written."""
    for target, params in _links_in(values):
        if "canonical" in params.get("rel", "").lower().split():
            yield target


def _links_in(values: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the targets of `Link` headers, as written, each with its parameters. A link with an anchor is not the
    page's own.

    The headers are read by RFC 8288, appendix B.2 and B.3: links and parameters may be empty, and the first of several
    rel counts.
    """
    for value in values:
        position, text = 0, value[:LONGEST]
        # A link is its target and its parameters. A comma ends it.
        while target := _TARGET.match(text, position):
            position, params = target.end(), dict[str, str]()
            while param := _PARAM.match(text, position):
                position = param.end()
                params.setdefault(param["name"].lower(), re.sub(r"\\(.)", r"\1", (param["value"] or "").strip('"')))
            if not params.get("anchor") and target[1].strip():
                yield target[1].strip(), params
            comma = text.find(",", position)
            if comma < 0:
                break
            position = comma + 1


def _is_data(attrs: Mapping[str, str | None]) -> bool:
    """Return whether a script holds structured data."""
    return (attrs.get("type") or "").partition(";")[0].strip().lower() == "application/ld+json"


def _types_in(text: str) -> list[str]:
    """Return the types of the items in a block of JSON-LD, outer ones first; `INVALID` for a block that is no JSON."""
    if len(text) > LONGEST_DATA:
        return []
    try:
        nodes = [json.loads(text)]
    except (ValueError, RecursionError):
        return [INVALID] if text.strip() else []
    # Walk through the values, level by level.
    types: dict[str, None] = {}
    while nodes and len(types) < MOST_TYPES:
        deeper: list[Any] = []
        for node in nodes:
            stated = node.get("@type") if isinstance(node, dict) else None
            types |= {
                name: None for name in (stated if isinstance(stated, list) else [stated]) if isinstance(name, str)
            }
            deeper += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        nodes = deeper
    return list(types)


def _short(name: str) -> str:
    """Return the name of a type without the address of schema.org."""
    return re.sub(r"^https?://(?:www\.)?schema\.org/|^schema:", "", name)[:100]


def refresh_in(content: str) -> tuple[float, str] | None:
    """Return the seconds and the reference of a refresh, or None for a text that is none. An empty reference reloads
    the page."""
    matched = _REFRESH.match(content[:LONGEST])
    if matched is None:
        return None
    reference = matched["reference"]
    if named := _URL.match(reference):
        reference = named[1]
    if reference[:1] in ("'", '"'):
        reference = reference[1:].partition(reference[0])[0]
    return float(matched["seconds"] or 0), reference.strip()
