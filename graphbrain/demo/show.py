"""`graphbrain demo`: the whole thing once, on this machine, in front of the user's eyes.

A Neo4j of its own (never the user's brain), the generated web on loopback, the example crawler, and
push workers beside it, in processes of their own as they would run for real. Progress goes to
stderr while it runs; what came of it to stdout at the end. Whatever ends it early, Ctrl-C too, it
leaves in order: claims given back, crawler, workers, web and server stopped.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from graphbrain import Answer, Brain, Failed, Fetched, Page, server, show
from graphbrain.audit import Audit
from graphbrain.demo.crawler import crawl
from graphbrain.demo.pages import SEEDS
from graphbrain.demo.web import Web
from graphbrain.errors import SchemaMismatch, SettingsError, UnknownPage
from graphbrain.relevance import TopicRelevance
from graphbrain.worker import WorkerPool

__all__ = ["Found", "Tally", "default_data_dir", "run_demo"]

CRAWL = "demo"
THREADS = 8
TOP = 10
NEAR = 0.5  # relevance from which a page counts as near the topic: more than one of which nothing is known
FIRST = 100  # of so many pages it is told how many were near: that is what a crawler for a topic is for
DELAY = 0.05  # seconds between two claims of one host, so that it ends soon
PATIENCE = 5.0  # a retry further away than this is not waited for
EVERY = 0.4  # seconds between two pictures of the progress
MEMORY = 1024  # MB for Neo4j: plenty for some hundreds of pages
# What a shell set up for the user's own crawl must not change here.
OWN: dict[str, Any] = {
    "crawl": CRAWL,
    "share": False,
    "delay_seconds": DELAY,
    "order": "best_first",
    "allow_hosts": "",
    "deny_hosts": "",
    "allow_urls": "",
    "deny_urls": "",
    "max_depth": 0,
}
QUERY = "MATCH p = (:Page {host: 'links.example'})-[:LINKS]->() RETURN p"

Say = Callable[[str], None]


def default_data_dir() -> Path:
    """Where the demo's own server lives: beside the user's brain, not in it."""
    return Path(platformdirs.user_data_dir("graphbrain")) / "demo"


@dataclass
class Tally:
    """What the crawler has reported so far, and what the brain answered."""

    reported: int = 0
    seconds: float = 0.0
    links: int = 0
    refused: int = 0
    judged: int = 0
    near: int = 0
    near_at_first: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, result: Fetched | Failed, answer: Answer) -> None:
        """Count one report."""
        self.reported += 1
        self.links += answer.links
        self.refused += len(answer.links_refused)
        self.outcomes[answer.outcome or "refused"] += 1
        if isinstance(result, Failed):
            self.failures[str(result.status or "no answer")] += 1
        elif result.relevance is not None:
            near = result.relevance >= NEAR
            self.judged += 1
            self.near += near
            self.near_at_first += near and self.judged <= FIRST


def run_demo(
    *,
    data: Path | None = None,
    keep: bool = False,
    uri: str | None = None,
    pages: int = 400,
    workers: int = 2,
    topic: str | None = None,
    as_json: bool = False,
    say: Say = show.say,
    **login: Any,
) -> bool:
    """Run the demo; True if the audit at its end found nothing wrong.

    `data`: the directory of its server. `keep`: leave the server running. `uri`: use this Neo4j
    (`login`: its user, password, database; else from GRAPHBRAIN_…) and start none. `workers`:
    processes that push. `topic`: words to crawl for. `as_json`: JSON lines on stdout. Raises
    GraphbrainError with one sentence, and KeyboardInterrupt after it has cleaned up.
    """
    web, home = Web(pages=pages), data or default_data_dir()
    judge = None if topic is None else TopicRelevance.from_words(topic)
    try:
        with _Interruption() as halt, ExitStack() as stack:
            ours = threading.Event()
            own = None if uri else _server(stack, home, keep, ours, say)
            halt.in_order()
            brain = stack.enter_context(_open(_login(own) if own else {"uri": uri, **login}))
            ours.set()
            halt.check()
            stack.enter_context(web)
            say(f"Crawling {pages} pages on {len(web.hosts)} hosts, served on {web.proxy} …")
            with _workers(brain, workers) as pool:
                tally = _crawl(brain, web, judge, halt.wanted)
            if pool.failed:
                say(f"The workers could not work: {pool.failed}")
            halt.check()
            brain.tend(None, stop=halt.wanted.is_set)
            halt.check()
            found = Found.of(brain, web, tally, own)
            halt.check()
            if as_json:
                show.json_lines(found.lines())
            else:
                _print(found, own, keep)
            if own is not None and not keep:
                say("Stopping Neo4j …")
    except KeyboardInterrupt:
        left = "" if uri or server.find(home) is None else f"; Neo4j still runs in {home}"
        say(f"Stopped: claims are given back; crawler, workers and web have ended{left}.")
        raise
    return found.audit.ok


class _Interruption:
    """Ctrl-C, a plain kill and a closed terminal: KeyboardInterrupt, all of them.

    At once at first; `in_order` puts it off to the next `check`, because an exception in the middle
    of a conversation with Neo4j would leave its connection of no use for cleaning up. A second one
    comes at once again.
    """

    def __init__(self) -> None:
        self.wanted = threading.Event()
        self._gently = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Interruption:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                if number := getattr(signal, name, None):
                    self._before[number] = signal.signal(number, self._come)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def in_order(self) -> None:
        """From here on, wait for `check`."""
        self._gently = True

    def check(self) -> None:
        """The place to be interrupted."""
        if self.wanted.is_set():
            raise KeyboardInterrupt

    def _come(self, *_: object) -> None:
        if not self._gently or self.wanted.is_set():
            raise KeyboardInterrupt
        self.wanted.set()


# ---------------------------------------------------------------- the brain


def _server(stack: ExitStack, home: Path, keep: bool, ours: threading.Event, say: Say) -> server.Server:
    """The demo's server, started; `stack` stops it, if it is `ours` to stop.

    One that ran before may hold a brain of the user's: then it is not.
    """
    if server.find(home) is None:
        ours.set()
    if not keep:
        stack.callback(lambda: server.stop(home) if ours.is_set() else None)
    return server.start(home, memory=MEMORY, say=say)


def _login(own: server.Server) -> dict[str, Any]:
    return {"uri": own.uri, "user": own.user, "password": own.password, "database": "neo4j"}


def _open(login: dict[str, Any]) -> Brain:
    """The demo's brain, cleared of a former demo. SchemaMismatch if anything else is in it."""
    occupied = SchemaMismatch(
        f"The brain at {login['uri']} holds another crawl, which the demo would have to clear; "
        "let it use its own (no --data, no --uri), or an empty one."
    )
    try:
        brain = Brain.open(**login, **OWN)
    except SettingsError as error:
        raise (occupied if "crawl=" in str(error) else error) from None
    with ExitStack() as on_error:
        on_error.callback(brain.close)
        if brain.stats()["pages"]:
            try:
                brain.page(SEEDS[0])
            except UnknownPage:
                raise occupied from None
            brain.clear()
        on_error.pop_all()
    return brain


def _workers(brain: Brain, count: int) -> WorkerPool:
    """Workers with the demo's settings: those of the environment would become the brain's."""
    names = ("uri", "user", "password", "database", "limit_seconds")
    return WorkerPool(count, **{name: getattr(brain.settings, name) for name in names}, **OWN)


# ---------------------------------------------------------------- the crawl, and its progress


def _crawl(brain: Brain, web: Web, judge: TopicRelevance | None, stop: threading.Event) -> Tally:
    """Crawl the web from its seeds, showing progress; the tally of what was reported."""
    tally, began = Tally(), time.monotonic()
    brain.seed(web.seeds)
    with _progress(brain, tally) as update:

        def on_page(result: Fetched | Failed, answer: Answer) -> None:
            tally.add(result, answer)
            update()

        crawl(
            brain,
            threads=THREADS,
            patience=PATIENCE,
            handlers=[web.handler()],
            judge=judge,
            stop=stop,
            on_page=on_page,
        )
    tally.seconds = time.monotonic() - began
    return tally


@contextmanager
def _progress(brain: Brain, tally: Tally) -> Iterator[Callable[[], None]]:
    """A function that shows how far the crawl is; it does nothing when nobody is watching."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda: None
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        shown = 0.0

        def update() -> None:
            nonlocal shown
            if time.monotonic() - shown > EVERY:
                live.update(_moment(brain.stats(), tally), refresh=True)
                shown = time.monotonic()

        yield update


def _moment(stats: dict[str, Any], tally: Tally) -> Group:
    known = stats["pages"]
    bar = Table.grid(padding=(0, 1))
    done = Text(f"{tally.reported:,} fetched of {known:,} known")
    bar.add_row(ProgressBar(total=max(known, 1), completed=tally.reported, width=40), done)
    figures = {
        "links": stats["links"],
        "waiting": stats["waiting"],
        "leased": stats["leased"],
        "errors": sum(tally.failures.values()),
        "pushes": stats["done"]["pushes"],
    }
    return Group(bar, Text("  ".join(f"{name} {value:,}" for name, value in figures.items())))


# ---------------------------------------------------------------- what came of it


@dataclass(frozen=True)
class Found:
    """What came of a demo: the best pages, the figures, the audit, and where to look at the graph."""

    hubs: list[Page]
    authorities: list[Page]
    titles: dict[str, str]
    tally: Tally
    stats: dict[str, Any]
    audit: Audit
    browser: dict[str, str]

    @classmethod
    def of(cls, brain: Brain, web: Web, tally: Tally, own: server.Server | None) -> Found:
        """Ask the brain for it."""
        browser = {"connect": brain.settings.uri, "user": brain.settings.user}
        if own is not None:
            browser = {"open": own.browser, **browser, "password": own.password}
        return cls(
            brain.top(TOP, by="hub"),
            brain.top(TOP, by="authority"),
            {url: page.title for url, page in web.pages.items()},
            tally,
            brain.stats(),
            brain.audit(None),
            {**browser, "try": QUERY},
        )

    def lines(self) -> Iterator[dict[str, Any]]:
        """One object for each page of the lists, then the figures, the audit and the address."""
        for kind, pages in (("hub", self.hubs), ("authority", self.authorities)):
            for place, page in enumerate(pages, 1):
                title = self.titles.get(page.url)
                yield {"top": kind, "place": place, "title": title, **page.as_dict()}
        yield {"reported": dataclasses.asdict(self.tally)}
        yield {"stats": self.stats}
        yield {"audit": self.audit}
        yield {"browser": self.browser}

    def summary(self) -> list[tuple[str, str]]:
        """The figures, for a person."""
        tally, stats, done = self.tally, self.stats, self.stats["done"]
        failures = ", ".join(f"{n} × {status}" for status, n in sorted(tally.failures.items()))
        f = self.audit.figures
        verdict = f"{'clean' if self.audit.ok else 'NOT clean'}: {f['accounts_checked']} accounts "
        if "held" in f:
            verdict += (
                f"recomputed from their neighbours, the worst off by {f['worst_account_error']:.0e}; "
                f"cash held {f['held']:,.3f}, paid {f['paid']:,.3f}"
            )
        else:  # the classic engine's
            verdict += f"looked at; total cash {f['total_cash']:,.3f}, given {f['should_be']:,.3f}"
        known = f"{stats['pages']:,} pages, {stats['links']:,} links, {stats['hosts']} hosts"
        first = min(FIRST, tally.judged)
        topic = f"{tally.near:,} of {tally.judged:,} pages are near it, {tally.near_at_first} of the first {first}"
        return [
            ("reported", f"{tally.reported:,} fetches in {tally.seconds:.1f} s"),
            ("known", known),
            *([("topic", topic)] if tally.judged else []),
            ("refused", f"{tally.refused} links that no page can have"),
            ("redirects", f"{tally.outcomes['alias']} pages are now aliases of others"),
            ("failures", f"{failures or 'none'}; {stats['retries']} pages will be tried again"),
            ("pushes", f"{done['pushes']:,}, with {done['payments']:,} payments of cash"),
            ("audit", verdict),
            *(("wrong", finding) for finding in self.audit.findings),
        ]


def _print(found: Found, own: server.Server | None, keep: bool) -> None:
    show.prose(_top(found.hubs, "hub", found.titles), "")
    show.prose(_top(found.authorities, "authority", found.titles), "")
    show.prose(show.sheet(found.summary()), "")
    show.prose("See it in Neo4j Browser:", show.sheet(found.browser.items()))
    if own is None:
        return
    verb, said = "stop", "The server is left running; to stop it:"
    if not keep:
        verb = "start"
        said = "Neo4j stops now ('graphbrain demo --keep' leaves it running); to have it back:"
    # Not wrapped, so that it can be copied however long the path is.
    sys.stdout.write(f"\n{said}\n  graphbrain server {verb} --data {own.data}\n")
    sys.stdout.flush()


def _top(pages: list[Page], by: str, titles: dict[str, str]) -> Table:
    plural, other = {"hub": ("hubs", "out"), "authority": ("authorities", "in")}[by]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("score", justify="right", min_width=6)
    table.add_column(other, justify="right", min_width=3)
    table.add_column(f"top {TOP} {plural}", no_wrap=True, min_width=40)
    table.add_column("title", no_wrap=True)
    for page in pages:
        score = page.hub_score if by == "hub" else page.authority_score
        links = page.out_links if by == "hub" else page.in_links
        where = show.shorten(page.url.removeprefix("http://"), 40)
        table.add_row(f"{score:.2f}", str(links), where, titles.get(page.url, "")[:25])
    return table
