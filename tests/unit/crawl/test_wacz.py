"""A WACZ file has the pages of an archive as they were, is valid for its makers' own tool, and is never half there."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.crawl.captures import Captures, warcs_in
from graphbrain.crawl.wacz import pack
from graphbrain.crawl.warc import Archive, Exchange

START = datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC)
SEED = "http://a.example/"


def write(folder: Path, answers: Sequence[tuple[str, int, str, bytes]], seeds: Sequence[str] = (SEED,)) -> None:
    """Write an archive of these answers, a minute between two."""
    with Archive(folder, {}, seeds=seeds) as archive:
        for n, (url, status, kind, body) in enumerate(answers):
            got = [("Content-Type", kind), ("Content-Encoding", "gzip")][: 2 if body[:1] == b"\x1f" else 1]
            at = START + timedelta(minutes=n)
            archive.write(Exchange(url, "GET", [("Host", "a.example")], b"", status, "HTTP/1.1", got, body, at))


def page(title: str, text: str) -> bytes:
    return f"<title>{title}</title><p>{text}".encode()


HTML = "text/html; charset=utf-8"
ANSWERS = (
    (SEED, 200, HTML, page("Start", "owls")),
    ("http://a.example/packed", 200, HTML, gzip.compress(page("Packed", "herons"))),
    ("http://a.example/twin", 200, HTML, page("Start", "owls")),
    ("http://a.example/gone", 404, HTML, page("Gone", "no")),
    ("http://a.example/i.png", 200, "image/png", b"png"),
    (SEED, 304, HTML, b""),
    (SEED, 200, HTML, page("Start", "owls and herons")),
    (SEED, 200, HTML, page("Start", "owls")),
)


def test_a_wacz_file_lists_each_page_as_it_was(tmp_path: Path) -> None:
    pytest.importorskip("wacz")
    folder, file = tmp_path / "warc", tmp_path / "site.wacz"
    write(folder, ANSWERS)
    file.write_bytes(b"an earlier one")
    assert pack(folder, file) == (4, 0)
    with zipfile.ZipFile(file) as opened:
        head, *pages = [json.loads(line) for line in opened.read("pages/pages.jsonl").splitlines()]
        assert json.loads(opened.read("datapackage.json"))["mainPageURL"] == SEED
        stored = {info.filename for info in opened.infolist() if info.compress_type == zipfile.ZIP_STORED}
    assert head["format"] == "json-pages-1.0"
    assert [(one["url"], one["ts"], one["title"], one["text"], one.get("seed")) for one in pages] == [
        (SEED, "2026-11-27T12:00:00Z", "Start", "Start owls", True),
        ("http://a.example/packed", "2026-11-27T12:01:00Z", "Packed", "Packed herons", None),
        ("http://a.example/twin", "2026-11-27T12:02:00Z", "Start", "Start owls", None),
        (SEED, "2026-11-27T12:06:00Z", "Start", "Start owls and herons", True),
    ]
    assert {f"archive/{warc.name}" for warc in folder.glob("*.warc.gz")} <= stored, "readers read within them"
    judge = "import sys; from wacz.main import main; sys.exit(main(sys.argv[1:]))"
    ran = subprocess.run(
        [sys.executable, "-c", judge, "validate", "-f", str(file)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0 and "Validation succeeded" in ran.stdout, ran
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site.wacz", "warc"]


def test_what_cannot_be_packed_leaves_the_earlier_file(tmp_path: Path) -> None:
    folder, file = tmp_path / "warc", tmp_path / "site.wacz"
    write(folder, ANSWERS)
    file.write_bytes(b"an earlier one")
    with pytest.raises(GraphbrainError, match="--wacz-size"):
        pack(folder, file, most=100)
    broken = next(folder.glob("*.warc.gz"))
    for data, why in ((b"WARC/1.1 what is this", "after 0 bytes"), (broken.read_bytes()[:-9], "broken off")):
        broken.write_bytes(data)
        with pytest.raises(BadInput, match=why):
            pack(folder, file)
    with pytest.raises(BadInput, match=r"site.wacz"):
        pack(folder, tmp_path / "site.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"\.warc\.gz"):
        pack(tmp_path / "empty", file)
    assert file.read_bytes() == b"an earlier one"


def test_captures_lead_to_their_payloads(tmp_path: Path) -> None:
    """The last one of each page, whatever kind of record it is, is what the site had."""
    write(tmp_path, [*ANSWERS, ("http://a.example/old", 301, HTML, b""), ("http://a.example/twin", 500, HTML, b"no")])
    with Captures(warcs_in([tmp_path])) as captures:
        found = {capture.url: captures.response(capture) for capture in captures.last() if capture.status == 200}
        bodies = {url: answer.body for url, answer in found.items() if answer is not None}
    start = page("Start", "owls")
    assert bodies == {
        SEED: start, "http://a.example/packed": page("Packed", "herons"), "http://a.example/twin": start,
        "http://a.example/i.png": b"png",
    }  # fmt: skip
