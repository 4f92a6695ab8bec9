"""The facts that a page states about itself, read in one way by all crawlers: title, canonical, noindex, nofollow,
language, refresh.

A parser of HTML calls `start`, `data` and `end`. The headers of the answer state further facts. Sources: WHATWG HTML
(`base`, `title`, the end of a head, `meta http-equiv=refresh`: "shared declarative refresh steps"), RFC 8288 (`Link`),
RFC 6596 (`rel=canonical`), and Google's "Robots meta tag, data-nosnippet, and X-Robots-Tag specifications" for the
directives that search engines share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import resolved

__all__ = ["ASIDE", "ELEMENTS", "HEADERS", "PageFacts", "canonical_in", "forbids", "refresh_in"]

ELEMENTS = frozenset({"html", "base", "title", "link", "meta", "body"})
"""The elements that hold facts of their page, and the one that ends its head."""
OF_HEAD = (ELEMENTS - {"body"}) | {
    *("head", "script", "style", "noscript", "template", "noframes", "basefont", "bgsound"),
}
"""The elements that a head may contain. Any other element begins the body."""
MOST_CANONICALS = 5
"""The most canonicals of a page that are kept if they contradict each other."""
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
        self._based = self._in_title = False
        self._aside = 0
        self._title: list[str] | None = None
        self._in_body = False
        self._canonicals: list[tuple[str, str]] = []
        self._refresh: tuple[float, str] | None = None
        self._language: str | None = None
        self._directives: list[str] = []

    def start(self, tag: str, attrs: Mapping[str, str | None]) -> None:
        """Process the start of an element. Names are in lower case."""
        if not self._aside:
            self._in_body = self._in_body or tag not in OF_HEAD
        # Skip the content of templates, noscript and the like: it states nothing about this page.
        if tag in ASIDE:
            self._aside += 1
        elif self._aside:
            return
        elif tag == "title":
            self._in_title = self._title is None
            self._title = [] if self._title is None else self._title
        elif tag == "html":
            self._language = self._language or attrs.get("lang") or attrs.get("xml:lang")
        elif tag == "base":
            self._take_base(attrs.get("href"))
        elif tag == "link":
            self._take_link(attrs)
        elif tag == "meta":
            self._take_meta(attrs)

    def end(self, tag: str) -> None:
        """Process the end of an element."""
        self._in_title = self._in_title and tag != "title"
        if tag in ASIDE and self._aside:
            self._aside -= 1

    def data(self, text: str) -> None:
        """Process a piece of text."""
        if self._in_title and self._title is not None:
            self._title.append(text)

    def arguments(self) -> dict[str, Any]:
        """Return the title, canonical, noindex, nofollow and language that the page states, as arguments of a
        `Fetched`, and its `canonicals` where these contradict each other."""
        title = None if self._title is None else " ".join("".join(self._title).split())
        facts = {"title": title, "noindex": self.forbids("noindex"), "nofollow": self.forbids("nofollow")}
        facts |= {"language": self._language, **self._canonical_facts()}
        return {name: value for name, value in facts.items() if value}

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

    def _take_link(self, attrs: Mapping[str, str | None]) -> None:
        if "canonical" not in (attrs.get("rel") or "").lower().split() or len(self._canonicals) >= MOST_CANONICALS:
            return
        self._canonicals.append(("body" if self._in_body else "head", (attrs.get("href") or "").strip()))

    def _take_meta(self, attrs: Mapping[str, str | None]) -> None:
        name, content = (attrs.get("name") or "").strip().lower(), (attrs.get("content") or "")[:LONGEST]
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
    """Yield the targets of rel=canonical in `Link` headers, as written. A link with an anchor is not the page's own.

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
            own = not params.get("anchor")
            if own and "canonical" in params.get("rel", "").lower().split() and target[1].strip():
                yield target[1].strip()
            comma = text.find(",", position)
            if comma < 0:
                break
            position = comma + 1


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
