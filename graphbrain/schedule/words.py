"""The words of a page's text as arrays: read once, and hashed all at once.

A word is a run of letters, digits and underscores, in lower case; in scripts that write no spaces between words, one
character. Simhash, blocks and sketch of a text are all computed from the hashes of its words. A word's hash is the sum
of its letters, each times the factor of its place, modulo 2⁶⁴; then its bits are mixed (Lemire and Kaser,
"Strongly universal string hashing is fast", The Computer Journal 57, 2014; the mixing is SplitMix64's: Steele, Lea,
Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). A row of words is hashed in the same way, from
the hashes of the words.

`pieces` cuts the text into the units in which pages are compared: a block, or a sentence of a long block. `masked`
replaces dates, numbers and tokens in the pieces by one word, #. `outlined` hashes the full content of the pieces.
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
"""The version of the hashes of a text. Each stored or sent text of hashes begins with it. Hashes of two versions are
not compared."""
EDGE = "\x1f"
"""The edge of a block in a text: ASCII's unit separator, which is white space."""
LINK = "\x1e"
"""The beginning or the end of a link's text: ASCII's record separator, which is white space, too."""
MOST_BLOCKS = 20_000
"""The most blocks of one page; the rest of its text counts as one block."""
FEW_WORDS = 24
"""The least number of words of a page whose numbers and dates are masked. In a shorter page they are the content."""
LONG = 400
"""The most characters of a piece. A longer block is cut into sentences, and a longer sentence is cut, too."""
CUT = 32
"""The mean number of words of a part of a long sentence. A part has at most four times as many."""
WIDTH = 3
"""The number of words in a row that are hashed together."""
LONG_TOKEN, TOKEN = 20, 8
"""The least characters of a run with a digit that is a token; and of one that is a token because it mixes digits and
letters."""
AT_ONCE = 32_768
"""The number of words that are hashed at once; it bounds the memory."""

_WORD, _SINGLE, _DIGIT, _JOINT, _SIGN, _SPACE, _KNOWN = (1 << bit for bit in range(7))
"""The flags of a character: a part of words; a word by itself; a decimal digit; a sign that joins the parts of a
number; a currency sign; white space or an invisible character; a character that was looked up."""
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
    """Return hashes as the text that is stored or sent: the version, the mark of the kind of hashes, and base64."""
    return f"{version}{mark}{base64.b64encode(data).decode()}"


def unpacked(text: str, mark: str = ":") -> tuple[int, bytes]:
    """Return the version and the hashes of a text that `packed` has written with this mark. A text of version 1 has
    neither version nor mark. Raise ValueError for any other text."""
    version, end, data = text.rpartition(mark)
    return int(version) if end else 1, base64.b64decode(data, validate=True)


# ---------------------------------------------------------------------- hashes


def mixed(numbers: Hashes) -> Hashes:
    """Return the numbers with each bit dependent on all bits (SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


FACTORS = mixed(np.arange(1, 257, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
"""The factor of each place in a word, or in a row of words. Place 256 has the factor of place 0 again."""


# ---------------------------------------------------------------------- words of a text


def _flags_of(character: str) -> int:
    single = _SINGLES.match(character) is not None
    word = not single and (character.isalnum() or character == "_")
    category, joint = unicodedata.category(character), character in _JOINTS
    space = character.isspace() or category == "Cf"
    flags = (word, single, character.isdecimal(), joint, category == "Sc", space, True)
    return sum(flag << bit for bit, flag in enumerate(flags))


_FLAGS, _LOWER = np.zeros(0x110000, dtype=np.uint8), np.zeros(0x110000, dtype=np.uint32)
"""The flags of each character that was looked up, and the number of its lower case; 0 for a character that is in no
word."""


def _look_up(codes: Iterable[int]) -> None:
    """Fill the tables for these characters. No lock is needed: two threads write the same values."""
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
        codes, flags: The number of each character, and its flags.
        starts, ends: The place in the text where each word begins, and where it ends.
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
        # Look up the flags of the characters.
        text = f"{EDGE}{text}{EDGE}"
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        flags = _FLAGS.take(codes)
        if not flags.all():
            _look_up(np.unique(codes[flags == 0]).tolist())
            flags = _FLAGS.take(codes)
        # Find the words, and hash them part by part.
        starts, ends = _runs(flags & (_WORD | _SINGLE), flags & _SINGLE)
        hashes = np.empty(len(starts), dtype=np.uint64)
        for first in range(0, len(starts), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            hashes[part] = _hashed(codes[starts[first] : ends[part][-1]], starts[part] - starts[first])
        return cls(text, codes, flags, starts, ends, hashes)


def _runs(inside: npt.NDArray[Any], single: npt.NDArray[Any] | None = None) -> tuple[Places, Places]:
    """Return the beginnings and ends of the runs of characters whose flag `inside` is set. A character whose flag
    `single` is set is a run by itself."""
    is_inside = inside != 0
    bounds = is_inside[1:] != is_inside[:-1]
    if single is None or not single.any():
        places = _places(bounds) + 1
        return places[::2], places[1::2]
    places = _places(bounds | ((single[1:] | single[:-1]) != 0)) + 1
    return places[is_inside[places]], places[is_inside[places - 1]]


def _hashed(codes: npt.NDArray[np.uint32], starts: Places) -> Hashes:
    """Return the hashes of the words that begin at these places. Characters between words add 0 to a hash."""
    lengths = sizes(starts, len(codes))
    offsets = np.arange(len(codes)) - np.repeat(starts, lengths)
    return mixed(np.add.reduceat(_LOWER.take(codes) * FACTORS.take(offsets & 255), starts))


def distinct(hashes: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return these hashes without duplicates, ascending. It takes a third of the time of `numpy.unique`."""
    hashes = np.sort(hashes)
    return hashes[changes(hashes)]


def changes(numbers: npt.NDArray[Any]) -> Places:
    """Return the place of the first number, and the places of all numbers that differ from the one before."""
    differs = np.ones(len(numbers), dtype=bool)
    np.not_equal(numbers[1:], numbers[:-1], out=differs[1:])
    return _places(differs)


def sizes(begins: Places, end: int) -> Places:
    """Return the sizes of the parts that begin at these places. `end`: the end of the last part. `numpy.diff` takes
    five times as long for few parts."""
    sizes = np.empty(len(begins), dtype=np.int64)
    np.subtract(begins[1:], begins[:-1], out=sizes[:-1])
    sizes[-1:] = end - begins[-1:]
    return sizes


def _places(flags: npt.NDArray[Any]) -> Places:
    return flags.nonzero()[0]


class _Known:
    """A set of hashes. For most hashes that are not in the set, a table of their first 16 bits suffices to show it."""

    def __init__(self, words: str) -> None:
        self._hashes = distinct(Words.of(words).hashes)
        self._maybe = np.zeros(1 << 16, dtype=bool)
        self._maybe[self._hashes >> np.uint64(48)] = True

    def holds(self, hashes: Hashes) -> Places:
        """Return the places of the hashes that are in the set."""
        places = _places(self._maybe.take(hashes >> np.uint64(48)))
        if len(places):
            candidates = hashes[places]
            places = places[self._hashes.take(self._hashes.searchsorted(candidates), mode="clip") == candidates]
        return places


_DATES = _Known(_DATE_WORDS)
_NUMBER = FACTORS[-1]
"""The hash of #. No word has it."""


# ---------------------------------------------------------------------- pieces


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """The pieces of a text. One # replaces each number together with the words of dates beside it.

    Attributes:
        rows: For each word, the hash of the row of `WIDTH` words that begins with it. A row ends with its piece.
        whole: True for a row of `WIDTH` words, and for a row that is all of a shorter piece.
        begins: The place of the first word of each piece.
        lengths: The number of words of each piece before the replacement.
        own: True for a whole row without words of the page's address.
        numbers: The hash of each row of numbers that # replaces, with the word before it. Rows in texts of links, and
            rows with words of the address, are left out.
    """

    rows: Hashes
    whole: Flags
    begins: Places
    lengths: Places
    own: Flags
    numbers: Hashes


def masked(words: Words, bounds: Places | None = None, named: Flags | None = None) -> Masked:
    """Return the pieces of a text as they are compared. `bounds`: the result of `pieces`. `named`: True for words of
    the page's address."""
    count = len(words.hashes)
    bounds = pieces(words) if bounds is None else bounds
    lengths = bounds[1:] - bounds[:-1]
    named = np.zeros(count, dtype=bool) if named is None else named
    # In a page of few words, numbers and dates are the content.
    if count < FEW_WORDS:
        rows, whole = _rows(words.hashes, bounds[:-1])
        return Masked(rows, whole, bounds[:-1], lengths, whole & _free(named), words.hashes[:0])
    # In others, # replaces them before the rows are hashed.
    digits = _places(words.flags & _DIGIT)
    numbers, content = _numbers(words, digits) if len(digits) else (np.zeros(count, dtype=bool),) * 2
    hashes, begins, word_places, amounts = _without_dates(words.hashes, bounds, numbers, content, named)
    rows, whole = _rows(hashes, begins)
    return Masked(rows, whole, begins, lengths, whole & _free(named[word_places]), amounts)


def _free(named: Flags) -> Flags:
    """Return a flag for each word: True if no word of the row that begins with it is `named`."""
    free = ~named
    for step in range(1, WIDTH):
        free[:-step] &= ~named[step:]
    return free


def _of_links(words: Words) -> Flags:
    """Return a flag for each word: True if it is in the text of a link. Numbers there describe the linked page."""
    inside = np.cumsum(words.codes == ord(LINK), dtype=np.int32) & 1
    return np.asarray(inside[words.starts] == 1)


def _rows(hashes: Hashes, begins: Places) -> tuple[Hashes, Flags]:
    """Return the hash of the row that begins with each word, and its flag `whole` (see `Masked`). `begins`: the first
    word of each piece."""
    count = len(hashes)
    is_first = np.zeros(count + WIDTH, dtype=bool)
    is_first[begins] = True
    is_first[count:] = True
    rows, is_inside = hashes * FACTORS[0], np.ones(count, dtype=bool)
    for step in range(1, WIDTH):
        is_inside &= ~is_first[step : count + step]
        rows[:-step] += hashes[step:] * FACTORS[step] * is_inside[:-step]
    return mixed(rows), is_inside | is_first[:count]


def pieces(words: Words) -> Places:
    """Return the bounds of the pieces: the first word of each, and at last the number of words."""
    count = len(words.hashes)
    if not count:
        return np.zeros(1, dtype=np.int64)
    # Each block is a piece.
    firsts = changes(_edges(words).searchsorted(words.starts))[: MOST_BLOCKS + 1]
    bounds = np.concatenate([firsts, [count]])
    is_long = _long(words, bounds)
    if not is_long.any():
        return bounds
    # Cut long blocks into sentences.
    begins = np.zeros(count + 1, dtype=bool)
    begins[bounds] = True
    _cut_sentences(words, begins, np.repeat(is_long, bounds[1:] - bounds[:-1]))
    bounds = _places(begins)
    is_long = _long(words, bounds)
    if not is_long.any():
        return bounds
    # Cut long sentences into parts.
    _cut_parts(words.hashes, begins, np.repeat(is_long, bounds[1:] - bounds[:-1]))
    return _places(begins)


def _long(words: Words, bounds: Places) -> Flags:
    """Return a flag for each piece: True if it has more than `LONG` characters."""
    return words.ends[bounds[1:] - 1] - words.starts[bounds[:-1]] > LONG


def _cut_sentences(words: Words, begins: Flags, long: Flags) -> None:
    """Mark in `begins` each word of a `long` block that follows the end of a sentence and white space. A full-width
    mark needs no white space."""
    codes = words.codes
    stops = _places((codes == ord(".")) | (codes == ord("!")) | (codes == ord("?")))
    stops = stops[(words.flags[stops + 1] & _SPACE) != 0]
    wide = _places((codes == ord("。")) | (codes == ord("！")) | (codes == ord("？")))
    for places in (stops, wide):
        behind = words.starts.searchsorted(places)
        behind = behind[behind < len(long)]
        begins[behind[long[behind]]] = True


def _cut_parts(hashes: Hashes, begins: Flags, long: Flags) -> None:
    """Mark in `begins` the beginnings of parts of a `long` sentence. The hash of the word before it chooses a cut, so
    an edit elsewhere moves no cut."""
    begins[1:-1] |= long[:-1] & long[1:] & (hashes[:-1] % np.uint64(CUT) == 0)
    numbers = np.arange(len(hashes))
    since = numbers - np.maximum.accumulate(np.where(begins[:-1], numbers, 0))
    begins[:-1] |= long & (since % (4 * CUT) == 0)


def _edges(words: Words) -> Places:
    return _places(words.codes == ord(EDGE))


def _runs_with_digits(words: Words, digits: Places) -> tuple[Places, Places]:
    """Return the beginnings and ends of the runs of letters, digits and joining signs that hold one of these digits."""
    starts, ends = _runs(words.flags & (_WORD | _SINGLE | _JOINT))
    runs = starts.searchsorted(digits, "right") - 1
    runs = runs[changes(runs)]
    return starts[runs], ends[runs]


def _within(words: Words, starts: Places, ends: Places) -> Flags:
    """Return a flag for each word: True if it is in one of these parts of the text."""
    steps = np.zeros(len(words.starts) + 1, dtype=np.int8)
    steps[words.starts.searchsorted(starts)] += 1
    steps[words.starts.searchsorted(ends)] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8).astype(bool)


def _numbers(words: Words, digits: Places) -> tuple[Flags, Flags]:
    """Return two flags for each word. The first is True in a number, a date or a token: in a run that begins with a
    digit, or that is long and mixes digits with letters. The second is True if that run has no letters and is in no
    text of a link."""
    starts, ends = _runs_with_digits(words, digits)
    first, is_digit = words.codes[starts], (words.flags & _DIGIT) != 0
    # A run is a number if it begins with a digit, perhaps behind a sign, and a token if it is long.
    has_sign = (first == ord("+")) | (first == ord("-")) | (first == ord("."))
    lengths = ends - starts
    is_number = is_digit[starts] | (has_sign & is_digit[starts + 1]) | (lengths >= LONG_TOKEN)
    for run in _places(~is_number & (lengths >= TOKEN)).tolist():
        is_number[run] = _ALTERNATES.search(words.text, starts[run], ends[run]) is not None
    # A run without letters has as many letters before its end as before its start.
    letters = np.cumsum((words.flags & (_WORD | _DIGIT)) == _WORD, dtype=np.int64)
    is_plain = is_number & (letters[ends - 1] == letters[starts - 1])
    numbers = _within(words, starts[is_number], ends[is_number])
    return numbers, _within(words, starts[is_plain], ends[is_plain]) & ~_of_links(words)


def _without_dates(
    hashes: Hashes, bounds: Places, numbers: Flags, content: Flags, named: Flags
) -> tuple[Hashes, Places, Places, Hashes]:
    """Replace numbers, with the words of dates beside them, by one #.

    Args:
        hashes: The hashes of the words of a text.
        bounds: The bounds of its pieces.
        numbers: True for words of numbers, dates and tokens.
        content: True for words of numbers without letters, in no text of a link.
        named: True for words of the page's address.

    Returns:
        The hashes of the words that remain, with # among them; the place of the first of them in each piece; their
        places before the replacement; and the hash of each replaced run that has `content` and no `named` word.
    """
    masked = numbers.copy()
    masked[_DATES.holds(hashes)] = True
    places = _places(masked)
    if not len(places):
        return hashes, bounds[:-1], np.arange(len(hashes)), hashes[:0]
    begins = np.zeros(len(hashes) + 1, dtype=bool)
    begins[bounds] = True
    # Find the runs of such words. A run ends with its piece.
    begins_run = begins[places]
    begins_run[0] = True
    begins_run[1:] |= places[1:] > places[:-1] + 1
    runs = _places(begins_run)
    counts = sizes(runs, len(places))
    # One # replaces a run that has a number, or that is a whole piece.
    first_words = places[runs]
    is_replaced = np.logical_or.reduceat(numbers[places], runs) | (begins[first_words] & begins[first_words + counts])
    remains = np.ones(len(hashes), dtype=bool)
    remains[places[np.repeat(is_replaced, counts)]] = False
    remains[first_words] = True
    # Hash the content of each run with the word before it.
    sums = np.add.reduceat(np.where(content[places], hashes[places], np.uint64(0)), runs)
    before = np.where(begins[first_words], np.uint64(0), hashes[first_words - 1])
    is_counted = (sums != 0) & ~np.logical_or.reduceat(named[places], runs)
    amounts = mixed(sums * FACTORS[0] + before * FACTORS[1])[is_counted]
    hashes = hashes.copy()
    hashes[first_words[is_replaced]] = _NUMBER
    remaining_places = _places(remains)
    return hashes[remaining_places], _places(begins[remaining_places]), remaining_places, amounts


# ---------------------------------------------------------------------- outlines


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """The content of the pieces of a text, as four hashes of 64 bits and two flags of each piece.

    Attributes:
        exact: The hash of all words and signs in their order, without white space.
        without_tokens: The hash of the words, in any order, without tokens and times to the second.
        without_numbers: The hash of the words, in any order, without tokens, numbers and dates.
        first: The hash of the first word; 0 if `without_numbers` leaves that word out.
        tokens: True if the piece has a token.
        amounts: True if the piece has a currency sign, or a number with two decimals.
    """

    exact: Hashes
    without_tokens: Hashes
    without_numbers: Hashes
    first: Hashes
    tokens: Flags
    amounts: Flags


def outlined(words: Words, bounds: Places) -> Outlines:
    """Return the content of the pieces with these bounds. There must be at least one piece."""
    begins, lengths = bounds[:-1], bounds[1:] - bounds[:-1]
    # Multiply each word by the factor of its place in the piece, and add the signs beside it.
    place = np.arange(len(words.hashes)) - np.repeat(begins, lengths)
    ordered = words.hashes * FACTORS.take(place & 255)
    symbols = _places((words.flags & (_WORD | _SINGLE | _SPACE)) == 0)
    beside = _words_beside(words, symbols)
    np.add.at(ordered, beside, mixed(words.codes[symbols] * FACTORS.take(place[beside] & 255)))
    # A piece with a currency sign has an amount, too.
    tokens, numbers, amounts = _digits_of(words, bounds)
    amounts[bounds.searchsorted(beside[(words.flags[symbols] & _SIGN) > 0], "right") - 1] = True
    # Set the hashes of words that are left out to 0, and add up each piece.
    without_tokens = np.where(tokens, np.uint64(0), words.hashes)
    without_numbers = np.where(numbers, np.uint64(0), without_tokens)
    return Outlines(
        mixed(np.add.reduceat(ordered, begins)),
        np.add.reduceat(without_tokens, begins),
        np.add.reduceat(without_numbers, begins),
        without_numbers[begins],
        np.logical_or.reduceat(tokens, begins),
        amounts,
    )


def _words_beside(words: Words, symbols: Places) -> Places:
    """Return the word to which each of these characters belongs: the one before it, or the next one at the beginning
    of a block."""
    edges, last = _edges(words), len(words.starts) - 1
    before = np.maximum(words.starts.searchsorted(symbols, "right") - 1, 0)
    is_other_block = edges.searchsorted(symbols) > edges.searchsorted(words.starts[before])
    beside: Places = np.minimum(before + is_other_block, last)
    return beside


def _digits_of(words: Words, bounds: Places) -> tuple[Flags, Flags, Flags]:
    """Return two flags for each word, for tokens and for numbers or dates; and a flag for each piece, True if it has a
    number with two decimals."""
    tokens, numbers = np.zeros(len(words.hashes), dtype=bool), np.zeros(len(words.hashes), dtype=bool)
    amounts = np.zeros(len(bounds) - 1, dtype=bool)
    numbers[_DATES.holds(words.hashes)] = True
    digits = _places(words.flags & _DIGIT)
    if not len(digits):
        return tokens, numbers, amounts
    # Words with a digit are numbers; long runs of a certain form are tokens.
    digit_words = words.starts.searchsorted(digits, "right") - 1
    numbers[digit_words] = True
    starts, ends = _runs_with_digits(words, digits)
    long_runs = _places(ends - starts >= TOKEN).tolist()
    runs = [run for run in long_runs if _TOKEN.search(words.text, starts[run], ends[run])]
    tokens = _within(words, starts[runs], ends[runs]) if runs else tokens
    # A digit before a point, two digits and no third is the end of the whole part of an amount.
    second, third, fourth = (words.flags.take(digits + step, mode="clip") & _DIGIT for step in (2, 3, 4))
    next_code = words.codes.take(digits + 1, mode="clip")
    is_point = (next_code == ord(".")) | (next_code == ord(","))
    is_decimal = is_point & (second > 0) & (third > 0) & (fourth == 0)
    amounts[bounds.searchsorted(digit_words[is_decimal], "right") - 1] = True
    return tokens, numbers, amounts
