"""Fingerprints of a body, which show later whether it has changed: hashes of its bytes and of its visible text, the
blocks of that, and a simhash. For blocks of text see `graphbrain.schedule.blocks`.

The simhash of a text is 64 bits, each the majority of that bit in the hashes of the text's shingles: like texts have
hashes that differ in few bits, so a date stamp among many words is no change. Charikar, "Similarity estimation
techniques from rounding algorithms", STOC 2002; 3 bits are near duplicates in Manku, Jain, Das Sarma, "Detecting
near-duplicates for web crawling", WWW 2007. (Own, for the packages that have it have not been kept since 2022.)
Visible text is what w3lib leaves when tags, scripts, styles and comments go. It is only ever compared with itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from w3lib.encoding import html_to_unicode
from w3lib.html import remove_comments, remove_tags_with_content, replace_entities, replace_tags

from graphbrain.model import Seen
from graphbrain.schedule import blocks, shingles

__all__ = ["ChangeTest", "distance", "following", "signed", "simhash", "take", "text_blocks", "visible_text"]

_EMPTY = blake2b(digest_size=8)
LARGEST_TEXT = 4_000_000
"""Bytes: of a larger body only the hash of the bytes is taken."""
MOST_WORDS = 100_000
SILENT = ("script", "style", "noscript", "template")
# Without these ends, the search for each unclosed tag would go on to the end of the page.
_ENDS = "<a-->" + "".join(f"</{tag}>" for tag in SILENT)
_HTML = re.compile(
    rb"<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[\s>]"
    rb"|<\?xml.*<html[\s>]",
    re.IGNORECASE | re.DOTALL,
)
"""The beginnings of a body that is HTML without a type: WHATWG's "MIME Sniffing", section 7.1; and XHTML."""
SNIFFED = 2048
_BLOCK_TAGS = (
    "a(?:ddress|rticle|side)|b(?:lockquote|ody|r|utton)|c(?:aption|enter)|d(?:d|etails|ialog|iv|l|t)|f(?:i(?:eldset"
    "|gcaption|gure)|o(?:oter|rm))|h(?:[1-6]|ead(?:er)?|r)|l(?:egend|i)|m(?:ain|enu)|nav|o(?:l|ption)|p(?:re)?"
    "|s(?:ection|elect|ummary)|t(?:able|body|extarea|foot|head|itle|r)|ul"
)
_BLOCK_TAG = re.compile(rf"<(?=/?(?:{_BLOCK_TAGS})[\s/>])", re.IGNORECASE)
_EDGE = "\ufdd0"
"""The edge of a block of text while tags are removed: a noncharacter, which no page has (Unicode, 23.7)."""
# A word; or one character of a script that writes no spaces between words.
_WORDS = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff]")


def visible_text(body: bytes, content_type: str | None = None) -> str | None:
    """The text that a reader of an HTML page sees, one space between words; None when the body is no HTML.

    `content_type`: the header; without one the body's beginning is looked at. Plain text is taken as it is.
    """
    marked = _marked_text(body, content_type)
    return None if marked is None else _joined(marked)


def text_blocks(body: bytes, content_type: str | None = None) -> str | None:
    """The blocks of the visible text, as `blocks.cut` makes them; None when there is none."""
    marked = _marked_text(body, content_type)
    return None if marked is None else blocks.cut(marked.split(_EDGE))


def _marked_text(body: bytes, content_type: str | None) -> str | None:
    """The visible text with `_EDGE` between its blocks; between the lines, where it is plain text."""
    if len(body) > LARGEST_TEXT:
        return None
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind == "text/plain":
        return _EDGE.join(_decoded(body, content_type).splitlines(keepends=True))
    if kind not in ("text/html", "application/xhtml+xml") and (kind or not _sniff(body)):
        return None
    text = _decoded(body, content_type) + _ENDS
    text = remove_tags_with_content(remove_comments(text), SILENT)
    return replace_entities(replace_tags(_BLOCK_TAG.sub(f"{_EDGE}<", text), " "))


def _joined(marked: str) -> str:
    return " ".join(marked.replace(_EDGE, "").split())


def _decoded(body: bytes, content_type: str | None) -> str:
    """Return the text of a page. What names a codec that decodes nothing (hex, idna, undefined) has named no
    charset."""
    try:
        return html_to_unicode(content_type, body)[1]
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _sniff(body: bytes) -> bool:
    return _HTML.match(body[:SNIFFED].removeprefix(b"\xef\xbb\xbf").lstrip()) is not None


def simhash(text: str) -> int | None:
    """The 64 bits of a text as a signed integer, from its words and their pairs; None when it has no words."""
    words = _WORDS.findall(text.lower(), 0, LARGEST_TEXT)[:MOST_WORDS]
    shingles = {*words, *map(" ".join, pairwise(words))}
    if not shingles:
        return None
    # A copy of a hash object costs half of what a new one does. No shingle has a line end.
    digests = bytearray()
    for shingle in "\n".join(shingles).encode("utf-8", "surrogatepass").split(b"\n"):
        made = _EMPTY.copy()
        made.update(shingle)
        digests += made.digest()
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8).reshape(-1, 8), axis=1)
    majority = np.packbits(2 * bits.sum(axis=0, dtype=np.int64) > len(shingles))
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

    `method`: by body, by visible text, by the blocks of the text, or by its simhash, the same up to `bits` differing
    bits. A value that only one of the two visits has is not compared; then another hash decides: in place of blocks the
    simhash, which pages have that were visited before there were blocks. `detector`: the user's own, instead of all
    that. `failure`: the error of the detector, in whose place this is.
    """

    method: str = "blocks"
    bits: int = 3
    detector: Callable[[Seen, Seen], bool] | None = None
    failure: str = ""
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
        pairs = [(old.body_hash, new.body_hash)]
        pairs += [(old.text_hash, new.text_hash)] if self.method != "body" else []
        same_kind = any(None not in pair for pair in pairs)
        bits = self.method in ("simhash", "blocks") and None not in (old.simhash, new.simhash)
        by_blocks = self.method == "blocks" and None not in (old.blocks, new.blocks)
        return self.detector is not None or same_kind or bits or by_blocks

    def differs(self, old: Seen, new: Seen) -> bool:
        """Return whether the page has changed between two visits; False if they cannot be compared."""
        if self.detector is not None:
            return bool(self.detector(old, new))
        if old.body_hash is not None and old.body_hash == new.body_hash:
            return False
        if self.method == "blocks" and old.blocks is not None and new.blocks is not None:
            return blocks.step(old.blocks, new.blocks).changed
        if self.method in ("simhash", "blocks") and old.simhash is not None and new.simhash is not None:
            return distance(old.simhash, new.simhash) > self.bits
        if self.method != "body" and old.text_hash is not None and new.text_hash is not None:
            return old.text_hash != new.text_hash
        return None not in (old.body_hash, new.body_hash) and old.body_hash != new.body_hash

    def judge(self, old: Seen, new: Seen) -> tuple[bool, ChangeTest]:
        """Has the page changed between two visits, and by what: a detector that raises leaves it to the hashes."""
        try:
            return self.differs(old, new), self
        except Exception as error:
            if self.detector is None:
                raise
            why = " ".join(f"the detector failed ({type(error).__name__}: {error})".split())[:150]
            own = replace(self, detector=None, failure=f"{why}; compared by {self.method}")
            return own.differs(old, new), own


def take(seen: Seen, body: bytes | bytearray | memoryview | None, content_type: str | None, change: ChangeTest) -> Seen:
    """`seen` with the hashes of a body that the crawler has not brought itself, as far as they are needed."""
    if body is None:
        return seen
    raw = bytes(body)
    if seen.body_hash is None:
        seen = replace(seen, body_hash=_hash(raw))
    wanted = (seen.text_hash, seen.simhash, seen.blocks, seen.shingles)
    if not change.wants_text or None not in wanted:
        return seen
    marked = _marked_text(raw, content_type)
    if not marked or not (text := _joined(marked)):
        return seen
    if seen.text_hash is None:
        seen = replace(seen, text_hash=_hash(text.encode("utf-8", "surrogatepass")))
    if seen.simhash is None and change.wants_simhash:
        seen = replace(seen, simhash=simhash(text))
    if change.wants_blocks or change.sketches:
        seen = _cut(seen, blocks.masked(marked.split(_EDGE)), change)
    return seen


def _cut(seen: Seen, pieces: Sequence[blocks.Piece], change: ChangeTest) -> Seen:
    if seen.blocks is None and change.wants_blocks:
        seen = replace(seen, blocks=blocks.hashed(pieces))
    if seen.shingles is None and change.sketches and (made := shingles.sketch(pieces)) is not None:
        seen = replace(seen, shingles=made.text())
    return seen


def following(old: Seen, new: Seen) -> str | None:
    """Return the blocks of a page that are kept after a visit, by whichever method the change was found."""
    same = old.text_hash is not None and old.text_hash == new.text_hash and blocks.is_plain(old.blocks)
    return old.blocks if new.blocks is None or same else blocks.step(old.blocks, new.blocks).kept


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
