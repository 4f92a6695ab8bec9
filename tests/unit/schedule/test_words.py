"""The words of a text as arrays, beside plain definitions of the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbrain.schedule import words as of_text
from graphbrain.schedule.words import EDGE, FACTORS, Words, masked, outlined, packed, pieces, unpacked

WORD = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff]")
RUN = re.compile(r"[\w\u3040-\u30ff\u3400-\u9fff+/=.:-]+")
SENTENCE = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])")
DATES = set(of_text._DATE_WORDS.split())
CAPITALS = ("January", "USD", "Řeka", "ΑΒΓ", "İstanbul", "ǅ", "ſ")
SPELT = [
    *("usd", "euros", "5eur", "usd5", "5元", "日元5円", "kč5", "5kč", "rupee", "rupees3", "$5", "5$", "€", "1.200,50"),
    *("may", "12th", "am", "__", "_", "_5", "a_b", "v1.2-rc3", "-5", "+3", ".5", "=5", "/a/1", "x=2&y=3", "abc12def99"),
    *("0123456789abcdef0123", "é5", "５", "²", "語", "・", "кг5", "руб", "чт5руб", "10\u00a0€", "2026-11-27t10:00:00z"),
    *(".", ";", "!", "?", ":", "-", "。", "！", "\n", "\ud800", "\U0001f600", "e\u0301", "monday", "前", *CAPITALS),
]
LONGER = ["".join(f"{a}{b}" for a in "nvw" for b in "aeiou") * n for n in (1, 4, 20)] + ["owl", "sees", "an", "old"] * 4
TEXTS = st.lists(
    st.tuples(st.lists(st.sampled_from(SPELT + LONGER), max_size=90), st.sampled_from([" ", "", ", ", ". "])),
    max_size=9,
).map(lambda blocks: [between.join(parts) for parts, between in blocks])


def lower(text: str) -> str:
    """Each character by itself, so that no place moves."""
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def mixed(number: int) -> int:
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return number ^ number >> 31


def hashed(numbers: list[int]) -> int:
    return mixed(sum(number * int(FACTORS[place % 256]) for place, number in enumerate(numbers)) % 2**64)


def word_hash(word: str) -> int:
    return hashed([ord(letter) for letter in word])


NUMBER = int(FACTORS[-1])


class Piece(NamedTuple):
    hashes: list[int]
    length: int


def is_number(run: str) -> bool:
    if re.match(r"[+\-.]?\d", run) or len(run) >= 20:
        return re.search(r"\d", run) is not None
    return len(run) >= 8 and re.search(r"\d[^\W\d_]+\d|[^\W\d_]\d+[^\W\d_]", run) is not None


def cut(text: str) -> Iterator[tuple[int, int]]:
    """The places where pieces begin and end in the text of a block."""
    found = list(WORD.finditer(text))
    if not found or found[-1].end() - found[0].start() <= of_text.LONG:
        yield 0, len(text)
        return
    places = [0, *(match.start() for match in SENTENCE.finditer(text)), len(text)]
    for first, last in pairwise(places):
        own = [match for match in found if first <= match.start() < last]
        if not own or own[-1].end() - own[0].start() <= of_text.LONG:
            yield first, last
            continue
        begin, words = first, 0
        for match, after in pairwise(own):
            words += 1
            if words == 4 * of_text.CUT or word_hash(match[0]) % of_text.CUT == 0:
                yield begin, after.start()
                begin, words = after.start(), 0
        yield begin, last


def pieces_plainly(texts: list[str]) -> list[Piece]:
    few = sum(len(WORD.findall(lower(text))) for text in texts) < of_text.FEW_WORDS
    pieces = []
    for text in map(lower, texts):
        numbers = {place for run in RUN.finditer(text) if is_number(run[0]) for place in range(*run.span())}
        for first, last in cut(text):
            words = [match for match in WORD.finditer(text, first, last) if first <= match.start()]
            if not words:
                continue
            if few:
                pieces.append(Piece([word_hash(word[0]) for word in words], len(words)))
                continue
            kept: list[int] = []
            kinds = [(word.start() in numbers, word[0]) for word in words]
            for loose, group in groupby(kinds, key=lambda kind: kind[0] or kind[1] in DATES):
                run = list(group)
                replaced = loose and (any(number for number, _ in run) or len(run) == len(words))
                kept += [NUMBER] if replaced else [word_hash(word) for _, word in run]
            pieces.append(Piece(kept, len(words)))
    return pieces


@given(TEXTS)
def test_pieces_are_those_of_the_plain_definition(texts: list[str]) -> None:
    words = Words.of(EDGE.join(texts))
    plain = [match for text in texts for match in WORD.findall(lower(text))]
    assert words.hashes.tolist() == [word_hash(word) for word in plain]
    assert [lower(words.text[a:b]) for a, b in zip(words.starts, words.ends, strict=True)] == plain
    found, wanted = masked(words), pieces_plainly(texts)
    assert found.lengths.tolist() == [piece.length for piece in wanted]
    rows = [
        [hashed(piece.hashes[place : place + of_text.WIDTH]) for place in range(len(piece.hashes))] for piece in wanted
    ]
    assert found.rows.tolist() == [row for own in rows for row in own]
    assert found.begins.tolist() == np.cumsum([0, *map(len, rows)])[:-1].tolist()
    whole = [not place or place + of_text.WIDTH <= len(own) for own in rows for place in range(len(own))]
    assert found.whole.tolist() == whole


TOKENS = re.compile(r"\d\d:\d\d:\d\d|(\d+[^\W\d_]+){2}\d|([^\W\d_]+\d+){2}[^\W\d_]|\d{16}|[\da-fA-F]{8}-[\da-fA-F]{4}-")


@given(TEXTS)
def test_outlines_are_those_of_the_plain_definition(texts: list[str]) -> None:
    """Without the words of tokens and numbers, in any order; and what is written otherwise is another outline."""
    words = Words.of(EDGE.join(texts))
    if not len(words.hashes):
        return
    bounds = pieces(words)
    found = outlined(words, bounds)
    tokens = {place for run in RUN.finditer(words.text) if len(run[0]) >= 8 and re.search(r"\d", run[0])
              and TOKENS.search(run[0]) for place in range(*run.span())}  # fmt: skip
    spans = list(zip(words.starts.tolist(), words.ends.tolist(), words.hashes.tolist(), strict=True))
    for number, (first, last) in enumerate(pairwise(bounds.tolist())):
        kept = [span for span in spans[first:last] if span[0] not in tokens]
        loose = [hash for begin, end, hash in kept if not re.search(r"\d", words.text[begin:end])
                 and lower(words.text[begin:end]) not in DATES]  # fmt: skip
        assert int(found.without_tokens[number]) == sum(hash for _, _, hash in kept) % 2**64
        assert int(found.without_numbers[number]) == sum(loose) % 2**64
        assert bool(found.tokens[number]) == (len(kept) < last - first)
        assert int(found.first[number]) == (spans[first][2] if loose[:1] == [spans[first][2]] else 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C"),
        ("5", "-5"),
        ("★★ a", "★ a"),
        ("a b", "b a"),
        ("a.", "a!"),
        ("5 €", "5 $"),
        ("✅", "❌"),
        ("a 1", "a 2"),
    ],
)
def test_each_sign_counts_and_white_space_does_not(one: str, other: str) -> None:
    def exact(text: str) -> list[int]:
        words = Words.of(EDGE.join(["before", text, "x and after"]))
        return [int(hash) for hash in outlined(words, pieces(words)).exact]

    assert exact(one) != exact(other)
    assert exact(one)[0] == exact(other)[0]
    assert exact(one) == exact(f" \n{one}\u200b  ")


@pytest.mark.parametrize("text", ["", EDGE, " – ", "!\n?"])
def test_a_text_may_have_no_words(text: str) -> None:
    words = Words.of(text)
    assert len(words.hashes) == len(masked(words).rows) == len(masked(words).lengths) == 0


def test_words_that_are_hashed_in_parts_are_hashed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"word{n % 97}, {'x' * (n % 700)} 語" for n in range(500))
    whole = Words.of(text).hashes
    monkeypatch.setattr(of_text, "AT_ONCE", 7)
    assert Words.of(text).hashes.tolist() == whole.tolist()
    assert len(set(whole.tolist())) == len(set(WORD.findall(text)))


def test_what_is_stored_begins_with_its_version() -> None:
    text = packed(b"\0hashes")
    assert unpacked(text) == (of_text.VERSION, b"\0hashes")
    assert unpacked(text.replace(str(of_text.VERSION), "12", 1)) == (12, b"\0hashes")
    assert unpacked(text.removeprefix(f"{of_text.VERSION}:")) == (1, b"\0hashes")
    for wrong in ("2:A", "2:Grüße", "x:AAAA", ":AAAA", "nonsense!", text.replace(":", ";")):
        with pytest.raises(ValueError, match=r"."):
            unpacked(wrong)
