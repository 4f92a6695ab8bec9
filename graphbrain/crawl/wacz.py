"""A WACZ file of the WARC files in a folder: one file that ReplayWeb.page opens, with a list of pages and their texts.

The package `wacz` packs it, in a process of its own, from the WARC files and a list that is made here: its own list has
neither the seeds nor the titles. No part of this is in memory at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scrapy.http import HtmlResponse

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.crawl.captures import Capture, Captures, title_of, warcs_in
from graphbrain.crawl.scrapy import header
from graphbrain.crawl.warc import seeds_of
from graphbrain.schedule.fingerprints import visible_text

__all__ = ["MOST", "check_target", "pack"]

MOST = 10_000_000_000
"""The default of the most bytes of WARC files that are packed."""
MOST_TEXT = 1_900_000_000
"""Bytes of the list of pages from which on it has no more texts: the package packs no list of 2 GiB."""
_RUN = "import sys; from wacz.main import main; sys.exit(main(sys.argv[1:]))"


def check_target(file: Path) -> None:
    """Raise BadInput if a WACZ file cannot have this path."""
    if file.suffix != ".wacz":
        raise BadInput(f"{file}: readers know a WACZ file by its end; name it {file.with_suffix('.wacz').name}.")
    if not file.parent.is_dir():
        raise BadInput(f"{file.parent} is no directory: make it first.")


def pack(folder: Path, file: Path, most: int = MOST) -> tuple[int, int]:
    """Pack the finished WARC files of a folder, and replace an earlier file. Return the number of pages, and of those
    whose text is left out because the list would be too long.

    Raises:
        BadInput: There is no WARC file, or one is broken.
        GraphbrainError: They have more than `most` bytes, or cannot be packed.
    """
    check_target(file)
    warcs = warcs_in([folder])
    if len({warc.name for warc in warcs}) < len(warcs):
        raise BadInput(f"Files in {folder} have the same name: pack their directories one by one.")
    size = sum(warc.stat().st_size for warc in warcs)
    if size > most:
        raise GraphbrainError(
            f"The WARC files in {folder} have {size:,} bytes, more than the {most:,} of --wacz-size: no WACZ is made. "
            "Raise it, or move files of earlier runs elsewhere."
        )
    # Make it beside its place, and move it there when it is whole.
    with TemporaryDirectory(prefix=f".{file.name}-", dir=file.parent) as work, Captures(warcs) as captures:
        pages = Path(work) / "pages.jsonl"
        main, number, silent = _list(captures, seeds_of(folder), pages)
        packed = Path(work) / file.name
        _create(packed, pages, warcs, main)
        packed.replace(file)
    return number, silent


def _create(packed: Path, pages: Path, warcs: Sequence[Path], main: str) -> None:
    words = ["create", "-o", str(packed), "--copy-pages", "--pages", str(pages), *(["--url", main] if main else [])]
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, *words, *map(str, warcs)],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if ran.returncode or not packed.exists():
        output = [*ran.stdout.splitlines(), *ran.stderr.splitlines()] or [f"it ended with {ran.returncode}"]
        raise GraphbrainError(f"The package wacz cannot pack the files ({output[-1]}): make room, and try again.")


def _list(captures: Captures, seeds: Collection[str], file: Path) -> tuple[str, int, int]:
    """Write the list of pages. Return the URL of the first seed, and the numbers of pages, and of those without their
    text."""
    main, number, silent, size = "", 0, 0, 0
    with file.open("w", encoding="utf-8") as out:
        out.write(json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "Pages", "hasText": True}) + "\n")
        for number, page in enumerate(_pages(captures, seeds), 1):
            main = main or (page["url"] if page.get("seed") else "")
            if size > MOST_TEXT and page.pop("text", None):
                silent += 1
            size += out.write(json.dumps({"id": f"page-{number}", **page}) + "\n")
    return main, number, silent


def _pages(captures: Captures, seeds: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the pages, each as it was first, and each time that it had changed."""
    for capture in captures.changes():
        if capture.status == 200 and isinstance(response := captures.response(capture), HtmlResponse):
            yield _page(capture, response) | ({"seed": True} if capture.url in seeds else {})


def _page(capture: Capture, response: HtmlResponse) -> dict[str, Any]:
    text = visible_text(response.body, header(response.headers.get("Content-Type")))
    page = {"url": capture.url, "ts": capture.date, "title": title_of(response) or capture.url}
    return page | ({"text": text} if text else {})
