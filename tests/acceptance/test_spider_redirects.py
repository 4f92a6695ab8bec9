"""Redirects that the add-on follows for a spider: each step keeps the scope, robots.txt and the delay of its host."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping

import pytest

from graphbrain import Brain
from tests.acceptance.listening import answering
from tests.acceptance.scrapy_processes import Spiders

HOSTS, OUTSIDE, START = ("a.example", "b.example"), "out.example", "http://a.example/"
DELAY, SLACK = 0.4, 0.6
CHAINS = 8
ROBOTS = "User-agent: *\nDisallow: /private/\n"


def drawn(dice: random.Random) -> tuple[dict[str, tuple[int, str]], dict[str, str]]:
    """Return page → (status, target) of steps, 200 for a refresh; and first page of a chain → its end, empty if a step
    on the way must not be followed."""
    steps: dict[str, tuple[int, str]] = {}
    ends: dict[str, str] = {}
    for number in range(CHAINS):
        length = number % 4 + 1
        start = at = f"{START}start/{number}"
        fault = ("", "/private", "out")[number % 3]
        wrong = dice.randrange(length) if fault else length
        for step in range(min(length, wrong + 1)):
            host = OUTSIDE if step == wrong and fault == "out" else dice.choice(HOSTS)
            folder = fault if step == wrong and fault == "/private" else ""
            target = f"http://{host}{folder}/{number}/{step}"
            steps[at] = dice.choice((200, 302, 303, 307)), target
            at = target
        ends[start] = "" if fault else at
    return steps, ends


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_each_step_keeps_scope_robots_txt_and_delay(
    make_brain: Callable[..., Brain], spiders: Spiders, seed: int
) -> None:
    """Also a refresh. What is not followed reaches no callback, and is no failure of the page that leads there."""
    steps, ends = drawn(random.Random(seed))
    visits: dict[str, list[tuple[float, str]]] = defaultdict(list)
    lock = threading.Lock()

    def answer(url: str, _sent: str, _cookies: str) -> tuple[int, Mapping[str, str], str]:
        host, path = url.removeprefix("http://").split("/", 1)
        if path == "robots.txt":
            return 200, {"Content-Type": "text/plain"}, ROBOTS
        with lock:
            visits[host].append((time.monotonic(), path))
        if url == START:
            return 200, {}, "".join(f"<a href={start}>x</a>" for start in ends)
        status, target = steps.get(url, (200, ""))
        if status == 200 and target:
            return 200, {}, f'<meta http-equiv=refresh content="0; url={target}"><p>moved'
        return status, {"Location": target} if target else {}, f"<p>The end of {url}."

    with make_brain(delay_seconds=DELAY, allow_hosts=" ".join(HOSTS)) as brain, answering(answer) as proxy:
        start: dict[str, object] = {"start_urls": [START], "GRAPHBRAIN_KINDS": "page,robots"}
        items, log = spiders.run("links", None, proxy=f"http://{proxy}", **start)
        asked = [path for host in visits for _, path in visits[host]]
        assert OUTSIDE not in visits and not any(path.startswith("private/") for path in asked), visits
        brought = {item["claim"]: item["url"] for item in items}
        assert {start: brought.get(start, "") for start in ends} == ends, log
        for host in HOSTS:
            times = [at for at, _ in visits[host]]
            assert times[-1] - times[0] > DELAY * (len(times) - 1) - SLACK, (host, visits[host])
        assert not [page.url for page in brain.find(limit=500) if page.errors]
        assert brain.stats()["leased"] == 0 and brain.audit(None).ok
