"""WARC files: whole for two readers, never twice the same payload, and mended after a kill at any byte."""

from __future__ import annotations

import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as Fast
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from graphbrain.base.urls.normalization import address
from graphbrain.crawl.warc import OPEN, Archive, Exchange, Mended, cdxj_key, digest_of, mend, whole_members

START = datetime(2026, 11, 27, 12, 0, 0, tzinfo=UTC)
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
    assert kinds == [
        *("warcinfo", "response", "request", "response", "request", "revisit", "request"),
        *("revisit", "request", "metadata", "response", "request"),
    ]
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
    with Archive(folder, {}) as archive:
        for n in range(4):
            archive.write(exchange(n, b"body %d" % n))
        (opened,) = files(folder, OPEN)
        assert not mend(folder), "one that is being written is left alone"
        data = opened.read_bytes()
    torn = data[: min(cut, len(data))] + junk
    mended = killed(folder, torn)
    if not mended.records:
        assert mended.cut == len(torn) and not list(folder.glob("killed*"))
        return
    kept = mended.file.read_bytes()
    assert data.startswith(kept) and torn.startswith(kept) and len(kept) + mended.cut == len(torn)
    with mended.file.open("rb") as read:
        assert whole_members(read) == (len(kept), mended.records)
    assert len(index_of(mended.file)) == sum(kind == "response" for kind, *_ in verified(mended.file))


def killed(folder: Path, data: bytes) -> Mended:
    """Mend a file with these bytes, as a killed process has left it."""
    (folder / f"killed.warc.gz{OPEN}").write_bytes(data)
    (mended,) = mend(folder)
    assert not files(folder, f"killed.warc.gz{OPEN}")
    return mended


def verified(file: Path) -> list[tuple[str, int, int]]:
    """Kind, offset and length of each record, all of whose digests two readers have found right."""
    found = []
    with file.open("rb") as read:
        records = ArchiveIterator(read, check_digests=True)
        for record in records:
            record.raw_stream.read()
            assert record.digest_checker.passed in (True, None) and not record.digest_checker.problems
            offset = records.get_record_offset()
            found.append((record.rec_type, offset, records.get_record_length()))
    with file.open("rb") as read:
        again = [record.headers["WARC-Type"] for record in Fast(read, parse_http=False) if record.verify_block_digest()]
    assert again == [kind for kind, *_ in found]
    return found


def index_of(file: Path) -> list[dict[str, str]]:
    """The lines of the file's index, each of which must be in its place."""
    lines = file.with_name(f"{file.name.removesuffix('.warc.gz')}.cdxj").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines)
    return [json.loads(line.split(" ", 2)[2]) for line in lines]


def test_a_file_torn_at_any_byte_of_its_last_exchange_keeps_all_whole_records(tmp_path: Path) -> None:
    """In the response, at the border of both records, in the first bytes of the request, and behind it."""
    archive = Archive(tmp_path, {"software": "test"})
    for n in range(3):
        archive.write(exchange(n, b"body"))
    (opened,) = files(tmp_path, OPEN)
    data = opened.read_bytes()
    ends = [offset + length for _, offset, length in verified(opened)]
    assert ends[-1] == len(data) and len(ends) == 7
    for cut in range(ends[-3], len(data) + 1):
        mended = killed(tmp_path, data[:cut])
        whole = [end for end in ends if end <= cut]
        assert (mended.records, mended.cut) == (len(whole), cut - whole[-1])
        assert mended.file.read_bytes() == data[: whole[-1]]
        found = verified(mended.file)
        places = {(str(offset), str(length)) for kind, offset, length in found if kind in ("response", "revisit")}
        assert {(line["offset"], line["length"]) for line in index_of(mended.file)} == places
    archive.close()


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond this size, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_record_for_which_there_is_no_room_leaves_no_part_of_it(tmp_path: Path) -> None:
    """Not the response without its request either; what is written later follows the last whole record."""
    archive = Archive(tmp_path, {})
    archive.write(exchange(1, b"the first"))
    (opened,) = files(tmp_path, OPEN)
    size = opened.stat().st_size
    for room in (1, 200, 500, 700):
        with at_most(size + room), pytest.raises(OSError, match="too large"):
            archive.write(exchange(2, random.Random(2).randbytes(600)))
        assert opened.stat().st_size == size
    archive.write(exchange(3, b"the last"))
    archive.close()
    (file,) = files(tmp_path)
    assert [kind for kind, *_ in verified(file)] == ["warcinfo", *["response", "request"] * 2]
    assert [line["url"].rpartition("/")[2] for line in index_of(file)] == ["1?b=2&a=1", "3?b=2&a=1"]


def test_a_file_that_cannot_be_finished_is_finished_by_the_next_run(tmp_path: Path) -> None:
    archive = Archive(tmp_path, {})
    archive.write(exchange(1, b"body"))
    with at_most(10), pytest.raises(OSError, match="too large"):
        archive.close()
    (mended,) = mend(tmp_path)
    assert (mended.records, mended.cut) == (3, 0) and len(index_of(mended.file)) == 1
    check(tmp_path)


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
        ("http://127.0.0.1:8080/x", "1,0,0,127:8080)/x"),
        ("http://www2.a.example:80/", "example,a)/"),
        ("http://wwwhite.example/", "example,wwwhite)/"),
    ],
)
def test_the_key_of_a_url(url: str, key: str) -> None:
    assert cdxj_key(url) == key


SESSIONS = (
    "PHPSESSID=" + 32 * "a",
    "jsessionid=" + 32 * "0",
    "x=1",
    "cfid=1&cftoken=2",
    "ASPSESSIONIDabcdefgh=" + 24 * "q",
)
PARTS = st.text(
    st.sampled_from("aZ09.-_~%/?&=+;:@!$'()*,[]{}|^\\\"<> é日") | st.characters(exclude_categories=["Cs", "Cc"])
)
ESCAPES = st.sampled_from(
    ["%5B", "%2C", "%7B", "%7e", "%2F", "%2520", "%25", "%E9", "%C3%A9", "%2e%2e/", "(" + 24 * "b" + ")/"]
)


@given(
    host=st.sampled_from(
        ["a.example", "www.A.example", "www12.b.example:8080", "wwwhite.example:80", "10.0.0.1", "[::1]:1"]
    ),
    path=st.lists(PARTS | ESCAPES, max_size=6).map("".join),
    query=st.none() | st.lists(st.sampled_from(SESSIONS) | PARTS | ESCAPES, max_size=5).map("&".join),
)
def test_the_key_of_any_url_is_that_of_cdxj_indexer(host: str, path: str, query: str | None) -> None:
    judge = pytest.importorskip("cdxj_indexer.main").CDXJIndexer
    url = address(f"http://{host}/{path}" + (f"?{query}" if query is not None else ""))
    assert cdxj_key(url) == judge.get_url_key(None, url)


HEADER = st.binary(min_size=1).map(lambda value: b" ".join(value.translate(None, b"\r\n\0").split()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(HEADER, min_size=1, max_size=8))
def test_headers_are_kept_byte_by_byte(tmp_path: Path, values: list[bytes]) -> None:
    """In a response, a revisit record, and in the metadata of a 304; two readers find all digests right."""
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    got = {f"X-{n}": value.decode("latin-1") for n, value in enumerate(values)}
    with Archive(folder, {}) as archive:
        for status in (200, 200, 304):
            archive.write(exchange(status, b"body" * (status == 200), status, "http://a.example/", **got))
    (file,) = files(folder)
    assert [kind for kind, *_ in verified(file)][1::2] == ["response", "revisit", "revisit", "metadata"]
    lines = gzip.decompress(file.read_bytes()).split(b"\r\n")
    for n, value in enumerate(values):
        assert lines.count(b"X-%d: %b" % (n, value)) == 3


BODIES = (b"A", b"B", b"C", b"")
HOW = st.sampled_from(["ask", "new run", "cut"])
STEPS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from(BODIES), st.booleans(), HOW), min_size=1, max_size=25
)


@given(steps=STEPS)
def test_each_page_at_each_time_is_what_the_site_had(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bytes, bool, str]]
) -> None:
    """Pages take each other's texts in any order, by one run or several, and answer 304 where the archive can be asked
    for what is newer. A reader follows each revisit record to the record that it names."""
    folder = tmp_path_factory.mktemp("again")
    archive, had, at, asked = Archive(folder, {}), {}, 0, {}
    for name, body, changes, how in steps:
        url, at = f"http://a.example/{name}", at + 1
        if changes or url not in had:
            had[url] = body
        if how == "new run":
            archive.close()
            archive = Archive(folder, {})
        etag = f'"{had[url].decode()}"'
        status = 304 if archive.holds(url, etag, None) else 200
        assert status == 200 or had[url]
        made = exchange(at, had[url] if status == 200 else b"", status, url, ETag=etag)
        archive.write(replace(made, truncated="disconnect", body=had[url][:0]) if how == "cut" else made)
        if how != "cut" or status == 304:
            asked[url, made.at] = had[url]
    archive.close()
    assert replayed(folder).items() >= asked.items()


def replayed(folder: Path) -> dict[tuple[str, datetime], bytes]:
    """The payload of each capture, by URL and time."""
    held: dict[tuple[str, str], bytes] = {}
    named: dict[tuple[str, str], tuple[str, str]] = {}
    digests: dict[tuple[str, str], str] = {}
    for file in files(folder):
        with file.open("rb") as read:
            for record in ArchiveIterator(read):
                get = record.rec_headers.get_header
                capture = get("WARC-Target-URI"), get("WARC-Date")
                if record.rec_type == "response" and not get("WARC-Truncated"):
                    held[capture] = record.raw_stream.read()
                if record.rec_type == "revisit":
                    named[capture] = get("WARC-Refers-To-Target-URI"), get("WARC-Refers-To-Date")
                    digests[capture] = get("WARC-Payload-Digest")
    for capture, origin in named.items():
        assert digests[capture] == digest_of(held[origin])
        held[capture] = held[origin]
    return {(url, datetime.fromisoformat(date)): body for (url, date), body in held.items()}


def test_an_index_is_that_of_cdxj_indexer(tmp_path: Path) -> None:
    """Of all kinds of records; also one that was mended."""
    judge = pytest.importorskip("cdxj_indexer.main")
    with Archive(tmp_path, {}) as archive:
        for n, (body, status, kind) in enumerate(
            [
                (b"a", 200, "Text/HTML; x"),
                (b"a", 200, ""),
                (b"", 404, "text/plain"),
                (b"", 304, "x/y"),
                (b"b", 200, " ;"),
            ]
        ):
            archive.write(
                replace(exchange(n, body, status, f"http://a.example/{n % 3}%2C"), got=[("content-type", kind)])
            )
        archive.write(replace(exchange(9, b"", 204), got=[]))
    (file,), (index,) = files(tmp_path), files(tmp_path, ".cdxj")
    judge.CDXJIndexer(str(tmp_path / "judged"), [str(file)], sort=True).process_all()
    assert index.read_text(encoding="utf-8") == (tmp_path / "judged").read_text(encoding="utf-8")


def test_an_answer_that_was_cut_off_is_marked_and_no_other_page_refers_to_it(tmp_path: Path) -> None:
    with Archive(tmp_path, {}) as archive:
        archive.write(replace(exchange(1, b"half", url="http://a.example/"), truncated="disconnect"))
        assert not archive.holds("http://a.example/", None, None)
        archive.write(exchange(2, b"half"))
    check(tmp_path)
    (file,) = files(tmp_path)
    with file.open("rb") as read:
        marks = [
            each.rec_headers.get_header("WARC-Truncated")
            for each in ArchiveIterator(read)
            if each.rec_type == "response"
        ]
    assert marks == ["disconnect", None]
