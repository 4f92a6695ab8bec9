"""WARC files: whole for two readers, never twice the same payload, and mended after a kill at any byte."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as Fast
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from graphbrain.crawl.warc import OPEN, Archive, Exchange, cdxj_key, digest_of, mend, whole_length

START = datetime(2026, 11, 27, 12, 0, 0, 123456, tzinfo=UTC)
PACKED = gzip.compress(b"<p>packed</p>")


def exchange(n: int, body: bytes, status: int = 200, url: str = "", **got: str) -> Exchange:
    headers = [("Content-Type", "text/html; charset=utf-8"), *got.items()]
    sent = [("Host", "a.example"), ("User-Agent", "test")]
    at = START + timedelta(seconds=n)
    return Exchange(
        url or f"http://a.example/{n}?b=2&a=1", "GET", sent, b"", status, "HTTP/1.1", headers, body, at, "127.0.0.1"
    )


def files(folder: Path, suffix: str = ".warc.gz") -> list[Path]:
    return sorted(folder.glob(f"*{suffix}"))


def records(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    for file in files(folder):
        with file.open("rb") as read:
            for record in ArchiveIterator(read):
                yield record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.raw_stream.read()


def check(folder: Path) -> None:
    """By `warcio check`, and by fastwarc, which has a parser of its own."""
    for file in files(folder):
        ran = subprocess.run(
            [sys.executable, "-c", "from warcio.cli import main; main()", "check", "-v", str(file)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0 and "digest pass" in ran.stdout, ran
        with file.open("rb") as read:
            for record in Fast(read, parse_http=False):
                assert record.verify_block_digest(), record.headers


def test_what_is_written_is_read_by_two_readers_and_found_by_its_index(tmp_path: Path) -> None:
    with Archive(tmp_path, {"software": "test"}) as archive:
        archive.write(exchange(1, PACKED, **{"Content-Encoding": "gzip"}))
        archive.write(exchange(2, b"missing", 404))
        archive.write(exchange(3, PACKED, **{"Content-Encoding": "gzip"}))  # the same payload elsewhere
        archive.write(exchange(4, b"", 304, url="http://a.example/1?b=2&a=1"))
        archive.write(exchange(5, b"", 304, url="http://a.example/never"))
        assert files(tmp_path) == []
    check(tmp_path)
    found = list(records(tmp_path))
    kinds = [kind for kind, _, _ in found]
    assert kinds == ["warcinfo", *["response", "request"] * 2, *["revisit", "request"] * 2, "response", "request"]
    assert found[1][2] == PACKED
    (index,) = files(tmp_path, ".cdxj")
    lines = index.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines) and len(lines) == 5
    assert lines[0].startswith(
        'example,a)/1?a=1&b=2 20261127120001 {"url": "http://a.example/1?b=2&a=1", "mime": "text/'
    )
    assert digest_of(PACKED) in lines[0] and sum("warc/revisit" in line for line in lines) == 2


def test_a_payload_is_known_to_the_next_run(tmp_path: Path) -> None:
    for n in range(2):
        with Archive(tmp_path, {}) as archive:
            archive.write(exchange(n, b"the same"))
    assert [kind for kind, _, _ in records(tmp_path) if kind in ("response", "revisit")] == ["response", "revisit"]
    check(tmp_path)


def test_files_are_finished_by_their_size(tmp_path: Path) -> None:
    with Archive(tmp_path, {}, most=2_000) as archive:
        for n in range(20):
            archive.write(exchange(n, bytes([n]) * 50))
    assert len(files(tmp_path)) > 3 and len(files(tmp_path, ".cdxj")) == len(files(tmp_path))
    assert sum(kind == "response" for kind, _, _ in records(tmp_path)) == 20


@given(cut=st.integers(0, 3_000), junk=st.binary(max_size=20))
def test_whatever_is_torn_the_rest_is_kept(tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes) -> None:
    folder = tmp_path_factory.mktemp("torn")
    archive = Archive(folder, {})
    for n in range(4):
        archive.write(exchange(n, b"body %d" % n))
    (opened,) = files(folder, OPEN)
    assert not mend(folder), "one that is being written is left alone"
    data = opened.read_bytes()
    copy = opened.with_name(f"killed.warc.gz{OPEN}")
    torn = data[: min(cut, len(data))] + junk
    copy.write_bytes(torn)
    (mended,) = mend(folder)
    kept = mended.read_bytes()
    assert data.startswith(kept) and torn.startswith(kept)
    with mended.open("rb") as read:
        assert whole_length(read) == len(kept)
        read.seek(0)
        found = sum(record.rec_type == "response" for record in ArchiveIterator(read))
    assert len((folder / "killed.cdxj").read_text(encoding="utf-8").splitlines()) == found
    archive.close()


def test_a_mended_file_has_the_index_that_a_finished_one_has(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    archive = Archive(one, {})
    for n in (3, 1, 2):
        archive.write(exchange(n, b"body"))
    (opened,) = files(one, OPEN)
    other.mkdir()
    (other / opened.name).write_bytes(opened.read_bytes())
    archive.close()
    mend(other)
    assert files(one, ".cdxj")[0].read_text(encoding="utf-8") == files(other, ".cdxj")[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.org/A/?b=1&a=2", "org,example)/a?a=2&b=1"),
        ("https://example.org", "org,example)/"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080)/x"),
        ("http://www2.a.example:80/", "example,a)/"),
        ("http://wwwhite.example/", "example,wwwhite)/"),
    ],
)
def test_the_key_of_a_url(url: str, key: str) -> None:
    assert cdxj_key(url) == key
