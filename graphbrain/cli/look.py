"""The commands that look: top, page, links, path, find, stats, audit."""

from __future__ import annotations

from typing import Any

import click

from graphbrain.analyst.moving import moving
from graphbrain.base.options.pages import MOST_BEST, PAGE_VALUES
from graphbrain.cli import sheets
from graphbrain.cli.common import App, as_json, brain_command, number_or_none
from graphbrain.cli.declared import options
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("url", required=False)
@click.option("--payers", type=click.IntRange(0), default=5, help="How many payers and payees of a side (5).")
@click.option("--set", "values", multiple=True, metavar="NAME=VALUE|none", help="Set one of the values below.")
@click.option("--all", "of_all", is_flag=True, help="Of all pages: only --set relevance=none.")
@as_json
def page(app: App, url: str | None, payers: int, values: tuple[str, ...], of_all: bool, as_json: bool) -> None:
    """Show all that is known of one page, or set a value of it.

    And why it has its scores: who pays it most, and whom it pays. A score is the payout (1 unless set) plus what its
    payers have paid. URL may also be the page's key, here and wherever a page is named.

    \b
    --set value=NUMBER      its worth to you; counts with 'graphbrain change value=own'
    --set rate=NUMBER       how often it changes, in changes a day; visits move it from there
    --set interval=SECONDS  fetch it so often, whatever it is worth
    --set relevance=0..1    how near it is to the topic
    --set payout=NUMBER     what it is paid for being there
    'none' in place of the number takes the value back.
    """
    if of_all:
        return _forget_relevance(app, url, values)
    if url is None:
        raise click.UsageError("Give the URL or the key of a page.")
    if values:
        return _set_values(app, url, values)
    # Read the page and its payments.
    with app.brain(auto_tend=False) as brain:
        seen = brain.page(url)
        payments = brain.payments(seen.key, payers)
        least = brain.settings.revisit_seconds if brain.settings.order == "optimal" else None
    shown = [*sheets.page_sheet(seen, least), *sheets.payments_tables(seen, payments)]
    return show.answer({**seen.in_full(), "payments": payments}, shown, as_json)


def _set_values(app: App, url: str, values: tuple[str, ...]) -> None:
    """Set values of a page, each given as NAME=VALUE, and print them."""
    given = dict(_pair(value) for value in values)
    with app.brain() as brain:
        brain.set_page(url, **given)
    for name, value in given.items():
        outcome = "is no longer set" if value is None else f"is set to {value:g}"
        show.say(f"graphbrain: the {name} of {url} {outcome}.")


def _pair(text: str) -> tuple[str, float | None]:
    name, equals, value = text.partition("=")
    if not equals or name not in PAGE_VALUES:
        raise click.UsageError(f"--set takes NAME=VALUE with a name of {', '.join(PAGE_VALUES)}, not {text!r}.")
    return name, number_or_none(value)


def _forget_relevance(app: App, url: str | None, values: tuple[str, ...]) -> None:
    if url is not None or values != ("relevance=none",):
        raise click.UsageError("Of all pages the relevance can only be forgotten: page --all --set relevance=none.")
    with app.brain() as brain, show.bar("forgetting") as bar:
        count = brain.forget_relevance(bar)
    show.say(f"graphbrain: the relevance of {show.counted(count, 'page')} is no longer set.")


@brain_command()
@click.argument("url")
@click.option("--out/--in", "outward", default=None, help="Only its links, or only links to it.")
@click.option("-n", "--limit", type=click.IntRange(0), help="At most so many each way (all).")
@as_json
def links(app: App, url: str, outward: bool | None, limit: int | None, as_json: bool) -> None:
    """List a page's links, both ways.

    With the day each was first seen, and state and scores of the page at its other end. The best come first: targets
    by authority, sources by hub.
    """
    ways = [way for way, wanted in (("out", outward is not False), ("in", outward is not True)) if wanted]
    with app.brain(auto_tend=False) as brain:
        by_way = {way: brain.links(url, way, limit) for way in ways}
        if as_json:
            show.json_lines({"way": way, **other.as_dict()} for way in ways for other in by_way[way])
        elif show.on_terminal():
            for way in ways:
                show.out(show.Title("links to:" if way == "out" else "linked from:"))
                if not show.write(sheets.links_table(by_way[way], "authority" if way == "out" else "hub")):
                    show.out("nothing")
        else:
            show.write(sheets.all_links_table(by_way))


@brain_command()
@click.argument("url")
@click.argument("other", required=False)
@as_json
def path(app: App, url: str, other: str | None, as_json: bool) -> int:
    """Show a shortest way along links from one page to another.

    With one URL only, from any seed to it: how it was, or can be, found. Exits 1 when there is none.
    """
    with app.brain(auto_tend=False) as brain:
        steps = brain.path(url, other)
        back = len(brain.path(other, url)) - 1 if other and not steps else 0
    show.answer(steps, sheets.path_table(steps) if steps else [], as_json)
    if not steps and other is None:
        show.say(f"graphbrain: no links lead from a seed to {url}.")
    elif not steps:
        way_back = f"but {back:,} lead from there back" if back > 0 else "nor back"
        show.say(f"graphbrain: no links lead from {url} to {other}, {way_back}.")
    return 0 if steps else 1


@brain_command()
@click.argument("n", metavar="[N]", type=click.IntRange(0, MOST_BEST), default=10)
@options("find", "by")
@as_json
def top(app: App, n: int, by: str | None, as_json: bool) -> None:
    """List the N best pages (10 unless given).

    They are the best by authority unless --by names another score. By anything but authority and hub every page is
    read. A batch score must have been written by 'graphbrain rank'; pages of which no relevance or value is known are
    left out.
    """
    score = by or "authority"
    with app.brain(auto_tend=False) as brain:
        pages = list(brain.find(by=score, limit=n))
        moves = moving(brain.graph) if score in ("authority", "hub") else ""
    nothing = "graphbrain: no page has a score yet; scores come by links and 'graphbrain tend'."
    show.answer(pages, sheets.top_table(pages, score), as_json, nothing)
    if moves:
        show.say(f"graphbrain: {moves}.")


@brain_command()
@click.argument("text", default="")
@options("find", "min_score", "by", "regex", "host", "state", "fetched", "limit", limit="-n")
@as_json
def find(app: App, text: str, as_json: bool, **which: Any) -> None:
    """Find pages whose URL contains TEXT.

    And that fit all options given. With --by and --limit they are the best, best first. --host has an index, and so has
    a --min-score of 32 or more by authority or hub: then the best come first. Without these, and by a batch score,
    every page is read.
    """
    if not text and not any(which[name] is not None for name in ("min_score", "regex", "host", "state", "fetched")):
        raise click.UsageError("Give a TEXT or an option that selects pages.")
    with app.brain(auto_tend=False) as brain:
        pages = brain.find(text, **which)
        table = sheets.pages_table(pages, which["by"] or "authority")
        show.answer(pages, table, as_json, nothing="graphbrain: no page fits.")


@brain_command()
@click.option("--sample", type=click.IntRange(1), help="Accounts recomputed (1000 unless given).")
@click.option("--all", "whole", is_flag=True, help="Recompute every account.")
@as_json
def audit(app: App, sample: int | None, whole: bool, as_json: bool) -> int:
    """Check that the accounts agree with the graph.

    And states with claims and indexes. Exits 1 when something is off.
    """
    if whole and sample is not None:
        raise click.UsageError("Give either --sample or --all, not both.")
    with app.brain(auto_tend=False) as brain, show.bar("auditing") as bar:
        result = brain.audit(None if whole else sample or 1000, progress=bar)
    verdict = "clean" if result.ok else f"{len(result.findings)} things are off"
    show.answer(result, sheets.findings_sheet(result.figures, result.findings, verdict), as_json)
    return 0 if result.ok else 1


COMMANDS = (top, page, links, path, find, audit)
