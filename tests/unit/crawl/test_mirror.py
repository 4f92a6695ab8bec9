"""A mirror is written into an empty folder alone, no larger than is allowed, and names what it lacks."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.crawl.captures import MOST_BYTES
from graphbrain.crawl.mirror import mirror
from graphbrain.crawl.warc import Archive, Exchange

URL = "http://a.example/"


def write(folder: Path, answers: Sequence[tuple[str, int, bytes]]) -> Path:
    with Archive(folder, {}) as archive:
        for n, (url, status, body) in enumerate(answers):
            packed = [("Content-Encoding", "gzip")] if body[:2] == b"\x1f\x8b" else []
            got = [("Content-Type", "text/html"), *packed, ("ETag", f'"{n}"')]
            at = datetime(2026, 11, 27, tzinfo=UTC) + timedelta(seconds=n)
            archive.write(Exchange(url, "GET", [], b"", status, "HTTP/1.1", got, body, at))
    return folder


def test_the_last_good_version_of_each_page_is_in_it(tmp_path: Path) -> None:
    answers = [(URL, 200, b"<p>A"), (URL, 200, b"<p>B"), (f"{URL}twin", 200, b"<p>A"), (URL, 200, b"<p>A")]
    answers += [(URL, 304, b""), (f"{URL}gone", 200, b"<p>C"), (f"{URL}gone", 404, b"<p>no"), (URL, 503, b"<p>no")]
    made = mirror([write(tmp_path / "warc", answers)], tmp_path / "out")
    assert (made.pages, made.files, made.lost, made.too_large) == (3, 3, 0, [])
    texts = {str(path.relative_to(tmp_path / "out")): path.read_text("utf-8")[-4:] for path in tmp_path.rglob("*.html")}
    assert {name: text for name, text in texts.items() if name != "index.html"} == {
        "a.example/index.html": "<p>A", "a.example/twin.html": "<p>A", "a.example/gone.html": "<p>C",
    }  # fmt: skip


def test_no_more_is_written_than_is_allowed(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(MOST_BYTES + 1))
    folder = write(tmp_path / "warc", [(URL, 200, b"<p>" + b"x" * 1_000), (f"{URL}bomb", 200, bomb)])
    with pytest.raises(GraphbrainError, match="--size"):
        mirror([folder], tmp_path / "small", most=1_000)
    made = mirror([folder], tmp_path / "large", most=10_000)
    assert made.too_large == [f"{URL}bomb"] and made.files == 2
    assert sum(path.stat().st_size for path in (tmp_path / "large").rglob("*") if path.is_file()) < 10_000


def test_a_mirror_goes_into_an_empty_folder_alone(tmp_path: Path) -> None:
    folder = write(tmp_path / "warc", [(URL, 200, b"<p>A")])
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for other in (folder, tmp_path / "link", next(folder.glob("*.gz"))):
        with pytest.raises(BadInput, match="is not empty"):
            mirror([folder], other)
    assert not list((tmp_path / "elsewhere").iterdir())
    with pytest.raises(BadInput, match="no file"):
        mirror([tmp_path / "none"], tmp_path / "out")


def test_records_whose_payload_is_in_no_file_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "warc", [(URL, 200, b"<p>A")])
    first = set((tmp_path / "warc").glob("*.gz"))
    write(tmp_path / "warc", [(f"{URL}twin", 200, b"<p>A")])
    made = mirror(set((tmp_path / "warc").glob("*.gz")) - first, tmp_path / "out")
    assert (made.files, made.lost) == (0, 1)
