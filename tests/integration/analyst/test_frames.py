"""Tables hold what the graph holds, by keys, in bounded parts; answers from them are those of the graph."""

from __future__ import annotations

import json
import re
from pathlib import Path

import neo4j as driver
import pytest

from graphbrain import Brain
from graphbrain.analyst import frames
from graphbrain.analyst.questions import ask
from graphbrain.base.errors import BadInput
from tests.integration.analyst.webs import crawl

arrow = pytest.importorskip("pyarrow")


def test_frames_are_the_graph(brain: Brain) -> None:
    crawl(brain)
    pages = brain.frame("pages").to_pylist()
    links = brain.frame("links").to_pylist()
    hosts = brain.frame("hosts").to_pylist()
    by_key = {row["key"]: row for row in pages}
    stats = brain.stats()
    known_pages = stats["pages"] + stats["outside_pages"]
    assert (len(pages), len(links)) == (known_pages, stats["links"]) == (len(by_key), len(links))
    for known in brain.dump_pages():
        row = by_key[known.key]
        same = (
            "url",
            "host",
            "state",
            "depth",
            "is_seed",
            "out_links",
            "in_links",
            "visits",
            "status",
            "simhash",
            "error",
        )
        assert {name: row[name] for name in same} == {name: getattr(known, name) for name in same}
        assert (row["authority"], row["hub"]) == (known.authority_score, known.hub_score)
        assert (row["fetched"] and row["fetched"].timestamp()) == pytest.approx(known.fetched, abs=1e-5)
    spelt = {(by_key[row["source"]]["url"], by_key[row["target"]]["url"]) for row in links}
    assert spelt == {(link.source, link.target) for link in brain.dump_links()}
    assert [row["name"] for row in hosts] == sorted(host.name for host in brain.hosts())
    old, two = (next(row for row in pages if row["url"].endswith(name)) for name in ("/old", "/middle"))
    assert old["redirects_to"] == two["url"]


def test_a_dump_is_whole_and_read_by_others(brain: Brain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl(brain)
    monkeypatch.setattr(frames, "PART_ROWS", 5)
    monkeypatch.setattr(frames, "RANGE", 4)
    monkeypatch.setattr(frames, "LINK_RANGE", 3)
    manifest = frames.dump(brain.graph, tmp_path / "t", brain.now)
    assert manifest == json.loads((tmp_path / "t/manifest.json").read_text("utf-8"))
    assert manifest["version"] == 2 and manifest["revision_begun"] == manifest["revision_ended"]
    assert manifest["begun"] <= manifest["ended"] and len(manifest["tables"]["pages"]["files"]) > 2
    import polars

    for table, told in manifest["tables"].items():
        read = polars.concat([polars.read_parquet(tmp_path / "t" / name) for name in told["files"]])
        assert read.height == told["rows"] == brain.frame(table).num_rows
        assert read.columns == list(told["columns"])
    pages = polars.read_parquet(tmp_path / "t/pages/*.parquet")
    states = pages.group_by("state").len().sort(["len", "state"], descending=[True, False]).rows()
    assert dict(states) == {row[0]: row[1] for row in ask(brain.graph, "states").rows}
    best = pages.sort(["authority", "url"], descending=[True, False]).head(5)["url"].to_list()
    assert best == [row[-1] for row in ask(brain.graph, "top-authorities", limit=5).rows]
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(
        f"SELECT t.url, count(*) AS n FROM '{tmp_path}/t/links/*.parquet' l JOIN '{tmp_path}/t/pages/*.parquet' t "
        "ON l.target = t.key WHERE t.failing GROUP BY 1 ORDER BY 1"
    ).fetchall()
    assert found == sorted(zip(*map(ask(brain.graph, "broken-pages").column, ("url", "links")), strict=True))


PAGES, LINKS, HOSTS = (f"'{{at}}/{table}/*.parquet'" for table in ("pages", "links", "hosts"))
ANSWERS = (
    (f"SELECT count(*) FROM {PAGES}", "MATCH (p:Page) RETURN count(p)"),
    (f"SELECT count(*) FROM {LINKS}", "MATCH (:Page)-[l:LINKS]->(:Page) RETURN count(l)"),
    (
        f"SELECT host, count(*), count(first_fetched) FROM {PAGES} GROUP BY 1",
        "MATCH (p:Page) RETURN p.host, count(p), count(p.first_fetched)",
    ),
    (f"SELECT depth, count(*) FROM {PAGES} GROUP BY 1", "MATCH (p:Page) RETURN p.depth, count(p)"),
    (
        f"SELECT status, count(*) FROM {PAGES} WHERE status IS NOT NULL GROUP BY 1",
        "MATCH (p:Page) WHERE p.status IS NOT NULL RETURN p.status, count(p)",
    ),
    (
        f"SELECT s.host, t.host, count(*) FROM {LINKS} l JOIN {PAGES} s ON s.key = l.source JOIN {PAGES} t "
        "ON t.key = l.target WHERE s.host <> t.host GROUP BY 1, 2",
        "MATCH (s:Page)-[l:LINKS]->(t:Page) WHERE s.host <> t.host RETURN s.host, t.host, count(l)",
    ),
    (
        f"SELECT url FROM {PAGES} ANTI JOIN {LINKS} l ON l.target = key",
        "MATCH (p:Page) WHERE NOT (p)<-[:LINKS]-() RETURN p.url",
    ),
    (
        f"SELECT body_hash, count(*) FROM {PAGES} WHERE body_hash IS NOT NULL GROUP BY 1 HAVING count(*) > 1",
        "MATCH (p:Page) WHERE p.body_hash IS NOT NULL WITH p.body_hash AS h, count(p) AS n WHERE n > 1 RETURN h, n",
    ),
    (
        f"SELECT a.url, b.url FROM {PAGES} a JOIN {PAGES} b ON a.redirects_to = b.url",
        "MATCH (a:Page)-[:REDIRECTS_TO]->(b:Page) RETURN a.url, b.url",
    ),
    (
        f"SELECT t.url, l.anchor, l.rel FROM {LINKS} l JOIN {PAGES} t ON t.key = l.target WHERE l.anchor IS NOT NULL",
        "MATCH ()-[l:LINKS]->(t:Page) WHERE l.anchor IS NOT NULL RETURN t.url, l.anchor, l.rel",
    ),
    (
        "SELECT s.url, a.url, n.anchor, n.rel FROM '{at}/spells/*.parquet' n "
        f"JOIN {PAGES} s ON s.key = n.source JOIN {PAGES} a ON a.key = n.alias",
        "MATCH (s:Page)-[n:SPELLS]->(a:Page) WHERE s.state <> 'alias' RETURN s.url, a.url, n.anchor, n.rel",
    ),
    (f"SELECT name FROM {HOSTS}", "MATCH (h:Host) RETURN h.name"),
)


def test_duckdb_answers_as_the_graph(brain: Brain, raw: driver.Driver, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    crawl(brain)
    frames.dump(brain.graph, tmp_path / "t", brain.now)
    for sql, cypher in ANSWERS:
        found = duckdb.sql(sql.format(at=tmp_path / "t")).fetchall()
        wanted = [tuple(record.values()) for record in raw.execute_query(cypher, database_="neo4j").records]
        assert found and sorted(map(repr, found)) == sorted(map(repr, wanted)), sql
    written = (Path(__file__).parents[3] / "docs" / "how-to" / "export.md").read_text("utf-8")
    for sql in re.findall(r"```sql\n(.*?)```", written, re.DOTALL):
        assert duckdb.sql(sql.replace("crawl/", f"{tmp_path}/t/")).fetchall(), sql


def test_frames_of_other_kinds(brain: Brain) -> None:
    pandas = pytest.importorskip("pandas")
    crawl(brain)
    for kind in ("pandas", "polars"):
        pytest.importorskip(kind)
        assert len(brain.frame("pages", kind)) == 18
    simhashes = [None if bits is pandas.NA else bits for bits in brain.frame("pages", "pandas")["simhash"]]
    assert simhashes == brain.frame("pages")["simhash"].to_pylist() and None in simhashes


def test_what_is_wrong_is_said(brain: Brain, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="A frame is of pages, links, leads, spells, hosts"):
        brain.frame("nodes")
    with pytest.raises(BadInput, match="not 'pages' as 'excel'"):
        brain.frame("pages", "excel")
    (tmp_path / "mine").touch()
    with pytest.raises(BadInput, match="is not empty"):
        frames.dump(brain.graph, tmp_path, brain.now)
    with pytest.raises(BadInput, match="cannot be written"):
        frames.dump(brain.graph, tmp_path / "mine", brain.now)


def test_an_empty_brain_has_tables_without_rows(brain: Brain, tmp_path: Path) -> None:
    manifest = frames.dump(brain.graph, tmp_path / "t", brain.now)
    assert {told["rows"] for told in manifest["tables"].values()} == {0}
    assert all((tmp_path / "t" / told["files"][0]).is_file() for told in manifest["tables"].values())
    assert brain.frame("pages").num_rows == 0
