"""What the command line prints: tables for a person, JSON lines for a program, progress on stderr.

Results go to stdout and nothing else does. Tables fit the terminal, or 80 columns where there is
none; a long URL keeps its host and its tail. Progress is drawn only on a terminal, on stderr.
Everything is rendered first and written by `sys.stdout.write`, so a reader that has gone (`| head`)
is one BrokenPipeError at one place.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from graphbrain.model import FOR_EVER, Claim, Host, Page, Payments, Ranking

if TYPE_CHECKING:
    from graphbrain.importing import Imported
    from graphbrain.replay import Progress as ReplayProgress
    from graphbrain.replay import ReplayResult

__all__ = [
    "bar",
    "claims_table",
    "day",
    "host_sheet",
    "hosts_stream",
    "import_sheet",
    "json_lines",
    "out",
    "page_sheet",
    "pages_stream",
    "payments_tables",
    "ranking_sheet",
    "rankings_table",
    "replay_bar",
    "replay_sheet",
    "rows_table",
    "say",
    "score",
    "share_bar",
    "sheet",
    "shorten",
    "size",
    "stats_sheet",
    "status_line",
    "stream",
    "task_bar",
    "top_table",
]


def say(text: str) -> None:
    """A sentence for the person at the terminal; never data."""
    print(text, file=sys.stderr, flush=True)


def out(*things: RenderableType) -> None:
    """Print tables and texts on stdout."""
    console = Console(highlight=False)
    with console.capture() as got:
        for thing in things:
            console.print(Text(thing) if isinstance(thing, str) else thing)
    sys.stdout.write("".join(line.rstrip() + "\n" for line in got.get().splitlines()))


def json_lines(items: Iterable[Any]) -> None:
    """Print each item as one line of JSON on stdout."""
    for item in items:
        sys.stdout.write(json.dumps(item, default=_plain) + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    """What json does not know: dataclasses, numpy numbers, sets, paths."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if hasattr(value, "item"):
        return value.item()
    return sorted(value) if isinstance(value, set | frozenset) else str(value)


# ---------------------------------------------------------------------- words and numbers


def shorten(url: str, width: int) -> str:
    """`url` in at most `width` characters: scheme and host, an ellipsis, the tail."""
    if len(url) <= width:
        return url
    if width < 12:
        return url[: width - 1] + "…"
    host_end = url.find("/", url.find("://") + 3) + 1 or len(url)
    head = min(host_end, width * 2 // 3)
    return url[:head] + "…" + url[len(url) - (width - head - 1) :]


def number(value: Any) -> str:
    """A value as a person reads it: thousands grouped, floats to what matters, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e15:
            return f"{int(value):,}"
        return f"{value:,.3f}" if abs(value) >= 0.01 else f"{value:.3g}"
    return str(value)


def size(count: int | None) -> str:
    """Bytes as MB or GB."""
    if count is None:
        return "–"
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def moment(epoch: float | None) -> str:
    """A time in UTC, and how far from now."""
    if epoch is None:
        return "–"
    text = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    away = epoch - time.time()
    return f"{text} ({'in ' if away > 0 else ''}{_span(abs(away))}{'' if away > 0 else ' ago'})"


def day(epoch: float | None) -> str:
    """The day of a time, in UTC."""
    return "–" if epoch is None else datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d")


def _span(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


# ---------------------------------------------------------------------- tables


def _table(*headers: str, header: bool = True) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=header)
    for name in headers:
        table.add_column(name, header_style="bold", no_wrap=True)
    return table


def rows_table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table whose first columns are words or numbers and whose last one is a URL."""
    cells = [[number(cell) for cell in row] for row in rows]
    table = _table(*headers)
    used = 0
    for place, column in enumerate(table.columns[:-1]):
        column.justify = "left" if place == 0 else "right"
        widest = max([len(headers[place]), *(len(row[place]) for row in cells)])
        column.min_width = widest
        used += widest + 2
    room = max(20, Console().width - used)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row[:-1]), Text(shorten(row[-1], room)))
    return table


def stream(columns: Mapping[str, str], rows: Iterable[Sequence[str]], last: str = "url") -> int:
    """Print a table row by row as the rows come; how many. Nothing is printed of no rows.

    `columns`: names, and how each is aligned in how many characters, as in a format: ">9". After them comes a URL,
    or what `last` says.
    """
    room = max(20, Console().width - sum(int(spec[1:]) + 2 for spec in columns.values()))
    count = 0
    for row in rows:
        if not count:
            sys.stdout.write("".join(f"{name:{spec}}  " for name, spec in columns.items()) + f"{last}\n")
        cells = "".join(f"{cell:{spec}}  " for cell, spec in zip(row, columns.values(), strict=False))
        sys.stdout.write(cells + shorten(row[-1], room) + "\n")
        count += 1
    return count


def sheet(pairs: Iterable[tuple[str, Any]]) -> Table:
    """Names and values, one pair a line; long values wrap."""
    table = _table("", "", header=False)
    table.columns[0].style = "bold"
    table.columns[1].no_wrap = False
    table.columns[1].overflow = "fold"
    for name, value in pairs:
        table.add_row(Text(name), Text(number(value)))
    return table


def claims_table(claims: Iterable[Claim]) -> Table:
    """Claimed pages and when each lapses."""
    now = time.time()
    return rows_table(("depth", "lapses", "url"), ((c.depth, f"in {_span(c.until - now)}", c.url) for c in claims))


def top_table(pages: Iterable[Page], by: str) -> Table:
    """The pages of `top`, with what they are ranked by first."""
    other = "hub" if by == "authority" else "authority"
    rows = (
        (place, score(page.score(by)), score(page.score(other)), page.in_links, page.out_links, page.url)
        for place, page in enumerate(pages, 1)
    )
    return rows_table(("#", by, other, "in", "out", "url"), rows)


def pages_stream(pages: Iterable[Page], by: str) -> int:
    """Print pages as they come, one a line, with both live scores or the batch score that is meant; how many."""
    names = ("authority", "hub") if by in ("authority", "hub") else (by, "authority")
    rows = ((*(score(page.score(name)) for name in names), page.state, page.url) for page in pages)
    return stream({**{name: f">{max(9, len(name))}" for name in names}, "state": "<8"}, rows)


def score(value: float | None) -> str:
    """A score: sums of the exact engine are about 1 and more, shares of the classic one and batch scores far below."""
    if value is None:
        return "–"
    return f"{value:,.2f}" if value >= 1 or not value else f"{value:.3g}"


_ACCOUNT = ("score", "history", "cash", "paid")
_TIMES = (
    ("discovered", "discovered"),
    ("first fetched", "first_fetched"),
    ("fetched", "fetched"),
    ("changed", "changed"),
    ("failed", "failed"),
    ("hinted", "hinted"),
    ("not before", "not_before"),
    ("waiting since", "waiting_since"),
    ("claimed", "claimed"),
    ("lease until", "lease_until"),
    ("due", "due"),
)
_FIELDS = (
    *("state", "host", "key", "depth", "is_seed", "relevance", "value", "payout", "status", "error"),
    "parked_because",
)
_COUNTS = ("visits", "changes", "errors")
_DAYS = {"rate": "changes", "interval": "fixed interval", "comes_back": "comes back after"}
_MORE = (
    *("outside_because", "worker", "queue", "lane", "authority_rank", "hub_rank", "hinted_by"),
    *("etag", "last_modified", "body_hash", "text_hash", "simhash", "redirects_to"),
)


def page_sheet(page: Page) -> list[RenderableType]:
    """Everything about one page: its URL, its two accounts, its visits, its batch scores, where it waits."""
    accounts = _table("side", *_ACCOUNT, "links", "weight")
    for side, way in (("hub", "out"), ("authority", "in")):
        values = [getattr(page, f"{side}_{name}") for name in _ACCOUNT]
        values += [getattr(page, f"{way}_links"), getattr(page, f"{way}_weight")]
        accounts.add_row(side, *(number(value) for value in values))
    for column in accounts.columns[1:]:
        column.justify = "right"
    words = [(name.replace("_", " "), getattr(page, name)) for name in (*_FIELDS, *_COUNTS)]
    words += [(label, _days(name, getattr(page, name))) for name, label in _DAYS.items()]
    words += [(name, score(value)) for name, value in page.scores.items()]
    times = [(name, moment(getattr(page, field))) for name, field in _TIMES]
    more = [(name.replace("_", " "), getattr(page, name)) for name in _MORE]
    known = [pair for pair in [*words, *times, *more] if pair[1] not in (None, "–")]
    return [page.url, "", accounts, "", sheet(known)]


def _days(name: str, value: float | None) -> str | None:
    """A rate or a time in days, with its unit."""
    if value is None:
        return None
    return f"{number(value)} a day" if name == "rate" else f"{number(value)} days"


def hosts_stream(hosts: Iterable[Host]) -> int:
    """Print hosts as they come, one a line; how many."""
    columns = {"delay": ">8", "out": ">5", "used": ">8", "budget": ">8", "pace": ">5", "silent": ">6", "blocked": "<22"}
    return stream(
        columns,
        (
            (
                number(host.delay),
                number(host.in_flight),
                number(host.budget_used),
                number(host.budget or None),
                f"{host.pace:.2f}",
                number(host.unanswered or None),
                _blocked(host.blocked_until) or "–",
                host.name,
            )
            for host in hosts
        ),
        "host",
    )


def host_sheet(host: Host) -> Table:
    """Everything about one host."""
    facts: dict[str, Any] = {}
    for name, value in host.as_dict().items():
        if name in ("next_at", "probe_at", "robots_at", "robots_http_at", "robots_https_at", "discovered"):
            value = None if value is None else moment(value)
        elif name == "blocked_until":
            value = _blocked(value)
        elif name in ("most_in_flight", "budget", "unanswered"):
            value = value or None
        facts[name.replace("_", " ")] = value
    return sheet((name, value) for name, value in facts.items() if value is not None)


def _blocked(until: float | None) -> str | None:
    """Until when, if that is to come."""
    if until is None or until < time.time():
        return None
    return "for ever" if until >= FOR_EVER else datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def payments_tables(page: Page, payments: Payments) -> list[RenderableType]:
    """Why a page has its scores: who pays its two sides most, and whom they pay, with the share of the score it is."""
    base = number(1.0 if page.payout is None else page.payout)
    authority = (
        f"authority {number(page.authority_score)} is {base} for being there and the rest from pages that link to it:"
    )
    hub = f"hub {number(page.hub_score)} is {base} for being there and the rest from pages it links to:"
    shown: list[RenderableType] = []
    for title, paid in (
        (authority, payments.authority_payers),
        ("these it pays in turn, as hubs:", payments.authority_payees),
        (hub, payments.hub_payers),
        ("these it pays in turn, as authorities:", payments.hub_payees),
    ):
        if paid:
            rows = [(number(each.cash), _percent(each.share), each.url) for each in paid]
            shown += ["", title, rows_table(("cash", "of score", "url"), rows)]
    return shown


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def stats_sheet(stats: Mapping[str, Any]) -> Table:
    """All figures, those of a group after its name."""
    return sheet(_flat(stats))


def _flat(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in figures.items():
        words = f"{before}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{words}: ")
        else:
            yield words, ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def ranking_sheet(ranking: Ranking) -> list[RenderableType]:
    """The best pages by each score of a ranking, and how it was computed."""
    r = ranking
    things: list[RenderableType] = []
    for name, best in r.best.items():
        if best:
            rows = ((place, f"{score:.3g}", url) for place, (url, score) in enumerate(best, 1))
            things += [rows_table(("#", name, "url"), rows), ""]
    pairs: list[tuple[str, Any]] = [
        ("pages", r.pages),
        ("links", f"{r.links:,}, between hosts only" if r.only_external else r.links),
        ("damping", r.damping),
        ("restart", r.restart),
        ("content", "relevance" if r.content else None),
        ("iterations", r.iterations if r.tolerance is not None else "none needed"),
        ("residual", f"{r.residual:.1e}" if r.iterations else None),
        ("error", _error(r)),
        ("seconds", f"{r.seconds:.1f}"),
        ("written", ", ".join(r.best) if r.complete else "nothing"),
    ]
    return [*things, sheet(pair for pair in pairs if pair[1] is not None)]


def _error(ranking: Ranking) -> str | None:
    if ranking.tolerance is None:
        return None
    known = "not known" if ranking.error is None else f"at most {ranking.error:.1e}"
    return known if ranking.converged else f"{known}, above the tolerance of {ranking.tolerance:.0e}"


def rankings_table(rankings: Iterable[Ranking]) -> Table:
    """Which batch scores the pages carry, since when, and what they were computed from."""
    rows = (
        (
            r.method,
            f"{_span(time.time() - r.finished)} ago" if r.complete and r.finished else "in part",
            r.pages,
            r.links,
            r.damping,
            "–" if r.tolerance is None else "not known" if r.error is None else f"{r.error:.0e}",
            _basis(r),
        )
        for r in rankings
    )
    return rows_table(("method", "written", "pages", "links", "damping", "error", "of"), rows)


def _basis(ranking: Ranking) -> str:
    """Which links, and what else, in as few words as will do."""
    links = "external links" if ranking.only_external else "all links"
    content = ", content" if ranking.content else ""
    return f"{links}{content}" + (f", {ranking.restart}" if ranking.restart else "")


def settled(done: bool, bound: float | None, near: bool) -> str:
    """Whether accounts are settled, and what that means for the scores; `near`: as near as the settings want them."""
    if not done:
        return "no"
    if bound is None:
        return "yes"
    return f"{'yes' if near else 'pushed'}; scores at most {100 * bound:.2g} % off"


def replay_sheet(result: ReplayResult) -> Table:
    """What a replay did, for a person."""
    r, calls = result, result.next_ms
    state = "complete" if r.complete else "interrupted" if r.interrupted else "stopped at its limit"
    pairs: list[tuple[str, Any]] = [
        ("recording", f"{r.recording}, {state}"),
        ("pages", f"{r.pages:,} reported, {r.known_pages:,} known"),
        ("links", f"{r.links:,} reported, {r.known_links:,} known"),
        ("refused", f"{r.refused:,} pages, {r.links_refused:,} links"),
        ("accounts", f"{r.pushes:,} pushes, {r.payments:,} payments"),
        ("settled", settled(r.settled, r.error_bound, r.near)),
        ("retries", r.retries),
        (
            "seconds",
            f"{r.seconds:.1f}: ingest {r.ingest_seconds:.1f} (claims {r.claim_seconds:.1f}, "
            f"reports {r.report_seconds:.1f}), settle {r.settle_seconds:.1f}",
        ),
        ("per second", f"{r.links_per_second:,.0f} links, {r.pages_per_second:,.0f} pages"),
        ("", f"{r.claims_per_second:,.0f} claims, {r.payments_per_second:,.0f} payments"),
    ]
    pairs += [
        (
            f"next_urls({r.batch})",
            f"{tenth} tenth: p50 {calls[f'{tenth}_p50']:.1f}, p99 {calls[f'{tenth}_p99']:.1f} ms",
        )
        for tenth in ("first", "last")
        if calls
    ]
    memory = f"client {size(r.client_memory)}, server {size(r.server_memory)}"
    return sheet([*pairs, ("memory", memory), ("disk", size(r.server_disk))])


def import_sheet(done: Imported) -> Table:
    """What an import did, for a person."""
    d, steps = done, {name: seconds for name, seconds in done.seconds.items() if name != "all"}
    way = "by Neo4j's import tool" if d.way == "offline" else "in batches"
    pairs: list[tuple[str, Any]] = [
        ("imported", f"{d.name}, {way}"),
        ("pages", f"{d.pages:,}: {d.fetched:,} fetched, {d.frontier:,} wait, {d.seeds:,} seeds"),
        ("links", d.links),
        ("hosts", d.hosts),
        ("left out", f"{d.refused:,} lines or links, {d.over:,} links over max_links"),
    ]
    if d.reported:
        pairs.append(("reported after", f"{d.reported:,} visits, {d.reports_refused:,} refused"))
    pairs += [
        ("seconds", f"{d.seconds['all']:.1f}: " + ", ".join(f"{name} {s:.1f}" for name, s in steps.items())),
        ("per second", f"{d.links_per_second:,} links, but for settling"),
        ("settled", d.settled),
    ]
    return sheet(pairs)


# ---------------------------------------------------------------------- progress, on stderr


def _progress(*columns: Any) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


@contextmanager
def replay_bar() -> Iterator[Callable[[ReplayProgress], None]]:
    """A bar over the pages of a replay, with its links; then a note that accounts are settled."""
    with _progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[links]:,} links"),
        TimeElapsedColumn(),
    ) as bar:
        task = bar.add_task("crawling", links=0, total=None)

        def show(progress: ReplayProgress) -> None:
            bar.update(
                task,
                description="crawling" if progress.phase == "crawl" else "settling",
                completed=progress.pages,
                total=max(progress.total, progress.pages),
                links=progress.links,
            )

        yield show


@contextmanager
def bar(doing: str, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A bar for `done` of `total`, with a word for what is done; nothing unless `shown`."""
    if not shown:
        yield lambda *_: None
        return
    with _progress(TextColumn(doing), BarColumn(), MofNCompleteColumn()) as drawn:
        task = drawn.add_task("", total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)


@contextmanager
def share_bar() -> Iterator[Callable[[str, float], None]]:
    """A bar for each of several steps in turn: its name, and how much of it is done, 0..1."""
    with _progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share, total=(share and 1.0) or None)


@contextmanager
def task_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for what is being done: its name, how far it is, and of how much (0: nobody knows)."""
    with _progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of or None)


@contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """One line that changes."""
    with _progress(SpinnerColumn(), TextColumn("{task.description}")) as bar:
        task = bar.add_task("")
        yield lambda text: bar.update(task, description=text)
