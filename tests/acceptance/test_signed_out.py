"""Sessions that end within a crawl: no page of a site of members is stored as its login."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphbrain import Brain
from tests.acceptance.clubs import HOST, SECRET, Club, Way, club
from tests.acceptance.test_crawl import command, crawl, told
from tests.plugin import PATIENCE, Neo4j, emptied

START = f"http://{HOST}/m/0"
LASTS = 12


def cookies(folder: Path, site: Club) -> str:
    """A file with a new session."""
    (file := folder / "cookies.txt").write_text(f"{HOST}\tFALSE\t/\tFALSE\t0\tsession\t{site.member()}\n")
    return str(file)


def visited(brain: Brain) -> set[str]:
    """The pages that have been visited."""
    return {page.url for page in brain.find(limit=1_000) if page.visits}


@pytest.mark.parametrize(
    "way", ["same", *(pytest.param(way, marks=pytest.mark.nightly) for way in ("redirect", "entry", "unauthorized"))]
)
def test_a_session_that_ends_leaves_its_pages(neo4j: Neo4j, tmp_path: Path, way: Way) -> None:
    """What was read is stored, what was not waits, and the next crawl with a session brings it."""
    with club(way, lasts=LASTS) as site, emptied(neo4j, delay_seconds=0.0) as brain:
        words = ["--no-contact", "--no-sitemaps", "--json"]
        file = str(tmp_path / "pages.jsonl")
        ran = crawl(neo4j, site.address, START, "--cookies", cookies(tmp_path, site), "--jsonl", file, *words)
        assert ran.returncode == 5 and told(ran)["exit_code"] == 5, ran
        assert f"The session at {HOST} has ended" in ran.stderr and "--login" in ran.stderr
        assert visited(brain) == {f"http://{HOST}{path}" for path in site.read}
        assert {json.loads(line)["title"] for line in Path(file).read_text().splitlines()} == {
            f"Page {path.rpartition('/')[2]}" for path in site.read
        }
        assert brain.stats()["leased"] == 0
        site.lasts = 1_000
        ran = crawl(neo4j, site.address, "--cookies", cookies(tmp_path, site), *words)
        assert ran.returncode == 0 and len(site.read) == site.pages, ran
        assert set(site.read.values()) == {1} and "/logout" not in ran.stderr
        assert brain.audit(None).ok


def test_pages_that_were_read_before_are_kept(neo4j: Neo4j, tmp_path: Path) -> None:
    """403 is the end of a session where the last visit brought the page; nothing fails, and nothing has changed."""
    with club("forbidden", pages=8) as site, emptied(neo4j, delay_seconds=0.0) as brain:
        words = ["--no-contact", "--no-sitemaps"]
        assert crawl(neo4j, site.address, START, "--cookies", cookies(tmp_path, site), *words).returncode == 0
        before = {page.url: (page.visits, page.errors) for page in brain.find(limit=99)}
        assert len(before) == len(site.read) == 8
        brain.crawl_now(list(before))
        site.lasts = 0
        ran = crawl(neo4j, site.address, "--cookies", cookies(tmp_path, site), *words)
        assert ran.returncode == 5 and "have the status 403, and had 200 before" in ran.stderr, ran
        assert {page.url: (page.visits, page.errors) for page in brain.find(limit=99)} == before


def test_a_public_site_with_a_login_box_is_no_wall(neo4j: Neo4j, tmp_path: Path) -> None:
    """Each page has a form for a password, and words of its own; nothing is taken for a login, and nothing is left."""
    with club("public") as site, emptied(neo4j, delay_seconds=0.0):
        (other := tmp_path / "other.txt").write_text("other.example\tFALSE\t/\tFALSE\t0\tsession\tx\n")
        refused = crawl(neo4j, site.address, START, "--cookies", str(other), "--no-contact")
        assert refused.returncode == 1 and f"has no cookie for {HOST}" in refused.stderr and not site.read, refused
        words = ["--cookies", cookies(tmp_path, site), "--no-contact", "--no-sitemaps", "--json"]
        ran = crawl(neo4j, site.address, START, *words)
        assert ran.returncode == 0 and told(ran)["fetched"] == site.pages == len(site.read), ran
        assert told(ran)["not_followed"] == {"links that log out or delete (--follow-logout)": 2}
        assert "login" not in ran.stderr and "session" not in ran.stderr


def test_a_crawl_logs_in_again_three_times_an_hour(neo4j: Neo4j, tmp_path: Path) -> None:
    """Then the host is left. No archive has the password, and none the login in place of a page."""
    with club("same", pages=60, lasts=10) as site, emptied(neo4j, delay_seconds=0.0) as brain:
        (file := tmp_path / "login.toml").write_text(
            f'url = "http://{HOST}/login"\nsuccess = "Page 0"\nfields = {{user = "ada", secret = "$SECRET"}}\n'
        )
        words = ["--login", str(file), "--no-contact", "--no-sitemaps", "--no-requisites"]
        refused = crawl(neo4j, site.address, START, *words)
        assert refused.returncode == 1 and "the environment variable SECRET" in refused.stderr
        ran = crawl(neo4j, site.address, START, *words, "--warc", str(tmp_path / "warc"), SECRET=SECRET)
        assert ran.returncode == 5 and "after 3 logins within an hour" in ran.stderr, ran
        assert site.logins == 4 and visited(brain) == {f"http://{HOST}{path}" for path in site.read}
        (packed,) = (tmp_path / "warc").glob("*.warc.gz")
        archived = gzip.decompress(packed.read_bytes())
        assert SECRET.encode() not in archived and b"Sign in" not in archived and b"Page 0" in archived
        site.lasts = 1_000
        assert crawl(neo4j, site.address, *words, SECRET=SECRET).returncode == 0
        assert len(site.read) == site.pages
        wrong = crawl(neo4j, site.address, *words, SECRET="wren")
        assert wrong.returncode == 5 and "was not accepted" in wrong.stderr and "wren" not in wrong.stderr, wrong


SPIDER = """
import scrapy

class Club(scrapy.Spider):
    name = "club"
    custom_settings = {"ADDONS": {"graphbrain.scrapy.Addon": 500}, "GRAPHBRAIN_SESSION": True,
                       "GRAPHBRAIN_PATIENCE": 3}

    async def start(self):
        yield scrapy.Request("http://club.example/m/0")

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")
"""


@pytest.mark.parametrize(
    "way", ["redirect", *(pytest.param(way, marks=pytest.mark.nightly) for way in ("same", "public"))]
)
def test_the_spiders_callback_gets_no_login(neo4j: Neo4j, tmp_path: Path, way: Way) -> None:
    """Nor does it log out. `GRAPHBRAIN_SESSION` is all that a spider sets."""
    with club(way, pages=24, lasts=LASTS) as site, emptied(neo4j, delay_seconds=0.0) as brain:
        header = f'"DEFAULT_REQUEST_HEADERS": {{"Cookie": "session={site.member()}"}}, "COOKIES_ENABLED": False,'
        (tmp_path / "club.py").write_text(SPIDER.replace('"ADDONS"', f'{header} "ADDONS"'))
        _, env = command(neo4j, site.address)
        ran = subprocess.run(
            [sys.executable, "-m", "scrapy", "runspider", "club.py", "-o", "items.jsonl"],
            cwd=tmp_path, env=env, capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
        titles = {json.loads(line)["title"] for line in (tmp_path / "items.jsonl").read_text().splitlines()}
        assert titles == {f"Page {path.rpartition('/')[2]}" for path in site.read}
        assert visited(brain) == {f"http://{HOST}{path}" for path in site.read} and brain.stats()["leased"] == 0
        assert ("The session at club.example has ended" in ran.stderr) == (way != "public"), ran.stderr
        reason = "finished" if way == "public" else "graphbrain_signed_out"
        assert f"'finish_reason': '{reason}'" in ran.stderr and "'graphbrain/left_out': 2" in ran.stderr, ran.stderr
        assert len(site.read) == (24 if way == "public" else LASTS)
