"""A reader of pages that agrees with a browser without scripts on what is a page, on its base URL and its elements.

Links, requisites, facts and password fields of a page are all read from one `Document`, so that all parts of the code
see the same page. Sources: WHATWG HTML (`base`, `template`, `iframe srcdoc`), WHATWG URL (the charset of a query), and
WHATWG Fetch ("extract a MIME type").
"""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Iterable, Iterator
from html.entities import html5
from typing import Any, TypeGuard
from urllib.parse import quote
from weakref import WeakKeyDictionary

from lxml import etree
from parsel.selector import create_root_node
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.utils import response as responses

from graphbrain.base.errors import BadInput
from graphbrain.base.urls.normalization import resolved
from graphbrain.content.pagefacts import ASIDE, ELEMENTS, ITEM_TYPES, PageFacts

__all__ = ["Document", "Joined", "as_page", "asks_for_password", "is_markup", "links_of", "media_type", "true_coding"]

PLACES = {"a": "href", "area": "href", "iframe": "src", "frame": "src"}
"""The elements that lead to other pages, and the attribute with the URL."""
NO_PAGES = ("javascript:", "mailto:", "tel:", "data:", "blob:", "about:", "sms:")
LARGE = 1 << 20
"""Most bytes of a body that is parsed in full. Of a larger one the first `MOST_ELEMENTS` elements are read."""
MOST_ELEMENTS = 200_000
"""Most elements of a large page that are read: a tree takes thirty times the memory of its text."""
PIECE = 1 << 16
"""Bytes of a large page that are parsed at a time."""
SPECIAL = ("/.", ":", "//", "\\", "\t", "\n", "\r")
"""A reference that contains one of these must be parsed to be resolved."""
MOST_DEEP = 3
"""Most levels of documents within documents that are read."""
MOST_BEFORE_ROOT = 10_000
"""Most comments, spaces and declarations that are skipped before the first element of an XML document."""
XHTML = "http://www.w3.org/1999/xhtml"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_ITEMS = etree.XPath(f"descendant-or-self::*[{' or '.join(f'@{name}' for name in ITEM_TYPES)}]")
"""The elements that name the type of an item."""
_MEDIA_TYPE = re.compile(r"[\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+", re.ASCII)
_BEFORE_ROOT = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>", re.DOTALL | re.IGNORECASE)
_ENTITY = re.compile(r"&(?!amp;|lt;|gt;|quot;|apos;)(\w+;)")
"""An entity that XML does not have without the definition of XHTML."""
_HTML_ROOT = re.compile(r"<(?:[\w.-]+:)?html\s[^>]*>")

log = logging.getLogger(__name__)


class Document:
    """A parsed document: that of a page, or one within it (`iframe srcdoc`).

    Args:
        root: The root of its tree.
        url: The URL against which its base is resolved.
        encoding: The charset in which the queries of its references are escaped.
        depth: The number of documents that contain it.
    """

    def __init__(self, root: Any, url: str, encoding: str, depth: int = 0) -> None:
        self.root, self._encoding, self._depth = root, encoding, depth
        self.base = _base_of(root, url)
        self.join = Joined(self.base, encoding)
        """Reference in the document → its URL."""

    @classmethod
    def of(cls, response: TextResponse) -> Document:
        """Return the document of a page, which is parsed once, and set its base in Scrapy."""
        if (document := _DOCUMENTS.get(response)) is None:
            _set_base(response, response.url)  # Scrapy's selector, which parses, raises at a base that names no URL
            document = _DOCUMENTS[response] = cls(_root_of(response), response.url, response.encoding)
            _set_base(response, document.base)
        return document

    def elements(self, *tags: str) -> Iterator[tuple[Any, Document]]:
        """Yield the elements with these names, or all elements, each with its document, in document order.

        Elements within a `template` are left out. Those within `noframes` are included, and so are those of the
        document in the `srcdoc` of an iframe, which takes the place of its `src`.
        """
        in_templates = {node for template in self.root.iter("template") for node in template.iter()}
        for node in self.root.iter(*(tags or ("*",)), "iframe", "noframes"):
            if node in in_templates:
                continue
            inner = self._within(node)
            if inner is not None:
                yield from inner.elements(*tags)
            if (not tags or node.tag in tags) and (inner is None or node.tag != "iframe"):
                yield node, self

    def state(self, facts: PageFacts) -> None:
        """Pass the elements that state facts of the page to `facts`."""
        items = (node for node in _ITEMS(self.root) if node.tag not in ELEMENTS)
        for node in (*self.root.iter(*ELEMENTS), *items):
            if any(above.tag in ASIDE for above in node.iterancestors()):
                continue
            facts.start(node.tag, node.attrib)
            if facts.reads_text:
                facts.data("".join(node.itertext()))
                facts.end(node.tag)

    def _within(self, node: Any) -> Document | None:
        """Return the document that an iframe or a `noframes` element contains as text; None if there is none."""
        text = node.get("srcdoc") if node.tag == "iframe" else node.text if node.tag == "noframes" else None
        if not text or self._depth >= MOST_DEEP:
            return None
        return Document(create_root_node(text, etree.HTMLParser), self.base, self._encoding, self._depth + 1)


_DOCUMENTS: WeakKeyDictionary[Response, Document] = WeakKeyDictionary()


def _set_base(response: Response, base: str) -> None:
    """Set the base of a page in Scrapy's cache: Scrapy itself searches only the first 4,096 characters for it.

    If a version of Scrapy has no such cache, nothing is set.
    """
    bases: dict[Response, str] | None = getattr(responses, "_baseurl_cache", None)
    if bases is not None:
        bases[response] = base


def _base_of(root: Any, url: str) -> str:
    """Return the base of a document: that of its first `base` element outside templates and the like."""
    facts = PageFacts(url)
    for node in root.iter("base"):
        if not any(above.tag in ASIDE for above in node.iterancestors()):
            facts.start("base", node.attrib)
    return facts.base


def _root_of(response: TextResponse) -> Any:
    """Return the root of a page's tree. XHTML with a type of XML is parsed as XML, unless it is not well-formed. A
    large page is parsed in pieces, until it has `MOST_ELEMENTS` elements."""
    if len(response.body) <= LARGE:
        is_xhtml = isinstance(response, HtmlResponse) and _is_xml(response)
        root = _xhtml_root(response.text) if is_xhtml else None
        return response.selector.root if root is None else root
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


def _xhtml_root(text: str) -> Any:
    """Return the root of an XHTML document, whose elements have their names in HTML, without namespace and prefix. None
    for a text that is not well-formed."""
    text = _ENTITY.sub(lambda entity: html5.get(entity[1], entity[0]), text)
    parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None
    for node in root.iter(f"{{{XHTML}}}*"):
        node.tag = etree.QName(node).localname
    if language := root.get(XML_LANG):
        root.set("lang", language)
    return root


def links_of(response: TextResponse) -> dict[str, tuple[str, str]]:
    """Return URL → (text, rel) for the links of a page, in document order. The text of a link without text is that of
    its images (`alt`).

    If several links have one URL, its text is the first that is not empty, and its rel has the words that all of them
    have.
    """
    links: dict[str, tuple[str, frozenset[str]]] = {}
    for node, document in Document.of(response).elements(*PLACES):
        href = node.get(PLACES[node.tag])
        if not href or href.lstrip()[:11].lower().startswith(NO_PAGES):
            continue
        # Drop the fragment, because it names a place in the same page. One that begins with "!" is part of the URL.
        front, mark, fragment = href.strip().partition("#")
        hash_bang = f"#{fragment}" if mark and fragment.startswith("!") else ""
        if not (url := document.join[front.strip() or "#"].partition("#")[0]):
            continue
        url += hash_bang
        # Merge the link with earlier ones to the same URL.
        words = frozenset(rel.lower().split()) if (rel := node.get("rel")) else frozenset[str]()
        earlier_text, earlier_words = links.get(url, ("", words))
        text = earlier_text or _text_of(node)
        links[url] = text, words & earlier_words
    return {url: (text, " ".join(sorted(words))) for url, (text, words) in links.items()}


def _text_of(link: Any) -> str:
    """Return the text of a link, or without any that of its images."""
    if not len(link):
        return " ".join((link.text or "").split())
    text = " ".join("".join(link.itertext()).split())
    return text or " ".join(" ".join(image.get("alt") or "" for image in link.iter("img")).split())


class Joined(dict[str, str]):
    """A cache of the URLs of a document's references. It maps a reference to its URL, or to "" if it is no URL.

    The URLs are those of `resolved`. Most references are joined without parsing, because a page has hundreds of them.
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
        # Join a plain path as text. Parse it if it may hold a step like "..", a scheme, a host or an empty query.
        if first not in "?;." and not any(part in path for part in SPECIAL) and href[-1] not in "?#;":
            return (self._origin if first == "/" else self._folder) + href
        try:
            return resolved(self._base, href)
        except BadInput:
            return ""

    def _escaped(self, url: str) -> str:
        """Return a URL whose query is ASCII. A letter that the charset lacks becomes an HTML character reference."""
        front, mark, fragment = url.partition("#")
        front, question_mark, query = front.partition("?")
        letters = (c if c.isascii() else quote(c.encode(self._encoding, "xmlcharrefreplace"), "") for c in query)
        return f"{front}{question_mark}{''.join(letters)}{mark}{fragment}"


# ---------------------------------------------------------------- which answers are pages


def asks_for_password(response: Response) -> bool:
    """Return whether an answer is a page with a field for a password."""
    return isinstance(response, HtmlResponse) and any(
        (node.get("type") or "").strip().lower() == "password" for node, _ in Document.of(response).elements("input")
    )


def is_markup(response: Response) -> TypeGuard[TextResponse]:
    """Return whether an answer has elements. JSON has none."""
    return isinstance(response, TextResponse) and hasattr(response.selector.root, "iter")


def media_type(values: Iterable[str]) -> str | None:
    """Return the content type of an answer: the last type that its headers name. None without a header.

    If the headers name no type, or only `*/*`, the first text is returned.
    """
    texts = [one.strip() for value in values for one in value.split(",")]
    types = [text for text in texts if _MEDIA_TYPE.match(text) and not text.startswith("*/*")]
    return types[-1] if types else next(iter(texts), None)


def as_page(response: Response) -> Response:
    """Return an HtmlResponse for an answer that browsers show as a page; other answers unchanged. Set its base.

    These are also XHTML with any type of XML or with none, and HTML whose header has its type twice: Scrapy takes them
    for others.
    """
    is_other = not isinstance(response, HtmlResponse)
    if is_other and (_kind_of(response) == "text/html" or (_is_xml(response) and _is_xhtml(response))):
        response = response.replace(cls=HtmlResponse)
    if isinstance(response, HtmlResponse):
        Document.of(response)
    return response


def _kind_of(response: Response) -> str:
    """Return the media type of an answer, in lower case and without parameters; empty without a header."""
    values = (value.decode("latin-1") for value in response.headers.getlist("Content-Type"))
    return (media_type(values) or "").partition(";")[0].strip().lower()


def _is_xml(response: Response) -> bool:
    """Return whether an answer is XML by its type, or without a header by how it begins."""
    kind = _kind_of(response)
    return kind.endswith(("/xml", "+xml")) or (not kind and response.body.lstrip(b"\xef\xbb\xbf")[:5] == b"<?xml")


def _is_xhtml(response: Response) -> bool:
    """Return whether the first element of a document is `html` in the namespace of XHTML."""
    if not isinstance(response, TextResponse):
        return False
    text, position = response.text.removeprefix("\ufeff"), 0
    for _ in range(MOST_BEFORE_ROOT):
        if (skipped := _BEFORE_ROOT.match(text, position)) is None:
            break
        position = skipped.end()
    root = _HTML_ROOT.match(text, position)
    return root is not None and XHTML in root[0]


def true_coding(response: Response) -> Response:
    """Return an answer, without the label gzip in `Content-Encoding` if its body is not packed by gzip."""
    labels = [
        one.strip().lower() for value in response.headers.getlist("Content-Encoding") for one in value.split(b",")
    ]
    if labels and labels[-1] in (b"gzip", b"x-gzip") and response.body and response.body[:2] != b"\x1f\x8b":
        response.headers.setlist("Content-Encoding", labels[:-1])
        if not labels[:-1]:
            del response.headers["Content-Encoding"]
    return response
