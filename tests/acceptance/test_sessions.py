"""The spider of docs/how-to/sessions.md, in processes of its own: two at a time, a restart, and common mistakes."""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from graphbrain import Brain
from tests.acceptance.listening import answering, listening
from tests.documents import PAGES
from tests.plugin import PATIENCE, Neo4j
from tests.verbs import top_of

SPIDER = next(
    text for text in re.findall(r"```python\n(.*?)```", PAGES["how-to/sessions.md"], re.DOTALL) if "Spider" in text
)
TUTORIAL_SITE, TUTORIAL_SPIDER = (
    text
    for text in re.findall(r"```python\n(.*?)```", PAGES["tutorials/scrapy-spider.md"], re.DOTALL)
    if "/members/" in text
)
MEMBERS = 24
FORM = "<form method=post><input name=token type=hidden value={}><input name=name><input name=password type=password>"


class Members:
    """A site whose pages those read who have logged in; anybody else is led to the login."""

    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.tokens: set[str] = set()
        self.read: Counter[str] = Counter()
        self.turned_away: Counter[str] = Counter()
        self.logins = 0
        self.root = ""

    def page(self, path: str) -> str:
        links = "".join(f"<a href=/members/{n}>member {n}</a> " for n in range(MEMBERS))
        return f"<title>{path}</title><p>Of {path} only members may know.<p>{links}<a href=/logout>leave</a>"

    def answer(self, path: str, sent: str, cookie: str) -> tuple[int, Mapping[str, str], str]:
        session = cookie.partition("session=")[2].partition(";")[0]
        if path == "/logout":
            self.sessions.discard(session)
        if path == "/login" and sent:
            given = {name: values[0] for name, values in parse_qs(sent).items()}
            if given.get("token") not in self.tokens or given.get("password") != "sesame":
                return 200, {}, FORM.format("again")
            self.logins += 1
            self.sessions.add(made := secrets.token_hex(8))
            return 302, {"Location": "/welcome", "Set-Cookie": f"session={made}; Path=/"}, ""
        if path.startswith("/login"):
            self.tokens.add(token := secrets.token_hex(8))
            return 200, {}, FORM.format(token)
        if path == "/welcome":
            return 200, {}, "<p>Welcome."
        if session not in self.sessions:
            self.turned_away[path] += 1
            return 302, {"Location": f"/login?next={path}"}, ""
        self.read[path] += 1
        return 200, {}, self.page(path)


@contextmanager
def serving(site: Members) -> Iterator[Members]:
    with answering(site.answer, pause=0.05) as address:
        site.root = f"http://{address}"
        yield site


class Runs:
    """Runs the spider of the docs in a folder, on the brain under test."""

    def __init__(self, neo4j: Neo4j, folder: Path, site: Members) -> None:
        self.neo4j, self.folder, self.site, self.number = neo4j, folder, site, 0

    def start(self, spider: str = SPIDER, password: str = "sesame") -> tuple[subprocess.Popen[str], Path]:
        self.number += 1
        file, items = self.folder / f"spider{self.number}.py", self.folder / f"items{self.number}.jsonl"
        text = spider.replace("https://members.example", self.site.root).replace("members.example", "127.0.0.1")
        file.write_text(text, encoding="utf-8")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and "proxy" not in k.lower()}
        login = {"URI": self.neo4j.uri, "USER": self.neo4j.user, "PASSWORD": self.neo4j.password, "CRAWL": "test"}
        settings = [f"GRAPHBRAIN_{name}={value}" for name, value in login.items()]
        settings += ["GRAPHBRAIN_AUTO_TEND=0", "GRAPHBRAIN_PATIENCE=3", "CONCURRENT_REQUESTS=4"]
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "runspider", file.name, "-o", items.name]
            + [part for each in settings for part in ("-s", each)],
            cwd=self.folder,
            env={**kept, "MEMBER": "ada", "PASSWORD": password},
            stderr=subprocess.PIPE,
            text=True,
        )
        return process, items

    def end(self, run: tuple[subprocess.Popen[str], Path]) -> tuple[list[dict[str, Any]], str]:
        """Its items and its log."""
        process, items = run
        try:
            _, log = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        assert process.returncode == 0, log
        text = items.read_text(encoding="utf-8") if items.exists() else ""
        return [json.loads(line) for line in text.splitlines()], log


@pytest.fixture
def members(neo4j: Neo4j, brain: Brain, tmp_path: Path) -> Iterator[tuple[Members, Runs]]:
    brain.change(allow_hosts="127.0.0.1")
    with serving(Members()) as site:
        yield site, Runs(neo4j, tmp_path, site)


@pytest.mark.long
def test_two_processes_log_in_and_so_does_a_restart(brain: Brain, members: tuple[Members, Runs]) -> None:
    site, runs = members
    paths = {"/members/", *(f"/members/{number}" for number in range(MEMBERS))}
    both = [runs.start(), runs.start()]
    found = [runs.end(run) for run in both]
    items = [item for some, _ in found for item in some]
    assert sorted(item["url"] for item in items) == sorted(site.root + path for path in paths)
    assert site.logins == 2 and site.read == dict.fromkeys(paths, 1) and not site.turned_away
    for _, log in found:
        assert "Traceback" not in log and "is that a login" not in log and "WARNING: 127" not in log, log
    # The brain knows the pages, and no login; no host has a wall.
    assert {page.url for page in top_of(brain, 99)} == {site.root + path for path in paths}
    assert brain.host("127.0.0.1:" + site.root.rpartition(":")[2]).wall is None
    # A restart has no cookies, and pages to fetch.
    assert brain.crawl_now([site.root + "/members/3", site.root + "/members/4"]) == [True, True]
    again, _ = runs.end(runs.start())
    assert {item["title"] for item in again} == {"/members/3", "/members/4"}
    assert site.logins == 3 and site.read["/members/3"] == 2 and not site.turned_away
    assert brain.page(site.root + "/members/3").changes == 0


@pytest.mark.long
@pytest.mark.nightly
def test_a_session_that_ends_is_no_edit_and_closes_the_spider(brain: Brain, members: tuple[Members, Runs]) -> None:
    """The docs' spider gives its pages back; one that does not look is warned of, and no page counts as changed."""
    site, runs = members
    assert len(runs.end(runs.start())[0]) == MEMBERS + 1
    host = "127.0.0.1:" + site.root.rpartition(":")[2]
    asked = [f"{site.root}/members/{number}" for number in range(MEMBERS)]
    links = {url: [page.url for page in brain.links(url)] for url in asked}
    # A wrong password: nothing is fetched, nothing is said of pages.
    brain.crawl_now(asked)
    items, log = runs.end(runs.start(password="wrong"))
    assert not items and "'finish_reason': 'login_failed'" in log and not site.turned_away
    # A process without a login, as the second one is whose login is a seed: it stops at the first form.
    (login,) = re.findall(r".*graphbrain_every_process.*\n", SPIDER)
    assert "'finish_reason': 'session_ended'" in runs.end(runs.start(SPIDER.replace(login, "")))[1]
    # One that does not look for the form reads it as if it were the pages.
    assert site.turned_away
    site.turned_away.clear()
    blind = SPIDER.replace(login, "").replace('raise CloseSpider("session_ended")', "pass")
    items, log = runs.end(runs.start(blind))
    assert len([item for item in items if item["title"] is None]) >= MEMBERS - 4
    assert log.count(f"lead to {site.root}/login for now: is that a login or a consent page?") == 1
    assert (brain.host(host).wall, brain.host(host).walled) == (f"{site.root}/login", sum(site.turned_away.values()))
    pages = [brain.page(url) for url in asked]
    assert sum(page.changes for page in pages) <= 4
    assert sum([page.url for page in brain.links(url)] == links[url] for url in asked) >= MEMBERS - 4
    # With a session it is as it was.
    brain.crawl_now(asked)
    runs.end(runs.start())
    assert brain.host(host).wall is None
    assert sum(page.changes == 0 for page in map(brain.page, asked)) >= MEMBERS - 4


@pytest.mark.long
def test_the_login_of_the_tutorial(neo4j: Neo4j, brain: Brain, tmp_path: Path) -> None:
    site, serve = TUTORIAL_SITE.rstrip().rsplit("\n", 1)
    assert serve == 'ThreadingHTTPServer(("127.0.0.1", 8932), Site).serve_forever()'
    names: dict[str, Any] = {}
    exec(site.replace('["ann"]', '["ada"]'), names)
    with listening(names["Site"]) as address:
        runs, spider = Runs(neo4j, tmp_path, Members()), TUTORIAL_SPIDER.replace("127.0.0.1:8932", address)
        pages = [f"http://{address}/members/", f"http://{address}/members/nests"]
        items, _ = runs.end(runs.start(spider, password="owl"))
        assert sorted(item["url"] for item in items) == pages
        assert brain.crawl_now(pages) == [True, True]
        items, log = runs.end(runs.start(spider, password="wren"))
        assert not items and "'finish_reason': 'login_failed'" in log
        assert {page.url: page.visits for page in map(brain.page, pages)} == dict.fromkeys(pages, 1)
