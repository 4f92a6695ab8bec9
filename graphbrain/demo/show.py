"""`graphbrain demo`: one run of the whole program on this machine.

It runs a separate Neo4j (never the user's brain), the generated web on loopback, two example crawlers, and push
workers, each in its own process as in a real crawl. One crawler is killed in the middle. Progress is written to stderr,
and the result to stdout at the end. If it ends early, also by Ctrl-C, it cleans up: claims are given back, and
crawlers, workers, web and server are stopped. A server that ran before continues to run.
"""

from __future__ import annotations

import itertools
import shlex
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
from rich.table import Table

from graphbrain import Brain, GraphbrainError, Page
from graphbrain.analyst.inspect.audit import Audit
from graphbrain.base.errors import SchemaMismatch, SettingsError, UnknownPage
from graphbrain.base.settings import Settings
from graphbrain.brain.workers import WorkerPool
from graphbrain.content.relevance import TopicRelevance
from graphbrain.demo.crew import Crew, WorkerReport
from graphbrain.demo.pages import SEEDS
from graphbrain.demo.web import Web
from graphbrain.graph.server import lifecycle
from graphbrain.terminal import show
from graphbrain.terminal.show import counted

__all__ = ["DemoCrawl", "DemoResult", "default_data_dir", "run_demo"]

CRAWL = "demo"
CRAWLERS = 2
VICTIM = 1  # the crawler that is killed
KILLED_AFTER = 0.5  # the share of the web's pages
HOLDS = 3  # pages that it should hold at the kill; after HOLD_SECONDS it is killed with fewer
HOLD_SECONDS = 3.0
SETTLED = 0.2  # seconds in which the last writes of a killed crawler end
THREADS = 4  # the threads of each crawler
TOP = 10
NEAR = 0.5  # relevance from which a page counts as near the topic: more than that of an unknown page
FIRST = 100  # the first pages, among which those near the topic are counted
DELAY = 0.05  # seconds between two claims of one host, so that the demo ends soon
LEASE = 6.0  # seconds, so that the killed crawler's pages return while the other one still works
PATIENCE = 8.0  # a page further away than this is not waited for: longer than a lease, shorter than a retry
EVERY = 0.4  # seconds between two readings of the figures
MEMORY = 1024  # MB for Neo4j: enough for some hundreds of pages
# These replace the settings of an earlier demo, and those of the user's crawl in the environment.
OWN: dict[str, Any] = {"delay_seconds": DELAY, "lease_seconds": LEASE, "order": "best_first"}
HOSTS_BESIDE = frozenset({"vanished.example"})  # the web links to it, but it does not exist
QUERY = "MATCH p = (:Page {host: 'links.example'})-[:LINKS]->() RETURN p"
RECORDED = ("new", "changed", "same", "alias")

Say = Callable[[str], None]


def default_data_dir() -> Path:
    """Return the directory of the demo's own server: beside the user's brain, not in it."""
    return Path(platformdirs.user_data_dir("graphbrain")) / "demo"


@dataclass
class DemoCrawl:
    """The crawlers' reports so far, and the brain's answers.

    Attributes:
        by_crawler: The number of reports of each crawler.
        recorded: Key → the number of recorded visits of the page.
        held: Key → the begin and end of each claim of the page.
        victim_held: Keys of the pages that the killed crawler held.
        came_back: Key of such a page → the seconds from the kill to its report by another crawler.
    """

    reported: int = 0
    seconds: float = 0.0
    links: int = 0
    refused: int = 0
    judged: int = 0
    near: int = 0
    near_at_first: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    by_crawler: Counter[int] = field(default_factory=Counter)
    recorded: Counter[str] = field(default_factory=Counter)
    held: defaultdict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    victim_held: list[str] = field(default_factory=list)
    killed_at: float | None = None
    came_back: dict[str, float] = field(default_factory=dict)

    def add(self, number: int, report: WorkerReport) -> None:
        """Count one report of a crawler."""
        self.reported += 1
        self.by_crawler[number] += 1
        self.links += report.links
        self.refused += report.refused
        self.outcomes[report.outcome] += 1
        self.held[report.key].append(report.lease)
        self.recorded[report.key] += report.outcome in RECORDED
        # Another crawler has reported a page that the killed one held.
        if self.killed_at is not None and number != VICTIM and report.key in self.victim_held:
            self.came_back.setdefault(report.key, time.monotonic() - self.killed_at)
        # Failures are counted by their status, pages by their relevance.
        if report.failed:
            self.failures[str(report.status or "no answer")] += 1
        elif report.relevance is not None:
            near = report.relevance >= NEAR
            self.judged += 1
            self.near += near
            self.near_at_first += near and self.judged <= FIRST

    @property
    def twice_recorded(self) -> int:
        """Return the number of pages whose visit was recorded more than once."""
        return sum(times > 1 for times in self.recorded.values())

    @property
    def twice_held(self) -> int:
        """Return the number of pages that one crawler claimed while another one held them."""
        return sum(any(b[0] < a[1] for a, b in itertools.pairwise(sorted(spans))) for spans in self.held.values())


def run_demo(
    *,
    data: Path | None = None,
    keep: bool = False,
    uri: str | None = None,
    pages: int = 400,
    workers: int = 1,
    topic: str | None = None,
    say: Say = show.say,
    **login: Any,
) -> bool:
    """Run the demo. Return True if its audit found no fault, no page was held or recorded twice, and none was lost.

    Args:
        data: The directory of its server.
        keep: Keep the server running. One that ran before continues in any case.
        uri: Use this Neo4j and start none.
        pages: The number of pages of the web.
        workers: The number of processes that push.
        topic: Words to crawl for.
        say: Is called with sentences for the user.
        login: The user, password and database for `uri`. Missing ones are read from GRAPHBRAIN_….

    Raises:
        GraphbrainError: The demo failed; the message is one sentence.
        KeyboardInterrupt: It was interrupted, and has cleaned up.
    """
    web, home = Web(pages=pages), data or default_data_dir()
    if topic is not None:
        TopicRelevance.from_words(topic)  # refuse unusable words before anything starts
    stays = crawling = False
    try:
        with _Interruption() as halt, ExitStack() as stack:
            line = stack.enter_context(show.timed_line())
            # Start the server and the crawlers' processes, and open the brain.
            own = None if uri else lifecycle.find(home)
            stays = own is not None or keep
            if own is not None:
                say(f"A Neo4j runs in {home} already: it is used, and will be left running.")
            if uri is None:
                own = _server(stack, home, stays, line, say)
            crew = stack.enter_context(Crew(CRAWLERS))
            halt.in_order()
            brain = stack.enter_context(_open(_login(own) if own else {"uri": uri, **login}, web, line, say))
            halt.check()
            # Crawl, settle the scores, and check them.
            stack.enter_context(web)
            crawling = True
            crawled = _crawl(brain, web, crew, workers, topic, line, say, halt)
            halt.check()
            line("bringing all scores to rest")
            brain.tend(None, stop=halt.wanted.is_set)
            halt.check()
            line("recomputing every score from its neighbours")
            found = DemoResult.of(brain, web, crawled, own if stays else None)
            halt.check()
            # Show the result.
            line("")
            _print(found, own, stays, uri)
            if own is not None and not stays:
                say("Stopping Neo4j …")
    except KeyboardInterrupt:
        still_running = f"; Neo4j still runs in {home}" if not uri and lifecycle.find(home) is not None else ""
        over = "claims are given back; crawlers, workers and web have ended" if crawling else "nothing was crawled yet"
        say(f"Stopped: {over}{still_running}.")
        raise
    return found.ok


class _Interruption:
    """A handler for Ctrl-C, a plain kill and a closed terminal, which all raise KeyboardInterrupt.

    At first a signal raises at once. After `in_order` the next `check` raises, because an exception in the middle of an
    exchange with Neo4j would make the connection useless for the cleanup. A second signal always raises at once.
    """

    def __init__(self) -> None:
        self.wanted = threading.Event()
        self._is_deferred = False
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
        """Defer interruptions to the next `check`."""
        self._is_deferred = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come."""
        if self.wanted.is_set():
            raise KeyboardInterrupt

    def _come(self, *_: object) -> None:
        if not self._is_deferred or self.wanted.is_set():
            raise KeyboardInterrupt
        self.wanted.set()


# ---------------------------------------------------------------- the brain


def _server(stack: ExitStack, home: Path, stays: bool, line: show.Line, say: Say) -> lifecycle.Server:
    """Start and return the demo's server; `stack` stops it, unless it is kept."""
    if not stays:
        stack.callback(lifecycle.stop, home)
    began = time.monotonic()

    # Its files may have to be fetched first.
    def show_bytes(done: int, total: int) -> None:
        line("fetching Neo4j", f": {done / 1e6:.0f} of {total / 1e6:.0f} MB")

    line("looking for Neo4j's files and for Java")

    def say_step(text: str) -> None:
        say(text)
        if text.startswith("Starting"):
            line("Java starts Neo4j (5 to 90 s)")

    running = lifecycle.start(home, memory=MEMORY, say=say_step, progress=show_bytes)
    if time.monotonic() - began > 1:
        say(f"Neo4j answers, after {time.monotonic() - began:.0f} s.")
    return running


def _login(own: lifecycle.Server) -> dict[str, Any]:
    return {"uri": own.uri, "user": own.user, "password": own.password, "database": "neo4j"}


@contextmanager
def _open(login: dict[str, Any], web: Web, line: show.Line, say: Say) -> Iterator[Brain]:
    """Open the demo's brain, and clear it of an earlier demo.

    Raises:
        SchemaMismatch: The database has other data.
    """
    occupied = SchemaMismatch(
        f"The brain at {login['uri']} holds another crawl, which the demo would have to clear; "
        "let it use its own (no --data, no --uri), or an empty one."
    )
    line("opening the brain, and making its indexes")
    try:
        brain = Brain.open(**login, crawl=CRAWL, share=False, as_it_is=True)
    except SettingsError as error:
        raise (occupied if "crawl=" in str(error) else error) from None
    # Clear the brain only if all its pages are those of an earlier demo.
    with brain:
        if count := brain.quick_figures()["known_pages"]:
            try:
                brain.page(SEEDS[0])
            except UnknownPage:
                raise occupied from None
            if any(host.name not in web.hosts | HOSTS_BESIDE for host in brain.hosts()):
                raise occupied
            say(f"The {count:,} pages of the demo before this one are deleted.")
            brain.clear()
        brain.remake(**OWN, engine=Settings.read(**login).engine)
        yield brain


# ---------------------------------------------------------------- the crawl


def _crawl(
    brain: Brain,
    web: Web,
    crew: Crew,
    workers: int,
    topic: str | None,
    line: show.Line,
    say: Say,
    halt: _Interruption,
) -> DemoCrawl:
    """Crawl the web from its seeds, and kill a crawler in the middle. Return the counts of the reports."""
    # Announce the crawl.
    crawled = DemoCrawl()
    brain.seed(web.seeds)
    names = ("uri", "user", "password", "database", "limit_seconds")
    connection = {**{name: getattr(brain.settings, name) for name in names}, "crawl": CRAWL, "share": False}
    order = {"proxy": web.proxy, "topic": topic, "threads": THREADS, "patience": PATIENCE}
    beside = f", beside {counted(workers, 'worker')} for the scores" if workers else ""
    say(f"Crawling {len(web.pages)} pages on {len(web.hosts)} hosts, served on {web.proxy},")
    say(f"  by {CRAWLERS} crawlers that share them{beside} …")
    # Count the reports as they come. Show the figures every `EVERY` seconds.
    shown_at = 0.0
    with WorkerPool(workers, **connection) as pool:
        began: float | None = None
        line("the crawlers open the brain")
        crew.begin(connection, **order)
        for report in crew.hear(EVERY):
            halt.check()
            if report is not None:
                began = began or time.monotonic()
                crawled.add(*report)
                crawled.seconds = time.monotonic() - began
                if crawled.killed_at is None and crawled.reported >= KILLED_AFTER * len(web.pages):
                    line("killing a crawler")
                    _kill(crew, brain, web, crawled, say)
            if crawled.reported and time.monotonic() - shown_at > EVERY:
                line("crawling", f": {_moment(brain.stats(), crawled)}")
                shown_at = time.monotonic()
    # A report that was under way at the kill may still be recorded: then the crawler did not hold the page.
    crawled.victim_held = [key for key in crawled.victim_held if key in crawled.came_back or not brain.page(key).visits]
    if crew.failed:
        raise GraphbrainError(f"A crawler could not go on: {crew.failed}")
    if pool.failed:
        say(f"The workers could not work: {pool.failed}")
    return crawled


def _kill(crew: Crew, brain: Brain, web: Web, crawled: DemoCrawl, say: Say) -> None:
    """Kill a crawler while it holds pages. The web delays its answers until then, so that it holds some."""

    def victims_pages() -> list[str]:
        pages = brain.find(state="frontier")
        return [page.key for page in pages if page.worker == crew.name(VICTIM) and page.lease_until is not None]

    with web.held_up():
        until = time.monotonic() + HOLD_SECONDS
        while len(victims_pages()) < HOLDS and time.monotonic() < until:
            time.sleep(0.05)
        crew.kill(VICTIM)
    crawled.killed_at, crawled.victim_held = time.monotonic(), victims_pages()
    # A report that the crawler sent before its death may still be recorded: wait until its pages stay the same.
    while True:
        time.sleep(SETTLED)
        before, crawled.victim_held = crawled.victim_held, victims_pages()
        if before == crawled.victim_held:
            break
    say(
        f"Crawler {VICTIM} is killed (kill -9 {crew.pid(VICTIM)}) and held "
        f"{counted(len(crawled.victim_held), 'page')}; crawler {CRAWLERS} goes on."
    )


def _moment(stats: dict[str, Any], crawled: DemoCrawl) -> str:
    lost = len(crawled.victim_held) - len(crawled.came_back)
    waits = f", {lost} to come back" if lost else ""
    return f"{len(crawled.held):,} fetched of {stats['pages']:,} known, {stats['links']:,} links{waits}"


# ---------------------------------------------------------------- the result


@dataclass(frozen=True)
class DemoResult:
    """The result of a demo: the best pages, the figures, and the audit. `browser` has what Neo4j Browser asks for, and
    a query to try."""

    hubs: list[Page]
    authorities: list[Page]
    titles: dict[str, str]
    crawled: DemoCrawl
    stats: dict[str, Any]
    audit: Audit
    browser: dict[str, str]

    @classmethod
    def of(cls, brain: Brain, web: Web, crawled: DemoCrawl, kept: lifecycle.Server | None) -> DemoResult:
        """Read the result from the brain."""
        browser = {"connect": brain.settings.uri, "user": brain.settings.user}
        if kept is not None:
            browser = {"open": kept.browser, **browser, "password": kept.password}
        return cls(
            list(brain.find(by="hub", limit=TOP)),
            list(brain.find(by="authority", limit=TOP)),
            {url: page.title for url, page in web.pages.items()},
            crawled,
            brain.stats(),
            brain.audit(None),
            {**browser, "try": QUERY},
        )

    @property
    def ok(self) -> bool:
        """Return True if the audit found no fault, and no page was lost, or held or recorded twice."""
        crawled = self.crawled
        return (
            self.audit.ok
            and not crawled.twice_held
            and not crawled.twice_recorded
            and len(crawled.came_back) == len(crawled.victim_held)
        )

    def summary(self) -> list[tuple[str, str]]:
        """Return the figures for a person."""
        # Choose the words that depend on the figures.
        crawled, stats = self.crawled, self.stats
        each = " and ".join(f"{crawled.by_crawler[number]:,}" for number in range(1, CRAWLERS + 1))
        first = min(FIRST, crawled.judged)
        topic = (
            f"{crawled.near:,} of {crawled.judged:,} pages are near it, {crawled.near_at_first} of the first {first}"
        )
        each += " requests"
        if again := crawled.reported - len(crawled.held):
            each += f", {again} of them for pages that had failed or that the killed one held"
        failures = ", ".join(f"{n} × {status}" for status, n in sorted(crawled.failures.items()))
        moved = crawled.outcomes["alias"]
        return [
            (
                "fetched",
                f"{counted(len(crawled.held), 'page')} in {crawled.seconds:.0f} s, by two crawlers: {each}",
            ),
            ("shared", self._shared()),
            ("killed", self._killed()),
            (
                "found",
                f"{counted(stats['pages'], 'page')} and {counted(stats['links'], 'link')} on {stats['hosts']} hosts; "
                f"{counted(moved, 'page')} moved for good",
            ),
            *([("topic", topic)] if crawled.judged else []),
            ("failed", f"{failures or 'nothing'}; {counted(stats['retries'], 'page')} will be tried again later"),
            ("left out", f"{counted(crawled.refused, 'link')} to what can be no page, such as mailto:"),
            ("scores", self._scores()),
            *(("wrong", finding) for finding in self.audit.findings),
        ]

    def _shared(self) -> str:
        crawled = self.crawled
        if crawled.twice_held or crawled.twice_recorded:
            return f"WRONG: {crawled.twice_held} pages held by both at once, {crawled.twice_recorded} recorded twice"
        return "no page was held by both at once, none was recorded twice"

    def _killed(self) -> str:
        leased, back = len(self.crawled.victim_held), self.crawled.came_back
        if self.crawled.killed_at is None:
            return "none: the crawl was over before"
        who = f"crawler {VICTIM}, while it held {counted(leased, 'page')}"
        if not leased:
            return f"{who}: nothing was lost"
        if len(back) < leased:
            return f"{who}: WRONG, {leased - len(back)} of them did not come back"
        what = "it" if leased == 1 else f"all {leased}"
        return f"{who}; its claims ran out after {LEASE:g} s, and crawler {CRAWLERS} fetched {what}: nothing was lost"

    def _scores(self) -> str:
        figures = self.audit.figures
        verdict = "right" if self.audit.ok else "NOT right"
        if "held" not in figures:  # only the exact engine has this figure
            return f"{verdict}: {figures['accounts_checked']:,} accounts looked at, no cash is missing"
        return (
            f"{verdict}: all {figures['accounts_checked']:,} recomputed from their neighbours, the largest error "
            f"{figures['worst_account_error']:.0e}"
        )


def _print(found: DemoResult, own: lifecycle.Server | None, stays: bool, uri: str | None) -> None:
    show.prose(_top(found.hubs, "hub", found.titles), "")
    show.prose(_top(found.authorities, "authority", found.titles), "")
    show.prose(show.sheet(found.summary()), "")
    if own is None:
        show.prose("It is in the brain at your Neo4j; a query to begin with:")
        _copied(f"  {QUERY}", "", f"  graphbrain stats --uri {shlex.quote(uri or '')} --crawl {CRAWL}")
        return
    # Print the commands that show the graph.
    where = f"--data {_path(own.data)}"
    commands = [f"graphbrain {words} {where}" for words in ("stats", "top 5", "page http://links.example/")]
    if stays:
        show.prose("Neo4j is left running. Look at the graph in Neo4j Browser:", show.sheet(found.browser.items()), "")
        show.prose("On the command line, the last one to stop it:")
        _copied(*(f"  {command}" for command in [*commands, f"graphbrain server stop {where}"]))
    else:
        show.prose("Neo4j stops now ('demo --keep' leaves it running). To have this graph back:")
        _copied(f"  graphbrain server start {where}", *(f"  {command}" for command in commands))


def _copied(*lines: str) -> None:
    """Print lines to be copied, without wrapping even if a path is long."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _path(path: Path) -> str:
    """Return a path as a shell reads it, shortened if it is in the home directory."""
    text = str(path)
    home = f"{Path.home()}/"
    if len(home) > 2 and text.startswith(home) and shlex.quote(text) == text:
        return "~/" + text[len(home) :]
    return shlex.quote(text)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _top(pages: list[Page], by: str, titles: dict[str, str]) -> Table:
    plural, other = {
        "hub": ("hubs (they link to the best)", "out"),
        "authority": ("authorities (linked by the best)", "in"),
    }[by]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("score", justify="right", min_width=6)
    table.add_column(other, justify="right", min_width=3)
    table.add_column(f"top {TOP} {plural}", no_wrap=True, min_width=40)
    table.add_column("title", no_wrap=True)
    for page in pages:
        score = page.hub_score if by == "hub" else page.authority_score
        links = page.out_links if by == "hub" else page.in_links
        where = show.shorten(page.url.removeprefix("http://"), 40)
        table.add_row(f"{score:.2f}", str(links), where, _cut(titles.get(page.url, ""), 25))
    return table
