"""What replays and imports did, and how far they are, for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from graphbrain.show import progress_bar, settled, sheet, size
from graphbrain.tables import Sheet

if TYPE_CHECKING:
    from graphbrain.ingest.importer import Imported
    from graphbrain.ingest.replay import Progress as ReplayProgress
    from graphbrain.ingest.replay import ReplayResult

__all__ = ["import_sheet", "replay_bar", "replay_sheet"]


def replay_sheet(result: ReplayResult) -> Sheet:
    """What a replay did, for a person."""
    r, calls = result, result.next_ms
    state = "complete" if r.complete else "interrupted" if r.interrupted else "stopped at its limit"
    pairs: list[tuple[str, Any]] = [
        ("recording", f"{r.recording}, {state}"),
        ("pages", f"{r.pages:,} reported, {r.known_pages:,} known"),
        ("links", f"{r.links:,} reported, {r.known_links:,} known"),
        ("refused", f"{r.refused:,} pages, {r.links_refused:,} links"),
        ("accounts", f"{r.pushes:,} pushes, {r.payments:,} payments"),
        ("settled", settled(r.settled, r.error_bound, r.near)),
        ("retries", r.retries),
        (
            "seconds",
            f"{r.seconds:.1f}: ingest {r.ingest_seconds:.1f} (claims {r.claim_seconds:.1f}, "
            f"reports {r.report_seconds:.1f}), settle {r.settle_seconds:.1f}",
        ),
        ("per second", f"{r.links_per_second:,.0f} links, {r.pages_per_second:,.0f} pages"),
        ("", f"{r.claims_per_second:,.0f} claims, {r.payments_per_second:,.0f} payments"),
    ]
    pairs += [
        (
            f"next_urls({r.batch})",
            f"{tenth} tenth: p50 {calls[f'{tenth}_p50']:.1f}, p99 {calls[f'{tenth}_p99']:.1f} ms",
        )
        for tenth in ("first", "last")
        if calls
    ]
    memory = f"client {size(r.client_memory)}, server {size(r.server_memory)}"
    return sheet([*pairs, ("memory", memory), ("disk", size(r.server_disk))], r.as_dict())


def import_sheet(done: Imported) -> Sheet:
    """What an import did, for a person."""
    d, steps = done, {name: seconds for name, seconds in done.seconds.items() if name != "all"}
    way = "by Neo4j's import tool" if d.way == "offline" else "in batches"
    pairs: list[tuple[str, Any]] = [
        ("imported", f"{d.name}, {way}"),
        ("pages", f"{d.pages:,}: {d.fetched:,} fetched, {d.frontier:,} wait, {d.seeds:,} seeds"),
        ("links", d.links),
        ("hosts", d.hosts),
        ("left out", f"{d.refused:,} lines or links, {d.over:,} links over max_links"),
    ]
    if d.reported:
        pairs.append(("reported after", f"{d.reported:,} visits, {d.reports_refused:,} refused"))
    pairs += [
        ("seconds", f"{d.seconds['all']:.1f}: " + ", ".join(f"{name} {s:.1f}" for name, s in steps.items())),
        ("per second", f"{d.links_per_second:,} links, but for settling"),
        ("settled", d.settled),
    ]
    return sheet(pairs, d.as_dict())


@contextmanager
def replay_bar() -> Iterator[Callable[[ReplayProgress], None]]:
    """A bar over the pages of a replay, with its links; then a note that accounts are settled."""
    with progress_bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[links]:,} links"),
        TimeElapsedColumn(),
    ) as bar:
        task = bar.add_task("crawling", links=0, total=None)

        def show(progress: ReplayProgress) -> None:
            bar.update(
                task,
                description="crawling" if progress.phase == "crawl" else "settling",
                completed=progress.pages,
                total=max(progress.total, progress.pages),
                links=progress.links,
            )

        yield show
