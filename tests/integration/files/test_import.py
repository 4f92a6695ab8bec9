"""What is imported in batches is what live calls would have made of it, property by property."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphbrain import Brain, Failed, Fetched, Link
from graphbrain.base.errors import BadInput, GraphRefused, GraphUnavailable
from graphbrain.base.urls.normalization import Rules
from graphbrain.brain import imports
from graphbrain.files import harvest
from graphbrain.files.harvest import Harvest, read
from graphbrain.files.importer import _creating, _linking, run
from graphbrain.files.rows import COLUMNS
from graphbrain.graph.connection import Tx
from graphbrain.graph.statements import statement
from graphbrain.schedule import lanes
from tests.integration.conftest import START, HandClock
from tests.verbs import top_of

Ask = Callable[..., list[list[Any]]]
TOKENS = ("last_lease",)


def graph(ask: Ask) -> tuple[dict[str, dict[str, Any]], list[list[Any]], list[list[Any]]]:
    """All pages by URL with all they have but tokens and what follows from their internal ids, all links with all they
    have, all hosts. An import knows no order of visits, so it has no evidence of what each has found, and keeps no
    hashes of the parts of pages."""
    pages = {p["url"]: p for (p,) in ask("MATCH (p:Page) RETURN properties(p)")}
    for page in pages.values():
        for name in ("links_sum", "shingles", "unlearned", "parts"):
            page.pop(name, None)
        token = page.pop("last_lease", None)
        assert (token is None) == (page["state"] == "frontier" or page["state"] == "outside")
    links = ask("MATCH (p:Page)-[r]->(q:Page) RETURN p.url, type(r), properties(r), q.url ORDER BY p.url, q.url")
    hosts = ask("MATCH (h:Host) RETURN properties(h) ORDER BY h.name")
    return pages, links, hosts


def same(found: Any, wanted: Any) -> None:
    assert set(found[0]) == set(wanted[0])
    for url, page in wanted[0].items():
        # Pages that a report has found wait a microsecond longer, each, than the next on the page.
        about = {"waiting_since": pytest.approx(page["waiting_since"], abs=1e-4)}
        assert found[0][url] == {**page, **about}, url
    assert found[1:] == wanted[1:]


VISITS: list[dict[str, Any]] = [
    {"url": "http://a.org/", "links": ["http://b.org/1", "http://B.org/1#x", "http://a.org", "http://c.org/x"]},
    {
        "url": "http://b.org/1",
        "links": [{"url": "http://c.org/x", "relevance": 0.9}, "http://b.org/2", "http://b.org/3", "http://b.org/4"],
        "relevance": 0.25,
        "value": 12,
        "hash": "abc",
        "fetched": START - 100.0,
        "etag": 'W/"tag, with\ttab"'.replace("\t", " "),
    },
    {
        "url": "http://b.org/2",
        "links": [{"url": "http://d.org/?b=2&a=1", "relevance": 0.001, "value": 2.5}],
        "last_modified": "Mon",
    },
    {"url": "http://b.org/3", "links": []},
]


def live(brain: Brain) -> None:
    """The same visits by calls: seeds, then reports, one at a time."""
    brain.seed(["http://a.org/"])
    for visit in VISITS:
        given = {k: v for k, v in visit.items() if k not in ("links", "hash", "fetched")}
        links = [link if isinstance(link, str) else Link(**link) for link in visit["links"]]
        report = Fetched(links=links, body_hash=visit.get("hash"), fetched_at=visit.get("fetched"), **given)
        assert brain.report([report])[0].accepted


def put(path: Path) -> Path:
    path.write_text("".join(json.dumps(visit) + "\n" for visit in VISITS), encoding="utf-8")
    return path


@pytest.mark.usefixtures("unspent")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"order": "breadth_first", "eps": 0.3},
        {"intra_host_weight": 0.0, "alpha": 0.3},
        {"value": "pagerank"},
        {"value": "own"},
        {"value": "hub", "order": "best_first"},
        {"deny_hosts": "c.org", "max_depth": 2, "max_links": 3},
    ],
    ids=["default", "breadth_first", "intra_host_weight", "pagerank", "own", "hub", "scope"],
)
def test_an_imported_brain_is_a_live_one(
    make_brain: Callable[..., Brain], ask: Ask, tmp_path: Path, settings: dict[str, Any]
) -> None:
    brain = make_brain(**settings)
    live(brain)
    wanted = graph(ask)
    assert len(wanted[0]) >= 6
    brain = make_brain(**settings)
    done = run(brain, [put(tmp_path / "visits.jsonl")], batches=True, settle=False)
    same(graph(ask), wanted)
    assert (done.pages, done.fetched, done.seeds, done.way) == (len(wanted[0]), 4, 1, "batches")
    assert done.frontier == sum(page["state"] == "frontier" for page in wanted[0].values())
    assert ask("MATCH (b:Brain) RETURN b.importing") == [[None]]


def test_settings_changed_while_files_are_read_are_kept(
    make_brain: Callable[..., Brain], ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was made of the files goes by the settings before: they have to be read again, and nothing has happened."""
    brain, other = make_brain(), make_brain()
    read_files = harvest.read

    def late(*arguments: Any, **more: Any) -> Harvest:
        other.change(max_depth=1)
        return read_files(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(harvest, "read", late)
        with pytest.raises(GraphRefused, match="brain's settings changed"):
            run(brain, [put(tmp_path / "visits.jsonl")], batches=True)
    assert ask("MATCH (p:Page) RETURN count(p)") == [[0]]
    done = run(brain, [tmp_path / "visits.jsonl"], batches=True)
    stats = brain.stats()
    assert brain.settings.max_depth == 1 and stats["pages"] + stats["outside_pages"] == done.pages


def test_nobody_changes_settings_during_an_import(make_brain: Callable[..., Brain]) -> None:
    brain = make_brain()
    imports.begin(brain.session, START)
    brain.graph.limit_seconds = 1.0
    with pytest.raises(GraphUnavailable, match="imported"):
        brain.change(eps=0.3)
    imports.end(brain.session)
    brain.change(eps=0.3)
    assert brain.settings.eps == 0.3


@pytest.mark.usefixtures("unspent")
def test_an_edge_list_is_a_live_crawl(make_brain: Callable[..., Brain], ask: Ask, tmp_path: Path) -> None:
    text = "0 1\n0 2\n0 0\n0 1\n1 2\n2 3\n5 6\n6 5\n"
    (tmp_path / "e").write_text(text)
    brain = make_brain()
    done = run(brain, [tmp_path / "e"], batches=True, settle=False)
    found = graph(ask)
    assert (done.pages, done.links, done.fetched, done.frontier) == (6, 7 - 1, 5, 1)
    harvest = read([tmp_path / "e"], rules=Rules(), max_links=9, now=START)
    name = dict(zip(harvest.ids.tolist(), harvest.urls, strict=True))  # type: ignore[union-attr]
    brain = make_brain()
    brain.seed([name[0], name[5]])
    for page, links in ((0, [1, 2, 0, 1]), (1, [2]), (2, [3]), (5, [6]), (6, [5])):
        brain.report([Fetched(name[page], [name[link] for link in links])])
    same(found, graph(ask))


@pytest.mark.parametrize(
    ("settings", "step", "error"),
    [
        ({}, "settling: round 1", 1e-5),
        ({"intra_host_weight": 0.25, "alpha": 0.3, "value": "hub"}, "settling: round 1", 1e-5),
        ({"payout": "unfetched"}, "settling: write", 0.1),
    ],
    ids=["in memory", "in memory, bent", "on the graph"],
)
def test_it_ends_settled_and_scheduled(
    make_brain: Callable[..., Brain],
    tmp_path: Path,
    clock: HandClock,
    settings: dict[str, Any],
    step: str,
    error: float,
) -> None:
    """The accounts are at their fixed point when they are loaded, or where payouts are bent, soon after."""
    brain = make_brain(**settings)
    said: list[tuple[str, float]] = []
    done = run(brain, [put(tmp_path / "v")], batches=True, progress=lambda *at: said.append(at))
    assert done.settled
    assert brain.tend(None).pushes == 0
    audit = brain.audit(None)
    assert audit.ok, audit.findings
    assert audit.figures["error_bound"] < error
    assert {what for what, _ in said} >= {"reading", "creating pages", "creating links", step}
    assert all(0 <= share <= 1 for _, share in said)
    clock.pass_(1)
    assert {claim.url for claim in brain.next_urls(10)} == {
        "http://b.org/4",
        "http://c.org/x",
        "http://d.org/?b=2&a=1",
    }


def test_failures_redirects_and_second_visits_are_reported_after(
    make_brain: Callable[..., Brain], tmp_path: Path
) -> None:
    more = [
        {"url": "http://d.org/?a=1&b=2", "status": 404, "fetched": START - 1},
        {"url": "http://c.org/x", "redirected_to": "http://e.org/", "status": 301},
        {"url": "http://b.org/1", "links": ["http://f.org/"], "fetched": START - 50, "hash": "new"},
        {"url": "http://b.org/3", "links": [], "fetched": START - 1e6},
    ]
    path = put(tmp_path / "v")
    path.write_text(path.read_text() + "".join(json.dumps(visit) + "\n" for visit in more))
    brain = make_brain()
    done = run(brain, [path], batches=True)
    assert (done.reported, done.reports_refused) == (4, 1)
    assert brain.page("http://d.org/?a=1&b=2").errors == 1
    assert brain.page("http://c.org/x").redirects_to == "http://e.org/"
    page = brain.page("http://b.org/1")
    assert (page.visits, page.changes, page.out_links) == (2, 1, 1)


def test_seeds_given(make_brain: Callable[..., Brain], tmp_path: Path) -> None:
    (tmp_path / "e").write_text("0 1\n1 2\n2 0\n9 2\n")
    brain = make_brain()
    run(brain, [tmp_path / "e"], batches=True, seeds=["2"], fetched=True)
    pages = {page.url[-1]: page for page in top_of(brain, 9)}
    assert {n: (page.depth, page.is_seed) for n, page in pages.items()} == {
        "2": (0, True),
        "0": (1, False),
        "1": (2, False),
        "9": (0, False),
    }
    with pytest.raises(BadInput, match="no page 7"):
        run(make_brain(), [tmp_path / "e"], batches=True, seeds=["7"])


def test_a_brain_with_anything_in_it_is_refused(make_brain: Callable[..., Brain], tmp_path: Path) -> None:
    brain = make_brain()
    brain.seed(["http://a.org/"])
    with pytest.raises(BadInput, match=r"holds.*clear --yes"):
        run(brain, [put(tmp_path / "v")], batches=True)
    brain.forget("http://a.org/", for_ever=True)
    with pytest.raises(BadInput, match="clear --yes"):
        run(brain, [put(tmp_path / "v")], batches=True)


@pytest.mark.usefixtures("answers_lost")
def test_an_import_broken_off_says_so_and_can_be_made_again(make_brain: Callable[..., Brain], tmp_path: Path) -> None:
    def stop(what: str, _share: float) -> None:
        if what == "creating links":
            raise KeyboardInterrupt

    brain = make_brain()
    with pytest.raises(KeyboardInterrupt):
        run(brain, [put(tmp_path / "v")], batches=True, progress=stop)
    with pytest.raises(BadInput, match=r"broken off.*clear --yes"):
        run(brain, [tmp_path / "v"], batches=True)
    brain.clear()
    assert run(brain, [tmp_path / "v"], batches=True).settled


def test_a_batch_whose_answer_was_lost_is_not_made_twice(make_brain: Callable[..., Brain], ask: Ask) -> None:
    """The transaction runs again after it was committed, as when the connection is cut at that moment."""
    brain, lane = make_brain(order="best_first", value="flow"), int(lanes.frontier_lane(1.0))
    rows = [[n * 32, f"http://{n}.org/", f"{n}.org", n, 0, None, "known", None, lane, START, START, None] for n in "ab"]
    rows = [
        [*row, 1.0 * (row[3] == "a"), 1.0 * (row[3] == "b"), None, None, None, None, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 200]
        for row in rows
    ]
    rows = [[*row, *[None] * (len(COLUMNS) - len(row))] for row in rows]
    work = _creating(rows)
    ids = brain.graph.write(work, "pages/load")
    assert brain.graph.write(work, "pages/load") == ids
    link = _linking([[ids[0], [ids[1]]]], START)
    brain.graph.write(link, "links/write")
    brain.graph.write(link, "links/write")
    assert ask("MATCH (p:Page) OPTIONAL MATCH (p)-[r]->() RETURN count(DISTINCT p), count(r)") == [[2, 1]]
    brain.graph.write(_remarking(ids), "marks")


def _remarking(ids: list[int]) -> Callable[[Tx], None]:
    """The rows above have no marks: a sound graph has."""

    def work(tx: Tx) -> None:
        blocks: dict[str, list[Any]] = {name: [] for name in statement("accounts/write").lists}
        blocks |= {"hub_priorities": [[ids[0]], [-2]], "authority_priorities": [[ids[1]], [-2]]}
        tx.do("accounts/write", **blocks, even=True, now=START)

    return work


def test_whoever_comes_makes_a_brain_of_what_an_import_left(
    make_brain: Callable[..., Brain], neo4j: Any, ask: Ask, clock: HandClock
) -> None:
    """The importer was killed after the new database was put in place; nobody writes before it is a brain again."""
    brain = make_brain()
    brain.seed(["http://a.org/"])
    ask("MATCH (b:Brain) REMOVE b:Brain SET b:Imported")
    brain.graph.limit_seconds = 1.0
    with pytest.raises(Exception, match="found the graph changed"):
        brain.report([Fetched("http://b.org/")])
    assert ask("MATCH (p:Page) RETURN count(p)") == [[1]]
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        assert other.report([Failed("http://a.org/", status=500)])[0].accepted
    assert ask("MATCH (n:Brain) RETURN labels(n)") == [[["Brain"]]]
    assert brain.report([Fetched("http://b.org/")])[0].accepted
