"""Pages as browsers read them that run no scripts: which answers are pages, the base of their references, and their
elements.

All that is taken of a page (links, requisites, facts, a field for a password) comes from one `Document`, so that all
parts agree on it. Sources: WHATWG HTML (`base`, `template`, `iframe srcdoc`), WHATWG URL (the charset of a query), and
WHATWG Fetch ("extract a MIME type").
"""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeGuard
from urllib.parse import quote
from weakref import WeakKeyDictionary

from lxml import etree
from parsel.selector import create_root_node
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils import response as responses

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import resolved
from graphbrain.content.pagefacts import ASIDE, ELEMENTS, PageFacts

__all__ = ["Document", "Joined", "as_page", "is_markup", "links_of", "media_type", "true_coding"]

PLACES = {"a": "href", "area": "href", "iframe": "src", "frame": "src"}
"""The elements that lead to other pages, and the attribute with the URL."""
NO_PAGES = ("javascript:", "mailto:", "tel:", "data:", "blob:", "about:", "sms:")
LARGE = 1 << 20
"""Bytes of a body beyond which it is parsed only up to `MOST_ELEMENTS`."""
MOST_ELEMENTS = 200_000
"""Elements of a large page that are read: a tree takes thirty times the memory of its text."""
PIECE = 1 << 16
"""Bytes of a large page that are parsed at a time."""
SPECIAL = ("/.", ":", "//", "\\", "\t", "\n", "\r")
"""Parts of a reference that must be parsed."""
MOST_DEEP = 3
"""Documents within documents that are read."""
MOST_BEFORE_ROOT = 10_000
"""Comments and the like before the first element of an XML document that are skipped."""
XHTML = "http://www.w3.org/1999/xhtml"
_MEDIA_TYPE = re.compile(r"[\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+", re.ASCII)
_BEFORE_ROOT = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>", re.DOTALL | re.IGNORECASE)
_HTML_ROOT = re.compile(r"<html\s[^>]*>")

log = logging.getLogger(__name__)


class Document:
    """One document, parsed: that of a page, or one within it (`iframe srcdoc`).

    Args:
        root: The root of its tree.
        url: The URL against which its base is resolved.
        encoding: The charset in which its queries are written.
    """

    def __init__(self, root: Any, url: str, encoding: str, depth: int = 0) -> None:
        self.root, self._encoding, self._depth = root, encoding, depth
        self.base = _base_of(root, url)
        self.join = Joined(self.base, encoding)
        """The target of each reference, by its text."""

    @classmethod
    def of(cls, response: TextResponse) -> Document:
        """Return the document of a page, which is parsed once. Its base is handed to Scrapy."""
        if (document := _DOCUMENTS.get(response)) is None:
            _hand_over(response, response.url)  # Scrapy's own selector raises at a base that names no URL
            document = _DOCUMENTS[response] = cls(_root_of(response), response.url, response.encoding)
            _hand_over(response, document.base)
        return document

    def elements(self, *tags: str) -> Iterator[tuple[Any, Document]]:
        """Yield the elements with these names, or all, each with its document, in their order.

        What is within a template is no part of the page. What is within `noframes` is, and so is the document of an
        iframe's `srcdoc`, which takes the place of its `src`.
        """
        aside = {node for template in self.root.iter("template") for node in template.iter()}
        for node in self.root.iter(*(tags or ("*",)), "iframe", "noframes"):
            if node in aside:
                continue
            inner = self._within(node)
            if inner is not None:
                yield from inner.elements(*tags)
            if (not tags or node.tag in tags) and (inner is None or node.tag != "iframe"):
                yield node, self

    def has_password_field(self) -> bool:
        """Return whether the page asks for a password."""
        return any((node.get("type") or "").strip().lower() == "password" for node, _ in self.elements("input"))

    def state(self, facts: PageFacts) -> None:
        """Give the elements that state facts of the page to their reader."""
        for node in self.root.iter(*ELEMENTS):
            if any(above.tag in ASIDE for above in node.iterancestors()):
                continue
            facts.start(node.tag, node.attrib)
            if node.tag == "title":
                facts.data("".join(node.itertext()))
                facts.end("title")

    def _within(self, node: Any) -> Document | None:
        """Return the document that an element has as text; None if it has none."""
        text = node.get("srcdoc") if node.tag == "iframe" else node.text if node.tag == "noframes" else None
        if not text or self._depth >= MOST_DEEP:
            return None
        return Document(create_root_node(text, etree.HTMLParser), self.base, self._encoding, self._depth + 1)


_DOCUMENTS: WeakKeyDictionary[Response, Document] = WeakKeyDictionary()


def _hand_over(response: Response, base: str) -> None:
    """Let Scrapy take this as the base of a page: it looks for one in the first 4,096 characters alone, by a pattern.

    It remembers the base of each response. Where a version of it does so no more, it goes on as before.
    """
    bases: dict[Response, str] | None = getattr(responses, "_baseurl_cache", None)
    if bases is not None:
        bases[response] = base


def _base_of(root: Any, url: str) -> str:
    """Return the base of a document: the first `base` counts, wherever it is, and none within another element's."""
    facts = PageFacts(url)
    for node in root.iter("base"):
        if not any(above.tag in ASIDE for above in node.iterancestors()):
            facts.start("base", node.attrib)
    return facts.base


def _root_of(response: TextResponse) -> Any:
    """Return the root of a page's tree. A large page is parsed in pieces, as far as its elements are not too many."""
    if len(response.body) <= LARGE:
        return response.selector.root
    decoder = codecs.getincrementaldecoder(response.encoding)("replace")
    parser = etree.HTMLPullParser(events=("start",), recover=True, encoding="utf8", huge_tree=True)
    elements = 0
    for start in range(0, len(response.body), PIECE):
        parser.feed(decoder.decode(response.body[start : start + PIECE]).replace("\x00", "").encode("utf8", "replace"))
        elements += sum(1 for _ in parser.read_events())
        if elements > MOST_ELEMENTS:
            log.info("%s has more than %d elements: the rest is not read.", response.url, MOST_ELEMENTS)
            break
    root = parser.close()
    return create_root_node("", etree.HTMLParser) if root is None else root


def links_of(response: TextResponse) -> dict[str, tuple[str, str]]:
    """Return (text, rel) of each link of a page by its URL, in their order.

    Of several links to one URL the first text counts, and the words of rel that all of them have.
    """
    links: dict[str, tuple[str, frozenset[str]]] = {}
    for node, document in Document.of(response).elements(*PLACES):
        href = node.get(PLACES[node.tag])
        if not href or href.lstrip()[:11].lower().startswith(NO_PAGES):
            continue
        # Without its fragment: pages have hundreds of links to places in themselves.
        front, mark, fragment = href.strip().partition("#")
        kept = f"#{fragment}" if mark and fragment.startswith("!") else ""
        if not (url := document.join[front.strip() or "#"].partition("#")[0]):
            continue
        url += kept
        words = frozenset(rel.lower().split()) if (rel := node.get("rel")) else frozenset[str]()
        before = links.get(url)
        if before is None or not before[0]:
            text = " ".join(((node.text or "") if not len(node) else "".join(node.itertext())).split())
        else:
            text = before[0]
        links[url] = text, words if before is None else words & before[1]
    return {url: (text, " ".join(sorted(words))) for url, (text, words) in links.items()}


class Joined(dict[str, str]):
    """The targets of the references of a document, as by `resolved`, without parsing those that need no parsing: a page
    has hundreds of links, many of them twice. Empty for what is no URL.

    Letters of a query that are not ASCII are escaped in the charset of the document, as browsers do.
    """

    def __init__(self, base: str, encoding: str = "utf-8") -> None:
        super().__init__()
        self._base = base
        self._encoding = "utf-8" if encoding.lower().startswith(("utf", "ucs")) else encoding
        self._page = base.partition("#")[0]
        path = self._page.partition("?")[0]
        self._origin = "/".join(path.split("/", 3)[:3])
        self._folder = path[: path.rindex("/") + 1] if path.count("/") > 2 else path + "/"

    def __missing__(self, href: str) -> str:
        url = self._joined(href.strip())
        self[href] = url = url if url.isascii() else self._escaped(url)
        return url

    def _joined(self, href: str) -> str:
        first, path = href[:1], href.partition("#")[0]
        if first == "#" and len(href) > 1:
            return self._page + href
        if href.startswith(("http://", "https://")):
            return href
        # Dots may mean folders, a colon may end a scheme, two slashes begin a host, and what is empty is left out.
        if first not in "?;." and not any(part in path for part in SPECIAL) and href[-1] not in "?#;":
            return (self._origin if first == "/" else self._folder) + href
        try:
            return resolved(self._base, href)
        except BadInput:
            return ""

    def _escaped(self, url: str) -> str:
        """Return a URL whose query is ASCII. A letter that the charset lacks is written as in HTML."""
        front, mark, fragment = url.partition("#")
        front, asks, query = front.partition("?")
        letters = (c if c.isascii() else quote(c.encode(self._encoding, "xmlcharrefreplace"), "") for c in query)
        return f"{front}{asks}{''.join(letters)}{mark}{fragment}"


# ---------------------------------------------------------------- which answers are pages


def is_markup(response: Response) -> TypeGuard[TextResponse]:
    """Return whether an answer has elements. JSON has none, nor has a text whose header names JSON."""
    return isinstance(response, TextResponse) and hasattr(response.selector.root, "iter")


def media_type(values: Iterable[str]) -> str | None:
    """Return the content type that counts of those of an answer: the last one, of several in one header, too.

    `*/*`, and a text that is no type, count only where there is nothing else.
    """
    given = [one.strip() for value in values for one in value.split(",")]
    types = [one for one in given if _MEDIA_TYPE.match(one) and not one.startswith("*/*")]
    return types[-1] if types else next(iter(given), None)


def as_page(response: Response) -> Response:
    """Return an answer as the page that browsers show of it, with its base known to Scrapy; other answers unchanged.

    XHTML is a page whatever type of XML its header names, and so is HTML whose header has its type twice.
    """
    if not isinstance(response, HtmlResponse):
        named = (media_type(_types_of(response)) or "").partition(";")[0].strip().lower()
        if named == "text/html" or (named.endswith(("/xml", "+xml")) and _is_xhtml(response)):
            response = response.replace(cls=HtmlResponse)
    if isinstance(response, HtmlResponse):
        Document.of(response)
    return response


def _types_of(response: Response) -> list[str]:
    return [value.decode("latin-1") for value in response.headers.getlist("Content-Type")]


def _is_xhtml(response: Response) -> bool:
    """Return whether the first element of a document is that of XHTML."""
    if not isinstance(response, TextResponse):
        return False
    text, at = response.text.removeprefix("\ufeff"), 0
    for _ in range(MOST_BEFORE_ROOT):
        if (skipped := _BEFORE_ROOT.match(text, at)) is None:
            break
        at = skipped.end()
    root = _HTML_ROOT.match(text, at)
    return root is not None and XHTML in root[0]


def true_coding(response: Response) -> Response:
    """Return an answer without the label gzip if its body is none: a plain body under that label is one."""
    labels = [
        one.strip().lower() for value in response.headers.getlist("Content-Encoding") for one in value.split(b",")
    ]
    if labels and labels[-1] in (b"gzip", b"x-gzip") and response.body and response.body[:2] != b"\x1f\x8b":
        response.headers.setlist("Content-Encoding", labels[:-1])
        if not labels[:-1]:
            del response.headers["Content-Encoding"]
    return response
