"""The output of each command for a person or a program: its tables and sheets, and the forms of times, sizes and
scores.

`graphbrain.terminal.tables` lays a table out for a terminal and for a pipe.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from graphbrain.base.model import FOR_EVER, Answer, Claim, Host, LinkedPage, Page, Payments
from graphbrain.base.numeric.methods import FORWARD
from graphbrain.base.records import HostResource, Record, Section
from graphbrain.base.settings import InForce
from graphbrain.base.work import Ranking
from graphbrain.terminal.show import figures_sheet, rows_table, sheet
from graphbrain.terminal.tables import Cell, Sheet, Table, flat, named, number, on_terminal

if TYPE_CHECKING:
    from graphbrain.files.importer import Imported

__all__ = [
    "all_links_table",
    "answers_table",
    "claims_table",
    "findings_sheet",
    "host_sheet",
    "hosts_table",
    "import_sheet",
    "leases_table",
    "links_table",
    "moment_cell",
    "next_visit",
    "page_sheet",
    "pages_table",
    "path_table",
    "payments_tables",
    "ranking_sheet",
    "rankings_table",
    "sections_table",
    "settings_table",
    "settled",
    "size",
    "size_cell",
    "stats_sheet",
    "top_table",
]


Columns = Mapping[str, Callable[[Any], Any]]
"""Column of a table → the function that reads its cell from an item."""


def _table(columns: Columns, items: Iterable[Any], spare: Sequence[str] = (), remark: str | None = None) -> Table:
    """Return a table with a row for each item."""
    rows = ([read(item) for read in columns.values()] for item in items)
    return Table(tuple(columns), rows, spare, remark)


def _written(name: str, form: str) -> Callable[[Any], Cell | None]:
    """Return the function that reads a number of an item, which a person sees in this form."""

    def read(item: Any) -> Cell | None:
        value = getattr(item, name)
        return None if value is None else Cell(value, format(value, form))

    return read


def import_sheet(done: Imported) -> Sheet:
    """Return the results of an import, for a person."""
    d, steps = done, {name: seconds for name, seconds in done.seconds.items() if name != "all"}
    way = "by Neo4j's import tool" if d.way == "offline" else "in batches"
    pairs: list[tuple[str, Any]] = [
        ("imported", f"{d.name}, {way}"),
        ("pages", f"{d.pages:,}: {d.fetched:,} fetched, {d.frontier:,} wait, {d.seeds:,} seeds"),
        ("links", d.links),
        ("hosts", d.hosts),
        ("left out", f"{d.refused:,} lines or links, {d.over:,} links over max_links"),
    ]
    # Lines that only some imports have.
    if d.userinfo_dropped:
        pairs.append(("userinfo", f"left out of {d.userinfo_dropped:,} URLs that named a user or a password"))
    if d.outside:
        pairs.append(("out of scope", f"{d.outside:,} pages: they will not be fetched ('graphbrain settings')"))
    if d.reported:
        pairs.append(("reported after", f"{d.reported:,} visits, {d.reports_refused:,} refused"))
    pairs += [
        ("seconds", f"{d.seconds['all']:.1f}: " + ", ".join(f"{name} {s:.1f}" for name, s in steps.items())),
        ("per second", f"{d.links_per_second:,} links, but for settling"),
        ("settled", d.settled),
    ]
    return sheet(pairs, d.as_dict())


# ---------------------------------------------------------------------- words, numbers, and cells of them


def size(count: int | None) -> str:
    """Bytes as MB or GB."""
    if count is None:
        return "–"
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def _moment(epoch: float | None) -> str:
    """Return a time in UTC, with its distance from now."""
    if epoch is None:
        return "–"
    text = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    away = epoch - time.time()
    return f"{text} ({'in ' if away > 0 else ''}{_span(abs(away))}{'' if away > 0 else ' ago'})"


def _span(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def size_cell(count: int | None) -> Cell:
    """Return a cell with a number of bytes."""
    return Cell(count, size(count))


def moment_cell(epoch: float | None) -> Cell:
    """Return a cell with a time."""
    return Cell(_time(epoch), _moment(epoch))


def _day_cell(epoch: float | None) -> Cell:
    moment = _time(epoch)
    return Cell(moment, "–" if moment is None else f"{moment:%Y-%m-%d}")


def _score_cell(value: float | None) -> Cell:
    return Cell(value, _score(value))


def _time(epoch: float | None) -> datetime | None:
    return None if epoch is None else datetime.fromtimestamp(epoch, UTC)


# ---------------------------------------------------------------------- claims and pages


_CLAIM: Columns = {
    "depth": attrgetter("depth"),
    "lapses": lambda claim: Cell(_time(claim.until), f"in {_span(claim.until - time.time())}"),
    "url": attrgetter("url"),
}


def claims_table(claims: Iterable[Claim]) -> Table:
    """Claimed pages and when each lapses."""
    return _table(_CLAIM, claims, ("depth",))


def leases_table(rows: Iterable[tuple[float | None, str]]) -> Table:
    """Claims and until when each is held; None: it is lost."""
    now = time.time()
    shown = ((Cell(_time(until), "lost" if until is None else f"in {_span(until - now)}"), url) for until, url in rows)
    return rows_table(("lapses", "url"), shown)


def answers_table(answers: Iterable[Answer]) -> Table:
    """Return the answers to reports, with the reasons of those that were refused."""
    rows = ((a.outcome or "refused", " ".join(a.changed_in) or None, a.links, a.reason or None, a.url) for a in answers)
    return Table(("outcome", "changed in", "links", "reason", "url"), rows, remark="reason")


def top_table(pages: Iterable[Page], by: str) -> Table:
    """The pages of `top`, with what they are ranked by first."""
    other = "hub" if by == "authority" else "authority"
    rows = (
        (rank, _score_cell(page.score(by)), _score_cell(page.score(other)), page.in_links, page.out_links, page.url)
        for rank, page in enumerate(pages, 1)
    )
    return rows_table(("#", by, other, "in", "out", "url"), rows, (other, "out", "in"))


def pages_table(pages: Iterable[Page], by: str) -> Table:
    """Pages as they come, one a line, with both live scores or the batch score that is meant."""
    names = ("authority", "hub") if by in ("authority", "hub") else (by, "authority")
    rows = ((*(_score_cell(page.score(name)) for name in names), page.state, page.url) for page in pages)
    return rows_table((*names, "state", "url"), rows, (names[1],))


def links_table(linked: Iterable[LinkedPage], side: str) -> Table:
    """The pages at the other ends of links, with their scores of this side."""
    rows = ((_day_cell(o.since), o.state, _score_cell(getattr(o, f"{side}_score")), o.named, o.url) for o in linked)
    return rows_table(("since", "state", side, "names", "url"), rows, ("since",))


def all_links_table(by_way: Mapping[str, Iterable[LinkedPage]]) -> Table:
    """The pages at the other ends of links, each with the way of its link, and both scores."""
    return rows_table(
        ("way", "since", "state", "authority", "hub", "names", "url"),
        (
            (way, _time(o.since), o.state, o.authority_score, o.hub_score, o.named, o.url)
            for way, others in by_way.items()
            for o in others
        ),
    )


def path_table(steps: Iterable[LinkedPage]) -> Table:
    """The pages of a path, one a line."""
    rows = ((n, _day_cell(s.since), s.state, _score_cell(s.authority_score), s.url) for n, s in enumerate(steps))
    return rows_table(("#", "since", "state", "authority", "url"), rows, ("authority", "since"))


def _score(value: float | None) -> str:
    """A score: sums of the exact engine are about 1 and more, shares of the classic one and batch scores far below."""
    if value is None:
        return "–"
    return f"{value:,.2f}" if value >= 1 or not value else f"{value:.3g}"


_ACCOUNT = ("score", "history", "cash", "paid")

_TIMES = {
    **{
        name: name.replace("_", " ")
        for name in (
            *("discovered", "first_fetched", "fetched", "changed", "failed", "failing_since", "hinted", "in_sitemap"),
            *("not_before", "recheck_at", "waiting_since", "claimed", "lease_until", "due"),
        )
    },
    "recheck_at": "looked at again",
}
"""Times of a page → their words."""

_FIELDS = (
    *("state", "host", "key", "clicks", "depth", "is_seed", "relevance", "value", "url_weight", "payout"),
    *("status", "error", "fault", "parked_because"),
)

_COUNTS = ("visits", "changes", "changed_in", "errors")

_INTERNAL = ("lane", "simhash")

_DAYS = {"rate": "changes", "interval": "fixed interval", "comes_back": "comes back after"}

_MORE = (
    *("outside_because", "worker", "hinted_by"),
    *("title", "canonical", "canonicals", "noindex", "nofollow", "language", "content_type", "size", "fetch_seconds"),
    *("titles", "descriptions", "h1", "words", "hreflang", "requisites", "structured", "password_field"),
    *("etag", "last_modified", "body_hash", "text_hash", "redirects_to", "led_to"),
)


_SETTING: Columns = {
    "setting": attrgetter("name"),
    "from": attrgetter("source"),
    "kind": attrgetter("kind"),
    "value": lambda each: each.value if each.value != "" else None,
}


def settings_table(in_force: Iterable[InForce]) -> Table:
    """Settings in force, and where each comes from."""
    return _table(_SETTING, in_force, ("kind",))


def page_sheet(page: Page, least: float | None = None) -> list[str | Table | Sheet]:
    """Everything about one page: its URL, its two accounts, its visits, its batch scores, where it waits.

    `least`: see `next_visit`.
    """
    # A program gets all fields but the internal ones, which only --json has.
    visit, why = next_visit(page, time.time(), least)
    if not on_terminal():
        stored = {name: value for name, value in page.as_dict().items() if name not in _INTERNAL}
        facts = {name: _time(value) if name in _TIMES else value for name, value in stored.items()}
        facts |= {"next_visit": visit, "because": why}
        facts |= _facts_of("section", page.section) | _facts_of("expected_copy", page.expected_copy)
        return [Sheet((), facts)]
    # The accounts as a table, the rest as pairs, without what is not known.
    rows = []
    for side, way in (("hub", "out"), ("authority", "in")):
        values = [getattr(page, f"{side}_{name}") for name in _ACCOUNT]
        rows.append((side, *values, getattr(page, f"{way}_links"), getattr(page, f"{way}_weight")))
    words: list[tuple[str, Any]] = [("next visit", visit), ("because", why)]
    words += [(name.replace("_", " "), getattr(page, name)) for name in (*_FIELDS, *_COUNTS)]
    words += [(label, _days(name, getattr(page, name))) for name, label in _DAYS.items()]
    live = {name: value for name in FORWARD if (value := getattr(page, name)) is not None}
    words += [(name, _score_cell(value)) for name, value in {**live, **page.scores}.items()]
    words += _section_words(page)
    if (copy := page.expected_copy) is not None:
        words += [("expected to equal", copy.url), ("because", copy.because), ("copy factor", copy.factor)]
    moments = [(words_of, _moment(getattr(page, name))) for name, words_of in _TIMES.items()]
    if page.lease_until is not None and page.lease_until < time.time():
        moments = [("lease lapsed" if name == "lease until" else name, moment) for name, moment in moments]
    more = [(name.replace("_", " "), getattr(page, name)) for name in _MORE]
    filled = [pair for pair in [*words, *moments, *more] if pair[1] not in (None, "–")]
    return [page.url, "", Table(("side", *_ACCOUNT, "links", "weight"), rows), "", Sheet(filled)]


def next_visit(page: Page, now: float, least: float | None = None) -> tuple[str, str]:
    """Return the time of a page's next visit, and the reason, as far as they follow from the page alone.

    `least`: the least seconds between two visits of a page, where the order has such a time.
    """
    # It is being fetched, or never will be, or only by a look.
    if page.lease_until is not None and page.lease_until >= now:
        return f"held until {_moment(page.lease_until)}", f"{page.worker} fetches it"
    if page.state == "outside":
        return "none", "its robots.txt forbids it" if page.outside_because == "robots" else "it is outside the scope"
    if page.state in ("alias", "parked", "gone"):
        why = {"alias": "it redirects", "parked": "it was given up", "gone": "it is missing"}[page.state]
        if page.recheck_at is None:
            return "none", f"{why}; 'graphbrain retry' asks for one"
        return _moment(page.recheck_at), f"{why}, and is looked at again then"
    # It waits: for another try, for its first visit, or for its next one.
    if page.not_before is not None and page.not_before > now:
        return _moment(page.not_before), "its last visit failed, and it is tried again then"
    if page.state == "frontier":
        return "its first, in its turn", "it waits; 'graphbrain ask why-next' has its place"
    if page.due is not None:
        by = "by its interval" if page.interval is not None else "by its value and its changes"
        when = "now, in its turn" if page.due <= now else _moment(page.due)
        return when, f"it comes once in {number(page.comes_back)} days, {by}"
    if least is not None and page.fetched is not None:
        return f"not before {_moment(page.fetched + least)}", "revisit_seconds; then by the pace of the crawl"
    return "unknown", "it depends on the pace of the crawl, which makes no visits now"


def _facts_of(name: str, record: Record | None) -> dict[str, Any]:
    """The values of a record for a program, each under the name of the record and its own."""
    return {} if record is None else {f"{name}_{each}": value for each, value in record.as_dict().items()}


def _section_words(page: Page) -> list[tuple[str, Any]]:
    """The section of a page, what is expected of it and why, and what follows for the page while it waits."""
    words: list[tuple[str, Any]] = []
    if page.brought is not None:
        words.append(("brought", f"{page.brought:.2f}, of 0 to 1, for what was new to its host"))
    section = page.section
    if section is None:
        return words
    words.append(("section", section.pattern or "(all pages of the host)"))
    # What a fetch there is expected to bring, and by what evidence.
    if not section.visits:
        words.append(("harvest", f"{section.harvest:.2f} is expected; no visit has counted there yet"))
    else:
        why = f"{section.visits:.1f} visits brought {section.brought:.1f}, around it {section.around:.2f} is expected"
        words.append(("harvest", f"{section.harvest:.2f} is expected: {why}"))
    remark = "" if section.counts else " (new pages do not count by it: value names no harvest)"
    words.append(("section factor", f"{section.factor:g}{remark}"))
    if page.harvest is not None and (section.counts or page.harvest != 1.0):
        words.append(("waits with factor", f"{page.harvest:g}"))
    return words


def _days(name: str, value: float | None) -> str | None:
    """A rate or a time in days, with its unit."""
    if value is None:
        return None
    return f"{number(value)} a day" if name == "rate" else f"{number(value)} days"


_HOST: Columns = {
    "pages": lambda host: Cell(host.pages, f"{host.pages or 0:,}{'+' if host.more_pages else ''}"),
    "delay": attrgetter("delay"),
    "out": lambda host: host.in_flight or None,
    "used": attrgetter("budget_used"),
    "budget": lambda host: host.budget or None,
    "pace": lambda host: None if host.pace == 1 else Cell(host.pace, f"{host.pace:.2f}"),
    "silent": lambda host: host.unanswered or None,
    "blocked": lambda host: Cell(_time(host.blocked_until), _blocked(host.blocked_until) or "–"),
    "wall": lambda host: host.wall and f"{host.walled:,} of its pages lead to {host.wall}: a login, or a consent page?",
    "host": attrgetter("name"),
}


def hosts_table(hosts: Iterable[Host]) -> Table:
    """Hosts as they come, one a line."""
    return _table(_HOST, hosts, ("used", "budget", "silent", "pace"), remark="wall")


_HOST_TIMES = (
    "next_at",
    "failing_since",
    "probe_at",
    "shut_until",
    "robots_at",
    "robots_http_at",
    "robots_https_at",
    "discovered",
    "blocked_until",
)


_SECTION: Columns = {
    **{name: attrgetter(name) for name in ("pages", "fetched", "waiting", "failing", "copies")},
    "visits": _written("visits", ".1f"),
    **{name: _written(name, ".2f") for name in ("harvest", "around")},
    "factor": _written("factor", "g"),
    "section": lambda section: section.pattern or "(all)",
    "example": attrgetter("example"),
}


def sections_table(sections: Iterable[Section]) -> Table:
    """Sections of a host, one a line."""
    return _table(_SECTION, sections, ("factor", "visits", "failing", "around"))


_RESOURCE: Columns = {
    "kind": attrgetter("kind"),
    "state": attrgetter("state"),
    "read": lambda each: moment_cell(each.fetched),
    "next": lambda each: moment_cell(each.due),
    "entries": attrgetter("entries"),
    "true dates": _written("true_dates", ".1%"),
    "url": attrgetter("url"),
    "note": attrgetter("note"),
}


def resources_table(resources: Iterable[HostResource]) -> Table:
    """Return the robots.txt and the sitemaps of a host, one a line."""
    return _table(_RESOURCE, resources, ("note", "next", "read"))


def host_sheet(host: Host) -> Sheet:
    """Return everything about one host but for its robots.txt and sitemaps."""
    own = {name: value for name, value in host.as_dict().items() if name != "resources"}
    values = {name: _time(value) if name in _HOST_TIMES else value for name, value in own.items()}
    facts: dict[str, Any] = {}
    for name, value in own.items():
        words = name.replace("_", " ")
        if name in _HOST_TIMES:
            facts[words] = (_moment(value) if name != "blocked_until" else _blocked(value)) or "–"
        elif name in ("most_in_flight", "budget", "unanswered"):
            facts[words] = value or None
        else:
            facts[words] = value
    return sheet([(name, value) for name, value in facts.items() if number(value) != "–"], values)


def _blocked(until: float | None) -> str | None:
    """Return the end of a block, if it is in the future."""
    if until is None or until < time.time():
        return None
    return "for ever" if until >= FOR_EVER else datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def payments_tables(page: Page, payments: Payments) -> list[str | Table]:
    """Return the payers and payees of a page's two sides, with the share of the score that each is."""
    base = number(1.0 if page.payout is None else page.payout)
    authority = (
        f"authority {number(page.authority_score)} is {base} for being there and the rest from pages that link to it:"
    )
    hub = f"hub {number(page.hub_score)} is {base} for being there and the rest from pages it links to:"
    kinds = (
        ("pays authority", authority, payments.authority_payers),
        ("paid by authority", "these it pays in turn, as hubs:", payments.authority_payees),
        ("pays hub", hub, payments.hub_payers),
        ("paid by hub", "these it pays in turn, as authorities:", payments.hub_payees),
    )
    columns = ("cash", "of score", "url")
    rows = {
        kind: [(kind, each.cash, Cell(each.share, _percent(each.share)), each.url) for each in paid]
        for kind, _, paid in kinds
    }
    # A program gets one table.
    if not on_terminal():
        every = [row for kind in rows.values() for row in kind]
        return ["", Table(("payment", *columns), every)] if every else []
    shown: list[str | Table] = []
    for kind, title, _ in kinds:
        if rows[kind]:
            shown += ["", title, Table(columns, [row[1:] for row in rows[kind]])]
    return shown


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


def stats_sheet(stats: Mapping[str, Any]) -> Sheet:
    """Return the crawl in figures; a pace of less than an hour is marked."""
    shown: dict[str, Any] = {}
    for name, value in stats.items():
        shown[name] = _STATS[name](value) if name in _STATS else value
        if name == "lapsed" and value:
            shown[name] = f"{value:,}, waiting to be taken back"
    return sheet(flat(shown), stats)


def _pace(pace: Mapping[str, Any]) -> dict[str, Any]:
    """Visits, links, and pages that came into the frontier and left it, an hour; of less than an hour also how many
    there were, and in what time."""
    words: dict[str, Any] = {}
    for name in ("visits", "links", "found", "left"):
        each = round(pace[f"{name}_an_hour"])
        so_far = f" (so far: {pace[name]:,} in {_span(pace['seconds'])})" if pace["so_far"] else ""
        words[f"{name}_an_hour"] = f"{each:,}{so_far}"
    return {**words, "price": pace["price"]}


def _frontier(outlook: Mapping[str, Any]) -> dict[str, Any]:
    """Return how fast pages are found, and when the frontier will be done."""
    rate, hours = outlook["found_per_visit"], outlook["hours"]
    ends = {"done": "now", "never": "not at this pace", "unknown": "cannot be known yet"}
    when = ends.get(outlook["end"]) or f"in {_span(hours * 3600.0)}"
    return {
        "waiting": outlook["waiting"],
        "found per visit": None if rate is None else f"{rate:.2f}",
        "done": f"{when}: {outlook['because']}",
    }


_STATS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {"pace": _pace, "frontier": _frontier}
"""The forms of figures of a crawl that are no plain numbers."""


def findings_sheet(figures: Mapping[str, Any], findings: Sequence[str], verdict: str) -> list[str | Sheet]:
    """Figures, what is off, and the verdict."""
    if on_terminal():
        return [figures_sheet(figures), *(f"OFF: {finding}" for finding in findings), verdict]
    off = [("OFF", finding) for finding in findings]
    return [Sheet([*named(figures), *off, ("verdict", verdict)])]


def ranking_sheet(ranking: Ranking) -> list[str | Table | Sheet]:
    """The best pages by each score of a ranking, and how it was computed."""
    # The best pages by each score: one table for a program, a table for each score for a person.
    r = ranking
    things: list[str | Table | Sheet] = []
    rows = {
        name: [(rank, Cell(value, f"{value:.3g}"), url) for rank, (url, value) in enumerate(best, 1)]
        for name, best in r.best.items()
    }
    if not on_terminal():
        every = [(name, *row) for name, best in rows.items() for row in best]
        things = [Table(("score", "#", "value", "url"), every), ""] if every else []
    else:
        for name, best in rows.items():
            things += [Table(("#", name, "url"), best), ""] if best else []
    # How the scores were computed.
    pairs: list[tuple[str, Any]] = [
        ("pages", r.pages),
        ("links", f"{r.links:,}, between hosts only" if r.only_external else r.links),
        ("damping", r.damping),
        ("restart", r.restart),
        ("content", "relevance" if r.content else None),
        ("iterations", r.iterations if r.tolerance is not None else "none needed"),
        ("residual", f"{r.residual:.1e}" if r.iterations else None),
        ("error", _error(r)),
        ("eigenvalue", None if r.eigenvalue is None else f"{r.eigenvalue:.6g}, the largest of LᵀL"),
        ("seconds", f"{r.seconds:.1f}"),
        ("written", ", ".join(r.best) if r.complete else "nothing"),
    ]
    values = {name: value for name, value in r.as_dict().items() if name != "best"}
    return [*things, sheet([pair for pair in pairs if pair[1] is not None], values)]


def _error(ranking: Ranking) -> str | None:
    if ranking.tolerance is None:
        return None
    bound = "not known" if ranking.error is None else f"at most {ranking.error:.1e}"
    return bound if ranking.converged else f"{bound}, above the tolerance of {ranking.tolerance:.0e}"


_RANKING: Columns = {
    "method": attrgetter("method"),
    "written": lambda r: Cell(
        _time(r.finished) if r.complete else None,
        f"{_span(time.time() - r.finished)} ago" if r.complete and r.finished else "in part",
    ),
    **{name: attrgetter(name) for name in ("pages", "links", "damping")},
    "error": lambda r: Cell(
        r.error, "–" if r.tolerance is None else "not known" if r.error is None else f"{r.error:.0e}"
    ),
    "of": lambda r: _basis(r),
}


def rankings_table(rankings: Iterable[Ranking]) -> Table:
    """Return a table of the batch scores that the pages carry: when each was written, and from which links."""
    return _table(_RANKING, rankings, ("damping",))


def _basis(ranking: Ranking) -> str:
    """Return the links, the content and the restart that scores were computed from, in a few words."""
    links = "external links" if ranking.only_external else "all links"
    content = ", content" if ranking.content else ""
    return f"{links}{content}" + (f", {ranking.restart}" if ranking.restart else "")


def settled(done: bool, bound: float | None, near: bool) -> str:
    """Return in words whether accounts are settled, and how far the scores may be off. `near`: whether they are as near
    as the settings want them."""
    if not done:
        return "no"
    if bound is None:
        return "yes"
    return f"{'yes' if near else 'pushed'}; scores at most {100 * bound:.2g} % off in sum"
