"""Names of files are below their folder whatever a URL is, apart for each file system, and short."""

from __future__ import annotations

import os
import re
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path, PureWindowsPath

from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphbrain.base.urls.normalization import address
from graphbrain.crawl.filenames import MOST, FileNames

PARTS = st.sampled_from(
    [
        *(
            "a",
            "A",
            "b",
            "index",
            "index.html",
            "Index.HTML",
            "",
            ".",
            "..",
            "%2e%2e",
            "%2E.",
            "..%2f..%2fetc",
            "con",
            "NUL.txt",
        ),
        *(
            "com1.html",
            "COM%C2%B9",
            "aux%2ehtml",
            "a:b",
            "a%00b",
            "%5c%5chost",
            "a%7Cb",
            "a.",
            "a%20",
            "~",
            "~root",
            "-rf",
        ),
        *(
            "%E2%80%AEtxt.exe",
            "caf%C3%A9",
            "cafe%CC%81",
            "%FF%FE",
            "x" * 300,
            "%E6%97%A5" * 120,
            "x.js",
            "x.php",
            "x" * 199 + ".css",
        ),
        *("a%0Ab", "%ED%A0%80", "ﬀ", "ff", "ß", "ss", "SS"),
    ]
)
URLS = st.builds(
    lambda host, parts, query: f"http://{host}/{'/'.join(parts)}{query}",
    st.sampled_from(
        ["a.example", "A.example:8080", "[::1]:80", "index.html.example", "con.example", "xn--caf-dma.example"]
    ),
    st.lists(PARTS, max_size=5),
    st.sampled_from(["", "?", "?a=1", "?A=1", "?a/../../b", "?" + "q" * 300, "?%00"]),
)
KINDS = st.sampled_from(["text/html", "text/css", "image/png", "image/svg+xml", "application/octet-stream", "", "x/y"])


@settings(deadline=None)
@given(asked=st.lists(st.tuples(URLS, KINDS), min_size=1, max_size=25))
@example([("http://a.example/a", ""), ("http://a.example/a/b", ""), ("http://a.example/A/c", "")])
def test_any_urls_have_names_of_their_own_below_the_folder(asked: list[tuple[str, str]]) -> None:
    with closing(sqlite3.connect(":memory:")) as sql:
        names = FileNames(sql)
        names.reserve("index.html")
        given_names = {}
        for url, kind in {address(url): kind for url, kind in asked}.items():
            given_names[url] = names.give(url, kind)
            assert names.of(url) == given_names[url]
    folders: dict[str, str] = {}
    for url, name in given_names.items():
        parts = name.split("/")
        assert not name.startswith("/") and len(parts) > 1 and sum(len(part.encode()) + 1 for part in parts) < 1_500
        assert os.path.normpath(name) == name and not PureWindowsPath(name).is_absolute()
        for part in parts:
            assert 0 < len(part.encode()) <= MOST and part not in (".", "..") and part == part.strip(" ").rstrip(".")
            assert not re.search(r'[\x00-\x1f<>:"\\|?*]', part) and not part.startswith("~")
            assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in part)
            stem = part.partition(".")[0].strip().lower()
            assert stem not in ("con", "prn", "aux", "nul") and not re.fullmatch(r"(com|lpt)[0-9¹²³]", stem)
        for depth in range(1, len(parts)):
            place = "/".join(parts[:depth])
            assert folders.setdefault(place.casefold(), place) == place, "one spelling of each folder"
        assert url
    folded = [unicodedata.normalize("NFKC", name).casefold() for name in (*given_names.values(), "index.html")]
    assert len(set(folded)) == len(folded)
    assert not set(folded) & {unicodedata.normalize("NFKC", place).casefold() for place in folders.values()}


def test_names_show_what_is_in_them(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "names")) as sql:
        names = FileNames(sql)
        for url, kind, name in (
            ("http://a.example/", "text/html", "a.example/index.html"),
            ("http://a.example/docs/", "text/html", "a.example/docs/index.html"),
            ("http://a.example/docs", "text/html", "a.example/docs.html"),
            ("http://a.example/x.php?page=2", "text/html", "a.example/x@page=2.php.html"),
            ("http://a.example/s.css?v=3", "text/css", "a.example/s@v=3.css"),
            ("http://a.example/style", "text/css", "a.example/style.css"),
            ("http://a.example:81/i.png", "image/png", "a.example_81/i.png"),
            ("http://a.example/caf%C3%A9.pdf", "application/pdf", "a.example/café.pdf"),
        ):
            assert names.give(url, kind) == name
