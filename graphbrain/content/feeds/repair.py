"""Repair of sitemaps and feeds that are not well-formed XML. A fault costs the entry that it is in, and no other.

The text is cut into its entries by their tags. Before that, bare ampersands and the entities of HTML are escaped, and
comments, CDATA sections and declarations are removed. An entry that is XML then stays as it is. A broken entry keeps
those of its elements that are XML. A broken entry without an address is left out. Each fault is listed with its line.
No entity that a file declares is ever expanded. All functions are pure functions of text.

No parser that repairs does this. With recover=True, lxml 6 read one of six entries of a sitemap without its opening
root tag, two of six after an unquoted attribute or an unclosed CDATA section, and none after a PHP warning before the
root. It also changes addresses in silence: `?a=1&b=2` becomes `?a=1=2`. Parsers of HTML such as html5lib read `<link>`
as an element without content, so that each item of an RSS feed loses its address.
"""

from __future__ import annotations

import codecs
import html
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from typing import NamedTuple
from xml.parsers import expat

from w3lib.encoding import read_bom, resolve_encoding
from w3lib.html import HTML5_WHITESPACE

__all__ = ["Kind", "Mended", "declares_entities", "decode", "fault_of", "kind_of", "mend"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: a sitemap, an index of sitemaps, or a feed.

    Attributes:
        root: The name of the outermost element.
        start: The opening tag of a root that replaces a broken one, without its brackets.
        inner: The element between root and entries, empty if there is none.
        entries: The names of the elements that are entries.
        address: The names of elements with an address. An entry needs one of them.
    """

    root: str
    start: str
    inner: str
    entries: tuple[str, ...]
    address: tuple[str, ...]

    @property
    def is_sitemap(self) -> bool:
        """Return True for a sitemap or an index of sitemaps, False for a feed."""
        return self.address == ("loc",)


_SITEMAPS = ("url", "sitemap"), ("loc",)
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
KINDS = {
    "urlset": Kind("urlset", f"urlset {_NAMESPACE}", "", *_SITEMAPS),
    "sitemapindex": Kind("sitemapindex", f"sitemapindex {_NAMESPACE}", "", *_SITEMAPS),
    "rss": Kind("rss", 'rss version="2.0"', "channel", ("item",), ("link", "guid")),
    "rdf": Kind("RDF", f'rdf:RDF xmlns:rdf="{_RDF}" xmlns="http://purl.org/rss/1.0/"', "", ("item",), ("link",)),
    "feed": Kind("feed", 'feed xmlns="http://www.w3.org/2005/Atom"', "", ("entry",), ("link", "id")),
}
_USUAL = {
    "atom": "http://www.w3.org/2005/Atom",
    "dc": "http://purl.org/dc/elements/1.1/",
    "rdf": _RDF,
    "xhtml": "http://www.w3.org/1999/xhtml",
}
"""Prefix that a file uses and does not declare → its namespace."""
MOST_PREFIXES = 100
_NOT_TEXT = ("punycode", "idna", "undefined", "unicode_escape", "raw_unicode_escape", "utf_7", "mbcs", "oem")
_PREFIX = r"(?:[A-Za-z_][\w.-]*:)?"
_ROOT = re.compile(rf"</?{_PREFIX}({'|'.join(KINDS)})(?=[\s/>])", re.IGNORECASE)
_ENTRY = re.compile(rf"<{_PREFIX}(url|sitemap|item|entry)(?=[\s/>])", re.IGNORECASE)
_IS_HTML = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+)?html\b", re.IGNORECASE | re.DOTALL)
_DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']\s*([\w.:-]+)", re.IGNORECASE)
_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(\w{1,32};)?")
_NO_CHARACTER = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SIMPLE = re.compile(
    rf"<(?P<tag>(?P<prefix>{_PREFIX})"
    r"(?P<name>loc|lastmod|link|guid|id|pubdate|date|updated|published|modified|issued|created))(?=[\s/>])"
    r"(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*?(?:/>|>[^<]*</(?P=tag)\s*>)",
    re.IGNORECASE,
)
"""An element that has no element inside: the address of an entry, or a date."""


def decode(raw: bytes) -> tuple[str, str]:
    """Return the text of a file, and the fault of its encoding, empty if it has none.

    The encoding is that of the byte order mark, else UTF-16 for a file with many zeros, else the declared one, else
    UTF-8.
    """
    wrong = ""
    encoding, mark = read_bom(raw)
    declared = _DECLARED.search(raw[:1024])
    # Choose the encoding.
    if encoding is not None and mark is not None:
        raw = raw[len(mark) :]
    elif (zeros := raw[:64].count(0)) * 3 > len(raw[:64]):
        encoding = "utf-16-le" if raw[1:64:2].count(0) * 2 > zeros else "utf-16-be"
    elif declared:
        label = declared[1].decode("ascii", "replace")
        encoding = resolve_encoding(label)
        if encoding is None or codecs.lookup(encoding).name.replace("-", "_") in _NOT_TEXT:
            encoding, wrong = None, f"its encoding, {label[:40]!r}, is none; it was read as UTF-8"
        elif encoding.replace("_", "-").startswith(("utf-16", "utf-32")):  # it would have zeros
            encoding = None
    # Decode the file. Some codecs of Python, such as hex, return no text.
    try:
        text = raw.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):
        text, wrong = raw.decode("utf-8", "replace"), "its encoding is none of texts; it was read as UTF-8"
    return text.removeprefix("\ufeff"), wrong


def kind_of(text: str) -> Kind | None:
    """Return the kind of a sitemap or feed: that of its root, or of its entries if the root is broken. Return None for
    another text."""
    if _IS_HTML.match(text):
        return None
    roots = dict.fromkeys(KINDS[match[1].lower()] for match in _ROOT.finditer(text))
    entries = Counter(match[1].lower() for match in _ENTRY.finditer(text))
    root_of = {"url": "urlset", "sitemap": "sitemapindex", "item": "rss", "entry": "feed"}
    kinds = [*roots, *(KINDS[root_of[name]] for name, _ in entries.most_common())]
    addressed = [kind for kind in kinds if entries.keys() & set(kind.entries) and _address(kind).search(text)]
    return next(iter([*addressed, *roots]), None)


def _address(kind: Kind) -> re.Pattern[str]:
    return re.compile(rf"<{_PREFIX}(?:{'|'.join(kind.address)})(?=[\s/>])", re.IGNORECASE)


def declares_entities(text: str) -> bool:
    """Return whether the document type, before the root, declares entities."""
    root = _ROOT.search(text)
    return re.search(r"<!ENTITY", text[: root.start()] if root else text, re.IGNORECASE) is not None


def fault_of(text: str) -> str | None:
    """Return the first fault of a text that is no XML; None if it is XML."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        return str(error)
    except _EntityError:
        return "it declares entities"
    return None


class _EntityError(Exception):
    """A file that declares entities, in a place where `declares_entities` does not look."""


def _refuse_entity(*_: object) -> None:
    raise _EntityError


@dataclass
class Mended:
    """A repaired file.

    Attributes:
        text: XML, without a declaration.
        refused: The entries that were left out, each with its line.
        partly: The entries that were read in part, each with its line.
    """

    text: str
    refused: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)


class _Frame(NamedTuple):
    """The tags before and after the entries of a file."""

    start: str
    end: str

    def around(self, *entries: str) -> str:
        return "".join((self.start, *entries, self.end))


class _Piece(NamedTuple):
    """The text of one entry, and the place in the file where it begins. `whole`: it has both its tags."""

    start: int
    text: str
    whole: bool


def mend(text: str, kind: Kind, *, own_root: bool = True) -> Mended:
    """Return the file as XML, with all entries that can be read, in their order.

    `own_root`: keep the file's root and namespaces, if they are XML; otherwise the usual ones of its kind replace them.
    """
    # Find the entries, and the tags around them.
    names = "|".join(kind.entries)
    text = _cleaned(text, rf"</?{_PREFIX}(?:{names})\b")
    tag = re.compile(
        rf"<(?P<slash>/?)(?P<prefix>{_PREFIX})(?P<name>{names})(?=[\s/>])(?P<attributes>[^<>]*)>", re.IGNORECASE
    )
    prefixes = Counter(match["prefix"] for match in tag.finditer(text))
    prefix = prefixes.most_common(1)[0][0] if prefixes else ""
    frame = _frame(text, kind, prefix, own_root)
    pieces = _pieces(text, tag, prefix, kind)
    sound = {piece.start for piece in _sound([piece for piece in pieces if piece.whole], frame)}
    # Keep the entries that are XML, and from each broken one the elements that are XML.
    mended = Mended("")
    kept: list[str] = []
    line, counted = 1, 0
    for piece in pieces:
        line, counted = line + text.count("\n", counted, piece.start), piece.start
        if piece.start in sound:
            kept.append(piece.text)
        elif parts := _salvaged(piece.text, prefix, kind, lambda part: fault_of(frame.around(part)) is None):
            kept += parts
            mended.partly.append(f"line {line}: an entry is broken; its address was read")
        else:
            mended.refused.append(f"line {line}: an entry is broken")
    mended.text = frame.around(*kept)
    return mended


def _cleaned(text: str, entry_tag: str) -> str:
    """Return the text without comments, CDATA sections, declarations and bare ampersands, with as many lines."""
    flags = re.DOTALL | re.IGNORECASE
    # A comment or section that contains the tag of an entry has probably lost its end: only its opening is removed.
    no_entry = rf"(?!{entry_tag})"
    text = re.sub(rf"<!--(?:{no_entry}(?!<!--|-->).)*-->", _its_lines, text, flags=flags)
    text = re.sub(r"<!--(?:(?!--).)*-->", _its_lines, text, flags=flags)  # entries that are commented out
    text = re.sub(
        rf"<!\[CDATA\[((?:{no_entry}(?!<!\[CDATA\[|\]\]>).)*)\]\]>",
        lambda match: html.escape(match[1], quote=False),
        text,
        flags=flags,
    )
    text = re.sub(r"<!\[CDATA\[|\]\]>", "", text)
    # Remove declarations and characters that XML forbids, and escape ampersands.
    text = re.sub(r"<\?[^<>]*>|<!DOCTYPE[^<>\[]*>", _its_lines, text, flags=flags)
    text = _NO_CHARACTER.sub("\ufffd", text)
    return _AMPERSAND.sub(_escaped, text)


def _its_lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _escaped(match: re.Match[str]) -> str:
    """Return the character of an entity of HTML, escaped for XML. Any other ampersand means itself."""
    name = match[1]
    if name is not None and name in html5:
        return html.escape(html5[name])
    return f"&amp;{name or ''}"


def _frame(text: str, kind: Kind, entry_prefix: str, own_root: bool) -> _Frame:
    """Return the tags around all entries: the file's own, or the usual ones if its own are broken or not wanted."""
    # Each prefix of a tag or an attribute needs a declaration.
    used = dict.fromkeys(re.findall(r"<([A-Za-z_][\w.-]*):", text))
    used |= dict.fromkeys(re.findall(r"\s([A-Za-z_][\w.-]*):[\w.-]+\s*=", text))
    prefixes = [prefix for prefix in used if prefix.lower() not in ("xml", "xmlns")][:MOST_PREFIXES]
    namespaces = dict(_USUAL)
    if entry_prefix and kind is KINDS["feed"]:
        namespaces[entry_prefix[:-1].lower()] = _USUAL["atom"]
    # Try the file's own root, the usual root with the file's base URL, and the usual root.
    own = re.search(rf"<({_PREFIX}{kind.root}(?=[\s/>])[^<>]*)>", text, re.IGNORECASE)
    base = re.search(r"\sxml:base\s*=\s*(\"[^\"<]*\"|'[^'<]*')", own[1]) if own else None
    roots = [own[1].rstrip("/ ")] if own and own_root else []
    roots += [f"{kind.start} xml:base={base[1]}"] if base else []
    # The first one that is XML with the missing declarations is the frame.
    opening, closing = (f"<{kind.inner}>", f"</{kind.inner}>") if kind.inner else ("", "")
    for root in [*roots, kind.start]:
        declared = re.sub(r"\s*=\s*", "=", root)
        missing = [prefix for prefix in prefixes if f"xmlns:{prefix}=" not in declared]
        more = "".join(f' xmlns:{name}="{namespaces.get(name.lower(), f"urn:{name}")}"' for name in missing)
        frame = _Frame(f"<{root}{more}>{opening}", f"{closing}</{root.split()[0]}>")
        if fault_of(frame.around()) is None:
            break
    return frame


def _pieces(text: str, tag: re.Pattern[str], prefix: str, kind: Kind) -> list[_Piece]:
    """Return the entries of a text, including those that have lost a tag."""
    address = re.compile(rf"<{prefix}(?:{'|'.join(kind.address)})\b", re.IGNORECASE)
    pieces: list[_Piece] = []
    opening: re.Match[str] | None = None
    last_end = 0
    for match in tag.finditer(text):
        closes = bool(match["slash"])
        # Tags of other namespaces, and empty elements, are no entries.
        if match["prefix"] != prefix or (match["attributes"].endswith("/") and not closes):
            continue
        if opening is not None:
            # An entry ends with its closing tag, or where the next one begins.
            end = match.end() if closes else match.start()
            both = closes and opening["name"] == match["name"]
            pieces.append(_Piece(opening.start(), text[opening.start() : end], both))
        elif closes or kind.is_sitemap:
            # An entry has lost its opening tag. The text before a feed's first entry has the feed's own address.
            pieces += _without_opening(text, last_end, match.start(), address)
        opening, last_end = (None if closes else match), match.end()
    # The last entry may have lost its closing tag, or both tags.
    if opening is not None:
        pieces.append(_Piece(opening.start(), text[opening.start() :], False))
    elif kind.is_sitemap:
        pieces += _without_opening(text, last_end, len(text), address)
    return pieces


def _without_opening(text: str, start: int, end: int, address: re.Pattern[str]) -> list[_Piece]:
    """Return the text between two places as an entry, if an address is in it."""
    between = text[start:end]
    if not address.search(between):
        return []
    content = between.lstrip(HTML5_WHITESPACE)
    return [_Piece(end - len(content), content, False)]


def _sound(pieces: Sequence[_Piece], frame: _Frame) -> Sequence[_Piece]:
    """Return the pieces that are XML. Few are broken: all are parsed together, and each half again after a fault."""
    if not pieces or fault_of(frame.around(*(piece.text for piece in pieces))) is None:
        return pieces
    if len(pieces) == 1:
        return []
    middle = len(pieces) // 2
    return [*_sound(pieces[:middle], frame), *_sound(pieces[middle:], frame)]


def _salvaged(piece: str, prefix: str, kind: Kind, is_xml: Callable[[str], bool]) -> list[str]:
    """Return entries made of those elements of a broken one that are XML; none without an address."""
    is_index = bool(re.match(rf"<{prefix}sitemap\b", piece, re.IGNORECASE)) or kind.root == "sitemapindex"
    name = ("sitemap" if is_index else "url") if kind.is_sitemap else kind.entries[0]
    parts = [match for match in _SIMPLE.finditer(piece) if is_xml(match[0])]
    own = [match for match in parts if match["prefix"] == prefix]
    addresses = [match for match in own if match["name"].lower() in kind.address]
    if not addresses:
        return []
    # Two addresses are two entries that lost the tags between them. The one that a date belongs to is not known.
    if kind.is_sitemap and len(addresses) > 1:
        return [f"<{prefix}{name}>{match[0]}</{prefix}{name}>" for match in addresses]
    # If an item has lost its opening tag, the elements of the channel precede its own: keep the last of each name.
    if kind.root == "rss":
        parts = list({match["tag"].lower(): match for match in parts}.values())
    return [f"<{prefix}{name}>{''.join(match[0] for match in parts)}</{prefix}{name}>"]
