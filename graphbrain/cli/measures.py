"""Commands that try and measure: demo, bench and hammer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from graphbrain.cli import changes, orders, scale, traps, trust, worlds
from graphbrain.cli.common import App, Number, as_json, connection, pass_app
from graphbrain.errors import GraphbrainError
from graphbrain.numeric.methods import ORDERS

__all__ = ["BENCHES", "COMMANDS", "FIGURES", "REPEATED", "USES", "bench", "demo", "hammer"]


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
    server that --keep has left running is used, and left running. Its server has a directory of its own, not that of
    GRAPHBRAIN_DATA; --data names another. Exits 1 when anything was wrong.
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
    "resources",
    "trust",
    "worlds",
    "traps",
    "scale",
)


REPEATED = {
    "seeds": "seed",
    "values": "value",
    "count": "worlds",
    "shapes": "shape",
    "seed_count": "seeds",
    "sizes": "size",
}
"""The names of options that differ from those of their values."""


FIGURES = frozenset({"--pages", "--workers", "--seconds", "--delay", "--days"})


USES = {
    "order": orders.OPTIONS,
    "scrapy": FIGURES | {"--redis"},
    "service": frozenset({"--seconds"}),
    "resources": frozenset({"--hosts"}),
    "worlds": worlds.OPTIONS,
    "traps": traps.OPTIONS,
    "changes": frozenset({"--pages", "--other"}),
    "trust": trust.OPTIONS,
    "scale": scale.OPTIONS,
}
"""The options that a kind has a use for, of those that have others than most."""


@click.command()
@click.argument("kind", type=click.Choice(BENCHES))
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--pages", type=click.IntRange(1), help="How many pages (traps: real ones of a site; 900. trust: 400).")
@click.option(
    "--workers", type=click.IntRange(0), help="Worker processes (push; order: 1); who reports beside it (settle; 1)."
)
@click.option("--seconds", type=Number(0), help="How long (push, service; 20).")
@click.option("--delay", type=Number(0), help="Seconds between two claims of a host (claim, order; 0).")
@click.option("--days", type=click.IntRange(20), help="Simulated days (revisit; 365. trust; 120).")
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
@click.option("--hosts", type=click.IntRange(1), help="So many hosts (order; worlds: 10; resources: 10000).")
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the curves: .png, .svg (order, scale)."
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=click.IntRange(1),
    help="Pages of a web; repeatable (scale; 1, 3, 10 million).",
)
@click.option("--memory", type=click.IntRange(1), metavar="MB", help="Of each server (scale; half of the machine's).")
@click.option("--redis", metavar="URL", help="Measure scrapy-redis, too, by this Redis (scrapy).")
@click.option("--worlds", "count", type=click.IntRange(1), help="Draw so many worlds, from --seed on (worlds; 30).")
@click.option("--minutes", type=Number(0), help="Begin no other world after so long (worlds).")
@click.option("--order", type=click.Choice(ORDERS), help="Of all crawls (worlds: its own; traps: optimal, best_first).")
@click.option("--shape", "shapes", multiple=True, metavar="NAME", help="A kind of site; repeatable (traps; all).")
@click.option(
    "--seeds",
    "seed_count",
    type=click.IntRange(1),
    help="Sites of a kind, from --seed on (traps; 5. trust; 3).",
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

    'changes' edits the HTML pages of the directory FILE by rule, --pages of them, and prints which edits each value of
    the setting 'change' sees, and how often it sees one where only noise differs; it needs no server.
    'service' starts a service on the brain, which must be empty, and lets FILE clients, as 60, claim from it and report
    to it at once: 1, 5 and 50 pages at a time.

    'resources' measures robots.txt and sitemaps as claims on a brain, which must be empty: the first meeting of --hosts
    hosts, and of a new host beside known ones, and calls for all kinds beside calls for pages alone.

    'trust' generates sites whose sitemaps have all dates true, half of them, and a tenth, and finds how many visits a
    day find 95 % of the changes: with trust in the dates as it is learned, with the settings' trust, and without
    sitemaps. It needs no server.

    'order' prints which share of PageRank and authority a crawl of FILE has fetched when: by orders that are simulated
    in memory, and by the brain itself, which must be empty, once for each --value (it is cleared in between). FILE may
    be a directory of recordings: each is crawled from --seeds-each pages, and of each order the mean share of the
    omniscient area is printed, the least, and on how many webs it is at least as good as others; webs of fewer than 500
    pages do not count. Ctrl-C ends it with what is measured by then.

    'worlds' draws small worlds by --seed, with servers, crawlers and clocks that misbehave, crawls them in simulated
    time, and compares the claims with what docs/explanation/promises.md promises. It empties the brain. A
    world that breaks a promise is made smaller and printed; FILE is one that was printed. Exits 1 when any was broken.

    'traps' crawls generated sites whose servers make pages up (facets, calendars, sessions, copies), and others that
    look alike and are honest, and shows which part of the fetches was real, of as many as a third of a site's real
    pages. It empties the brain. Of a --value with harvest it shows how look-alikes do against the same without. Ctrl-C
    ends it with what is measured by then.

    'scale' generates a web of ten links a page for each --size, starts a server of its own beside the local server's
    directory (--data), and measures import, settling, ingest, claims at a delay of 0 and 1 s, questions, dump, disk and
    memory. It compares the costs of a page, link or call with those of the smallest size, names those that are beyond
    1.3 times, and removes the server.
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
    if kind == "resources" and file is not None:
        raise click.UsageError("'resources' has no use for a FILE: its hosts are generated.")
    if kind == "trust":
        if file is not None:
            raise click.UsageError("'trust' has no use for a FILE: its sites are generated.")
        return trust.run(as_json, **given)
    if kind == "scale":
        if file is not None:
            raise click.UsageError("'scale' has no use for a FILE: its webs are generated.")
        return scale.run(app, as_json, **given)
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
    from graphbrain.bench import chaos as tool
    from graphbrain.cli import sheets
    from graphbrain.terminal import show

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


COMMANDS: tuple[click.Command, ...] = (demo, bench, hammer)
