"""`graphbrain replay`: a recorded crawl is crawled as a crawler would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graphbrain.cli.common import App, as_json, brain_command
from graphbrain_lab.cli.common import FILE

if TYPE_CHECKING:
    from graphbrain.terminal.tables import Sheet
    from graphbrain_lab.replay import ReplayProgress, ReplayResult

__all__ = ["COMMANDS"]


@brain_command()
@click.argument("file", type=FILE)
@click.option("--nodes", type=FILE, help="The node file of an edge list.")
@click.option("--seed", "seeds", multiple=True, metavar="URL|ID", help="Begin here; repeatable.")
@click.option("--workers", type=click.IntRange(0), default=0, help="Processes that tend beside it.")
@click.option("--batch", type=click.IntRange(1), default=200, help="Pages claimed at a time.")
@click.option("--limit", type=click.IntRange(1), help="End after so many pages.")
@click.option("--order", help="best_first (of an empty brain, unless given) or breadth_first.")
@click.option("--delay", type=float, help="Seconds between two pages of a host (of an empty brain 0).")
@click.option("--eps", type=float, help="Cash waiting per link below which no push is made.")
@click.option("--alpha", type=float, help="Least share of cash that leaves.")
@as_json
def replay(app: App, file: Path, as_json: bool, **options: Any) -> int:
    """Crawl a recorded crawl.

    As a crawler would: claim pages, look them up, report them. FILE is an edge list ('src dst'), or
    has its own pages ('id url' or 'n id url'), gzipped or not. Seeds are the pages without
    in-links, and one of each part these do not reach, unless given. Run again, it goes on where it
    stopped.
    """
    from graphbrain.terminal import show
    from graphbrain_lab.recording import read
    from graphbrain_lab.replay import replay as run

    # Read the recording, and report unusable URLs.
    recording = read(file, nodes=options["nodes"])
    show.say(f"{recording.name}: {recording.pages:,} pages, {recording.links:,} links.")
    if recording.stand_ins:
        show.say(
            f"Substitutes take the place of {recording.stand_ins:,} of its URLs: {recording.doubles:,} are a page "
            f"named before, {recording.stand_ins - recording.doubles:,} name none."
        )
    # Settings of the command line apply. An empty brain gets usual ones for the others.
    seeds = [recording.find(seed) for seed in options["seeds"]] or None
    usual = {"order": "best_first", "delay_seconds": 0.0}
    options["delay_seconds"] = options.pop("delay")
    given = {name: options[name] for name in ("order", "delay_seconds", "eps", "alpha") if options[name] is not None}
    with app.brain() as brain, _bar() as bar:
        # A brain with pages keeps the settings that the command line does not name.
        if not brain.quick_figures()["known_pages"]:
            given = {name: value for name, value in usual.items() if name not in brain.settings.given} | given
        if given:
            brain.change(**given)
        result = run(
            brain,
            recording,
            seeds=seeds,
            workers=options["workers"],
            batch=options["batch"],
            limit=options["limit"],
            progress=bar,
            data=app.data,
        )
    # Print the result.
    if as_json:
        show.json_lines([result.as_dict()])
    else:
        show.out(_sheet(result))
    if result.interrupted:
        show.say("graphbrain: interrupted; run it again and it goes on where it stopped.")
        return 130
    return 0


def _sheet(result: ReplayResult) -> Sheet:
    """Return the results of a replay, for a person."""
    from graphbrain.cli import sheets
    from graphbrain.terminal import show

    # Collect the figures of the crawl.
    r, calls = result, result.next_ms
    state = "complete" if r.complete else "interrupted" if r.interrupted else "stopped at its limit"
    pairs: list[tuple[str, Any]] = [
        ("recording", f"{r.recording}, {state}"),
        ("pages", f"{r.pages:,} reported, {r.known_pages:,} known"),
        ("links", f"{r.links:,} reported, {r.known_links:,} known"),
        ("refused", f"{r.refused:,} pages, {r.links_refused:,} links"),
        ("accounts", f"{r.pushes:,} pushes, {r.payments:,} payments"),
        ("settled", sheets.settled(r.settled, r.error_bound, r.near)),
        ("retries", r.retries),
        (
            "seconds",
            f"{r.seconds:.1f}: ingest {r.ingest_seconds:.1f} (claims {r.claim_seconds:.1f}, "
            f"reports {r.report_seconds:.1f}), settle {r.settle_seconds:.1f}",
        ),
        ("per second", f"{r.links_per_second:,.0f} links, {r.pages_per_second:,.0f} pages"),
        ("", f"{r.claims_per_second:,.0f} claims, {r.payments_per_second:,.0f} payments"),
    ]
    # Collect the times of calls, and the sizes.
    pairs += [
        (
            f"next_urls({r.batch})",
            f"{tenth} tenth: p50 {calls[f'{tenth}_p50']:.1f}, p99 {calls[f'{tenth}_p99']:.1f} ms",
        )
        for tenth in ("first", "last")
        if calls
    ]
    memory = f"client {sheets.size(r.client_memory)}, server {sheets.size(r.server_memory)}"
    return show.sheet([*pairs, ("memory", memory), ("disk", sheets.size(r.server_disk))], r.as_dict())


@contextmanager
def _bar() -> Iterator[Callable[[ReplayProgress], None]]:
    """Show a bar over the pages of a replay, with the number of links; then a note that accounts are being settled."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    from graphbrain.terminal import show

    # The number of pages is known only with the first progress.
    with show.progress_bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[links]:,} links"),
        TimeElapsedColumn(),
    ) as bar:
        task = bar.add_task("crawling", links=0, total=None)

        def move(progress: ReplayProgress) -> None:
            bar.update(
                task,
                description="crawling" if progress.phase == "crawl" else "settling",
                completed=progress.pages,
                total=max(progress.total, progress.pages),
                links=progress.links,
            )

        yield move


COMMANDS = (replay,)
