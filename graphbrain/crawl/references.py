"""A reader of the references to other files in pages and style sheets, with their places in the text.

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
"""Element that shows or runs other files → its attributes with one URL."""
SETS = {"img": "srcset", "source": "srcset", "link": "imagesrcset"}
"""Element → its attribute with several URLs, one of which a browser chooses."""
LINKED = frozenset(
    {
        *("stylesheet", "icon", "preload", "modulepreload", "manifest", "mask-icon"),
        *("apple-touch-icon", "apple-touch-icon-precomposed"),
    }
)
"""The words of `rel` in links to files that are parts of the page."""


class Reference(NamedTuple):
    """A reference with its place in the text. In a style sheet the place includes the quotes."""

    text: str
    start: int
    end: int


def replaced(text: str, references: Iterable[Reference], new: Callable[[str], str | None]) -> str:
    """Return a text with new references. `new`: returns the text for a reference; None leaves it as it is."""
    parts, position = [], 0
    for reference in references:
        if (other := new(reference.text)) is not None:
            parts += [text[position : reference.start], other]
            position = reference.end
    return "".join([*parts, text[position:]])


# ---------------------------------------------------------------- elements


def of_element(node: Any) -> Iterator[tuple[str, list[Reference]]]:
    """Yield (name, references) of each attribute of an element that has references."""
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
    """Yield the URLs of the image candidates in a `srcset`.

    A URL ends at white space. Commas at its end separate it from the next candidate; others belong to the URL.
    """
    position = 0
    while (candidate := _CANDIDATE.match(text, position)) is not None:
        text_of_url, position = candidate[1], candidate.end()
        url, descriptors = text_of_url.rstrip(","), ""
        if url == text_of_url:
            match = _DESCRIPTORS.match(text, position)
            assert match is not None
            descriptors, position = match[0], match.end()
        if _is_candidate(_DESCRIPTOR.findall(descriptors)):
            yield Reference(url, candidate.start(1), candidate.start(1) + len(url))


def _is_candidate(descriptors: list[str]) -> bool:
    """Return whether browsers use an image with these descriptors: none, a density, a width, or width and height."""
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
_UNQUOTED_URL = re.compile(rf"""[ \t\n\r\f]*((?:[^ \t\n\r\f"'()\\]|{_ESCAPE})*+)[ \t\n\r\f]*(?:\)|\Z)""", re.DOTALL)
_ESCAPED = re.compile(_ESCAPE, re.DOTALL)
_CODE = re.compile("[0-9a-fA-F]{1,6}")
_MAY_REFER = re.compile(r"url|src|image-set|import|\\", re.IGNORECASE)
OF_URL = frozenset({"url", "src", "image-set", "-webkit-image-set"})
"""The functions of style sheets whose strings are URLs."""
NO_FILES = frozenset({"@namespace", "@document", "@-moz-document"})
"""The rules of style sheets whose URLs are names, and not files."""


def in_css(text: str) -> Iterator[Reference]:
    """Yield the references of a style sheet, or of a `style` attribute. References within the document are left out."""
    if not _MAY_REFER.search(text):
        return
    position = 0
    rule = ""  # the at-rule that the position is in, such as @import
    functions = list[str]()  # the functions that the position is in; "" for brackets and for functions without files
    while (token := _TOKEN.search(text, position)) is not None:
        position, kind = token.end(), token.lastgroup
        # Enter a function. The URL in a rule of NO_FILES, such as @namespace, is no file.
        if kind == "opens" and not functions and rule in NO_FILES:
            functions.append("")
        elif kind == "opens":
            name = _plain(token["name"]).lower()
            unquoted = _UNQUOTED_URL.match(text, position) if name == "url" else None
            if unquoted is None:
                functions.append(name)
                continue
            # Yield the URL in url( ) without quotes.
            position, reference = unquoted.end(), Reference(_plain(unquoted[1]), *unquoted.span(1))
            if reference.text and not reference.text.startswith("#"):
                yield reference
        elif kind == "name" and token["name"].startswith("@"):
            rule = _plain(token["name"]).lower()
        elif kind in ("double", "single"):
            # Yield a string in url(), image-set() and the like, and the first string of @import.
            is_file = functions[-1] in OF_URL if functions else rule == "@import"
            if is_file and (reference := _of_string(token)).text:
                yield reference
            rule = "" if rule == "@import" else rule
        elif kind == "mark":
            rule = _after(token["mark"], rule, functions)


def _after(mark: str, rule: str, functions: list[str]) -> str:
    """Enter or leave functions at a bracket or a semicolon. Return the at-rule that holds after it."""
    if mark == "(":
        functions.append("")
    elif mark == ")" and functions:
        functions.pop()
    elif mark in "{};":
        functions.clear()
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
        return ""  # an escaped line break continues a string in the next line
    code = _CODE.match(rest)
    if code is None:
        return rest
    number = int(code[0], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
