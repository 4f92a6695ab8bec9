"""The references to other files in pages and style sheets, each with its place in the text, so that it can be replaced.

Sources: WHATWG HTML (`srcset`, links to resources), CSS Syntax and CSS Images (`url()`, `src()`, `image-set()`,
`@import`), SVG 2 (`use`, `image`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["ELEMENTS", "LINKED", "SETS", "Reference", "in_css", "in_srcset", "of_element", "replaced"]

_HREF = ("href", "xlink:href")
ELEMENTS: dict[str, tuple[str, ...]] = {
    "img": ("src",), "source": ("src",), "script": ("src",), "video": ("src", "poster"), "audio": ("src",),
    "embed": ("src",), "object": ("data",), "track": ("src",), "input": ("src",), "link": (),
    "image": _HREF, "use": _HREF, "feimage": _HREF, "body": ("background",), "table": ("background",),
    "td": ("background",), "th": ("background",),
}  # fmt: skip
"""The elements that show or run other files, and their attributes with one URL."""
SETS = {"img": "srcset", "source": "srcset", "link": "imagesrcset"}
LINKED = frozenset(
    {
        *("stylesheet", "icon", "preload", "modulepreload", "manifest", "mask-icon"),
        *("apple-touch-icon", "apple-touch-icon-precomposed"),
    }
)
"""The words of `rel` of a link to a file that is a part of the page."""


class Reference(NamedTuple):
    """A reference, and the place in the text that is written in its stead: in a style sheet with its quotes."""

    text: str
    start: int
    end: int


def replaced(text: str, references: Iterable[Reference], new: Callable[[str], str | None]) -> str:
    """Return a text in which references are replaced. None leaves one as it is."""
    parts, at = [], 0
    for reference in references:
        if (other := new(reference.text)) is not None:
            parts += [text[at : reference.start], other]
            at = reference.end
    return "".join([*parts, text[at:]])


# ---------------------------------------------------------------- elements


def of_element(node: Any) -> Iterator[tuple[str, list[Reference]]]:
    """Yield the attributes of an element that have references, with these, in their order."""
    if node.tag == "link" and not LINKED & set((node.get("rel") or "").lower().split()):
        return
    for name in (*ELEMENTS[node.tag], *(("href",) if node.tag == "link" else ())):
        value = node.get(name) or ""
        if (bare := value.strip()) and not bare.startswith("#"):
            yield name, [Reference(bare, 0, len(value))]
    if node.tag in SETS and (value := node.get(SETS[node.tag])):
        yield SETS[node.tag], [*in_srcset(value)]


_CANDIDATE = re.compile(r"[ \t\n\f\r,]*+([^ \t\n\f\r]++)")
_DESCRIPTORS = re.compile(r"(?:[^,()]|\([^)]*(?:\)|\Z)|\))*+")
_DESCRIPTOR = re.compile(r"(?:\([^)]*(?:\)|\Z)|[^ \t\n\f\r(])+")
_WIDTH = re.compile(r"0*[1-9][0-9]*w")
_HEIGHT = re.compile(r"0*[1-9][0-9]*h")
_DENSITY = re.compile(r"(?:[0-9]+|[0-9]*\.[0-9]+)(?:[eE][+-]?[0-9]+)?x")


def in_srcset(text: str) -> Iterator[Reference]:
    """Yield the image candidates of a `srcset`: a URL ends at white space, and only commas at its end separate."""
    at = 0
    while (candidate := _CANDIDATE.match(text, at)) is not None:
        url, at = candidate[1], candidate.end()
        bare, descriptors = url.rstrip(","), ""
        if bare == url:
            rest = _DESCRIPTORS.match(text, at)
            assert rest is not None
            descriptors, at = rest[0], rest.end()
        if _is_candidate(_DESCRIPTOR.findall(descriptors)):
            yield Reference(bare, candidate.start(1), candidate.start(1) + len(bare))


def _is_candidate(descriptors: list[str]) -> bool:
    """Return whether browsers use an image with these descriptors: a width and perhaps a height, a density, or none."""
    forms = (_WIDTH, _HEIGHT, _DENSITY)
    kinds = sorted(next((n for n, form in enumerate(forms) if form.fullmatch(one)), 3) for one in descriptors)
    return kinds in ([], [0], [0, 1], [2])


# ---------------------------------------------------------------- style sheets

_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}(?:\r\n|[ \t\n\r\f])?|\r\n|[^0-9a-fA-F])"
_NAME = rf"(?:[\w\-\x80-\U0010ffff]|{_ESCAPE})"
_TOKEN = re.compile(
    rf"""(?P<comment>/\*.*?(?:\*/|\Z))
    |"(?P<double>(?:[^"\\\n\r\f]|{_ESCAPE})*+)(?:"|\\\Z)?
    |'(?P<single>(?:[^'\\\n\r\f]|{_ESCAPE})*+)(?:'|\\\Z)?
    |(?<![\w\-\\\x80-\U0010ffff])(?P<name>@?{_NAME}++)(?P<opens>\()?
    |(?P<mark>[(){{}};\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_BARE_URL = re.compile(rf"""[ \t\n\r\f]*((?:[^ \t\n\r\f"'()\\]|{_ESCAPE})*+)[ \t\n\r\f]*(?:\)|\Z)""", re.DOTALL)
_ESCAPED = re.compile(_ESCAPE, re.DOTALL)
_CODE = re.compile("[0-9a-fA-F]{1,6}")
_MAY_REFER = re.compile(r"url|src|image-set|import|\\", re.IGNORECASE)
OF_URL = frozenset({"url", "src", "image-set", "-webkit-image-set"})
"""The functions whose strings are URLs."""
NO_FILES = frozenset({"@namespace", "@document", "@-moz-document"})
"""The rules whose URLs are names."""


def in_css(text: str) -> Iterator[Reference]:
    """Yield the references of a style sheet, or of a `style` attribute. References within the document are left out."""
    if not _MAY_REFER.search(text):
        return
    at, rule, within = 0, "", list[str]()
    while (token := _TOKEN.search(text, at)) is not None:
        at, kind = token.end(), token.lastgroup
        # Some functions never name a file, such as those in @namespace.
        if kind == "opens" and not within and rule in NO_FILES:
            within.append("")
        elif kind == "opens":
            name = _plain(token["name"]).lower()
            bare = _BARE_URL.match(text, at) if name == "url" else None
            if bare is None:
                within.append(name)
                continue
            # url( without quotes.
            at, reference = bare.end(), Reference(_plain(bare[1]), *bare.span(1))
            if reference.text and not reference.text.startswith("#"):
                yield reference
        elif kind == "name" and token["name"].startswith("@"):
            rule = _plain(token["name"]).lower()
        elif kind in ("double", "single"):
            # A string names a file within url(), image-set() and so on, and after @import.
            if (within[-1] in OF_URL if within else rule == "@import") and (reference := _of_string(token)).text:
                yield reference
            rule = "" if rule == "@import" else rule
        elif kind == "mark":
            rule = _after(token["mark"], rule, within)


def _after(mark: str, rule: str, within: list[str]) -> str:
    """Follow a bracket or a semicolon, and return the name of the rule that goes on."""
    if mark == "(":
        within.append("")
    elif mark == ")" and within:
        within.pop()
    elif mark in "{};":
        within.clear()
        return ""
    return rule


def _of_string(token: re.Match[str]) -> Reference:
    text = _plain(token["double"] if token["double"] is not None else token["single"])
    return Reference("" if text.startswith("#") else text, *token.span())


def _plain(text: str) -> str:
    """Return a text of a style sheet without its escapes."""
    return _ESCAPED.sub(_unescaped, text) if "\\" in text else text


def _unescaped(escape: re.Match[str]) -> str:
    rest = escape[0][1:]
    if rest in ("\n", "\r\n", "\r", "\f"):
        return ""  # a string goes on in the next line
    code = _CODE.match(rest)
    if code is None:
        return rest
    number = int(code[0], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
