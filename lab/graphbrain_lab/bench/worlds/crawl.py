"""A crawl of a world in simulated time, through the public verbs of a brain on a real graph, and its log.

Fetches take no time of this machine: planned acts are done in the order of their times, and the clocks do not move
during each. A crawler calls when one of its places becomes free, at the `next_ready` of its last answer, and at events
that it may know of (a change by hand, a jump). It continues after `finished`, at `next_ready` or four times a day, so
that the log shows later claims.
"""

from __future__ import annotations

import dataclasses
import heapq
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Answer, Claim, Failed, Fetched, Resource
from graphbrain.brain.brain import Brain
from graphbrain_lab.bench.worlds.log import Called, Entry, Happened, Log, LoggedGrant, Reported, Returned
from graphbrain_lab.bench.worlds.web import Met, WorldWeb
from graphbrain_lab.bench.worlds.world import DAY, HOUR, MINUTE, Crawler, Event, World
from graphbrain_lab.simulate.on_graph import START, SimulatedClock

__all__ = ["crawl"]

LEAST_WAIT = 0.05
"""The least seconds that a caller waits between two calls."""
POLL = 6 * HOUR
"""Seconds after which a crawler without a `next_ready` calls again."""
TEND_EVERY = 5 * MINUTE
MOST_AT_ONCE = 500
"""The largest number of pages that a crawler asks for in one call."""
GRID = 0.25
"""Fetches end at multiples of these seconds, so that some end together."""
ANSWERED_BY: dict[str, Callable[[Brain, Event], bool]] = {
    "link": lambda brain, event: brain.link(event.target, event.text),
    "unlink": lambda brain, event: brain.unlink(event.target, event.text),
    "pause": lambda brain, _: brain.pause(),
    "resume": lambda brain, _: brain.resume(),
}
"""Event → the verb whose answer is logged with it."""
HAS_FAULT = "fault" in {each.name for each in dataclasses.fields(Failed)}
Stop = Callable[[], bool]
Progress = Callable[[float, int], None]
"""Called with the simulated seconds so far, and the number of attempts."""


def crawl(
    world: World,
    brain: Brain,
    clock: SimulatedClock,
    *,
    stop: Stop = lambda: False,
    progress: Progress = lambda *_: None,
    limit: float = 120.0,
    enough: Callable[[Log], bool] = lambda _: False,
) -> Log:
    """Crawl a world with an empty brain, audit it, and return the log.

    Args:
        world: The world.
        brain: A brain whose clock is `clock`. It is made anew with the settings of the world.
        clock: The clock that the crawl advances.
        stop: Called at each moment. True ends the crawl.
        progress: Called with the simulated seconds and the number of attempts.
        limit: Seconds of this machine.
        enough: Called after each moment. True ends the crawl.
    """
    random.seed(world.seed)  # the dice of the brain, so that a fault mostly occurs again
    clock.at = START
    brain.remake(**world.settings)
    if not any(crawler.apart for crawler in world.crawlers):
        return _Crawl(world, brain, brain, clock, stop, progress, limit, enough).run()
    with _another(brain, clock) as apart:
        return _Crawl(world, brain, apart, clock, stop, progress, limit, enough).run()


def _another(brain: Brain, clock: SimulatedClock) -> Brain:
    """Open another Brain object on the same crawl."""
    at = brain.session.settings
    return Brain.open(
        clock=clock, as_it_is=True, auto_tend=False,
        uri=at.uri, user=at.user, password=at.password, database=at.database, crawl=at.crawl,
    )  # fmt: skip


@dataclass(slots=True)
class _Held:
    """A claim that is being fetched."""

    claim: Claim
    met: Met


@dataclass(slots=True)
class _Runner:
    """A crawler and its state."""

    crawler: Crawler
    dice: random.Random
    held: dict[str, _Held] = field(default_factory=dict)
    ready: float | None = None
    """The time that its last answer named, by the brain's clock."""
    wake: int = 0
    """The number of its last appointment. Older appointments are void."""
    away: bool = False

    def free(self) -> int:
        return self.crawler.places - len(self.held)


class _Crawl:
    def __init__(
        self,
        world: World,
        brain: Brain,
        apart: Brain,
        clock: SimulatedClock,
        stop: Stop,
        progress: Progress,
        limit: float,
        enough: Callable[[Log], bool],
    ) -> None:
        self.world, self.brain, self._apart, self.clock = world, brain, apart, clock
        self.stop, self.progress, self.limit, self.enough = stop, progress, limit, enough
        self.web, self.log, self.at = WorldWeb(world), Log(), 0.0
        self._agenda: list[tuple[float, int, int, Callable[[], None]]] = []
        self._count = 0
        self._tended = 0.0
        self._denied: set[str] = set()
        self._runners = [_Runner(crawler, random.Random(f"{world.seed} {crawler.name}")) for crawler in world.crawlers]
        self._ending: dict[int, list[_Held]] = {}
        self._dice = random.Random(f"{world.seed} hops")

    # ------------------------------------------------------------ time

    def run(self) -> Log:
        began = time.monotonic()
        end = self.world.days * DAY
        with self._lost_answers():
            self._begin()
            # Do the planned acts in order, until the time is up.
            while self._agenda:
                at, _, _, act = heapq.heappop(self._agenda)
                if at >= end:
                    break
                self.log.cut = self.stop() or time.monotonic() - began > self.limit
                if self.log.cut or self.enough(self.log):
                    end = self.at
                    break
                self._advance_to(at)
                act()
                self.progress(self.at, self.log.attempts)
        self.log.ended = end
        self._end()
        self.log.seconds = time.monotonic() - began
        return self.log

    def _plan(self, at: float, act: Callable[[], None], rank: int = 1) -> None:
        """Plan an act. Of the acts at one time, the one with the lowest `rank` is done first."""
        self._count += 1
        heapq.heappush(self._agenda, (at, rank, self._count, act))

    def _advance_to(self, at: float) -> None:
        self.at = max(self.at, at)
        self.clock.at = START + self.at + self.world.skew(self.at)

    @property
    def now(self) -> float:
        """Return the time by the brain's clock, in seconds since the world began."""
        return self.clock.at - START

    def _note(self, entry: Entry) -> None:
        self.log.entries.append(entry)

    @contextmanager
    def _lost_answers(self) -> Iterator[None]:
        """Run some transactions of the block twice, as after a commit whose answer was lost."""
        graph, run = self.brain.graph, self.brain.graph.write
        if not self.world.hops:
            yield
            return

        def write(work: Callable[..., Any], name: str, **more: Any) -> Any:
            if self._dice.random() < self.world.hops:
                run(work, name, **more)
            return run(work, name, **more)

        graph.write = write  # type: ignore[method-assign]
        try:
            yield
        finally:
            del graph.write

    # ------------------------------------------------------------ begin, jumps, deaths and end

    def _begin(self) -> None:
        # Set the robots.txt files that the world gives by hand, then seed.
        for host in self.world.hosts:
            if host.crawl_delay and host.robots is None:
                text = f"User-agent: graphbrain\nCrawl-delay: {host.crawl_delay:g}"
                self._happen(Event(0.0, "robots", host.name, text=text))
        self.brain.seed(self.world.seeds)
        for url in self.world.seeds:
            self._note(Happened(0.0, 0.0, "seed", url))
        # Plan the jumps, the events and the calls of the crawlers.
        for at, by in self.world.jumps:
            self._plan(at, partial(self._jump, by), 0)
        for event in self.world.events:
            self._plan(event.at, partial(self._happen, event, wake=True), 2)
        for runner in self._runners:
            for start, until in runner.crawler.away:
                self._plan(start, partial(self._leave, runner), 0)
                self._plan(until, partial(self._come_back, runner), 0)
            if not runner.crawler.is_away(0.0):
                self._appoint(runner, 0.0)

    def _end(self) -> None:
        self.brain.tend(0.5, passes=False)
        self.log.audit = tuple(self.brain.audit(None).findings)
        self.log.states = dict(self.brain.stats()["states"])

    def _jump(self, by: float) -> None:
        self._note(Happened(self.at, self.now, "jump", value=by))
        self._wake_all()

    def _leave(self, runner: _Runner) -> None:
        """Kill a crawler. Its claims are not reported."""
        self._note(Happened(self.at, self.now, "death", runner.crawler.name))
        runner.away = True
        runner.held.clear()
        runner.wake += 1

    def _come_back(self, runner: _Runner) -> None:
        runner.away = False
        self._note(Happened(self.at, self.now, "birth", runner.crawler.name))
        self._appoint(runner, self.at)

    def _wake_all(self) -> None:
        for runner in self._runners:
            if not runner.away:
                self._appoint(runner, self.at)

    # ------------------------------------------------------------ calls

    def _appoint(self, runner: _Runner, at: float, *, as_told: bool = False) -> None:
        """Plan a crawler's next call. It replaces the call that was planned before."""
        runner.wake += 1
        number = runner.wake

        def call() -> None:
            if runner.wake == number and not runner.away:
                self._call(runner, as_told)

        self._plan(at, call, 3)

    def _call(self, runner: _Runner, as_told: bool) -> None:
        asked = min(runner.free(), MOST_AT_ONCE)
        if asked <= 0:
            return
        self._tend_now_and_then()
        # Claim. A lost answer is repeated if the call has a key.
        crawler, brain = runner.crawler, self._brain_of(runner)
        lost = runner.dice.random() < crawler.loses
        key = f"{crawler.name} {runner.wake}" if crawler.keyed else None
        as_told = as_told or (runner.ready is not None and self.now >= runner.ready)
        claims = brain.next_urls(asked, worker=crawler.name, key=key, kinds=crawler.kinds)
        if lost and key is not None:
            claims = brain.next_urls(asked, worker=crawler.name, key=key, kinds=crawler.kinds)
        unheard = lost and key is None
        # Log the call as the judges may know it.
        self.log.calls += 1
        self._note(
            Called(
                self.at,
                self.now,
                crawler.name,
                asked,
                tuple(
                    LoggedGrant(c.url, c.host, c.token, c.until - START, lost=unheard, kind=c.kind, home=_home(c))
                    for c in claims
                ),
                None if claims.next_ready is None else claims.next_ready - START,
                claims.finished,
                as_told and not unheard,
                crawler.kinds,
                claims.paused,
                crawler.apart,
            )
        )
        # Fetch, and plan the next call.
        if unheard:
            runner.ready = None
            self._appoint(runner, self.at + 1.0)
            return
        self._fetch_all(runner, list(claims))
        runner.ready = None if claims.next_ready is None else claims.next_ready - START
        if len(claims) == asked:
            self._appoint(runner, self.at)  # the crawler may have more places
        else:
            wait = POLL if runner.ready is None else max(LEAST_WAIT, runner.ready - self.now)
            self._appoint(runner, self.at + min(wait, POLL), as_told=wait <= POLL and runner.ready is not None)

    def _brain_of(self, runner: _Runner) -> Brain:
        return self._apart if runner.crawler.apart else self.brain

    def _tend_now_and_then(self) -> None:
        """Tend the brain at intervals of simulated time. A worker process would tend at intervals of real time."""
        if self.at - self._tended >= TEND_EVERY:
            self._tended = self.at
            self.brain.tend(0.0, passes=False)

    # ------------------------------------------------------------ fetches

    def _fetch_all(self, runner: _Runner, claims: list[Claim]) -> None:
        for claim in claims:
            self.log.attempts += 1
            met = self.web.ask(claim.url, self.at, claim.kind)
            runner.held[claim.token + claim.key] = _Held(claim, met)
            took = max(GRID, met.phase.seconds * runner.crawler.speed)
            at = self.at + took
            at = GRID * -(-at // GRID)
            # The fetch ends with a report, unless the crawler misbehaves: it reports nothing or too late, or gives the
            # claim back.
            fate = runner.dice.random()
            drops, late, returns = runner.crawler.drops, runner.crawler.late, runner.crawler.returns
            if fate < drops:
                at = self._real(claim.until)
                self._plan(at, partial(self._forget_claim, runner, claim), 1)
            elif fate < drops + late:
                at = self._real(claim.until) + 30.0
                self._plan(at, partial(self._ended, runner, claim, at), 1)
            elif fate < drops + late + returns:
                self._plan(at, partial(self._give_back, runner, claim), 1)
            else:
                self._plan(at, partial(self._ended, runner, claim, at), 1)

    def _real(self, until: float) -> float:
        """Return the true time at which the brain's clock will show `until`, unless it jumps."""
        return self.at + max(GRID, until - self.clock.at)

    def _forget_claim(self, runner: _Runner, claim: Claim) -> None:
        """Free the place of a claim without a report."""
        if runner.held.pop(claim.token + claim.key, None) is not None:
            self._appoint(runner, self.at)

    def _give_back(self, runner: _Runner, claim: Claim) -> None:
        if runner.held.pop(claim.token + claim.key, None) is None:
            return
        if self._brain_of(runner).give_back([claim])[0]:
            name = runner.crawler.name
            self._note(Returned(self.at, self.now, name, claim.url, claim.host, claim.token, claim.kind, _home(claim)))
        self._appoint(runner, self.at)

    def _ended(self, runner: _Runner, claim: Claim, at: float) -> None:
        """End a fetch. A crawler that reports together waits for all fetches that end at this time."""
        held = runner.held.pop(claim.token + claim.key, None)
        if held is None:
            return
        if not runner.crawler.together:
            self._report(runner, [held])
            return
        waiting = self._ending.setdefault(id(runner), [])
        waiting.append(held)
        if len(waiting) == 1:
            self._plan(at, lambda: self._report(runner, self._ending.pop(id(runner))), 2)

    def _report(self, runner: _Runner, held: list[_Held]) -> None:
        if runner.away:
            return
        items = [_item(each, self.clock.at) for each in held]
        brain = self._brain_of(runner)
        answers = brain.report(items)
        if runner.dice.random() < runner.crawler.loses:
            answers = brain.report(items)
        for each, answer in zip(held, answers, strict=True):
            self._note_report(runner, each, answer)
        self._appoint(runner, self.at)

    def _note_report(self, runner: _Runner, held: _Held, answer: Answer) -> None:
        claim, phase = held.claim, held.met.phase
        self._note(
            Reported(
                self.at,
                self.now,
                runner.crawler.name,
                claim.url,
                claim.host,
                claim.token,
                phase.outcome,
                phase.status,
                phase.retry_after,
                phase.target,
                held.met.links,
                answer.accepted,
                answer.outcome,
                claim.kind,
                _home(claim),
                held.met.text,
                held.met.sitemaps,
            )
        )

    # ------------------------------------------------------------ events

    def _happen(self, event: Event, *, wake: bool = False) -> None:
        """Carry out an event, and log it if it had an effect."""
        try:
            if event.what in ANSWERED_BY:
                logged, done = True, ANSWERED_BY[event.what](self.brain, event)
            else:
                logged, done = self._do(event), True
        except BadInput:  # the brain does not know its page or host yet
            logged = done = False
        if logged:
            self._note(Happened(self.at, self.now, event.what, event.target, event.value, event.text, done))
        if wake:
            self._wake_all()

    def _do(self, event: Event) -> bool:
        """Carry out an event, and return whether it had an effect. Raise BadInput."""
        brain, target = self.brain, event.target
        if event.what == "forget":
            return brain.forget(target) is not None
        if event.what == "forget_for_ever":
            brain.forget(target, for_ever=True)
            return True  # also if the page is unknown
        if event.what == "hint":
            return any(each.accepted for each in brain.hint([target]))
        if event.what == "crawl_now":
            return any(brain.crawl_now([target]))
        if event.what == "seed":
            return not brain.seed([target]).refused
        if event.what == "retry":
            brain.retry(host=target)
            return True  # its answer does not count: after a lost answer the second attempt changes nothing
        if event.what == "retry_page":
            brain.retry(target)
            return True
        if event.what == "park":
            return brain.park(target)[0]
        return self._manage(event)

    def _manage(self, event: Event) -> bool:
        """Carry out an event of a host or a setting. Return True."""
        brain, target = self.brain, event.target
        if event.what == "block":
            brain.block(target, event.value)
        elif event.what == "unblock":
            brain.unblock(target)
        elif event.what == "robots":
            # A text that a claim has brought is for one scheme, and overrides one that is set for both schemes.
            brain.set_robots(f"http://{target}" if self.world.asks else target, event.text or None)
        elif event.what in ("deny_host", "allow_host"):
            (self._denied.add if event.what == "deny_host" else self._denied.discard)(target)
            brain.change(deny_hosts=" ".join(sorted(self._denied)))
        elif event.what == "convert":
            brain.convert_engine(event.text)
        elif event.what == "set":
            brain.change(**event.setting())
        else:
            assert event.what == "budget", event.what
            brain.change(pages_per_host=int(event.value))
        return True


def _home(claim: Claim) -> str:
    """Return the URL of a robots.txt or a sitemap before redirects; an empty text for a page."""
    if claim.kind == "page":
        return ""
    own = claim.key.partition(":")[2]
    return f"{own}/robots.txt" if claim.kind == "robots" else own


def _item(held: _Held, clock: float) -> Fetched | Failed | Resource:
    """Return the report of a fetch that has ended."""
    claim, phase = held.claim, held.met.phase
    # A fetch ends with a robots.txt or a sitemap, a page, a redirect, or a failure.
    if claim.kind != "page":
        return Resource(
            claim.url,
            claim,
            phase.status,
            held.met.body,
            phase.target,
            "" if phase.status is not None else phase.outcome,
            fault=phase.outcome if phase.status is None else None,  # type: ignore[arg-type]  # of PASSING or NONE
            retry_after=phase.retry_after,
            fetched_at=clock,
        )
    if phase.outcome == "fetched":
        return Fetched(claim.url, held.met.links, claim, body_hash=held.met.content, fetched_at=clock)
    if phase.outcome == "moved":
        return Fetched(claim.url, claim=claim, status=phase.status or 301, redirected_to=phase.target)
    error = "" if phase.status is not None else phase.outcome
    more: dict[str, Any] = {}
    if HAS_FAULT and phase.status is None:
        more["fault"] = phase.outcome
    return Failed(claim.url, claim, phase.status, error, retry_after=phase.retry_after, **more)
