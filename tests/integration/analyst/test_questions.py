"""Every question has the right answer on a crawl that is known by hand, only reads, and multiplies no tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import neo4j as driver
import pytest

from graphbrain import Brain, Fetched
from graphbrain.analyst.questions import ask, questions
from graphbrain.base.errors import BadInput, GraphRefused
from tests.integration.analyst.webs import A, B, C, D, E, F, crawl
from tests.plugin import Neo4j, emptied
from tests.verbs import neighbours

NAMES = [each.name for each in questions()]
GIVEN: dict[str, dict[str, Any]] = {"deep-pages": {"least": 2}}
"""Parameters of questions that are not answered by default."""

# What stands in some columns of an answer; `...` ends the rows that are looked at.
ANSWERS: dict[str, tuple[tuple[str, ...], list[Any]]] = {
    "states": (
        ("state", "pages", "fetched"),
        [("known", 10, 10), ("frontier", 4, 0), ("alias", 2, 2), ("outside", 2, 0)],
    ),
    "hosts-and-states": (
        ("host", "pages", "known", "frontier", "outside", "left", "failing"),
        [
            ("a.example", 12, 7, 2, 1, 2, 2),
            ("f.example", 2, 1, 1, 0, 0, 0),
            ("b.example", 1, 1, 0, 0, 0, 0),
            ("c.example", 1, 1, 0, 0, 0, 0),
            ("d.example", 1, 0, 1, 0, 0, 1),
            ("e.example", 1, 0, 0, 1, 0, 0),
        ],
    ),
    "progress-by-hour": (("pages", "claims"), ...),
    "leases": (("worker", "pages"), [("w1", 1)]),
    "discovered-by-day": (("first_fetched",), ...),
    "next-pages": (("url", "frontier_depth"), [(f"{A}/hidden", 1), ...]),
    "why-next": (("state", "ahead", "beside", "url"), [("frontier", 0, 0, f"{A}/hidden")]),
    "how-found": (("path",), [([f"{A}/", f"{A}/one", f"{A}/broken"],)]),
    "new-pages": (("status", "url"), [(200, f"{A}/two"), (200, f"{B}/"), (200, f"{C}/"), ...]),
    "changed-pages": (("changes", "visits", "url"), [(1, 2, f"{A}/"), (1, 3, f"{A}/old")]),
    "flickering-pages": (("times", "states", "url"), [(3, "frontier, alias, known, alias", f"{A}/old")]),
    "gone-pages": (("status", "tries", "in_links", "url"), [(410, 1, 1, f"{A}/lost")]),
    "stale-pages": (("days", "url"), [(2.0, f"{A}/lost"), (1.0, f"{A}/two"), ...]),
    "uncertain-rates": (("visits", "changes", "url"), [(2, 1, f"{A}/"), (3, 1, f"{A}/old")]),
    "changes-by-host": (("host", "pages", "visits_again", "changes", "share"), [("a.example", 2, 3, 2, 0.667)]),
    "broken-pages": (
        ("status", "links", "linked_from", "url"),
        [(404, 1, [f"{A}/one"], f"{A}/broken"), (410, 1, [f"{A}/"], f"{A}/lost"), (503, 1, [f"{A}/"], f"{D}/")],
    ),
    "broken-links": (
        ("on", "status", "names", "broken"),
        [
            (f"{A}/one", 404, f"{A}/broken", f"{A}/broken"),
            (f"{A}/", 410, f"{A}/lost", f"{A}/lost"),
            (f"{A}/", 503, f"{D}/", f"{D}/"),
        ],
    ),
    "statuses": (
        ("status", "pages", "such_as"),
        [(200, 11, f"{A}/"), (404, 1, f"{A}/broken"), (410, 1, f"{A}/lost"), (503, 1, f"{D}/")],
    ),
    "failures-by-day": (("pages", "client", "refused", "broken", "silent", "cured"), [(3, 2, 1, 0, 0, 0)]),
    "failing-hosts": (
        ("host", "tried", "failing", "share", "client"),
        [("d.example", 1, 1, 1.0, 0), ("a.example", 10, 2, 0.2, 2)],  # a host whose only page fails, too
    ),
    "slow-hosts": (("seconds", "timed", "pace", "host"), [(0.5, 2, 1.0, "a.example"), (None, 0, 0.5, "d.example")]),
    "blocked-hosts": (("complaints", "pages", "host"), [(1, 1, "d.example")]),
    "expected-copies": (("url",), []),  # there are none in this web: tests/integration/analyst/inspect/test_copies.py
    "sections": (
        ("waiting", "pages", "fetched", "host", "section"),
        [
            (1, 12, 7, "a.example", "(all)"),
            (1, 2, 1, "f.example", "(all)"),
            (0, 1, 1, "b.example", "(all)"),
            (0, 1, 1, "c.example", "(all)"),
        ],
    ),
    "sitemaps": (("state", "url"), []),
    "robots-blocked": (("in_links", "url"), [(1, f"{A}/private")]),
    "links-to-redirects": (("on", "names", "to"), [(f"{A}/", f"{A}/old", f"{A}/two")]),
    "redirects": (
        ("named", "linked_from", "from", "to"),
        [(1, [f"{A}/"], f"{A}/old", f"{A}/middle"), (0, [], f"{A}/middle", f"{A}/two")],
    ),
    "temporary-redirects": (("status", "in_links", "led_to", "url"), [(200, 2, [f"{A}/"], f"{B}/")]),
    "redirect-chains": (("steps", "circle", "chain"), [(2, False, [f"{A}/old", f"{A}/middle", f"{A}/two"])]),
    "depth": (
        ("clicks", "pages", "fetched", "failing"),
        [(0, 2, 2, 0), (1, 13, 9, 2), (2, 2, 1, 1), (None, 1, 0, 0)],
    ),
    "deep-pages": (("clicks", "url"), {(2, f"{A}/broken"), (2, f"{C}/")}),
    "titles": (
        ("problem", "length", "title", "url"),
        {("too short", 3, "Tea", f"{A}/two"), ("too short", 3, "Tea", f"{A}/shop/tea")},
    ),
    "thin-and-huge-pages": (("problem", "bytes", "url"), [("thin", 1000, f"{A}/shop/tea")]),
    "soft-missing-pages": (("bits", "url"), [(0, f"{A}/list?x=1")]),
    "server-errors-by-day": (("host", "errors", "refusals", "pages"), [("d.example", 1, 1, 1)]),
    "nofollow-pages": (("whole", "marked", "inside", "links", "url"), [(False, 1, 1, 1, f"{A}/two")]),
    "changes-between": (("what", "url"), [("known → failing", f"{A}/lost"), ("changed", f"{A}/"), ...]),
    "orphans": (("state", "hinted_by", "url"), [("frontier", "sitemap", f"{A}/hidden")]),
    "few-in-links": (("in_links", "url"), [(2, f"{A}/two"), (2, f"{B}/"), (1, f"{C}/"), ...]),
    "dead-ends": (
        ("why", "url"),
        {
            ("not fetched yet", f"{F}/new"),
            ("fails", f"{A}/broken"),
            ("has no links", f"{A}/list?x=1"),
            ("fails", f"{A}/lost"),
            ("outside: robots", f"{A}/private"),
            ("fails", f"{D}/"),
            ("outside: scope", f"{E}/"),
            ("not fetched yet", f"{A}/hidden"),
        },
    ),
    "dead-end-shares": (
        ("why", "pages"),
        {
            ("goes on", 8),
            ("fails", 3),
            ("not fetched yet", 2),
            ("has no links", 1),
            ("outside: robots", 1),
            ("outside: scope", 1),
        },
    ),
    "directories": (
        ("pages", "fetched", "failing", "directory"),
        [(11, 8, 2, "a.example/"), (2, 1, 0, "f.example/"), (1, 1, 0, "a.example/shop/"), ...],
    ),
    "url-parameters": (("pages", "paths", "bodies", "host", "parameter"), [(2, 1, 1, "a.example", "x")]),
    "long-urls": (("length", "repeats", "url"), [(25, 1, f"{A}/list?x=1"), (25, 1, f"{A}/list?x=2"), ...]),
    "islands": (("pages", "links"), [(15, 21), (2, 1), (1, 0)]),
    "best-by-host": (("host", "url"), [("a.example", f"{A}/"), ("a.example", f"{A}/two"), ...]),
    "top-authorities": (("in_links", "url"), [(5, f"{A}/"), (2, f"{A}/two"), (2, f"{B}/"), ...]),
    "top-hubs": (("out_links", "url"), [(10, f"{A}/"), (2, f"{A}/one"), (2, f"{B}/"), (2, f"{C}/"), ...]),
    "related-pages": (("together", "share", "url"), [(1, 1.0, f"{C}/"), (1, 0.5, f"{B}/")]),
    "who-pays": (
        ("same_host", "payer", "paid"),
        [(False, f"{B}/", f"{A}/"), (False, f"{C}/", f"{A}/"), (True, f"{A}/list?x=2", f"{A}/"), ...],
    ),
    "host-cash": (("host", "to", "links"), [("a.example", "a.example", 12), ("a.example", "b.example", 1), ...]),
    "hubs-of-new-pages": (("found", "url"), [(7, f"{A}/"), ...]),
    "score-by-host": (
        ("host", "pages", "inside"),
        [("a.example", 12, 12), ("f.example", 2, 2), ("b.example", 1, 1), ...],
    ),
    "external-domains": (
        ("host", "links", "pages"),
        [("a.example", 2, 2), ("b.example", 2, 2), ("c.example", 1, 1), ("d.example", 1, 1), ("e.example", 1, 1)],
    ),
    "linking-hosts": (("host", "hosts", "links"), [("a.example", 2, 2), ("b.example", 2, 2), ("c.example", 1, 1), ...]),
    "mutual-hosts": (
        ("host", "there", "back", "other"),
        [("a.example", 1, 1, "b.example"), ("b.example", 1, 1, "c.example")],
    ),
    "link-farms": (
        ("hosts", "pages", "inside", "such_as"),
        [(3, 14, 1.0, ["a.example", "b.example", "c.example"])],
    ),
    "duplicates": (("pages", "hosts", "urls"), [(2, 1, [f"{A}/list?x=1", f"{A}/list?x=2"])]),
    "text-duplicates": (("pages", "bodies", "urls"), [(2, 1, [f"{A}/list?x=1", f"{A}/list?x=2"])]),
    "first-links": (("path",), ...),
    "anchors": (
        ("links", "hosts", "anchor", "url"),
        [(3, 3, None, f"{A}/"), (2, 1, "Start here", f"{A}/")],
    ),
    "nofollow-links": (
        ("host", "other", "links", "nofollow", "ugc", "sponsored", "such_as"),
        [("a.example", "a.example", 12, 1, 1, 0, f"{A}/")],
    ),
    "canonical-conflicts": (
        ("problem", "canonical", "url"),
        [("is not in the graph", f"{A}/gone-away", f"{A}/two")],
    ),
    "indexability": (
        ("reason", "url"),
        {
            ("blocked by robots.txt", f"{A}/private"),
            ("4xx", f"{A}/broken"),
            ("4xx", f"{A}/lost"),
            ("5xx", f"{D}/"),
            ("permanent redirect", f"{A}/old"),
            ("permanent redirect", f"{A}/middle"),
            ("temporary redirect", f"{B}/"),
            ("noindex", f"{A}/two"),
            ("soft 404", f"{A}/list?x=1"),
        },
    ),
    "indexability-shares": (
        ("reason", "pages", "share"),
        [
            ("indexable", 6, 0.3529),
            ("not fetched yet", 2, 0.1176),
            ("blocked by robots.txt", 1, 0.0588),
            ("outside the scope", 1, None),
            ("5xx", 1, 0.0588),
            ("4xx", 2, 0.1176),
            ("permanent redirect", 2, 0.1176),
            ("temporary redirect", 1, 0.0588),
            ("noindex", 1, 0.0588),
            ("soft 404", 1, 0.0588),
        ],
    ),
    "sitemap-entries": (
        ("problem", "url"),
        {("no sitemap lists it", f"{A}/{name}") for name in ("", "one", "list?x=2", "shop/tea")},
    ),
    # There are none in this web: tests/integration/analyst/test_site_checks.py.
    **dict.fromkeys(
        ("descriptions", "headings", "slow-pages", "images", "insecure-content", "hreflang"),
        (("url",), []),
    ),
    "structured-data": (("type",), []),
    "poor-anchors": (("anchor",), []),
    "external-redirects": (("url",), []),
    "several-canonicals": (("problem", "canonical", "url"), [("several", f"{A}/gone-away", f"{A}/two")]),
    "noindex-pages": (("in_links", "in_sitemap", "named", "url"), [(2, False, False, f"{A}/two")]),
    "same-titles": (
        ("pages", "bodies", "host", "title", "such_as"),
        [(2, 1, "a.example", "Tea", [f"{A}/shop/tea", f"{A}/two"])],
    ),
    "content-types": (
        ("type", "language", "pages", "mean_size", "largest", "seconds"),
        [("text/html", "en", 1, 1000.0, 1000, 0.5)],
    ),
    "sitemap-coverage": (
        ("host", "in_sitemap", "both", "redirecting", "only_sitemap", "only_crawl", "failing"),
        [("a.example", 1, 0, 0, 1, 7, 0)],
    ),
    "near-duplicates": (("pages", "bits", "urls"), [(2, 1, [f"{A}/two", f"{A}/one"])]),
}


@pytest.fixture(scope="module")
def crawled(neo4j: Neo4j) -> Iterator[Brain]:
    """A brain with the crawl of `webs`, a page of which is held."""
    with emptied(neo4j, delay_seconds=0.0) as brain:
        crawl(brain)
        assert len(brain.next_urls(1, worker="w1")) == 1
        brain.stats()  # writes the counters
        yield brain


def test_every_question_has_an_answer_known_by_hand() -> None:
    assert set(ANSWERS) == set(NAMES) and len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_a_question_is_answered_rightly(crawled: Brain, name: str) -> None:
    columns, wanted = ANSWERS[name]
    answer = ask(crawled.graph, name, **GIVEN.get(name, {}))
    places = [answer.columns.index(column) for column in columns]
    rows: list[Any] = [tuple(row[place] for place in places) for row in answer.rows]
    if wanted == []:
        assert not rows
        return
    assert rows and all(any(value is not None for value in row) for row in answer.rows)
    if isinstance(wanted, set):
        assert set(rows) == wanted and len(rows) == len(wanted)
    elif isinstance(wanted, list):
        begins = wanted[-1] is ...
        wanted = wanted[:-1] if begins else wanted
        assert rows[: len(wanted)] == wanted and (begins or len(rows) == len(wanted)), rows


def test_what_depends_on_the_day(crawled: Brain) -> None:
    days = ask(crawled.graph, "discovered-by-day")
    assert [sum(row[place] for row in days.rows) for place in (1, 2)] == [18, 12]
    hours = ask(crawled.graph, "progress-by-hour")
    assert sum(row[1] for row in hours.rows) >= 16 and all(row[0] <= datetime.now(UTC) for row in hours.rows)


def test_the_first_links_lead_from_the_seeds(crawled: Brain) -> None:
    paths = [row[0] for row in ask(crawled.graph, "first-links").rows]
    assert sorted(paths) == sorted([seed, to] for seed in (f"{A}/", f"{F}/") for to in neighbours(crawled, seed)[0])


def test_parameters_are_obeyed(crawled: Brain) -> None:
    graph = crawled.graph
    assert len(ask(graph, "top-authorities", limit=3).rows) == 3
    assert [row[0] for row in ask(graph, "broken-links", host="b.example").rows] == []
    assert {row[-1] for row in ask(graph, "orphans", seeds="true").rows} == {f"{A}/hidden", f"{F}/"}
    assert ask(graph, "new-pages", days=0).rows == []
    assert ask(graph, "who-pays", url=f"{C}/").rows[0][3:] == [f"{B}/", f"{C}/"]
    assert ask(graph, "how-found", url=f"{B}/").rows == [[[f"{A}/", f"{B}/"]]]
    assert ask(graph, "host-cash", host="b.example").rows[1][:2] == ["b.example", "c.example"]
    assert ask(graph, "near-duplicates", bits=0).rows == []
    assert ask(graph, "islands", least=2).rows[-1][0] == 2
    assert ask(graph, "link-farms", least=4).rows == []
    assert [row[-1] for row in ask(graph, "directories", host="a.example", level=2).rows] == [
        "a.example/",
        "a.example/shop/",
    ]
    why = ask(graph, "why-next", url=f"{A}/private")
    assert why.rows[0][:2] == ["outside", "robots"]


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """The names of all steps of a plan."""
    yield plan["operatorType"]
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.mark.usefixtures("crawled")
def test_no_plan_multiplies_tables_and_all_only_read(neo4j: Neo4j) -> None:
    login = driver.GraphDatabase.driver(neo4j.uri, auth=(neo4j.user, neo4j.password))
    with login, login.session(database="neo4j") as session:
        for each in questions():
            if each.cypher:
                told = session.run(f"EXPLAIN {each.cypher}", each.values({})).consume()
                assert told.query_type == "r", each.name
                assert not [name for name in operators(told.plan or {}) if "CartesianProduct" in name], each.name
        found = session.run("EXPLAIN MATCH (p:Page {url: 'http://a.example/'}) RETURN p").consume()
        assert any("NodeIndexSeek" in name for name in operators(found.plan or {})), "users find a page by its URL"


def test_a_question_cannot_write(crawled: Brain) -> None:
    for text in ("MATCH (p:Page) SET p.state = 'known'", "CREATE (:Page)", "MATCH (p:Page) DETACH DELETE p"):
        with pytest.raises(GraphRefused, match="read access mode"):
            crawled.graph.anywhere.read(lambda tx, t=text: tx.ask("analyst/evil", t, {}), "evil", patient=False)
    stats = crawled.stats()
    assert stats["pages"] + stats["outside_pages"] == 18


def test_what_is_wrong_is_said(crawled: Brain) -> None:
    for name, given, said in [
        ("brokenlinks", {}, "no question 'brokenlinks'; did you mean broken-links?"),
        ("nothing-such", {}, "no question 'nothing-such'; 'graphbrain ask' lists them"),
        ("broken", {}, "did you mean broken-links"),
        ("states", {"limit": 3}, "takes none"),
        ("new-pages", {"days": "many"}, "days must be a number"),
        ("orphans", {"seeds": "2"}, "seeds must be true or false"),
        ("near-duplicates", {"bits": 64}, "bits must be 0 to 7"),
        ("new-pages", {"limit": -1}, "limit must be 0 or more, not -1."),
        ("hubs-of-new-pages", {"newest": "-1"}, "newest must be 0 or more, not -1."),
        ("islands", {"limit": "-2"}, "limit must be 0 or more, not -2."),
    ]:
        with pytest.raises((BadInput, GraphRefused), match=said):
            ask(crawled.graph, name, **given)


def test_what_waits_behind_a_host_that_may_not_be_asked_yet_is_next_too(neo4j: Neo4j) -> None:
    # The last of this file: it empties the brain that the others ask.
    pages = [f"{A}/{number}" for number in range(12)]
    with emptied(neo4j, delay_seconds=60.0) as brain:
        brain.report([Fetched(f"{A}/", pages), Fetched(f"{B}/", [f"{C}/"])])
        (claim, other) = brain.next_urls(9)
        assert brain.next_urls(9).next_ready is not None
        found = ask(brain.graph, "next-pages")
        urls = [row[-1] for row in found.rows]
        assert sorted(urls) == sorted({*pages, f"{C}/"} - {claim.url, other.url}), "and no page that was fetched"
        assert all(row[found.columns.index("host_may")] for row in found.rows)
        brain.clear()
