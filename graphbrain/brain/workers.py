"""Upkeep in separate processes: for `graphbrain work`, and beside replay, demo and bench.

A `WorkerPool` starts N Python processes. Each opens its own `Brain` and tends it in steps of half a second; between two
steps it sleeps, from 50 ms up to 1 s while there is no work. The pool sends each process an order by stdin: JSON with
the connection, so that no command line has a password. Stdin stays open; when it closes, because the pool stops or its
process has died, the worker ends. Totals come back by stdout. The pool replaces a worker that dies; each transaction is
complete or undone, so a killed worker loses no cash. A worker that cannot work at all (wrong password, another
version's data) is not replaced, and `failed` has the reason.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from graphbrain.base.errors import GraphbrainError, GraphTooSmall
from graphbrain.base.runtime.lean_driver import lean_driver
from graphbrain.base.work import Tended
from graphbrain.brain.observe import Observer, together

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain

__all__ = ["WorkerPool", "first_line", "send_order", "spawned", "tend_until", "to_stderr", "watch_stdin"]

STEP = 0.5  # seconds of one `tend`; a worker ends after it
LOOK_EVERY = 60.0  # seconds between two tests for old scores
TELL_EVERY = 2.0  # seconds between two messages with measurements
SHORTEST_NAP, LONGEST_NAP = 0.05, 1.0
CONNECTION = ("uri", "user", "password", "database", "crawl", "share", "limit_seconds")


def to_stderr(text: str) -> None:
    """Print a message for the user to stderr, so that stdout has the output alone."""
    print(f"graphbrain: {text}", file=sys.stderr, flush=True)


def tend_until(
    brain: Brain,
    stop: threading.Event,
    *,
    batch: int | None = None,
    until_settled: bool = False,
    tell: Callable[[Tended], None] = lambda _: None,
) -> Tended:
    """Tend `brain` until `stop` is set or, with `until_settled`, until its accounts are settled.

    If the database does not answer, it tries again until the database does.

    Args:
        brain: The open brain.
        stop: Ends the upkeep when it is set.
        batch: The payments of one transaction, without settling passes; None: the defaults of `tend`.
        until_settled: End when no push is left.
        `tell`: Called with the total so far after each step that did some work.

    Returns:
        The total; its seconds are the time spent on upkeep.
    """
    total, nap, is_away = Tended(), SHORTEST_NAP, False
    options: dict[str, Any] = {} if batch is None else {"batch": batch, "passes": False}
    while not stop.is_set():
        # An error that may go away is reported once, and the step is repeated.
        try:
            done = brain.tend(STEP, for_everybody=True, stop=stop.is_set, **options)
        except GraphbrainError as error:
            if not error.try_again and not isinstance(error, GraphTooSmall):
                raise
            if not is_away:
                to_stderr(f"{error} Worker {os.getpid()} goes on trying.")
            is_away = True
            stop.wait(LONGEST_NAP)
            continue
        is_away = False
        # Sleep longer and longer while there is no work.
        total += done
        if done.pushes or done.swept or done.released:
            tell(total)
            nap = SHORTEST_NAP
        if done.settled and until_settled:
            break
        if done.settled:
            stop.wait(nap)
            nap = min(2 * nap, LONGEST_NAP)
    return total


class WorkerPool:
    """N worker processes on one brain, from `start` to `stop`; also a context manager. Thread-safe.

    Args:
        workers: The number of processes.
        batch: The payments of one transaction.
        until_settled: Workers end when nothing is left to push.
        rank: The methods whose scores are kept fresh, by one worker at a time, beside its other work.
        every: Seconds after which these scores are computed again.
        observe: Measure the workers' verbs and statements, for `observed`.
        say: Called with a sentence for each worker that is replaced.
        arguments: Arguments of `Brain.open` (uri, user, password, crawl, …). The brain keeps its settings.
    """

    def __init__(
        self,
        workers: int,
        *,
        batch: int | None = None,
        until_settled: bool = False,
        rank: Sequence[str] = (),
        every: float = 3_600.0,
        observe: bool = False,
        say: Callable[[str], None] = to_stderr,
        **arguments: Any,
    ) -> None:
        self.workers = workers
        self.restarts = 0
        self.failed: str | None = None
        self._order = {
            "batch": batch,
            "until_settled": until_settled,
            "rank": list(rank),
            "every": every,
            "observe": observe,
            "arguments": arguments,
        }
        self._say = say
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._processes: dict[int, subprocess.Popen[str]] = {}
        self._totals: dict[tuple[int, int], Tended] = {}
        self._observed: dict[tuple[int, int], Mapping[str, Any]] = {}
        self._ended: Mapping[str, Any] = together([])
        """The measurements of workers that have died."""

    @classmethod
    def beside(cls, brain: Brain, workers: int, **options: Any) -> WorkerPool:
        """Return a pool on the same brain as `brain`, not started yet. `options`: arguments of the pool."""
        connection = {name: getattr(brain.settings, name) for name in CONNECTION}
        return cls(workers, **connection, **options)

    def __enter__(self) -> WorkerPool:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> WorkerPool:
        """Start the processes, and return at once."""
        for number in range(self.workers):
            thread = threading.Thread(target=self._keep, args=(number,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def stop(self, grace: float = 5.0) -> Tended:
        """End the workers, and return their totals. A worker that takes longer than `grace` seconds is killed."""
        # Close stdin of all workers, which ends them, and wait.
        self._stop.set()
        with self._lock:
            processes = list(self._processes.values())
        for process in processes:
            _close(process)
        until = time.monotonic() + grace
        for process in processes:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
        self.join()
        return self.totals

    def join(self, seconds: float | None = None) -> bool:
        """Wait until all workers have ended and none is replaced, `seconds` at most. Return False after that time."""
        until = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    @property
    def totals(self) -> Tended:
        """The work of all workers so far, with the sum of their seconds."""
        with self._lock:
            done = list(self._totals.values())
        settled = bool(done) and all(one.settled for one in done)
        return dataclasses.replace(sum(done, Tended()), settled=settled)

    @property
    def observed(self) -> Mapping[str, Any]:
        """The measurements of all workers since the start of the pool, including workers that have died."""
        with self._lock:
            parts = [self._ended, *self._observed.values()]
        return together(parts)

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that run now."""
        with self._lock:
            return [p.pid for p in self._processes.values() if p.poll() is None]

    # ------------------------------------------------------------------ one worker's thread

    def _keep(self, number: int) -> None:
        """Run worker `number`, and start it again each time it dies, until the pool stops."""
        early_deaths = 0
        for run in range(sys.maxsize):
            # Run one process to its end.
            began = time.monotonic()
            process = self._spawn(number)
            if process is None:
                return
            is_finished = self._listen(process, (number, run))
            code = process.wait()
            with suppress(OSError):
                process.stdout.close()  # type: ignore[union-attr]
            if self._stop.is_set() or is_finished:
                return
            # Before the next start, wait longer after each death that came soon after the start.
            early_deaths = early_deaths + 1 if time.monotonic() - began < 10 else 0
            self.restarts += 1
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            self._say(f"Worker process {process.pid} {how}; another takes its place.")
            self._stop.wait(min(10.0, 0.1 * 2**early_deaths))

    def _spawn(self, number: int) -> subprocess.Popen[str] | None:
        """Start a process with its order. Return None when the pool stops."""
        with self._lock:
            if self._stop.is_set():
                return None
            process = self._processes[number] = spawned("graphbrain.brain.workers")
        send_order(process, self._order)
        return process

    def _listen(self, process: subprocess.Popen[str], run: tuple[int, int]) -> bool:
        """Read the messages of the process until it ends. Return True if it must not be started again."""
        is_finished = False
        for line in process.stdout or ():
            try:
                message = json.loads(line)
            except ValueError:  # the process was killed in the middle of a line
                continue
            # A message is an error, measurements, or the totals.
            with self._lock:
                if "error" in message:
                    self.failed = message["error"]
                    is_finished = True
                elif "observed" in message:
                    self._observed[run] = message["observed"]
                else:
                    is_finished = message.pop("ended")
                    self._totals[run] = Tended(**message)
        # Add the measurements of this process to those of ended ones.
        with self._lock:
            self._ended = together([self._ended, self._observed.pop(run, together([]))])
        return is_finished


def _close(process: subprocess.Popen[str]) -> None:
    """Close a worker's stdin, which ends it. Nothing happens if it has ended already."""
    with suppress(OSError, ValueError):
        process.stdin.close()  # type: ignore[union-attr]


def spawned(module: str) -> subprocess.Popen[str]:
    """Start a Python process that runs a module. It waits for its order on stdin, and writes lines to stdout."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
    )


def send_order(process: subprocess.Popen[str], order: Mapping[str, Any]) -> None:
    """Send a process of `spawned` its order, a line of JSON. Nothing happens if the process has ended."""
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(order) + "\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]


def _environment() -> Mapping[str, str]:
    """Return this process's environment, with the path of this checkout if it is not installed."""
    root = Path(__file__).resolve().parents[2]
    if not (root / "pyproject.toml").exists():
        return os.environ
    paths = [os.environ.get("PYTHONPATH", ""), str(root)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


# ---------------------------------------------------------------------- inside a worker process


def main() -> int:
    """Run one worker: read the order, tend, write totals. Return the exit code."""
    lean_driver()
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of the group; the pool ends its workers
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    order = json.loads(first_line())
    threading.Thread(target=watch_stdin, args=(stop,), daemon=True).start()
    from graphbrain.brain.brain import Brain

    def tell(total: Tended, ended: bool = False) -> None:
        _write({**dataclasses.asdict(total), "ended": ended})

    try:
        # `as_it_is`: the parent has compared the shared settings of its environment with those of the brain.
        with Brain.open(**order["arguments"], auto_tend=False, as_it_is=True) as brain:
            # Exempt the present objects from garbage collection, which would pause while pages are locked.
            gc.freeze()
            with (
                _observed(brain) if order["observe"] else nullcontext(),
                _keeping_ranked(brain, order["rank"], order["every"], stop),
            ):
                total = tend_until(
                    brain,
                    stop,
                    batch=order["batch"],
                    until_settled=order["until_settled"],
                    tell=tell,
                )
            tell(total, ended=not stop.is_set())
    except GraphbrainError as error:
        if error.try_again or isinstance(error, GraphTooSmall):
            to_stderr(str(error))
        else:
            _write({"error": str(error)})
        return 1
    return 0


@contextmanager
def _observed(brain: Brain) -> Iterator[None]:
    """Send the pool the measurements of the brain, every few seconds and at the end."""
    observer, over = Observer(), threading.Event()
    observer.observe(brain)

    def tell() -> None:
        while not over.wait(TELL_EVERY):
            _write({"observed": observer.observations()})

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        _write({"observed": observer.observations()})


class _Stopped(Exception):
    """Raised in a ranking to abandon it when the worker ends."""


@contextmanager
def _keeping_ranked(brain: Brain, methods: Sequence[str], every: float, stop: threading.Event) -> Iterator[None]:
    """Keep the scores of these methods fresh in another thread, while this one does the upkeep."""
    done = threading.Event()
    thread = threading.Thread(target=_keep_ranked, args=(brain, methods, every, lambda: stop.is_set() or done.is_set()))
    if methods:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if methods:
            thread.join()


def _keep_ranked(brain: Brain, methods: Sequence[str], every: float, over: Callable[[], bool]) -> None:
    """Compute the scores of these methods when they are due, until `over` returns True."""

    from graphbrain.base.options.scores import RankDue
    from graphbrain.brain.rank import rank_if_due

    def stop_if_over(*_: object) -> None:
        if over():
            raise _Stopped

    pause, last_error = min(LOOK_EVERY, every / 4), ""
    while not over():
        # An error is printed once, and does not prevent the other methods.
        for method in methods:
            try:
                rank_if_due(brain, RankDue(method, every), stop_if_over)
            except _Stopped:
                return
            except GraphbrainError as error:
                if str(error) != last_error:
                    last_error = str(error)
                    to_stderr(f"{last_error} Worker {os.getpid()} ranks by {method} later.")
        # Wait before the next test.
        until = time.monotonic() + pause
        while not over() and time.monotonic() < until:
            time.sleep(0.1)


def first_line() -> bytes:
    """Read the first line of stdin without a buffer, since another thread reads the rest (`watch_stdin`)."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(0, 65536)
        if not more:
            sys.exit(0)
        line += more
    return line


def watch_stdin(stop: threading.Event) -> None:
    """Set `stop` when stdin ends, because the pool stops or its process has died."""
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    stop.set()


_WRITING = threading.Lock()
"""The lock of a line of output, since two threads write lines."""


def _write(values: Mapping[str, Any]) -> None:
    with suppress(BrokenPipeError):
        with _WRITING:
            print(json.dumps(values), flush=True)


if __name__ == "__main__":
    sys.exit(main())
