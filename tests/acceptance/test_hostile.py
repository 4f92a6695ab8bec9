"""The acceptance of a crawl by what the real web does: the example crawler and Scrapy on the hostile web, unattended.

The web knows its good pages, so that a page which is lost shows; what is asked too often, impolitely or against a
robots.txt shows in what the web was asked for. Hours and days go by on a clock that is handed in.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.acceptance.hostile_crawl import MOST_PAGES, Crawl, beside, hand_in_robots, whole
from tests.acceptance.hostile_web import (
    DAY,
    LEAST_WAITS,
    HostileWeb,
    Site,
    evenings,
    hostile,
    names,
    odd,
    queries,
    sessions,
)
from tests.acceptance.test_readme import PROGRAM
from tests.plugin import PATIENCE, Neo4j, emptied

ROOT = Path(__file__).resolve().parents[2]
DAYS = 1.2
TRAPS = ("calendar.example", "concat.example", "facets.example")
LEASE = 300.0
NOT_BY_SCRAPY = {
    # Scrapy takes codecs that decode nothing for charsets, and spells hosts by the IDNA of 2003.
    *(f"charsets.example/behind/{n}" for n in (2, 3, 4)),
    "odd.example/fine/7",
    *(f"xn--strae-oqa.example/{path}" for path in ("", "0", "1", "2")),
}


def hold_to_manners(crawl: Crawl, delay: float = 1.0) -> None:
    """Each host was claimed from once in a delay, and left alone for as long as it asked; no robots.txt was broken."""
    granted = crawl.granted(LEASE)
    for host, times in granted.items():
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert all(gap >= delay - 1e-3 for gap in gaps), (host, min(gaps))
    assert not [visit for visit in crawl.web.visits if visit.kind == "forbidden"]
    for word, wait in LEAST_WAITS.items():
        host = f"busy-{word}.example"
        asked = [visit.when for visit in crawl.web.visits if (visit.host, visit.kind) == (host, "busy")]
        told = [at for (r, _), at in zip(crawl.reports, crawl.written, strict=True) if r.url == f"http://{host}/bad"]
        for refused, written in zip(asked, told, strict=True):
            assert not [at for at in granted[host] if written < at < refused + wait], (host, refused, written)


@pytest.mark.long
@pytest.mark.nightly
def test_the_example_crawler_fetches_every_good_page(neo4j: Neo4j) -> None:
    crawl, figures, audit = whole(neo4j, "optimal", DAYS)
    web = crawl.web
    assert not web.missing(), figures
    assert audit.ok, audit.findings
    assert all(answer.accepted for _, answer in crawl.reports), [a for _, a in crawl.reports if not a.accepted][:5]
    hold_to_manners(crawl)

    # Nothing is asked for an absurd number of times.
    restless = ("waking.example", "flaky.example", "conditional.example", "forced.example")
    often = {name: web.asked[name] for name in web.good if web.asked[name] > 2 and not name.startswith(restless)}
    assert not often
    assert max(web.asked.values()) <= 40, web.asked.most_common(5)
    assert len(web.visits) <= 6 * len(web.good), figures
    trapped = Counter(visit.host for visit in web.visits if visit.kind == "trap")
    distinct = {name for name in web.asked if name.startswith(TRAPS) and name not in web.good}
    assert len(distinct) <= len(TRAPS) * MOST_PAGES, trapped


@pytest.mark.long
@pytest.mark.parametrize("order", ["optimal", pytest.param("breadth_first", marks=pytest.mark.nightly)])
def test_what_was_lost_to_a_maintenance_evening_is_found_again(neo4j: Neo4j, order: str) -> None:
    """Of the site that was known before it, too: within three days of being well no page is an alias, by any order."""
    crawl, figures, audit = whole(neo4j, order, 4.3, sites=evenings(), revisit_seconds=DAY)
    assert not crawl.web.missing(), figures
    assert audit.ok, audit.findings
    by_state = Counter(state for name, state in crawl.states.items() if not name.endswith("/maintenance"))
    assert set(by_state) == {"known"}, crawl.states


# ---------------------------------------------------------------- one large host beside small ones


@pytest.mark.long
def test_small_hosts_do_not_wait_for_a_large_one(neo4j: Neo4j) -> None:
    """3,000 pages of one slow host wait before the first page of 200 others is known: these come next."""
    crawl, figures, audit = beside(neo4j, 3_000, 200, order="optimal", delay_seconds=1.0)
    urls = [result.url for result, _ in crawl.reports]
    firsts = [number for number, url in enumerate(urls) if re.fullmatch(r"http://small\d+\.example/", url)]
    known = urls.index("http://start.example/")
    assert len(firsts) == 200, figures
    assert figures["calls"] <= 200, figures
    assert audit.ok, audit.findings
    # Of the large host no more comes than its delay lets through meanwhile.
    large = [url for url in urls[known : firsts[-1]] if "large" in url]
    assert len(large) <= 100, len(large)
    hold_to_manners(crawl, 1.0)


# ---------------------------------------------------------------- Scrapy, and the README's program, by the real clock


def environment(web: HostileWeb) -> dict[str, str]:
    """That of a shell in which the web is the proxy."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and "proxy" not in k.lower()}
    paths = os.pathsep.join([str(ROOT), *filter(None, [kept.get("PYTHONPATH")])])
    return {**kept, "PYTHONPATH": paths, "http_proxy": f"http://{web.proxy}"}


@pytest.mark.long
def test_scrapy_fetches_every_good_page_and_ends(neo4j: Neo4j) -> None:
    patience = 4.0
    sites = hostile(quick=True)
    with HostileWeb(sites) as web, emptied(neo4j, delay_seconds=0.02, pages_per_host=MOST_PAGES) as brain:
        hand_in_robots(brain, web)
        given = {
            "ADDONS": {"graphbrain.scrapy.Addon": 500},
            "GRAPHBRAIN_URI": neo4j.uri,
            "GRAPHBRAIN_USER": neo4j.user,
            "GRAPHBRAIN_PASSWORD": neo4j.password,
            "GRAPHBRAIN_CRAWL": "test",
            "GRAPHBRAIN_AUTO_TEND": False,
            "GRAPHBRAIN_PATIENCE": patience,
            "DOWNLOAD_TIMEOUT": 2.0,
            "DOWNLOAD_MAXSIZE": 300_000,
            "DOWNLOAD_FAIL_ON_DATALOSS": False,
            "CONCURRENT_REQUESTS": 16,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "CLOSESPIDER_TIMEOUT": PATIENCE,
            "start_urls": web.seeds,
        }
        ran = subprocess.run(
            [sys.executable, "-m", "tests.acceptance.spiders", "honest", json.dumps(given)],
            cwd=ROOT,
            env=environment(web),
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
        )
        ended = time.time()
        assert ran.returncode == 0, ran.stderr
        assert "'finish_reason': 'finished'" in ran.stderr, ran.stderr[-3_000:]
        assert web.missing() <= NOT_BY_SCRAPY, web.missing()
        assert not [visit for visit in web.visits if visit.kind == "forbidden"]
        assert max(web.asked.values()) <= 25, web.asked.most_common(5)
        assert ended - web.visits[-1].when < patience + 60.0
        assert brain.stats()["leased"] == 0
        brain.tend(None)
        audit = brain.audit(None)
        assert audit.ok, audit.findings


@pytest.mark.nightly
def test_the_program_of_the_readme_fetches_every_good_page(neo4j: Neo4j, tmp_path: Path) -> None:
    """Of the sites that do not make it wait: it has forty lines."""
    (tmp_path / "crawler.py").write_text(PROGRAM, encoding="utf-8")
    sites: list[Site] = [sessions(), queries(), odd(), *names()]
    with HostileWeb(sites) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        login = {"GRAPHBRAIN_URI": neo4j.uri, "GRAPHBRAIN_USER": neo4j.user, "GRAPHBRAIN_PASSWORD": neo4j.password}
        own = {"GRAPHBRAIN_CRAWL": "test", "GRAPHBRAIN_LIMIT_SECONDS": "300"}
        hosts = [f"http://{site.host}/" for site in web.sites.values()]
        ran = subprocess.run(
            [sys.executable, "crawler.py", *hosts],
            cwd=tmp_path,
            env={**environment(web), **login, **own},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert ran.returncode == 0 and not ran.stderr, ran.stderr
        assert not web.missing()
        assert max(web.asked.values()) <= 6, web.asked.most_common(5)
        assert brain.audit(None).ok
