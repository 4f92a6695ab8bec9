"""The demo's crawlers: several processes that run the crawler to copy. One of them is killed.

A `Crew` starts the processes. Each gets its order on stdin (JSON with the connection), and another line once all have
opened the brain. It writes a line to stdout for each page that it has reported. Stdin stays open. When it closes,
because the crew is stopped or its process has died, the crawlers give back their claims and end.
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

from graphbrain import Answer, Brain, Failed, Fetched, GraphbrainError
from graphbrain.base.model import AnyReport
from graphbrain.brain.workers import first_line, send_order, spawned, watch_stdin
from graphbrain.content.relevance import TopicRelevance
from graphbrain.demo.crawler import crawl
from graphbrain.demo.web import through

__all__ = ["Crew", "WorkerReport"]


@dataclass(frozen=True)
class WorkerReport:
    """A crawler's line about one report. `lease` has the begin and end of its claim. `relevance` is None without a
    judge."""

    url: str
    key: str
    lease: tuple[float, float]
    failed: bool
    status: int | None
    relevance: float | None
    accepted: bool
    outcome: str
    links: int
    refused: int


class Crew:
    """Crawlers 1 to `count` on one brain and one web, from `begin` to `stop`.

    As a context manager it starts the processes at its entry, and stops them at its exit. The processes load their
    programs while the caller prepares the brain and the web.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.failed: str | None = None
        self._reports: queue.SimpleQueue[tuple[int, WorkerReport | None]] = queue.SimpleQueue()
        self._processes: dict[int, subprocess.Popen[str]] = {}
        self._threads: list[threading.Thread] = []
        self._killed: set[int] = set()
        self._ready = threading.Semaphore(0)
        self._waiting: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        for number in range(1, self.count + 1):
            self._processes[number] = spawned("graphbrain.demo.crew")
            thread = threading.Thread(target=self._listen, args=(number,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def begin(self, arguments: Mapping[str, Any], **order: Any) -> None:
        """Let the first crawler begin once all are ready, and the others when it has reported a page.

        No crawler waits longer than its patience while another one holds all pages.

        Args:
            arguments: The arguments of `Brain.open`.
            order: `proxy`, the address of the web; `topic`, words to crawl for, or None; `threads` and `patience`, as
                for `crawl`.
        """
        for number, process in self._processes.items():
            send_order(process, {"arguments": dict(arguments), "worker": self.name(number), **order})
        for _ in self._processes:
            self._ready.acquire()
        first, *self._waiting = self._processes.values()
        send_order(first, {"go": True})
        if first.poll() is not None:  # it ended before it could get the order
            self._start_others()

    @staticmethod
    def name(number: int) -> str:
        """Return the worker's name of a crawler in the graph."""
        return f"crawler {number}"

    def pid(self, number: int) -> int:
        """Return the process id of a crawler."""
        return self._processes[number].pid

    def kill(self, number: int) -> None:
        """Kill a crawler, as `kill -9` does."""
        self._killed.add(number)
        self._processes[number].kill()
        self._processes[number].wait()

    def hear(self, seconds: float) -> Iterator[tuple[int, WorkerReport] | None]:
        """Yield the crawlers' lines until all crawlers have ended. Yield None after each wait of `seconds` without a
        line."""
        going = self.count
        while going:
            try:
                number, message = self._reports.get(timeout=seconds)
            except queue.Empty:
                yield None
                continue
            if message is None:
                going -= 1
            else:
                yield number, message

    def stop(self, grace: float = 10.0) -> None:
        """Let the crawlers give back their claims and end. Kill one that takes longer than `grace` seconds."""
        for process in self._processes.values():
            with suppress(OSError, ValueError):
                process.stdin.close()  # type: ignore[union-attr]
        until = time.monotonic() + grace
        for process in self._processes.values():
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for thread in self._threads:
            thread.join()

    def _listen(self, number: int) -> None:
        """Read a crawler's lines until it ends."""
        # A line is an error, the news that the brain is open, or a report.
        process = self._processes[number]
        for line in process.stdout or ():
            with suppress(ValueError, TypeError):  # killed in the middle of a line
                message = json.loads(line)
                if "error" in message:
                    self.failed = str(message["error"])
                elif "ready" in message:
                    self._ready.release()
                else:
                    self._start_others()
                    self._reports.put((number, WorkerReport(**{**message, "lease": tuple(message["lease"])})))
        # After its end nothing waits for this crawler any more.
        if (code := process.wait()) and number not in self._killed:
            self.failed = self.failed or f"its process has ended with code {code}"
        with suppress(OSError):
            process.stdout.close()  # type: ignore[union-attr]
        self._ready.release()
        self._start_others()
        self._reports.put((number, None))

    def _start_others(self) -> None:
        with self._lock:
            while self._waiting:
                send_order(self._waiting.pop(), {"go": True})


# ---------------------------------------------------------------- inside a crawler's process


class _Watched(Brain):
    """A brain that records the time at which each report began. The pages of a report were leased until then."""

    reporting = 0.0

    def report(self, items: Sequence[AnyReport]) -> list[Answer]:
        """Record visits, and the time at which the report began."""
        self.reporting = self.now()
        return super().report(items)


def main() -> int:
    """Run one crawler: read the order, crawl, write lines. Return the exit code."""
    # Read the order.
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the crew decides
    order = json.loads(first_line())
    judge = None if order["topic"] is None else TopicRelevance.from_words(order["topic"])
    try:
        with _Watched.open(**order["arguments"], worker=order["worker"], auto_tend=False, as_it_is=True) as brain:
            assert isinstance(brain, _Watched)
            # Wait until all crawlers are ready. Without a line, `first_line` ends this process.
            _write({"ready": True})
            first_line()
            threading.Thread(target=watch_stdin, args=(stop,), daemon=True).start()

            def on_page(result: Fetched | Failed, answer: Answer) -> None:
                _write(asdict(_described(brain, result, answer)))

            crawl(
                brain,
                threads=order["threads"],
                patience=order["patience"],
                handlers=[through(order["proxy"])],
                judge=judge,
                stop=stop,
                on_page=on_page,
            )
    except GraphbrainError as error:
        _write({"error": str(error)})
        return 1
    return 0


def _described(brain: _Watched, result: Fetched | Failed, answer: Answer) -> WorkerReport:
    claim, failed = result.claim, isinstance(result, Failed)
    assert claim is not None
    return WorkerReport(
        result.url,
        claim.key,
        (claim.until - brain.settings.lease_seconds, min(brain.reporting, claim.until)),
        failed,
        result.status,
        None if isinstance(result, Failed) else result.relevance,
        answer.accepted,
        answer.outcome or "refused",
        answer.links,
        len(answer.links_refused),
    )


def _write(message: Mapping[str, Any]) -> None:
    with suppress(BrokenPipeError):
        print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main())
