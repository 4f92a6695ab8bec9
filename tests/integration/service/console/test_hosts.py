"""The table of hosts is counted in parts, and the counts are those of all pages."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graphbrain import Brain
from graphbrain.service.console import hosts
from graphbrain.service.console.hosts import COLUMNS, HostTable
from tests.integration.analyst.webs import A

HOST = A.removeprefix("http://")


def rows(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in told["rows"]}


def test_parts_of_a_count_add_up_to_all_pages(crawled: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "IDS_AT_ONCE", 3)
    parts: list[float] = []
    found = rows(HostTable(crawled).read(parts.append))
    pages = list(crawled.dump_pages())
    assert {name: row["pages"] for name, row in found.items() if row["pages"]} == Counter(page.host for page in pages)
    for state in ("known", "frontier", "outside"):
        counted = {name: row[state] for name, row in found.items() if row[state]}
        # A page that has failed waits to be tried again, and no longer for its first visit.
        in_state = [page for page in pages if page.state == state and not (state == "frontier" and page.fault)]
        assert counted == Counter(page.host for page in in_state), state
    failing = {name: row["failing"] for name, row in found.items() if row["failing"]}
    assert failing == Counter(page.host for page in pages if (page.failed or 0.0) > (page.fetched or 0.0))
    assert len(parts) > 3 and parts == sorted(parts) and parts[-1] == 1.0


@pytest.mark.usefixtures("answers_lost")
def test_hosts_are_read_more_often_than_pages_are_counted(crawled: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "COUNT_SHARE", 1e-9)
    monkeypatch.setattr(hosts, "COUNT_ANYWAY", 3_600.0)
    table, parts = HostTable(crawled), list[float]()
    before, once = table.read(parts.append), len(parts)
    crawled.seed([f"{A}/one-more"])
    crawled.set_host(HOST, delay=7.0)
    crawled.set_robots(A, "User-agent: *\nDisallow:")
    told = table.read(parts.append)
    assert rows(told)[HOST]["delay"] == 7.0, "the hosts are read"
    assert rows(told)[HOST]["robots_at"] is not None, "it was set for http alone"
    assert rows(told)[HOST]["pages"] == rows(before)[HOST]["pages"], "the pages are not"
    assert told["counted"] == before["counted"] and len(parts) == once
    monkeypatch.setattr(hosts, "COUNT_ANYWAY", 0.0)
    told = table.read(parts.append)
    assert rows(told)[HOST]["pages"] == rows(before)[HOST]["pages"] + 1
    assert told["counted"] > before["counted"] and len(parts) == 2 * once


def test_an_empty_brain_has_no_hosts(brain: Brain) -> None:
    assert HostTable(brain).read(lambda _: None)["rows"] == []
