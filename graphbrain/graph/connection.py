"""The only access to Neo4j: it sends statements and returns rows, in transactions that are safe to run again.

Every transaction is a function of a `Tx`, and may run several times: when the server reports that a retry can help
(deadlock, leader change), when the connection is lost, *also during COMMIT*, and when the function itself finds that
data has changed since it was read (`Again`). That is sound because each write is computed from state that the same
transaction has locked, and because each caller's action carries a token that was made before. The driver's own retries
are not used: its first pause is a second, and it never retries a commit whose outcome is unknown.

With a `neo4j://` address the driver routes each transaction to a member of a cluster. `read` and `write` go to the
leader. `anywhere.read` may go to a follower, which can lag behind the leader, but not behind what this connection has
written (bookmarks). It sends only statements whose header has the line `reads any`, and analysts' questions.
Statements: brain/clock, brain/terminate.
"""

from __future__ import annotations

import contextlib
import logging
import math
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Concatenate, NoReturn, ParamSpec, Protocol, TypeVar

import neo4j
import tenacity
from neo4j import exceptions as ne

from graphbrain.base.errors import Cancelled, GraphbrainError, GraphRefused, GraphTooSmall, GraphUnavailable
from graphbrain.graph.bookmarks import INVALID, Bookmarks
from graphbrain.graph.clock import JUMP, Timekeeper, steady
from graphbrain.graph.hanging import Watch
from graphbrain.graph.statements import Statement, statement

__all__ = [
    "ID_BITS",
    "LARGEST_ID",
    "Again",
    "Cancellation",
    "Clock",
    "Graph",
    "Misfit",
    "Observe",
    "Outdated",
    "Reads",
    "Trace",
    "Tx",
    "bound",
    "intact",
]

ID_BITS = 47
"""Bits of a packed link that hold an internal id; Neo4j's largest id has fewer. The other 16 hold a place."""


LARGEST_ID = (1 << ID_BITS) - 1


T = TypeVar("T")
P = ParamSpec("P")
Clock = Callable[[], float]
Trace = Callable[[str, int, float], None]
Observe = Callable[[str, float], None]

# The driver logs every deadlock as a warning. This module counts deadlocks instead, and the user needs no warning.
logging.getLogger("neo4j").setLevel(logging.CRITICAL)

FIRST_PAUSE, LONGEST_PAUSE = 0.02, 2.0
LEAST_ATTEMPTS = 2
REASON_EVERY = 60.0
"""Seconds of tries after which the reason why a call fails is logged, and between two such lines."""
REST = 5.0
"""Seconds for which a refused password is not tried again. After three refused tries Neo4j locks the user name, even
for the right password."""
MEMORY_ATTEMPTS = 4
"""Attempts at a transaction for which the server has too little memory."""
MISFITS = 3
"""Most attempts that a transaction breaks off because of weights that do not fit."""
LONGEST = 86_400.0
"""The limit in seconds of a call whose time grows with the graph. After it the connection counts as hanging."""
AFTER = 1.0
"""Seconds by which Neo4j's limit for a transaction exceeds that of its `Cancellation`. So the latter ends first, and
the reason is known here."""
CLOCK_PROBES = 7
CLOCK_GOOD_FOR = 300.0
"""Seconds after which the server's clock is measured again, because two clocks drift apart."""
log = logging.getLogger(__name__)

_OUT_OF_TIME = "Neo.ClientError.Transaction.TransactionTimedOut"
# Codes after which another attempt can succeed, though the driver does not call them retryable.
_OVERTAKEN = (
    # Another transaction has created the same page or schema rule at the same time.
    "Neo.ClientError.Schema.",
    # Another process has made the constraint whose index was to be removed.
    "Neo.DatabaseError.Schema.IndexDropFailed",
    "Neo.ClientError.Statement.EntityNotFound",
    _OUT_OF_TIME,
    "Neo.ClientError.Transaction.TransactionNotFound",
    "Neo.ClientError.Transaction.TransactionMarkedAsFailed",
    "Neo.ClientError.Transaction.TransactionTerminated",
    # The driver raises this for errors that the server calls transient: an operator has terminated the transaction.
    "Neo.ClientError.Transaction.Terminated",
    "Neo.ClientError.Transaction.LockClientStopped",
    "Neo.TransientError.",
)

_NO_LEADER = (ne.NotALeader, ne.ForbiddenOnReadOnlyDatabase, ne.WriteServiceUnavailable)
"""The errors of a member that does not lead. The driver itself raises the last one if it knows no other member."""


class Again(Exception):
    """An error within a transaction: data has changed since it was read. The transaction is run again."""


def intact(*facts: object) -> None:
    """Raise Again if one of these properties of a page is None: every page has them.

    A reader without a lock can find a page in the index that another transaction is deleting or writing, so that some
    or all of its properties are missing.
    """
    if None in facts:
        raise Again("a page was deleted while it was read")


class Outdated(Again):
    """An error within a transaction: the settings of the brain have changed. They are read before it is run again."""


MOST_LASTING = 10_000
"""The largest number of pages that a connection remembers."""


class Misfit(Again):
    """An error within a transaction: the weight of a locked page is not the sum of the weights of its links."""


@dataclass(slots=True)
class Attempts:
    """The attempts at one transaction: their `number` so far, and the pages whose weights do not fit their links.

    A transaction that finds such a page is run again, `MISFITS` times. If the read was wrong, the next attempt reads
    the right weights. If the page still does not fit, it is wrong in the graph: the audit reports it, and the
    connection remembers it as `lasting`, so that it stops no later transaction.
    """

    lasting: set[int]
    counts: Counter[str]
    number: int = 0
    misfits: int = 0

    def meet_misfits(self, pages: Iterable[int]) -> None:
        """Record the internal ids of pages that do not fit. Raise Misfit, at most `MISFITS` times in a transaction."""
        fresh = set(pages) - self.lasting
        if not fresh:
            return
        self.misfits += 1
        if self.misfits <= MISFITS:
            raise Misfit("the weight of a page is not that of its links; 'graphbrain audit --all' names the pages")
        self.counts["lasting misfits"] += len(fresh)
        if len(self.lasting) < MOST_LASTING:
            self.lasting |= fresh


class Access(Enum):
    """The member at which a transaction runs, and the statements that it may send."""

    WRITE = "at the leader"
    READ = "at the leader, without writes"
    ANYWHERE = "at any member, statements that may be read there"


class Tx:
    """One attempt at one transaction. `one`, `records`, `many` and `do` run a statement of `cypher/`.

    Attributes:
        attempts: All attempts at the transaction.
        server: The address of the member that has answered, "host:port". None before the first statement, and for a
            connection that does not route.
    """

    __slots__ = ("_access", "_counts", "_observe", "_routed", "_trace", "_tx", "attempts", "server")

    def __init__(
        self,
        tx: neo4j.Transaction,
        trace: Trace | None,
        counts: Counter[str],
        attempts: Attempts,
        observe: Observe | None = None,
        access: Access = Access.WRITE,
        routed: bool = False,
    ) -> None:
        self._tx, self._access, self._routed = tx, access, routed
        self.attempts = attempts
        self.server: str | None = None
        self._trace = trace
        self._observe = observe
        self._counts = counts

    def many(self, name: str, /, **params: Any) -> list[list[Any]]:
        """Return all rows of a statement, each a list of its columns.

        Raises:
            ValueError: The statement's header forbids it in this transaction.
        """
        stated: Statement = statement(name)
        if self._access is not Access.WRITE:
            self._check(stated)
        started = time.perf_counter()
        result = self._tx.run(stated.text, stated.arguments(params))
        rows = result.values()
        if self._routed and self.server is None:
            self.server = _server(result)
        if self._observe is not None:
            self._observe(name, time.perf_counter() - started)
        if self._trace is not None:
            self._counts["properties written"] += result.consume().counters.properties_set
            self._trace(name, len(rows), (time.perf_counter() - started) * 1000)
        return rows

    def _check(self, stated: Statement) -> None:
        if stated.mode != "read":
            raise ValueError(f"{stated.name} writes, and this transaction only reads.")
        if self._access is Access.ANYWHERE and stated.reads != "any":
            raise ValueError(f"{stated.name} must be read at the leader: its header lacks the line 'reads any'.")

    def one(self, name: str, /, **params: Any) -> list[Any]:
        """Return the only row of a statement.

        Raises:
            LookupError: There is no row.
        """
        rows = self.many(name, **params)
        if len(rows) != 1:
            raise LookupError(f"{name}: {len(rows)} rows, not one")
        return rows[0]

    def records(self, name: str, /, **params: Any) -> list[Any]:
        """Return the rows of a statement as named tuples, whose fields have the names in its header.

        They are all rows of a statement with `rows many`, and the list in the first column of one with `rows one`.
        """
        stated: Statement = statement(name)
        rows = self.many(name, **params) if stated.rows == "many" else self.one(name, **params)[0]
        return [*map(stated.record._make, rows)]

    def do(self, name: str, /, **params: Any) -> None:
        """Run a statement whose rows do not matter."""
        self.many(name, **params)

    def ask(self, name: str, text: str, params: Mapping[str, Any]) -> tuple[list[str], list[list[Any]]]:
        """Return (columns, rows in plain values) of a question that is no statement of `cypher/`. See `plain`."""
        started = time.perf_counter()
        result = self._tx.run(f"/* graphbrain {name} */ {text}", dict(params))
        columns, rows = list(result.keys()), [[plain(value) for value in row] for row in result.values()]
        if self._trace is not None:
            self._trace(name, len(rows), (time.perf_counter() - started) * 1000)
        return columns, rows


def _server(result: neo4j.Result) -> str:
    host, port = result.consume().server.address[:2]
    return f"{host}:{port}"


def plain(value: Any) -> Any:
    """Return a value without the driver's types.

    A time becomes Python's, a node becomes its URL, name or properties, a path becomes the list of its nodes, and a
    relationship becomes its properties.
    """
    if isinstance(value, neo4j.graph.Path):
        return [plain(node) for node in value.nodes]
    if isinstance(value, neo4j.graph.Node):
        return value.get("url") or value.get("name") or plain(dict(value.items()))
    if isinstance(value, neo4j.graph.Relationship):
        return plain(dict(value.items()))
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, neo4j.time.DateTime | neo4j.time.Date | neo4j.time.Time):
        return value.to_native()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def bound(work: Callable[Concatenate[Tx, P], T], /, *args: P.args, **kwargs: P.kwargs) -> Callable[[Tx], T]:
    """Return a function of a `Tx` that calls `work` with these arguments.

    Use it instead of a lambda in a loop, which would read the values of a later turn. Do not pass values that must be
    read at each attempt, such as the time or the settings.
    """

    def attempt(tx: Tx) -> T:
        return work(tx, *args, **kwargs)

    return attempt


class Cancellation:
    """A limit of the transactions of a thread within `Graph.cancelled_by`: `seconds` in all, or until `cancel`.

    Neo4j ends a transaction that is open after this time. `Graph.terminate` ends it at once. Thread-safe.
    """

    def __init__(self, seconds: float) -> None:
        self.token = uuid.uuid4().hex
        self.servers: set[str] = set()
        """The members of a cluster that have run a transaction with this limit."""
        self._seconds, self._until = seconds, time.monotonic() + seconds
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Let no further transaction begin."""
        self._cancelled.set()

    def seconds_left(self) -> float:
        """Return the seconds that remain, more than 0. Raise Cancelled if none remain, or after `cancel`."""
        if self._cancelled.is_set():
            raise Cancelled
        remaining = self._until - time.monotonic()
        if remaining <= 0:
            raise Cancelled(f"It took more than {self._seconds:g} s; ask for less.")
        return remaining


_CANCELLATION: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


class Reads(Protocol):
    """The reads of a `Graph`, which go to the leader, or of its `anywhere`, which may go to a follower."""

    def read(self, work: Callable[[Tx], T], name: str, *, patient: bool = True, slow: bool = False) -> T:
        """Return the result of `work` in a read transaction called `name`. `slow`: as for `Graph.read`."""


class Anywhere:
    """The reads of a `Graph` that a follower may answer."""

    def __init__(self, run: Callable[[Callable[[Tx], Any], str, Access, bool, float | None], Any]) -> None:
        self._run = run

    def read(self, work: Callable[[Tx], T], name: str, *, patient: bool = True, slow: bool = False) -> T:
        """Return the result of `work` in a read transaction called `name`, at any member of a cluster.

        The member has all that this connection wrote before. The last writes of other connections may be missing.
        `slow`: as for `Graph.read`.
        """
        result: T = self._run(work, name, Access.ANYWHERE, patient, LONGEST if slow else None)
        return result


class Graph:
    """A connection to one database. It is thread-safe, and opens a new session for each attempt.

    Args:
        uri: The address, which begins with bolt:// or neo4j://.
        user: The user's name.
        password: The password; empty for a server without authentication.
        database: The name of the database.
        limit_seconds: The time for which a call tries again before it raises GraphUnavailable.
    """

    def __init__(self, uri: str, user: str, password: str, database: str, limit_seconds: float = 60.0) -> None:
        # The server, and its driver.
        self.uri, self.user, self.password, self.database = uri, user, password, database
        self.limit_seconds = limit_seconds
        self._lock = threading.Lock()
        self._driver = self._make_driver()
        self._watch = Watch(self._renew_driver)
        # The members of a cluster.
        self.routed = uri.startswith("neo4j")
        """True if the driver chooses a member of a cluster for each transaction."""
        self.anywhere = Anywhere(self._run)
        """Reads that may go to a follower."""
        self._bookmarks = Bookmarks() if self.routed else None
        self._leader: str | None = None
        # The brain's time.
        self.time = Timekeeper()
        self.now: Clock = self.time.now
        """Returns the brain's time in epoch seconds (`graph.clock`)."""
        self._measured_at = 0.0
        # Retries.
        self.on_outdated: Callable[[], None] = lambda: None
        """Is called before a transaction runs again because the settings of the brain have changed."""
        self._lasting: set[int] = set()
        self._barred_until = -math.inf
        """The monotonic time before which a refused password is not tried again."""
        # Counts and observers.
        self.counts: Counter[str] = Counter()
        self._reason_logged_at = -math.inf
        self.observe: Observe | None = None
        """While set, is called with the name and the seconds of each statement, and of each COMMIT."""
        self._tracer: Trace | None = None

    def _make_driver(self) -> neo4j.Driver:
        if not self.uri.startswith(("bolt://", "bolt+", "neo4j://", "neo4j+")):
            raise GraphRefused(
                f"{self.uri!r} is not an address of a Neo4j; it must begin with bolt:// or neo4j://, as in "
                "bolt://127.0.0.1:7687."
            )
        try:
            return neo4j.GraphDatabase.driver(
                self.uri,
                auth=(self.user, self.password) if self.password else None,
                connection_acquisition_timeout=self.limit_seconds,
                connection_timeout=10.0,
                max_connection_pool_size=100,
                notifications_min_severity="OFF",
                user_agent="graphbrain",
            )
        except (ValueError, ne.ConfigurationError) as error:
            raise GraphRefused(f"{self.uri!r} is not an address of a Neo4j ({_first_line(error)}).") from None

    def connect(self) -> None:
        """Connect to the server and measure its clock.

        Raises:
            GraphUnavailable: The server does not answer.
            GraphRefused: The server refuses the user or the request.
        """
        self._measure_clock(patient=False)

    def keep_time(self) -> None:
        """Measure the leader's clock again if the last measurement is too old, or another server leads now."""
        if steady() - self._measured_at > CLOCK_GOOD_FOR or self._leader != self.time.member:
            self._measure_clock()

    def _measure_clock(self, *, patient: bool = True) -> None:
        offset, member = self.read(_ask_clock, "brain/clock", patient=patient)
        jump = self.time.measured(member, offset, first=not self._measured_at)
        if abs(jump) > JUMP:
            log.warning(
                "The clock of Neo4j at %s was set %s by %.0f s; leases and delays follow it.",
                member or self.uri,
                "forward" if jump > 0 else "back",
                abs(jump),
            )
        self._measured_at = steady()

    def close(self) -> None:
        self._watch.stop()
        self._driver.close()

    @contextlib.contextmanager
    def trace(self, tracer: Trace) -> Iterator[None]:
        """Call `tracer(statement, rows, milliseconds)` after each statement and each COMMIT, until the block ends."""
        before, self._tracer = self._tracer, tracer
        try:
            yield
        finally:
            self._tracer = before

    @contextlib.contextmanager
    def cancelled_by(self, cancellation: Cancellation) -> Iterator[None]:
        """Limit this thread's transactions by `cancellation` until the block ends. They raise Cancelled then."""
        before = _CANCELLATION.set(cancellation)
        try:
            yield
        finally:
            _CANCELLATION.reset(before)

    def terminate(self, cancellation: Cancellation) -> int:
        """End all open transactions of a cancellation, and let no more of them begin. Return their number."""
        cancellation.cancel()
        if not self.routed:
            return self._terminate(cancellation.token)
        scheme = self.uri.partition("://")[0].replace("neo4j", "bolt")
        ended = 0
        for server in sorted(cancellation.servers):  # a server ends only transactions of its own
            member = Graph(f"{scheme}://{server}", self.user, self.password, self.database, self.limit_seconds)
            try:
                ended += member._terminate(cancellation.token)
            finally:
                member.close()
        return ended

    def _terminate(self, token: str) -> int:
        named = "brain/terminate"
        ended: int = self.anywhere.read(lambda tx: tx.one(named, asked=token)[0], named, patient=False)
        return ended

    def read(self, work: Callable[[Tx], T], name: str, *, patient: bool = True, slow: bool = False) -> T:
        """Return the result of `work` in a read transaction called `name`, at the leader.

        `slow`: the time of the transaction grows with the graph. Neither the server's limit for a transaction nor the
        watch over hanging calls ends it. If the server falls silent, the driver ends it after two minutes without
        keep-alive messages.
        """
        return self._run(work, name, Access.READ, patient, LONGEST if slow else None)

    def write(self, work: Callable[[Tx], T], name: str, *, patient: bool = True, slow: bool = False) -> T:
        """Return the result of `work` in a committed write transaction called `name`. `work` may run several times.

        `slow`: the time of the transaction grows with the graph. No limit of time ends it, and it is tried again as
        long.
        """
        limit = LONGEST if slow else None
        return self._run(work, name, Access.WRITE, patient, limit, limit)

    def _run(
        self,
        work: Callable[[Tx], T],
        name: str,
        access: Access,
        patient: bool,
        lasts: float | None = None,
        tries: float | None = None,
    ) -> T:
        """Run a transaction until it succeeds, and return the result of `work`.

        Args:
            work: The statements of the transaction.
            name: The name of the transaction.
            access: The member at which it runs, and the statements that it may send.
            patient: True if it is tried again.
            lasts: The limit of one attempt in seconds; None: that of the server and of the watch.
            tries: The seconds for which it is tried again; None: `limit_seconds`.

        Raises:
            GraphbrainError: The transaction has failed, or was cancelled.
        """
        if time.monotonic() < self._barred_until:
            raise GraphRefused(self._no_entry())
        # Run the transaction again after errors that a retry can help, within the limit.
        stop = partial(self._tried_enough, limit=tries) if patient else tenacity.stop_after_attempt(1)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_can_help),
            wait=_pause,
            stop=stop,
            before_sleep=partial(self._retried, name=name),
            reraise=True,
        )
        attempts = Attempts(self._lasting, self.counts)
        try:
            result: T = retrying(self._attempt, work, name, access, attempts, lasts)
            return result
        except (ne.DriverError, ne.Neo4jError, Again, OSError) as error:
            if (cancellation := _CANCELLATION.get()) is not None:
                cancellation.seconds_left()  # raises Cancelled if that is the cause
            self._explain(error, name)

    def _tried_enough(self, state: tenacity.RetryCallState, *, limit: float | None) -> bool:
        if _too_small(state):
            return True
        # Try at least twice. A process that Ctrl-Z stopped has lost its transaction, and its time limit has passed when
        # it continues.
        return state.attempt_number >= LEAST_ATTEMPTS and (state.seconds_since_start or 0.0) >= (
            limit or self.limit_seconds
        )

    def hurry(self, seconds: float, longest: float | None = None) -> None:
        """Shorten the limits of all calls, including running ones.

        Args:
            seconds: The limit of the time for which a call is tried again.
            longest: The limit of one attempt, except in slow calls. After it the connection counts as hanging.
        """
        self.limit_seconds = min(self.limit_seconds, seconds)
        if longest is not None:
            self._watch.hurry(longest)

    def _attempt(
        self, work: Callable[[Tx], T], name: str, access: Access, attempts: Attempts, lasts: float | None
    ) -> T:
        """Run a transaction once, in a session of its own, and return the result of `work`."""
        attempts.number += 1
        driver = self._driver
        mode = neo4j.READ_ACCESS if access is Access.ANYWHERE else neo4j.WRITE_ACCESS
        bookmarks = self._bookmarks.get_bookmarks() if self._bookmarks is not None else set()
        with self._watch.over(driver, (lasts or self.limit_seconds) * 1.5 + 30, slow=lasts is not None):
            session = driver.session(database=self.database, default_access_mode=mode, bookmark_manager=self._bookmarks)
            try:
                result = self._transact(session, work, name, access, attempts, lasts)
            except Exception as error:
                # Drop bookmarks that the database does not know.
                _close(session)
                code = (error.code or "") if isinstance(error, ne.Neo4jError) else ""
                by_leader = access is not Access.ANYWHERE
                if self._bookmarks is not None and self._bookmarks.refused(code, bookmarks, by_leader):
                    self.counts["bookmarks dropped"] += 1
                raise
            except BaseException:
                # Drop the driver. A connection that was interrupted in the middle of an answer can neither be used
                # again nor be closed properly.
                self._renew_driver(driver)
                raise
            _close(session)
            return result

    def _transact(
        self,
        session: neo4j.Session,
        work: Callable[[Tx], T],
        name: str,
        access: Access,
        attempts: Attempts,
        seconds: float | None,
    ) -> T:
        """Begin a transaction, do `work`, and commit."""
        # Mark the transaction by its name, and by the token that can end it.
        metadata = {"app": "graphbrain", "work": name}
        if (cancellation := _CANCELLATION.get()) is not None:
            metadata["asked"] = cancellation.token
            seconds = cancellation.seconds_left() + AFTER
        tx = session.begin_transaction(metadata=metadata, timeout=seconds)
        try:
            # Find the member that runs it, by any statement, so that `terminate` can end it there.
            if cancellation is not None and self.routed:
                cancellation.servers.add(_server(tx.run(statement("brain/clock").text)))
            attempt = Tx(tx, self._tracer, self.counts, attempts, self.observe, access, self.routed)
            result = work(attempt)
            self._commit(tx)
        except Exception:
            _close(tx)
            raise
        # Note the leader, and that a member has reached the bookmarks.
        if attempt.server is not None and access is not Access.ANYWHERE:
            self._leader = attempt.server
        if self._bookmarks is not None:
            self._bookmarks.accepted()
        return result

    def _commit(self, tx: neo4j.Transaction) -> None:
        started = time.perf_counter()
        tx.commit()
        if self.observe is not None:
            self.observe("COMMIT", time.perf_counter() - started)
        if self._tracer is not None:
            self._tracer("COMMIT", 0, (time.perf_counter() - started) * 1000)

    def _retried(self, state: tenacity.RetryCallState, *, name: str) -> None:
        """Count a retry, and log the reason if the call has failed for a long time."""
        error = state.outcome.exception() if state.outcome else None
        self.counts["retries"] += 1
        self.counts[f"retries {_kind(error)}"] += 1
        if isinstance(error, Outdated):
            self.on_outdated()
        now, tried = time.monotonic(), state.seconds_since_start or 0.0
        if error is not None and tried >= REASON_EVERY and now >= self._reason_logged_at + REASON_EVERY:
            self._reason_logged_at = now
            why = _first_line(error)
            log.warning("%s at %s has failed for %.0f s and is tried again: %s", name, self.uri, tried, why)

    def _renew_driver(self, stuck: neo4j.Driver) -> None:
        """Replace a driver that has a hanging call, and close it: every thread that waits for its sockets gets an
        error."""
        with self._lock:
            if self._driver is stuck:
                self._driver = self._make_driver()
                self.counts["drivers renewed"] += 1
        threading.Thread(target=stuck.close, daemon=True).start()

    def _no_entry(self) -> str:
        return f"Neo4j at {self.uri} refused the user or password; set GRAPHBRAIN_USER and GRAPHBRAIN_PASSWORD."

    def _explain(self, error: Exception, name: str) -> NoReturn:
        """Raise the GraphbrainError with the cause of an error, and the remedy. `name`: the transaction."""
        # The user or the cluster refuses, or other transactions have changed the graph.
        if isinstance(error, ne.AuthError):
            self._barred_until = time.monotonic() + REST
            raise GraphRefused(self._no_entry()) from None
        if isinstance(error, Again):
            raise GraphUnavailable(
                f"{name} found the graph changed at each of its attempts for {self.limit_seconds:.0f} s"
                f"{f' ({error})' if str(error) else ''}; try again."
            ) from error
        if _is_locked(error):
            raise GraphUnavailable(
                f"Neo4j at {self.uri} lets {self.user!r} in again in some seconds: a program has tried wrong "
                "passwords; stop that program, and try again."
            ) from error
        if isinstance(error, _NO_LEADER) and not self.routed:
            raise GraphUnavailable(
                f"Neo4j at {self.uri} is not the cluster's leader, which alone can write; use an address that begins "
                "with neo4j://, so that the driver finds the leader."
            ) from error
        if isinstance(error, ne.ConfigurationError):
            raise GraphRefused(f"Neo4j at {self.uri} cannot be used so: {error}.") from error
        # The server has another error that no retry can help.
        if isinstance(error, ne.Neo4jError) and not _can_help(error):
            raise GraphRefused(_refusal(error, self.uri, self.database)) from error
        # The transaction exceeds a limit of the server.
        if isinstance(error, ne.Neo4jError) and "OutOfMemory" in (error.code or ""):
            raise GraphTooSmall(
                f"Neo4j at {self.uri} has too little memory for {name} ({_first_line(error)}); do less at once, or "
                "start it with more ('graphbrain server start --memory MB')."
            ) from error
        if isinstance(error, ne.Neo4jError) and (error.code or "").startswith(_OUT_OF_TIME):
            raise GraphUnavailable(
                f"Neo4j at {self.uri} ended {name}, which took longer than its setting db.transaction.timeout allows; "
                "do less at once, or raise that setting."
            ) from error
        # The server does not answer, or the driver has failed.
        if isinstance(error, ne.DriverError | OSError) or _can_help(error):
            raise GraphUnavailable(
                f"Neo4j at {self.uri} did not answer ({_first_line(error)}); start it with 'graphbrain server start' "
                "or set GRAPHBRAIN_URI."
            ) from error
        raise GraphRefused(
            f"The driver of Neo4j failed at {name} ({_kind(error)}: {_first_line(error)}); report it with what "
            "'graphbrain server logs' prints."
        ) from error


def _ask_clock(tx: Tx) -> tuple[float, str | None]:
    """Return (the server's epoch seconds minus the steady clock, its address if the connection routes).

    All answers of a transaction come from one server over one connection. The quickest of several answers counts: its
    error is at most half the time that it took.
    """
    probes = []
    for _ in range(CLOCK_PROBES):
        before = steady()
        millis = tx.one("brain/clock")[0]
        after = steady()
        probes.append((after - before, millis / 1000 - (before + after) / 2))
    return min(probes)[1], tx.server


def _close(thing: neo4j.Session | neo4j.Transaction) -> None:
    """Close a session or a transaction, and ignore errors: they would hide the error because of which it is closed."""
    with contextlib.suppress(ne.DriverError, ne.Neo4jError, OSError):
        thing.close()


def _can_help(error: BaseException) -> bool:
    """Return True if another run of the transaction can succeed."""
    if _is_locked(error):
        return True
    if isinstance(error, GraphbrainError | ne.AuthError | ne.ConfigurationError):
        return False
    if isinstance(error, ne.DriverError):
        return error.is_retryable() or isinstance(
            error,
            ne.IncompleteCommit | ne.ServiceUnavailable | ne.SessionExpired | ne.TransactionError | ne.ResultError,
        )
    if isinstance(error, ne.Neo4jError):
        return error.is_retryable() or (error.code or "").startswith((*_OVERTAKEN, INVALID))
    return isinstance(error, Again | OSError)


def _is_locked(error: BaseException) -> bool:
    """Return True if wrong passwords have locked the user name for some seconds."""
    return isinstance(error, ne.Neo4jError) and (error.code or "").endswith("AuthenticationRateLimit")


_SOON = tenacity.wait_random_exponential(multiplier=FIRST_PAUSE, max=LONGEST_PAUSE)


def _pause(state: tenacity.RetryCallState) -> float:
    """Return the pause before the next attempt. After a lack of memory it is longer, until other transactions end."""
    return random.uniform(0.0, LONGEST_PAUSE) if _lacks_memory(state) else _SOON(state)


def _too_small(state: tenacity.RetryCallState) -> bool:
    """Return True if every attempt lacked memory, so that other transactions are not the cause."""
    return _lacks_memory(state) and state.attempt_number >= MEMORY_ATTEMPTS


def _lacks_memory(state: tenacity.RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    return isinstance(error, ne.Neo4jError) and "OutOfMemory" in (error.code or "")


def _kind(error: BaseException | None) -> str:
    if isinstance(error, ne.Neo4jError) and error.code:
        return error.code.rsplit(".", 1)[-1]
    return type(error).__name__


def _first_line(error: BaseException) -> str:
    """Return the first line of the message, without the codes that the driver adds."""
    text = (error.message if isinstance(error, ne.Neo4jError) else None) or str(error)
    first = (text.strip().splitlines() or [type(error).__name__])[0]
    return first.split(" (resolved to", 1)[0].rstrip(".: ")


def _refusal(error: ne.Neo4jError, uri: str, database: str) -> str:
    code, text = error.code or "", str(error.message or error)
    if "DatabaseNotFound" in code:
        return f"Neo4j at {uri} has no database {database!r}; set GRAPHBRAIN_DATABASE."
    if "No space left" in text or "disk" in text.lower():
        return f"Neo4j at {uri} has no disk space left; free some and restart the server."
    if code.startswith("Neo.DatabaseError"):
        return (
            f"Neo4j at {uri} failed ({_first_line(error)}); look at its log and its free disk space, then restart it."
        )
    return f"Neo4j at {uri} refused: {_first_line(error)}."
