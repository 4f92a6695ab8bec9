"""Lists of regular expressions for URLs: the values of the settings `allow_urls` and `deny_urls`.

A list is JSON, and a text that is no list is a single pattern. Each pattern is compiled alone, so its flags, groups and
back references do not affect others. Python's `re` can take time that grows with a power of a URL's length, or
exponentially, and no other thread runs meanwhile. So each new pattern is tested with URLs that are made for it. In
these, each part that the pattern repeats is repeated up to 8 kB, followed by text that the pattern matches or not. A
pattern that takes longer than `MOST_SECONDS` is refused, and a list that takes `MOST_TOGETHER` times as long.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import product
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from graphbrain.base.errors import SettingsError
from graphbrain.base.urls.normalization import LONGEST

__all__ = ["MOST_SECONDS", "Patterns", "check", "compiled", "patterns_in", "scoped", "share_of_time", "text_of"]

MOST_SECONDS = 0.05
"""Most seconds of processor time that a pattern may take for a URL of `LONGEST` characters."""
MOST_TOGETHER = 10
"""The most time that all patterns of a list may take together, in `MOST_SECONDS`."""
SIZES = (*range(1, 33), 40, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, LONGEST)
"""The lengths of the URLs with which a pattern is tested, in this order. The first one that takes too long decides."""
SOONER = 0.1
"""The share of `MOST_SECONDS` that a pattern may take for a URL of up to 1,024 characters."""
MOST_OPTIONAL = 8
"""Optional parts of a pattern, such as the `s?` of `https?`, are tested only if there are more than so many."""
MOST_LETTERS, LONGEST_BEFORE = 200, 1_000
MOST_TRIED = 64
"""Most parts of a pattern that are tested."""
TRIALS = 3
"""A pattern is refused if so many searches of one URL take too long: on a busy machine a single one may."""
ENDS = ("!", "/\t", "", "a")
"""The ends of URLs after a repeated part, most of which no pattern matches. They are repeated until they are as long as
the shortest text that the pattern matches, because `re` does not search shorter texts."""
LETTERS = "a0/-_.=& %~!é"
"""The characters that are tried for a character of a set."""
_ANY = re.compile(r"\^\.\*\??(?![?*+{])")
_LEADING = re.compile(r"(?P<part>\.|\\[wdsWDS]|\[\^?\]?(?:\\.|[^\]\\])*\])(?P<times>[*+])\??(?![?*+{])")
_FLAGS = re.compile(r"\(\?([aimsux]+)\)")


class Patterns:
    """A list of patterns, one of which a URL must contain.

    Args:
        name: The name of the setting, for errors.
        patterns: The regular expressions.

    Raises:
        SettingsError: A pattern is no regular expression; the message names it.
    """

    def __init__(self, name: str, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        each = [compiled(name, pattern) for pattern in self.patterns]
        # Search for all patterns without groups and flags at once, which takes a fraction of the time.
        plain = [one.pattern for one in each if not one.groups and one.flags == re.UNICODE]
        alone = [one for one in each if one.groups or one.flags != re.UNICODE]
        self._searches = [re.compile("|".join(plain)).search] if plain else []
        self._searches += [one.search for one in alone]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Patterns) and self.patterns == other.patterns

    def __hash__(self) -> int:
        return hash(self.patterns)

    def hold(self, url: str) -> bool:
        """Return whether the URL contains one of the patterns."""
        return any(search(url) for search in self._searches)


def patterns_in(text: str) -> tuple[str, ...]:
    """Return the patterns in the text of a setting: those of a list in JSON, or else the text itself; none if empty."""
    if not text:
        return ()
    if text.lstrip()[:1] == "[":
        try:
            listed = json.loads(text)
        except ValueError:
            return (text,)
        if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
            return tuple(one for one in dict.fromkeys(listed) if one)
    return (text,)


def text_of(patterns: Iterable[str]) -> str:
    """Return the text of a setting with these patterns, each once: the opposite of `patterns_in`."""
    each = tuple(one for one in dict.fromkeys(patterns) if one)
    if len(each) == 1 and patterns_in(each[0]) == each:
        return each[0]
    return json.dumps(each, ensure_ascii=False) if each else ""


def scoped(pattern: str) -> str:
    """Return a pattern that can be a part of another one: its flags do not affect the other."""
    pattern = searched(pattern)
    flags = _FLAGS.match(pattern)
    if flags is None:
        return f"(?:{pattern})"
    end = "\n" if "x" in flags[1] else ""  # ends a comment, if there is one
    return f"(?{flags[1]}:{searched(pattern[flags.end() :])}{end})"


def searched(pattern: str) -> str:
    """Return a pattern that the same URLs contain, without a repetition at its beginning.

    The same URLs contain `\\w+x` and `\\wx`, or `.*x` and `x`. But `re` would try the repetition at each character.
    """
    if "|" in pattern:
        return pattern
    if (anything := _ANY.match(pattern)) is not None:
        pattern = pattern[anything.end() :]
    while (leading := _LEADING.match(pattern)) is not None:
        rest = pattern[leading.end() :]
        if leading["times"] == "+":
            return leading["part"] + rest
        pattern = rest
    return pattern


def check(name: str, text: str) -> None:
    """Test the patterns of a setting. Raise SettingsError for one that is no regular expression or takes too long, and
    for all of them if they take too long together."""
    shares = 0.0
    for pattern in Patterns(name, patterns_in(text)).patterns:
        share = share_of_time(pattern)
        shares += share
        if share > 1 or shares > MOST_TOGETHER:
            most, has = (1, "a pattern that takes") if share > 1 else (MOST_TOGETHER, "patterns that together take")
            raise SettingsError(
                f"{name} has {has} longer than {most * MOST_SECONDS * 1000:.0f} ms for a URL of {LONGEST} characters, "
                f"so that a link could stop a crawl: {pattern!r:.200}; avoid repetitions within others, and write "
                "'[^/]*' for '.*'."
            )


def compiled(name: str, pattern: str) -> re.Pattern[str]:
    """Return an expression whose `search` finds the pattern. Raise SettingsError for no regular expression."""
    try:
        return re.compile(searched(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise SettingsError(f"{name} is not a regular expression ({error}): {pattern!r:.200}.") from None


@lru_cache(maxsize=10_000)
def share_of_time(pattern: str) -> float:
    """Return the longest time that a pattern takes for a URL of the test, as a share of the time that it may take. The
    test ends at the first URL for which it takes too long."""
    text = searched(pattern)
    search, tree = re.compile(text).search, parser.parse(text)
    ends = [end * (min(tree.getwidth()[0], LONGEST) + 1) for end in ENDS]
    share = 0.0
    for (before, part), end in product(_attacks(tree), ends):
        share = max(share, _share_of_one(search, before, part, end))
        if share > 1:
            break
    return share


def _share_of_one(search: Callable[[str], Any], before: str, part: str, end: str) -> float:
    """Return the same for URLs that repeat a part, between a beginning and an end."""
    share = 0.0
    for size in SIZES:
        url = (before + part * (size // len(part) + 1))[:size] + end
        most = MOST_SECONDS * (SOONER if size <= 1024 else 1.0)
        seconds = [_seconds(search, url)]
        while seconds[-1] > most and len(seconds) < TRIALS and seconds[0] < TRIALS * most:
            seconds.append(_seconds(search, url))
        share = max(share, min(seconds) / most)
        if share > 1:
            break
    return share


def _seconds(search: Callable[[str], Any], url: str) -> float:
    began = time.thread_time()
    search(url)
    return time.thread_time() - began


def _attacks(tree: Any) -> list[tuple[str, str]]:
    """Return (beginning of a URL, part to repeat) for URLs in which a pattern may take long.

    The parts are texts that the repeated parts of the pattern match, and the letters of a text that it matches as a
    whole, because a repeated `.` matches all of them.
    """
    repeats = list(_repeats(tree, ""))
    optional = sum(most == 1 for _, _, most in repeats)
    attacks = [(before, part) for before, part, most in repeats if most > 1 or optional > MOST_OPTIONAL]
    if attacks:
        sample, first = _sample(tree)[:MOST_LETTERS], attacks[0][0]
        attacks += [("", sample), *((before, letter) for before in ("", first) for letter in dict.fromkeys(sample))]
    return [(before[:LONGEST_BEFORE], part) for before, part in dict.fromkeys(attacks) if part][:MOST_TRIED]


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str, int]]:
    """Yield (text before it, text that it matches, most repetitions) of each repeated part of a pattern."""
    for kind, value in tree:
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            _, most, body = value
            yield from ((before, part, int(most)) for part in _samples(body))
            yield from _repeats(body, before)
        else:
            for body in _bodies(kind, value):
                yield from _repeats(body, before)
        before += _sample([(kind, value)])


def _samples(body: Any) -> set[str]:
    """Return texts that a repeated part matches: one for each alternative, and these in a row."""
    each = [_sample(body)]
    for kind, value in body:
        if kind is kinds.SUBPATTERN and len(value[3]) == 1:
            each += sorted(_samples(value[3]))
        if kind is kinds.BRANCH:
            each += [_sample(one) for one in value[1]]
    return {*each, "".join(dict.fromkeys(each))}


def _bodies(kind: Any, value: Any) -> Iterator[Any]:
    """Yield the patterns within one element of a pattern."""
    if kind is kinds.BRANCH:
        yield from value[1]
    elif kind is kinds.SUBPATTERN:
        yield value[3]
    elif kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        yield value[1]
    elif kind is kinds.ATOMIC_GROUP:
        yield value
    elif kind is kinds.GROUPREF_EXISTS:
        yield from (one for one in value[1:] if one is not None)


def _sample(tree: Any) -> str:
    """Return a text that a pattern matches, or another text if such a one is not easily found."""
    text = ""
    for kind, value in tree:
        if kind is kinds.LITERAL:
            text += chr(value)
        elif kind is kinds.NOT_LITERAL:
            text += "b" if value == ord("a") else "a"
        elif kind is kinds.ANY:
            text += "a"
        elif kind is kinds.IN:
            text += _letter(value)
        elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            text += _sample(value[2]) * min(int(value[0]) or 1, 64)
        elif kind is not kinds.ASSERT_NOT and (first := next(_bodies(kind, value), None)) is not None:
            text += _sample(first)
    return text[:LONGEST]


def _letter(elements: Any) -> str:
    """Return a character of a set."""
    kind, value = elements[0]
    if kind is kinds.LITERAL:
        return chr(value)
    if kind is kinds.RANGE:
        return chr(value[0])
    is_in = re.compile(_set_of(elements)).match
    return next((c for c in LETTERS if is_in(c)), "a")


def _set_of(elements: Any) -> str:
    """Return a set as a pattern."""
    names = {
        kinds.CATEGORY_DIGIT: r"\d", kinds.CATEGORY_NOT_DIGIT: r"\D", kinds.CATEGORY_SPACE: r"\s",
        kinds.CATEGORY_NOT_SPACE: r"\S", kinds.CATEGORY_WORD: r"\w", kinds.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    parts = []
    for kind, value in elements:
        if kind is kinds.NEGATE:
            parts.append("^")
        elif kind is kinds.LITERAL:
            parts.append(re.escape(chr(value)))
        elif kind is kinds.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif kind is kinds.CATEGORY:
            parts.append(names[value])
    return f"[{''.join(parts)}]"
