"""Records of plain values: resources and sections of a host, links, payments, and answers to questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

__all__ = [
    "Asked",
    "ExpectedCopy",
    "Finding",
    "Given",
    "HostResource",
    "KnownLink",
    "LinkedPage",
    "PageSection",
    "Payment",
    "Payments",
    "Record",
    "Section",
    "plain",
]


Given = Mapping[str, bool | int | float | str]
"""Parameters of a question, by their names."""


class Record:
    """A record of plain values, which can be written as a line of JSON or as a row of a table."""

    __slots__ = ()

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the names in `as_dict`, in its order."""
        return tuple(cls.__slots__)

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name. This is faster than `dataclasses.asdict`."""
        return {name: getattr(self, name) for name in self.columns()}


def plain(value: Any) -> Any:
    """Return the plain value of a type that `json` does not know: a record, a dataclass, a number of numpy, a set, a
    path."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if hasattr(value, "item"):
        return value.item()
    return sorted(value) if isinstance(value, set | frozenset) else str(value)


@dataclass(frozen=True, slots=True)
class HostResource(Record):
    """A robots.txt of a host, or a sitemap. Times are in epoch seconds; None if there is none.

    Attributes:
        kind: `robots` or `sitemap`.
        url: Its URL, before any redirect.
        state: `new` before its first fetch, `read`, `failing` if the last fetch failed, or `dead` if it is not fetched
            any more.
        fetched: The time at which it was read last.
        due: The time from which it is claimed again.
        entries: The number of pages or sitemaps that a sitemap lists.
        true_dates: The share of a sitemap's dates that are true, by visits and by the settings `hint_recall` and
            `hint_false`; None before the first visit after a date.
        note: The reason why it could not be read.
    """

    kind: str
    url: str
    state: str
    fetched: float | None = None
    due: float | None = None
    entries: int | None = None
    true_dates: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Section(Record):
    """A part of a host, described by questions about URLs. All numbers are those of the present.

    Attributes:
        pattern: The questions that select its URLs, with `!` before those whose answer is no; empty if the host is one
            section. /shop is a step of the path, /*/{number} a step of a kind, ?sort an argument, steps>3 the number of
            steps.
        pages: The number of its pages in the graph.
        fetched: The number of pages that were fetched.
        waiting: The number of pages that wait for their first visit or are claimed for it.
        failing: The number of pages whose last visit failed.
        copies: The number of pages that answer and whose first visit brought less than a fifth of new text to the host.
            Redirects do not count.
        harvest: The share of new text that a fetch is expected to bring, 0 to 1, from its counted visits and from
            `around`.
        around: The share of new text that the surrounding sections bring.
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
    """The section of a page, as visits have shown it.

    Attributes:
        pattern: As in `Section`; so are `harvest`, `around`, `visits` and `factor`.
        brought: The sum of the shares that its counted visits brought: `harvest` is (brought + 2·around) / (visits +
            2).
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
    """The page that a waiting page is expected to equal, as visits have shown it.

    Attributes:
        url: The URL of that page, which was fetched.
        rule: The only difference of the two URLs: ?sort is an argument, /print a step of the path, /article or /print
            two steps that replace each other.
        compared: The number of pages of the host that were compared with a page whose URL differs only by the rule.
        equal: The number of these pages that had the same content.
        expected: The share of equal pages that is expected in the section of the page.
        because: The reason in a sentence.
        factor: The factor by which the page counts less because of it, besides the factor of its section. It is 1 until
            the pages of the host are compared for the order, and if `value` does not name harvest.
    """

    url: str
    rule: str
    compared: int
    equal: int
    expected: float
    because: str
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class LinkedPage(Record):
    """A page at the end of a link, in a list of links or on a path.

    Attributes:
        since: The time at which the link was first seen, in epoch seconds.
        named: A URL in the HTML of the page that redirects to the target; None if it links to the target itself.
        anchor: The text of the link; None on a path.
        rel: The `rel` of the link; None on a path.
    """

    url: str
    key: str
    state: str
    depth: int
    hub_score: float
    authority_score: float
    since: float | None
    named: str | None = None
    anchor: str | None = None
    rel: str | None = None


@dataclass(frozen=True, slots=True)
class KnownLink(Record):
    """One link of the graph, with the URLs and the internal ids of both pages. The other fields are as in
    `LinkedPage`."""

    source: str
    target: str
    since: float
    source_id: int
    target_id: int
    named: str | None = None
    anchor: str | None = None
    rel: str | None = None


@dataclass(frozen=True, slots=True)
class Payment:
    """The cash that one page has paid another one until now.

    Attributes:
        url: The URL of the other page of the payment.
        key: The key of that page.
        cash: The cash.
        share: The share of the cash in the score of the page that received it; None if that score is 0.
    """

    url: str
    key: str
    cash: float
    share: float | None


@dataclass(frozen=True, slots=True)
class Payments:
    """The origin of the scores of a page: the largest payers of both its sides, and the pages that it pays.

    A score is the payout plus what all payers have paid. The authority of a page gets cash from the pages that link to
    it, and pays cash back to them. Its hub gets cash from the pages that it links to, and pays cash to them.
    """

    hub_payers: tuple[Payment, ...]
    hub_payees: tuple[Payment, ...]
    authority_payers: tuple[Payment, ...]
    authority_payees: tuple[Payment, ...]

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer to a question.

    Attributes:
        columns: The names of its columns.
        rows: Its rows, of plain values.
        cut: True if there are more rows than `limit`.
        note: A remark on the answer; empty without one.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    cut: bool = False
    note: str = ""

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, row by row."""
        index = self.columns.index(name)
        return [row[index] for row in self.rows]

    def since(self, day: datetime) -> Asked:
        """Return the answer without the rows of earlier days. An answer without a column `day` is unchanged."""
        if "day" not in self.columns:
            return self
        index = self.columns.index("day")
        return replace(self, rows=[row for row in self.rows if str(row[index]) >= f"{day:%Y-%m-%d}"])


@dataclass(frozen=True, slots=True)
class Finding(Record):
    """A fault of a site.

    Attributes:
        title: Its title.
        what: The noun of what is counted: page, link or host.
        question: The question that lists the pages, links or hosts with the fault.
        given: The parameters of that question.
        count: The number of pages, links or hosts with the fault.
        share: The share of the authority inside the scope that the fault wastes, 0 to 1: the authority of these pages
            or of the pages of these hosts, or the payments along these links. Payments of these links to pages outside
            the scope count as a part of the whole, too. None under the classic engine, which does not record payments.
    """

    title: str
    what: str
    question: str
    given: Given
    count: int
    share: float | None
