"""A rewriter of pages and style sheets, whose references then lead to files instead of the web.

A page is read as browsers read it (WHATWG HTML, "tokenization"). Only tags with references are changed. The rewriter
removes what would make a request: `base`, hints such as `preconnect`, and references to files that the mirror lacks. A
Content-Security-Policy forbids all other requests, such as those of scripts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from html.entities import html5
from typing import NamedTuple
from urllib.parse import urljoin

from graphbrain.crawl.references import ELEMENTS, LINKED, SETS, in_css, in_srcset, replaced

__all__ = ["Rewriter"]

NOWHERE = "about:invalid"
"""The reference to a file that the mirror lacks: browsers make no request for it."""
LEADS = {"a": ("href",), "area": ("href",), "iframe": ("src",), "frame": ("src",)}
"""Element → its attributes that lead to other pages."""
FORMS = {"form": ("action",), "button": ("formaction",), "input": ("formaction",)}
"""Element → its attributes to which a form is sent."""
DROPPED = frozenset({"integrity", "crossorigin", "nonce", "ping", "manifest"})
"""Attributes because of which browsers refuse files or make requests."""
HINTS = frozenset({"dns-prefetch", "preconnect", "prefetch", "prerender", "preload", "modulepreload"})
"""Words of `rel` because of which browsers make requests in advance."""
RAW = {
    tag: re.compile(rf"</{tag}(?=[\s/>])|\Z", re.IGNORECASE)
    for tag in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
"""Element whose content is text → the expression that finds its end."""
_TOKEN = re.compile(
    r"""<!--(?:>|->|.*?(?:--!?>|\Z))
    |<(?:[!?]|/(?![A-Za-z]))[^>]*(?:>|\Z)
    |</[A-Za-z][^>]*(?:>|\Z)
    |<(?P<tag>[A-Za-z][^\s/>]*+)(?:[^>="']++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+(?P<end>>)?+""",
    re.VERBOSE | re.DOTALL,
)
_BEFORE_ELEMENTS = re.compile(r"(?:\s++|<!--(?:>|->|.*?(?:--!?>|\Z))|<[!?][^>]*>)*+", re.DOTALL)
_ATTRIBUTE = re.compile(r"""[\s/]*+(?P<name>=?[^\s/>=]++)(?:\s*+=\s*+(?P<value>"[^"]*+"|'[^']*+'|[^\s>]*+))?+""")
_ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[A-Za-z][A-Za-z0-9]*;?)")
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?P<quote>['\"]?)(?P<url>.*)", re.IGNORECASE | re.DOTALL)
POLICY = (
    "default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'; script-src {scripts}; "
    "connect-src 'self' file: data: blob:; form-action 'none'"
)


class _Attribute(NamedTuple):
    """An attribute of a start tag, with its place in the text of the tag."""

    name: str
    value: str
    start: int
    end: int


class Rewriter:
    """A rewriter of the files of one mirror.

    Args:
        local: Returns the relative reference from the file of one URL to that of another; None if there is no file.
        scripts: Let scripts of pages run.
    """

    def __init__(self, local: Callable[[str, str], str | None], *, scripts: bool = False) -> None:
        self._local = local
        policy = POLICY.format(scripts="'self' file: 'unsafe-inline' 'unsafe-eval'" if scripts else "'none'")
        self._head = (
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta http-equiv="x-dns-prefetch-control" content="off">'
        )

    def page(self, text: str, url: str, base: str) -> str:
        """Return a page with references to files, and with the policy before all elements.

        Args:
            text: The text of the page.
            url: The URL of the page, which has a file in the mirror.
            base: The URL against which its references are resolved.
        """
        text = self.markup(text, url, base)
        before = _BEFORE_ELEMENTS.match(text)
        at = before.end() if before is not None else 0  # browsers obey a policy only in the head
        return text[:at] + self._head + text[at:]

    def markup(self, text: str, url: str, base: str) -> str:
        """Return the text of a document with references to files. The arguments are those of `page`."""
        parts, position = [], 0
        while (token := _TOKEN.search(text, position)) is not None:
            # Copy what is no start tag, and rewrite start tags.
            parts.append(text[position : token.start()])
            position = token.end()
            tag = (token["tag"] or "").lower()
            if not tag or not token["end"]:
                parts.append(token[0])
                continue
            parts.append(self._tag(tag, token[0], url, base))
            # Skip the content of an element that has only text. Style sheets have references.
            if tag in RAW and (close := RAW[tag].search(text, position)):
                content, position = text[position : close.start()], close.start()
                parts.append(self.styles(content, url, base) if tag == "style" else content)
        return "".join([*parts, text[position:]])

    def styles(self, text: str, url: str, base: str) -> str:
        """Return a style sheet with references to files."""
        return replaced(text, in_css(text), lambda reference: _quoted(self._file(reference, url, base)))

    # ---------------------------------------------------------------- tags

    def _tag(self, tag: str, text: str, url: str, base: str) -> str:
        """Return a start tag with references to files; an empty text for an element that is removed."""
        attributes = _attributes(text, len(tag) + 1)
        values = {attribute.name: attribute.value for attribute in reversed(attributes)}
        # Remove elements that make browsers send requests or leave the mirror.
        if tag == "base" or (tag == "meta" and self._is_out(values, url, base)):
            return ""
        rel = set(values.get("rel", "").lower().split())
        if tag == "link" and rel & HINTS and not (rel & LINKED and self._to(values.get("href", ""), url, base)):
            return ""
        # Replace the values of attributes with references, and remove the attributes of `DROPPED`.
        is_refresh = tag == "meta" and values.get("http-equiv", "").strip().lower() == "refresh"
        parts, position = [], 0
        for attribute in attributes:
            if tag != "meta":
                value = self._value(tag, attribute, rel, url, base)
            elif is_refresh and attribute.name == "content":
                value = self._refresh(attribute.value, url, base)
            else:
                value = None
            if value is not None:
                changed = "" if attribute.name in DROPPED else f'{attribute.name}="{escape(value, quote=True)}"'
                parts += [text[position : attribute.start], changed]
                position = attribute.end
        return "".join([*parts, text[position:]])

    def _value(self, tag: str, attribute: _Attribute, rel: set[str], url: str, base: str) -> str | None:
        """Return the new value of an attribute; None if it stays."""
        name, value = attribute.name, attribute.value
        if name in DROPPED:
            return ""
        # Styles and documents within the page have references themselves.
        if name == "style":
            return self.styles(value, url, base)
        if tag == "iframe" and name == "srcdoc":
            return self.page(value, url, base)
        # Frames show a file of the mirror. Links and forms lead to a file or to the web.
        if tag in ("iframe", "frame") and name == "src":
            return self._file(value, url, base)
        is_link = tag == "link" and name == "href"
        if name in (*LEADS.get(tag, ()), *FORMS.get(tag, ())) or (is_link and not rel & LINKED):
            return self._lead(value, url, base)
        if tag == "a" and name == "xlink:href":
            return self._lead(value, url, base)
        # All other references are to files that the page shows or runs.
        if name in ELEMENTS.get(tag, ()) or is_link:
            return self._file(value, url, base)
        if name == SETS.get(tag):
            return replaced(value, in_srcset(value), lambda reference: self._file(reference, url, base))
        return None

    def _is_out(self, values: dict[str, str], url: str, base: str) -> bool:
        """Return whether a `meta` is removed: a policy of the site, a charset, or a refresh that leads to no file."""
        rule = values.get("http-equiv", "").strip().lower()
        if rule == "refresh":
            return self._refresh(values.get("content", ""), url, base) is None
        return "charset" in values or rule in ("content-security-policy", "content-type", "x-dns-prefetch-control")

    def _refresh(self, content: str, url: str, base: str) -> str | None:
        """Return the content of a refresh that leads to a file; None for any other content."""
        refresh = _REFRESH.match(content)
        target = "" if refresh is None else refresh["url"].partition(refresh["quote"] or "\n")[0].strip()
        reference = self._to(target, url, base) if target else None
        seconds = content.split(";")[0].split(",")[0].strip() or 0
        return None if reference is None else f"{seconds}; url={reference}"

    # ---------------------------------------------------------------- references

    def _to(self, reference: str, url: str, base: str) -> str | None:
        """Return the reference to the file of a target; None if the mirror has no such file."""
        try:
            target, mark, fragment = urljoin(base, reference.strip()).partition("#")
        except ValueError:
            return None
        file = self._local(url, target)
        return None if file is None else file + mark + fragment

    def _lead(self, reference: str, url: str, base: str) -> str | None:
        """Return a link to the file of a target, or to the web if there is no file: only a click makes a request."""
        if (file := self._to(reference, url, base)) is not None:
            return file
        try:
            return urljoin(base, reference.strip())
        except ValueError:
            return NOWHERE

    def _file(self, reference: str, url: str, base: str) -> str | None:
        """Return the reference to a file that browsers read at once: `NOWHERE` if the mirror lacks it, None if the
        reference stays."""
        text = reference.strip()
        if not text or text.startswith("#") or text.lower().startswith(("data:", "about:", "javascript:", "blob:")):
            return None
        return self._to(text, url, base) or NOWHERE


def _quoted(reference: str | None) -> str | None:
    """Return a reference as a string of a style sheet."""
    return None if reference is None else '"' + re.sub(r'["\\\n\r\f<]', lambda c: f"\\{ord(c[0]):x} ", reference) + '"'


def _attributes(text: str, position: int) -> list[_Attribute]:
    """Return the attributes of a start tag, from a position in its text on."""
    attributes = []
    while (match := _ATTRIBUTE.match(text, position)) is not None and match.end() > position:
        raw = match["value"] or ""
        raw = raw[1:-1] if raw[:1] in ('"', "'") and raw[-1:] == raw[:1] and len(raw) > 1 else raw
        attributes.append(_Attribute(match["name"].lower(), _decoded(raw), match.start("name"), match.end()))
        position = match.end()
    return attributes


def _decoded(value: str) -> str:
    """Return the value of an attribute without character references.

    In an attribute a reference must end with a semicolon if a letter or `=` follows.
    """
    return _ENTITY.sub(lambda entity: _entity(entity, value), value) if "&" in value else value


def _entity(entity: re.Match[str], value: str) -> str:
    text = entity[0]
    if text[1] == "#":
        digits = text[2:].rstrip(";")
        code = int(digits[1:], 16) if digits[:1] in "xX" else int(digits)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    if not text.endswith(";") and value[entity.end() : entity.end() + 1] == "=":
        return text
    return html5.get(text[1:], text)
