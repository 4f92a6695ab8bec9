"""Questions, findings and the summary over HTTP: what `Brain` answers, within bounds of time and number."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from graphbrain import Brain, Failed, Fetched
from graphbrain.base.errors import Cancelled
from graphbrain.base.records import Asked
from graphbrain.service.app import Terms
from graphbrain.service.backend import Backend
from graphbrain.service.door import Limits
from tests.plugin import Neo4j, emptied, eventually
from tests.serving import bearer, serving

A, B = "http://a.org/", "http://a.org/b"
FOR_EVER = "UNWIND range(1, 1000000000000) AS x WITH x WHERE x % 7 = 8 RETURN count(x) AS count"
UNDER_WAY = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.work = 'test/for_ever' RETURN count(*) AS count"


@pytest.fixture(scope="module")
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        title = "=1+1, \"<b>\" 'é'"
        brain.report([Fetched(A, [B], title=title), Failed(B, status=404), Fetched("http://a.org/c", [A], title=title)])
        yield brain


@pytest.fixture(scope="module")
def url(brain: Brain, given: dict[str, str]) -> Iterator[str]:
    assert given
    with serving(brain, Terms(Limits(questions=3, question_seconds=30.0))) as url:
        yield url


@pytest.fixture
def reader(url: str, given: dict[str, str]) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers=bearer(given["analyst"]), timeout=60.0) as http:
        yield http


@pytest.fixture
def for_ever(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a question there is no answer: a statement that does not end."""

    def ask(name: str, /, **_: Any) -> Asked:
        brain.graph.read(lambda tx: tx.ask(name, FOR_EVER, {}), "test/for_ever")
        raise AssertionError

    monkeypatch.setattr(brain, "ask", ask)


def under_way(brain: Brain) -> int:
    count: int = brain.graph.read(lambda tx: tx.ask("count", UNDER_WAY, {}), "count")[1][0][0]
    return count


def test_questions_are_answered_as_by_the_brain(brain: Brain, reader: httpx.Client) -> None:
    told = reader.get("/v1/questions").json()["questions"]
    assert told == json.loads(json.dumps(brain.questions())) and len(told) > 60
    for name in ("states", "new-pages", "broken-links", "orphans", "depth"):
        own, found = brain.ask(name), reader.get(f"/v1/ask/{name}").json()
        assert (tuple(found["columns"]), found["cut"], found["note"]) == (own.columns, own.cut, own.note), name
        assert len(found["rows"]) == len(own.rows) > 0, name


def test_json_and_csv_say_the_same_and_csv_has_no_formula(brain: Brain, reader: httpx.Client) -> None:
    asked = {"limit": "1", "host": "A.org"}
    (row,) = reader.get("/v1/ask/same-titles", params=asked).json()["rows"]
    assert row[3].startswith("=1+1") and row[:3] == [2, 0, "a.org"]
    answer = reader.get("/v1/ask/same-titles", params={**asked, "format": "csv"})
    assert answer.headers["content-type"].startswith("text/csv") and answer.headers["graphbrain-cut"] == "false"
    head, line = csv.reader(io.StringIO(answer.text))
    assert tuple(head) == brain.ask("same-titles").columns and line[3] == "'" + row[3]
    cut = reader.get("/v1/ask/states", params={"format": "csv"})
    assert cut.headers["graphbrain-cut"] == "false"
    orphans = reader.get("/v1/ask/orphans", params={"limit": 0, "format": "csv"})
    assert orphans.headers["graphbrain-cut"] == "true"
    # The header has the note, which is there only while pages wait for a first visit.
    assert orphans.headers.get("graphbrain-note", "") == brain.ask("orphans").note
    pages = reader.get("/v1/ask/who-pays", params={"url": brain.page(B).key}).json()
    assert pages["rows"], "a page may be named by its key"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("ask/nothing", 404, "There is no question 'nothing'"),
        ("ask/states?nope=1", 400, "has no parameter 'nope'"),
        ("ask/same-titles?limit=x", 400, "limit must be a whole number"),
        ("ask/same-titles?limit=1&limit=2", 400, "given twice"),
        ("ask/same-titles?format=xml", 400, "format"),
        ("ask/who-pays?url=http://nowhere.org/", 404, "is not in the graph"),
        ("ask/same-titles?host=nowhere.org", 404, "nowhere.org"),
        ("summary?since=9e15", 400, "future"),
    ],
)
def test_wrong_questions(reader: httpx.Client, path: str, status: int, words: str) -> None:
    answer = reader.get(f"/v1/{path}")
    assert answer.status_code == status and words in answer.json()["error"]["message"]


def test_crawlers_ask_nothing(url: str, given: dict[str, str]) -> None:
    for path in ("questions", "ask/states", "findings", "summary"):
        answer = httpx.get(f"{url}/v1/{path}", headers=bearer(given["crawler"]))
        assert answer.status_code == 403, path
        assert httpx.get(f"{url}/v1/{path}").status_code == 401, path


def test_the_summary_is_a_page_that_runs_nothing(reader: httpx.Client) -> None:
    answer = reader.get("/v1/summary")
    assert answer.headers["content-type"].startswith("text/html") and answer.text.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in (policy := answer.headers["content-security-policy"]) and "sandbox" in policy


def test_findings_are_those_of_the_brain(brain: Brain, reader: httpx.Client) -> None:
    told = reader.get("/v1/findings").json()["findings"]
    assert told == [each.as_dict() for each in brain.findings()]
    assert {"failing", "broken-links"} & {each["question"] for each in told}


@pytest.mark.usefixtures("for_ever")
def test_a_question_ends_when_nobody_waits_for_it(brain: Brain, reader: httpx.Client) -> None:
    def ask() -> None:
        with suppress(httpx.TimeoutException):
            reader.get("/v1/ask/states", timeout=2.0)

    thread = threading.Thread(target=ask)
    thread.start()
    eventually(lambda: under_way(brain) == 1, "it is asked")
    busy = reader.get("/v1/ask/states")
    assert busy.status_code == 503 and "by this token alone" in busy.json()["error"]["message"]
    thread.join()
    eventually(lambda: under_way(brain) == 0, "and ends in Neo4j")


@pytest.mark.usefixtures("for_ever")
def test_a_question_takes_no_longer_than_it_may(brain: Brain, given: dict[str, str]) -> None:
    with serving(brain, Terms(Limits(question_seconds=1.0))) as url:
        began = time.monotonic()
        answer = httpx.get(f"{url}/v1/ask/states", headers=bearer(given["analyst"]), timeout=60.0)
        assert answer.status_code == 503 and answer.json()["error"]["type"] == "Cancelled"
        assert answer.json()["error"]["message"] == "It took more than 1 s; ask for less."
        assert time.monotonic() - began > 1.0 and under_way(brain) == 0


@pytest.mark.usefixtures("for_ever")
def test_a_service_that_stops_waits_for_no_answer(brain: Brain) -> None:
    async def stop() -> None:
        backend = Backend(brain, Limits())
        nobody_goes = asyncio.Event()
        asking = asyncio.create_task(backend.answer(nobody_goes.wait(), lambda: brain.ask("states"), heavy=True))
        while not await asyncio.to_thread(under_way, brain):
            await asyncio.sleep(0.01)
        backend.stop()
        with pytest.raises(Cancelled):
            await asking

    asyncio.run(stop())
    assert under_way(brain) == 0
