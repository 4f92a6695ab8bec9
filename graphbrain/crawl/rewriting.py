"""Pages and style sheets whose references lead to files instead of the web.

A page is read as browsers read it (WHATWG HTML, "tokenization"), and only the tags with references are written anew.
What would make a request of its own is taken out: `base`, hints such as `preconnect`, and what is not among the files.
A policy forbids the rest, such as requests of scripts.
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
"""Written for a file that is not there: browsers make no request for it."""
LEADS = {"a": ("href",), "area": ("href",), "iframe": ("src",), "frame": ("src",)}
FORMS = {"form": ("action",), "button": ("formaction",), "input": ("formaction",)}
DROPPED = frozenset({"integrity", "crossorigin", "nonce", "ping", "manifest"})
"""Attributes by which browsers refuse files or make requests."""
HINTS = frozenset({"dns-prefetch", "preconnect", "prefetch", "prerender", "preload", "modulepreload"})
RAW = {
    tag: re.compile(rf"</{tag}(?=[\s/>])|\Z", re.IGNORECASE)
    for tag in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
"""The elements whose content is text, and their ends."""
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
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(['\"]?)(.*)", re.IGNORECASE | re.DOTALL)
POLICY = (
    "default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'; script-src {scripts}; "
    "connect-src 'self' file: data: blob:; form-action 'none'"
)


class _Attribute(NamedTuple):
    name: str
    value: str
    start: int
    end: int


class Rewriter:
    """The rewriting of the files of one mirror.

    Args:
        local: Returns the reference from one URL's file to that of another, None if that has no file.
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
        """Return a page with references to files, and with its policy before all elements."""
        text = self.markup(text, url, base)
        before = _BEFORE_ELEMENTS.match(text)
        at = before.end() if before is not None else 0  # a policy counts only in the head
        return text[:at] + self._head + text[at:]

    def markup(self, text: str, url: str, base: str) -> str:
        """Return the text of a document, or of one within another, with references to files."""
        parts, at = [], 0
        while (token := _TOKEN.search(text, at)) is not None:
            parts.append(text[at : token.start()])
            at = token.end()
            tag = (token["tag"] or "").lower()
            if not tag or not token["end"]:
                parts.append(token[0])
                continue
            parts.append(self._tag(tag, token[0], url, base))
            if tag in RAW and (close := RAW[tag].search(text, at)):
                inner, at = text[at : close.start()], close.start()
                parts.append(self.styles(inner, url, base) if tag == "style" else inner)
        return "".join([*parts, text[at:]])

    def styles(self, text: str, url: str, base: str) -> str:
        """Return a style sheet with references to files."""
        return replaced(text, in_css(text), lambda reference: _quoted(self._file(reference, url, base)))

    # ---------------------------------------------------------------- tags

    def _tag(self, tag: str, text: str, url: str, base: str) -> str:
        """Return a start tag with references to files; nothing for an element that is taken out."""
        attributes = _attributes(text, len(tag) + 1)
        values = {one.name: one.value for one in reversed(attributes)}
        # Elements that would lead out of the mirror are dropped.
        if tag == "base" or (tag == "meta" and self._is_out(values, url, base)):
            return ""
        rel = set(values.get("rel", "").lower().split())
        if tag == "link" and rel & HINTS and not (rel & LINKED and self._to(values.get("href", ""), url, base)):
            return ""
        parts, at = [], 0
        # Replace the values of attributes that refer to something.
        for one in attributes:
            new = None if tag == "meta" else self._value(tag, one, rel, url, base)
            if tag == "meta" and one.name == "content" and values.get("http-equiv", "").strip().lower() == "refresh":
                new = self._refresh(one.value, url, base)
            if new is not None:
                written = f'{one.name}="{escape(new, quote=True)}"' if one.name not in DROPPED else ""
                parts += [text[at : one.start], written]
                at = one.end
        return "".join([*parts, text[at:]])

    def _value(self, tag: str, one: _Attribute, rel: set[str], url: str, base: str) -> str | None:
        """Return the new value of an attribute; None if it stays."""
        name, value = one.name, one.value
        if name in DROPPED:
            return ""
        if name == "style":
            return self.styles(value, url, base)
        if tag == "iframe" and name == "srcdoc":
            return self.page(value, url, base)
        if tag in ("iframe", "frame") and name == "src":
            return self._file(value, url, base)
        # Links and forms lead to pages; the other references are files of this page.
        if name in (*LEADS.get(tag, ()), *FORMS.get(tag, ())) or (
            tag == "link" and name == "href" and not rel & LINKED
        ):
            return self._lead(value, url, base)
        if name in ELEMENTS.get(tag, ()) or (tag == "link" and name == "href"):
            return self._file(value, url, base)
        if name == SETS.get(tag):
            return replaced(value, in_srcset(value), lambda reference: self._file(reference, url, base))
        return self._lead(value, url, base) if tag == "a" and name == "xlink:href" else None

    def _is_out(self, values: dict[str, str], url: str, base: str) -> bool:
        """Return whether a `meta` is taken out: a policy of the site, a charset, or a refresh that leads nowhere."""
        rule = values.get("http-equiv", "").strip().lower()
        if rule == "refresh":
            return self._refresh(values.get("content", ""), url, base) is None
        return "charset" in values or rule in ("content-security-policy", "content-type", "x-dns-prefetch-control")

    def _refresh(self, content: str, url: str, base: str) -> str | None:
        """Return the content of a refresh that leads to a file; None for any other content."""
        refresh = _REFRESH.match(content)
        target = "" if refresh is None else refresh[2].partition(refresh[1] or "\n")[0].strip()
        there = self._to(target, url, base) if target else None
        return None if there is None else f"{content.split(';')[0].split(',')[0].strip() or 0}; url={there}"

    # ---------------------------------------------------------------- references

    def _to(self, reference: str, url: str, base: str) -> str | None:
        """Return the reference to the file of another URL; None if there is none."""
        try:
            target, mark, fragment = urljoin(base, reference.strip()).partition("#")
        except ValueError:
            return None
        there = self._local(url, target)
        return None if there is None else there + mark + fragment

    def _lead(self, reference: str, url: str, base: str) -> str | None:
        """Return a link: to a file, or else to the web, which is asked only by a click."""
        bare = reference.strip()
        if (there := self._to(bare, url, base)) is not None:
            return there
        try:
            return urljoin(base, bare)
        except ValueError:
            return NOWHERE

    def _file(self, reference: str, url: str, base: str) -> str | None:
        """Return the reference to a file that browsers read at once; `NOWHERE` if it is not there, None if it stays."""
        bare = reference.strip()
        if not bare or bare.startswith("#") or bare.lower().startswith(("data:", "about:", "javascript:", "blob:")):
            return None
        return self._to(bare, url, base) or NOWHERE


def _quoted(reference: str | None) -> str | None:
    """Return a reference as a string of a style sheet."""
    return None if reference is None else '"' + re.sub(r'["\\\n\r\f<]', lambda c: f"\\{ord(c[0]):x} ", reference) + '"'


def _attributes(text: str, at: int) -> list[_Attribute]:
    """Return the attributes of a start tag, with their places."""
    attributes = []
    while (one := _ATTRIBUTE.match(text, at)) is not None and one.end() > at:
        raw = one["value"] or ""
        raw = raw[1:-1] if raw[:1] in ('"', "'") and raw[-1:] == raw[:1] and len(raw) > 1 else raw
        attributes.append(_Attribute(one["name"].lower(), _decoded(raw), one.start("name"), one.end()))
        at = one.end()
    return attributes


def _decoded(value: str) -> str:
    """Return the value of an attribute without entities. One without a semicolon before a letter or `=` is none."""
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
