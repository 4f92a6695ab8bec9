"""The words of a page's text as arrays: read once, and hashed all at once.

A word is a run of letters, digits and underscores, in lower case; in scripts that write no spaces between words, one
character. All that is made of a text is made of the hashes of its words: simhash, blocks and sketch. A word's hash is
the sum of its letters, each times a number that belongs to its place, modulo 2⁶⁴, and then mixed (Lemire and Kaser,
"Strongly universal string hashing is fast", The Computer Journal 57, 2014; the mixing is SplitMix64's: Steele, Lea,
Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Words in a row are hashed likewise, from their
hashes.

`pieces` cuts the text into the units in which pages are compared: a block, or a sentence of a long one. `masked` has
one word, #, in place of dates, numbers and tokens in them; `outlined` has all that is in them.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = [
    *("EDGE", "FACTORS", "FEW_WORDS", "LINK", "LONG", "MOST_BLOCKS", "VERSION", "Masked", "Outlines", "Words"),
    *("changes", "distinct", "masked", "mixed", "outlined", "packed", "pieces", "sizes", "unpacked"),
]

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_Number = TypeVar("_Number", bound=np.unsignedinteger)

VERSION = 2
"""The version of the hashes of a text, and of sketches: it begins what is stored or sent of them. Values of two
versions are not compared."""
EDGE = "\x1f"
"""The edge of a block in a text: ASCII's unit separator, which is white space."""
LINK = "\x1e"
"""The beginning or the end of a link's text: ASCII's record separator, which is white space, too."""
MOST_BLOCKS = 20_000
"""The most blocks that are distinguished in one page; the rest of its text counts as one."""
FEW_WORDS = 24
"""In a page of fewer words, its numbers and dates are its content."""
LONG = 400
"""Characters of a block above which it is cut into sentences, and of a sentence above which it is cut, too."""
CUT = 32
"""Words in a part of a sentence that is cut, about; at most four times as many."""
WIDTH = 3
"""Words in a row that are hashed together."""
LONG_TOKEN, TOKEN = 20, 8
"""Characters from which on a run with a digit in it is a token; and from which on it is one if it mixes digits and
letters."""
AT_ONCE = 32_768
"""Words that are hashed at once, which bounds the memory."""

_WORD, _SINGLE, _DIGIT, _JOINT, _SIGN, _SPACE, _KNOWN = (1 << bit for bit in range(7))
"""The flags of a character: it is a part of words; it is a word; a decimal digit; a sign that joins the parts of a
number; a currency; white space, or without a shape; it was looked up."""
_SINGLES = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_JOINTS = "+/=.:-"
_ALTERNATES = re.compile(r"\d[^\W\d_]+\d|[^\W\d_]\d+[^\W\d_]")
_TOKEN = re.compile(
    r"\d\d:\d\d:\d\d|(?:\d+[^\W\d_]+){2}\d|(?:[^\W\d_]+\d+){2}[^\W\d_]|\d{16}|[\da-f]{8}-[\da-f]{4}-", re.IGNORECASE
)
"""The form of a token: a time to the second, letters and digits in turn, a long number."""
_DATE_WORDS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun "
    "januar februar märz mai juni juli oktober dezember mär okt dez "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag mo di mi do fr sa so "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "lunes martes miércoles jueves viernes sábado domingo "
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
    "janeiro fevereiro março maio junho julho setembro outubro dezembro "
    "januari februari maart mei augustus "
    "am pm st nd rd th utc gmt cet cest est edt pst pdt uhr ago vor il hace "
    "second seconds minute minutes hour hours day days week weeks month months year years min mins sec secs hr hrs "
    "sekunden minuten stunden tagen wochen monaten jahren heures jours semaines mois ans horas días meses años "
    "年 月 日 時 时 分 秒 前"
)


# ---------------------------------------------------------------------- versions


def packed(data: bytes, mark: str = ":", version: int = VERSION) -> str:
    """Return hashes as they are stored or sent: as text that begins with their version. `mark`: of their kind."""
    return f"{version}{mark}{base64.b64encode(data).decode()}"


def unpacked(text: str, mark: str = ":") -> tuple[int, bytes]:
    """Return the version and the hashes of a text that `packed` has made with this mark. Version 1 wrote neither
    version nor mark. Raise ValueError for any other text."""
    version, end, data = text.rpartition(mark)
    return int(version) if end else 1, base64.b64decode(data, validate=True)


# ---------------------------------------------------------------------- hashes


def mixed(numbers: Hashes) -> Hashes:
    """Return the numbers with each bit dependent on all bits (SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


FACTORS = mixed(np.arange(1, 257, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
"""The factor of each place in a word, or in a row of words; after the last one they begin anew."""


# ---------------------------------------------------------------------- words of a text


def _flags_of(character: str) -> int:
    single = _SINGLES.match(character) is not None
    word = not single and (character.isalnum() or character == "_")
    category, joint = unicodedata.category(character), character in _JOINTS
    space = character.isspace() or category == "Cf"
    flags = (word, single, character.isdecimal(), joint, category == "Sc", space, True)
    return sum(flag << bit for bit, flag in enumerate(flags))


_FLAGS, _LOWER = np.zeros(0x110000, dtype=np.uint8), np.zeros(0x110000, dtype=np.uint32)
"""The flags of each character that was met, and the number of its lower case, 0 where it is in no word."""


def _look_up(codes: Iterable[int]) -> None:
    """Fill the tables. Threads that look up the same character write the same."""
    for code in codes:
        flags, lower = _flags_of(chr(code)), chr(code).lower()
        _LOWER[code] = (ord(lower) if len(lower) == 1 else code) if flags & (_WORD | _SINGLE) else 0
        _FLAGS[code] = flags


_look_up(range(128))


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of a text.

    Attributes:
        text: The text, with an `EDGE` at its beginning and end.
        codes, flags: Its characters as numbers, and what they are.
        starts, ends: The places in the text of each word.
        hashes: The hash of each word, of 64 bits.
    """

    text: str
    codes: npt.NDArray[np.uint32]
    flags: npt.NDArray[np.uint8]
    starts: Places
    ends: Places
    hashes: Hashes

    @classmethod
    def of(cls, text: str) -> Words:
        """Return the words of a text, in which `EDGE` separates blocks."""
        text = f"{EDGE}{text}{EDGE}"
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        flags = _FLAGS.take(codes)
        if not flags.all():
            _look_up(np.unique(codes[flags == 0]).tolist())
            flags = _FLAGS.take(codes)
        starts, ends = _runs(flags & (_WORD | _SINGLE), flags & _SINGLE)
        hashes = np.empty(len(starts), dtype=np.uint64)
        for first in range(0, len(starts), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            hashes[part] = _hashed(codes[starts[first] : ends[part][-1]], starts[part] - starts[first])
        return cls(text, codes, flags, starts, ends, hashes)


def _runs(inside: npt.NDArray[Any], single: npt.NDArray[Any] | None = None) -> tuple[Places, Places]:
    """Return the beginnings and ends of the runs of what is not 0. What is `single` is a run by itself."""
    within = inside != 0
    bounds = within[1:] != within[:-1]
    if single is None or not single.any():
        places = _places(bounds) + 1
        return places[::2], places[1::2]
    places = _places(bounds | ((single[1:] | single[:-1]) != 0)) + 1
    return places[within[places]], places[within[places - 1]]


def _hashed(codes: npt.NDArray[np.uint32], starts: Places) -> Hashes:
    """Return the hashes of words. What is between them adds nothing."""
    lengths = sizes(starts, len(codes))
    offsets = np.arange(len(codes)) - np.repeat(starts, lengths)
    return mixed(np.add.reduceat(_LOWER.take(codes) * FACTORS.take(offsets & 255), starts))


def distinct(hashes: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return the different ones of these hashes, ascending, in a third of the time of `numpy.unique`."""
    hashes = np.sort(hashes)
    return hashes[changes(hashes)]


def changes(numbers: npt.NDArray[Any]) -> Places:
    """Return the places of the numbers that differ from the one before them, and of the first."""
    differs = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=differs[1:])
    return _places(differs)


def sizes(begins: Places, end: int) -> Places:
    """Return the sizes of parts that begin at these places, of which there is at least one, up to the last one's end.
    `numpy.diff` takes five times as long for few parts."""
    sizes = np.empty(len(begins), dtype=np.int64)
    np.subtract(begins[1:], begins[:-1], out=sizes[:-1])
    sizes[-1:] = end - begins[-1:]
    return sizes


def _places(flags: npt.NDArray[Any]) -> Places:
    return flags.nonzero()[0]


class _Known:
    """A set of hashes. Of most others the first bits show that they are not in it."""

    def __init__(self, words: str) -> None:
        self._hashes = distinct(Words.of(words).hashes)
        self._maybe = np.zeros(1 << 16, dtype=bool)
        self._maybe[self._hashes >> np.uint64(48)] = True

    def holds(self, hashes: Hashes) -> Places:
        """Return the places of those that are in the set."""
        places = _places(self._maybe.take(hashes >> np.uint64(48)))
        if len(places):
            here = hashes[places]
            places = places[self._hashes.take(self._hashes.searchsorted(here), mode="clip") == here]
        return places


_DATES = _Known(_DATE_WORDS)
_NUMBER = FACTORS[-1]
"""The hash of #, which is none of a word."""


# ---------------------------------------------------------------------- pieces


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """The pieces of a text.

    Attributes:
        rows: The hash of `WIDTH` words in a row, of fewer at the end of a piece, from each of its words on, with one #
            in place of a number and of the words of dates beside it.
        whole: Is it of so many words, or of all of a short piece?
        begins: The place of the first word of each piece.
        lengths: The words of each piece before any were replaced.
        own: As `whole`, of words that the page's address does not have.
        numbers: The hash of each row of numbers that was replaced, with the word before it, likewise; not of links.
    """

    rows: Hashes
    whole: Flags
    begins: Places
    lengths: Places
    own: Flags
    numbers: Hashes


def masked(words: Words, bounds: Places | None = None, named: Flags | None = None) -> Masked:
    """Return the pieces of a text as they are compared. `bounds`: of `pieces`. `named`: words that the page's address
    has."""
    count = len(words.hashes)
    bounds = pieces(words) if bounds is None else bounds
    lengths = bounds[1:] - bounds[:-1]
    named = np.zeros(count, dtype=bool) if named is None else named
    if count < FEW_WORDS:
        rows, whole = _rows(words.hashes, bounds[:-1])
        return Masked(rows, whole, bounds[:-1], lengths, whole & _free(named), words.hashes[:0])
    digits = _places(words.flags & _DIGIT)
    numbers, content = _numbers(words, digits) if len(digits) else (np.zeros(count, dtype=bool),) * 2
    hashes, begins, kept, amounts = _without_dates(words.hashes, bounds, numbers, content, named)
    rows, whole = _rows(hashes, begins)
    return Masked(rows, whole, begins, lengths, whole & _free(named[kept]), amounts)


def _free(named: Flags) -> Flags:
    """Return of which words neither they nor those behind them in a row are `named`."""
    free = ~named
    for step in range(1, WIDTH):
        free[:-step] &= ~named[step:]
    return free


def _of_links(words: Words) -> Flags:
    """Return which words are of the texts of links: their numbers are of the pages that they lead to."""
    inside = np.cumsum(words.codes == ord(LINK), dtype=np.int32) & 1
    return np.asarray(inside[words.starts] == 1)


def _rows(hashes: Hashes, begins: Places) -> tuple[Hashes, Flags]:
    """Return the hashes of words in a row, and which of them are `whole`."""
    count = len(hashes)
    first = np.zeros(count + WIDTH, dtype=bool)
    first[begins] = True
    first[count:] = True
    rows, inside = hashes * FACTORS[0], np.ones(count, dtype=bool)
    for step in range(1, WIDTH):
        inside &= ~first[step : count + step]
        rows[:-step] += hashes[step:] * FACTORS[step] * inside[:-step]
    return mixed(rows), inside | first[:count]


def pieces(words: Words) -> Places:
    """Return the bounds of the pieces: the first word of each, and the number of words."""
    count = len(words.hashes)
    if not count:
        return np.zeros(1, dtype=np.int64)
    firsts = changes(_edges(words).searchsorted(words.starts))[: MOST_BLOCKS + 1]
    bounds = np.concatenate([firsts, [count]])
    long = _long(words, bounds)
    if not long.any():
        return bounds
    begins = np.zeros(count + 1, dtype=bool)
    begins[bounds] = True
    _cut_sentences(words, begins, np.repeat(long, bounds[1:] - bounds[:-1]))
    bounds = _places(begins)
    long = _long(words, bounds)
    if not long.any():
        return bounds
    _cut_parts(words.hashes, begins, np.repeat(long, bounds[1:] - bounds[:-1]))
    return _places(begins)


def _long(words: Words, bounds: Places) -> Flags:
    """Return which pieces have more than `LONG` characters."""
    return words.ends[bounds[1:] - 1] - words.starts[bounds[:-1]] > LONG


def _cut_sentences(words: Words, begins: Flags, long: Flags) -> None:
    """Let a piece begin at each word of a `long` block that is behind the end of a sentence and white space."""
    codes = words.codes
    stops = _places((codes == ord(".")) | (codes == ord("!")) | (codes == ord("?")))
    stops = stops[(words.flags[stops + 1] & _SPACE) != 0]
    wide = _places((codes == ord("。")) | (codes == ord("！")) | (codes == ord("？")))
    for places in (stops, wide):
        behind = words.starts.searchsorted(places)
        behind = behind[behind < len(long)]
        begins[behind[long[behind]]] = True


def _cut_parts(hashes: Hashes, begins: Flags, long: Flags) -> None:
    """Let a piece begin in a `long` sentence behind words that their own hashes choose: so an edit moves no cut."""
    begins[1:-1] |= long[:-1] & long[1:] & (hashes[:-1] % np.uint64(CUT) == 0)
    numbers = np.arange(len(hashes))
    since = numbers - np.maximum.accumulate(np.where(begins[:-1], numbers, 0))
    begins[:-1] |= long & (since % (4 * CUT) == 0)


def _edges(words: Words) -> Places:
    return _places(words.codes == ord(EDGE))


def _runs_with_digits(words: Words, digits: Places) -> tuple[Places, Places]:
    """Return the beginnings and ends of the runs of letters, digits and joints that hold one of these digits."""
    starts, ends = _runs(words.flags & (_WORD | _SINGLE | _JOINT))
    runs = starts.searchsorted(digits, "right") - 1
    runs = runs[changes(runs)]
    return starts[runs], ends[runs]


def _within(words: Words, starts: Places, ends: Places) -> Flags:
    """Return which words are in these parts of the text."""
    steps = np.zeros(len(words.starts) + 1, dtype=np.int8)
    steps[words.starts.searchsorted(starts)] += 1
    steps[words.starts.searchsorted(ends)] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8).astype(bool)


def _numbers(words: Words, digits: Places) -> tuple[Flags, Flags]:
    """Return which words are of a number, a date or a token: of a run that begins with a digit, or that is long and
    mixes digits with letters. And which of them are of a run without letters, in no text of a link."""
    starts, ends = _runs_with_digits(words, digits)
    first, digit = words.codes[starts], (words.flags & _DIGIT) != 0
    signed = (first == ord("+")) | (first == ord("-")) | (first == ord("."))
    lengths = ends - starts
    chosen = digit[starts] | (signed & digit[starts + 1]) | (lengths >= LONG_TOKEN)
    for run in _places(~chosen & (lengths >= TOKEN)).tolist():
        chosen[run] = _ALTERNATES.search(words.text, starts[run], ends[run]) is not None
    letters = np.cumsum((words.flags & (_WORD | _DIGIT)) == _WORD, dtype=np.int64)
    plain = chosen & (letters[ends - 1] == letters[starts - 1])
    return _within(words, starts[chosen], ends[chosen]), _within(words, starts[plain], ends[plain]) & ~_of_links(words)


def _without_dates(
    hashes: Hashes, bounds: Places, numbers: Flags, content: Flags, named: Flags
) -> tuple[Hashes, Places, Places, Hashes]:
    """Return the words with one # in place of a number and of the words of dates beside it, and of a piece that has no
    other words; the place of the first word of each piece; the places of the words that are left; and a hash of each
    row of those in whose place there is one, as far as they are `content`, and none is `named`."""
    loose = numbers.copy()
    loose[_DATES.holds(hashes)] = True
    places = _places(loose)
    if not len(places):
        return hashes, bounds[:-1], np.arange(len(hashes)), hashes[:0]
    begins = np.zeros(len(hashes) + 1, dtype=bool)
    begins[bounds] = True
    # A row is a run of such words within a piece.
    opens = begins[places]
    opens[0] = True
    opens[1:] |= places[1:] > places[:-1] + 1
    rows = _places(opens)
    counts = sizes(rows, len(places))
    first = places[rows]
    replaced = np.logical_or.reduceat(numbers[places], rows) | (begins[first] & begins[first + counts])
    kept = np.ones(len(hashes), dtype=bool)
    kept[places[np.repeat(replaced, counts)]] = False
    kept[first] = True
    sums = np.add.reduceat(np.where(content[places], hashes[places], np.uint64(0)), rows)
    before = np.where(begins[first], np.uint64(0), hashes[first - 1])
    free = (sums != 0) & ~np.logical_or.reduceat(named[places], rows)
    amounts = mixed(sums * FACTORS[0] + before * FACTORS[1])[free]
    hashes = hashes.copy()
    hashes[first[replaced]] = _NUMBER
    kept_places = _places(kept)
    return hashes[kept_places], _places(begins[kept_places]), kept_places, amounts


# ---------------------------------------------------------------------- outlines


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """The content of the pieces of a text: hashes of each, of 64 bits.

    Attributes:
        exact: Of all its words in their order, and its other characters but white space.
        without_tokens: Of its words but those of tokens and times to the second, in any order.
        without_numbers: Of its words but those of tokens, numbers and dates, in any order.
        first: Of its first word, 0 if that is left out there.
        tokens, amounts: Has it a token; a currency sign, or a number with two decimals?
    """

    exact: Hashes
    without_tokens: Hashes
    without_numbers: Hashes
    first: Hashes
    tokens: Flags
    amounts: Flags


def outlined(words: Words, bounds: Places) -> Outlines:
    """Return what is in the pieces with these bounds, of which there is at least one."""
    begins, lengths = bounds[:-1], bounds[1:] - bounds[:-1]
    inside = np.arange(len(words.hashes)) - np.repeat(begins, lengths)
    ordered = words.hashes * FACTORS.take(inside & 255)
    symbols = _places((words.flags & (_WORD | _SINGLE | _SPACE)) == 0)
    beside = _words_beside(words, symbols)
    np.add.at(ordered, beside, mixed(words.codes[symbols] * FACTORS.take(inside[beside] & 255)))
    tokens, numbers, amounts = _digits_of(words, bounds)
    amounts[bounds.searchsorted(beside[(words.flags[symbols] & _SIGN) > 0], "right") - 1] = True
    kept = np.where(tokens, np.uint64(0), words.hashes)
    loose = np.where(numbers, np.uint64(0), kept)
    return Outlines(
        mixed(np.add.reduceat(ordered, begins)),
        np.add.reduceat(kept, begins),
        np.add.reduceat(loose, begins),
        loose[begins],
        np.logical_or.reduceat(tokens, begins),
        amounts,
    )


def _words_beside(words: Words, symbols: Places) -> Places:
    """Return the word to which each of these characters belongs: the one before it, or the next one at the beginning
    of a block."""
    edges, last = _edges(words), len(words.starts) - 1
    before = np.maximum(words.starts.searchsorted(symbols, "right") - 1, 0)
    opens = edges.searchsorted(symbols) > edges.searchsorted(words.starts[before])
    beside: Places = np.minimum(before + opens, last)
    return beside


def _digits_of(words: Words, bounds: Places) -> tuple[Flags, Flags, Flags]:
    """Return which words are of tokens, and of numbers or dates; and which pieces have a number with two decimals."""
    tokens, numbers = np.zeros(len(words.hashes), dtype=bool), np.zeros(len(words.hashes), dtype=bool)
    amounts = np.zeros(len(bounds) - 1, dtype=bool)
    numbers[_DATES.holds(words.hashes)] = True
    digits = _places(words.flags & _DIGIT)
    if not len(digits):
        return tokens, numbers, amounts
    of_digits = words.starts.searchsorted(digits, "right") - 1
    starts, ends = _runs_with_digits(words, digits)
    long = _places(ends - starts >= TOKEN).tolist()
    runs = [run for run in long if _TOKEN.search(words.text, starts[run], ends[run])]
    tokens = _within(words, starts[runs], ends[runs]) if runs else tokens
    numbers[of_digits] = True
    at = [words.flags.take(digits + step, mode="clip") & _DIGIT for step in (2, 3, 4)]
    point = words.codes.take(digits + 1, mode="clip")
    decimal = ((point == ord(".")) | (point == ord(","))) & (at[0] > 0) & (at[1] > 0) & (at[2] == 0)
    amounts[bounds.searchsorted(of_digits[decimal], "right") - 1] = True
    return tokens, numbers, amounts
