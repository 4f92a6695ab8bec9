"""A crawl on one page: an HTML file without other files, with a table behind each plot.

Pages are read in parts, in transactions that cannot write, while other processes work. So the page is no snapshot.
Memory: some 60 bytes a page, 4 bytes a link. Texts of the web are escaped, and only URLs with http and https become
links.
Statements: brain/read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from itertools import compress
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from scipy import sparse

from graphbrain.analyst import plots
from graphbrain.analyst.findings import findings
from graphbrain.analyst.last_look import News
from graphbrain.analyst.moving import moving
from graphbrain.analyst.plots import text
from graphbrain.analyst.questions import Asked, ask, question
from graphbrain.analyst.standing import Progress, Standing, standing
from graphbrain.base.numeric.arrays import Floats
from graphbrain.base.records import Finding
from graphbrain.graph import exports
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.terminal import tables
from graphbrain.terminal.show import counted

__all__ = ["Progress", "page"]

DAY = 86_400.0
SHOWN_HOSTS = 25
"""The number of hosts in the picture. With more hosts, its lines could not be distinguished."""
POOR = 0.5
"""The expected harvest up to which a section is listed as poor."""
WORST = 100
"""The number of pages or links that a finding lists."""
MOST_EXAMPLES = 3
"""The number of examples of a finding that are shown before its table."""
MOST_URLS = 2
"""The most URLs of a group or chain that an example shows."""
EXAMPLES: dict[tuple[str, ...], str] = {
    ("on", "names"): " → ",
    ("url", "led_to"): " → ",
    ("url", "canonical"): " → ",
    ("url",): "",
    ("urls",): " · ",
    ("title", "such_as"): " · ",
    ("example",): "",
    ("host",): "",
}
"""Columns that show a row as an example, and what is between them: the first of these that a table has."""
POOREST = 10
"""The number of poor sections that are listed."""
SHORTEST_BROKEN = 16
"""The length from which the texts of a column may be broken on a narrow page."""
LONG = {"url", "urls", "linked_from", "such_as", "chain", "error", "section", "example"}
"""Columns with long texts, which get more width."""
ABOUT = ("url", "on", "from", "urls", "chain", "host", "title")
"""Columns that identify a row. The first of these that a table has is shown first."""
AGES = ((1 / 24, "1 h"), (0.25, "6 h"), (1, "1 d"), (7, "1 w"), (30, "1 m"), (90, "3 m"), (365, "1 y"))
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MOST_COLUMNS = 4
"""The most columns of a table that fits beside others."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One plot or table of the page.

    Attributes:
        drawn: The plot as SVG; empty for a table alone.
        wide: True if the part takes the whole width of the page.
        body: HTML in place of plot and table.
        folded: True if the reader must open the part by a click.
    """

    title: str
    intro: str
    drawn: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    wide: bool = False
    body: str = ""
    folded: bool = False


def page(
    graph: Graph,
    now: float,
    since: float | None = None,
    progress: Progress = lambda *_: None,
    news: News | None = None,
) -> str:
    """Return the page, as HTML.

    Args:
        graph: The graph.
        now: Epoch seconds.
        since: Epoch seconds from which new, changed and gone pages are listed. Default: a week before `now`.
        progress: Is called while pages are read.
        news: The findings, compared with those of an earlier look. None: they are read here.
    """
    # Read the pages and links once, for all parts.
    stored = graph.read(bound(_stored), "brain/read") or {}
    all_pages = standing(graph, progress)
    table = exports.links(graph.anywhere, types=["LINKS"])
    days = (now - since) / DAY if since is not None else 7.0
    sections = [
        ("findings", "Findings", _findings(graph, news or News(findings(graph)))),
        ("progress", "Progress", _progress(graph)),
        ("frontier", "Frontier", _frontier(graph, all_pages)),
        ("scores", "Scores", _scores(graph, all_pages)),
        ("hosts", "Hosts", _hosts(graph, all_pages, table)),
        ("depth", "Depth and freshness", _depth(graph, all_pages, now)),
        ("politeness", "Politeness and errors", _errors(graph)),
        ("content", "Content", _content(graph)),
        ("changes", "Changes", _changes(graph, days)),
    ]
    # Collect the parts of the heading.
    name, when = str(stored.get("name") or stored.get("crawl") or "crawl"), _day(now, "%Y-%m-%d %H:%M UTC")
    subtitle = f"The crawl on {when}."
    if note := moving(graph):
        subtitle += f" {note[0].upper()}{note[1:]}."
    if since is not None:
        subtitle += f" Changes since {_day(since, '%Y-%m-%d')}."
    return _document(name, subtitle, _figures(all_pages, table.links), sections)


def _figures(pages: Standing, links: int) -> list[tuple[str, str]]:
    """Return the figures at the top of the page. Those of pages that answer, redirect and so on add up to all pages."""
    count = pages.counts()
    hosts = len(set(pages.host[pages.inside].tolist()))
    some = [("not fetched yet", count.waiting), ("forbidden by robots.txt", count.forbidden)]
    figures = [
        ("pages", int(pages.inside.sum())),
        ("answer", count.answering),
        ("redirect", count.redirecting),
        ("fail", count.failing),
        *((name, number) for name, number in some if number),
        ("hosts", hosts),
        ("links", links),
        ("copies of other pages", pages.copies),
        ("pages outside the scope", count.outside),
    ]
    return [(name, f"{number:,}") for name, number in figures]


def _stored(tx: Tx) -> dict[str, Any]:
    properties: dict[str, Any] = tx.one("brain/read")[0]
    return properties


# ---------------------------------------------------------------------- the parts of the page


def _answer_part(graph: Graph, name: str, title: str = "", **given: object) -> _Part:
    """Return the answer to a question as a table."""
    chosen, answer = question(name), ask(graph, name, **given)
    return _Part(title or chosen.title, "", "", answer.columns, answer.rows, wide=True)


def _findings(graph: Graph, news: News) -> list[_Part]:
    """Return the findings, the most wasteful first, and the worst rows of each."""
    # Explain the list.
    present = [each for each in news.findings if each.count]
    intro = (
        "What wastes most comes first. The percentage is the part of the site's authority, the value that links give "
        "to pages: of pages what they have, of links what they pass on. A page may have several faults."
    )
    if any(each.share is None for each in present):
        intro += " The classic engine does not record payments, so it is not known here."
    if news.since is not None:
        intro += f" More and fewer are since the last look on {_day(news.since, '%Y-%m-%d %H:%M UTC')}."
    # Each finding has a table of its worst rows.
    worst = [_worst(graph, each) for each in present]
    first = _Part("What to mend first", intro, "", (), (), wide=True, body=_wastes(news, worst))
    return [first, *worst]


def _worst(graph: Graph, finding: Finding) -> _Part:
    """Return the worst rows of a finding as a folded table, with the command that lists all rows."""
    answer = ask(graph, finding.question, limit=WORST, **finding.given)
    options = "".join(f" --param {quote(f'{name}={value}')}" for name, value in finding.given.items())
    intro = f"{'The worst rows. ' if answer.cut else ''}All of them: graphbrain ask {finding.question}{options}"
    return _Part(finding.title, intro, "", answer.columns, answer.rows, wide=True, folded=True)


def _wastes(news: News, worst: Sequence[_Part]) -> str:
    """Return the findings as a list, each with a bar, three examples, and a link to its worst rows.

    Findings of the earlier look without faults now follow in a sentence.
    """
    present = [each for each in news.findings if each.count]
    absent = [each for each in news.findings if not each.count]
    most = max([each.share or 0.0 for each in present], default=0.0) or 1.0
    rows = []
    for number, (each, part) in enumerate(zip(present, worst, strict=True), 1):
        link = f'<a href="#findings-{number}-table">{"All" if each.count > 1 else "More about it:"}'
        count = text(counted(each.count, each.what))
        examples = [f"<li>{example}</li>" for example in _examples(part)]
        rows.append(
            f'<li><b>{text(each.title)}</b><span class="number">{count}</span>{_price(each.share, most)}'
            f'<ul class="examples">{"".join(examples)}<li>{link} {count}</a></li></ul>'
            f"{_changed(news.change(each))}</li>"
        )
    names = "; ".join(f"{each.title} ({news.count_before(each):,})" for each in absent)
    no_longer = f'<p class="soft">No longer found since the last look: {text(names)}.</p>' if absent else ""
    return (f'<ul class="wastes">{"".join(rows)}</ul>' if rows else '<p class="soft">Nothing.</p>') + no_longer


def _examples(part: _Part) -> list[str]:
    """Return the first rows of a finding, each as HTML with the URLs or the name of its page, link, group or host."""
    at = {name: number for number, name in enumerate(part.columns)}
    shown, between = next((pair for pair in EXAMPLES.items() if all(name in at for name in pair[0])), ((), ""))
    return [
        between.join(_cell(url) for name in shown for url in _each(row[at[name]])[:MOST_URLS])
        for row in part.rows[:MOST_EXAMPLES]
    ]


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def _price(share: float | None, most: float) -> str:
    """Return a bar and a number for a share, and a dash for an unknown one."""
    if share is None:
        return '<span></span><span class="number">–</span>'
    bar = f'<meter min="0" max="{most:.6g}" value="{share:.6g}" aria-hidden="true"></meter>'
    return f'{bar}<span class="number">{100 * share:.2f} %</span>'


def _changed(change: str) -> str:
    return f'<span class="change">{text(change)}</span>' if change else ""


def _content(graph: Graph) -> list[_Part]:
    """Return types, languages, redirects and sitemaps of pages."""
    # Add the content types.
    kinds = ask(graph, "content-types", limit=15)
    parts = [_Part(question("content-types").title, "", "", kinds.columns, kinds.rows)]
    # Draw the languages.
    pages_of: Counter[str] = Counter()
    every = ask(graph, "content-types", limit="all")
    for language, count in zip(every.column("language"), every.column("pages"), strict=True):
        pages_of[str(language or "not known")] += count
    languages = sorted(pages_of.items(), key=lambda each: (-each[1], each[0]))[:15]
    drawn = plots.bars("languages", "Pages by language", [(name, float(count)) for name, count in languages])
    columns = ("language", "pages")
    parts.append(_Part("Languages", "As pages declare them.", drawn if languages else "", columns, languages))
    # Add the redirects and the sitemaps.
    for name in ("redirects", "redirect-chains", "sitemap-coverage"):
        parts.append(_answer_part(graph, name, limit=15))
    return parts


def _progress(graph: Graph) -> list[_Part]:
    # Draw the reports by hour.
    hours = ask(graph, "progress-by-hour")
    by_hour = plots.columns(
        "hours",
        "Pages reported, hour by hour",
        [hour.strftime("%H h") for hour in reversed(hours.column("hour"))],
        [("pages", _upwards(hours, "pages"))],
    )
    # Draw the discoveries and first visits by day.
    days = ask(graph, "discovered-by-day", days=30)
    by_day = plots.columns(
        "days",
        "Pages found and first fetched, day by day",
        [day.strftime("%m-%d") for day in reversed(days.column("day"))],
        [("found", _upwards(days, "discovered")), ("first fetched", _upwards(days, "first_fetched"))],
    )
    intro = "The last 48 hours in which something was done."
    return [
        _Part("Pages reported an hour", intro, by_hour if len(hours.rows) > 1 else "", hours.columns, hours.rows),
        _Part(
            "Pages found and first fetched",
            "Day by day, in UTC.",
            by_day if len(days.rows) > 1 else "",
            days.columns,
            days.rows,
        ),
    ]


def _frontier(graph: Graph, pages: Standing) -> list[_Part]:
    # Draw the pages by state.
    states = ask(graph, "states")
    counts = list(zip(states.column("state"), states.column("pages"), strict=True))
    drawn = plots.bars("states", "Pages by state", counts)
    # Draw the hosts with the most waiting pages.
    waits = pages.in_states("frontier") & ~pages.failing
    waiting = np.bincount(pages.host[waits], minlength=len(pages.hosts))
    best = [host for host in np.argsort(-waiting, kind="stable")[:12].tolist() if waiting[host]]
    rows = [(pages.hosts[host], int(waiting[host])) for host in best]
    bars = plots.bars("waiting", "Hosts by pages that wait for a first visit", rows)
    return [
        _Part("Pages by state", "", drawn if states.rows else "", states.columns, states.rows),
        _Part("Where first visits wait", "The hosts with most of them.", bars if rows else "", ("host", "pages"), rows),
        _answer_part(graph, "next-pages", limit=10),
        *_poor_sections(graph),
    ]


def _poor_sections(graph: Graph) -> list[_Part]:
    """Return a table of the sections where most waiting pages are expected to bring nothing; no part without any."""
    poor = ask(graph, "sections", harvest=POOR, limit=POOREST)
    rows = [row for row, waste in zip(poor.rows, poor.column("waste"), strict=True) if waste >= 1.0]
    intro = (
        "Parts of hosts by how many of their waiting pages are expected to bring nothing new (waste): those that wait, "
        "times 1 less the harvest, what a fetch there is expected to bring, 0 to 1."
    )
    return (
        [_Part("Sections that are expected to bring little", intro, "", poor.columns, rows, wide=True)] if rows else []
    )


def _scores(graph: Graph, pages: Standing) -> list[_Part]:
    parts = []
    for name, values in (("authority", pages.authority), ("hub", pages.hub)):
        # Count the pages of each power of two.
        powers = (
            np.floor(np.log2(np.maximum(values, 2.0**-40))).astype(np.int64) if len(values) else np.empty(0, np.int64)
        )
        edges = range(int(powers.min(initial=0)), int(powers.max(initial=0)) + 1)
        counts = [int((powers == edge).sum()) for edge in edges]
        labels = [f"{plots.short(2.0**edge)}" for edge in edges]
        # Draw them on a logarithmic scale.
        drawn = plots.columns(
            f"{name}-spread",
            f"Pages by {name}, on a scale of logarithms",
            labels,
            [("pages", counts)],
            "score from",
            logs=True,
        )
        intro = "Each column holds pages of up to twice its score; each line across is ten times as many."
        rows = list(zip(labels, counts, strict=True))
        parts.append(_Part(f"Pages by {name}", intro, drawn, ("score from", "pages"), rows))
    parts.append(_concentration(pages.authority))
    parts += [_answer_part(graph, "top-authorities", limit=15, inside=True), _answer_part(graph, "top-hubs", limit=15)]
    return parts


def _concentration(scores: Floats) -> _Part:
    """Return the Lorenz curve of a score, and its Gini coefficient."""
    # Without a score there is no curve.
    ordered = np.sort(scores)
    total, count = float(ordered.sum()), len(ordered)
    if not count or total <= 0:
        return _Part(
            "Concentration of authority", "There is no score yet.", "", ("share of pages", "share of score"), []
        )
    # Compute the share of the score that each share of the pages has.
    cumulated = np.concatenate([[0.0], np.cumsum(ordered) / total])
    shares = np.linspace(0.0, 1.0, 101)
    line = np.interp(shares, np.arange(count + 1) / count, cumulated)
    gini = 1.0 - float(((cumulated[1:] + cumulated[:-1]) / count).sum())
    # The table has the shares of the best pages.
    rows = []
    for part in (0.001, 0.01, 0.1, 0.5):
        best = max(1, math.ceil(count * part))
        rows.append((f"best {100 * part:g} %", best, f"{100 * float(ordered[-best:].sum()) / total:.1f} %"))
    drawn = plots.curve(
        "lorenz",
        f"Share of all authority that the pages of least authority have; Gini coefficient {gini:.2f}",
        list(zip(shares.tolist(), line.tolist(), strict=True)),
        "share of pages, those of least authority first",
        "% of all authority",
    )
    intro = f"Gini coefficient {gini:.2f}: 0 if all pages had the same score (dashed), 1 if one page had all of it."
    return _Part("Concentration of authority", intro, drawn, ("pages", "how many", "of all authority"), rows)


def _hosts(graph: Graph, pages: Standing, table: exports.LinkTable) -> list[_Part]:
    # Take the hosts with most authority, and number them.
    score = ask(graph, "score-by-host", limit=SHOWN_HOSTS)
    places = [pages.hosts.index(name) for name in score.column("host") if name in pages.hosts]
    host = np.full(table.pages, -1, dtype=np.int64)
    at = table.at(pages.ids)
    host[at[at >= 0]] = pages.host[at >= 0]
    # Count the links between each two of them.
    source, target = np.repeat(host, np.diff(table.offsets)), host[table.targets]
    number_of = np.full(len(pages.hosts) + 1, -1, dtype=np.int64)
    number_of[places] = np.arange(len(places))
    source, target = number_of[source], number_of[target]
    between = (source >= 0) & (target >= 0) & (source != target)
    size = len(places)
    ones = np.ones(int(between.sum()))
    links = sparse.coo_array((ones, (source[between], target[between])), shape=(size, size)).toarray()
    # Draw hosts by their pages and links, and list the links.
    counts = np.bincount(pages.host, minlength=len(pages.hosts))
    nodes = [(pages.hosts[index], float(counts[index])) for index in places]
    rows = [
        (nodes[a][0], nodes[b][0], int(links[a, b]))
        for a, b in sorted(np.argwhere(links > 0).tolist(), key=lambda pair: -links[pair[0], pair[1]])
    ]
    intro = (
        f"The {size} hosts with most authority: circles as large as they have pages, lines as thick as they have links."
    )
    drawn = plots.network("net", "Hosts and the links between them", nodes, links) if size else ""
    return [
        _Part("Hosts and the links between them", intro, drawn, ("from", "to", "links"), rows[:300], wide=True),
        _Part(question("score-by-host").title, "", "", score.columns, score.rows, wide=True),
    ]


def _depth(graph: Graph, pages: Standing, now: float) -> list[_Part]:
    # Draw the pages by clicks from a seed.
    depths = ask(graph, "depth")
    reached = [clicks is not None for clicks in depths.column("clicks")]
    shown = replace(depths, rows=list(compress(depths.rows, reached))[:40])
    drawn = plots.columns(
        "depths",
        "Pages by clicks from a seed, and how many of them were fetched",
        [str(clicks) for clicks in shown.column("clicks")],
        [("pages", _numbers(shown, "pages")), ("fetched", _numbers(shown, "fetched"))],
        "clicks from a seed",
    )
    # Draw the pages by the time since their last visit.
    days = (now - pages.fetched[pages.visited & (pages.fetched >= 0)]) / DAY
    bins = np.searchsorted([length for length, _ in AGES], days)
    counts = np.bincount(bins, minlength=len(AGES) + 1).tolist()
    labels = [*(words for _, words in AGES), "older"]
    beneath = "visited last within so long"
    fresh = plots.columns("ages", "Pages by the time since their last visit", labels, [("pages", counts)], beneath)
    ages = list(zip(labels, counts, strict=True))
    return [
        _Part("Click depth", "", drawn if shown.rows else "", depths.columns, depths.rows),
        _Part("Freshness", "How long ago pages were visited last.", fresh, ("last visit", "pages"), ages),
        _answer_part(graph, "stale-pages", limit=10),
    ]


def _errors(graph: Graph) -> list[_Part]:
    # Draw the last answers of servers.
    statuses = ask(graph, "statuses", limit=12)
    columns = zip(*map(statuses.column, ("status", "error", "fault", "pages")), strict=True)
    named = [(_answered(status, error, fault), float(pages)) for status, error, fault, pages in columns]
    drawn = plots.bars("statuses", "Pages by the last answer of their server", named)
    # Draw the failures by day.
    days = ask(graph, "failures-by-day", days=30)
    failed, cured = _upwards(days, "pages"), _upwards(days, "cured")
    by_day = plots.columns(
        "failed",
        "Pages by the day of their last failure; those not fetched since are hatched",
        [day.strftime("%m-%d") for day in reversed(days.column("day"))],
        [("failed last", failed), ("not since cured", np.subtract(failed, cured).tolist())],
    )
    return [
        _Part(
            "Answers of servers",
            "HTTP status of the last try.",
            drawn if named else "",
            statuses.columns,
            statuses.rows,
        ),
        _Part("Failures by day", "", by_day if len(days.rows) > 1 else "", days.columns, days.rows),
        _answer_part(graph, "slow-hosts", limit=15),
        _answer_part(graph, "blocked-hosts", limit=15),
        _answer_part(graph, "broken-pages", limit=15),
    ]


def _changes(graph: Graph, days: float) -> list[_Part]:
    return [_answer_part(graph, name, days=days, limit=20) for name in ("new-pages", "changed-pages", "gone-pages")]


def _answered(status: int | None, error: str | None, fault: str | None) -> str:
    """Return a server's answer in a few words: the status, with the fault of the page if the status is below 400."""
    if status is None:
        return error or "no answer"
    return f"{status} {fault}" if fault and status < 400 else str(status)


def _numbers(answer: Asked, name: str) -> list[float]:
    """Return a column of numbers, 0 for null."""
    return [float(value or 0) for value in answer.column(name)]


def _upwards(answer: Asked, name: str) -> list[float]:
    """Return a column of numbers from the last row to the first. Answers begin with the latest day, plots end with
    it."""
    return _numbers(answer, name)[::-1]


# ---------------------------------------------------------------------- HTML


def _document(
    name: str, subtitle: str, figures: list[tuple[str, str]], sections: list[tuple[str, str, list[_Part]]]
) -> str:
    # Write the style, the links to the sections, the figures, and the sections with a card for each part.
    style = (Path(__file__).parent / "summary.css").read_text("utf-8")
    navigation = "".join(f'<li><a href="#{anchor}">{text(title)}</a></li>' for anchor, title, _ in sections)
    facts = "".join(f"<div><dt>{text(what)}</dt><dd>{text(value)}</dd></div>" for what, value in figures)
    body = "".join(
        f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{text(title)}</h2><div class="cards">'
        f"{''.join(_card(part, f'{anchor}-{number}') for number, part in enumerate(parts))}</div></section>"
        for anchor, title, parts in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{text(name)}: summary of a crawl</title><style>\n{style}</style></head><body>"
        f'<header><h1>{text(name)}</h1><p class="soft">{text(subtitle)}</p><dl class="figures">{facts}</dl>'
        f'<nav aria-label="Sections"><ul>{navigation}</ul></nav></header><main>{body}</main>'
        "<footer><p>Made by graphbrain. Times are UTC; scores are authority and hub of the crawl's graph.</p></footer>"
        "</body></html>\n"
    )


def _card(part: _Part, anchor: str) -> str:
    """Return one plot with its table folded behind it, or a table alone."""
    # Write the head of the card.
    intro = f'<p class="soft">{text(part.intro)}</p>' if part.intro else ""
    # A table of many columns would be cut off in the width of a plot.
    wide = part.wide or (part.rows and not part.drawn and len(part.columns) > MOST_COLUMNS)
    classes = "card wide" if wide else "card"
    head = f'<h3 id="{anchor}">{text(part.title)}</h3>{intro}'
    # Add the part's own HTML, a folded table, or a plot with its table.
    if part.body:
        return f'<div class="{classes}">{head}{part.body}</div>'
    if part.folded:
        return (
            f'<details class="{classes}"><summary>{text(part.title)}</summary>{_table(part, anchor)}{intro}</details>'
        )
    table = _table(part, anchor) if part.rows else '<p class="soft">Nothing.</p>'
    if part.drawn:
        plot = f'<div class="scroll" tabindex="0" role="group" aria-labelledby="{anchor}">{part.drawn}</div>'
        table = (
            f"{plot if part.wide else part.drawn}<details><summary>Table: {text(part.title)}</summary>{table}</details>"
        )
    return f'<div class="{classes}">{head}{table}</div>'


def _is_short(values: Iterable[Any]) -> bool:
    """Return whether these values are words that are not broken on a narrow page."""
    return all(value is None or (isinstance(value, str) and len(value) <= SHORTEST_BROKEN) for value in values)


def _table(part: _Part, anchor: str) -> str:
    part = _named_first(part)
    # Columns of numbers are aligned to the right, in their heads, too.
    styles = [_style(name, [row[at] for row in part.rows]) for at, name in enumerate(part.columns)]
    head = "".join(
        f'<th scope="col"{_class("number" if style == "number" else "")}>{text(str(name).replace("_", " "))}</th>'
        for name, style in zip(part.columns, styles, strict=True)
    )
    rows = [
        "".join(f"<td{_class(style)}>{_cell(value)}</td>" for value, style in zip(row, styles, strict=True))
        for row in part.rows
    ]
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    return (
        f'<div class="scroll" id="{anchor}-table" tabindex="0" role="region" aria-label="Table: {text(part.title)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _style(name: str, values: Sequence[Any]) -> str:
    """Return the class of a column's cells in the style sheet, empty for none."""
    if all(isinstance(value, int | float | None) and not isinstance(value, bool) for value in values):
        return "number"
    if name in LONG:
        return "long"
    return "short" if _is_short(values) else ""


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""


def _named_first(part: _Part) -> _Part:
    """Return the part with the column that identifies a row (its URL or host) first, so that a phone shows it."""
    name = next((name for name in ABOUT if name in part.columns), None)
    if name is None or part.columns[0] == name:
        return part
    index = list(part.columns).index(name)
    rows = [[row[index], *row[:index], *row[index + 1 :]] for row in part.rows]
    return replace(part, columns=[name, *part.columns[:index], *part.columns[index + 1 :]], rows=rows)


def _cell(value: Any) -> str:
    """Return a value as HTML: times to the minute, lists line by line, and only http and https URLs as links."""
    if value is None or isinstance(value, int):
        return tables.number(value)
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) >= 0.01 or not value else f"{value:.2g}"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "<br>".join(_cell(each) for each in value)
    words = text(value)
    if str(value).startswith(("http://", "https://")):
        return f'<a href="{words}" rel="noreferrer nofollow noopener">{words}</a>'
    return words


def _day(epoch: float, form: str) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime(form)
