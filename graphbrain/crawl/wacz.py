"""A WACZ file of the WARC files in a folder: one file that ReplayWeb.page opens, with a list of pages and their texts.

The package `wacz` packs it in another process, from the WARC files and a list of pages that this module writes, because
the list of the package has neither seeds nor titles. The list is written page by page, and is never in memory as a
whole.
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
"""Default of the most bytes of WARC files that are packed."""
MOST_TEXT = 1_900_000_000
"""Bytes of the list of pages after which it gets no more texts: the package cannot pack a list of 2 GiB."""
_RUN = "import sys; from wacz.main import main; sys.exit(main(sys.argv[1:]))"


def check_target(file: Path) -> None:
    """Raise BadInput if a WACZ file cannot have this path."""
    if file.suffix != ".wacz":
        raise BadInput(f"{file}: readers know a WACZ file by its end; name it {file.with_suffix('.wacz').name}.")
    if not file.parent.is_dir():
        raise BadInput(f"{file.parent} is no directory: make it first.")


def pack(folder: Path, file: Path, most: int = MOST) -> tuple[int, int]:
    """Pack the finished WARC files of a folder into a WACZ file, and replace an earlier one.

    Returns:
        (number of pages, number of pages whose text is left out because the list would be too long).

    Raises:
        BadInput: There is no WARC file, or one is broken.
        GraphbrainError: The files have more than `most` bytes, or cannot be packed.
    """
    # Check the name of the WACZ file, and the names and sizes of the WARC files.
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
    # Write to a temporary folder, and move the file to its place when it is whole.
    with TemporaryDirectory(prefix=f".{file.name}-", dir=file.parent) as work, Captures(warcs) as captures:
        list_of_pages = Path(work) / "pages.jsonl"
        first_seed, pages, without_text = _list(captures, seeds_of(folder), list_of_pages)
        packed = Path(work) / file.name
        _create(packed, list_of_pages, warcs, first_seed)
        packed.replace(file)
    return pages, without_text


def _create(packed: Path, pages: Path, warcs: Sequence[Path], main: str) -> None:
    """Run the package `wacz`. `pages`: the list of pages. `main`: the URL that readers open first; empty for none."""
    words = ["create", "-o", str(packed), "--copy-pages", "--pages", str(pages), *(["--url", main] if main else [])]
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, *words, *map(str, warcs)],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if ran.returncode or not packed.exists():
        output = [*ran.stdout.splitlines(), *ran.stderr.splitlines()] or [f"it ended with {ran.returncode}"]
        raise GraphbrainError(f"The package wacz cannot pack the files ({output[-1]}): make room, and try again.")


def _list(captures: Captures, seeds: Collection[str], file: Path) -> tuple[str, int, int]:
    """Write the list of pages. Return (URL of the first seed, number of pages, number of pages without their text)."""
    first_seed, number, without_text, size = "", 0, 0, 0
    with file.open("w", encoding="utf-8") as out:
        out.write(json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "Pages", "hasText": True}) + "\n")
        for number, page in enumerate(_pages(captures, seeds), 1):
            first_seed = first_seed or (page["url"] if page.get("seed") else "")
            if size > MOST_TEXT and page.pop("text", None):
                without_text += 1
            size += out.write(json.dumps({"id": f"page-{number}", **page}) + "\n")
    return first_seed, number, without_text


def _pages(captures: Captures, seeds: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield each version of each page, as an entry of the list."""
    for capture in captures.changes():
        if capture.status == 200 and isinstance(response := captures.response(capture), HtmlResponse):
            yield _page(capture, response) | ({"seed": True} if capture.url in seeds else {})


def _page(capture: Capture, response: HtmlResponse) -> dict[str, Any]:
    text = visible_text(response.body, header(response.headers.get("Content-Type")))
    page = {"url": capture.url, "ts": capture.date, "title": title_of(response) or capture.url}
    return page | ({"text": text} if text else {})
