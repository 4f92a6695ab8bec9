"""The commands of analysts: ask, summary, findings, browser."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from graphbrain.base.errors import BadInput
from graphbrain.cli.common import App, Day, F, brain_command
from graphbrain.terminal import show
from graphbrain.terminal.tables import csv_line

if TYPE_CHECKING:
    from graphbrain.analyst.last_look import News
    from graphbrain.analyst.questions import Asked, Question
    from graphbrain.brain.brain import Brain
    from graphbrain.graph.connection import Graph

__all__ = ["COMMANDS"]

SLOW_PAGES, SLOW_LINKS = 300_000, 1_000_000
"""The pages and links above which a question that reads all of them takes more than a second or two."""
LOOK = click.option(
    "--look",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show what is new since the last look, which FILE keeps, and keep this one there.",
)


def _format(command: F) -> F:
    """Give a command `--format`, and `--json` for one of its values."""
    whole = click.option("--json", "form", flag_value="jsonl", help="The same as --format jsonl.")
    words = click.Choice(["table", "csv", "jsonl"])
    return click.option("--format", "form", type=words, default="table", help="table, if not given.")(whole(command))


@brain_command()
@click.argument("name", required=False)
@click.option("--param", "params", metavar="NAME=VALUE", multiple=True, help="A parameter of the question; repeatable.")
@click.option("--limit", metavar="N", help="The same as --param limit=N; 'all' cuts nothing.")
@click.option("--since", type=Day(), help="In place of days: from this day on, such as 2026-11-01.")
@_format
@click.option("--how", is_flag=True, help="Do not ask: show how to read the answer, its parameters, and its Cypher.")
def ask(
    app: App, name: str | None, params: tuple[str, ...], limit: str | None, since: datetime | None, form: str, how: bool
) -> None:
    """Answer a question about the crawl.

    Without NAME the questions are listed. The answer is read in a transaction that cannot write. What --how prints of a
    question runs in Neo4j Browser, too, with the parameters that are given.
    """
    from graphbrain.analyst import questions

    if name is None:
        if params or limit or since or how:
            raise click.UsageError("Name a question; 'graphbrain ask' lists them.")
        _list(questions.questions(), form)
        return
    # Check the parameters before the brain is opened.
    chosen = questions.question(name)
    given: dict[str, Any] = dict(_pair(text) for text in params)
    if limit is not None:
        if "limit" in given:
            raise click.UsageError("Give either --limit or --param limit, not both.")
        given["limit"] = limit
    chosen.values(given)
    if since is not None and "days" in given:
        raise click.UsageError("Give either --since or --param days, not both.")
    if how:
        _explain(chosen, given if since is None else given | chosen.since(since, time.time()), form)
        return
    # Ask, with a line on the cost of a question that reads all pages.
    with app.brain(auto_tend=False) as brain:
        _say_cost(chosen, brain.graph)
        if since is not None:
            given |= chosen.since(since, brain.now())
        with show.timed_line() as timing:
            timing(f"asking {chosen.name}")
            answer = brain.ask(chosen.name, **given)
    instead = " in place of --param limit" if limit is None and "limit" in given else ""
    _print(chosen, answer if since is None else answer.since(since), form, f"--limit all{instead} shows all")


@brain_command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--since", type=Day(), help="List what is new, changed or gone since this day, such as 2026-11-01 (a week)."
)
@LOOK
def summary(app: App, file: Path, since: datetime | None, look: Path | None) -> None:
    """Write the crawl on one page, an HTML file.

    FILE needs nothing else. It has plots and tables of progress, frontier, scores, hosts, depth, errors, duplicates
    and changes. Every page and link is read.
    """
    from graphbrain.analyst import summary as pages
    from graphbrain.analyst.questions import beginning
    from graphbrain.files import dump

    with app.brain(auto_tend=False) as brain:
        now = brain.now()
        start = None if since is None else beginning(since, now)
        news, kept = _news(brain, look) if look is not None else (None, "")
        with dump.opened(file) as out, show.bar("reading pages") as bar:
            out.write(pages.page(brain.graph, now, start, bar, news))
    show.say(f"graphbrain: {file} is written; open it in a browser.")
    if look is not None and news is not None:
        _keep(look, news, kept)


@brain_command()
@_format
@LOOK
def findings(app: App, form: str, look: Path | None) -> None:
    """List what is wrong with pages and links, by what it wastes.

    The share is that of the authority inside the scope: of pages what they hold, of links what is paid along them. A
    page may have several faults. The question of each, by 'graphbrain ask', names the pages. Every page is read. Under
    the classic engine, which does not record payments, there is no share.

    With --look a column has what is more or fewer since the last look with this file. What is no longer found has
    the count 0.
    """
    from graphbrain.analyst.last_look import News

    kept = ""
    with app.brain(auto_tend=False) as brain, show.timed_line() as timing:
        timing("reading pages")
        if look is None:
            news = News(brain.findings())
        else:
            news, kept = _news(brain, look)
    _print_findings(news, form, compare=look is not None)
    if look is not None:
        _keep(look, news, kept)


def _print_findings(news: News, form: str, *, compare: bool) -> None:
    """Print findings; with `compare` also their counts at the last look."""
    items = (each.as_dict() | ({"before": news.count_before(each)} if compare else {}) for each in news.findings)
    # A share that is not known stays empty; CSV has plain numbers.
    rows: list[tuple[Any, ...]] = [
        (
            each.share if form == "csv" or each.share is None else show.Cell(each.share, f"{each.share:.2%}"),
            each.count,
            *([news.count_before(each) if form == "csv" else news.change(each)] if compare else []),
            each.what,
            each.title,
            " ".join([each.question, *(f"--param {quote(f'{name}={value}')}" for name, value in each.given.items())]),
        )
        for each in news.findings
    ]
    compared = ("before" if form == "csv" else "since the last look",) if compare else ()
    table = show.rows_table(("share", "count", *compared, "what", "finding", "ask"), rows)
    if not _write(form, table, items):
        show.say("graphbrain: nothing is wrong that a question knows.")


def _news(brain: Brain, file: Path) -> tuple[News, str]:
    """Return the findings, compared with those of the last look, and the text that keeps them for the next look."""
    from graphbrain.analyst.last_look import Look, News

    earlier = Look.read(file)
    look = Look.now(brain.graph, brain.now(), brain.findings())
    return News.of(look, earlier), look.text()


def _keep(file: Path, news: News, kept: str) -> None:
    """Write the look that was shown into its file, and print with which it was compared."""
    from graphbrain.files import dump

    with dump.opened(file) as out:
        out.write(kept)
    if news.since is None:
        show.say(f"graphbrain: {file} keeps this look; the next one with it shows what is new.")
    else:
        when = datetime.fromtimestamp(news.since, UTC)
        show.say(f"graphbrain: compared with the look of {when:%Y-%m-%d %H:%M} UTC; {file} keeps this one.")


@brain_command("browser")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Where the guide is served (any that is free).")
@click.option("--origin", help="Where Neo4j Browser is, if not on the local server: http://host:7474.")
@click.option(
    "--save", type=click.Path(file_okay=False, path_type=Path), help="Write guide, style and favourites to DIR."
)
def browser_guide(app: App, port: int, origin: str | None, save: Path | None) -> None:
    """Serve a guide for Neo4j Browser until Ctrl-C.

    Prints where Browser is, who signs in, and the line to type. The guide leads from what is in the graph to its
    questions, each a click from running.
    """
    from graphbrain.analyst import guide

    given = guide.files()
    if save is not None:
        _save(save, given)
        return
    # Find out how to sign in, and serve the guide to that Browser alone.
    where, uri, user, password = _sign_in(app, origin)
    try:
        server = guide.GuideServer(port, _origins(where), given)
    except OSError as error:
        raise BadInput(f"The guide cannot be served on port {port} ({error.strerror}); give another --port.") from None
    with server:
        for line in (
            f"browser   {where}/browser/",
            f"          {where}/browser/preview/ is its new interface",
            f"connect   {uri}",
            f"sign in   {user}, password {password}",
            f"type      :play {server.address}/guide.html",
            "          or, in a Browser that knows :guide,",
            f"          :guide {server.address}/guide.adoc",
            f"style     :style {server.address}/style.grass, typed as well",
        ):
            click.echo(line)
        if origin is not None:
            click.echo("allow     browser.remote_content_hostname_whitelist must name localhost,")
            click.echo("          as it does by itself")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            show.say("Ctrl-C ends it.")
            server.serve_forever()


def _sign_in(app: App, origin: str | None) -> tuple[str, str, str, str]:
    """Return the address of Browser without a path, the address that it connects to, the user, and the file of the
    password."""
    from graphbrain.graph.server import lifecycle

    login = app.arguments()
    if origin is not None:
        uri = login.get("uri") or os.environ.get("GRAPHBRAIN_URI", "")
        return origin.rstrip("/"), uri, login.get("user", "neo4j"), "as for this command"
    local = lifecycle.find(app.data)
    if local is None or login.get("uri") != local.uri:
        raise click.UsageError("Name the Browser of this Neo4j by --origin, as http://host:7474.")
    return local.browser.removesuffix("/browser/"), local.uri, local.user, f"in {local.data / 'password'}"


def _origins(where: str) -> set[str]:
    """Return the spellings of that origin in a browser: the loopback address has two names."""
    return {where, where.replace("//127.0.0.1", "//localhost"), where.replace("//localhost", "//127.0.0.1")}


def _save(folder: Path, given: Mapping[str, tuple[str, str]]) -> None:
    try:
        for name, (_, text) in given.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written ({error.strerror or error}).") from None
    show.say(f"graphbrain: {len(given)} files are in {folder}; drop style and favourites on Neo4j Browser.")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"Give --param as NAME=VALUE, not {text!r}.")
    return name.strip(), value


def _list(listed: tuple[Question, ...], form: str) -> None:
    if form == "table" and show.on_terminal():
        wide = max(len(each.name) for each in listed)
        for group, those in groupby(listed, lambda each: each.group):
            show.out(show.Title(group), show.sheet((f"  {each.name:<{wide}}", each.title) for each in those))
        return
    rows = [(each.group, each.name, each.title) for each in listed]
    _write(form, show.rows_table(("group", "name", "title"), rows), listed)


def _explain(chosen: Question, given: Mapping[str, Any], form: str) -> None:
    steps = chosen.steps(given)
    if form == "jsonl":
        show.json_lines([{**chosen.as_dict(), "cypher": "\n".join(steps) or None}])
        return
    pairs = [("question", chosen.name), ("title", chosen.title), ("how to read", chosen.reading)]
    pairs += [("reads", chosen.cost)] if chosen.cost else []
    pairs += [(f"--param {p.name}={p.default}", p.meaning) for p in chosen.params]
    pasted = "\n\n".join(steps) or "Computed by 'graphbrain ask'; no Cypher can be pasted."
    show.out(show.sheet(pairs), "", pasted)


def _say_cost(chosen: Question, graph: Graph) -> None:
    """Warn before a question is asked that it will take long: of a large graph, with what it reads."""
    pages, links = graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")[:2]
    if ("link" in chosen.cost and links > SLOW_LINKS) or ("page" in chosen.cost and pages > SLOW_PAGES):
        show.say(f"graphbrain: {chosen.name} reads {chosen.cost}; there are {pages:,} pages and {links:,} links.")


def _print(chosen: Question, answer: Asked, form: str, rest: str) -> None:
    if form == "table":
        show.out(show.Title(chosen.title))
    items = (dict(zip(answer.columns, row, strict=True)) for row in answer.rows)
    if not _write(form, show.AnswerTable(answer.columns, answer.rows), items):
        show.say(f"graphbrain: no row; 'graphbrain ask {chosen.name} --how' describes one.")
    if answer.note:
        show.say(f"graphbrain: {answer.note}")
    if answer.cut:
        show.say(f"graphbrain: these are the first {show.counted(len(answer.rows), 'row')}; {rest}.")


def _write(form: str, table: show.Table, items: Iterable[Any]) -> bool:
    """Write a table in a form to stdout; `items`: the lines of JSON. Return False for a table without rows."""
    if form == "jsonl":
        show.json_lines(items)
    elif form == "csv":
        sys.stdout.writelines(csv_line(row) for row in (table.columns, *table.rows))
    else:
        return bool(show.write(table))
    return True


COMMANDS = (ask, summary, findings, browser_guide)
