"""Sitemaps and feeds that are not quite XML, made so: a fault costs the entry that it is in, and no other.

What strangers write is cut into its entries, by their tags. Bare ampersands and the entities of HTML are escaped, and
what may be anywhere (comments, CDATA, declarations) is taken out first. An entry that is XML then stays as it is; of
another one those elements stay that are; one whose address is not among them is left out. Each fault is listed with its
line.
Pure functions of text. No entity that a file declares is ever expanded.
"""

from __future__ import annotations

import codecs
import html
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from xml.parsers import expat

from w3lib.encoding import read_bom, resolve_encoding
from w3lib.html import HTML5_WHITESPACE

__all__ = ["Kind", "Mended", "declares_entities", "decode", "fault_of", "kind_of", "mend"]


@dataclass(frozen=True, slots=True)
class Kind:
    """`root`: the outermost tag, `start` and `inner`: how it opens where it is broken itself; `entries`: their tags;
    `address`: tags in them, one of which they need.
    """

    root: str
    start: str
    inner: str
    entries: tuple[str, ...]
    address: tuple[str, ...]

    @property
    def is_sitemap(self) -> bool:
        """Or an index of them; else a feed."""
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
    rf"<(({_PREFIX})(loc|lastmod|link|guid|id|pubdate|date|updated|published|modified|issued|created))(?=[\s/>])"
    r"((?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*?)(?:/>|>([^<]*)</\1\s*>)",
    re.IGNORECASE,
)


def decode(raw: bytes) -> tuple[str, str]:
    """The text of a file by its byte order mark, its zeros or its declaration, else by UTF-8; and what was wrong."""
    wrong = ""
    encoding, mark = read_bom(raw)
    declared = _DECLARED.search(raw[:1024])
    if encoding is not None and mark is not None:
        raw = raw[len(mark) :]
    elif (zeros := raw[:64].count(0)) * 3 > len(raw[:64]):
        encoding = "utf-16-le" if raw[1:64:2].count(0) * 2 > zeros else "utf-16-be"
    elif declared:
        label = declared[1].decode("ascii", "replace")
        encoding = resolve_encoding(label)
        if encoding is None or codecs.lookup(encoding).name.replace("-", "_") in _NOT_TEXT:
            encoding, wrong = None, f"its encoding, {label[:40]!r}, is none; it was read as UTF-8"
        elif encoding.replace("_", "-").startswith(("utf-16", "utf-32")):  # it is not, or there would be zeros
            encoding = None
    try:
        text = raw.decode(encoding or "utf-8", "replace")
    except (LookupError, ValueError):  # hex and its like: codecs that make no text
        text, wrong = raw.decode("utf-8", "replace"), "its encoding is none of texts; it was read as UTF-8"
    return text.removeprefix("\ufeff"), wrong


def kind_of(text: str) -> Kind | None:
    """Return the kind of a sitemap or feed, by its root, or by its entries where the root is broken; None: neither."""
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
    """Return the fault that keeps a text from being XML, None if it is XML."""
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
    """`text`: XML, without a declaration. `refused`: what was left out, `partly`: what was read in part, by line."""

    text: str
    refused: list[str] = field(default_factory=list)
    partly: list[str] = field(default_factory=list)


def mend(text: str, kind: Kind, *, own_root: bool = True) -> Mended:
    """The same file as XML: all its entries that can be read, in their order. `own_root`: with the file's own root and
    namespaces, if they are XML; else with the usual ones."""
    # Find the entries, and what is around them.
    tag = re.compile(rf"<(/?)({_PREFIX})({'|'.join(kind.entries)})(?=[\s/>])([^<>]*)>", re.IGNORECASE)
    text = _cleaned(text, tag)
    prefixes = Counter(match[2] for match in tag.finditer(text))
    prefix = prefixes.most_common(1)[0][0] if prefixes else ""
    start, end = _frame(text, kind, prefix, own_root)
    pieces = _pieces(text, tag, prefix, kind)
    sound = _sound([piece if whole else "" for _, piece, whole in pieces], start, end)
    mended = Mended("")
    kept: list[str] = []
    line, counted = 1, 0
    # Keep sound entries, and of broken ones the address.
    for (at, piece, whole), good in zip(pieces, sound, strict=True):
        line, counted = line + text.count("\n", counted, at), at
        if whole and good:
            kept.append(piece)
            continue
        parts = _salvaged(piece, prefix, kind, lambda part: fault_of(start + part + end) is None)
        kept += parts
        if parts:
            mended.partly.append(f"line {line}: an entry is broken; its address was read")
        else:
            mended.refused.append(f"line {line}: an entry is broken")
    mended.text = "".join((start, *kept, end))
    return mended


def _cleaned(text: str, tag: re.Pattern[str]) -> str:
    """Return the text without what may be anywhere, with as many lines, and each ampersand escaped."""
    inside = rf"(?!{tag.pattern.split('(?=', 1)[0].replace('(/?)', '/?')}\b)"
    flags = re.DOTALL | re.IGNORECASE
    lines: Callable[[re.Match[str]], str] = lambda match: "\n" * match[0].count("\n")  # noqa: E731
    text = re.sub(rf"<!--(?:{inside}(?!<!--|-->).)*-->", lines, text, flags=flags)
    text = re.sub(r"<!--(?:(?!--).)*-->", lines, text, flags=flags)  # entries that are commented out
    # What is left of a section that does not end where it should would swallow the entries behind it.
    text = re.sub(
        rf"<!\[CDATA\[((?:{inside}(?!<!\[CDATA\[|\]\]>).)*)\]\]>",
        lambda match: html.escape(match[1], quote=False),
        text,
        flags=flags,
    )
    text = re.sub(r"<!\[CDATA\[|\]\]>", "", text)
    text = re.sub(r"<\?[^<>]*>|<!DOCTYPE[^<>\[]*>", lines, text, flags=flags)
    text = _NO_CHARACTER.sub("\ufffd", text)
    return _AMPERSAND.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    """An entity of HTML as itself; any other ampersand as one, for so it was meant."""
    name = match[1]
    if name is not None and name in html5:
        return html.escape(html5[name])
    return f"&amp;{name or ''}"


def _frame(text: str, kind: Kind, prefix: str, own_root: bool) -> tuple[str, str]:
    """The tags around all entries: those of the file, or the usual ones where its own is broken, or not wanted."""
    used = dict.fromkeys(re.findall(r"<([A-Za-z_][\w.-]*):", text))
    used |= dict.fromkeys(re.findall(r"\s([A-Za-z_][\w.-]*):[\w.-]+\s*=", text))
    prefixes = [prefix for prefix in used if prefix.lower() not in ("xml", "xmlns")][:MOST_PREFIXES]
    around = (f"<{kind.inner}>", f"</{kind.inner}>") if kind.inner else ("", "")
    own = re.search(rf"<({_PREFIX}{kind.root}(?=[\s/>])[^<>]*)>", text, re.IGNORECASE)
    base = re.search(r"\sxml:base\s*=\s*(\"[^\"<]*\"|'[^'<]*')", own[1]) if own else None
    usual = _USUAL | ({prefix[:-1].lower(): _USUAL["atom"]} if prefix and kind is KINDS["feed"] else {})
    roots = [own[1].rstrip("/ ")] if own and own_root else []
    for start in [*roots, f"{kind.start} xml:base={base[1]}" if base else kind.start, kind.start]:
        names = [prefix for prefix in prefixes if f"xmlns:{prefix}=" not in re.sub(r"\s*=\s*", "=", start)]
        more = "".join(f' xmlns:{name}="{usual.get(name.lower(), f"urn:{name}")}"' for name in names)
        frame = f"<{start}{more}>{around[0]}", f"{around[1]}</{start.split()[0]}>"
        if fault_of("".join(frame)) is None:
            break
    return frame


def _pieces(text: str, tag: re.Pattern[str], prefix: str, kind: Kind) -> list[tuple[int, str, bool]]:
    """(where it begins, text, has it both its tags) of each entry, those that have lost a tag, too."""
    pieces: list[tuple[int, str, bool]] = []
    opened: re.Match[str] | None = None
    last = 0

    def stray(end: int, *, closed: bool) -> None:
        # Before a feed's first entry is the feed's own address.
        if (closed or kind.is_sitemap) and re.search(rf"<{prefix}(?:{'|'.join(kind.address)})\b", text[last:end], 2):
            begin = last + len(text[last:end]) - len(text[last:end].lstrip(HTML5_WHITESPACE))
            pieces.append((begin, text[begin:end], False))

    for match in tag.finditer(text):
        # Tags of other namespaces, and empty elements, are no entries.
        if match[2] != prefix or (match[4].endswith("/") and not match[1]):
            continue
        # An entry ends with its closing tag, or where the next one begins.
        if match[1] and opened is not None:
            pieces.append((opened.start(), text[opened.start() : match.end()], opened[3] == match[3]))
        elif opened is not None:
            pieces.append((opened.start(), text[opened.start() : match.start()], False))
        else:
            stray(match.start(), closed=bool(match[1]))
        opened, last = (None if match[1] else match), match.end()
    if opened is not None:
        pieces.append((opened.start(), text[opened.start() :], False))
    else:
        stray(len(text), closed=False)
    return pieces


def _sound(pieces: Sequence[str], start: str, end: str) -> list[bool]:
    """Return of each piece whether it is XML. All are read at once, or else each half by itself, as few are broken."""
    if not pieces:
        return []
    if fault_of("".join((start, *pieces, end))) is None:
        return [True] * len(pieces)
    if len(pieces) == 1:
        return [False]
    middle = len(pieces) // 2
    return [*_sound(pieces[:middle], start, end), *_sound(pieces[middle:], start, end)]


def _salvaged(piece: str, prefix: str, kind: Kind, is_xml: Callable[[str], bool]) -> list[str]:
    """Entries made of those elements of a broken one that are whole; none without an address."""
    is_index = bool(re.match(rf"<{prefix}sitemap\b", piece, re.IGNORECASE)) or kind.root == "sitemapindex"
    name = ("sitemap" if is_index else "url") if kind.is_sitemap else kind.entries[0]
    parts = [match for match in _SIMPLE.finditer(piece) if is_xml(match[0])]
    own = [match for match in parts if match[2] == prefix]
    addresses = [match for match in own if match[3].lower() in kind.address]
    if not addresses:
        return []
    if kind.is_sitemap and len(addresses) > 1:  # two entries, and which has which date is not known
        return [f"<{prefix}{name}>{match[0]}</{prefix}{name}>" for match in addresses]
    if kind.root == "rss":  # the last of each, for before an entry that has lost its tag is the channel's own
        parts = list({match[1].lower(): match for match in parts}.values())
    return [f"<{prefix}{name}>{''.join(match[0] for match in parts)}</{prefix}{name}>"]
