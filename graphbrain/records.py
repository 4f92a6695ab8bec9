"""Records of plain values alone, and those that describe the sections of a host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ExpectedCopy", "PageSection", "Record", "Section"]


class Record:
    """A record of plain values alone, which can be written as a line of JSON or a row of a table."""

    __slots__ = ()

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the names in `as_dict`, in its order."""
        return tuple(cls.__slots__)

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name, like `dataclasses.asdict`, which is slow."""
        return {name: getattr(self, name) for name in self.columns()}


@dataclass(frozen=True, slots=True)
class Section(Record):
    """A part of a host, described by questions about URLs. All counts are present ones.

    Attributes:
        pattern: The questions that select its URLs, with `!` before those whose answer is no; empty if the host is one
            section. /shop is a step of the path, /*/{number} a step of a kind, ?sort an argument, steps>3 the number of
            steps.
        pages: The number of its pages in the graph.
        fetched: The number of pages that were fetched.
        waiting: The number of pages that wait for their first visit or are claimed for it.
        failing: The number of pages whose last visit failed.
        copies: The number of pages of whose text less than a fifth was new to the host at the first visit.
        harvest: The share of new text that a fetch is expected to bring, 0 to 1, from its counted visits and from
            `around`.
        around: The share that the surrounding sections bring.
        visits: The weight of the counted visits.
        factor: The factor by which its new pages count if `value` names harvest.
        example: The URL of one of its pages, a fetched one if there is any.
    """

    pattern: str
    pages: int
    fetched: int
    waiting: int
    failing: int
    copies: int
    harvest: float
    around: float
    visits: float
    factor: float
    example: str | None

    @property
    def waste(self) -> float:
        """Return the number of waiting pages whose fetch is expected to bring nothing: waiting · (1 - harvest)."""
        return self.waiting * (1.0 - self.harvest)


@dataclass(frozen=True, slots=True)
class PageSection(Record):
    """The section of a page, as far as visits have shown.

    Attributes:
        pattern: As in `Section`; so are `harvest`, `around`, `visits` and `factor`.
        brought: The sum that its counted visits brought: `harvest` is (brought + 2·around) / (visits + 2).
        counts: True if new pages of the host count by the factor: the setting `value` names harvest, and the order is
            not breadth_first.
    """

    pattern: str
    harvest: float
    around: float
    brought: float
    visits: float
    factor: float
    counts: bool


@dataclass(frozen=True, slots=True)
class ExpectedCopy(Record):
    """The page that a waiting page is expected to equal, as far as visits have shown.

    Attributes:
        url: The URL of that page, which was fetched.
        rule: The only difference of the two URLs: ?sort is an argument, /print a step of the path, /article or /print
            two steps that replace each other.
        compared: The number of pages of the host that were compared with one that differs in this alone.
        equal: The number of these that had the same content.
        expected: The share of equal pages that is expected in the section of the page.
        because: The same in a sentence.
    """

    url: str
    rule: str
    compared: int
    equal: int
    expected: float
    because: str
