"""The summary of a crawl, in six lines.

Statements: figures/left.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphbrain import Brain
from graphbrain.base.errors import GraphbrainError
from graphbrain.crawl.watching import CrawlWatch
from graphbrain.graph.connection import Tx, bound
from graphbrain.terminal.show import counted

__all__ = ["CrawlEnd", "as_dict", "found", "lines", "seconds_of"]

MOST_PAGES = 500_000
"""Most pages of a graph in which broken links and duplicates are counted: each count reads every page."""
MOST_ROWS = 10_000
OUTSIDE = {"scope": "outside the scope", "robots": "forbidden by robots.txt", "surplus": "beyond a limit of spellings"}


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    """The brain's figures at the end of a crawl.

    Attributes:
        outside: Reason → the number of pages that may not be fetched for it.
        pages: The number of all pages, those outside the scope included.
        waiting: The number of pages that wait for their first visit.
        broken: (number of broken links, number of their targets); None if not counted.
        duplicates: The number of pages that equal another one; None if not counted.
    """

    outside: dict[str, int]
    pages: int
    waiting: int
    broken: tuple[int, int] | None
    duplicates: int | None

    @property
    def is_forbidden(self) -> bool:
        """True if no page may be fetched, and robots.txt is one of the reasons."""
        return bool(self.outside.get("robots")) and sum(self.outside.values()) >= self.pages


def found(brain: Brain, seconds: float | None = None) -> CrawlEnd:
    """Return the brain's figures. After `seconds` broken links and duplicates are not counted."""
    began, stats = time.monotonic(), brain.stats()
    rows = brain.graph.read(bound(Tx.many, "figures/left"), "figures/left")
    outside = {str(because): int(pages) for because, pages in rows}
    waiting = outside.pop("", 0)  # these may be fetched
    pages = stats["pages"] + stats["outside_pages"]
    if pages > MOST_PAGES or (seconds is not None and time.monotonic() > began + seconds):
        return CrawlEnd(outside, pages, waiting, None, None)
    # Count broken links, and the pages of each group of equal pages except one.
    links = brain.ask("broken-links", limit=MOST_ROWS)
    targets = {row[links.columns.index("broken")] for row in links.rows}
    groups = brain.ask("duplicates", limit=MOST_ROWS)
    duplicates = sum(row[groups.columns.index("pages")] - 1 for row in groups.rows)
    return CrawlEnd(outside, pages, waiting, (len(links.rows), len(targets)), duplicates)


def lines(
    watch: CrawlWatch, seconds: float, figures: CrawlEnd | GraphbrainError, where: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the six lines, as names and texts.

    Args:
        watch: The counters of the run.
        seconds: The length of the run.
        figures: The brain's figures, or the error of the attempt to read them.
        where: Commands that show the crawl.
    """
    # The brain's figures.
    if isinstance(figures, GraphbrainError):
        broken, duplicates, left_out = f"the brain could not be asked: {figures}", "not counted", "not counted"
    else:
        broken, duplicates, left_out = _broken(figures), _copies(figures), _left_out(watch, figures)
    return [
        ("fetched", _fetched(watch, seconds)),
        ("changed", _changed(watch)),
        ("broken", broken),
        ("duplicates", duplicates),
        ("left out", left_out),
        ("look", " · ".join(where)),
    ]


def _fetched(watch: CrawlWatch, seconds: float) -> str:
    """Return the numbers of fetched pages, and of those that redirected or failed at their last visit."""
    hosts = sum(1 for seen in watch.hosts.values() if seen.pages or seen.forms)
    visits = f" in {watch.fetched:,} visits" if watch.again else ""
    pages = f"{counted(watch.fetched - watch.again, 'page')}{visits} of {counted(hosts, 'host')}"
    redirects = watch.redirects()
    parts = [f"{pages} in {seconds_of(seconds)}"]
    parts += [f"{redirects['alias']:,} moved for good"] if redirects["alias"] else []
    parts += [f"{redirects['led']:,} led elsewhere for now"] if redirects["led"] else []
    failures = ", ".join(f"{kind} ×{count:,}" for kind, count in watch.failures().most_common(4))
    return ", ".join(parts) + (f"; failed: {failures}" if failures else "")


def _changed(watch: CrawlWatch) -> str:
    """Return the numbers of new, changed and other pages."""
    outcomes = watch.outcomes
    parts = [f"{outcomes['new']:,} new, {outcomes['changed']:,} changed, {outcomes['same']:,} as before"]
    parts += [f"{outcomes['gone']:,} gone"] if outcomes["gone"] else []
    return ", ".join(parts)


def as_dict(watch: CrawlWatch, seconds: float, figures: CrawlEnd | GraphbrainError, code: int) -> dict[str, Any]:
    """Return the values of the summary by their names. A value that was not counted is None."""
    end = None if isinstance(figures, GraphbrainError) else figures
    return {
        "fetched": watch.fetched - watch.again,
        "visits": watch.fetched,
        "seconds": round(seconds, 3),
        "bytes": watch.bytes,
        "outcomes": dict(watch.outcomes),
        "errors": dict(watch.failures()),
        "broken_links": None if end is None or end.broken is None else end.broken[0],
        "duplicates": None if end is None else end.duplicates,
        "outside": None if end is None else end.outside,
        "not_followed": dict(watch.left_out),
        "waiting": None if end is None else end.waiting,
        "exit_code": code,
    }


def _broken(figures: CrawlEnd) -> str:
    if figures.broken is None:
        return "not counted: graphbrain ask broken-links"
    links, pages = figures.broken
    if not links:
        return "no broken link"
    most = " or more" if links >= MOST_ROWS else ""
    return f"{counted(links, 'link')}{most} to {counted(pages, 'URL')} without a page: graphbrain ask broken-links"


def _copies(figures: CrawlEnd) -> str:
    if figures.duplicates is None:
        return "not counted: graphbrain ask duplicates"
    if not figures.duplicates:
        return "none"
    are = "is" if figures.duplicates == 1 else "are"
    return f"{counted(figures.duplicates, 'page')} {are} the same as another: graphbrain ask duplicates"


def _left_out(watch: CrawlWatch, figures: CrawlEnd) -> str:
    parts = [
        f"{counted(pages, 'page')} {OUTSIDE.get(because, because)}"
        for because, pages in sorted(figures.outside.items())
    ]
    parts += [f"{why}: {count:,}" for why, count in watch.left_out.most_common()]
    if figures.waiting:
        parts.append(f"{counted(figures.waiting, 'page')} not fetched yet")
    return ", ".join(parts) or "nothing"


def seconds_of(seconds: float) -> str:
    """Return a length of time in words: '8 s', '3 min 5 s', '2 h 10 min'."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
