"""An attempt to lose a claim or cash: processes that claim, report and push on one graph while they are killed.

`graphbrain hammer` runs it for any time; the tests run it shorter. Each process crawls the same generated web and keeps
a journal. It writes an entry before and after each call: the claims that it got, the ends of their leases, and the
visits that were acknowledged. The parent kills one of the processes with SIGKILL again and again (and the server, if it
runs the server), and starts it anew. Then the crawl ends without kills.

The journals and the graph must prove that no page was held twice at the same time, no host was claimed early, no page
was visited again before it was due, no page was lost, every acknowledged visit is in the graph, and the audit of all
accounts is clean. Some calls ask for robots.txt, too. These are forgotten now and then, redirect, or fail; no two
processes may hold one at the same time. Each tenth page redirects at times, permanently or temporarily. All processes
report such pages, with and without a claim. Pages are visited again until the end, each at the earliest a second after
its last visit, so that there is nearly always a page to claim.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from graphbrain.base.errors import BadInput, GraphUnavailable
from graphbrain.base.model import PAGES, Claim, Failed, Fetched, Resource
from graphbrain.base.urls.normalization import host_of
from graphbrain.brain.brain import Brain

__all__ = ["Blow", "ChaosVerdict", "hammer", "kill_local_server"]

HOSTS = 20
LEASE = 3.0
REVISIT = 1.0
"""The least number of seconds from a visit of a page to its next one."""
CLOCK_ERROR = 0.02
"""Seconds by which two processes' readings of the server's clock may differ on an overloaded machine."""
WARM_ROUNDS = 3
LONGEST_START = 120.0
"""The largest number of seconds until all processes have begun, and after that until they have reported `LEAST_PAGES`
pages and a robots.txt."""
LEAST_PAGES = 100
BOTH = ("page", "robots")
ALL = ("page", "robots", "sitemap")
FORGETS = 0.3
"""The share of calls before which a process forgets a robots.txt."""
WANDERS, FIRST_WANDERER = 10, 7
"""Each page whose number has the remainder `FIRST_WANDERER` by `WANDERS` redirects at times."""
ROUNDING = 1e-5
"""The rounding error, in seconds, of the begin of a lease that is computed from its end."""


@dataclass
class ChaosVerdict:
    """The result: `ok`, the faults, and the amount of work done."""

    findings: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.findings


Blow = Callable[[], None]
"""A function that kills the server and starts it again."""


@dataclass(frozen=True)
class ChaosWeb:
    """The generated web: its number of pages, and whether they have texts."""

    pages: int
    texts: bool = False


COPIES = 3
"""Each third page of a host has the text of another, if pages have texts."""


def url_of(page: int) -> str:
    """Return the URL of a page of the generated web."""
    folder = "copies/" if _is_copy(page) else ""
    return f"http://h{page % HOSTS}.hammer.example/{folder}p{page}"


def _page_of(url: str) -> int:
    return int(url.rsplit("p", 1)[1])


def _is_copy(page: int) -> bool:
    return page // HOSTS % COPIES == COPIES - 1


def body_of(page: int) -> bytes:
    """Return an HTML page of fifty words. A copy has the words of the page before it on its host."""
    dice = random.Random(page - HOSTS if _is_copy(page) else page)
    return f"<html><body><p>{' '.join(f'word{dice.randrange(10_000)}' for _ in range(50))}</p></body></html>".encode()


def links_of(page: int, pages: int) -> list[str]:
    """Return the links of a page of the generated web: the next page, so that all are reached, and some popular
    ones."""
    dice = random.Random(page)
    ways = [(page + 1) % pages, *(int(pages * dice.random() ** 3) for _ in range(dice.randrange(12)))]
    return [url_of(way) for way in ways if way != page]


def _wanders(page: int) -> bool:
    return page % WANDERS == FIRST_WANDERER


def hammer(
    connect: dict[str, Any],
    *,
    seconds: float = 60.0,
    processes: int = 4,
    pages: int = 1500,
    kill_every: float = 2.0,
    delay: float = 0.0,
    engine: str = "exact",
    reach: float = 0.0,
    value: str | None = None,
    strike_server: Blow | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> ChaosVerdict:
    """Crawl the generated web with some processes, and kill one of them again and again.

    Args:
        connect: The uri, user and password of a server whose brain is empty.
        seconds: The length of the crawl.
        processes: The number of processes.
        pages: The number of pages of the web.
        kill_every: Seconds between two kills.
        delay: Seconds between two claims of one host.
        engine: The brain's engine.
        reach: The brain's setting.
        value: The brain's setting; None: the default. With a value, the pages have texts from which sections are
            learned.
        strike_server: Is called once, half way.
        say: Is called with sentences for the user.

    Raises:
        SettingsError: `reach` or `value` is invalid.
    """
    # Prepare the brain.
    with tempfile.TemporaryDirectory(prefix="graphbrain-hammer-") as folder:
        web = ChaosWeb(pages, texts=value is not None)
        with Brain.open(**connect, auto_tend=False, as_it_is=True) as brain:
            given = {} if value is None else {"value": value}
            brain.remake(
                delay_seconds=delay,
                in_flight=8 if delay else 0,
                lease_seconds=LEASE,
                engine=engine,
                reach=reach,
                order="optimal",
                revisit_seconds=REVISIT,
                **given,
            )
            # A page that redirects has no link to the next page, which is therefore a seed.
            brain.seed([url_of(page) for page in range(pages) if page == 0 or _wanders(page - 1)])
            _warm(brain, web)
        # Crawl with kills.
        gang = _Gang(connect, Path(folder), processes, web)
        try:
            kills = _strike(gang, seconds, kill_every, strike_server, say)
        finally:
            gang.stop()
        # Finish without kills, and judge.
        say("peace: the crawl ends")
        with Brain.open(**connect, auto_tend=False, as_it_is=True) as brain:
            _finish(brain, web)
            verdict = _judge(brain, gang.journal(), pages, delay)
        verdict.figures["kills"] = kills
        return verdict


def _warm(brain: Brain, web: ChaosWeb) -> None:
    """Run the first rounds undisturbed: a server that has just been started takes seconds to plan each statement."""
    for _ in range(WARM_ROUNDS):
        for kinds in (BOTH, PAGES):
            claims = brain.next_urls(10, wait=1.0, kinds=kinds)
            brain.report([_visit(c, web) if c.kind == "page" else Resource(c.url, c, 404) for c in claims])
        brain.set_robots(host_of(url_of(0)), None)
        brain.tend(0.05)
    _forget_robots(brain)


def _forget_robots(brain: Brain) -> None:
    """Forget the robots.txt of all hosts, so that calls that ask for them get some, also on a slow machine."""
    for page in range(HOSTS):
        brain.set_robots(host_of(url_of(page)), None)


def kill_local_server(data: Path | None) -> Blow:
    """Return a function that kills graphbrain's own server with SIGKILL and starts it again."""
    from graphbrain.graph.server import lifecycle

    running = lifecycle.find(data)
    if running is None:
        raise BadInput("Only a server that graphbrain has started can be killed; 'graphbrain server start' starts one.")

    def blow() -> None:
        os.kill(running.pid, signal.SIGKILL)
        deadline = time.monotonic() + LONGEST_START
        while lifecycle.find(data) is not None and time.monotonic() < deadline:
            time.sleep(0.05)  # a server of gigabytes takes a while to end, and counts as running until then
        lifecycle.start(data)

    return blow


class _Gang:
    """The processes. One that dies is replaced."""

    def __init__(self, connect: dict[str, Any], folder: Path, processes: int, web: ChaosWeb) -> None:
        self._connect, self._folder, self._web = connect, folder, web
        self._births = 0
        self._members: list[tuple[subprocess.Popen[bytes], Path]] = [self._start() for _ in range(processes)]

    def _start(self) -> tuple[subprocess.Popen[bytes], Path]:
        self._births += 1
        journal = self._folder / f"{self._births}.jsonl"
        task = json.dumps(
            {"connect": self._connect, "journal": str(journal), "web": asdict(self._web), "dice": self._births}
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "graphbrain_lab.bench.chaos", task],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self._folder / f"{self._births}.err").open("wb"),
            cwd=Path(__file__).parents[2],
        )
        return process, journal

    def kill_one(self) -> bool:
        """Kill a random process that has begun to work. Return False if none has."""
        busy = self._busy()
        if not busy:
            return False
        place = random.choice(busy)
        process = self._members[place][0]
        process.send_signal(signal.SIGKILL)
        process.wait()
        self._members[place] = self._start()
        return True

    def _busy(self) -> list[int]:
        """Return the places of the processes that have begun to work."""
        begun = (journal.is_file() and journal.stat().st_size for _, journal in self._members)
        return [place for place, works in enumerate(begun) if works]

    def await_work(self) -> None:
        """Wait until all processes have begun to work. On a busy machine they start slowly."""
        deadline = time.monotonic() + LONGEST_START
        while len(self._busy()) < len(self._members) and time.monotonic() < deadline:
            self.check()
            time.sleep(0.1)

    def has_worked(self) -> bool:
        """Return whether enough has been reported for a verdict: pages, and a robots.txt."""
        reported = Counter(entry["kind"] for entry in self.journal() if entry["what"] == "acknowledged")
        return reported["page"] >= LEAST_PAGES and reported["robots"] > 0

    def check(self) -> None:
        """Raise the error of a process that ended by itself, because it has found a fault."""
        for process, _ in self._members:
            if process.poll() not in (None, 0, -signal.SIGKILL):
                errors = "\n".join(path.read_text()[-2000:] for path in self._folder.glob("*.err"))
                raise RuntimeError(f"a process of the hammer died by itself:\n{errors}")

    def stop(self) -> None:
        for process, _ in self._members:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def journal(self) -> Iterator[dict[str, Any]]:
        """Yield all entries of all processes; the last line of a killed one may be cut."""
        for path in self._folder.glob("*.jsonl"):
            for line in path.read_text().splitlines():
                with suppress(json.JSONDecodeError):
                    yield json.loads(line)


def _strike(
    gang: _Gang, seconds: float, kill_every: float, strike_server: Blow | None, say: Callable[[str], None]
) -> int:
    """Kill one process after another for `seconds`, on a slow machine until enough was reported. Return the number of
    kills."""
    gang.await_work()
    started = time.monotonic()
    kills = 0
    while (passed := time.monotonic() - started) < seconds or (passed < LONGEST_START and not gang.has_worked()):
        time.sleep(kill_every * random.uniform(0.5, 1.5))
        gang.check()
        kills += gang.kill_one()
        if strike_server is not None and passed > seconds / 2:
            say("the server is killed")
            strike_server()
            strike_server = None
    return kills


def _finish(brain: Brain, web: ChaosWeb) -> None:
    """Report the pages that were never fetched, without kills. Hosts that were slowed down get their full rate at
    once."""
    brain.change(order="best_first", longest_delay_seconds=0.0)
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        claims = brain.next_urls(100, wait=1.0)
        if claims.finished:
            break
        brain.report([_visit(claim, web) for claim in claims])
    brain.tend(None)


def _visit(claim: Claim, web: ChaosWeb) -> Fetched:
    page = _page_of(claim.url)
    content: dict[str, Any] = {"body": body_of(page)} if web.texts else {"body_hash": "same"}
    return Fetched(claim.url, links_of(page, web.pages), claim, **content)


def _wander(url: str, claim: Claim | None, web: ChaosWeb, dice: random.Random) -> Fetched:
    """Return a visit of a page that redirects at times: to the next page, or to one that may redirect back."""
    page = _page_of(url)
    status, links = dice.choice((200, 200, 301, 302, 307)), links_of(page, web.pages)
    if status == 200:
        return Fetched(url, links, claim, body_hash="same")
    target = url_of(dice.choice([(page + 1) % web.pages, page - WANDERS if page > WANDERS else page + 1]))
    return Fetched(url, [], claim, status, redirected_to=target)


def _judge(brain: Brain, journal: Iterator[dict[str, Any]], pages: int, delay: float) -> ChaosVerdict:
    # Read the journals: the entries of each page and each file in the order of time.
    verdict = ChaosVerdict()
    entries = sorted(journal, key=lambda entry: entry["at"])
    claimed = Counter(entry["kind"] for entry in entries if entry["what"] == "claimed")
    held: dict[str, list[dict[str, Any]]] = defaultdict(list)
    count: Counter[str] = Counter(entry["what"] for entry in entries)
    for entry in entries:
        held[entry["url"] if entry["kind"] == "page" else entry["key"]].append(entry)
    # Look for claims that should not have been granted.
    for url, life in held.items():
        verdict.findings += overlaps(url, life)
    visits = {url: life for url, life in held.items() if life[0]["kind"] == "page"}
    not_due = [finding for url, life in visits.items() for finding in undue(url, life)]
    verdict.findings += not_due
    verdict.findings += early(entries, delay)
    # Look for lost pages and visits.
    stats = brain.stats()
    if set(stats["states"]) - {"known", "alias"} or sum(stats["states"].values()) != pages:
        verdict.findings.append(f"{pages} pages should be known, or redirect, but there are {stats['states']}.")
    done = (entry["url"] for entry in entries if entry["what"] == "acknowledged" and entry["kind"] == "page")
    acknowledged = Counter(done)
    verdict.findings += _missing(brain, acknowledged, pages)
    # Check the accounts.
    audit = brain.audit(None)
    verdict.findings += audit.findings
    verdict.figures = {
        **count,
        "robots": claimed["robots"],
        "sitemaps": claimed["sitemap"],
        "pages": pages,
        "visits_not_due": len(not_due),
        "retries": stats["done"]["retries"],
        "payments": stats["done"]["payments"],
        "worst_account_error": audit.figures["worst_account_error"],
        "gap": audit.figures["gap"],
    }
    return verdict


def overlaps(url: str, life: list[dict[str, Any]]) -> list[str]:
    """Return a finding for each time at which two tokens held the page.

    A token holds it from its grant until the lease lapses, or until its holder begins to end it.
    """
    # Find the span of each token: from its grant, with renewals, up to its end.
    holds: dict[str, dict[str, float]] = {}
    for entry in life:
        if entry["what"] == "claimed":
            holds[entry["token"]] = {"from": entry["granted"], "until": entry["until"]}
    for entry in life:
        hold = holds.get(entry["token"])
        if hold is not None and entry["what"] == "renewed":
            hold["until"] = max(hold["until"], entry["until"])
    for entry in life:
        hold = holds.get(entry["token"])
        if hold is not None and entry["what"] == "ending":
            hold["until"] = min(hold["until"], entry["at"])
    spans = sorted((hold["from"], hold["until"], token) for token, hold in holds.items())
    return [
        f"{url} was granted to {second[2]} {first[1] - second[0]:.3f} s before {first[2]} had to let it go."
        for first, second in pairwise(spans)
        if second[0] + CLOCK_ERROR < first[1]
    ]


def undue(url: str, life: list[dict[str, Any]], revisit: float = REVISIT) -> list[str]:
    """Return a finding for each claim of the page before it was due after an acknowledged visit.

    The brain recorded the visit after its holder began to end the claim, so the page is due `revisit` seconds after
    that, or later.
    """
    granted = {entry["token"]: entry["granted"] for entry in life if entry["what"] == "claimed"}
    ended = {entry["token"]: entry["at"] for entry in life if entry["what"] == "ending"}
    visited = {entry["token"] for entry in life if entry["what"] == "acknowledged"}
    return [
        f"{url} was granted to {later} {at - ended[token]:.3f} s after {token} had visited it, and not due."
        for token in sorted(visited & granted.keys() & ended.keys())
        for later, at in granted.items()
        if granted[token] < at and later != token and at + CLOCK_ERROR < ended[token] + revisit
    ]


def early(entries: list[dict[str, Any]], delay: float) -> list[str]:
    """Return a finding for each claim of a host within its delay after another one, by any process."""
    granted: dict[str, list[float]] = defaultdict(list)
    for entry in entries:
        if entry["what"] == "claimed":
            granted[host_of(entry["url"])].append(entry["granted"])
    return [
        f"{host} was granted {later - before:.4f} s after the last time."
        for host, moments in granted.items()
        for before, later in pairwise(sorted(moments))
        if later - before < delay - ROUNDING
    ]


def _missing(brain: Brain, acknowledged: Counter[str], pages: int) -> list[str]:
    """Return a finding for each page whose acknowledged visits, or their links, are not in the graph."""
    found = list(brain.dump_pages())
    visits = {page.url: page.visits for page in found}
    leads = {page.url for page in found if page.redirects_to is not None or page.led_to is not None}
    moved = {page.url: page.redirects_to for page in found if page.redirects_to is not None}
    links: dict[str, set[str]] = defaultdict(set)
    for link in brain.dump_links():
        links[link.source].add(link.target)
    findings = []
    for url, stated in acknowledged.items():
        named = [] if url in leads else links_of(_page_of(url), pages)
        if off := links[url].symmetric_difference({_goal(end, moved) for end in named} - {url}):
            findings.append(f"{url} was acknowledged, but its links are {sorted(off)} off.")
        if visits.get(url, 0) < stated:
            findings.append(f"{url} was acknowledged {stated} times, but visited {visits.get(url, 0)} times.")
    return findings


def _goal(url: str, moved: Mapping[str, str]) -> str:
    """Return where links to a page end: where it redirects for good, itself if that is a circle."""
    at, seen = url, {url}
    while at in moved:
        at = moved[at]
        if at in seen:
            return url
        seen.add(at)
    return at


def _live(task: dict[str, Any]) -> None:
    """Run one process of the gang without end: claim, renew, give back, report, push."""
    dice = random.Random(task["dice"])
    web = ChaosWeb(**task["web"])
    with Path(task["journal"]).open("a", buffering=1) as book, _open_brain(task["connect"]) as brain:
        # The journal has an entry for each claim.
        def note(what: str, claims: list[Claim], **more: float) -> None:
            for claim in claims:
                entry = {"what": what, "url": claim.url, "token": claim.token, "at": brain.now(), **more}
                entry |= {"key": claim.key, "kind": claim.kind}
                book.write(json.dumps(entry) + "\n")

        while True:
            # Claim.
            kinds = dice.choice([PAGES, BOTH, ALL])
            claims = list(brain.next_urls(dice.randrange(1, 60), wait=0.05, kinds=kinds))
            if dice.random() < FORGETS:
                brain.set_robots(dice.choice(claims).host if claims else host_of(url_of(0)), None)
            for claim in claims:
                note("claimed", [claim], until=claim.until, granted=claim.until - LEASE)
            # Do with the claims what crawlers do: let them lapse, renew them, give them back, or report them.
            fate = dice.random()
            if fate < 0.05:
                time.sleep(LEASE * 1.2)
            elif fate < 0.15:
                for renewed in brain.renew(claims):
                    if renewed is not None:
                        note("renewed", [renewed], until=renewed.until)
            elif fate < 0.25:
                note("ending", claims)
                brain.give_back(claims)
                continue
            note("ending", claims)
            answers = brain.report([_maybe(claim, web, dice) for claim in claims])
            good = [c for c, a in zip(claims, answers, strict=True) if a.accepted and a.outcome != "slowed"]
            note("acknowledged", good)
            # Report some pages without a claim, and push.
            wanderers = range(FIRST_WANDERER, web.pages, WANDERS)
            brain.report([_wander(url_of(page), None, web, dice) for page in dice.sample(wanderers, dice.randrange(4))])
            brain.tend(dice.choice([0.0, 0.05, 0.3]), batch=dice.choice([50, 500, 5000]))


def _open_brain(connect: dict[str, Any]) -> Brain:
    """Return the brain. Try again while there is no server, because it may just have been killed."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return Brain.open(**connect, auto_tend=False, as_it_is=True)
        except GraphUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def _maybe(claim: Claim, web: ChaosWeb, dice: random.Random) -> Fetched | Failed | Resource:
    """Return a report of a claim: mostly a success, sometimes a refusal that asks for a short wait."""
    if claim.kind == "robots":
        return _robots(claim, web, dice)
    if claim.kind == "sitemap":
        return _sitemap(claim, web, dice)
    if dice.random() < 0.02:
        return Failed(claim.url, claim, 503, retry_after=0.2)
    if _wanders(_page_of(claim.url)):
        return _wander(claim.url, claim, web, dice)
    return _visit(claim, web)


def _robots(claim: Claim, web: ChaosWeb, dice: random.Random) -> Resource:
    """Return the report of a robots.txt: mostly that it exists or does not exist, sometimes a redirect or an error."""
    status = dice.choices((200, 404, 302, 500), (8, 8, 3, 1))[0]
    target = f"http://{host_of(url_of(dice.randrange(web.pages)))}/robots.txt" if status == 302 else None
    return Resource(claim.url, claim, status, b"User-agent: *\nAllow: /\nSitemap: /map.txt\n", redirected_to=target)


def _sitemap(claim: Claim, web: ChaosWeb, dice: random.Random) -> Resource:
    """Return the report of a sitemap of some pages, without dates: a date would make a page due earlier."""
    status = dice.choices((200, 404, 302, 500), (16, 1, 2, 1))[0]
    target = f"http://{host_of(url_of(dice.randrange(web.pages)))}/map.txt" if status == 302 else None
    urls = [url_of(dice.randrange(web.pages)) for _ in range(dice.randrange(1, 200))]
    return Resource(claim.url, claim, status, "\n".join(urls), redirected_to=target)


if __name__ == "__main__":
    os.environ.pop("GRAPHBRAIN_URI", None)
    _live(json.loads(sys.argv[1]))
