"""The command that writes out the graph: dump pages, dump links."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from graphbrain.base.errors import BadInput
from graphbrain.base.model import KnownLink, Page
from graphbrain.cli.common import App, brain_command
from graphbrain.cli.declared import options
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


@click.group("dump")
def dump_group() -> None:
    """Write out pages or links.

    They stream, in the order of the store; what comes or goes meanwhile may be in it or not.
    """


_as_json = click.option(
    "--json", "as_json", is_flag=True, help="JSON lines for programs: all columns, and times in epoch seconds."
)


def _writes(verb: str, form: str, text: str, *selections: str) -> None:
    """Make the command that writes what a verb returns.

    Args:
        verb: The verb, `dump_pages` or `dump_links`.
        form: The format that only this command has.
        text: Its help after the first paragraphs, which both have.
        selections: The arguments of the verb that select pages.
    """
    what = verb.removeprefix("dump_")

    @brain_command(what, dump_group)
    @click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
    @click.option(
        "--format",
        type=click.Choice(("jsonl", "csv", form)),
        help="By default that of FILE's ending; jsonl on stdout.",
    )
    @_as_json
    @click.option("--columns", metavar="A,B,…|all", help="Which, in which order. Unless given there are few.")
    @click.option("--raw/--dates", default=None, help="Times as epoch seconds, or as dates (ISO 8601, UTC).")
    @options(verb, *selections)
    def dump(app: App, /, **given: Any) -> None:
        _write(app, verb, form, **given)

    dump.help = f"Write out {what}.\n\n{_FILE.format(form)} {text}"


_FILE = """FILE is stdout unless given, and gzipped if it ends with '.gz'. Its ending selects the format
(.jsonl, .csv, .{}) unless --format does."""


def _checked(kind: type[Any], form: str, columns: str | None, raw: bool | None) -> dict[str, Any]:
    """Return the options of how records are written, checked before a brain is opened. Raise BadInput, UsageError."""
    from graphbrain.files.dump import Layout

    if form in ("nodes", "edges") and (columns is not None or raw is not None):
        raise click.UsageError(f"The format {form} has columns of its own: leave out --columns, --raw and --dates.")
    Layout.of(kind, form, columns, raw)
    return {"columns": columns, "raw": raw}


def _form_of(file: Path | None, form: str | None, as_json: bool, names: dict[str, str]) -> str:
    """Return the format of a file: the given one, or that of its ending (`names`: ending → format). Raise BadInput for
    another."""
    if as_json and form not in (None, "jsonl"):
        raise click.UsageError("Give either --json or --format.")
    if as_json:
        return "json"
    if form is not None or file is None or str(file) == "-":
        return form or "jsonl"
    ending = Path(str(file).removesuffix(".gz")).suffix.lower()
    if ending and ending not in names:
        raise BadInput(
            f"{file} ends with {ending}, which is none of {', '.join(names)}: give --format, or use 'graphbrain dump "
            "tables DIR' for Parquet."
        )
    return names.get(ending, "jsonl")


ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv"}


def _write(
    app: App,
    verb: str,
    own: str,
    file: Path | None,
    format: str | None,
    as_json: bool,
    columns: str | None,
    raw: bool | None,
    **which: Any,
) -> None:
    """Write what a verb returns of the pages that are selected. `own`: the format that only this has."""
    from graphbrain.files import dump

    kind, write, what = (Page, dump.write_pages, "page") if own == "nodes" else (KnownLink, dump.write_links, "link")
    form = _form_of(file, format, as_json, ENDINGS | {f".{own}": own})
    layout = _checked(kind, form, columns, raw)
    with _to(file) as out, app.brain(auto_tend=False) as brain, _bar(file) as bar:
        count = write(getattr(brain, verb)(**which, progress=bar), form, out, **layout)
    show.say(f"graphbrain: {show.counted(count, what)}.")


_writes(
    "dump_pages",
    "nodes",
    "The format 'nodes' is the node file of an edge list: id, 1 if the page was fetched or 0, URL.",
    *("regex", "host", "state", "fetched"),
)
_writes(
    "dump_links",
    "edges",
    "The other options select the pages whose out-links are written. The format 'edges' is an edge list: the ids of "
    "both ends, as 'dump pages' gives them.",
    *("between_hosts", "regex", "host", "state", "fetched"),
)


@brain_command("tables", dump_group)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
def dump_tables(app: App, /, folder: Path, as_json: bool) -> None:
    """Write pages, links and hosts as Parquet.

    DIR is a new folder, or an empty one. A page is known by its key in all tables. A manifest is written last.
    """
    from graphbrain.analyst import frames

    with app.brain(auto_tend=False) as brain, show.task_bar() as bar:
        manifest = frames.dump(brain.graph, folder, brain.now, bar)
    if as_json:
        show.json_lines([manifest])
    counts = ", ".join(f"{table['rows']:,} {name}" for name, table in manifest["tables"].items())
    show.say(f"graphbrain: {counts} are in {folder}.")


def _to(file: Path | None) -> Any:
    from graphbrain.files import dump

    return dump.opened(None if file is None or str(file) == "-" else file)


@contextmanager
def _bar(file: Path | None) -> Iterator[Callable[[int, int], None]]:
    """A bar, unless the dump itself is on the terminal."""
    with show.bar("dumping", shown=file is not None or not sys.stdout.isatty()) as bar:
        yield bar


COMMANDS = (dump_group,)
