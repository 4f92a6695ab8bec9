"""The demo: its crawler against its web over HTTP on a live brain, and the whole command as a user runs it."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np
import pytest

from graphbrain import Answer, Brain, Failed, Fetched
from graphbrain.base.errors import BadInput, SchemaMismatch
from graphbrain.base.urls.normalization import spell
from graphbrain.content.relevance import TopicRelevance
from graphbrain.demo.crawler import crawl
from graphbrain.demo.pages import SEEDS, TOPICS
from graphbrain.demo.show import run_demo
from graphbrain.demo.web import Web
from graphbrain.graph.server import lifecycle
from tests.acceptance.watched_web import LISTED, WatchedWeb, hold_delay, holds_nothing
from tests.plugin import PATIENCE
from tests.verbs import top_of

ROOT = Path(__file__).resolve().parents[2]
DELAY = 0.2
SHORT = 10.0
"""Seconds of patience that end before the robots.txt of a dead host is asked for again, after 15 seconds."""
Report = tuple[Fetched | Failed, Answer]


def reachable(web: Web) -> set[str]:
    """Every page that a crawler can fetch from the seeds; the target of a redirect is a page of its own.

    The pages of a host that does not exist wait for its robots.txt.
    """
    seen, todo = set(web.seeds), list(web.seeds)
    while todo:
        url = todo.pop()
        page = web.pages.get(url)
        if page is None:
            continue  # a dead link
        if page.kind == "flaky":
            continue  # its retry is minutes away
        hrefs = (*page.links, *([page.target] if page.target else []))
        for href in filter(None, hrefs):
            try:
                found = spell(urljoin(url, href))
            except (BadInput, ValueError):
                continue
            if found not in seen:
                seen.add(found)
                todo.append(found)
    return {url for url in seen if urlsplit(url).netloc in web.hosts}


def run(brain: Brain, web: Web, settled: bool = False, **options: Any) -> list[Report]:
    """Crawl the web from its seeds; every report and its answer.

    `settled`: after each page all cash is pushed, so that what is best next does not depend on the time there was to
    tend. A host that answers late, as on a busy machine, is left alone for longer; a retry is minutes away.
    """
    reports: list[Report] = []

    def on_page(result: Fetched | Failed, answer: Answer) -> None:
        reports.append((result, answer))
        if settled:
            brain.tend(None, passes=False)

    brain.seed(web.seeds)
    crawl(brain, handlers=[web.handler()], **{"on_page": on_page, "patience": 30, **options})
    return reports


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(seed=5, pages=160) as served:
        yield served


@pytest.fixture
def polite(make_brain: Callable[..., Brain]) -> Brain:
    return make_brain(delay_seconds=DELAY)


@pytest.mark.long
@pytest.mark.nightly
def test_whole_web_is_crawled_once_politely_and_adds_up(polite: Brain, web: Web) -> None:
    reports = run(polite, web)

    assert all(answer.accepted for _, answer in reports)
    counts = Counter(spell(result.url) for result, _ in reports)
    busy = {page.url for page in web.pages.values() if page.kind == "busy"}
    assert set(counts) == reachable(web)
    assert {url for url, count in counts.items() if count > 1} == busy
    statuses = Counter(result.status for result, _ in reports)
    assert set(statuses) == {200, 301, 302, 404, 500, 503}

    for page in web.pages.values():
        if page.kind == "moved":
            known = polite.page(page.url)
            assert (known.state, known.redirects_to) == ("alias", urljoin(page.url, page.target))
        elif page.kind in ("page", "busy") and page.url in counts:
            assert polite.page(page.url).state == "known"
    assert polite.page("http://notes.example/today").state == "known", "only a temporary redirect leads there"
    refused = [why for _, answer in reports for _, why in answer.links_refused]
    assert len(refused) == 6 and all(refused)

    stats = polite.stats()
    assert stats["leased"] == 0
    assert polite.page("http://vanished.example/").state == "frontier"  # its robots.txt cannot be had
    assert stats["waiting"] == stats["states"]["known"] + 1  # to be fetched again, tomorrow
    assert stats["pages"] == len(counts) + 1
    polite.tend(None)
    audit = polite.audit(None)
    assert audit.ok, audit.findings
    hold_to_politeness(polite, web, reports)


def hold_to_politeness(brain: Brain, web: Web, reports: list[Report]) -> None:
    granted: dict[str, list[float]] = {}
    for result, _ in reports:
        assert result.claim is not None
        moment = result.claim.until - brain.settings.lease_seconds
        granted.setdefault(result.claim.host, []).append(moment)
    for host, times in granted.items():
        gaps = [later - earlier for earlier, later in pairwise(sorted(times))]
        assert all(gap >= DELAY - 1e-3 for gap in gaps), (host, min(gaps))
    # The web sees the requests some time after the claims, so that single gaps can be shorter.
    asked = ((visit.host, visit.when) for visit in web.visits if visit.url != "http://notes.example/today")
    hold_delay(asked, DELAY)


def test_a_crawl_for_a_topic_finds_more_of_it(make_brain: Callable[..., Brain], web: Web) -> None:
    """Of the first 60 pages, at least twice the share that the web has; what was judged stands on the pages."""
    judge = TopicRelevance.from_words(TOPICS["birds"][0])
    found: dict[bool, int] = {}
    for focused in (True, False):
        brain = make_brain()
        reports = run(brain, web, settled=True, threads=1, limit=60, judge=judge if focused else None)
        pages = [web.pages.get(result.url) for result, _ in reports]
        found[focused] = sum(page is not None and page.topic == "birds" for page in pages)
        told = {result.url: result.relevance for result, _ in reports if isinstance(result, Fetched)}
        assert all(brain.page(url).relevance == near for url, near in told.items() if near is not None)
        assert (set(told.values()) == {None}) != focused
        guessed = [brain.page(url).relevance for url in set(web.pages) & known(brain) - set(told)]
        assert guessed and all((guess is not None) == focused for guess in guessed)
    share = sum(page.topic == "birds" for page in web.pages.values()) / len(web.pages)
    assert found[True] > max(2 * 60 * share, 1.5 * found[False]), (found, share)


def test_a_judge_that_fails_ends_nothing(brain: Brain, web: Web, caplog: pytest.LogCaptureFixture) -> None:
    """What it cannot tell is not known, and that is said once; a number of numpy's is one."""

    def judge(text: str) -> Any:
        if len(text) % 3 == 0:
            raise KeyError("no idea")
        return np.float32(0.25)

    reports = run(brain, web, limit=40, judge=judge)
    assert len(reports) == 40
    assert all(answer.accepted for _, answer in reports), reports
    assert {result.relevance for result, _ in reports if isinstance(result, Fetched)} == {None, 0.25}
    assert caplog.text.count("The judge failed") == 1


def test_robots_are_read_before_pages_and_obeyed(make_brain: Callable[..., Brain], web: Web) -> None:
    """Of each origin once, by whichever crawler comes first; nobody is asked for what they forbid."""
    brain = make_brain(user_agent="MyBot/1.0 (+http://a.example/)")
    web.robots = {
        "birds.example": "User-agent: mybot\nDisallow: /guide/\n",
        "stars.example": "User-agent: *\nDisallow: /\n",
        "bread.example": "User-agent: other\nDisallow: /\n",
    }
    run(brain, web, limit=60)
    reports = run(brain, web, patience=SHORT)
    assert all(answer.accepted for _, answer in reports)
    asked = set(web.asked)
    assert not [url for url in asked if url.startswith("http://birds.example/guide/")]
    assert {url for url in asked if url.startswith("http://stars.example/")} == {"http://stars.example/robots.txt"}
    assert "http://bread.example/" in asked and "http://birds.example/" in asked
    robots = {url: times for url, times in web.asked.items() if url.endswith("/robots.txt")}
    assert set(robots) == {f"http://{host}/robots.txt" for host in web.hosts | {"vanished.example"}}
    robots.pop("http://vanished.example/robots.txt")  # no answer: it is asked again when that host is probed
    assert set(robots.values()) == {1}, robots
    for host in web.hosts:
        assert next(visit.url for visit in web.visits if visit.host == host) == f"http://{host}/robots.txt"
    stats = brain.stats()
    assert stats["leased"] == 0 and stats["states"]["outside"] > 6
    assert brain.page("http://stars.example/").outside_because == "robots"


@pytest.mark.long
def test_pages_wait_while_a_robots_txt_cannot_be_had(brain: Brain, web: Web) -> None:
    busy = web.pages["http://bread.example/today"]
    web.pages["http://birds.example/robots.txt"] = replace(busy, url="http://birds.example/robots.txt", fails=1_000)
    run(brain, web, limit=150, patience=5)
    asked = {url for url in web.asked if url.startswith("http://birds.example/")}
    assert asked == {"http://birds.example/robots.txt"}
    assert {page.status for page in brain.find(host="birds.example", limit=1_000)} == {None}
    assert holds_nothing(brain)


@pytest.mark.long
@pytest.mark.nightly
def test_a_web_with_hosts_that_fail_comes_to_an_end(polite: Brain) -> None:
    """One host is dead, the robots.txt of another is always 503, and that of a third is 500 at first. The crawl waits
    for a host that fails as long as its patience is, and no longer, though it is asked again every 15 seconds."""
    fails = {"birds.example": [503] * 1_000, "bread.example": [500]}
    with WatchedWeb(seed=5, pages=120, dead=["trains.example", "vanished.example"], fails=fails) as web:
        began = time.monotonic()
        reports = run(polite, web, patience=20)
        assert time.monotonic() - began < PATIENCE
    assert all(answer.accepted for _, answer in reports) and all(result.claim.kind == "page" for result, _ in reports)  # type: ignore[union-attr]
    for host in ("birds.example", "trains.example", "vanished.example"):
        assert {each.url for each in web.requests if each.host == host} == {f"http://{host}/robots.txt"}
    good = web.hosts - {"birds.example", "trains.example"}
    listed = {each.url for each in web.requests if each.url.endswith(LISTED)}
    assert listed == {f"http://{host}{LISTED}" for host in good}
    web.judge(DELAY)
    assert holds_nothing(polite)
    assert not polite.next_urls(1).finished, "hosts that fail are not forgotten"
    polite.tend(None)
    audit = polite.audit(None)
    assert audit.ok, audit.findings


def test_the_limit_counts_pages_alone(brain: Brain, web: Web) -> None:
    web.robots = dict.fromkeys(web.hosts, "Sitemap: /a.xml\nSitemap: /b.xml\n")
    for limit in (1, 3, 12):
        assert len(run(brain, web, limit=limit)) == limit
        assert holds_nothing(brain)


def test_an_error_of_the_callers_own_gives_the_claims_back(brain: Brain, web: Web) -> None:
    """Also one of graphbrain's, unless the brain cannot be reached."""

    def on_page(result: Fetched | Failed, _: Answer) -> None:
        if result.url != SEEDS[0]:
            raise BadInput("the caller's own")

    with pytest.raises(BadInput):
        run(brain, web, on_page=on_page)
    assert holds_nothing(brain)


def known(brain: Brain) -> set[str]:
    """Every page of which the brain knows."""
    return {page.url for page in top_of(brain, 10_000)}


def test_limit_is_exact_and_nothing_stays_claimed(brain: Brain, web: Web) -> None:
    assert len(run(brain, web, limit=30)) == 30
    assert brain.stats()["leased"] == 0
    assert len(run(brain, web, limit=1)) == 1


def test_stopped_crawl_gives_back_and_goes_on_where_it_was(brain: Brain, web: Web) -> None:
    stop, first = threading.Event(), list[str]()

    def on_page(result: Fetched | Failed, _: Answer) -> None:
        first.append(spell(result.url))
        if len(first) >= 20:
            stop.set()

    run(brain, web, stop=stop, on_page=on_page)
    assert 20 <= len(first) <= 20 + 8
    assert brain.stats()["leased"] == 0
    rest = [spell(result.url) for result, _ in run(brain, web, patience=SHORT)]
    assert not set(first) & set(rest)
    assert set(first) | set(rest) == reachable(web)


def test_interrupted_crawl_gives_its_claims_back(brain: Brain, web: Web) -> None:
    def on_page(result: Fetched | Failed, _: Answer) -> None:
        if result.url != SEEDS[0]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(brain, web, on_page=on_page)
    assert brain.stats()["leased"] == 0


def test_two_crawlers_share_one_web(neo4j: Any, brain: Brain, web: Web) -> None:
    reports: list[list[Report]] = [[], []]
    first = threading.Event()  # one begins alone: while it holds all there is, the other would find nothing and end
    both = threading.Barrier(2)  # neither gets beyond its first page before the other has one

    def one(number: int) -> None:
        def on_page(result: Fetched | Failed, answer: Answer) -> None:
            reports[number].append((result, answer))
            if len(reports[number]) == 1:
                first.set()
                both.wait(PATIENCE)

        assert number == 0 or first.wait(PATIENCE)
        with neo4j.open(crawl="test", auto_tend=False) as own:
            run(own, web, threads=4, on_page=on_page, patience=SHORT)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(reports)
    told = [(spell(result.url), result, answer) for done in reports for result, answer in done]
    assert all(answer.accepted for _, _, answer in told)
    assert {url for url, _, _ in told} == reachable(web)
    # What has failed, as a fetch may on a busy machine, is tried again.
    fetched = Counter(url for url, result, _ in told if isinstance(result, Fetched))
    twice = {url for url, count in fetched.items() if count > 1}
    assert not twice, [each for each in told if each[0] in twice]
    brain.tend(None)
    assert brain.audit(None).ok


def test_demo_refuses_a_brain_that_is_not_its_own(neo4j: Any, brain: Brain) -> None:
    brain.seed(["http://precious.example/"])
    login = {"user": neo4j.user, "password": neo4j.password}
    with pytest.raises(SchemaMismatch, match="holds another crawl") as refusal:
        run_demo(uri=neo4j.uri, **login)
    assert str(refusal.value).count(". ") == 0, "one sentence"
    assert brain.page("http://precious.example/").state == "frontier"


# ---------------------------------------------------------------- the whole command


@contextmanager
def demo(data: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`graphbrain demo` in a directory of its own, in a process group of its own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_")}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**kept, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "80"}
    # What a shell set up for another crawl must not matter.
    environment |= {"GRAPHBRAIN_ALLOW_HOSTS": "example.org", "GRAPHBRAIN_URI": "bolt://127.0.0.1:9"}
    process = subprocess.Popen(
        [sys.executable, "-m", "graphbrain", "demo", "--data", str(data), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.fixture
def home(neo4j: Any, tmp_path: Path) -> Iterator[Path]:
    if neo4j.data is None:
        pytest.skip("THE DEMO IS NOT TESTED: it starts its own server, and this run was given another")
    yield tmp_path / "demo"
    lifecycle.stop(tmp_path / "demo")


@pytest.mark.long
def test_demo_from_start_to_end(home: Path) -> None:
    """One crawler is killed, nothing is lost, and its server ends with it."""
    with demo(home, "--pages", "150") as process:
        out, talk = process.communicate(timeout=2 * PATIENCE)
        assert process.returncode == 0, (out, talk)
        assert lifecycle.find(home) is None
        assert all(len(line) <= 80 for line in out.splitlines() if not line.startswith("  graphbrain"))
        assert "Traceback" not in talk and "Neo4j answers, after" in talk
        hubs, authorities = out.split("top 10 authorities")
        assert hubs.count("links.example/") >= 5
        assert re.search(r"\d+\.\d\d +\d+  (birds|stars|bread|trains|gardens)\.example/guide/", authorities)
        # The line is wrapped at 80 columns: words are compared, not line ends.
        fetched = re.search(
            r" fetched (\d+) pages in \d+ s, by two crawlers: (\d+) and (\d+) requests"
            r"(?:, (\d+) of them for pages that had failed or that the killed one held)? shared ",
            " ".join(out.split()),
        )
        assert fetched, out
        pages, one, two, again = (int(number or 0) for number in fetched.groups())
        assert pages >= 150 and min(one, two) > 5 and one + two == pages + again
        assert re.search(r"^shared +no page was held by both at once, none was recorded twice$", out, re.M)
        killed = re.search(r"^Crawler 1 is killed \(kill -9 \d+\) and held (\d+) pages?; crawler 2 goes on", talk, re.M)
        assert killed and re.search(rf"^killed +crawler 1, while it held {killed[1]} page", out, re.M)
        assert out.count("nothing was lost") == 1 and "WRONG" not in out
        assert re.search(r"^scores +right: all ", out, re.M)
        # What will not be there in a moment is not named; how to have it back is.
        assert "http://127.0.0.1:" not in out and "password" not in out
        assert "--keep" in out and f"\n  graphbrain server start --data {home}\n" in out


@pytest.mark.long
@pytest.mark.nightly
def test_a_demo_beside_a_server_that_runs_leaves_it_running(home: Path) -> None:
    """It deletes the pages of the demo before it, and the commands that it names work."""
    running = lifecycle.start(home, memory=1024)
    for _ in range(2):
        with demo(home, "--pages", "120") as made:
            out, talk = made.communicate(timeout=2 * PATIENCE)
        assert made.returncode == 0, (out, talk)
        assert f"A Neo4j runs in {home} already: it is used, and will be left running." in talk
    assert re.search(r"^The \d+ pages of the demo before this one are deleted\.$", talk, re.M)
    assert "Stopping" not in talk and "left running" in out
    assert (running.browser in out) and (running.password in out) and "MATCH p = " in out
    for command in re.findall(r"^  (graphbrain .*)$", out, re.M)[:-1]:
        words = [sys.executable, "-m", *shlex.split(command)]
        assert subprocess.run(words, capture_output=True, timeout=PATIENCE).returncode == 0, command
    assert out.endswith(f"  graphbrain server stop --data {home}\n")


@pytest.mark.long
@pytest.mark.nightly
def test_demo_interrupted_leaves_nothing_running(home: Path) -> None:
    with demo(home) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Crawling"):
                break
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)
        _, talk = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, talk
        assert "Stopped: claims are given back" in talk
        assert lifecycle.find(home) is None
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
