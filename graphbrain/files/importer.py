"""Import of files of crawled pages and links into an empty brain, with settled accounts and a schedule.

If the brain's Neo4j is the local server, Neo4j's import tool makes a new database, and the server restarts on it
(graphbrain.files.neo4j_admin). Other clients wait, as during any restart. Settings and access tokens are kept.
Otherwise, and for small files, pages and links are created in batches while no other process may write. Both ways have
the same result (graphbrain.files.rows).
"""

from __future__ import annotations

import dataclasses
import json
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbrain.base.errors import BadInput, GraphRefused, SettingsError
from graphbrain.base.numeric.arrays import Ints
from graphbrain.base.numeric.methods import SETTLED_TO
from graphbrain.base.settings import Settings
from graphbrain.base.urls.normalization import Rules
from graphbrain.brain import imports
from graphbrain.brain.workers import to_stderr
from graphbrain.files import harvest as harvests
from graphbrain.files import neo4j_admin
from graphbrain.files.harvest import Harvest
from graphbrain.files.rows import Bulk, ImportRun
from graphbrain.frontier import discovery
from graphbrain.graph import schema
from graphbrain.graph.connection import Tx, bound
from graphbrain.graph.server import installation, lifecycle
from graphbrain.graph.server.jars import Say
from graphbrain.scores.accounts import adjacency
from graphbrain.scores.accounts.settlement import STEADY, waiting_share

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain
    from graphbrain.graph.server.lifecycle import Server

__all__ = ["Imported", "local_server", "run"]

PAGES_AT_ONCE = 2_000
LINKS_AT_ONCE = 20_000
REPORTS_AT_ONCE = 200
SMALL, PACKED = 1_000_000, 5
"""The largest files in bytes that are imported in batches by default. A gzipped file counts `PACKED` times."""
Progress = Callable[[str, float], None]
"""Called with the name of the step and the share of it that is done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import.

    Attributes:
        name: Names of the files.
        way: `offline` (Neo4j's import tool) or `batches`.
        pages: Pages created.
        links: Links created.
        hosts: Hosts created.
        fetched: Pages that had been visited.
        frontier: Pages that wait for their first visit.
        outside: Pages out of the scope, visited or not.
        seeds: Pages that are seeds.
        refused: Bad lines and links, which were left out.
        first: The reasons for the first few of them.
        over: Links beyond `max_links`.
        userinfo_dropped: URLs whose user and password were removed.
        reported: Failures, redirects and second visits, which were reported after the import.
        reports_refused: Reports among them that were refused.
        settled: True if the accounts are at their fixed point.
        seconds: Seconds in all, and by step. `prepare` includes the solution of the fixed point in memory. `settle` is
            the work on accounts after everything is written.
        links_per_second: Links per second of all steps except `settle`.
    """

    name: str
    way: str
    pages: int
    links: int
    hosts: int
    fetched: int
    frontier: int
    outside: int
    seeds: int
    refused: int
    first: tuple[str, ...]
    over: int
    userinfo_dropped: int
    reported: int
    reports_refused: int
    settled: bool
    seconds: dict[str, float]
    links_per_second: float

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def run(
    brain: Brain,
    paths: Sequence[Path | str],
    *,
    data: Path | None = None,
    fetched: bool = False,
    seeds: Sequence[str] = (),
    batches: bool | None = None,
    settle: bool = True,
    progress: Progress = lambda *_: None,
    say: Say = to_stderr,
) -> Imported:
    """Import these files into an empty brain.

    Args:
        brain: The brain, which has no page yet.
        paths: Files in the formats of `graphbrain.files.reader` and JSON lines.
        data: The local server's directory.
        fetched: Count pages without out-links and without a recorded visit as fetched, too.
        seeds: URLs or recorded ids. None: the pages where a crawl would have to begin.
        batches: True: in batches, even on the local server. False: by its import tool. None: in batches for files of up
            to a megabyte, because the tool needs a restart of the server.
        settle: Bring the accounts to their fixed point.
        progress: Called with the name of the step and the share of it that is done, 0 to 1.
        say: Called with messages for the user.

    Raises:
        BadInput: The brain is not empty, or nothing can be read.
        SettingsError: The brain's engine is not the exact one.
        ServerFailed: The import tool or the server failed.
    """
    # Choose the way.
    clock = _Laps()
    brain.session.refresh()
    _refuse_pages(brain)
    local = None if (_are_small(paths) if batches is None else batches) else local_server(brain, data)
    # A payout policy needs the graph. Under such a policy the accounts are settled after the graph is written.
    in_memory = settle and not brain.policy.rule.bends_payouts
    # Read the files, and write the graph.
    with ExitStack() as until_loaded:
        shop = until_loaded.enter_context(neo4j_admin.workshop(local, say)) if local else None
        settings = brain.settings
        settings_before = brain.session.stored
        stored = {name: settings_before[name] for name in settings_before if name != "importing"}
        bulk = _read(brain, paths, fetched, seeds, in_memory, clock, progress)
        if shop is None:
            _close(brain, bulk.run.now, settings)
            _in_batches(brain, bulk, clock, progress)
        else:
            shop.make(bulk, {**stored, "kept_tokens": _tokens(brain)}, progress=progress)
            clock.lap("load")
            _close(brain, brain.now(), settings)
            _take_place(brain, shop.running.data, clock, progress)
    # Report the other visits, and settle the accounts.
    _check(brain, bulk)
    refused = _report_later(brain, bulk.harvest, progress)
    clock.lap("report")
    created = clock.total()
    settled = _settle(brain, in_memory, progress) if settle else False
    clock.lap("settle")
    return _result(bulk, "batches" if local is None else "offline", refused, settled, clock, created)


def _read(
    brain: Brain,
    paths: Sequence[Path | str],
    fetched: bool,
    seeds: Sequence[str],
    in_memory: bool,
    clock: _Laps,
    progress: Progress,
) -> Bulk:
    """Read the files, and compute all values that follow from them. `in_memory`: settle the accounts, too."""
    # Read the files.
    rules = Rules(brain.settings.canonical, hash_bang=brain.settings.hash_bang)
    harvest = harvests.read(
        paths,
        rules=rules,
        max_links=brain.settings.max_links,
        now=brain.now(),
        fetched=fetched,
        progress=lambda done, total: progress("reading", done / max(total, 1)),
    )
    clock.lap("read")
    # Compute the values.
    bulk = Bulk(
        harvest,
        brain.policy,
        ImportRun(brain.now(), uuid.uuid4().hex),
        rules,
        [harvest.find(seed, rules) for seed in seeds] if seeds else None,
        tolerance=STEADY * waiting_share(brain.policy.rule, SETTLED_TO) if in_memory else None,
        progress=lambda rounds: progress(f"settling: round {rounds}", 0.0),
    )
    clock.lap("prepare")
    return bulk


def _result(bulk: Bulk, way: str, refused: int, settled: bool, clock: _Laps, created: float) -> Imported:
    harvest = bulk.harvest
    return Imported(
        name=harvest.name,
        way=way,
        pages=harvest.pages,
        links=harvest.links,
        hosts=len(bulk.hosts),
        fetched=int(harvest.fetched.sum()),
        frontier=bulk.frontier,
        outside=bulk.outside(),
        seeds=len(bulk.seeds),
        refused=harvest.left_out.refused,
        first=tuple(harvest.left_out.first),
        over=harvest.left_out.over,
        userinfo_dropped=harvest.left_out.users,
        reported=len(harvest.later),
        reports_refused=refused,
        settled=settled,
        seconds={"all": round(clock.total(), 2), **{name: round(s, 2) for name, s in clock.laps.items()}},
        links_per_second=round(harvest.links / created),
    )


def _are_small(paths: Sequence[Path | str]) -> bool:
    """Return whether the import of these files takes less time in batches than a restart of the server."""
    try:
        size = sum(Path(path).stat().st_size * (PACKED if str(path).endswith(".gz") else 1) for path in paths)
    except OSError:
        return True  # the import fails, and no restart is needed for that
    return size <= SMALL


def _tokens(brain: Brain) -> str:
    """Return the service's access tokens as JSON. The new database keeps them."""
    kept = brain.graph.read(lambda tx: tx.one("brain/kept_tokens")[0], "brain/kept_tokens")
    return json.dumps(kept)


@dataclass
class _Laps:
    began: float = field(default_factory=time.perf_counter)
    laps: dict[str, float] = field(default_factory=dict)

    def lap(self, name: str) -> None:
        self.laps[name] = self.total() - sum(self.laps.values())

    def total(self) -> float:
        return time.perf_counter() - self.began


def local_server(brain: Brain, data: Path | None) -> Server | None:
    """Return the local server if the brain is in its database, else None."""
    running = lifecycle.find(data)
    mine = running is not None and running.uri == brain.graph.uri and brain.graph.database == "neo4j"
    return running if mine else None


def _refuse_pages(brain: Brain, noted: bool = False) -> None:
    """Raise BadInput unless the brain is empty, SettingsError unless its engine is the exact one.

    `noted`: this import has written its note to the brain.
    """
    if brain.settings.engine != "exact":
        raise SettingsError(
            "Imports make exact accounts: run 'graphbrain engine exact' first, and convert the brain afterwards."
        )
    stored = brain.graph.read(lambda tx: tx.one("brain/read")[0], "brain/read")
    rows = brain.graph.read(lambda tx: tx.many("brain/occupied"), "brain/occupied")
    if not rows:
        return
    # A note of another import means that it was broken off. The pages that it created can be deleted.
    if stored and stored.get("importing") is not None and not noted:
        raise BadInput(
            "An import into this brain was broken off half way: empty it with 'graphbrain clear --yes', then import "
            "again."
        )
    what = {"Page": "pages", "Host": "hosts", "Forgotten": "pages forgotten for ever"}.get(rows[0][0][0], "nodes")
    raise BadInput(
        f"The brain holds {what}; an import needs an empty one: 'graphbrain clear --yes' empties this one, or name "
        "another database or data directory."
    )


def _close(brain: Brain, since: float, settings: Settings) -> None:
    """Close the brain to other writers.

    If another process has begun to crawl in the meantime, or has changed the settings, the brain is opened again. The
    other process has priority.

    Raises:
        BadInput: The brain is no longer empty.
        GraphRefused: The settings have changed.
        GraphUnavailable: As for `imports.begin`.
    """
    try:
        imports.begin(brain.session, since)
        _refuse_pages(brain, noted=True)
        if brain.settings != settings:
            raise GraphRefused("The brain's settings changed while the files were read: import them again.")
    except BaseException:
        imports.end(brain.session)
        raise


def _check(brain: Brain, bulk: Bulk) -> None:
    """Raise GraphRefused if the graph's numbers of pages, links and hosts are not the harvest's."""
    sizes = brain.graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")
    wanted = [bulk.harvest.pages, bulk.harvest.links, len(bulk.hosts)]
    if sizes != wanted:
        raise GraphRefused(
            f"The graph holds {sizes[0]:,} pages and {sizes[1]:,} links after the import, not {wanted[0]:,} and "
            f"{wanted[1]:,}: another process has written to it; 'graphbrain clear --yes' empties it."
        )


def _report_later(brain: Brain, harvest: Harvest, progress: Progress) -> int:
    """Report the visits that were not imported, and return the number of refused reports."""
    refused = 0
    for start in range(0, len(harvest.later), REPORTS_AT_ONCE):
        answers = brain.report(harvest.later[start : start + REPORTS_AT_ONCE])
        refused += sum(not answer.accepted for answer in answers)
        progress("reporting", min(1.0, (start + REPORTS_AT_ONCE) / len(harvest.later)))
    return refused


def _settle(brain: Brain, in_memory: bool, progress: Progress) -> bool:
    """Bring all accounts to their fixed point, unless that was done `in_memory`. Then push until no push is worth
    it."""
    if in_memory:
        now = brain.now()
        brain.graph.write(lambda tx: tx.do("brain/note", notes={"settled": now}), "brain/note")
    else:
        brain.settle(progress=lambda what, done, of: progress(f"settling: {what}", min(1.0, done / max(of, 1))))
    return brain.tend(None).settled


# ---------------------------------------------------------------- by Neo4j's import tool


def _take_place(brain: Brain, home: Path, clock: _Laps, progress: Progress) -> None:
    """Restart the server on the new database, and make it a brain."""
    # A client that connects from now on waits for the restart, and gets the new database.
    installation.mark_new_store(home)
    progress("restarting the server", 0.0)
    lifecycle.restart(home, say=lambda _: None)
    clock.lap("restart")
    progress("making indexes", 0.0)
    schema.adopt(brain.graph, brain.now())
    clock.lap("indexes")


# ---------------------------------------------------------------- in batches


def _in_batches(brain: Brain, bulk: Bulk, clock: _Laps, progress: Progress) -> None:
    """Create pages, then links. The brain has the note of an import until both are complete."""
    # Hosts come first, because pages need them.
    since = bulk.run.now
    for start in range(0, len(bulk.hosts), PAGES_AT_ONCE):
        names = sorted(bulk.hosts[start : start + PAGES_AT_ONCE])
        brain.graph.write(bound(Tx.do, "pages/hosts", names=names, now=since), "pages/hosts")
    # Create the pages.
    ids = np.empty(bulk.harvest.pages, np.int64)
    for start in range(0, len(ids), PAGES_AT_ONCE):
        rows = bulk.rows(start, start + PAGES_AT_ONCE)
        ids[start : start + len(rows)] = brain.graph.write(_creating(rows), "pages/load")
        progress("creating pages", (start + len(rows)) / len(ids))
    clock.lap("pages")
    # Create the links.
    _link(brain, bulk, ids, progress)
    imports.end(brain.session)
    clock.lap("links")


def _creating(rows: list[list[Any]]) -> Callable[[Tx], list[int]]:
    """Return the work that creates these pages. After a lost connection it first checks whether they were created."""
    tried = False

    def work(tx: Tx) -> list[int]:
        nonlocal tried
        if tried:
            keys = [row[0] for row in rows]
            created = discovery.find(tx, keys)
            if created:
                return [created[key] for key in keys]
        tried = True
        ids: list[int] = tx.one("pages/load", rows=rows)[0]
        return ids

    return work


def _link(brain: Brain, bulk: Bulk, ids: Ints, progress: Progress) -> None:
    """Create all links, whole pages at a time."""
    offsets, targets = bulk.harvest.offsets, bulk.harvest.targets
    page, total = 0, len(ids)
    while page < total:
        # Take as many pages as have LINKS_AT_ONCE links, at least one.
        stop = int(np.searchsorted(offsets, offsets[page] + LINKS_AT_ONCE, side="right")) - 1
        stop = min(max(stop, page + 1), total)
        rows = [
            [int(ids[source]), ids[targets[offsets[source] : offsets[source + 1]]].tolist()]
            for source in range(page, stop)
            if offsets[source] < offsets[source + 1]
        ]
        if rows:
            brain.graph.write(_linking(rows, bulk.run.now), "links/write")
        page = stop
        progress("creating links", page / total)


def _linking(rows: list[list[Any]], now: float) -> Callable[[Tx], object]:
    """Return the work that creates these links. After a lost connection it first checks whether the first page has
    links: then all were created."""
    tried = False

    def work(tx: Tx) -> object:
        nonlocal tried
        if tried and adjacency.read(tx, "hub", [rows[0][0]]).get(rows[0][0]):
            return None
        tried = True
        return tx.one("links/write", new=rows, lost=[], now=now)

    return work
