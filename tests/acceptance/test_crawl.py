"""`graphbrain crawl`, as a user runs it: whole crawls over loopback, their limits, exit codes and files."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any
from urllib.request import ProxyHandler, build_opener
from zipfile import ZipFile

import psutil
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from graphbrain.demo.web import Web
from tests.acceptance.conftest import CHROMIUM
from tests.acceptance.hostile_web import Ask, HostileWeb, Reply, Site, page, plain
from tests.plugin import PATIENCE, Neo4j, emptied, eventually

KEY = "c0nf1dent1al"


def command(neo4j: Neo4j, proxy: str, *words: str) -> tuple[list[str], dict[str, str]]:
    """The command and its environment."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHBRAIN_") and "proxy" not in k.lower()}
    login = {"URI": neo4j.uri, "USER": neo4j.user, "PASSWORD": neo4j.password, "CRAWL": "test", "LIMIT_SECONDS": "300"}
    env = {**kept, **{f"GRAPHBRAIN_{name}": value for name, value in login.items()}, "http_proxy": f"http://{proxy}"}
    return [sys.executable, "-m", "graphbrain", "crawl", *words], env


def crawl(neo4j: Neo4j, proxy: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end. `more`: variables of its environment."""
    words_, env = command(neo4j, proxy, *words)
    return subprocess.run(
        words_, env=env | more, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
    )


@contextmanager
def hostile(*sites: Site) -> Iterator[HostileWeb]:
    with HostileWeb(sites) as web:
        yield web


def told(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What it printed with --json."""
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_a_site_from_the_first_command_to_the_end(neo4j: Neo4j, tmp_path: Path) -> None:
    """Limits, going on, an end, what is refused on a brain with pages, and the lines of a file."""
    out = tmp_path / "pages.jsonl"
    with Web(pages=120) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        url = "http://links.example/"
        asked = crawl(neo4j, web.proxy, url)
        assert asked.returncode == 1 and "--contact" in asked.stderr, asked
        lines_to = ("--jsonl", str(out))
        few = crawl(neo4j, web.proxy, url, "--contact", "me@a.example", "--max-pages", "3", "--json", *lines_to)
        assert few.returncode == 3 and told(few)["fetched"] == 3, few
        assert "goes on where it stopped" in few.stderr and "Traceback" not in few.stderr
        before = len(out.read_text(encoding="utf-8").splitlines())
        rest = crawl(neo4j, web.proxy, "--text", *lines_to)
        assert rest.returncode == 0, rest
        names = [line.split("\t")[0] for line in rest.stdout.splitlines()]
        assert names == ["name", "fetched", "changed", "broken", "duplicates", "left out", "look"]
        known = {found.url for found in brain.find(state="known")}
        lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert {line["url"] for line in lines if line["outcome"] == "new"} == known
        assert all(line["text"] for line in lines[before:] if line["outcome"] == "new")
        assert {visit.host for visit in web.visits} == {"links.example"}
        assert brain.audit(None).ok


@pytest.mark.long
def test_a_brain_with_pages_keeps_its_settings(neo4j: Neo4j, tmp_path: Path) -> None:
    """What differs is refused in a sentence; options come from a file, too."""
    url, file = "http://links.example/", tmp_path / "crawl.toml"
    file.write_text(f'urls = "{url}"\ncontact = "me@a.example"\nmax-pages = 500\nexclude = "zzz"\n', encoding="utf-8")
    with Web(pages=120) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        assert crawl(neo4j, web.proxy, "--config", str(file)).returncode == 0
        brain.tend(0)
        assert brain.settings.deny_urls == "zzz" and "me@a.example" in brain.settings.user_agent
        again = crawl(neo4j, web.proxy, url)
        assert again.returncode == 0 and "nothing is to be fetched now" in again.stderr, again
        for words, said in (
            (["http://birds.example/"], "--add"),
            ([url, "--delay", "3"], "--delay"),
            ([url, "--scope", "domain"], "another scope"),
        ):
            refused = crawl(neo4j, web.proxy, *words)
            assert refused.returncode == 1 and said in refused.stderr and len(refused.stderr.splitlines()) == 1
        assert brain.audit(None).ok


@pytest.mark.parametrize(
    ("words", "said"),
    [(["http://a.example/"], "--contact"), ([], "empty"), (["http://a.example/", "--add", "--anew"], "--add")],
)
def test_an_order_that_would_be_refused_starts_no_server(tmp_path: Path, words: list[str], said: str) -> None:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GRAPHBRAIN_")}
    ran = subprocess.run(
        [sys.executable, "-m", "graphbrain", "crawl", *words], env=kept | {"GRAPHBRAIN_DATA": str(tmp_path / "new")},
        capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 1 and said in ran.stderr and "Traceback" not in ran.stderr, ran
    assert not (tmp_path / "new").exists()


def test_anew_empties_the_brain_and_its_scope(neo4j: Neo4j) -> None:
    """When it is confirmed, and no other crawl holds a claim."""
    with hostile(Site("one.example", plain(3)), Site("two.example", plain(3))) as web, emptied(neo4j) as brain:
        brain.change(delay_seconds=0.0)
        assert crawl(neo4j, web.proxy, "http://one.example/", "--exclude", "/2", "--no-contact").returncode == 0
        other = crawl(neo4j, web.proxy, "http://two.example/")
        assert other.returncode == 1 and "--anew" in other.stderr, other
        unsure = crawl(neo4j, web.proxy, "http://two.example/", "--anew", "--no-contact")
        assert unsure.returncode == 1 and "--yes" in unsure.stderr and brain.page("http://one.example/").visits
        brain.crawl_now(["http://one.example/"])
        (held,) = brain.next_urls(1, now_only=True)
        busy = crawl(neo4j, web.proxy, "http://two.example/", "--anew", "--yes", "--no-contact")
        assert busy.returncode == 1 and "holds 1 page" in busy.stderr, busy
        brain.give_back([held])
        nameless = crawl(neo4j, web.proxy, "http://two.example/", "--anew", "--yes")
        assert nameless.returncode == 1 and "--contact" in nameless.stderr and brain.stats()["pages"], nameless
        anew = crawl(neo4j, web.proxy, "http://two.example/", "--anew", "--yes", "--json", "--no-contact")
        assert anew.returncode == 0 and told(anew)["fetched"] > 1, anew
        brain.tend(0)
        assert {page.host for page in brain.find()} == {"two.example"} and not brain.settings.deny_urls


def member(key: str) -> Callable[[Ask], Reply]:
    """A page for those who have a key and a cookie; others are sent to a host outside."""

    def answer(ask: Ask) -> Reply:
        given = {name.lower(): value for name, value in ask.headers.items()}
        if given.get("x-key") == key and f"session={key}" in given.get("cookie", ""):
            return page("/1", "/out")
        return Reply(403)

    return answer


@pytest.mark.long
def test_secrets_go_to_the_scope_and_nowhere_else(neo4j: Neo4j, tmp_path: Path) -> None:
    """A redirect out of the scope is not followed; no file, note or log has them."""
    seen: list[tuple[str, str]] = []

    def note(ask: Ask) -> Reply | None:
        seen.extend((ask.host, f"{name}: {value}") for name, value in ask.headers.items() if KEY in value)
        return None

    out = Reply(302, headers={"Location": "http://outside.example/"})
    inside = Site("inside.example", {"/": member(KEY), "/1": member(KEY), "/out": out}, good={"/", "/1"}, first=note)
    outside = Site("outside.example", plain(2), first=note)
    cookies = tmp_path / "cookies.txt"
    lines = [f".{name}.example\tTRUE\t/\tFALSE\t0\tsession\t{KEY}" for name in ("inside", "outside")]
    cookies.write_text("\n".join(["# Netscape HTTP Cookie File", *lines, ""]), encoding="utf-8")
    with hostile(inside, outside) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        ran = crawl(
            neo4j, web.proxy, "http://inside.example/", "--no-contact", "--cookies", str(cookies), "--header",
            f"X-Key: {KEY}", "--jsonl", str(tmp_path / "p.jsonl"), "--log", str(tmp_path / "log"), "--max-time", "60s",
        )  # fmt: skip
        hosts = Counter(host for host, _ in seen)
        assert hosts["inside.example"] and set(hosts) == {"inside.example"}, (seen, ran)
        assert not any(visit.host == "outside.example" for visit in web.visits), (web.visits, ran)
        assert all(web.got[name] for name in ("inside.example/", "inside.example/1"))
        written = "".join((tmp_path / name).read_text(encoding="utf-8") for name in ("p.jsonl", "log"))
        assert KEY not in written + ran.stdout + ran.stderr
        assert not [value for value in map(str, brain.dump_pages()) if KEY in value]


def test_a_site_that_blocks_is_named(neo4j: Neo4j) -> None:
    site = Site("blocks.example", {"/": Reply(403)})
    with hostile(site) as web, emptied(neo4j, delay_seconds=0.0):
        ran = crawl(neo4j, web.proxy, "http://blocks.example/", "--no-contact", "--max-time", "50s")
        assert ran.returncode == 4, ran
        assert "blocks.example" in ran.stderr and "403" in ran.stderr and "nothing could be fetched" in ran.stderr


@pytest.mark.long
@pytest.mark.nightly
def test_a_port_that_refuses_is_named(neo4j: Neo4j) -> None:
    """Though nothing but its robots.txt was asked for."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{free.getsockname()[1]}"
    with emptied(neo4j, delay_seconds=0.0):
        ran = crawl(neo4j, closed, "http://closed.example/", "--no-contact", "--max-time", "30s")
        assert ran.returncode == 4, ran
        assert "closed.example does not answer" in ran.stderr and "refuses connections" in ran.stderr, ran


def test_what_cannot_be_written_is_named_before_a_request(neo4j: Neo4j, tmp_path: Path) -> None:
    (file := tmp_path / "file").touch()
    with hostile(Site("few.example", plain(2))) as web, emptied(neo4j, delay_seconds=0.0):
        for option in ("--log", "--jsonl", "--warc"):
            ran = crawl(neo4j, web.proxy, "http://few.example/", "--no-contact", option, str(file / "below"))
            assert ran.returncode == 1 and f"{file / 'below'} cannot be written (Not a directory)" in ran.stderr, ran
            said = [line for line in ran.stderr.splitlines() if "this empty brain has settings" not in line]
            assert len(said) == 1 and not ran.stdout and not web.visits


def test_a_crawl_ends_though_its_pages_are_due_again(neo4j: Neo4j) -> None:
    """Where a page is due again before the crawl is over, only --revisit goes on for ever."""
    with hostile(Site("soon.example", plain(40))) as web, emptied(neo4j, delay_seconds=0.0, revisit_seconds=1.0):
        ran = crawl(neo4j, web.proxy, "http://soon.example/", "--no-contact", "--concurrency", "2", "--json")
        assert ran.returncode == 0 and told(ran)["outcomes"]["new"] == 41, ran


@pytest.mark.long
def test_what_is_new_changed_and_gone_has_a_line_each(neo4j: Neo4j, tmp_path: Path) -> None:
    """With --revisit; a page that stays missing is gone once, and a page that the file lacks has a line, too."""
    edited, out = [False], tmp_path / "news.jsonl"

    def now(ask: Ask) -> Reply:
        if not edited[0]:
            return page("/same", "/edited", "/removed") if ask.target == "/" else page()
        after = {"/": page("/same", "/edited", "/removed", "/added"), "/removed": Reply(404), "/edited": page("/other")}
        return after.get(ask.target, page())

    site = Site("news.example", dict.fromkeys(("/", "/same", "/edited", "/removed", "/added"), now))
    with hostile(site) as web, emptied(neo4j, delay_seconds=0.0, revisit_seconds=1.0):
        assert crawl(neo4j, web.proxy, "http://news.example/", "--no-contact").returncode == 0
        edited[0] = True
        words, env = command(neo4j, web.proxy, "--no-contact", "--revisit", "--jsonl", str(out))
        running = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:

            def news() -> Counter[tuple[str, str]]:
                text = out.read_text(encoding="utf-8") if out.exists() else ""
                lines = [json.loads(line) for line in text.splitlines()]
                return Counter((line["url"].removeprefix("http://news.example"), line["outcome"]) for line in lines)

            wanted = {("/", "changed"), ("/edited", "changed"), ("/removed", "gone"), ("/added", "new")}
            eventually(lambda: wanted <= news().keys(), "news", running)
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
        assert running.returncode == 130
        once = {("/removed", "gone"), ("/added", "new"), ("/same", "same")}
        assert {found: count for found, count in news().items() if found[1] != "changed"} == dict.fromkeys(once, 1)


@pytest.mark.long
def test_the_console_ends_with_its_crawl_even_if_that_is_killed(neo4j: Neo4j, tmp_path: Path) -> None:
    """It is served while the crawl runs; no process is left afterwards."""
    with (
        hostile(Site("long.example", plain(200))) as web,
        emptied(neo4j, delay_seconds=1.0),
        (tmp_path / "said").open("w+", encoding="utf-8") as said,
    ):
        words, env = command(neo4j, web.proxy, "http://long.example/", "--no-contact", "--console")
        running = subprocess.Popen(words, env={**env, "BROWSER": "true"}, stdout=subprocess.PIPE, stderr=said)

        def address() -> str:
            found = re.search(r"(http://127\S+/console)#token=", Path(said.name).read_text(encoding="utf-8"))
            return found[1] if found else ""

        def served() -> bool:
            try:
                return bool(build_opener(ProxyHandler({})).open(address(), timeout=PATIENCE).status == 200)
            except OSError:
                return False

        try:
            eventually(lambda: bool(address()), "an address", running)
            assert served()
        finally:
            running.kill()
            running.communicate()
        eventually(lambda: not served(), "the end of the console")


def test_the_last_page_of_a_limit_may_lead_elsewhere(neo4j: Neo4j) -> None:
    """What a page leads to for now is a part of its visit, and needs no room of its own."""
    site = Site("moved.example", {"/": Reply(302, headers={"Location": "/here"}), "/here": page("/1", "/2")})
    with hostile(site) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        ran = crawl(neo4j, web.proxy, "http://moved.example/", "--no-contact", "--max-pages", "1", "--json")
        assert ran.returncode == 3 and told(ran)["fetched"] == 1, ran
        assert brain.stats()["leased"] == 0


def test_a_login_wall_is_no_page(neo4j: Neo4j) -> None:
    """However many pages lead there, nothing was fetched."""
    form = page(body=b"<form><input type=password name=p></form>", Content_Type="text/html")
    site = Site("members.example", {"/": Reply(302, headers={"Location": "/login?next=/"}), "/login?next=/": form})
    with hostile(site) as web, emptied(neo4j, delay_seconds=0.0):
        ran = crawl(neo4j, web.proxy, "http://members.example/", "--no-contact")
        assert ran.returncode == 4 and "http://members.example/login" in ran.stderr, ran
        assert "all pages led to a login" in ran.stderr


@pytest.mark.long
def test_two_share_one_is_killed_one_is_interrupted(neo4j: Neo4j, tmp_path: Path) -> None:
    """No page is fetched twice by two that share; what a killed one held, and had not written, is made up for."""
    sites = Site("many.example", plain(150))
    with hostile(sites) as web, emptied(neo4j, delay_seconds=0.0, lease_seconds=5.0) as brain:
        files = [tmp_path / f"{n}.jsonl" for n in range(2)]

        def start(file: Path, *words: str) -> subprocess.Popen[str]:
            line, env = command(neo4j, web.proxy, *words, "--no-contact", "--jsonl", str(file), "--concurrency", "4")
            return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        both = [start(file, "http://many.example/") for file in files]
        try:
            eventually(lambda: len(web.visits) > 30, "pages", both[0])
            both[0].send_signal(signal.SIGKILL)
            both[0].communicate()
            before = len(web.visits)  # what the killed one had fetched of these, and not reported yet, is fetched again
            eventually(lambda: len(web.visits) > 70, "more pages", both[1])
            both[1].send_signal(signal.SIGINT)
            _, said = both[1].communicate(timeout=PATIENCE)
        finally:
            for process in both:
                process.kill()
        assert both[1].returncode == 130 and "goes on where it stopped" in said, said
        assert not [claim for claim in brain.find(state="frontier") if claim.worker and claim.lease_until is None]
        for file in files:
            assert crawl(neo4j, web.proxy, "--jsonl", str(file), "--no-contact").returncode == 0
        asked = Counter(f"{visit.host}{visit.target}" for visit in web.visits if visit.kind == "good")
        good = {name for name in web.good if name.startswith("many.example")}
        assert set(asked) == good and sum(asked.values()) <= len(good) + before + 4, asked.most_common(9)
        assert _urls(files) == {found.url for found in brain.find(state="known")}
        assert brain.audit(None).ok


def _urls(files: Sequence[Path]) -> set[str]:
    lines = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return {line["url"] for line in lines}


def test_an_archive_has_each_page_and_what_it_needs(neo4j: Neo4j, tmp_path: Path) -> None:
    """Requisites come once each, also from other hosts, and are no pages; secrets are withheld."""

    def member(ask: Ask) -> Reply:
        given = {name.lower(): value for name, value in ask.headers.items()}
        assert given.get("x-key") == KEY
        body = b'<link rel=stylesheet href=/s.css><img src="http://cdn.example/i.png"><a href="/1">1</a>'
        return page(body=body, Content_Type="text/html")

    css = Reply(200, headers={"Content-Type": "text/css"}, body=b"p { background: url(bg.png) }")
    image = Reply(200, headers={"Content-Type": "image/png"}, body=b"png")
    site = Site("inside.example", {"/": member, "/1": member, "/s.css": css, "/bg.png": image}, good={"/", "/1"})
    cdn = Site("cdn.example", {"/i.png": image})
    folder = tmp_path / "warc"
    with hostile(site, cdn) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        words = ("http://inside.example/", "--no-contact", "--header", f"X-Key: {KEY}", "--warc", str(folder))
        ran = crawl(neo4j, web.proxy, *words)
        assert ran.returncode == 0, ran
        lists = ("/robots.txt", "/sitemap.xml")
        asked = Counter(f"{visit.host}{visit.target}" for visit in web.visits if visit.target not in lists)
        assert set(asked) == {f"inside.example{path}" for path in ("/", "/1", "/s.css", "/bg.png")} | {
            "cdn.example/i.png"
        }
        assert set(asked.values()) == {1}, asked
        assert brain.stats()["pages"] == 2
    (file,) = folder.glob("*.warc.gz")
    with file.open("rb") as read:
        records = list(ArchiveIterator(read))
        assert {record.headers["WARC-Target-URI"] for record in records if "WARC-Target-URI" in record.headers} >= {
            f"http://{name}" for name in asked
        }
    assert KEY.encode() not in gzip.decompress(file.read_bytes())
    check = [sys.executable, "-c", "from warcio.cli import main; main()", "check", str(file)]
    assert subprocess.run(check, check=False).returncode == 0


def test_a_new_output_of_a_brain_with_pages_has_them_all(neo4j: Neo4j, tmp_path: Path) -> None:
    """Although the site has nothing newer; what they have of it is asked for by its ETag again."""
    asked: list[tuple[str, bool]] = []

    def stamped(ask: Ask) -> Reply:
        newer = ask.headers.get("If-None-Match") == f'"{ask.target}"'
        asked.append((ask.target, newer))
        stamp = {"ETag": f'"{ask.target}"', "Content-Type": "text/html", "X-Bytes": "\xe9"}
        body = f"<p>{ask.target}</p>" + "".join(f"<a href=/{n}>{n}</a>" for n in (1, 2))
        return Reply(304, headers=stamp, kind="unmodified") if newer else Reply(200, headers=stamp, body=body.encode())

    paths = ["/", "/1", "/2"]
    urls = [f"http://same.example{path}" for path in paths]
    site = Site("same.example", dict.fromkeys(paths, stamped), good=set(paths))
    with hostile(site) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        assert crawl(neo4j, web.proxy, urls[0], "--no-contact").returncode == 0
        for run, newer in enumerate((False, True)):
            asked.clear()
            brain.crawl_now(urls)
            outputs = ("--warc", str(tmp_path / "warc"), "--jsonl", str(tmp_path / "pages.jsonl"), "--text")
            outputs += ("--wacz", str(tmp_path / "site.wacz")) if newer else ()
            ran = crawl(neo4j, web.proxy, "--no-contact", *outputs)
            assert ran.returncode == 0 and "Traceback" not in ran.stderr, ran
            assert sorted(asked) == [(path, newer) for path in paths], run
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["url"]: (line["text"][:2].strip(), line["links"]) for line in lines if line["status"] == 200} == {
        url: (path[:2], 2) for url, path in zip(urls, paths, strict=True)
    }
    with ZipFile(tmp_path / "site.wacz") as packed:
        _, *listed = [json.loads(line) for line in packed.read("pages/pages.jsonl").splitlines()]
    assert sorted(one["url"] for one in listed) == urls and sum("seed" in one for one in listed) == 0
    kinds = Counter[tuple[str, str]]()
    for file in (tmp_path / "warc").glob("*.warc.gz"):
        with file.open("rb") as read:
            kinds += Counter(
                (record.headers["WARC-Type"], record.headers["WARC-Target-URI"])
                for record in ArchiveIterator(read, parse_http=False)
                if record.headers["WARC-Type"] in ("response", "revisit", "metadata")
            )
    assert all(kinds[kind, url] == 1 for kind in ("response", "revisit", "metadata") for url in urls), kinds


def cut_off(dice: random.Random) -> tuple[Reply, bytes]:
    """An answer that ends early, by its length or within or behind a chunk, and what has come of its body."""
    body = dice.randbytes(dice.randrange(1, 3_000))
    part = body[: dice.randrange(len(body))]
    by_chunks = {"Transfer-Encoding": "chunked", "Content-Length": ""}
    headers, sent, came = dice.choice([
        ({"Content-Length": str(len(body))}, part, part),
        (by_chunks, b"%x\r\n%b" % (len(body), part), part),
        (by_chunks, b"%x\r\n%b\r\n%x" % (len(body), body, len(body)), body),
    ])  # fmt: skip
    return Reply(200, headers=headers, body=sent), came


def test_answers_that_are_cut_off_anywhere_are_archived_and_marked(neo4j: Neo4j, tmp_path: Path) -> None:
    """With the bytes that have come; they are no pages."""
    dice = random.Random(13)
    cut = {f"/cut/{number}": cut_off(dice) for number in range(30)}
    site = Site("cut.example", {"/": page(*cut), **{path: reply for path, (reply, _) in cut.items()}})
    with hostile(site) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        ran = crawl(neo4j, web.proxy, "http://cut.example/", "--no-contact", "--warc", str(tmp_path))
        assert ran.returncode == 0, ran
        assert brain.stats()["states"] == {"known": 1, "frontier": len(cut)}
    found = {}
    for file in tmp_path.glob("*.warc.gz"):
        with file.open("rb") as read:
            for record in ArchiveIterator(read, record_types=WarcRecordType.response):
                found[record.headers["WARC-Target-URI"]] = record.headers.get("WARC-Truncated"), record.reader.read()
    assert found.pop("http://cut.example/")[0] is None
    assert {url: each for url, each in found.items() if "/cut/" in url} == {
        f"http://cut.example{path}": ("disconnect", came) for path, (_, came) in cut.items()
    }


@pytest.mark.long
@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the system does not list memory by kind")
def test_the_memory_of_a_crawl_does_not_grow_with_it(neo4j: Neo4j, tmp_path: Path) -> None:
    """In the second half by less than two objects a page: a response or a request that is kept has three or more. Of
    memory without such a leak, caches and the allocator's pools take 1 to 4 kB a page here, and nothing after 15,000
    pages."""
    memory = tmp_path / "memory"
    with emptied(neo4j, delay_seconds=0.0):
        line, env = command(neo4j, "127.0.0.1:1")
        words = ("--no-contact", "--no-sitemaps", "--concurrency", "100", "--jsonl", str(tmp_path / "pages.jsonl"))
        line[1:] = ["-m", "tests.acceptance.made_up_web", str(memory), "8000", *words]
        line += ["--warc", str(tmp_path / "warc"), "--no-requisites", "--max-pages", "6050"]
        del env["http_proxy"]
        running = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            eventually(lambda: _held(memory).get(3_000), "half of the pages", running)
            eventually(lambda: _held(memory).get(6_000), "all pages", running)
            running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
        assert running.returncode == 3
    held = _held(memory)
    early = max(objects for pages, (_, objects) in held.items() if pages <= 3_000)
    late = max(objects for pages, (_, objects) in held.items() if 3_000 < pages <= 6_000)
    assert late - early < 2 * 3_000, held
    assert held[6_000][0] - held[3_000][0] < 12_000, held


def _held(file: Path) -> dict[int, tuple[int, int]]:
    """Pages → memory in kB, and objects, as tests.acceptance.made_up_web has written them."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {int(pages): (int(kb), int(objects)) for pages, kb, objects in (line.split() for line in lines)}


def archived(folder: Path) -> set[str]:
    """The URLs of all responses in an archive. Both readers find all records whole, and each line of the indexes leads
    to its record."""
    urls: set[str] = set()
    for file in folder.glob("*.warc.gz"):
        check = [sys.executable, "-c", "from warcio.cli import main; main()", "check", str(file)]
        assert subprocess.run(check, check=False).returncode == 0, file
        with file.open("rb") as read:
            records = [
                (record.headers["WARC-Target-URI"], record.stream_pos)
                for record in ArchiveIterator(read, parse_http=False)
                if record.verify_block_digest() and record.headers["WARC-Type"] in ("response", "revisit")
            ]
        index = file.with_name(file.name.removesuffix(".warc.gz") + ".cdxj").read_text(encoding="utf-8").splitlines()
        lines = [json.loads(line.split(" ", 2)[2]) for line in index]
        assert Counter((line["url"], int(line["offset"])) for line in lines) == Counter(records)
        urls |= {url for url, _ in records}
    assert not list(folder.glob("*.open"))
    return urls


@pytest.mark.long
@pytest.mark.parametrize(
    "torn", ["in the head of the next one", pytest.param("in its last record", marks=pytest.mark.nightly)]
)
def test_an_archive_of_a_crawl_that_was_killed_is_whole_again(neo4j: Neo4j, tmp_path: Path, torn: str) -> None:
    """The next run cuts off the torn record, with a sentence, and each page that was recorded is in the archive."""
    folder = tmp_path / "warc"
    with (
        hostile(Site("many.example", plain(120))) as web,
        emptied(neo4j, delay_seconds=0.0, lease_seconds=5.0) as brain,
    ):
        words = ("http://many.example/", "--no-contact", "--warc", str(folder), "--concurrency", "4")
        line, env = command(neo4j, web.proxy, *words)
        running = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            eventually(lambda: len(web.visits) > 40, "pages", running)
        finally:
            running.kill()
            running.communicate()
        (opened,) = folder.glob("*.open")
        data = opened.read_bytes()
        opened.write_bytes(data[:-9] if torn == "in its last record" else data + data[:9])
        rest = crawl(neo4j, web.proxy, "--no-contact", "--warc", str(folder))
        assert rest.returncode == 0 and "Traceback" not in rest.stderr, rest
        (said,) = [text for text in rest.stderr.splitlines() if "was left by a crawl that was killed" in text]
        assert "a torn record (" in said and opened.name.removesuffix(".open") in said, rest
        assert archived(folder) >= {found.url for found in brain.find(state="known")}
        assert brain.audit(None).ok


def test_a_full_disk_ends_a_crawl_with_a_sentence_and_loses_no_line(neo4j: Neo4j, tmp_path: Path) -> None:
    """A limit of the size of files stands for the full disk."""
    out = tmp_path / "pages.jsonl"
    with hostile(Site("many.example", plain(40))) as web, emptied(neo4j, delay_seconds=0.0, lease_seconds=5.0) as brain:
        line, env = command(neo4j, web.proxy, "http://many.example/", "--no-contact", "--jsonl", str(out))
        limited = ["prlimit", "--fsize=3000", *line]
        full = subprocess.run(limited, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert full.returncode == 1 and "cannot be written (File too large): make room" in full.stderr, full
        assert "Traceback" not in full.stderr
        rest = crawl(neo4j, web.proxy, "--no-contact", "--jsonl", str(out))
        assert rest.returncode == 0, rest
        assert _urls([out]) == {found.url for found in brain.find(state="known")}


def script(body: str, kind: str = "text/javascript") -> Reply:
    return Reply(200, headers={"Content-Type": kind}, body=body.encode())


def shown_by(name: str, **headers: str) -> Reply:
    """A page whose contents are made by a script."""
    body = f'<!doctype html><meta charset=utf-8><link rel=stylesheet href=/s.css><body><script src="{name}"></script>'
    return page(body=body.encode(), Content_Type="text/html", **headers)


APP = """
document.title = "made by a script";
document.body.insertAdjacentHTML("beforeend", "<img src=/i.png><a href=/written>written</a>");
fetch("/data.json", {headers: {"X-Requested-With": "app"}}).then(answer => answer.json()).then(found => {
    for (const name of found) document.body.insertAdjacentHTML("beforeend", `<a href="/${name}">${name}</a>`);
});
fetch("/forbidden/data.json").catch(() => 0);
fetch("/data.json", {method: "POST", body: "1"}).catch(() => 0);
fetch("http://127.0.0.1:1/").catch(() => 0);
fetch("http://elsewhere.example/data.json").catch(() => 0);
"""


def made_by_scripts(*names: str) -> tuple[Site, Site]:
    """A site whose links to `names` are made by scripts, and one beside it that has some of its scripts."""
    pages: dict[str, Reply | Callable[[Ask], Reply]] = {
        "/": shown_by("/app.js", ETag='"always the same"'),
        "/app.js": script(APP),
        "/s.css": script("body { color: red }", "text/css"),
        "/i.png": script("png", "image/png"),
        "/data.json": script(json.dumps(names), "application/json"),
        "/written": page(),
        "/fetched": shown_by("/app.js"),
        "/moves": page(body=b"<script>location.href = '/moved'</script>", Content_Type="text/html"),
        "/moved": page(),
        "/endless": page(body=b"<script>for (;;);</script>", Content_Type="text/html"),
        "/other": shown_by("http://cdn.example/far.js"),
        "/far": page(),
    }
    far = script("document.body.insertAdjacentHTML('beforeend', '<a href=/far>far</a>')")
    pages["/robots.txt"] = script("User-agent: *\nDisallow: /forbidden/", "text/plain")
    return Site("scripts.example", pages), Site("cdn.example", {"/far.js": far})


def beneath(process: int) -> list[psutil.Process]:
    return psutil.Process(process).children(recursive=True)


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize("endless", [(), pytest.param(("endless",), marks=pytest.mark.nightly)])
def test_links_that_scripts_make_are_found_with_render_alone(
    neo4j: Neo4j, tmp_path: Path, endless: tuple[str, ...]
) -> None:
    """Scripts and data of the scope are fetched, once; images, styles, POST, other hosts and forbidden files are
    not. The archive has the traffic, and no rendered page. A page that cannot be rendered has failed, and no other."""
    url, folder, out = "http://scripts.example/", tmp_path / "warc", tmp_path / "pages.jsonl"
    lists = ("/robots.txt", "/sitemap.xml")
    with hostile(*made_by_scripts("fetched", "moves", "other", *endless)) as web:
        with emptied(neo4j, delay_seconds=0.0) as brain:
            assert crawl(neo4j, web.proxy, url, "--no-contact").returncode == 0
            assert [found.url for found in brain.find(state="known")] == [url]
            (plainly,) = brain.find(state="known")
            assert plainly.etag, plainly
        web.visits.clear()
        with emptied(neo4j, delay_seconds=0.0) as brain:
            words = ("--no-contact", "--render", "--warc", str(folder), "--no-requisites", "--jsonl", str(out))
            ran = crawl(neo4j, web.proxy, url, *words, "--header", f"X-Key: {KEY}")
            assert ran.returncode == 0 and "Traceback" not in ran.stderr, ran
            names = {found.url.rpartition("/")[2] for found in brain.find(state="known")}
            assert names == {"", "written", "fetched", "moves", "moved", "other"}, ran
            (first,) = (found for found in brain.find(state="known") if found.url == url)
            assert first.title == "made by a script" and first.etag is None and first.status == 200
            assert all("did not end" in (brain.page(f"{url}{name}").error or "") for name in endless)
            asked = Counter(visit.target for visit in web.visits if visit.target not in lists)
            assert set(asked.values()) == {1}, asked
            assert set(asked) == {f"/{name}" for name in {*names, *endless, "app.js", "data.json"}}
            assert {visit.host for visit in web.visits} == {"scripts.example"}
            assert "--render-from" in ran.stdout and "no GET" in ran.stdout and "robots.txt forbids" in ran.stdout
            assert brain.audit(None).ok
    (file,) = folder.glob("*.warc.gz")
    with file.open("rb") as read:
        bodies = {
            record.headers["WARC-Target-URI"]: record.reader.read()
            for record in ArchiveIterator(read, record_types=WarcRecordType.response)
        }
    assert b"app.js" in bodies[url] and b"written" not in bodies[url]
    assert bodies["http://scripts.example/app.js"].endswith(APP.encode())


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_scripts_of_hosts_that_are_named_are_fetched(neo4j: Neo4j) -> None:
    """Such a host gets no cookie and no header of the user."""
    given: dict[str, str] = {}

    def note(ask: Ask) -> Reply | None:
        given.update({name.lower(): value for name, value in ask.headers.items()} if ask.target == "/far.js" else {})
        return None

    site, cdn = made_by_scripts("other")
    cdn.first = note
    with hostile(site, cdn) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        words = ("http://scripts.example/other", "--no-contact", "--render", "--render-from", "cdn.example")
        ran = crawl(neo4j, web.proxy, *words, "--header", f"X-Key: {KEY}")
        assert ran.returncode == 0, ran
        assert brain.page("http://scripts.example/far").state == "known"
        assert given["user-agent"].startswith("graphbrain") and "x-key" not in given, given


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)])
def test_the_browser_ends_with_its_crawl(neo4j: Neo4j, number: signal.Signals) -> None:
    """Interrupted or killed: no process is left."""
    with hostile(Site("long.example", plain(100))) as web, emptied(neo4j, delay_seconds=0.5) as brain:
        words, env = command(neo4j, web.proxy, "http://long.example/", "--no-contact", "--render")
        running = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            eventually(lambda: len(web.visits) > 8, "pages", running)
            started = beneath(running.pid)
            assert len(started) > 2, started
            running.send_signal(number)
            _, said = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
        eventually(lambda: not any(psutil.pid_exists(process.pid) for process in started), "the end of the browser")
        if number == signal.SIGINT:
            assert running.returncode == 130 and "goes on where it stopped" in said and "Traceback" not in said, said
            assert not [found for found in brain.find(state="frontier") if found.worker and found.lease_until is None]


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.nightly
def test_a_crawl_that_comes_back_outlives_its_browser(neo4j: Neo4j, tmp_path: Path) -> None:
    """The browser is killed twice: no page fails, and the page whose script makes another text has changed.

    Each kill comes when all pages have been rendered again: a page whose browser ends while it is rendered alone, after
    the end of another one, has failed."""
    url, out, texts = "http://edited.example/", tmp_path / "news.jsonl", dict.fromkeys("1234", "owls hunt at night")

    def data(ask: Ask) -> Reply:
        body = json.dumps(texts[ask.target.rpartition("=")[2]]).encode()
        return Reply(200, headers={"Content-Type": "application/json", "Cache-Control": "no-cache"}, body=body)

    read = "fetch('/data.json?page=%s').then(a => a.json()).then(t => document.body.append(t.repeat(20)))"
    pages: dict[str, Reply | Callable[[Ask], Reply]] = {
        f"/{n}": page(body=f"<body><script>{read % n}</script>".encode(), Content_Type="text/html") for n in texts
    }
    pages |= {f"/data.json?page={n}": data for n in texts} | {"/": page(*(f"/{n}" for n in texts))}
    with hostile(Site("edited.example", pages)) as web, emptied(neo4j, delay_seconds=0.0, revisit_seconds=1.0) as brain:
        words, env = command(neo4j, web.proxy, url, "--no-contact", "--render", "--revisit", "--jsonl", str(out))
        running = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def is_browser(process: psutil.Process) -> bool:
            with suppress(psutil.Error):  # it has just ended
                line = " ".join(process.cmdline())
                return "--remote-debugging" in line and "--type=" not in line
            return False

        def browsers() -> list[psutil.Process]:
            return [process for process in beneath(running.pid) if is_browser(process)]

        def news() -> set[tuple[str, str]]:
            lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
            return {(made["url"], made["outcome"]) for made in map(json.loads, lines)}

        def rendered_since(seen: int) -> bool:
            """Return True if each page was fetched twice since, so that it was rendered in between."""
            fetched = Counter(visit.target for visit in web.visits[seen:])
            return all(fetched[f"/{n}"] > 1 for n in ["", *texts])

        try:
            eventually(lambda: {(f"{url}{n}", "new") for n in ["", *texts]} <= news(), "all pages", running)
            texts["3"] = "herons wait in shallow water"
            for _ in range(2):
                seen = len(web.visits)
                eventually(lambda: bool(browsers()), "a browser", running)
                for process in browsers():
                    with suppress(psutil.Error):
                        process.kill()
                eventually(partial(rendered_since, seen), "all pages again", running)
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=PATIENCE)
        finally:
            running.kill()
        assert running.returncode == 130 and "Traceback" not in said, said
        assert {found for found in news() if found[1] != "new"} == {(f"{url}3", "changed")}
        known = list(brain.find(state="known"))
        assert len(known) == 5 and [found.error for found in known if found.error] == []
        assert brain.audit(None).ok


def test_a_crawl_without_its_browser_does_not_begin(neo4j: Neo4j, tmp_path: Path) -> None:
    """The sentence names the remedy; a program that is no browser gives its pages back."""
    with hostile(Site("few.example", plain(2))) as web, emptied(neo4j, delay_seconds=0.0) as brain:
        words = ("http://few.example/", "--no-contact")
        missing = crawl(neo4j, web.proxy, *words, "--render", "--browser", str(tmp_path / "none"))
        assert missing.returncode == 1 and "give the path of Chromium" in missing.stderr, missing
        assert not web.visits and not brain.stats()["pages"]
        alone = crawl(neo4j, web.proxy, *words, "--browser", "chromium")
        assert alone.returncode == 1 and "for --render" in alone.stderr, alone
        none = crawl(neo4j, web.proxy, *words, "--render", "--browser", "true")
        assert none.returncode == 1 and "true cannot be started" in none.stderr, none
        assert "Traceback" not in none.stderr and not list(brain.find(state="known"))
        assert brain.audit(None).ok
