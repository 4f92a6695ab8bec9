"""The measurement of one process's work with a brain: its verbs and statements, their durations, and errors.

A brain that is not observed has no extra cost, since `observe` wraps the verbs of one object only. `observations`
returns plain data, which a process can send to another; `together` adds up the data of several processes.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import wraps
from typing import TYPE_CHECKING, Any

from graphbrain.base.runtime.timings import Timings, added

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain

__all__ = ["UNOBSERVED", "Observer", "together", "verbs"]

UNOBSERVED = ("open", "close", "now", "quick_figures", "scan_figures")
PROMISED = ("next_urls", "report")
"""Verbs of `Brain.combined`. They return a future."""


def verbs() -> dict[bool, list[str]]:
    """Return the verbs of `Brain`: under False those that are timed; under True those that return an iterator, whose
    duration depends on its reader."""
    from graphbrain.brain.brain import VERBS

    declared = {name: verb for name, verb in VERBS.items() if name not in UNOBSERVED}
    streamed = [name for name, verb in declared.items() if verb.lines]
    return {True: streamed, False: ["frame", *(name for name in declared if name not in streamed)]}


class Observer:
    """The measurements of this process, of all brains that are observed. Thread-safe."""

    def __init__(self) -> None:
        self._verbs, self._statements = Timings(), Timings()
        self._errors: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._brains: list[Brain] = []

    def observe(self, brain: Brain) -> None:
        """Measure the verbs and statements of this brain from now on."""
        for verb in verbs()[False]:
            setattr(brain, verb, self._timed(verb, getattr(brain, verb)))
        for verb in PROMISED:
            setattr(brain.combined, verb, self._promised(verb, getattr(brain.combined, verb)))
        brain.graph.observe = self._statements.saw
        self._brains.append(brain)

    def _timed(self, verb: str, act: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(act)
        def timed(*args: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return act(*args, **named)
            except Exception as error:
                self._failed(verb, error)
                raise
            finally:
                self._verbs.saw(verb, time.perf_counter() - started)

        return timed

    def _promised(self, verb: str, act: Callable[..., Future[Any] | None]) -> Callable[..., Future[Any] | None]:
        @wraps(act)
        def timed(*args: Any, **named: Any) -> Future[Any] | None:
            started = time.perf_counter()

            def saw(future: Future[Any]) -> None:
                self._verbs.saw(verb, time.perf_counter() - started)
                if not future.cancelled() and (error := future.exception()) is not None:
                    self._failed(verb, error)

            try:
                future = act(*args, **named)
            except Exception as error:
                self._failed(verb, error)
                raise
            # Without a future, the caller runs the verb itself, which is timed.
            if future is not None:
                future.add_done_callback(saw)
            return future

        return timed

    def _failed(self, verb: str, error: BaseException) -> None:
        with self._lock:
            self._errors[f"{verb} {type(error).__name__}"] += 1

    def observations(self) -> dict[str, Any]:
        """Return the measurements so far: `verbs` and `statements` as `Timings` returns them, `errors` by verb and
        kind, `retries` by reason."""
        with self._lock:
            errors = dict(self._errors)
        retries: Counter[str] = Counter()
        for brain in self._brains:
            for name, count in list(brain.graph.counts.items()):
                if name.startswith("retries "):
                    retries[name.removeprefix("retries ")] += count
        return {
            "verbs": self._verbs.observations(),
            "statements": self._statements.observations(),
            "errors": errors,
            "retries": dict(retries),
        }


def together(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sum of the measurements of several processes."""
    measured = list(parts)
    counts: dict[str, Counter[str]] = {"errors": Counter(), "retries": Counter()}
    for name, total in counts.items():
        for part in measured:
            total.update(part[name])
    return {name: added(part[name] for part in measured) for name in ("verbs", "statements")} | {
        name: dict(total) for name, total in counts.items()
    }
