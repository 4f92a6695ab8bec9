"""`work --metrics`: what Prometheus reads there, and the rules and the board of docker/ asked of a real Prometheus.

That one is on the PATH, or in the directory TEST_PROMETHEUS; without it those tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from graphbrain import Brain, Fetched
from tests.acceptance.cli.test_cli import Run, connected, one_sentence, run, started
from tests.contract.source import ROOT
from tests.unit.service.metrics.test_board import RULES, targets

__all__ = ["connected", "run"]

PATIENCE = 120.0
OFTEN_EMPTY = ("graphbrain_verb_errors_total", "graphbrain_transaction_retries_total")
"""Of these there is no series before something has gone wrong."""


def tool(name: str) -> str:
    """The path of a program of Prometheus; the test is skipped where there is none."""
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("TEST_PROMETHEUS", ""), os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"there is no {name} here: apt-get install prometheus, or set TEST_PROMETHEUS")
    return found


def until(look: Callable[[], Any]) -> Any:
    """What `look` finds as soon as it finds something."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.2)
    pytest.fail("it did not come")


def fetched(url: str) -> str | None:
    """What is there; None while nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return str(answer.read().decode())
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def values(text: str) -> dict[tuple[str, ...], float]:
    """(name, values of its labels) → value."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@contextmanager
def working(env: dict[str, str], workers: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`graphbrain work --metrics` under way, and where it is to be read."""
    with started(env, "work", "--workers", workers, "--metrics", 0) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/metrics", line)
        assert found, line
        yield process, found[0]


def crawl(brain: Brain) -> None:
    """Some pages, and a report of each kind that is usual."""
    brain.seed([f"http://{host}.example/" for host in "abcdefgh"])
    for _ in range(3):
        claims = brain.next_urls(20)
        brain.report(
            [
                Fetched(
                    c.url, [f"http://{h}.example/{n}" for h in "abcdefgh" for n in range(3)], c, body=c.url.encode()
                )
                for c in claims
            ]
        )
    brain.session.counters.write()


def test_metrics_of_all_workers_are_added_up_and_do_not_fall(brain: Brain, connected: dict[str, str]) -> None:
    crawl(brain)
    tends = ("graphbrain_verb_duration_seconds_count", "tend")
    with working(connected, 2) as (process, url):

        def two_have_told() -> dict[tuple[str, ...], float] | None:
            found = values(fetched(url) or "")
            return found if found.get(tends, 0) > 4 and ("graphbrain_pages", "known") in found else None

        before = until(two_have_told)
        stats = brain.stats()
        assert before["graphbrain_known_pages",] == sum(stats["states"].values())
        assert before["graphbrain_claims_total",] == stats["done"]["claims"] > 0
        assert before["graphbrain_workers",] == 2
        assert before["graphbrain_statement_duration_seconds_count", "upkeep/outstanding"] > 0
        victim = next(c for c in psutil.Process(process.pid).children() if "graphbrain.brain.workers" in c.cmdline())
        victim.kill()
        after = until(
            lambda: found if (found := values(fetched(url) or "")).get(("graphbrain_worker_restarts_total",)) else None
        )
        assert after[tends] >= before[tends]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert "Traceback" not in err


def test_a_port_that_cannot_be_had_is_said_to_be(run: Run) -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        one_sentence(run("work", "--metrics", port, "--seconds", 1), f"127.0.0.1:{port}", "name another port")
    for wrong in ("many", "99999", "http://here:9464", ":9464", "-1"):
        done = run("work", "--metrics", wrong)
        assert done.returncode == 2
        assert "is no port" in done.stderr


def test_promtool_finds_nothing_wrong(brain: Brain, connected: dict[str, str]) -> None:
    promtool = tool("promtool")
    for words in (
        ("check", "rules", "docker/prometheus/rules.yml"),
        ("check", "config", "docker/prometheus/prometheus.yml"),
        ("test", "rules", "tests/acceptance/alerts.yml"),
    ):
        done = subprocess.run([promtool, *words], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    crawl(brain)
    with working(connected, 1) as (_, url):
        text = until(lambda: found if "graphbrain_pages{" in (found := fetched(url) or "") else None)
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.long
def test_a_real_prometheus_answers_every_question_of_rules_and_board(
    brain: Brain, connected: dict[str, str], tmp_path: Path
) -> None:
    prometheus = tool("prometheus")
    crawl(brain)
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with working(connected, 2) as (_, url):
        target = url.removeprefix("http://").removesuffix("/metrics")
        config = (ROOT / "docker" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
        assert config.count("worker:9464") == 1
        (tmp_path / "prometheus.yml").write_text(
            config.replace("worker:9464", target).replace("interval: 15s", "interval: 1s"), encoding="utf-8"
        )
        (tmp_path / "rules.yml").write_text(RULES, encoding="utf-8")
        with (tmp_path / "log").open("w", encoding="utf-8") as log:
            server = subprocess.Popen(
                [
                    prometheus,
                    f"--config.file={tmp_path}/prometheus.yml",
                    f"--storage.tsdb.path={tmp_path}/data",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=log,
            )
        try:
            ask_all(f"http://127.0.0.1:{port}/api/v1")
        finally:
            server.terminate()
            server.wait(PATIENCE)


def ask_all(api: str) -> None:
    """Every rule is evaluated, every expression of the board answers with something."""

    def asked(path: str) -> Any:
        text = fetched(f"{api}/{path}")
        return json.loads(text)["data"] if text else None

    def answer(expression: str) -> list[Any]:
        found = expression.replace("$__rate_interval", "20s").replace("$job", ".*")
        data = asked(f"query?{urllib.parse.urlencode({'query': found})}")
        assert data is not None, f"Prometheus refuses {found}"
        return list(data["result"])

    until(lambda: asked("status/buildinfo"))
    # Of two scrapes at least, the second with a scan.
    until(lambda: answer("graphbrain_fresh_ratio") and answer("rate(graphbrain_verb_duration_seconds_count[20s]) > 0"))
    for title, expression in targets():
        assert answer(expression) or any(name in expression for name in OFTEN_EMPTY), (title, expression)

    def rules() -> list[Any] | None:
        (group,) = (asked("rules") or {"groups": [{"rules": []}]})["groups"]
        return group["rules"] if {rule["health"] for rule in group["rules"]} == {"ok"} else None

    assert len(until(rules)) == 7
