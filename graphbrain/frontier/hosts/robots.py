"""The rules of a site's robots.txt, by RFC 9309: which URLs may be fetched, and how long to wait between two.

If the RFC leaves a case open, or sites do not keep to it, the text is read as Google reads it (misspelt directives,
lines without a colon, `/index.html`). Crawl-delay, which is not in the RFC, holds for the agents that its group names
before it. The time for all of this is proportional to the length of the text, because patterns are matched without
regular expressions. So no text of a site can delay other work.

A process parses each text once and caches it by its fingerprint, which claims read from the host.
"""

from __future__ import annotations

import codecs
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote, unquote_to_bytes

from graphbrain.base.errors import BadInput

__all__ = ["LONGEST_TEXT", "Robots", "fingerprint", "parsed", "product", "readable", "remembered", "sitemaps_of"]

LONGEST_TEXT = 512_000
"""Most characters of a robots.txt that are read: the RFC's 500 kibibytes. The rest is ignored, as by Google."""
REMEMBERED, REMEMBERED_TEXT = 2_000, 20_000_000
"""Most texts that are cached, and most characters of all of them."""
LONGEST_DELAY = 1e9
MOST_STEPS = 1_000_000
"""Most characters of a URL and of patterns with a `*` that are compared for one page. If the patterns of a host need
more, the page is not fetched."""

# Directive, also in the misspellings that Google accepts → its kind.
_DIRECTIVES = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), "agent"),
    **dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    "allow": "allow",
    **dict.fromkeys(("crawl-delay", "crawldelay", "crawl delay"), "delay"),
}
_DIRECTIVE = re.compile("|".join(sorted(_DIRECTIVES, key=len, reverse=True)), re.IGNORECASE)
_LINE_END = re.compile("\r\n|\r|\n")
_BLANK = " \t\v\f\xa0\u200b\ufeff"
_SECONDS = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_TOKEN = re.compile(r"\*?([\w.-]+)")
_BROWSER_LIKE = re.compile(r"mozilla/.*?compatible;\s*([\w.-]+)", re.IGNORECASE | re.DOTALL)

# URLs and patterns are compared with uniform escapes. Unreserved characters have no escape. Characters that a URL must
# not contain have one. Other characters stay as they are written (`/` and `%2F` are different). `*` and `$` are escaped
# in URLs, because they have a meaning in patterns.
_PLAIN = re.compile(r"[A-Za-z0-9._~!&'()+,;=:@/?-]*", re.ASCII)
_OTHER = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!&'()+,;=:@/?-]", re.ASCII)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HARMLESS = re.compile("%(?:2F|3A|3F|40)")
"""Escapes of characters that separate nothing in a query: there RFC 3986 gives the escape and the character the same
meaning."""
_BEYOND_ASCII = re.compile("(?:%[89A-F][0-9A-F])+")


def sitemaps_of(text: str) -> list[str]:
    """Return the URLs of the Sitemap lines of a robots.txt, each once, in their order. The lines belong to no group.

    Source: sitemaps.org, "Specifying the Sitemap location in your robots.txt file".
    """
    urls: dict[str, None] = {}
    for line in _LINE_END.split(text):
        name, colon, value = line.strip(_BLANK).partition(":")
        if colon and name.strip(_BLANK).lower() in ("sitemap", "site-map") and (url := value.strip(_BLANK)):
            urls.setdefault(url.split()[0])
    return list(urls)


class Robots:
    """The rules of one text. Thread-safe: threads that make the rules of an agent at the same time make equal ones."""

    def __init__(self, text: str) -> None:
        self._groups = _groups(text)
        self._of_agent: dict[str, _Rules] = {}

    def allows(self, url: str, agent: str) -> bool:
        """Return whether an agent may fetch a URL. `agent`: its name, or the header that it sends."""
        target = _target(url)
        return target == "/robots.txt" or self._rules(agent).allow(target)

    def allows_all(self, agent: str) -> bool:
        """Return whether no rule forbids this agent any URL."""
        return self._rules(agent).allows_all

    def delay(self, agent: str) -> float:
        """Return the seconds of the Crawl-delay for this agent; 0 if there is none."""
        return self._rules(agent).delay

    def _rules(self, agent: str) -> _Rules:
        token = product(agent)
        rules = self._of_agent.get(token)
        if rules is None:
            rules = self._of_agent[token] = _Rules(self._groups, token)
        return rules


@lru_cache(maxsize=1_000)
def product(agent: str) -> str:
    """Return the product token in a crawler's name or header: `mybot` for `MyBot/1.0 (+http://…)`.

    A header that begins like that of a browser has the name later: `Mozilla/5.0 (compatible; MyBot/1.0)`.
    """
    match = _BROWSER_LIKE.match(agent.strip()) or _TOKEN.match(agent.strip())
    return match[1].lower() if match else ""


@dataclass(slots=True)
class _Group:
    """A group of rules.

    Attributes:
        agents: Product token → its number in the group.
        rules: (whether it allows, pattern) of each rule.
        delays: (number of the agents that were named before it, seconds) of each Crawl-delay.
    """

    agents: dict[str, int] = field(default_factory=dict)
    rules: list[tuple[bool, str]] = field(default_factory=list)
    delays: list[tuple[int, float]] = field(default_factory=list)


def _groups(text: str) -> list[_Group]:
    """Return the groups in their order. Rules before the first agent are for no agent."""
    groups = [_Group()]
    begins_group = True  # whether the next line with an agent begins another group
    for line in _LINE_END.split(text):
        directive, value = _directive(line)
        group = groups[-1]
        # Add an agent to the group, or begin another one after rules.
        if directive == "agent":
            if begins_group:
                group, begins_group = _Group(), False
                groups.append(group)
            group.agents.setdefault("*" if _is_everybody(value) else product(value), len(group.agents))
        # Add a Crawl-delay for the agents before it. It is no rule of the RFC, so the group may name further agents.
        elif directive == "delay":
            seconds = min(float(value), LONGEST_DELAY) if _SECONDS.fullmatch(value) else 0.0
            if seconds > 0:
                group.delays.append((len(group.agents), seconds))
        # Add a rule.
        elif directive and group.agents:
            begins_group = True
            if value.startswith(("/", "*")):
                group.rules.append((directive == "allow", value))
    return groups


def _directive(line: str) -> tuple[str | None, str]:
    """Return (kind of directive, value) of a line. The kind is None for other lines."""
    line = line.partition("#")[0].strip(_BLANK)
    name, colon, value = line.partition(":")
    if not colon:
        words = line.split()
        if len(words) != 2:
            return None, ""
        name, value = words
    match = _DIRECTIVE.match(name.strip(_BLANK))
    return (_DIRECTIVES[match[0].lower()], value.strip(_BLANK)) if match else (None, "")


def _is_everybody(value: str) -> bool:
    return value.startswith("*") and not _TOKEN.match(value)


class _Rules:
    """The rules for one agent: those of all groups that name it, or of the groups for `*` if no group names it."""

    def __init__(self, groups: list[_Group], token: str) -> None:
        name = token if token and any(token in group.agents for group in groups) else "*"
        mine = [group for group in groups if name in group.agents]
        delays = (seconds for g in mine for before, seconds in g.delays if g.agents[name] < before)
        self.delay = max(delays, default=0.0)
        self.allows_all = all(allow for group in mine for allow, _ in group.rules)
        self._whole: dict[str, tuple[int, bool]] = {}
        self._begins: dict[str, tuple[int, bool]] = {}
        starred: set[tuple[int, bool, tuple[str, ...], bool]] = set()
        for allow, text in {rule for group in mine for rule in group.rules}:
            self._add(allow, text, starred)
            head, _, page = text.rpartition("/")
            if allow and page.startswith("index.htm"):  # a rule that allows index.html allows its folder, too
                self._add(True, f"{head}/$", starred)
        self._lengths = sorted({len(text) for text in self._begins})
        self._starred = sorted(starred, key=lambda rule: rule[:2], reverse=True)

    def _add(self, allow: bool, text: str, starred: set[tuple[int, bool, tuple[str, ...], bool]]) -> None:
        """Add a rule to those without wildcards, or to `starred`."""
        anchored = text.endswith("$")
        pattern = "*".join(_octets(part) for part in text.removesuffix("$").split("*"))
        # The longest matching rule decides. If two have the same length, the one that allows decides.
        rank = (len(pattern) + anchored, allow)
        for spelling in _spellings(pattern):
            first, *others = spelling.split("*")
            if any(others) or (others and anchored):
                starred.add((*rank, (first, *filter(None, others[:-1]), others[-1]), anchored))
            elif anchored and not others:
                self._whole[first] = max(rank, self._whole.get(first, rank))
            else:
                self._begins[first] = max(rank, self._begins.get(first, rank))

    def allow(self, target: str) -> bool:
        """Return whether the rules allow path and query of a URL."""
        best, targets, steps = (-1, True), _query_spellings(target), 0
        # Look the rules without wildcards up, by each length that occurs.
        for text in targets:
            best = max(best, self._whole.get(text, best))
            for length in self._lengths:
                if length > len(text):
                    break
                best = max(best, self._begins.get(text[:length], best))
        # Match the rules with wildcards, the longest first, within a limit of steps.
        for length, allow, parts, anchored in self._starred:
            if (length, allow) <= best:
                break
            steps += len(target) + length
            if steps > MOST_STEPS:
                return False
            if any(_fits(text, parts, anchored) for text in targets):
                best = (length, allow)
        return best[1]


def _fits(text: str, parts: tuple[str, ...], anchored: bool) -> bool:
    """Return whether a pattern, split at its stars, matches. It is enough to try the first occurrence of each part."""
    first, *middle, last = parts
    if not text.startswith(first):
        return False
    position = len(first)
    for part in middle:
        start = text.find(part, position)
        if start < 0:
            return False
        position = start + len(part)
    if anchored:
        return len(text) - len(last) >= position and text.endswith(last)
    return text.find(last, position) >= 0


def _target(url: str) -> str:
    """Return path and query of a URL, with uniform escapes, for the comparison with rules."""
    rest = url.partition("://")[2].partition("#")[0]
    start = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    path = rest[start:]
    return _octets(path if path.startswith("/") else f"/{path}")


def _octets(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _OTHER.sub(_octet, text)


def _octet(escape: re.Match[str]) -> str:
    piece = escape[0]
    if len(piece) == 1:
        return quote(piece, safe="", errors="replace")
    char = chr(int(piece[1:], 16))
    return char if char in _UNRESERVED else piece.upper()


def _query_spellings(text: str) -> list[str]:
    """Return a text, and the same with fewer escapes in its query, if it has such escapes."""
    head, mark, query = text.partition("?")
    plain = _HARMLESS.sub(lambda match: chr(int(match[0][1:], 16)), query)
    return [text] if plain == query else [text, head + mark + plain]


def _spellings(pattern: str) -> list[str]:
    """Return a pattern, and other patterns that its author may have meant: in a text in Latin-1, those in UTF-8."""
    spellings = _query_spellings(pattern)
    utf8 = _BEYOND_ASCII.sub(_from_latin, pattern)
    return spellings if utf8 == pattern else [*spellings, utf8]


def _from_latin(escapes: re.Match[str]) -> str:
    return _octets(unquote_to_bytes(escapes[0]).decode("utf-8", "graphbrain.latin"))


def _as_latin(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


def _as_escapes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(f"%{octet:02X}" for octet in error.object[error.start : error.end]), error.end


codecs.register_error("graphbrain.latin", _as_latin)
codecs.register_error("graphbrain.escapes", _as_escapes)


def readable(text: object) -> str:
    """Return a robots.txt as a text of at most LONGEST_TEXT characters, cut at the end of a line.

    Bytes are decoded as UTF-8 or UTF-16. Octets that are not UTF-8 are escaped, as in a URL. Raises BadInput for data
    that is no text.
    """
    if isinstance(text, bytes | bytearray | memoryview):
        text = _decoded(bytes(text[: 4 * LONGEST_TEXT]))
    if not isinstance(text, str):
        raise BadInput(f"A robots.txt is text or bytes, not {type(text).__name__}.")
    if text.startswith("ï»¿"):  # UTF-8 that was read as Latin-1
        text = _decoded(text[: 4 * LONGEST_TEXT].encode("latin-1", "replace"))
    text = text.lstrip("\ufeff")
    if "\0" in text:
        raise BadInput("That is no robots.txt: it holds NUL characters, so it is no text.")
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT]
        text = text[: max(text.rfind("\n"), text.rfind("\r"), 0)]
    return text.encode("utf-8", "replace").decode()


def _decoded(raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "replace")
    # Recognise UTF-16 without a byte order mark: every other octet of Latin letters is NUL.
    for parity, name in ((0, "utf-16-be"), (1, "utf-16-le")):
        if (
            len(raw) > 3
            and 2 * raw[parity:1_000:2].count(0) > len(raw[parity:1_000:2])
            and 0 not in raw[1 - parity : 1_000 : 2]
        ):
            return raw.decode(name, "replace")
    return raw.decode("utf-8", "graphbrain.escapes")


def fingerprint(text: str) -> str:
    """Return a digest that identifies a text."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


_memory: OrderedDict[str, tuple[Robots, int]] = OrderedDict()
_lock = threading.Lock()


def remembered(mark: str) -> Robots | None:
    """Return the rules of the text with this fingerprint; None if they are not cached."""
    with _lock:
        entry = _memory.get(mark)
        if entry is None:
            return None
        _memory.move_to_end(mark)
        return entry[0]


def parsed(text: str) -> Robots:
    """Return the rules of a text, from the cache if possible."""
    mark = fingerprint(text)
    rules = remembered(mark)
    if rules is None:
        rules = Robots(text)
        with _lock:
            _memory[mark] = (rules, len(text))
            size = sum(length for _, length in _memory.values())
            while len(_memory) > REMEMBERED or (size > REMEMBERED_TEXT and len(_memory) > 1):
                size -= _memory.popitem(last=False)[1][1]
    return rules
