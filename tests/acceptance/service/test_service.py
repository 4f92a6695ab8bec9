"""The service over HTTP, as a stranger and as an enemy meets it: tokens, roles, limits, fuzz, and an orderly stop."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import hypothesis
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import ignored_auth, negative_data_rejection, positive_data_acceptance

from graphbrain import Brain, Claim, Fetched
from graphbrain.base.errors import BadInput, GraphbrainError, GraphUnavailable
from graphbrain.base.numeric.methods import METHODS
from graphbrain.base.settings import ENGINES
from graphbrain.base.urls.hostnames import named
from graphbrain.base.urls.normalization import address, is_key
from graphbrain.service import access, backend, door
from graphbrain.service.access import HOLDS
from graphbrain.service.answers import CLAIM
from graphbrain.service.app import Application, Terms
from graphbrain.service.door import Limits
from tests.acceptance.service.patterns import HOST, PAGE, described
from tests.documents import section
from tests.plugin import Neo4j, emptied, eventually
from tests.serving import ROLES, bearer, serving

A = "http://a.org/"
LIMITS = Limits(body=100_000, body_seconds=0.5, items=20, rate=0, wait=5.0, requests=300, streams=5, streams_of_one=2)


@pytest.fixture(scope="module")
def brain(neo4j: Neo4j) -> Iterator[Brain]:
    with emptied(neo4j, delay_seconds=0.0) as brain:
        brain.seed([A, "http://b.org/"])
        yield brain


@pytest.fixture(scope="module")
def url(brain: Brain, given: dict[str, str]) -> Iterator[str]:
    assert given
    with serving(brain, Terms(LIMITS)) as url:
        yield url


@pytest.fixture(scope="module")
def document(url: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{url}/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and facts of each verb."""
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            if path.startswith("/v1/"):
                yield method.upper(), path.replace("{job}", "none"), facts


def error(answer: httpx.Response) -> dict[str, Any]:
    """What an answer says is wrong: always in the same form."""
    told = answer.json()
    assert set(told) == {"error"}
    facts: dict[str, Any] = told["error"]
    assert set(facts) == {"type", "message", "try_again", "request_id"}
    assert "\n" not in facts["message"] and len(facts["message"]) < 300
    assert facts["request_id"] == answer.headers["x-request-id"]
    return facts


# ---------------------------------------------------------------- tokens and roles


@pytest.mark.long
def test_without_a_good_token_nothing_is_done(brain: Brain, url: str, document: dict[str, Any]) -> None:
    expired = access.make(brain.graph, "expired", "operator", brain.now(), 0.01)
    revoked = access.make(brain.graph, "revoked", "operator", brain.now())
    access.revoke(brain.graph, "revoked", brain.now())
    time.sleep(0.6)
    good = tokens_of(brain)
    bad = ["", "Bearer", "Basic eDp5", "Bearer gbt_" + "x" * 43, f"Bearer {expired}", f"Bearer {revoked}"]
    bad += ["Bearer " + "é" * 9, "Bearer " + "x" * 5_000, good]
    with httpx.Client(base_url=url) as http:
        for text in bad:
            for method, path, _ in list(operations(document))[:: 1 if text == "" else 9]:
                answer = http.request(method, path, headers={"Authorization": text.encode("latin-1")})
                assert answer.status_code == 401, (text, path)
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert error(answer)["type"] == "Unauthorized" and "gbt_" not in answer.text
        assert http.get("/v1/stats", params={"token": "gbt_x", "access_token": "gbt_x"}).status_code == 401


def tokens_of(brain: Brain) -> str:
    """What the graph keeps of a token: it opens nothing."""
    digest = next(grant.digest for grant in access.grants(brain.graph) if grant.digest is not None)
    assert digest is not None and len(digest) == 64
    return f"Bearer {digest}"


def test_each_role_against_each_verb(url: str, given: dict[str, str], document: dict[str, Any]) -> None:
    found: dict[str, set[str]] = {}
    with httpx.Client(base_url=url) as http:
        for method, path, facts in operations(document):
            for role in ROLES:
                # A body that is none: whoever may is told so, and nothing is done.
                answer = http.request(
                    method, path, headers=bearer(given[role]), content=b"{" if method == "POST" else b""
                )
                may = answer.status_code != 403
                assert may == (role in facts["x-roles"]), (method, path, role, answer.text)
                if may:
                    found.setdefault(role, set()).add(facts["operationId"])
    assert found["operator"] == {facts["operationId"] for _, _, facts in operations(document)}
    assert found["analyst"].isdisjoint({"seed", "report", "next_urls", "clear", "change", "forget", "block", "renew"})
    assert found["crawler"].isdisjoint({"page", "find", "dump_pages", "clear", "change", "forget", "set_page"})
    assert {"next_urls", "report", "renew", "give_back", "seed", "set_robots"} <= found["crawler"]


def test_a_token_that_is_revoked_ends(brain: Brain, url: str) -> None:
    token = access.make(brain.graph, "short", "analyst", brain.now())
    with httpx.Client(base_url=url, headers=bearer(token)) as http:
        assert http.get("/v1/now").status_code == 200, "one that was just made is found"
        access.revoke(brain.graph, "short", brain.now())
        until = time.monotonic() + 10
        while http.get("/v1/now").status_code == 200:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_a_token_that_was_revoked_while_nobody_asked_lets_nobody_in(brain: Brain, url: str) -> None:
    token = access.make(brain.graph, "quiet", "analyst", brain.now())
    asked: list[int] = []

    def ask() -> None:
        asked.append(httpx.get(f"{url}/v1/now", headers=bearer(token)).status_code)

    ask()
    access.revoke(brain.graph, "quiet", brain.now())
    time.sleep(HOLDS + 0.3)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked == [200] + [401] * 4


def test_no_token_stands_in_logs_or_answers(url: str, given: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    secret = given["analyst"]
    with caplog.at_level(logging.DEBUG), httpx.Client(base_url=url) as http:
        for path in ("/v1/now", f"/v1/page?url={secret}", f"/{secret}", f"/v1/jobs/{secret}", f"/v1/now?t={secret}"):
            answer = http.get(path, headers={**bearer(secret), "X-Request-ID": secret[4:24]})
            assert secret not in str(answer.headers)
        http.post("/v1/seed", headers=bearer(secret), content=secret)
    ours = [record.getMessage() for record in caplog.records if record.name.startswith(("graphbrain", "uvicorn"))]
    assert any("/v1/now analyst" in line for line in ours)
    assert not [line for line in ours if secret in line]


def test_a_page_in_a_browser_gets_nothing(url: str, given: dict[str, str]) -> None:
    evil = {"Host": "evil.example", **bearer(given["operator"])}
    for host in ("evil.example", "evil.example:80", "", "localhost.evil.example", "[::1].evil.example"):
        answer = httpx.get(f"{url}/v1/now", headers={**evil, "Host": host})
        assert answer.status_code == 421 and error(answer)["type"] == "Misdirected"
    for host in ("localhost", "127.0.0.1:1", "[::1]:8770", "LOCALHOST."):
        assert httpx.get(f"{url}/v1/now", headers={**evil, "Host": host}).status_code == 200
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for answer in (httpx.options(f"{url}/v1/seed", headers=asked), httpx.get(f"{url}/healthz", headers=asked)):
        assert not [name for name in answer.headers if name.startswith("access-control") or name == "set-cookie"]


def test_pages_from_where_it_is_allowed_may_use_it(brain: Brain, given: dict[str, str]) -> None:
    with serving(brain, Terms(origins=["https://board.example"], names=["Brain.Example"])) as url:
        asked = {"Origin": "https://board.example", "Access-Control-Request-Method": "POST"}
        asked["Access-Control-Request-Headers"] = "authorization"
        answer = httpx.options(f"{url}/v1/seed", headers=asked)
        assert answer.headers["access-control-allow-origin"] == "https://board.example"
        assert "access-control-allow-credentials" not in answer.headers
        got = httpx.get(f"{url}/v1/now", headers={**asked, "Host": "brain.example:9", **bearer(given["analyst"])})
        assert got.status_code == 200 and got.headers["access-control-allow-origin"] == "https://board.example"
        other = httpx.options(f"{url}/v1/seed", headers={**asked, "Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


# ---------------------------------------------------------------- limits


def test_each_limit_has_its_status_and_sentence(url: str, given: dict[str, str]) -> None:
    json_type = {"Content-Type": "application/json"}
    with httpx.Client(base_url=url, headers={**json_type, **bearer(given["operator"])}) as http:

        def refused(answer: httpx.Response, status: int, words: str) -> None:
            assert answer.status_code == status and words in error(answer)["message"], answer.text

        huge = json.dumps({"urls": ["http://a.org/" + "x" * 200_000]})
        refused(http.post("/v1/seed", content=huge), 413, "100,000 bytes")
        refused(
            http.post("/v1/seed", content=(huge[i : i + 999].encode() for i in range(0, 200_000, 999))), 413, "bytes"
        )
        refused(http.post("/v1/seed", json={"urls": ["x"] * 21}), 400, "At most 20 URLs")
        refused(http.post("/v1/report", json={"reports": [{}] * 21}), 400, "At most 20 reports")
        refused(http.post("/v1/next_urls", json={"wait": 6}), 400, "at most 5 seconds")
        refused(http.post("/v1/next_urls?wait=5", json={}), 400, "none in the address")
        refused(http.get("/v1/now?x=1"), 400, "takes no values")
        refused(http.get("/v1/page", params={"url": "http://x.org/", "x": 1}), 400, "'x'")
        refused(http.post("/v1/now?wait=5", json={}), 405, "method")
        refused(http.post("/v1/next_urls", json={"n": 10_001}), 400, "less than or equal to 10000")
        refused(http.post("/v1/next_urls", json={"m": 1}), 400, "'m'")
        refused(http.post("/v1/next_urls", content=b"[" * 50_000), 400, "JSON")
        refused(http.post("/v1/next_urls", content=b'{"n": NaN}'), 400, "cannot be used")
        refused(http.post("/v1/next_urls", content=b'{"wait": ' + b"9" * 5_000 + b"}"), 400, "")
        refused(http.post("/v1/next_urls", json={}, headers={"Idempotency-Key": "x" * 201}), 400, "dempotency")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        refused(http.post("/v1/next_urls", content=b"n=1", headers=form), 400, "application/json")
        refused(http.get("/v1/nothing"), 404, "no such path")
        refused(http.get("/v1/seed"), 405, "method")
        refused(http.get("/v1/page", params={"url": "http://x.org/"}), 404, "not in the graph")
        refused(http.get("/v1/jobs/none"), 404, "no such job")
        refused(http.get("/v1/watch/host", params={"name": "x.org"}), 404, "No page of host")
        refused(http.get("/v1/watch/host", params={"name": ""}), 400, "host")
        same = [http.get("/v1/watch/host", params={"name": name}).json()["data"] for name in ("a.org", "http://A.org")]
        assert same[0] == same[1] and same[0]["states"]
        refused(http.post("/v1/remake", json={"settings": {}}), 409, "Only an empty brain")


def test_no_setting_is_changed_between_two_engines(brain: Brain, url: str, given: dict[str, str]) -> None:
    """A conversion that was stopped leaves the brain there."""

    def keep(engine: str) -> None:
        brain.graph.write(lambda tx: tx.do("brain/change", settings={"engine": engine}), "brain/change")
        brain.session.refresh()

    keep("to_classic")
    try:
        body = {"settings": {"delay_seconds": 0.0}}
        answer = httpx.post(f"{url}/v1/change", json=body, headers=bearer(given["operator"]))
        assert answer.status_code == 503 and error(answer)["type"] == "BeingConverted", answer.text
    finally:
        keep("exact")


def test_a_body_that_does_not_arrive_is_not_waited_for(url: str, given: dict[str, str]) -> None:
    host, port = url.removeprefix("http://").split(":")
    head = f"POST /v1/seed HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {given['operator']}\r\n"
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(f"{head}Content-Length: 1000\r\nContent-Type: application/json\r\n\r\n{{".encode())
        assert line.recv(4_096).startswith(b"HTTP/1.1 408")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
    assert httpx.get(f"{url}/healthz").status_code == 200


def test_too_many_requests_of_one_token(brain: Brain, given: dict[str, str]) -> None:
    with serving(brain, Terms(Limits(rate=5.0))) as url, httpx.Client(base_url=url) as http:
        answers = [http.get("/v1/now", headers=bearer(given["crawler"])) for _ in range(30)]
        late = [answer for answer in answers if answer.status_code == 429]
        assert 10 <= len(late) < 30 and int(late[0].headers["retry-after"]) >= 1
        assert error(late[0])["try_again"] is True
        assert http.get("/v1/now", headers=bearer(given["analyst"])).status_code == 200, "others are not held up"


def test_two_hundred_clients_at_once(brain: Brain, url: str, given: dict[str, str]) -> None:
    """Long polls of 200 clients: each is answered in time, others are not held up, and the brain is not flooded."""
    brain.next_urls(100)
    statuses: list[int] = []
    before = time.monotonic()
    many = httpx.Client(headers=bearer(given["crawler"]), limits=httpx.Limits(max_connections=200), timeout=120)

    def poll() -> None:
        statuses.append(many.post(f"{url}/v1/next_urls", json={"n": 1, "wait": 3}).status_code)

    threads = [threading.Thread(target=poll) for _ in range(200)]
    for thread in threads:
        thread.start()
    assert httpx.get(f"{url}/v1/now", headers=bearer(given["analyst"]), timeout=60).status_code == 200
    for thread in threads:
        thread.join()
    many.close()
    assert statuses == [200] * 200
    assert time.monotonic() - before >= 3


# ---------------------------------------------------------------- long polls, streams, jobs


def test_a_long_poll_is_answered_when_a_page_comes(url: str, given: dict[str, str]) -> None:
    with httpx.Client(base_url=url, headers=bearer(given["operator"])) as http:
        while http.post("/v1/next_urls", json={"n": 100}).json()["claims"]:
            pass
        found: list[Any] = []

        def poll() -> None:
            found.append(http.post("/v1/next_urls", json={"wait": 5}, timeout=60).json())

        thread = threading.Thread(target=poll)
        began = time.monotonic()
        thread.start()
        time.sleep(0.3)
        assert http.post("/v1/seed", json={"urls": [f"http://late{began:.0f}.org/"]}).json()["created"] == 1
        thread.join()
        assert len(found[0]["claims"]) == 1 and found[0]["claims"][0]["host"].startswith("late")


def test_items_are_refused_one_by_one(url: str, given: dict[str, str]) -> None:
    strange = [None, 5, "x", [], {}, {"url": 5}, {"url": A, "claim": {"url": A, "key": "x", "token": ""}}]
    strange += [{"url": A, "status": 1e400}, {"url": A, "links": {"a": 1}}, {"url": A, "nope": 1}]
    with httpx.Client(base_url=url, headers=bearer(given["crawler"])) as http:

        def post(verb: str, **body: Any) -> Any:
            answer = http.post(f"/v1/{verb}", content=json.dumps(body))
            answer = http.post(f"/v1/{verb}", content=json.dumps(body), headers={"Content-Type": "application/json"})
            assert answer.status_code == 200, answer.text
            return answer.json()

        answers = post("report", reports=[*strange, {"url": A, "links": []}])["answers"]
        assert [each["accepted"] for each in answers] == [False] * len(strange) + [True]
        assert all(each["reason"] for each in answers[:-1])
        lost = {**CLAIM, "host": {"x": 1}, "depth": "deep", "etag": 5}
        for verb, good in (("renew", "lost"), ("give_back", "lost")):
            told = post(verb, claims=[*strange[:6], lost])["claims"]
            assert [each.get("refused", False) for each in told] == [True] * 6 + [False] and told[-1][good] is True
        told = post("seed", urls=[f"{A}one", *strange[:2], {"url": A}])
        assert (told["created"], [len(pair) for pair in told["refused"]]) == (1, [2, 2, 2])
        told = post("hint", hints=[*strange[:2], *strange[3:6], "nope", A, {"url": A, "at": "x"}])["answers"]
        assert [each["accepted"] for each in told] == [False] * 6 + [True, False]


def test_a_renewed_claim_has_what_was_told_of_it_and_no_more(brain: Brain, url: str, given: dict[str, str]) -> None:
    brain.seed(["http://renewed.org/"])
    with httpx.Client(base_url=url, headers=bearer(given["crawler"])) as http:
        claim = http.post("/v1/next_urls", json={"n": 1}).json()["claims"][0]
        bare = {name: claim[name] for name in ("url", "key", "token")}
        for told in (claim, bare, {"url": claim["url"], "claim": bare}):
            (now,) = http.post("/v1/renew", json={"claims": [told], "seconds": 900}).json()["claims"]
            wanted = told.get("claim", told)
            assert now == {**wanted, "until": now["until"]} and now["until"] > claim["until"]
        assert brain.give_back([Claim(**claim)]) == [True]


def test_a_stream_that_ends_early_says_of_which_request(
    brain: Brain, url: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.seed([f"http://many.org/{number}" for number in range(300)])
    monkeypatch.setattr(backend.Backend, "_go_on", _broken)
    with httpx.Client(base_url=url, headers=bearer(given["analyst"])) as http:
        answer = http.get("/v1/dump_pages")
        told = json.loads(answer.text.splitlines()[-1])["error"]
        assert told["request_id"] == answer.headers["x-request-id"]


def _broken(*_: object) -> None:
    raise GraphUnavailable("it is away")


def test_who_does_not_read_holds_no_stream(
    brain: Brain, url: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "STALLED", 5.0)
    brain.seed([f"http://many.org/{'long/' * 100}{number}" for number in range(6_000)])
    at = urlsplit(url)
    head = f"GET /v1/dump_pages HTTP/1.1\r\nHost: {at.netloc}\r\nAuthorization: Bearer {given['analyst']}\r\n\r\n"
    with contextlib.ExitStack() as held, httpx.Client(base_url=url, headers=bearer(given["analyst"])) as http:
        for _ in range(2):
            reader = held.enter_context(socket.create_connection((at.hostname, at.port)))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.sendall(head.encode())

        def status() -> int:
            return http.get("/v1/find", params={"limit": 1}).status_code

        eventually(lambda: status() == 503, "two that do not read hold both streams of their token")
        others = http.get("/v1/find", params={"limit": 1}, headers=bearer(given["operator"]))
        assert others.status_code == 200, "and no more"
        eventually(lambda: status() == 200, "and let go")
    brain.clear()


def test_streams_are_lines_and_few_at_once(brain: Brain, url: str, given: dict[str, str]) -> None:
    brain.seed([f"http://many.org/{number}" for number in range(300)])
    with httpx.Client(base_url=url, headers=bearer(given["analyst"])) as http:
        lines = http.get("/v1/dump_pages", params={"host": "many.org"}).text.splitlines()
        assert len({json.loads(line)["url"] for line in lines}) == 300
        assert http.get("/v1/find", params={"text": "nowhere"}).text == ""
        wrong = http.get("/v1/find", params={"regex": "("})
        assert wrong.status_code == 400 and error(wrong)["type"] == "BadInput"
        with http.stream("GET", "/v1/dump_pages") as one, http.stream("GET", "/v1/dump_pages") as two:
            assert one.status_code == two.status_code == 200
        assert http.get("/v1/find", params={"limit": 1}).status_code == 200, "who hangs up is no longer counted"


def test_jobs_are_seen_and_stopped_by_their_own(brain: Brain, url: str, given: dict[str, str]) -> None:
    links = {f"http://v.org/{number}": [f"http://v.org/{number + 1}"] for number in range(200)}
    brain.report([Fetched(url, to, body_hash="x") for url, to in links.items()])
    own, other = bearer(given["analyst"]), bearer(given["crawler"])
    with httpx.Client(base_url=url) as http:
        key = {"Idempotency-Key": "k1"}
        begun = [http.post("/v1/audit", json={"sample": None}, headers={**own, **key}).json() for _ in range(2)]
        assert begun[0]["id"] == begun[1]["id"], "begun once"
        path = f"/v1/jobs/{begun[0]['id']}"
        assert http.get(path, headers=other).status_code == 404
        assert http.delete(path, headers=other).status_code == 404
        ended = http.get(path, params={"wait": 60}, headers=own, timeout=90).json()
        assert ended["state"] == "done" and ended["result"]["ok"] is True and ended["progress"]["of"] > 0
        assert [job["id"] for job in http.get("/v1/jobs", headers=own).json()["jobs"]] == [begun[0]["id"]]
        begun = [http.post("/v1/audit", json={"sample": None}, headers=own).json()]
        http.delete(f"/v1/jobs/{begun[0]['id']}", headers=bearer(given["operator"]))
        ended = http.get(f"/v1/jobs/{begun[0]['id']}", params={"wait": 60}, headers=own, timeout=90).json()
        assert ended["state"] == "stopped" and ended["result"] is None


def test_a_key_is_bound_to_its_request(url: str, given: dict[str, str]) -> None:
    with httpx.Client(base_url=url, headers={**bearer(given["operator"]), "Idempotency-Key": "bound"}) as http:
        begun = http.post("/v1/settle", json={"tolerance": 0.5}).json()
        assert http.post("/v1/settle", json={"tolerance": 0.5, "if_cheaper": False}).json()["id"] == begun["id"]
        for path, body in (("/v1/settle", {"tolerance": 0.4}), ("/v1/audit", {"sample": 1}), ("/v1/settle", {})):
            told = http.post(path, json=body)
            words = "This Idempotency-Key was used for another request (settle); make a new one for each request."
            assert told.status_code == 409 and error(told)["type"] == "BadInput" and error(told)["message"] == words


@pytest.mark.parametrize(
    ("path", "body", "kind", "words"),
    [
        ("change", {"settings": {"delay": 1}}, "SettingsError", "'delay' is not a setting"),
        ("change", {"settings": {"crawl": "x"}}, "SettingsError", "crawl cannot be changed"),
        ("change", {"settings": {"engine": "classic"}}, "SettingsError", "graphbrain engine classic"),
        ("change", {"settings": {"max_links": "many"}}, "SettingsError", "max_links must be a whole number"),
        ("change", {"settings": {"alpha": 0.2, "eps": None}}, "SettingsError", "eps must be a number"),
        ("rank", {"method": "pagerang"}, "BadInput", "rank is by hits, pagerank"),
        ("rank", {"method": "pagerank", "damping": 1.5}, "BadInput", "damping must be from 0 to below 1"),
        ("rank", {"method": "salsa", "iterations": 5}, "BadInput", "iterations is not for salsa"),
        ("rank", {"method": "hits", "trusted": ["http://a.org/"]}, "BadInput", "trusted is for trustrank"),
        ("rank", {"method": "pagerank", "top": -1}, "BadInput", "top must be from 0"),
        ("change", {"settings": {"order": "zzz"}}, "SettingsError", "order must be optimal or"),
        ("change", {"settings": {"allow_urls": "("}}, "SettingsError", "allow_urls"),
        ("convert_engine", {"engine": "steam"}, "SettingsError", "The engine must be exact or classic, not 'steam'."),
    ],
)
def test_what_cannot_be_done_begins_no_job(
    brain: Brain, url: str, given: dict[str, str], path: str, body: dict[str, Any], kind: str, words: str
) -> None:
    with httpx.Client(base_url=url, headers=bearer(given["operator"])) as http:
        jobs = len(http.get("/v1/jobs").json()["jobs"])
        told = http.post(f"/v1/{path}", json=body)
        assert told.status_code == 400 and error(told)["type"] == kind and words in error(told)["message"]
        assert len(http.get("/v1/jobs").json()["jobs"]) == jobs
    # By the same sentence as in Python.
    with pytest.raises(GraphbrainError) as raised:
        getattr(brain, path)(**body.get("settings", body))
    assert str(raised.value) == error(told)["message"] and type(raised.value).__name__ == kind


def test_methods_and_engines_stand_in_the_document(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["Rank"]["properties"]["method"]["enum"] == list(METHODS)
    assert schemas["ConvertEngine"]["properties"]["engine"]["enum"] == list(ENGINES)


# ---------------------------------------------------------------- the document, and whatever may be sent


def test_the_document_has_examples_that_hold(document: dict[str, Any]) -> None:
    def holds(value: Any, schema: dict[str, Any]) -> None:
        jsonschema_rs.validate({**schema, "components": document["components"]}, value)

    for method, path, facts in operations(document):
        assert facts["x-roles"] and facts["description"] and facts["security"], path
        good = next(facts["responses"][code] for code in ("200", "202") if code in facts["responses"])
        if "application/json" in good["content"]:
            shown = good["content"]["application/json"]
            holds(shown["example"], shown["schema"])
        if method == "POST":
            body = facts["requestBody"]["content"]["application/json"]["schema"]
            model = document["components"]["schemas"][body["$ref"].rsplit("/", 1)[1]]
            example = {name: each["examples"][0] for name, each in model.get("properties", {}).items()}
            holds(example, model)
        for parameter in facts.get("parameters", ()):
            assert "examples" in parameter["schema"] or "examples" in parameter or parameter["in"] == "query", path


def test_the_document_is_encoded_once_however_often_strangers_ask(brain: Brain) -> None:
    application = Application(brain)

    async def ask() -> list[bytes]:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            first = (await http.get("/openapi.json")).content
            application.api.openapi = lambda: pytest.fail("it is made again")  # type: ignore[method-assign]
            return [first, (await http.get("/openapi.json")).content]

    first, second = asyncio.run(ask())
    assert first == second and json.loads(first)["info"]["title"] == "graphbrain"


def test_the_patterns_of_pages_and_hosts_are_taken_and_the_document_has_limits(document: dict[str, Any]) -> None:
    """What fits a pattern names a page, or a host; what is usual fits it."""

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @hypothesis.given(st.from_regex(PAGE, fullmatch=True), st.from_regex(HOST, fullmatch=True))
    def takes(page: str, host: str) -> None:
        try:
            assert is_key(page) or address(page)
            assert named(host)
        except BadInput as error:  # no pattern adds up the lengths of labels
            assert "longer than" in str(error)

    takes()
    for usual in (
        "https://a.example",
        "http://bücher.example:8080/ü?q=1#f",
        "http://127.0.0.1/",
        "http://[::1]:80/x",
        "0" * 32,
    ):
        assert re.search(PAGE, usual), usual
    for usual in (
        "a.example",
        "https://a.example:8443",
        "xn--bcher-kva.example",
        "192.0.2.1",
        "localhost",
        "[2001:db8::1]",
    ):
        assert re.search(HOST, usual), usual
    schemas = document["components"]["schemas"]
    assert schemas["NextUrls"]["properties"]["wait"]["maximum"] == LIMITS.wait
    assert schemas["Seed"]["properties"]["urls"]["maxItems"] == LIMITS.items


def rows_of(document: dict[str, Any]) -> list[str]:
    """All paths with their fields, as docs/reference/http.md shows them."""
    rows = []
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            fields = {each["name"]: each["required"] for each in facts.get("parameters", ()) if each["in"] == "query"}
            if "requestBody" in facts:
                body = facts["requestBody"]["content"]["application/json"]["schema"]
                model = document["components"]["schemas"][body["$ref"].rsplit("/", 1)[1]]
                fields |= {name: name in model.get("required", ()) for name in model.get("properties", ())}
            needed = [f"`{name}`" for name, required in fields.items() if required]
            optional = [f"`{name}`?" for name, required in fields.items() if not required]
            rows.append(f"| `{method.upper()} {path}` | {', '.join([*needed, *optional]) or 'none'} |")
    return rows


def test_the_docs_have_all_paths(document: dict[str, Any]) -> None:
    table = section("reference/http.md", "All paths")
    found = [line for line in table.splitlines() if line.startswith("| `")]
    wanted = rows_of(document)
    assert [line.rsplit("|", 2)[0].rstrip() + " |" for line in found] == wanted
    for line, facts in zip(
        found, (facts for each in document["paths"].values() for facts in each.values()), strict=True
    ):
        assert line.endswith(f"| {', '.join(facts.get('x-roles', ())) or 'no token'} |"), line


@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")  # others use random meanwhile
@pytest.mark.parametrize("examples", [1, pytest.param(8, marks=pytest.mark.nightly)])
def test_whatever_is_sent_the_answer_is_in_the_document(brain: Brain, examples: int) -> None:
    """No status, type or shape that the document does not tell of, and no 5xx, for requests that fit it and that do
    not."""
    application = Application(brain, Terms(LIMITS, names=["testserver"], without_token=True))
    document = described(application.api.openapi())
    assert document["components"]["schemas"]["Forget"]["properties"]["url"]["pattern"] == PAGE
    fuzzed = schemathesis.openapi.from_asgi("/openapi.json", application)
    asked: Counter[str] = Counter()
    for found in fuzzed.get_all_operations():
        operation = found.ok()
        if operation.path.rsplit("/", 1)[1] in ("clear", "convert_engine", "remake", "tend"):
            continue
        for mode in schemathesis.GenerationMode:
            try:
                cases = operation.as_strategy(generation_mode=mode)

                @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
                @hypothesis.given(case=cases)
                def ask(case: schemathesis.Case) -> None:
                    # A page that is not there is no mistake of form, this service is used without tokens, and the brain
                    # takes more names than the patterns list.
                    left_out = [positive_data_acceptance, negative_data_rejection, ignored_auth]
                    case.call_and_validate(excluded_checks=left_out)
                    asked[f"{operation.method} {operation.path}"] += 1  # noqa: B023

                ask()
            except hypothesis.errors.Unsatisfiable:  # nothing can be wrong where nothing is said
                continue
    assert len(asked) > 35 and sum(asked.values()) > 35 * examples


def test_what_is_refused_can_be_read_by_pages_that_may_use_the_service(brain: Brain, given: dict[str, str]) -> None:
    origin = {"Origin": "https://desk.example"}
    terms = Terms(Limits(rate=1.0, items=1, requests=1), origins=["https://desk.example"])
    with serving(brain, terms) as url, httpx.Client(base_url=url, headers=origin) as http:
        crawler = bearer(given["crawler"])
        answers: list[tuple[int, Callable[[], httpx.Response]]] = [
            (401, lambda: http.get("/v1/now")),
            (403, lambda: http.get("/v1/stats", headers=crawler) and http.get("/v1/settings", headers=crawler)),
            (400, lambda: http.post("/v1/seed", json={"urls": ["x", "y"]}, headers=bearer(given["operator"]))),
            (421, lambda: http.get("/v1/now", headers={"Host": "evil.example"})),
            (429, lambda: [http.get("/v1/now", headers=crawler) for _ in range(5)][-1]),
            (431, lambda: http.get("/v1/now", headers={"X": "x" * 66_000})),  # the parser has the whole head
            (431, lambda: http.get("/v1/now", headers={"X": "x" * 200_000})),  # and has not
        ]
        for status, ask in answers:
            answer = ask()
            assert answer.status_code == status, (status, answer.text)
            assert answer.headers["access-control-allow-origin"] == "https://desk.example", status
            assert error(answer)["message"]
        foreign = http.get("/v1/now", headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 401 and "access-control-allow-origin" not in foreign.headers
        ask_first = {"Access-Control-Request-Method": "GET", "Host": "evil.example"}
        assert http.options("/v1/now", headers=ask_first).status_code == 421


def test_a_wrong_method_is_told_which_there_are(url: str, given: dict[str, str]) -> None:
    with httpx.Client(base_url=url, headers=bearer(given["operator"])) as http:
        for method, path, allowed in (
            ("PUT", "/v1/jobs/x", "DELETE, GET"),
            ("POST", "/v1/jobs/x", "DELETE, GET"),
            ("GET", "/v1/seed", "POST"),
            ("DELETE", "/v1/jobs", "GET"),
        ):
            answer = http.request(method, path)
            assert (answer.status_code, answer.headers["allow"]) == (405, allowed), path
            assert error(answer)["type"] == "WrongMethod"


# ---------------------------------------------------------------- metrics


def test_metrics_are_for_those_who_look(brain: Brain, url: str, given: dict[str, str]) -> None:
    held = httpx.post(f"{url}/v1/next_urls", json={"n": 1}, headers=bearer(given["crawler"])).json()
    assert "graphbrain_" not in httpx.get(f"{url}/metrics").text
    assert httpx.get(f"{url}/metrics").status_code == 401
    assert httpx.get(f"{url}/metrics", headers=bearer(given["crawler"])).status_code == 403
    until = time.monotonic() + 60
    while True:
        told = httpx.get(f"{url}/metrics", headers=bearer(given["analyst"]))
        assert told.status_code == 200 and told.headers["content-type"].startswith("text/plain; version=")
        if "graphbrain_pages{" in told.text or time.monotonic() > until:
            break
        time.sleep(0.2)
    assert "graphbrain_up 1.0" in told.text and 'graphbrain_pages{state="frontier"}' in told.text
    assert 'graphbrain_verb_duration_seconds_count{verb="next_urls"}' in told.text
    assert not any(token in told.text for token in given.values()) and "a.org" not in told.text
    assert held is not None and brain.graph.observe is not None
