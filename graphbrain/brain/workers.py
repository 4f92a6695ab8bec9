"""Upkeep by processes of their own: `graphbrain work`, and beside replay, demo and bench.

A `WorkerPool` starts N Python processes. Each has its own `Brain`, which it tends for ever: a step of half a second,
and a nap that grows from 50 ms to 1 s while nothing is to be done. An order (JSON with the connection, so that no
command line has a password) goes in by stdin, which stays open: when it closes, because the pool stops or its process
has died, the worker ends. Totals come back by stdout. A worker that dies is started again; no cash moves by halves,
whenever it is killed. A worker that cannot work at all (wrong password, another version's data) is not started again,
and `failed` has the reason.
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

STEP = 0.5  # seconds of one `tend`, which an end must wait for
LOOK_EVERY = 60.0  # seconds between two looks whether scores are old
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
    """Tend `brain` until `stop` is set or, if so wanted, until its accounts are settled.

    A database that is away for a while is waited for.

    Args:
        batch: Payments of one transaction, without settling passes; None for the brain's own way.
        `tell`: Called with the total so far after each step that did something.

    Returns:
        The total; its seconds are those spent on upkeep.
    """
    total, nap, away = Tended(), SHORTEST_NAP, False
    more: dict[str, Any] = {} if batch is None else {"batch": batch, "passes": False}
    while not stop.is_set():
        try:
            done = brain.tend(STEP, for_everybody=True, stop=stop.is_set, **more)
        except GraphbrainError as error:
            if not error.try_again and not isinstance(error, GraphTooSmall):  # others may use the memory now
                raise
            if not away:
                to_stderr(f"{error} Worker {os.getpid()} goes on trying.")
            away = True
            stop.wait(LONGEST_NAP)
            continue
        away = False
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
        batch: Payments of one transaction.
        until_settled: Workers end when nothing is left to push.
        rank: The methods whose scores are kept fresh, by one worker at a time, beside its other work.
        every: Seconds after which they are computed anew.
        observe: Measure the workers' verbs and statements, for `observed`.
        say: Called with a sentence for each worker that is started again.
        arguments: Those of `Brain.open` (uri, user, password, crawl, …); the brain keeps its settings.
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
        """Return a pool on the same brain as `brain`, not started yet; options as for the pool."""
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
        """End the workers, and return their totals. One that takes longer than `grace` seconds is killed."""
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
        """Wait until all workers have ended for good, `seconds` at most. Return whether they have."""
        until = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    @property
    def totals(self) -> Tended:
        """The work of all workers so far; seconds are summed over them."""
        with self._lock:
            done = list(self._totals.values())
        settled = bool(done) and all(one.settled for one in done)
        return dataclasses.replace(sum(done, Tended()), settled=settled)

    @property
    def observed(self) -> Mapping[str, Any]:
        """The measurements of all workers since the pool was started, including those that have died."""
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
        """Run worker `number`, again and again if it dies, until the pool stops."""
        quick = 0
        for run in range(sys.maxsize):
            began = time.monotonic()
            process = self._spawn(number)
            if process is None:
                return
            ended = self._listen(process, (number, run))
            code = process.wait()
            with suppress(OSError):
                process.stdout.close()  # type: ignore[union-attr]
            if self._stop.is_set() or ended:
                return
            # A worker that dies soon after its start is started after ever longer waits.
            quick = quick + 1 if time.monotonic() - began < 10 else 0
            self.restarts += 1
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            self._say(f"Worker process {process.pid} {how}; another takes its place.")
            self._stop.wait(min(10.0, 0.1 * 2**quick))

    def _spawn(self, number: int) -> subprocess.Popen[str] | None:
        """Start a process with its order. Return None when the pool stops."""
        with self._lock:
            if self._stop.is_set():
                return None
            process = self._processes[number] = spawned("graphbrain.brain.workers")
        send_order(process, self._order)
        return process

    def _listen(self, process: subprocess.Popen[str], run: tuple[int, int]) -> bool:
        """Read the messages of the process until it ends. Return whether it ended for good."""
        ended = False
        for line in process.stdout or ():
            try:
                sent = json.loads(line)
            except ValueError:  # killed in the middle of a line
                continue
            with self._lock:
                if "error" in sent:
                    self.failed = sent["error"]
                    ended = True
                elif "observed" in sent:
                    self._observed[run] = sent["observed"]
                else:
                    ended = sent.pop("ended")
                    self._totals[run] = Tended(**sent)
        with self._lock:
            self._ended = together([self._ended, self._observed.pop(run, together([]))])
        return ended


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
    """Send such a process its order, a line of JSON; nothing happens if it has ended."""
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(order) + "\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]


def _environment() -> Mapping[str, str]:
    """Return this process's environment, with which a checkout that is not installed is found, too."""
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the pool decides
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    order = json.loads(first_line())
    threading.Thread(target=watch_stdin, args=(stop,), daemon=True).start()
    from graphbrain.brain.brain import Brain

    def tell(total: Tended, ended: bool = False) -> None:
        _write({**dataclasses.asdict(total), "ended": ended})

    try:
        # The parent has compared the shared settings of its environment with the brain's.
        with Brain.open(**order["arguments"], auto_tend=False, as_it_is=True) as brain:
            # As in a command: pages are locked while Python collects garbage.
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
    """Raised within a ranking, which is given up then: nothing is lost but its work."""


@contextmanager
def _keeping_ranked(brain: Brain, methods: Sequence[str], every: float, stop: threading.Event) -> Iterator[None]:
    """Keep the scores of these methods fresh, in a thread of its own: the accounts are tended meanwhile."""
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
    """Rank all that is due, and look again, until it is over."""

    from graphbrain.base.options.scores import RankDue
    from graphbrain.brain.rank import rank_if_due

    def go_on(*_: object) -> None:
        if over():
            raise _Stopped

    look, printed = min(LOOK_EVERY, every / 4), ""
    while not over():
        for method in methods:
            try:
                rank_if_due(brain, RankDue(method, every), go_on)
            except _Stopped:
                return
            # An error is printed once; the other methods go on.
            except GraphbrainError as error:
                if str(error) != printed:
                    printed = str(error)
                    to_stderr(f"{printed} Worker {os.getpid()} ranks by {method} later.")
        until = time.monotonic() + look
        while not over() and time.monotonic() < until:
            time.sleep(0.1)


def first_line() -> bytes:
    """Read the first line of stdin, unbuffered: the thread that waits for its end reads after it."""
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(0, 65536)
        if not more:
            sys.exit(0)
        line += more
    return line


def watch_stdin(stop: threading.Event) -> None:
    """Set `stop` when stdin ends: the pool wants it, or its process is gone."""
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    stop.set()


_WRITING = threading.Lock()
"""Held while a line is written: two threads may write at once."""


def _write(values: Mapping[str, Any]) -> None:
    with suppress(BrokenPipeError):
        with _WRITING:
            print(json.dumps(values), flush=True)


if __name__ == "__main__":
    sys.exit(main())
