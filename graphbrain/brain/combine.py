"""Group commit: requests that come while a transaction is under way go into the next one.

No request waits for others to come: if no transaction is under way, the request begins at once. A caller makes rounds
until its own request is done; then a background thread continues with the waiting requests. Owners take turns, so that
an owner with many requests does not delay an owner with few.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Generic, TypeVar

from graphbrain.base.runtime.fair import Turns

__all__ = ["Combiner", "Ticket"]

A = TypeVar("A")
R = TypeVar("R")


@dataclass(slots=True, eq=False)
class Ticket(Generic[A, R]):
    """One caller's request, and its answer to come. `size`: its share of a round's size."""

    request: A
    owner: Hashable
    size: float
    future: Future[R] = field(default_factory=Future)

    def answer(self, result: R) -> None:
        """Answer the request, unless it has an answer."""
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Answer the request with an error, unless it has an answer."""
        if not self.future.done():
            self.future.set_exception(error)


class Combiner(Generic[A, R]):
    """A combiner of requests of several callers. Thread-safe.

    Args:
        act: Answers a round of tickets together. If it raises an error, the error answers the tickets that it has not
            answered.
        name: The name of the background threads.
        most: The largest total size of a round.
        alone: The size from which a request is a round by itself, beside other rounds.
        lanes: The number of rounds that may run at the same time.
        group: Returns the group of a request. All requests of a round have one group; groups take turns.
        undo: Called with an answer whose caller was interrupted while it waited.
    """

    def __init__(
        self,
        act: Callable[[Sequence[Ticket[A, R]]], None],
        name: str,
        *,
        most: float,
        alone: float,
        lanes: int = 1,
        group: Callable[[A], Hashable] = lambda _: None,
        undo: Callable[[Future[R]], None] = lambda _: None,
    ) -> None:
        self._act, self._name, self._most, self.alone, self._free = act, name, most, alone, lanes
        self._group, self._undo = group, undo
        self._lock = threading.Lock()
        self._waiting: OrderedDict[Hashable, Turns[Ticket[A, R]]] = OrderedDict()
        """The waiting requests by group, the group first whose turn it is."""
        self._wakes: SimpleQueue[bool] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lanes = lanes

    def do(self, request: A, owner: Hashable, size: float) -> R:
        """Return the answer to a request. This thread makes the round if no other thread is at work."""
        ticket: Ticket[A, R] = Ticket(request, owner, size)
        if size >= self.alone:
            self._round([ticket], ticket)
        elif self._takes_lane(ticket):
            self._lead(ticket, [ticket])
        try:
            return ticket.future.result()
        except BaseException:
            if not (ticket.future.done() or ticket.future.cancel()):
                ticket.future.add_done_callback(self._undo)
            raise

    def submit(self, request: A, owner: Hashable, size: float) -> Future[R]:
        """Return the future of an answer, for callers without a thread that can wait. A background thread makes the
        round."""
        ticket: Ticket[A, R] = Ticket(request, owner, size)
        if self._takes_lane(ticket):
            with self._lock:
                self._put(ticket)
            self._wake()
        return ticket.future

    def close(self) -> None:
        """End the background threads, once all waiting requests are done."""
        with self._lock:
            threads, self._threads = self._threads, []
        for _ in threads:
            self._wakes.put(False)
        for thread in threads:
            thread.join()

    def _takes_lane(self, ticket: Ticket[A, R]) -> bool:
        """Take a lane if one is free; no ticket waits then. Otherwise queue the ticket, and return False."""
        with self._lock:
            if not self._free:
                self._put(ticket)
                return False
            self._free -= 1
            return True

    def _put(self, ticket: Ticket[A, R]) -> None:
        self._waiting.setdefault(self._group(ticket.request), Turns()).put(ticket.owner, ticket)

    def _lead(self, own: Ticket[A, R] | None, tickets: Sequence[Ticket[A, R]]) -> None:
        """Make rounds of these and then of the waiting tickets until `own` is done; None: until no ticket waits."""
        try:
            while tickets:
                self._round(tickets, own)
                tickets = [] if own is not None and own.future.done() else self._next()
        finally:
            with self._lock:
                more = bool(self._waiting)
                self._free += not more
            if more:
                self._wake()

    def _next(self) -> list[Ticket[A, R]]:
        """Return the tickets of the next round: of the group whose turn it is, owners by turns, as many as fit."""
        tickets: list[Ticket[A, R]] = []
        size = 0.0
        with self._lock:
            while self._waiting and not tickets:
                group, waiting = self._waiting.popitem(last=False)
                while len(waiting) and (not tickets or size + waiting.peek().size <= self._most):
                    ticket = waiting.take()
                    # From now on its caller cannot cancel it.
                    if ticket.future.running() or ticket.future.set_running_or_notify_cancel():
                        tickets.append(ticket)
                        size += ticket.size
                if len(waiting):
                    self._waiting[group] = waiting
        return tickets

    def _round(self, tickets: Sequence[Ticket[A, R]], own: Ticket[A, R] | None) -> None:
        try:
            self._act(tickets)
        except Exception as error:  # noqa: BLE001  # it is raised where the callers wait
            for ticket in tickets:
                ticket.fail(error)
        except BaseException as error:  # an interrupt concerns this thread only; the other tickets wait again
            with self._lock:
                for ticket in tickets:
                    if ticket is own:
                        ticket.fail(error)
                    elif not ticket.future.done():
                        self._put(ticket)
            raise
        for ticket in (each for each in tickets if not each.future.done()):
            ticket.fail(AssertionError("a round has left a request without an answer"))

    def _wake(self) -> None:
        """Let a background thread continue the rounds."""
        with self._lock:
            if len(self._threads) < self._lanes:
                thread = threading.Thread(target=self._serve, name=f"graphbrain-{self._name}", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._wakes.put(True)

    def _serve(self) -> None:
        while self._wakes.get():
            self._lead(None, self._next())
