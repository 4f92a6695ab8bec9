"""The commands of analysts: ask, summary."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.cli.common import App, brain_command

if TYPE_CHECKING:
    from graphbrain.analyst.questions import Asked, Question

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("name", required=False)
@click.option("--param", "params", metavar="NAME=VALUE", multiple=True, help="What the question is told; repeatable.")
@click.option(
    "--format", "form", type=click.Choice(["table", "csv", "jsonl"]), default="table", help="table, if not given."
)
@click.option("--json", "form", flag_value="jsonl", help="The same as --format jsonl.")
@click.option("--how", is_flag=True, help="Do not ask: show how to read the answer, its parameters, and its Cypher.")
def ask(app: App, name: str | None, params: tuple[str, ...], form: str, how: bool) -> None:
    """Ask the graph a question by its NAME; without NAME, list the questions.

    The answer is read in a transaction that cannot write. What --how prints of a question runs in Neo4j Browser, too.
    """
    from graphbrain.analyst import questions

    if name is None:
        if params or how:
            raise click.UsageError("Name a question; 'graphbrain ask' lists them.")
        _list(questions.questions(), form)
        return
    asked = questions.question(name)
    given = dict(_pair(text) for text in params)
    asked.values(given)
    if how:
        _explain(asked, form)
        return
    with app.brain(auto_tend=False) as brain:
        if given.get("url"):
            given["url"] = brain.page(given["url"]).url
        answer = questions.ask(brain.graph, asked.name, **given)
    _print(asked, answer, form)


@brain_command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d"]), help="Tell what is new, changed or gone since this day (a week)."
)
def summary(app: App, file: Path, since: datetime | None) -> None:
    """Write the crawl on one page: an HTML FILE that needs nothing else.

    With plots and tables of progress, frontier, scores, hosts, depth, errors, duplicates and changes. Every page and
    link is read.
    """
    from graphbrain import show
    from graphbrain.analyst import summary as pages
    from graphbrain.ingest import dump

    start = None if since is None else since.replace(tzinfo=UTC).timestamp()
    with app.brain(auto_tend=False) as brain, show.bar("reading pages") as bar:
        if start is not None and start > brain.now():
            raise click.BadParameter("it is in the future.", param_hint="--since")
        html = pages.page(brain.graph, brain.now(), start, bar)
    with dump.opened(file) as out:
        out.write(html)
    show.say(f"graphbrain: {file} is written; open it in a browser.")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"Give --param as NAME=VALUE, not {text!r}.")
    return name.strip(), value


def _list(found: tuple[Question, ...], form: str) -> None:
    from graphbrain import show

    if form == "jsonl":
        show.json_lines(each.as_dict() for each in found)
        return
    rows = [(each.group, each.name, each.title) for each in found]
    if form == "csv":
        _csv(("group", "name", "title"), rows)
    else:
        show.write(show.rows_table(("group", "name", "title"), rows))


def _explain(asked: Question, form: str) -> None:
    from graphbrain import show

    if form == "jsonl":
        show.json_lines([{**asked.as_dict(), "cypher": asked.pasted or None}])
        return
    pairs = [("question", asked.name), ("title", asked.title), ("how to read", asked.reading)]
    pairs += [("reads", asked.cost)] if asked.cost else []
    pairs += [(f"--param {p.name}={p.default}", p.meaning) for p in asked.params]
    show.out(show.sheet(pairs), "", asked.pasted or "Computed by 'graphbrain ask'; no Cypher can be pasted.")


def _print(asked: Question, answer: Asked, form: str) -> None:
    from graphbrain import show

    if form == "jsonl":
        show.json_lines(dict(zip(answer.columns, row, strict=True)) for row in answer.rows)
    elif form == "csv":
        _csv(answer.columns, answer.rows)
    else:
        show.out(show.Title(asked.title))
        if not show.write(show.rows_table(answer.columns, answer.rows)):
            show.say(f"graphbrain: no row; 'graphbrain ask {asked.name} --how' says what would be one.")


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write comma-separated values, in which no text is a formula."""
    from graphbrain.tables import defused, plain

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([defused(plain(cell)) if not isinstance(cell, int | float) else plain(cell) for cell in row])


COMMANDS = (ask, summary)
