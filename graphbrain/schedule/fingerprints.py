"""Fingerprints of a body, which show later whether it has changed: hashes of its bytes and of its visible text, the
blocks of that, and a simhash. For blocks of text see `graphbrain.schedule.blocks`.

The simhash of a text is 64 bits, each the majority of that bit in the hashes of the text's shingles: like texts have
hashes that differ in few bits, so a date stamp among many words is no change. Charikar, "Similarity estimation
techniques from rounding algorithms", STOC 2002; 3 bits are near duplicates in Manku, Jain, Das Sarma, "Detecting
near-duplicates for web crawling", WWW 2007. (Own, for the packages that have it have not been kept since 2022.)
Visible text is what remains when tags, scripts, styles and comments go. It is only ever compared with itself.

A page is read once: its markup is split at the tags, which gives the text with the edges of its blocks, and the words
of that are hashed together (`graphbrain.schedule.words`). No tree is built: one takes longer to make than all of this,
a callback of Scrapy may have cut parts from that of its response, and parsers differ in broken pages.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from w3lib.encoding import html_to_unicode

from graphbrain.base.model import Seen, text_version
from graphbrain.schedule import blocks, shingles
from graphbrain.schedule.section_noise import SectionNoise, probability_of
from graphbrain.schedule.words import EDGE, FACTORS, LINK, VERSION, Words, distinct, masked, outlined, pieces

__all__ = [
    "ChangeTest",
    "compared",
    "distance",
    "following",
    "signed",
    "simhash",
    "take",
    "text_blocks",
    "unchanged",
    "visible_text",
]

LARGEST_TEXT = 4_000_000
"""Bytes: of a larger body only the hash of the bytes is taken."""
MOST_WORDS = 100_000
_HTML = re.compile(
    rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[\s>]"
    rb"|<\?xml.*<html[\s>]",
    re.IGNORECASE | re.DOTALL,
)
"""The beginnings of a body that is HTML without a type: WHATWG's "MIME Sniffing", section 7.1; and XHTML."""
SNIFFED = 2048
_SILENT = re.compile(
    r"<(?:!--.*?-->|(script|style|noscript|template)(?=[\s/>]).*?</\1(?=[\s/>])[^>]*>)", re.IGNORECASE | re.DOTALL
)
# Without these ends, the search for each unclosed tag would go on to the end of the page.
_ENDS = "<a--></script></style></noscript></template>"
_TAG = re.compile(
    r"""<(?:/?([A-Za-z][^\s/>]*+)|[/!?])[^>=]*+(?:=(?:"[^"]*+"|'[^']*+'|\s*+(?:"[^"]*+"|'[^']*+')?+)[^>=]*+)*+>"""
)
"""A tag, with its name where it is one of an element. A quoted value may hold a `>`. An XML declaration is a comment
of HTML."""
_BLOCK_TAGS = (
    *("address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd", "details"),
    *("dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5"),
    *("h6", "head", "header", "hr", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section"),
    *("select", "summary", "table", "tbody", "textarea", "tfoot", "thead", "title", "tr", "ul"),
)
_BETWEEN = {name: EDGE for tag in _BLOCK_TAGS for name in (tag, tag.upper(), tag.capitalize())}
_BETWEEN |= {"a": LINK, "A": LINK}
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(float)
_OCTETS = np.arange(0, 8 * 256, 256)
"""The bits of each octet, and where the octets of each place are counted."""


def visible_text(body: bytes, content_type: str | None = None) -> str | None:
    """The text that a reader of an HTML page sees, one space between words; None when the body is no HTML.

    `content_type`: the header; without one the body's beginning is looked at. Plain text is taken as it is.
    """
    text = _text(body, content_type)
    return None if text is None else " ".join(text.split())


def text_blocks(body: bytes, content_type: str | None = None) -> str | None:
    """The blocks of the visible text, as `blocks.cut` makes them; None when there is none."""
    text = _text(body, content_type)
    return None if text is None else blocks.cut(_lines(text))


def _text(body: bytes, content_type: str | None) -> str | None:
    """The visible text with `EDGE` between its blocks; between the lines, where it is plain text."""
    if len(body) > LARGEST_TEXT:
        return None
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind == "text/plain":
        return EDGE.join(_decoded(body, content_type).splitlines())
    if kind not in ("text/html", "application/xhtml+xml") and (kind or not _sniff(body)):
        return None
    parts = _TAG.split(_SILENT.sub("", _decoded(body, content_type) + _ENDS))
    between = _BETWEEN.get
    parts[1::2] = [between(name, " ") for name in parts[1::2]]
    return html.unescape("".join(parts))


def _lines(text: str) -> list[str]:
    """Return the texts of the blocks that have any, with one space or one `LINK` between words, so that no cut depends
    on them."""
    lines, links = list[str](), 0
    for block in text.split(EDGE):
        line = list[str]()
        for number, part in enumerate(block.split(LINK)):
            links += number > 0  # a link ends, or begins, before the next word, which may be of a later block
            if plain := " ".join(part.split()):
                line += [LINK if links % 2 else " " if line else "", plain]
                links = 0
        if line:
            lines.append("".join(line))
    return lines


def _decoded(body: bytes, content_type: str | None) -> str:
    """Return the text of a page. What names a codec that decodes nothing (hex, idna, undefined) has named no
    charset."""
    try:
        return html_to_unicode(content_type, body)[1]
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _sniff(body: bytes) -> bool:
    return _HTML.match(body[:SNIFFED].removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def simhash(text: str | Words) -> int | None:
    """The 64 bits of a text as a signed integer, from its words and their pairs; None when it has no words."""
    words = (text if isinstance(text, Words) else Words.of(text)).hashes[:MOST_WORDS]
    pairs = words[:-1] * FACTORS[0] + words[1:] * FACTORS[1]
    shingles = distinct(np.concatenate([words, pairs]))
    if not len(shingles):
        return None
    octets = shingles.astype(">u8").view(np.uint8).reshape(-1, 8)
    counts = np.bincount((octets + _OCTETS).ravel(), minlength=_OCTETS[-1] + 256).reshape(8, 256)
    majority = np.packbits(2 * (counts @ _BITS).ravel() > len(shingles))
    return int.from_bytes(majority.tobytes(), "big", signed=True)


def signed(bits: int) -> int:
    """64 bits as the signed integer that Neo4j can keep, whether they were counted from 0 or from −2⁶³."""
    return (bits + (1 << 63)) % (1 << 64) - (1 << 63)


def distance(one: int, other: int) -> int:
    """Return the number of differing bits of two simhashes of 64 bits."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


@dataclass(frozen=True, slots=True)
class ChangeTest:
    """The method by which a changed page is distinguished from one that is the same.

    `method`: by body, by visible text, by the blocks of the text, which have changed where that has a probability
    `above` this, or by its simhash, the same up to `bits` differing bits. Equal texts are the same. A value that only
    one of the two visits has, or blocks of another version, are not compared; then another hash decides: in place of
    blocks the simhash. `detector`: the user's own, instead of all that. `failure`: the error of the detector, in whose
    place this is.
    """

    method: str = "blocks"
    bits: int = 3
    detector: Callable[[Seen, Seen], bool] | None = None
    failure: str = ""
    above: float = 0.5
    sketches: bool = False
    """is a sketch of the shingles of the text taken, too, wherever the text is?"""

    @property
    def wants_text(self) -> bool:
        """True if the visible text is needed."""
        return self.method != "body" or self.detector is not None

    @property
    def wants_simhash(self) -> bool:
        """True if the simhash is needed. It is needed with blocks, too: near duplicates are found by it."""
        return self.method in ("simhash", "blocks") or self.detector is not None

    @property
    def wants_blocks(self) -> bool:
        """True if the blocks of the text are needed."""
        return self.method == "blocks" or self.detector is not None

    def compares(self, old: Seen, new: Seen) -> bool:
        """Return whether both visits have a hash or text by which they can be compared."""
        return self.detector is not None or self._verdict(old, new) is not None

    def differs(self, old: Seen, new: Seen, section: SectionNoise | None = None) -> bool:
        """Return whether the page has changed between two visits; False if they cannot be compared. `section`: the
        noise of its section, where it has few visits."""
        return bool(self._verdict(old, new, section) if self.detector is None else self.detector(old, new))

    def _verdict(self, old: Seen, new: Seen, section: SectionNoise | None = None) -> bool | None:
        """Return whether the hashes show a change; None if they cannot be compared, as those of two versions."""
        if old.body_hash is not None and old.body_hash == new.body_hash:
            return False
        if self.method != "body" and not _alike(old, new):
            return None
        if self.method != "body" and old.text_hash is not None and old.text_hash == new.text_hash:
            return False
        if self.method == "blocks" and old.blocks is not None and new.blocks is not None:
            probability = probability_of(blocks.step(old.blocks, new.blocks), section)
            if probability is not None:
                return probability > self.above
        if self.method in ("simhash", "blocks") and old.simhash is not None and new.simhash is not None:
            return distance(old.simhash, new.simhash) > self.bits
        if self.method != "body" and old.text_hash is not None and new.text_hash is not None:
            return old.text_hash != new.text_hash
        return None if None in (old.body_hash, new.body_hash) else True

    def judge(self, old: Seen, new: Seen, section: SectionNoise | None = None) -> tuple[bool, ChangeTest]:
        """Has the page changed between two visits, and by what: a detector that raises leaves it to the hashes.
        `section`: as of `differs`."""
        try:
            return self.differs(old, new, section), self
        except Exception as error:
            if self.detector is None:
                raise
            why = " ".join(f"the detector failed ({type(error).__name__}: {error})".split())[:150]
            own = replace(self, detector=None, failure=f"{why}; compared by {self.method}")
            return own.differs(old, new, section), own


def take(
    seen: Seen,
    body: bytes | bytearray | memoryview | None,
    content_type: str | None,
    change: ChangeTest,
    url: str = "",
) -> Seen:
    """`seen` with the hashes of a body that the crawler has not brought itself, as far as they are needed. `url`: the
    page's address, whose words count as no text of its own in the sketch."""
    if body is None:
        return seen
    raw = bytes(body)
    taken: dict[str, Any] = {"body_hash": _hash(raw)}
    missing = None in (seen.text_hash, seen.simhash, seen.blocks, seen.shingles)
    text = _text(raw, content_type) if change.wants_text and missing else None
    if lines := _lines(text or ""):
        plain = " ".join(line.lstrip(LINK) for line in lines).replace(LINK, " ")
        taken["text_hash"] = f"text{VERSION}:{_hash(plain.encode('utf-8', 'surrogatepass'))}"
        wanted = change.wants_simhash or change.sketches
        taken |= _of_words(Words.of(EDGE.join(lines)), change, url) if wanted else {}
    return replace(seen, **{name: value for name, value in taken.items() if getattr(seen, name) is None})


def _of_words(words: Words, change: ChangeTest, url: str) -> dict[str, Any]:
    values: dict[str, Any] = {"simhash": simhash(words)} if change.wants_simhash else {}
    bounds = pieces(words) if len(words.hashes) and (change.wants_blocks or change.sketches) else None
    if bounds is not None and change.wants_blocks:
        values["blocks"] = blocks.hashed(outlined(words, bounds), bounds)
    if bounds is not None and change.sketches:
        sketch = shingles.sketch(masked(words, bounds, shingles.words_of(url, words)))
        values["shingles"] = None if sketch is None else sketch.text()
    return values


def compared(old: Seen, new: Seen) -> blocks.VisitStep | None:
    """Return how the blocks of two visits differ, None where one has none."""
    return None if old.blocks is None or new.blocks is None else blocks.step(old.blocks, new.blocks)


def following(old: Seen, new: Seen) -> str | None:
    """Return the blocks of a page that are kept after a visit, by whichever method the change was found."""
    same = old.text_hash is not None and old.text_hash == new.text_hash and blocks.is_plain(old.blocks)
    return old.blocks if new.blocks is None or same else blocks.step(old.blocks, new.blocks).kept


def unchanged(old: Seen, new: Seen) -> Seen:
    """Return the hashes that are kept after a visit that found no change: those of the last change, with what it did
    not have; those of the visit, where both cannot be compared."""
    if not _alike(old, new):
        return new
    bits = new.simhash if old.simhash is None else old.simhash
    return replace(
        old, body_hash=old.body_hash or new.body_hash, text_hash=old.text_hash or new.text_hash, simhash=bits
    )


def _alike(old: Seen, new: Seen) -> bool:
    """Return whether the hashes of two texts are of one version, or one of them has none."""
    versions = {text_version(seen.text_hash) for seen in (old, new) if (seen.text_hash, seen.simhash) != (None, None)}
    return len(versions) < 2


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
