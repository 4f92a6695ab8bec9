"""Crawlers in Go, in JavaScript and in Python on one brain, by its service, and one by Scrapy: every page once, and
politely; robots.txt and sitemaps, too."""

from __future__ import annotations

import contextlib
import html
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from graphbrain import Brain, Client, Failed, Fetched
from graphbrain.base.model import Claim, Claims
from graphbrain.demo.web import Web
from tests.acceptance.scrapy_processes import Spiders, ended
from tests.acceptance.watched_web import INDEX, LISTED, PAGES, WatchedWeb, holds_nothing
from tests.plugin import PATIENCE, Neo4j, emptied, eventually
from tests.serving import serving, tokens

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
KINDS = ("page", "robots", "sitemap")
DAY = 86_400.0
DELAY = 0.6
"""Seconds between two claims of a host. On their way to the web two requests may come nearer to each other."""


def commands(folder: Path) -> dict[str, list[str]]:
    """The examples whose language is here: the Go one is built."""
    found = {}
    if go := shutil.which("go"):
        program = folder / "crawler"
        subprocess.run([go, "build", "-o", program, EXAMPLES / "go" / "crawler.go"], check=True, timeout=300)
        found["go"] = [str(program)]
    if node := shutil.which("node"):
        found["javascript"] = [node, str(EXAMPLES / "javascript" / "crawler.mjs")]
    return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The examples whose language is here, of which there is one."""
    found = commands(tmp_path_factory.mktemp("programs"))
    if not found:
        pytest.skip("neither Go nor Node is here")
    return found


@pytest.fixture
def both(programs: dict[str, list[str]]) -> dict[str, list[str]]:
    """The examples of both languages."""
    if missing := sorted({"go", "javascript"} - programs.keys()):
        pytest.skip(f"not on the PATH: {', '.join(missing)}")
    return programs


def fetch(web: Web, claim: Claim) -> Fetched | Failed:
    """What is claimed, as the crawlers in other languages fetch it."""
    try:
        status, headers, body = web.answer(claim.url, {})
    except ConnectionAbortedError as error:
        return Failed(claim.url, claim, error=str(error))
    if 300 <= status < 400:
        return Fetched(claim.url, (), claim, status, redirected_to=headers["Location"])
    if status >= 400:
        return Failed(claim.url, claim, status, retry_after=headers.get("Retry-After"))
    links: list[str] = []
    if claim.kind != "page":
        return Fetched(claim.url, links, claim, status, body)
    for link in re.findall(rb"""<a\s[^>]*href\s*=\s*["']?([^"'\s>]+)""", body):
        with contextlib.suppress(ValueError):
            links.append(urljoin(claim.url, html.unescape(link.decode())))
    return Fetched(claim.url, links, claim, body=body)


@pytest.mark.long
def test_every_page_once_and_no_host_too_early(
    neo4j: Neo4j, spiders: Spiders, both: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no page before the robots.txt of its origin, of which one does not answer at first, and one redirects
    to another host; and sitemaps, too."""
    hosts = "links.example lexicon.example notes.example birds.example trains.example"
    given = {"delay_seconds": DELAY, "order": "best_first", "allow_hosts": hosts, "max_errors": 1}
    ill = WatchedWeb(pages=120, fails={"lexicon.example": [None]}, moved={"notes.example": "links.example"})
    with ill as web, emptied(neo4j, **given) as brain:
        brain.seed(web.seeds)
        token = tokens(brain, "crawler")["crawler"]
        given_out: list[Claim] = []
        claim = brain.combined.next_urls

        def noted(*asked: Any, **named: Any) -> Future[Claims] | None:
            soon = claim(*asked, **named)
            assert soon is not None, "they ask for a few pages"
            soon.add_done_callback(lambda answer: given_out.extend(answer.result()))
            return soon

        monkeypatch.setattr(brain.combined, "next_urls", noted)
        with serving(brain) as url:
            env = environment(url, web, token)
            wanted = {"start_urls": web.seeds, "GRAPHBRAIN_KINDS": KINDS, "GRAPHBRAIN_PATIENCE": 60}
            spider = spiders.start("honest", None, proxy=f"http://{web.proxy}", CONCURRENT_REQUESTS=3, **wanted)
            # Else the others may hold every page before it has begun, for longer than its patience.
            eventually(lambda: any(each.url in web.seeds for each in web.requests), "Scrapy's first page", spider)
            running = {
                language: subprocess.Popen(
                    program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
                )
                for language, program in both.items()
            }

            stop = threading.Event()

            def crawl() -> None:
                with Client(url, token) as client:
                    while not stop.is_set() and not (claims := client.next_urls(3, wait=10.0, kinds=KINDS)).finished:
                        client.report([fetch(web, claim) for claim in claims])

            with ThreadPoolExecutor(2) as threads:
                python = [threads.submit(crawl) for _ in range(2)]
                try:
                    _, log = ended(spider)
                    told = {language: process.communicate(timeout=PATIENCE) for language, process in running.items()}
                    for each in python:
                        each.result(PATIENCE)
                finally:
                    stop.set()
                    for process in running.values():
                        process.kill()
        for language, process in running.items():
            assert process.returncode == 0, (language, told[language])
            fetched = [int(count) for count in re.findall(r"^(\d+) pages", told[language][0], re.MULTILINE)]
            assert max(fetched) > 0, f"{language} had its share: {told[language]}"
        assert re.search(r"'graphbrain/reported': [1-9]", log), f"Scrapy had its share: {log[-3000:]}"
        _judge(brain, web, given_out)


@pytest.mark.long
def test_a_crawler_ends_though_a_dead_link_is_to_be_tried_again(neo4j: Neo4j, programs: dict[str, list[str]]) -> None:
    for language, program in programs.items():
        with Web(pages=120) as web, emptied(neo4j, delay_seconds=0.0, allow_hosts="links.example") as brain:
            brain.seed(["http://links.example/nowhere"])
            with serving(brain) as url:
                env = environment(url, web, tokens(brain, "crawler")["crawler"])
                ran = subprocess.run(program, env=env, capture_output=True, text=True, timeout=100)
            assert ran.returncode == 0 and "1 pages" in ran.stdout.splitlines(), (language, ran)
            left = brain.next_urls(1)
            assert not left.finished and left.next_unfailed is None and left.next_ready is not None


@pytest.mark.long
def test_ctrl_c_gives_back_what_is_just_being_claimed(
    neo4j: Neo4j, programs: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for language, program in programs.items():
        with Web(pages=120) as web, emptied(neo4j, delay_seconds=0.0, allow_hosts="links.example") as brain:
            brain.seed(["http://links.example/"])
            brain.block("links.example", 3_600)
            asked, claim = threading.Event(), brain.combined.next_urls

            def noted(*given: Any, asked: threading.Event = asked, claim: Any = claim, **named: Any) -> Any:
                asked.set()
                return claim(*given, **named)

            with monkeypatch.context() as patch, serving(brain) as url:
                patch.setattr(brain.combined, "next_urls", noted)
                env = environment(url, web, tokens(brain, "crawler")["crawler"])
                process = subprocess.Popen(program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                try:
                    assert asked.wait(PATIENCE)
                    process.send_signal(signal.SIGINT)
                    brain.unblock("links.example")
                    told = process.communicate(timeout=PATIENCE)
                finally:
                    process.kill()
            assert process.returncode != 0 and "given back" in told[1], (language, told)
            assert brain.stats()["leased"] == 0, (language, told)


def environment(url: str, web: Web, token: str) -> dict[str, str]:
    """What an example needs to crawl `web` by the service at `url`."""
    env = {name: value for name, value in os.environ.items() if name.lower() not in ("no_proxy", "http_proxy")}
    return env | {
        "GRAPHBRAIN_SERVICE_URL": url,
        "GRAPHBRAIN_SERVICE_TOKEN": token,
        "http_proxy": f"http://{web.proxy}",
    }


def _judge(brain: Brain, web: WatchedWeb, claims: list[Claim]) -> None:
    answered = [visit.url for visit in web.visits if visit.status == 200]
    kinds = {page.url: page.kind for page in web.pages.values()}
    # A crawler follows the temporary redirect to this page, which is claimed as a page of its own, too.
    followed = Counter({"http://notes.example/today": 1})
    twice = {url for url in answered if answered.count(url) > 1 + followed[url]}
    assert not twice, {url: kinds.get(url) for url in twice}
    states = brain.stats()["states"]
    assert set(states) <= {"known", "alias", "outside", "gone", "parked"} and states["known"] > 30
    for host in brain.settings.allow_hosts.split():
        # All leases are of one length, from the moment that the delay is counted from.
        when = sorted(claim.until for claim in claims if claim.host == host)
        early = [later - before for before, later in pairwise(when) if later - before < DELAY - 1e-3]
        assert not early, (host, early)
        assert sum(visit.host == host for visit in web.visits) > 5, host
        assert web.asked[f"http://{host}{LISTED}"] == 1, "its sitemap names it"
    assert web.asked["http://lexicon.example/robots.txt"] == 2
    web.judge(DELAY)
    assert holds_nothing(brain)
    assert brain.audit(None).ok


@pytest.mark.long
@pytest.mark.nightly
def test_what_has_not_changed_is_not_sent_again(neo4j: Neo4j, programs: dict[str, list[str]]) -> None:
    """Two days later the examples ask for changes alone, of pages and of sitemaps."""
    for language, program in programs.items():
        ahead = 0.0
        brain = neo4j.open(crawl="test", auto_tend=False, clock=lambda: time.time() + ahead)  # noqa: B023  # as it is now
        with WatchedWeb(pages=120) as web, brain:
            brain.clear()
            brain.remake(delay_seconds=0.0, allow_hosts="links.example", revisit_seconds=DAY, change="body")
            brain.seed(["http://links.example/"])
            token = tokens(brain, "crawler")["crawler"]
            for days in (0, 2):
                ahead = days * DAY
                with serving(brain) as url:
                    env = environment(url, web, token)
                    ran = subprocess.run(program, env=env, capture_output=True, text=True, timeout=100)
                    assert ran.returncode == 0, (language, ran)
            again = {visit.url for visit in web.visits if visit.status == 304}
            assert {f"http://links.example{path}" for path in (INDEX, PAGES, LISTED)} == again, (language, again)
            assert brain.page(f"http://links.example{LISTED}").visits == 2
            named = {row[-1]: row for row in brain.ask("sitemaps", host="links.example").rows}
            assert {named[url][0] for url in named} == {"read"}, named
            assert holds_nothing(brain) and brain.audit(None).ok


@pytest.mark.long
@pytest.mark.nightly
def test_a_paused_brain_is_neither_an_end_nor_a_busy_loop(
    neo4j: Neo4j, programs: dict[str, list[str]], tmp_path: Path
) -> None:
    """The examples say once that nothing is handed out, ask seldom, and go on after 'resume'."""
    for language, program in programs.items():
        with Web(pages=120) as web, emptied(neo4j, delay_seconds=0.0, allow_hosts="links.example") as brain:
            brain.seed(["http://links.example/"])
            brain.pause()
            with serving(brain) as url:
                env = environment(url, web, tokens(brain, "crawler")["crawler"])
                asked: list[str] = []
                with brain.graph.trace(lambda name, *_, asked=asked: asked.append(name)):
                    running = subprocess.Popen(
                        program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
                    )
                    try:
                        with pytest.raises(subprocess.TimeoutExpired):
                            running.communicate(timeout=15)
                        assert len(asked) < 200 and not web.visits, (language, len(asked))
                        brain.resume()
                        out, errors = running.communicate(timeout=200)
                    finally:
                        running.kill()
            assert running.returncode == 0 and web.visits, (language, out, errors)
            assert errors.count("the brain is paused") + errors.count("The brain is paused") == 1, (language, errors)


@pytest.mark.parametrize("language", ["go", "javascript"])
def test_a_service_that_does_not_answer_is_named(tmp_path: Path, language: str) -> None:
    if language not in (programs := commands(tmp_path)):
        pytest.skip(f"{language} is not here")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    alone = subprocess.run(programs[language], env=env, capture_output=True, text=True, timeout=60)
    assert (
        alone.returncode == 1 and "GRAPHBRAIN_SERVICE_URL" in alone.stderr and "docs/tutorials/http.md" in alone.stderr
    )
    env |= {"GRAPHBRAIN_SERVICE_URL": "http://127.0.0.1:9", "GRAPHBRAIN_SERVICE_TOKEN": "x"}
    with pytest.raises(subprocess.TimeoutExpired) as stopped:
        subprocess.run(programs[language], env=env, capture_output=True, timeout=3)
    assert (stopped.value.stderr or b"").count(b"does not answer") == 1, stopped.value.stderr
