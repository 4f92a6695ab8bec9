"""The shape of a URL, and the tests on it by which a site falls into sections.

A shape is the steps of the path and the arguments of the query, in a bounded form. A test is a yes-or-no question about
a shape: does this step have this name, is it a number, how many steps or arguments are there, is there an argument of
this name. The patterns are those of Lei et al., "A pattern tree-based approach to learning URL normalization rules"
(WWW 2010): a step or a value is literal or open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

from graphbrain.base.urls.normalization import empty_steps

__all__ = [
    "LONGEST_QUESTION",
    "LONGEST_WORD",
    "NUMBER",
    "TOKEN",
    "Shape",
    "ShapeQuestion",
    "ending_of",
    "name_of",
    "read_question",
    "shape_of",
    "tests_of",
]

MOST_STEPS, MOST_ARGUMENTS = 16, 16
"""Steps and arguments that are looked at; of what is behind them only the number counts."""
LONGEST_WORD = 48
"""Characters. A longer step, name or value is no literal: it is open."""
LONGEST_ENDING = 16
LITERAL_STEPS = 6
"""So many steps from the root may be literal."""
MOST_REPEATS = 3
LONGEST_QUESTION = LONGEST_WORD + 2 * LITERAL_STEPS + 64
REMEMBERED, LONGEST_REMEMBERED = 4_096, 1_000
"""The URLs, and their longest length, whose tests a process remembers: sections are learned of the same visits again
and again, and pages in front of a queue are looked at by each claim."""
TOKEN = re.compile(r"(?=.*\d)(?=.*[a-z])[\w.~-]{8,}", re.IGNORECASE)
"""A step of letters mixed with digits, as of a session."""
NUMBER = re.compile(r"[\d.,:_-]*\d[\d.,:_-]*")
"""A step that is a number, or a date."""
_PLAIN = re.compile(r"[^\s!]+")
_TEST = re.compile(
    r"(?P<step>(?:/\*)*/)(?P<literal>[^\s*{]\S*)"
    r"|(?P<at>(?:/\*)*/)\{(?P<kind>number|token|capitals)\}"
    r"|\.\.\./(?P<last>\S+)"
    r"|(?P<count>steps|arguments|repeats)>(?P<more>\d+)"
    r"|\?(?P<name>[^\s=]+)(?:=(?P<value>\S*))?"
)


class ShapeQuestion(NamedTuple):
    """One question about a shape. `what`: step, kind, last, steps, arguments, repeats, argument, value or echo (the
    last step of the path is that of a page of the host that was fetched under another URL)."""

    what: str
    place: int = 0
    word: str = ""
    value: str = ""

    def __str__(self) -> str:
        if self.what == "step":
            return "/*" * self.place + "/" + self.word
        if self.what == "kind":
            return "/*" * self.place + "/{" + self.word + "}"
        if self.what == "last":
            return ".../" + self.word
        if self.what == "echo":
            return "echo"
        if self.what == "argument":
            return "?" + self.word
        if self.what == "value":
            return f"?{self.word}={self.value}"
        return f"{self.what}>{self.place}"

    def holds(self, shape: Shape) -> bool:
        """Return whether the answer is yes."""
        return self in shape.tests


_ECHO = frozenset([ShapeQuestion("echo")])


@dataclass(frozen=True, slots=True)
class Shape:
    """The tests whose answer is yes for a URL; all others are no."""

    tests: frozenset[ShapeQuestion]


def shape_of(url: str, *, echo: bool = False) -> Shape:
    """Return the shape of a URL. Any text has one; its size does not grow with the text beyond a bound. `echo`: a page
    of the host was fetched under another URL that ends in the same step."""
    tests = _tests_of(url) if len(url) <= LONGEST_REMEMBERED else frozenset(tests_of(url))
    return Shape(tests | _ECHO if echo else tests)


@lru_cache(maxsize=REMEMBERED)
def _tests_of(url: str) -> frozenset[ShapeQuestion]:
    return frozenset(tests_of(url))


def name_of(url: str) -> int | None:
    """A number below 2²⁴ for the last step of a URL's path, upper or lower case; None where there is no step."""
    steps = [step for step in _split(url)[0].split("/") if step]
    return crc32(steps[-1].lower().encode("utf-8", "surrogatepass")) & 0xFFFFFF if steps else None


def tests_of(url: str) -> Iterator[ShapeQuestion]:
    """Yield the tests whose answer is yes for this URL."""
    path, query = _split(url)
    steps = [step for step in path.split("/") if step]
    for index, step in enumerate(steps[:LITERAL_STEPS]):
        if _is_literal(step):
            yield ShapeQuestion("step", index, step)
        for kind in _kinds(step):
            yield ShapeQuestion("kind", index, kind)
    if len(steps) > 1 and _is_literal(steps[-1]):
        yield ShapeQuestion("last", 0, steps[-1])
    if steps and (ending := ending_of(steps[-1])):
        yield ShapeQuestion("last", 0, f"*{ending}")
    for more in range(min(len(steps), MOST_STEPS)):
        yield ShapeQuestion("steps", more)
    repeats = len(steps) - len(set(steps)) + empty_steps(path.split("/")[1:])
    for more in range(min(repeats, MOST_REPEATS)):
        yield ShapeQuestion("repeats", more)
    arguments = [part.partition("=") for part in re.split("[&;]", query) if part]
    for more in range(min(len(arguments), MOST_ARGUMENTS)):
        yield ShapeQuestion("arguments", more)
    for name, _, value in arguments[:MOST_ARGUMENTS]:
        if _is_literal(name):
            yield ShapeQuestion("argument", 0, name)
            for kind in _kinds(value):
                yield ShapeQuestion("value", 0, name, "{" + kind + "}")
            if value and _is_literal(value) and not NUMBER.fullmatch(value):
                yield ShapeQuestion("value", 0, name, value)


def read_question(text: str) -> ShapeQuestion:
    """Return the test that is written so, as `str` writes it. Raise ValueError where it is none."""
    if text == "echo":
        return ShapeQuestion("echo")
    match = _TEST.fullmatch(text)
    if match is None:
        raise ValueError(f"not a test: {text[:80]!r}")
    if match["step"]:
        return ShapeQuestion("step", match["step"].count("*"), match["literal"])
    if match["kind"]:
        return ShapeQuestion("kind", match["at"].count("*"), match["kind"])
    if match["last"]:
        return ShapeQuestion("last", 0, match["last"])
    if match["count"]:
        return ShapeQuestion(match["count"], int(match["more"]))
    if match["value"] is not None:
        return ShapeQuestion("value", 0, match["name"], match["value"])
    return ShapeQuestion("argument", 0, match["name"])


def ending_of(step: str) -> str:
    """Return the last ending of a step, with its dot, as of a file; an empty text where it has none."""
    name, dot, ending = step.rpartition(".")
    return (
        f".{ending}"
        if name and dot and ending.isalnum() and not ending.isdecimal() and len(ending) <= LONGEST_ENDING
        else ""
    )


def _split(url: str) -> tuple[str, str]:
    """Return the path, and the arguments behind it: those of the path's steps (RFC 3986, section 3.3), and the
    query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    if ";" not in parts.path:
        return parts.path, parts.query
    steps = [step.partition(";") for step in parts.path.split("/")]
    return "/".join(step for step, _, _ in steps), "&".join([*(given for _, _, given in steps if given), parts.query])


def _is_literal(word: str) -> bool:
    """Return whether a word may be in a test. It must be short, and written in one piece."""
    return len(word) <= LONGEST_WORD and _PLAIN.fullmatch(word) is not None and word[0] not in "*{" and "=" not in word


def _kinds(step: str) -> Iterator[str]:
    if NUMBER.fullmatch(step):
        yield "number"
    elif TOKEN.fullmatch(step):
        yield "token"
    if step != step.lower():
        yield "capitals"
