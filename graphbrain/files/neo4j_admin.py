"""A new database for the local server, made from CSV files by Neo4j's import tool while the server runs on the old one.

The tool writes into separate folders. When the new database is marked as complete, the next start of the server
replaces the old one by it (graphbrain.graph.server.installation). So a kill at any moment leaves the old database or
the new one, never a mixture. A lock, which the tool inherits, admits one import at a time.

Java takes a second to load the tool. So the tool starts before its files are written, and then reads its command line
from its standard input. If the import is killed, that input ends, and the tool ends, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphbrain.base.errors import ServerFailed
from graphbrain.files.rows import COLUMNS, Bulk
from graphbrain.graph.schema import PAGE_CHAIN
from graphbrain.graph.server import installation as files
from graphbrain.graph.server import java_cache
from graphbrain.graph.server.jars import Say, file_lock, find_java, jars
from graphbrain.graph.server.lifecycle import BROWSER_VERSION, Server, java_of
from graphbrain.scores.accounts.exact_ledger import Ledger

__all__ = ["Workshop", "bytes_needed", "workshop"]

ROWS = 10_000
SOME = 100
LINKS = 1 << 20
AHEAD = {*Ledger.columns, "queue", "waiting_since"}
"""The properties that come first in a page's record.

The database stores a page's properties as a chain, in the order in which the tool reads them. Each read and write
follows the chain from its beginning. So the properties that every transaction on accounts uses come first. On cnr-2000
the commits of a settling pass take a fifth less time than with the key and the URL first.
"""
PAGE_BYTES, LINK_BYTES = 1_300, 75
"""The bytes that a page with its indexes, and a link, take in the database."""
HEAP_MB = 1024
Progress = Callable[[str, float], None]
"""Called with the name of the step and the share of it that is done, 0 to 1."""


def bytes_needed(bulk: Bulk) -> int:
    """Return an estimate of the bytes that the files and the database take together."""
    urls = bulk.harvest.urls
    some = range(0, len(urls), max(1, len(urls) // 1000))
    url = sum(len(urls[page]) for page in some) / max(1, len(some))
    width = len(str(bulk.harvest.pages))
    files_ = bulk.harvest.pages * (250 + 2 * url) + bulk.harvest.links * (2 * width + 20)
    return int(files_ + bulk.harvest.pages * PAGE_BYTES + bulk.harvest.links * LINK_BYTES)


@dataclass(frozen=True)
class Workshop:
    """A folder for the files of an import, and the running tool, which waits for them."""

    running: Server
    folder: Path
    tool: subprocess.Popen[str]

    def make(self, bulk: Bulk, brain: Mapping[str, Any], *, progress: Progress) -> None:
        """Write the files and let the tool make the database from them.

        Afterwards the database is complete, but not marked as complete (`installation.mark_new_store`).

        Args:
            bulk: The pages and links.
            brain: The properties of its (:Brain).
            progress: Called with the name of the step and the share of it that is done, 0 to 1.

        Raises:
            ServerFailed: The disk has not enough room, or the tool failed. The old database is unchanged.
        """
        # Check the room on the disk.
        need, free = bytes_needed(bulk), files.free_bytes(self.running.data)
        if need + files.LEAST_FREE_BYTES > free:
            raise ServerFailed(
                f"The import needs about {need / 1e9:.1f} GB on the disk of {self.running.data}, and {free / 1e9:.1f} "
                "GB are free: make room."
            )
        # Write the files. Links are tables of numbers, which numpy writes in another thread beside the pages.
        try:
            with ThreadPoolExecutor(1) as pool:
                links = pool.submit(_write_links, self.folder / "links.tsv", bulk)
                _write_pages(self.folder / "pages.tsv", bulk, progress)
                _write_hosts(self.folder / "hosts.tsv", bulk)
                _write_brain(self.folder / "brain.tsv", bulk, brain)
                links.result()
        except OSError as error:
            raise ServerFailed(
                f"The import's files cannot be written ({error.strerror or error}): make room."
            ) from error
        # Run the tool on them.
        _send_command(self.tool, self.folder)
        _follow(self.tool, progress)


@contextmanager
def workshop(running: Server, say: Say) -> Iterator[Workshop]:
    """Yield a workshop for one import. Remove the unfinished parts of an earlier import, and at the end those of this
    one."""
    folder = running.data / "bulk"
    with file_lock(running.data / "bulk.lock", say=lambda: say("Another import is under way…")) as lock:
        _tidy(running.data, folder)
        folder.mkdir()
        try:
            with _begun(running, folder, lock, say) as tool:
                yield Workshop(running, folder, tool)
        finally:
            _tidy(running.data, folder)


def _tidy(home: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if not (home / "data" / files.NEW_STORE).exists():
        files.drop_new_store(home)


# ---------------------------------------------------------------- files


def _write_pages(path: Path, bulk: Bulk, progress: Progress) -> None:
    total = bulk.harvest.pages
    places = sorted(range(len(COLUMNS)), key=lambda column: _far(COLUMNS[column][0]))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\t".join([":ID", *(":".join(COLUMNS[column]) for column in places)]) + "\n")
        for start in range(0, total, ROWS):
            columns = bulk.columns(start, start + ROWS)
            file.writelines(_lines(start, [columns[column] for column in places]))
            progress("writing pages", min(1.0, (start + ROWS) / total))


def _far(name: str) -> tuple[bool, int]:
    """Return the sort key of a property. A smaller one is nearer to the beginning of a page's chain."""
    return name not in AHEAD, -PAGE_CHAIN.index(name) if name in PAGE_CHAIN else 1


def _write_hosts(path: Path, bulk: Bulk) -> None:
    first = bulk.harvest.pages
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(":ID\tname:string\tdiscovered:double\n")
        file.writelines(_line(n, [name, bulk.run.now]) for n, name in enumerate(bulk.hosts, first))


def _write_brain(path: Path, bulk: Bulk, brain: Mapping[str, Any]) -> None:
    kinds = {bool: "boolean", int: "long", float: "double", str: "string"}
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\t".join([":ID", *(f"{name}:{kinds[type(value)]}" for name, value in brain.items())]) + "\n")
        file.write(_line(bulk.harvest.pages + len(bulk.hosts), list(brain.values())))


def _lines(first: int, columns: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of nodes, numbered from `first`."""
    cells = [_cells(column) for column in columns]
    return ("\t".join([str(node), *row]) + "\n" for node, row in enumerate(zip(*cells, strict=True), first))


def _cells(column: Sequence[Any]) -> list[str]:
    """Return the cells of a column. A value that occurs often is formatted once."""
    if len(column) > SOME and 2 * len(set(column[:SOME])) > SOME:  # most values are distinct
        return [_cell(value) for value in column]
    values = set(column)
    if 2 * len(values) > len(column):
        return [_cell(value) for value in column]
    return list(map({value: _cell(value) for value in values}.__getitem__, column))


def _line(identity: int, row: Sequence[Any]) -> str:
    return "\t".join([str(identity), *map(_cell, row)]) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def _write_links(path: Path, bulk: Bulk) -> None:
    """Write links with ids of equal width. So a table of bytes is the text, and no link needs a string."""
    # Prepare the parts that all lines share.
    offsets, targets = bulk.harvest.offsets, bulk.harvest.targets
    width = len(str(max(bulk.harvest.pages - 1, 0)))
    since = f"\t{bulk.run.now!r}\n".encode()
    total = len(targets)
    with path.open("wb") as file:
        file.write(b":START_ID\t:END_ID\tsince:double\n")
        for start in range(0, total, LINKS):
            # Fill a table with a line for each link: source, tab, target, time.
            ends = targets[start : start + LINKS]
            at = np.arange(start, start + len(ends))
            table = np.empty((len(ends), 2 * width + 1 + len(since)), np.uint8)
            table[:, width] = ord("\t")
            _digits(table[:, :width], np.searchsorted(offsets, at, side="right") - 1)
            _digits(table[:, width + 1 : 2 * width + 1], ends)
            table[:, 2 * width + 1 :] = np.frombuffer(since, np.uint8)
            file.write(table.tobytes())


def _digits(table: Any, numbers: Any) -> None:
    """Fill a table with the decimal digits of numbers, one number in each row."""
    rest = numbers.astype(np.int32)
    for column in range(table.shape[1] - 1, -1, -1):
        rest, digit = np.divmod(rest, 10)
        table[:, column] = digit + ord("0")


# ---------------------------------------------------------------- the tool


@contextmanager
def _begun(running: Server, folder: Path, lock: int, say: Say) -> Iterator[subprocess.Popen[str]]:
    """Yield the tool, which waits for its command line. It is killed at the end of the block."""
    # Write the tool's arguments.
    home, version = running.data, running.version
    class_path = jars(version, BROWSER_VERSION, say=say)
    java = java_of(running) or find_java(None, version)
    options = [*java_cache.options(java, class_path), *files.tool_options(class_path, HEAP_MB)]
    files.write_arguments(folder / "import.args", [*options, "org.neo4j.cli.AdminTool", "@/dev/stdin"])
    # Start the tool in a new session, so that Ctrl-C does not reach it. It inherits the lock.
    tool = subprocess.Popen(
        [java, f"@{folder / 'import.args'}"],
        env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        pass_fds=(lock,),
        start_new_session=True,
    )
    with tool:
        try:
            yield tool
        finally:
            tool.kill()


def _send_command(tool: subprocess.Popen[str], folder: Path) -> None:
    """Write the tool's command line to its input. If the tool has already ended, its output has the reason."""
    assert tool.stdin is not None
    with suppress(BrokenPipeError):
        tool.stdin.write(files.quoted(_words(folder)))
        tool.stdin.close()


def _words(folder: Path) -> list[str]:
    """Return the tool's command line. Page numbers are the ids of nodes, so that the tool needs no look-up."""
    return [
        *("database", "import", "full", files.NEW_STORE),
        *("--id-type=actual", "--delimiter=TAB", "--overwrite-destination", "--bad-tolerance=0"),
        *("--max-off-heap-memory=50%", f"--report-file={folder / 'report'}"),
        f"--nodes=Page={folder / 'pages.tsv'}",
        f"--nodes=Host={folder / 'hosts.tsv'}",
        f"--nodes=Imported={folder / 'brain.tsv'}",
        f"--relationships=LINKS={folder / 'links.tsv'}",
    ]


def _follow(tool: subprocess.Popen[str], progress: Progress) -> None:
    """Follow the tool's output to its end, and report progress. Raise ServerFailed if the tool failed."""
    step = steps = 0
    last_lines: deque[str] = deque(maxlen=200)
    assert tool.stdout is not None
    # A step begins with a line such as "(2/4) Relationship Import", and prints its share as in " 35% ".
    for line in tool.stdout:
        last_lines.append(line.strip())
        if heading := re.match(r"\((?P<step>\d+)/(?P<steps>\d+)\) ", line):
            step, steps = int(heading["step"]), int(heading["steps"])
        elif steps and (share := re.search(r" (\d+)% ", line)):
            progress("loading", (step - 1 + int(share[1]) / 100) / steps)
    # Its last lines have the reason of a failure.
    if tool.wait() != 0:
        last = [line for line in last_lines if line.strip(" -")][-1:] or ["no reason given"]
        why = files.reason("\n".join(last_lines)) or f"it says: {last[0]}"
        raise ServerFailed(f"Neo4j's import tool failed: {why}")
