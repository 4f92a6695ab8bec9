"""What is kept of a body, and what counts as a change."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from hashlib import blake2b
from html import unescape
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphbrain import Seen
from graphbrain.schedule import fingerprints
from graphbrain.schedule.fingerprints import ChangeTest, distance, signed, simhash, take, visible_text
from graphbrain.schedule.words import EDGE, FACTORS, LINK, Words

PAGE = b"<!doctype html><title>Owls &amp; co</title><p>An <b>owl</b> sees</p><p>you</p>"


def prose(words: int, seed: int = 1) -> list[str]:
    dice = random.Random(seed)
    return [f"word{dice.randrange(5000)}" for _ in range(words)]


# ---------------------------------------------------------------- visible text


@pytest.mark.parametrize(
    "noise",
    [
        b"<script>var now = 1</script>",
        b"<!-- made at 12:01 -->",
        b"<style>p {}</style>",
        b"<noscript>x</noscript>",
        b"\n\n",
    ],
    ids=str,
)
def test_what_nobody_sees_is_no_text(noise: bytes) -> None:
    assert visible_text(PAGE + noise) == visible_text(PAGE) == "Owls & co An owl sees you"


def test_a_script_that_is_never_closed_hides_the_rest() -> None:
    assert visible_text(PAGE + b"<script>var a = '<p>not this") == "Owls & co An owl sees you"


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/html; charset=iso-8859-1", b"<p>caf\xe9", "café"),
        (None, b"\xef\xbb\xbf  <html><p>caf\xc3\xa9", "café"),
        (None, b'<?xml version="1.0"?>\n<!DOCTYPE html><html xmlns="x"><p>a', "a"),
        ("application/xhtml+xml", b"<p>a</p>", "a"),
        ("text/plain", b"a  <b>\n c", "a <b> c"),
        ("application/pdf", PAGE, None),
        (None, b"%PDF-1.7 <html>", None),
        (None, b"", None),
        ("nonsense", b"<p>a", None),
        ("text/html; charset=nonsense", b"<p>a", "a"),
    ],
)
def test_html_is_known_by_its_header_or_its_beginning(content_type: str | None, body: bytes, text: str | None) -> None:
    assert visible_text(body, content_type) == text


@pytest.mark.parametrize(
    "part",
    [b"<div>", b"<script", b"<script>", b"<a ", b"<a x='", b'<a x="y', b"= '", b"<!--", b"&amp", b"<", b"</noscript "],
    ids=str,
)
def test_no_page_takes_long(part: bytes) -> None:
    """What is unclosed, or deep, a million bytes long: time must grow with the length, not with its square."""
    started = time.process_time()
    take(Seen(), b"<html>" + part * (1_000_000 // len(part)), None, ChangeTest(sketches=True))
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize("charset", ["hex", "idna", "undefined", "punycode", "klingon", "unicode_escape", "utf-16", ""])
@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_a_charset_that_decodes_nothing_costs_no_visit(charset: str, kind: str) -> None:
    """Python knows codecs by such names, which raise, whatever they are told to do with errors."""
    seen = take(Seen(), "<p>Grüße żółć.".encode(), f"{kind}; charset={charset}", ChangeTest("text"))
    assert seen.body_hash and seen.text_hash


def test_of_a_huge_body_only_the_bytes_are_hashed() -> None:
    seen = take(Seen(), b"<html>" + b"a " * 3_000_000, None, ChangeTest())
    assert (seen.text_hash, seen.simhash) == (None, None)
    assert seen.body_hash is not None


# ---------------------------------------------------------------- simhash


def test_a_changed_date_stamp_is_near_and_another_text_is_far() -> None:
    words = prose(800)
    here = simhash(" ".join([*words, "21 November 2026"]))
    there = simhash(" ".join([*words, "22 November 2026"]))
    other = simhash(" ".join(prose(800, seed=2)))
    assert here is not None and there is not None and other is not None
    assert distance(here, there) <= 3
    assert distance(here, other) > 16
    assert distance(here, here) == 0


@given(st.text(alphabet="ab \n\u00e9\u4e00\ud800-", max_size=60))
def test_a_simhash_is_the_majority_of_the_bits_of_its_shingles(text: str) -> None:
    """Each once: of the words, and of the pairs of neighbours."""
    words = [int(number) for number in Words.of(text).hashes]
    shingles = {*words, *((one * int(FACTORS[0]) + other * int(FACTORS[1])) % 2**64 for one, other in pairwise(words))}
    majority = sum(1 << bit for bit in range(64) if 2 * sum(n >> bit & 1 for n in shingles) > len(shingles))
    assert simhash(text) == (signed(majority) if shingles else None)


def test_a_simhash_is_a_signed_integer_of_64_bits() -> None:
    found = [value for n in range(50) if (value := simhash(f"one two {n}")) is not None]
    assert all(-(1 << 63) <= value < 1 << 63 for value in found)
    assert min(found) < 0 < max(found)
    assert [signed(value % (1 << 64)) for value in found] == found
    assert distance(-1, 0) == 64


def test_without_words_there_is_none() -> None:
    assert simhash("  – ! ") is None


def test_scripts_without_spaces_are_read_by_character() -> None:
    text = "".join(chr(0x4E00 + random.Random(3).randrange(2000) + n) for n in range(900))
    one, other = simhash(text), simhash(text[:400] + "\u9fa0" + text[401:])
    assert one is not None and other is not None
    assert 0 <= distance(one, other) <= 6


# ---------------------------------------------------------------- what is a change


def seen(html: bytes, change: ChangeTest) -> Seen:
    return take(Seen(), html, "text/html", change)


WORDS = " ".join(prose(800)).encode()
TODAY, TOMORROW = b"<p>" + WORDS + b"<p>21 November", b"<p>" + WORDS + b"<p>22 November"


@pytest.mark.parametrize(
    ("method", "first", "then", "changed"),
    [
        ("body", PAGE, PAGE, False),
        ("body", PAGE, PAGE + b"<!-- x -->", True),
        ("text", PAGE, PAGE + b"<!-- x -->", False),
        ("text", TODAY, TOMORROW, True),
        ("simhash", TODAY, TOMORROW, False),
        ("simhash", TODAY, TODAY + WORDS[:2000].upper()[::-1], True),
        ("simhash", b"<html><script>1</script>", b"<html><script>2</script>", True),
        ("blocks", TODAY, TOMORROW, True),
        ("blocks", TODAY, TODAY + b"<p>one more sentence", True),
        ("blocks", TODAY, TODAY.replace(b"<p>", b"<p><a href=/x>").replace(b" 21 N", b"</a> 21 N"), False),
        ("blocks", TODAY + b"<tr><td>a<td>b", TODAY, True),
        ("blocks", b"<html><script>1</script>", b"<html><script>2</script>", True),
    ],
)
def test_each_method_sees_what_it_should(method: str, first: bytes, then: bytes, changed: bool) -> None:
    change = ChangeTest(method)
    assert change.differs(seen(first, change), seen(then, change)) == changed


def test_the_number_of_bits_decides() -> None:
    old, new = Seen(simhash=0), Seen(simhash=0b111)
    for method in ("simhash", "blocks"):
        assert not ChangeTest(method, 3).differs(old, new)
        assert ChangeTest(method, 2).differs(old, new)


def test_only_what_both_visits_have_is_compared() -> None:
    change = ChangeTest("simhash")
    assert not change.differs(Seen(), Seen("b", "t", 1))
    assert change.differs(Seen("a", "t"), Seen("b", None, 1))
    assert not change.differs(Seen("a", "t"), Seen("b", "t", 1))
    assert change.differs(Seen("a", "t"), Seen("b", "u", 1))


def test_the_users_detector_has_the_only_word() -> None:
    asked: list[tuple[Seen, Seen]] = []

    def detector(old: Seen, new: Seen) -> bool:
        asked.append((old, new))
        return True

    change = ChangeTest("body", detector=detector)
    old = new = seen(PAGE, change)
    assert change.differs(old, new)
    assert asked == [(old, new)]
    assert None not in (new.body_hash, new.text_hash, new.simhash)


def test_the_crawlers_own_hashes_stay() -> None:
    made = take(Seen("mine", "my text"), PAGE, None, ChangeTest())
    assert (made.body_hash, made.text_hash) == ("mine", "my text")
    assert made.simhash == simhash("Owls & co An owl sees you")


MARKUP = [
    *("<p>", "</p>", "<P class=x>", "<br/>", "<td>", "<b>", "</b>", "<p-card>", "<h1", "<a ", "<!-- x -->", "<!--"),
    *(
        "-->",
        "<?",
        '<?xml version="1.0"?>',
        "<script>",
        "<SCRIPT src='>'>",
        "</script>",
        "</Script >",
        "<scripts>",
        "<style/>",
        "</style>",
    ),
    *("<template>", "<noscript>", "</noscript", "<", ">", "/", "!", "?", "=", "='", '="', "'", '"', "a>b"),
    *(' title="a > b"', " x = '<p>'", "&amp;", "&amp", "&lt;p&gt;", "&#8364;", "&#x1f;", "\u00e9", "\u8a9e", "\0"),
    *("\x1f", "owl", "sees", " ", "\n"),
]


def text_plainly(html: str) -> str:
    """A page read from its beginning to its end: without comments and silent elements, and then without tags."""
    html, left, place = html + fingerprints._ENDS, "", 0
    while place < len(html):
        rest = html[place:]
        name = re.match(r"<(script|style|noscript|template)[\s/>]", rest, re.IGNORECASE)
        end = re.search(rf"</{name[1]}[\s/>]", rest, re.IGNORECASE) if name else None
        if rest.startswith("<!--"):
            place += rest.index("-->", 4) + 3
        elif end:
            place += rest.index(">", end.end() - 1) + 1
        else:
            left += html[place]
            place += 1
    parts, place = [], 0
    while place < len(left):
        name = re.match(r"</?([A-Za-z][^\s/>]*)", left[place:])
        if not name and left[place : place + 2] not in ("</", "<!", "<?"):
            parts.append(left[place])
            place += 1
            continue
        end_of_tag = place + (len(name[0]) if name else 2)
        while left[end_of_tag : end_of_tag + 1] not in (">", ""):
            value = re.match(r"""=\s*("[^"]*"|'[^']*')""", left[end_of_tag:])
            end_of_tag += len(value[0]) if value else 1
        if end_of_tag >= len(left):  # it is not closed, so it is text
            parts.append(left[place])
            place += 1
            continue
        place = end_of_tag + 1
        tag = name[1].lower() if name else ""
        parts.append(EDGE if tag in BLOCK_TAGS.split() else LINK if tag == "a" else " ")
    return unescape("".join(parts))


@given(st.lists(st.sampled_from(MARKUP), max_size=30).map("".join))
@example('<a title="<p>">z</a>')
@example("x<p y")
def test_a_page_is_read_as_by_the_plain_definition(html: str) -> None:
    body = html.encode("utf-8", "replace")
    assert fingerprints._text(body, "text/html; charset=utf-8") == text_plainly(body.decode())


BLOCK_TAGS = """
address article aside blockquote body br button caption center dd details dialog div dl dt fieldset figcaption figure
footer form h1 h2 h3 h4 h5 h6 head header hr legend li main menu nav ol option p pre section select summary table tbody
textarea tfoot thead title tr ul
"""


def test_these_tags_end_a_block_and_no_others() -> None:
    inline = "a b span td th em i code h7 h lin pr theader hea dd1 optio picture font html"
    for tag in BLOCK_TAGS.split() + inline.split():
        for written in (f"<{tag}>", f"</{tag}>", f"<{tag.upper()} id=x>", f"<{tag}/>"):
            parted = fingerprints._text(f"<p>one{written}two".encode(), "text/html")
            assert parted is not None
            assert (EDGE in parted.split("one")[1]) == (tag in BLOCK_TAGS.split()), written


# ---------------------------------------------------------------- versions

SAMPLE = "<p>Menu<p>Menu<p>Prices of 27 November 2026<p>It costs 5 EUR or $7.20.<p>Größe: 12 元 前<p>" + WORDS.decode()


def test_a_version_hashes_a_text_as_it_always_did() -> None:
    """Who changes one of these raises its version, of words, blocks or shingles: values of two versions are not
    compared."""
    made = take(Seen(), SAMPLE.encode(), "text/html", ChangeTest(sketches=True))
    assert made.text_hash == "text2:887f8064e923b74dff67fe5ece0e2eb1"
    assert made.simhash == -6248622776462434707
    assert [blake2b((text or "").encode(), digest_size=8).hexdigest() for text in (made.blocks, made.shingles)] == [
        "0bb7f9b17c071132",
        "c2f16bf16ec8798e",
    ]


OLD = Seen("body", "0" * 32, 1, blocks="1:AAAA")
"""A page as version 1 has kept it, whose hashes had no mark."""


@pytest.mark.parametrize("method", ["text", "simhash", "blocks"])
def test_values_of_two_versions_are_not_compared(method: str) -> None:
    change = ChangeTest(method)
    new = seen(PAGE, change)
    first = replace(OLD, blocks=OLD.blocks if method == "blocks" else None)
    for old, later in ((first, new), (new, replace(first, blocks="1;AAAAAAA="))):
        assert not change.differs(old, later)
        assert not change.compares(old, later)
        assert change.compares(old, replace(later, body_hash=old.body_hash))
        kept = fingerprints.unchanged(old, later)
        assert (kept.text_hash, kept.simhash) == (later.text_hash, later.simhash)
    assert change.compares(new, new)
    assert change.differs(new, seen(PAGE + b"<p>and more", change))
