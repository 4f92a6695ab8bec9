"""Whose database is it, and in which shape: applied once, checked at each opening, refused in one sentence."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphbrain import Brain
from graphbrain.base.errors import GraphbrainError, SchemaMismatch, SettingsError
from graphbrain.graph import connection, schema, statements
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.graph.schema import PAGE_CHAIN
from graphbrain.graph.statements import link_types, property_names
from tests.integration.conftest import HandClock, sound
from tests.plugin import PATIENCE, Neo4j
from tests.serving import tokens

Ask = Callable[..., list[list[object]]]


def pending(graph: Graph) -> tuple[schema.SchemaStep, ...]:
    """The steps that are still to be applied to this database."""
    return schema.pending(graph.read(schema.applied, "a test"))


@pytest.fixture
def bare(neo4j: Neo4j, ask: Ask) -> Iterator[Neo4j]:
    """A database with nothing in it, not even a schema. It is a brain again afterwards."""
    _strip(ask)
    yield neo4j
    _strip(ask)
    neo4j.open(crawl="test", auto_tend=False).close()


def _strip(ask: Ask) -> None:
    ask("MATCH (n) DETACH DELETE n")
    for kind, kinds in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
        wanted = " WHERE type <> 'LOOKUP'" if kind == "INDEX" else ""
        for (name,) in ask(f"SHOW {kinds} YIELD *{wanted} RETURN name"):
            ask(f"DROP {kind} {name}")


def one_sentence(error: GraphbrainError) -> bool:
    """One sentence, perhaps with what to do after a semicolon; no dump, no line breaks."""
    text = str(error)
    return "\n" not in text and len(re.findall(r"[.!?](?:\s|$)", text)) == 1 and len(text) < 250


def made_by_all() -> list[str]:
    """The statements of all steps."""
    return [name for step in schema.steps() for name in step.statements]


def test_opening_an_empty_database_makes_it_a_brain(bare: Neo4j, ask: Ask) -> None:
    with bare.open(crawl="test") as brain:
        assert brain.stats()["pages"] == 0
    assert ask("MATCH (b:Brain) RETURN b.name, b.key") == [["test", "brain"]]
    assert ask("MATCH (s:SchemaStep) RETURN count(s)") == [[len(schema.steps())]]
    online = ask("SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name")
    assert {name.partition("/")[2] for name in made_by_all()} <= {str(name) for (name,) in online}


def test_nothing_is_made_unless_it_may_be(bare: Neo4j, ask: Ask) -> None:
    with pytest.raises(SettingsError, match="There is no brain"):
        bare.open(crawl="test", create=False)
    assert ask("MATCH (n) RETURN count(n)") == [[0]]


def test_the_schema_is_applied_once(brain: Brain, clock: HandClock, ask: Ask) -> None:
    before = ask("MATCH (s:SchemaStep) RETURN s.number, s.applied ORDER BY s.number")
    assert pending(brain.graph) == ()
    assert schema.apply(brain.graph, clock()) == ()
    assert ask("MATCH (s:SchemaStep) RETURN s.number, s.applied ORDER BY s.number") == before


def test_a_missing_step_is_applied_at_the_next_opening(brain: Brain, neo4j: Neo4j, ask: Ask) -> None:
    ask("MATCH (s:SchemaStep {number: 1}) DELETE s")
    ask("DROP INDEX page_authority_rank")
    neo4j.open(crawl="test").close()
    assert ask("SHOW INDEXES YIELD name, state WHERE name = 'page_authority_rank' RETURN state") == [["ONLINE"]]
    assert pending(brain.graph) == ()


NEXT = """// Pages by their colour, for the test.
//
// rows    none
// locks   the schema
// mode    write
// retry   safe   IF NOT EXISTS
CREATE INDEX page_colour IF NOT EXISTS FOR (p:Page) ON (p.colour)
"""


def test_a_later_version_applies_its_new_step_and_the_one_before_is_refused(
    brain: Brain, neo4j: Neo4j, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, number = schema.steps(), len(schema.steps()) + 1
    later = tmp_path / "cypher"
    shutil.copytree(statements.FOLDER, later)
    (later / f"graph/{schema.STEP}{number:03}").mkdir()
    (later / f"graph/{schema.STEP}{number:03}/page_colour.cypher").write_text(NEXT, encoding="utf-8")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(statements, "FOLDER", later)
            assert schema.steps()[:-1] == before and pending(brain.graph) == schema.steps()[-1:]
            neo4j.open(crawl="test").close()
            assert pending(brain.graph) == ()
        assert ask("SHOW INDEXES YIELD name, state WHERE name = 'page_colour' RETURN state") == [["ONLINE"]]
        with pytest.raises(SchemaMismatch, match=rf"newer graphbrain \(schema step {number}\)"):
            neo4j.open(crawl="test")
    finally:
        ask("MATCH (s:SchemaStep {number: $n}) DELETE s", n=number)
        ask("DROP INDEX page_colour IF EXISTS")


def test_steps_are_numbered_without_gaps() -> None:
    assert [step.number for step in schema.steps()] == list(range(1, len(schema.steps()) + 1))
    assert sorted(made_by_all()) == sorted(statements.names(schema.STEP))


def test_a_changed_statement_changes_the_checksum_of_its_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment does not, and neither does another step."""
    (before, *_), folder = schema.steps(), tmp_path / "cypher"
    shutil.copytree(statements.FOLDER, folder)
    file = folder / "graph/schema_001/page_host.cypher"
    monkeypatch.setattr(statements, "FOLDER", folder)
    for old, new, same in (("The pages", "All pages", True), ("(p.host)", "(p.name)", False)):
        file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        statements.statement.cache_clear()
        assert (schema.steps()[0] == before) is same
    statements.statement.cache_clear()


@pytest.fixture
def altered(brain: Brain, ask: Ask) -> Iterator[Ask]:  # noqa: ARG001
    """For tests that spoil the memory of what was applied."""
    yield ask
    ask("MATCH (s:SchemaStep) WHERE s.number > 900 DELETE s")
    for step in schema.steps():
        ask("MATCH (s:SchemaStep {number: $n}) SET s.checksum = $c", n=step.number, c=step.checksum)


def test_another_checksum_is_refused(altered: Ask, neo4j: Neo4j) -> None:
    altered("MATCH (s:SchemaStep {number: 1}) SET s.checksum = 'other'")
    with pytest.raises(SchemaMismatch, match="Schema step 1 of the database is not") as refused:
        neo4j.open(crawl="test")
    assert one_sentence(refused.value)


def test_a_newer_database_is_refused(altered: Ask, neo4j: Neo4j) -> None:
    altered("CREATE (:SchemaStep {number: 999, checksum: 'x'})")
    with pytest.raises(SchemaMismatch, match=r"newer.*upgrade") as refused:
        neo4j.open(crawl="test")
    assert one_sentence(refused.value)


def test_a_database_of_many_other_steps_is_not_called_newer(altered: Ask, neo4j: Neo4j) -> None:
    altered("MATCH (s:SchemaStep {number: 1}) SET s.checksum = 'other' CREATE (:SchemaStep {number: 999})")
    with pytest.raises(SchemaMismatch, match="Schema step 1 of the database is not"):
        neo4j.open(crawl="test")


def test_tokens_that_have_outlived_their_brain_are_no_other_data(brain: Brain, neo4j: Neo4j, ask: Ask) -> None:
    tokens(brain, "crawler")
    ask("MATCH (n) WHERE NOT n:AccessToken DETACH DELETE n")
    neo4j.open(crawl="test").close()


def test_somebody_elses_data_is_refused_and_left_alone(bare: Neo4j, ask: Ask) -> None:
    ask("CREATE (:Person {name: 'Ada'})")
    with pytest.raises(SchemaMismatch, match=r"Person nodes") as refused:
        bare.open(crawl="test")
    assert one_sentence(refused.value)
    assert ask("MATCH (n) RETURN count(n)") == [[1]]
    assert ask("SHOW CONSTRAINTS YIELD name RETURN count(*)") == [[0]]


def test_a_brain_that_another_made_meanwhile_is_not_somebody_elses_data(
    bare: Neo4j, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between our look for a brain and our look for other data, another process may make the brain."""
    look = schema.refuse_foreign

    def overtaken(graph: object) -> None:
        monkeypatch.setattr(schema, "refuse_foreign", look)
        bare.open(crawl="test").close()
        look(graph)  # type: ignore[arg-type]

    monkeypatch.setattr(schema, "refuse_foreign", overtaken)
    bare.open(crawl="test").close()


def test_several_may_open_an_empty_database_at_once(bare: Neo4j, ask: Ask) -> None:
    ready = threading.Barrier(3)
    answers: list[object] = []

    def start() -> None:
        ready.wait()
        try:
            with bare.open(crawl="test", auto_tend=False) as brain:
                answers.append(brain.seed([f"http://a.org/{threading.get_ident()}"]).created)
        except GraphbrainError as error:
            answers.append(error)

    threads = [threading.Thread(target=start) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [1, 1, 1]
    assert ask("MATCH (b:Brain) RETURN count(b)") == [[1]]
    with bare.open(crawl="test") as brain:
        assert brain.stats()["pages"] == 3
        sound(brain)


OPENER = """
import sys
from graphbrain import Brain
from graphbrain.service import access

uri, user, password, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
with Brain.open(uri=uri, user=user, password=password, crawl="test", auto_tend=False) as brain:
    access.make(brain.graph, name, "analyst", brain.now(), 60.0)
    print(brain.seed([f"http://a.org/{name}"]).created, flush=True)
"""
"""A process as of a crawl and its console: it opens the brain, makes a token, and seeds."""


def test_several_processes_may_open_an_empty_database_at_once(bare: Neo4j, ask: Ask) -> None:
    line = [sys.executable, "-c", OPENER, bare.uri, bare.user, bare.password]
    pipe = subprocess.PIPE
    openers = [subprocess.Popen([*line, f"p{n}"], stdin=pipe, stdout=pipe, stderr=pipe, text=True) for n in range(4)]
    try:
        for opener in openers:
            assert opener.stdout is not None and opener.stdout.readline() == "ready\n"
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write("go\n")
            opener.stdin.flush()
        answers = [opener.communicate(timeout=4 * PATIENCE) for opener in openers]
    finally:
        for opener in openers:
            opener.kill()
            opener.wait()
    assert [said.strip() for said, _ in answers] == ["1"] * 4, answers
    assert ask("MATCH (s:SchemaStep) RETURN count(DISTINCT s.number)") == [[len(schema.steps())]]
    assert ask("MATCH (t:AccessToken) RETURN count(t)") == [[4]]


@pytest.mark.parametrize("names_first", [True, False])
def test_no_transaction_runs_two_statements_of_the_schema(bare: Neo4j, ask: Ask, names_first: bool) -> None:
    """One that did would hold the lock on a label while it waits for another, or for as long as all of them take."""
    sent: list[str] = []
    with contextlib.closing(Graph(bare.uri, bare.user, bare.password, "neo4j", PATIENCE)) as graph:
        graph.connect()
        with graph.trace(lambda name, _rows, _took: sent.append(name)):
            schema.apply(graph, 1.0, names_first)
    made = [place for place, name in enumerate(sent) if name.startswith("schema_")]
    assert len(made) == len(made_by_all())
    assert {sent[place + 1] for place in made} == {"COMMIT"}
    assert ask("MATCH (s:SchemaStep) RETURN count(s)") == [[len(schema.steps())]]


def test_a_step_that_is_interrupted_is_made_again(bare: Neo4j, ask: Ask) -> None:
    """However long it takes: with many pages the server needs minutes to fill an index, also that of an attempt whose
    connection was lost, and refuses the same step until then."""
    limit, interrupted, made = 0.5, 4.0, threading.Event()
    until = time.monotonic() + interrupted
    ended: list[float] = []

    def interrupt() -> None:
        """End each step, from the first one on, for longer than a call may last."""
        while not made.is_set() and (not ended or time.monotonic() < ended[0] + interrupted):
            if ask(
                "SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.work STARTS WITH 'schema_'"
                " TERMINATE TRANSACTION id YIELD message RETURN message"
            ):
                ended.append(time.monotonic())

    with contextlib.closing(Graph(bare.uri, bare.user, bare.password, "neo4j", limit)) as graph:
        graph.connect()
        for _ in range(5):
            ask("UNWIND range(1, 20000) AS i CREATE (:ResourceQueue {key: randomUUID()})")
        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        schema.apply(graph, 1.0)
        made.set()
        interrupting.join()
        assert graph.counts["retries"] >= 3 and time.monotonic() > until and pending(graph) == ()
        assert ended[-1] > ended[0] + limit
    assert ask("SHOW INDEXES YIELD name, state WHERE state <> 'ONLINE' RETURN name") == []


def test_the_index_that_an_interrupted_constraint_has_left_is_removed(bare: Neo4j, ask: Ask) -> None:
    """It has the constraint's name and belongs to none, as one that was made by itself."""
    ask("CREATE INDEX resource_queue_key FOR (q:ResourceQueue) ON (q.key)")
    ask("CREATE INDEX page_key FOR (p:Page) ON (p.key)")
    with contextlib.closing(Graph(bare.uri, bare.user, bare.password, "neo4j", PATIENCE)) as graph:
        graph.connect()
        schema.apply(graph, 1.0)
        assert pending(graph) == () and not graph.counts["retries"]
    names = ("resource_queue_key", "page_key")
    owned = ask("SHOW INDEXES YIELD name, owningConstraint WHERE name = owningConstraint RETURN name")
    assert {name for (name,) in owned} >= {*names}


def test_an_index_of_a_constraint_that_another_process_makes_is_left_alone(
    bare: Neo4j, ask: Ask, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until that process has ended; what is waited for is logged."""
    name = "schema_001/page_key"
    monkeypatch.setattr(connection, "REASON_EVERY", 0.1)
    ask("CREATE INDEX page_key FOR (p:Page) ON (p.key)")
    with contextlib.closing(Graph(bare.uri, bare.user, bare.password, "neo4j", 0.5)) as graph:
        graph.connect()
        holds, done = threading.Event(), threading.Event()

        def hold(tx: Tx) -> None:
            tx.many("brain/left_index", name="page_key")
            holds.set()
            done.wait(PATIENCE)

        other = threading.Thread(target=graph.read, args=(hold, name))
        other.start()
        try:
            assert holds.wait(PATIENCE)
            with pytest.raises(GraphbrainError, match="page_key"):
                graph.write(bound(schema._run, name), name)
            assert f"{name} at {bare.uri} has failed for" in caplog.text and "page_key" in caplog.text
        finally:
            done.set()
            other.join()
        assert graph.write(bound(schema._run, name), name) is False
        assert graph.write(bound(schema._run, name), name) is True


def test_names_are_known_before_the_first_page(bare: Neo4j, ask: Ask) -> None:
    """Else plans that were made before would look them up, each time, and be shared while they do."""
    bare.open(crawl="test", auto_tend=False).close()
    assert {"url", "hub_updated", "relevance", "since", "virtual_clock"} <= set(property_names())
    assert link_types() == ["CANONICAL", "LEADS_TO", "LINKS", "REDIRECTS_TO", "SEEDS", "SPELLS"]
    known = {row[0] for row in ask("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey")}
    assert set(property_names()) | set(PAGE_CHAIN) <= known


def test_the_accounts_of_a_page_stand_before_what_else_it_was_made_with(bare: Neo4j, ask: Ask) -> None:
    """Whoever reads or writes a property walks the page's chain to it, and writes its whole record. Where there was
    room in a record for the first of them, they stand in four of them, else in three."""
    with bare.open(crawl="test", auto_tend=False) as brain:
        brain.seed([f"http://{'long-' * n}host.org/{'path/' * n}" for n in range(12)])
    made = ask("MATCH (p:Page) RETURN keys(p)")
    for (names,) in made:
        assert {*PAGE_CHAIN[-5:]} <= {*names[:6]}
        assert "hub_cash" in names[:8]
    assert len(made) == 12
