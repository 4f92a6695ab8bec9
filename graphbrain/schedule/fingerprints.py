"""Fingerprints of a body, which show later whether it has changed: hashes of its bytes and of its visible text, the
blocks of the text, and a simhash. For blocks of text see `graphbrain.schedule.blocks`.

The simhash of a text is 64 bits, each the majority of that bit in the hashes of the text's shingles: like texts have
hashes that differ in few bits, so a date stamp among many words is no change. Charikar, "Similarity estimation
techniques from rounding algorithms", STOC 2002; 3 bits are near duplicates in Manku, Jain, Das Sarma, "Detecting
near-duplicates for web crawling", WWW 2007. The code is our own, since no package with simhash has been maintained
since 2022. Visible text is what remains without tags, scripts, styles and comments. It is only compared with text that
the same code extracted.

One pass reads a page: it splits the markup at the tags, marks the edges of blocks in the text, and hashes all words of
the text together (`graphbrain.schedule.words`). It builds no tree. A tree takes longer to build than this whole pass, a
callback of Scrapy may have changed the tree of its response, and parsers differ on broken pages.
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

from graphbrain.base.model import PARTS, Seen, text_version
from graphbrain.schedule import blocks, parts, shingles
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
"""The most bytes of a body whose text is read. A larger body has only the hash of its bytes."""
MOST_WORDS = 100_000
_HTML = re.compile(
    rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[\s>]"
    rb"|<\?xml.*<html[\s>]",
    re.IGNORECASE | re.DOTALL,
)
"""The beginnings that show that a body without a content type is HTML: WHATWG's "MIME Sniffing", section 7.1; and
XHTML."""
SNIFFED = 2048
_SILENT = re.compile(
    r"<(?:!--.*?-->|(script|style|noscript|template)(?=[\s/>]).*?</\1(?=[\s/>])[^>]*>)", re.IGNORECASE | re.DOTALL
)
# Close every element that the pattern skips: the search for an end tag that is missing would scan the whole page again
# for each start tag.
_ENDS = "<a--></script></style></noscript></template>"
_TAG = re.compile(
    r"""<(?:/?([A-Za-z][^\s/>]*+)|[/!?])[^>=]*+(?:=(?:"[^"]*+"|'[^']*+'|\s*+(?:"[^"]*+"|'[^']*+')?+)[^>=]*+)*+>"""
)
"""A tag; the group is the name of the element, if the tag has one. A quoted value may hold a `>`. HTML reads an XML
declaration as a comment."""
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
"""The bits of each value of an octet; and the first counter of each of the eight octets of a hash."""


def visible_text(body: bytes, content_type: str | None = None) -> str | None:
    """Return the text that a reader of an HTML page sees, with one space between words; None when the body is no text.

    `content_type`: the header; without it, the beginning of the body shows whether it is HTML. Plain text is returned
    without a search for tags.
    """
    text = _text(body, content_type)
    return None if text is None else " ".join(text.split())


def text_blocks(body: bytes, content_type: str | None = None) -> str | None:
    """Return the blocks of the visible text, as `blocks.cut` makes them; None when there is no text."""
    text = _text(body, content_type)
    return None if text is None else blocks.cut(_lines(text))


def _text(body: bytes, content_type: str | None) -> str | None:
    """Return the visible text with `EDGE` between its blocks; in plain text, each line is a block."""
    if len(body) > LARGEST_TEXT:
        return None
    if _kind_in(content_type) == "text/plain":
        return EDGE.join(_decoded(body, content_type).splitlines())
    if not _is_html(body, content_type):
        return None
    # The split puts the names of tags at odd places, and the text between them at even places.
    pieces_of_text = _TAG.split(_SILENT.sub("", _decoded(body, content_type) + _ENDS))
    separator_of = _BETWEEN.get
    pieces_of_text[1::2] = [separator_of(name, " ") for name in pieces_of_text[1::2]]
    return html.unescape("".join(pieces_of_text))


def _lines(text: str) -> list[str]:
    """Return the texts of the blocks that have words. One space or one `LINK` separates two words, so that white space
    of the markup changes no hash."""
    lines, link_marks = list[str](), 0
    for block in text.split(EDGE):
        line = list[str]()
        for number, part in enumerate(block.split(LINK)):
            # Count the marks since the last word: an even number of them begins and ends links without words.
            link_marks += number > 0
            if plain := " ".join(part.split()):
                line += [LINK if link_marks % 2 else " " if line else "", plain]
                link_marks = 0
        if line:
            lines.append("".join(line))
    return lines


def _decoded(body: bytes, content_type: str | None) -> str:
    """Return the text of a page. A charset that is no encoding of text (hex, idna, undefined) is ignored."""
    try:
        return html_to_unicode(content_type, body)[1]
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _kind_in(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def _is_html(body: bytes, content_type: str | None) -> bool:
    """Return whether a body is HTML, by its content type; without one, by its beginning."""
    if kind := _kind_in(content_type):
        return kind in ("text/html", "application/xhtml+xml")
    return _HTML.match(body[:SNIFFED].removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def simhash(text: str | Words) -> int | None:
    """Return the simhash of a text as a signed integer of 64 bits, from its words and their pairs; None for a text
    without words."""
    words = (text if isinstance(text, Words) else Words.of(text)).hashes[:MOST_WORDS]
    pairs = words[:-1] * FACTORS[0] + words[1:] * FACTORS[1]
    shingles = distinct(np.concatenate([words, pairs]))
    if not len(shingles):
        return None
    # Count each bit by way of its octet: 8 × 256 counters are faster than 64 masks over all hashes.
    octets = shingles.astype(">u8").view(np.uint8).reshape(-1, 8)
    counts = np.bincount((octets + _OCTETS).ravel(), minlength=_OCTETS[-1] + 256).reshape(8, 256)
    majority = np.packbits(2 * (counts @ _BITS).ravel() > len(shingles))
    return int.from_bytes(majority.tobytes(), "big", signed=True)


def signed(bits: int) -> int:
    """Return 64 bits as the signed integer that Neo4j can store. The argument may be signed or unsigned."""
    return (bits + (1 << 63)) % (1 << 64) - (1 << 63)


def distance(one: int, other: int) -> int:
    """Return the number of differing bits of two simhashes of 64 bits."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


@dataclass(frozen=True, slots=True)
class ChangeTest:
    """The test that decides whether a page has changed between two visits.

    Pages with equal bodies or equal texts are unchanged. A value that only one of the two visits has is not compared,
    and blocks of two versions are not compared. Then another hash decides: the simhash in place of blocks.

    Attributes:
        method: `body`, `text`, `blocks` or `simhash`.
        bits: The most differing bits of the simhashes of an unchanged page.
        detector: The user's own test, in place of `method`.
        failure: The error of the detector that this test replaces; empty if there is none.
        above: A page has changed if its blocks show a change with more than this probability.
        sketches: True if a visit takes a sketch of the text's shingles, too.
        counted: The parts of a page (`PARTS`) in which a difference makes it a changed page.
    """

    method: str = "blocks"
    bits: int = 3
    detector: Callable[[Seen, Seen], bool] | None = None
    failure: str = ""
    above: float = 0.5
    sketches: bool = False
    counted: frozenset[str] = frozenset(PARTS[:1])

    @property
    def wants_simhash(self) -> bool:
        """True if the simhash is needed. The method `blocks` needs it, too, to find near duplicates."""
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
        noise of the page's section; None for a page with many visits."""
        return bool(self._verdict(old, new, section) if self.detector is None else self.detector(old, new))

    def _verdict(self, old: Seen, new: Seen, section: SectionNoise | None = None) -> bool | None:
        """Return whether the hashes show a change; None if they cannot be compared, as hashes of two versions."""
        # Equal bodies or equal texts are unchanged, by whichever method.
        if old.body_hash is not None and old.body_hash == new.body_hash:
            return False
        if self.method != "body" and not _alike(old, new):
            return None
        if self.method != "body" and old.text_hash is not None and old.text_hash == new.text_hash:
            return False
        # The method's own hash decides, or the best one that both visits have.
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
        """Return whether the page has changed between two visits, and the test that decided. The hashes decide if the
        user's detector raises. `section`: see `differs`."""
        try:
            return self.differs(old, new, section), self
        except Exception as error:
            if self.detector is None:
                raise
            reason = " ".join(f"the detector failed ({type(error).__name__}: {error})".split())[:150]
            by_hashes = replace(self, detector=None, failure=f"{reason}; compared by {self.method}")
            return by_hashes.differs(old, new, section), by_hashes


def take(
    seen: Seen,
    body: bytes | bytearray | memoryview | None,
    content_type: str | None,
    change: ChangeTest,
    url: str = "",
) -> Seen:
    """Return `seen` with the hashes of a body that `change` needs and the crawler has not sent. `url`: the page's
    address; the sketch leaves out its words."""
    if body is None:
        return seen
    raw = bytes(body)
    hashes: dict[str, Any] = {"body_hash": _hash(raw)}
    # Search for parts only if some are counted that only a body shows, since that takes time.
    if not change.counted.isdisjoint(parts.IN_BODY) and _is_html(raw, content_type):
        hashes["parts"] = parts.of_body(raw)
    # Read the text only if one of its hashes is needed and not sent.
    wants_text = change.method != "body" or change.detector is not None
    is_incomplete = None in (seen.text_hash, seen.simhash, seen.blocks, seen.shingles)
    text = _text(raw, content_type) if wants_text and is_incomplete else None
    if lines := _lines(text or ""):
        plain = " ".join(line.lstrip(LINK) for line in lines).replace(LINK, " ")
        hashes["text_hash"] = f"text{VERSION}:{_hash(plain.encode('utf-8', 'surrogatepass'))}"
        if change.wants_simhash or change.sketches:
            words = Words.of(EDGE.join(lines))
            hashes |= {"words": len(words.hashes), **_of_words(words, change, url)}
    # Hashes that the crawler has sent are kept.
    return replace(seen, **{name: value for name, value in hashes.items() if getattr(seen, name) is None})


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
    """Return the difference of the blocks of two visits; None if one visit has no blocks."""
    return None if old.blocks is None or new.blocks is None else blocks.step(old.blocks, new.blocks)


def following(old: Seen, new: Seen) -> str | None:
    """Return the blocks that a page stores after a visit. They do not depend on the method that compares the visits."""
    is_same = old.text_hash is not None and old.text_hash == new.text_hash and blocks.is_plain(old.blocks)
    return old.blocks if new.blocks is None or is_same else blocks.step(old.blocks, new.blocks).kept


def unchanged(old: Seen, new: Seen) -> Seen:
    """Return the hashes that a page stores after a visit that found no change. They are the stored hashes; the visit
    adds those that were missing. If the two cannot be compared, the hashes of the visit replace the stored ones."""
    if not _alike(old, new):
        return new
    bits = new.simhash if old.simhash is None else old.simhash
    return replace(
        old, body_hash=old.body_hash or new.body_hash, text_hash=old.text_hash or new.text_hash, simhash=bits
    )


def _alike(old: Seen, new: Seen) -> bool:
    """Return whether the hashes of two texts have the same version. True, too, if one text has no hashes."""
    versions = {text_version(seen.text_hash) for seen in (old, new) if (seen.text_hash, seen.simhash) != (None, None)}
    return len(versions) < 2


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
