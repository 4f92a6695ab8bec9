"""Archives in the readers that people replay them with: each page at each time is what the site had.

pywb brings many packages, some of them in old versions, so it may be in an environment of its own:
TEST_GRAPHBRAIN_PYWB=… is the Python of that. ReplayWeb.page is the package `replaywebpage` of npm:
TEST_GRAPHBRAIN_REPLAYWEB=… is its folder, unpacked.
"""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from graphbrain.crawl.wacz import pack
from graphbrain.crawl.warc import Archive, Exchange
from tests.plugin import PATIENCE

REPLAYWEB = os.environ.get("TEST_GRAPHBRAIN_REPLAYWEB", "")
PYTHON = os.environ.get("TEST_GRAPHBRAIN_PYWB", sys.executable)
START = datetime(2026, 11, 27, tzinfo=UTC)
PATHS = ("", "a%5Bb%5D?x=1,2", "caf%C3%A9", "%7Euser/%2Fx", "a?PHPSESSID=" + 32 * "0", "deep/{x}", "q?b=2&a=%2C1", "UP")
REPLAY = """
import base64, json, os, sys
from pywb.apps.frontendapp import FrontEndApp
from pywb.manager.manager import main as manage
from webtest import TestApp
folder, asks = sys.argv[1], json.load(sys.stdin)
os.chdir(folder)
manage(["init", "site"])
manage(["add", "site", *sorted(os.path.join("warc", name) for name in os.listdir("warc") if name.endswith(".gz"))])
app = TestApp(FrontEndApp(config_file=None))
for url, stamp in asks:
    got = app.get(f"/site/{stamp}id_/{url}", expect_errors=True)
    print("REPLAYED", json.dumps([url, stamp, got.status_int, base64.b64encode(got.body).decode()]))
"""


@pytest.mark.peers
@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_each_page_at_each_time_is_what_the_site_had(tmp_path: Path, seed: int) -> None:
    """Pages take texts of each other and answer 304, in several runs, with URLs whose keys differ between writers."""
    if subprocess.run([PYTHON, "-c", "import pywb, webtest"], capture_output=True, check=False).returncode:
        pytest.skip("pywb and webtest are not installed (TEST_GRAPHBRAIN_PYWB)")
    had = written(tmp_path / "warc", random.Random(seed))
    asks = [(url, stamp) for url, stamp in had]
    ran = subprocess.run(
        [PYTHON, "-c", REPLAY, str(tmp_path)], input=json.dumps(asks), capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    lines = [line.removeprefix("REPLAYED ") for line in ran.stdout.splitlines() if line.startswith("REPLAYED ")]
    assert len(lines) == len(asks), ran.stderr[-2_000:]
    replayed = {(url, stamp): (status, base64.b64decode(body)) for url, stamp, status, body in map(json.loads, lines)}
    assert {ask: got for ask, got in replayed.items() if got != (200, had[ask])} == {}


SHOWN = """() => {
    const within = node => {
        if (node.tagName === "IFRAME" && node.src.includes("/w/")) return node;
        for (const child of [node.shadowRoot, ...(node.children || [])]) {
            const frame = child && within(child);
            if (frame) return frame;
        }
    };
    let frame = within(document.body);
    while (frame?.contentDocument?.querySelector("iframe")) frame = frame.contentDocument.querySelector("iframe");
    return frame?.contentDocument?.body?.innerText || "";
}"""


@pytest.mark.peers
@pytest.mark.browser
@pytest.mark.long
@pytest.mark.skipif(not REPLAYWEB, reason="ReplayWeb.page is not there (TEST_GRAPHBRAIN_REPLAYWEB)")
def test_a_wacz_file_opens_in_replayweb_page(chromium: Any, tmp_path: Path) -> None:
    """Its pages are listed, and each capture of one of them, whatever record it is, shows what the site had."""
    had = written(tmp_path / "warc", random.Random(1))
    pack(tmp_path / "warc", tmp_path / "site.wacz")
    url = "http://a.example/UP"
    stamps = {stamp: body[:4].decode() for (asked, stamp), body in had.items() if asked == url}
    with served(tmp_path) as base:
        page = chromium.new_page()
        for stamp, text in stamps.items():
            page.goto("about:blank")
            page.goto(f"{base}/index.html?source={base}/site.wacz#view=replay&url={url}&ts={stamp}")
            page.wait_for_function(f"({SHOWN})().startsWith({text[3:]!r})", timeout=PATIENCE * 1_000)
        page.close()
    assert len(stamps) == 12 and len(set(stamps.values())) > 1


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve ReplayWeb.page and a folder, with ranges of bytes, which it asks for."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def translate_path(self, path: str) -> str:
            own = folder / path.partition("?")[0].lstrip("/")
            return str(own) if own.is_file() else super().translate_path(path)

        def send_head(self) -> Any:
            if not (asked := self.headers.get("Range", "").removeprefix("bytes=")):
                return super().send_head()
            data = Path(self.translate_path(self.path)).read_bytes()
            first, _, last = asked.partition("-")
            start = int(first) if first else max(0, len(data) - int(last))
            part = data[start : int(last) + 1 if first and last else len(data)]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            return BytesIO(part)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=REPLAYWEB)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def written(folder: Path, rng: random.Random) -> dict[tuple[str, str], bytes]:
    """Write an archive. Return what the site had, by URL and time."""
    had: dict[tuple[str, str], bytes] = {}
    now, minute = {}, 0
    for _ in range(4):
        with Archive(folder, {}, most=20_000) as archive:
            for path in PATHS * 3:
                url, minute = f"http://a.example/{path}", minute + 1
                if url not in now or rng.random() < 0.4:
                    now[url] = rng.choice([b"<p>A", b"<p>B", b"<p>C"]) * 200
                etag = f'"{now[url][3:4].decode()}"'
                status = 304 if rng.random() < 0.8 and archive.holds(url, etag, None) else 200
                at = START + timedelta(minutes=minute)
                body = now[url] if status == 200 else b""
                got = [("Content-Type", "text/html"), ("ETag", etag), ("X-Bytes", "\xe9\xff")]
                archive.write(Exchange(url, "GET", [], b"", status, "HTTP/1.1", got, body, at))
                had[url, at.strftime("%Y%m%d%H%M%S")] = now[url]
    return had
