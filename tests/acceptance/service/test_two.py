"""Two services on one brain, behind something that sends each request to either of them."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from graphbrain import Brain
from graphbrain.service import access
from graphbrain.service.access import HOLDS, READ_AHEAD
from tests.plugin import Neo4j, emptied, eventually
from tests.serving import bearer, serving, tokens


@pytest.fixture
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        yield brain


@pytest.fixture
def urls(neo4j: Neo4j, brain: Brain) -> Iterator[list[str]]:
    with neo4j.open(crawl="test", auto_tend=False) as other, serving(brain) as one, serving(other) as two:
        yield [one, two]


def test_a_request_that_is_repeated_at_the_other_service_counts_once(brain: Brain, urls: list[str]) -> None:
    token = bearer(tokens(brain, "crawler")["crawler"])
    brain.seed(f"http://h{number}.org/" for number in range(20))
    with httpx.Client(headers=token, timeout=60) as http:

        def post(url: str, verb: str, key: str = "", **body: Any) -> Any:
            return http.post(f"{url}/v1/{verb}", json=body, headers={"Idempotency-Key": key} if key else {}).json()

        for number, (first, second) in enumerate((urls, urls[::-1])):
            claims = post(first, "next_urls", key=f"k{number}", n=8)
            again = post(second, "next_urls", key=f"k{number}", n=8)
            assert again["repeated"] and again["claims"] == claims["claims"]
            (kept,) = post(second, "renew", claims=claims["claims"][:1])["claims"]
            reports = [{"url": claim["url"], "claim": claim, "links": []} for claim in [kept, *claims["claims"][1:]]]
            for url in (second, first, second):
                assert all(answer["accepted"] for answer in post(url, "report", reports=reports)["answers"])
    assert brain.stats()["states"]["known"] == 16 and {brain.page("http://h0.org/").visits} <= {0, 1}


def test_jobs_are_those_of_their_service(brain: Brain, urls: list[str]) -> None:
    token = bearer(tokens(brain, "operator")["operator"])
    with httpx.Client(headers={**token, "Idempotency-Key": "same"}, timeout=90) as http:
        one, other = (http.post(f"{url}/v1/audit", json={"sample": None}).json() for url in urls)
        assert one["id"] != other["id"], "the key of a job is its service's, too"
        assert http.get(f"{urls[0]}/v1/jobs/{one['id']}", params={"wait": 60}).json()["result"]["ok"]
        missing = http.get(f"{urls[1]}/v1/jobs/{one['id']}")
        assert missing.status_code == 404 and missing.json()["error"]["type"] == "NoSuchJob"
        assert [job["id"] for job in http.get(f"{urls[1]}/v1/jobs").json()["jobs"]] == [other["id"]]


def test_a_token_is_made_and_revoked_for_both(brain: Brain, urls: list[str]) -> None:
    token = access.make(brain.graph, f"both-{time.time():.0f}", "crawler", brain.now())
    (grant,) = (each for each in access.grants(brain.graph) if each.name.startswith("both-") and each.revoked is None)
    with httpx.Client(headers=bearer(token), timeout=60) as http:

        def statuses() -> list[int]:
            return [http.get(f"{url}/v1/now").status_code for url in urls]

        assert statuses() == [200, 200]
        access.revoke(brain.graph, grant.name, brain.now())
        until = time.monotonic() + HOLDS + READ_AHEAD
        eventually(lambda: statuses() == [401, 401], "both refuse it")
        assert time.monotonic() < until + 10.0


def test_crawlers_of_both_get_no_page_twice(brain: Brain, urls: list[str]) -> None:
    """An outside ledger of what crawlers were told that go to either service by turns."""
    given, pages = tokens(brain, "crawler")["crawler"], 300
    brain.seed(f"http://h{number}.org/" for number in range(pages))
    told: Counter[str] = Counter()

    def crawl(number: int) -> list[str]:
        found, turn = [], itertools.cycle(urls if number % 2 else urls[::-1])
        with httpx.Client(headers=bearer(given), timeout=90) as http:
            while True:
                key = {"Idempotency-Key": f"{number}-{len(found)}"}
                claims = http.post(f"{next(turn)}/v1/next_urls", json={"n": 1 + number % 7}, headers=key).json()[
                    "claims"
                ]
                if not claims:
                    return found
                found += [claim["url"] for claim in claims]
                reports = [{"url": claim["url"], "claim": claim, "links": []} for claim in claims]
                answers = http.post(f"{next(turn)}/v1/report", json={"reports": reports}).json()["answers"]
                assert all(answer["accepted"] for answer in answers)

    with ThreadPoolExecutor(16) as crawlers:
        for found in crawlers.map(crawl, range(16)):
            told.update(found)
    assert len(told) == pages and set(told.values()) == {1}
    assert brain.stats()["leased"] == 0 and brain.audit(None).ok


def test_a_poll_at_one_gets_what_is_brought_to_the_other(brain: Brain, urls: list[str]) -> None:
    given = tokens(brain, "operator")["operator"]
    with httpx.Client(headers=bearer(given), timeout=60) as http, ThreadPoolExecutor(1) as waiting:
        http.post(f"{urls[0]}/v1/seed", json={"urls": ["http://held.org/"]})
        assert http.post(f"{urls[0]}/v1/next_urls", json={"n": 1}).json()["claims"]
        poll = waiting.submit(http.post, f"{urls[0]}/v1/next_urls", json={"n": 1, "wait": 20})
        time.sleep(0.5)
        began = time.monotonic()
        http.post(f"{urls[1]}/v1/seed", json={"urls": ["http://late.org/"]})
        assert [claim["url"] for claim in poll.result(60).json()["claims"]] == ["http://late.org/"]
        assert time.monotonic() - began < 10.0, "it looks again each second"
