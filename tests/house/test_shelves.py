"""Which module may know which: imports go one way, down the list below."""

from __future__ import annotations

import pytest

from tests.house.source import imported, modules, outside

# The architecture. A module may import those of the shelves above its own in this list, never its
# own shelf's and never a later one's.
SHELVES: tuple[tuple[str, ...], ...] = (
    # words: they know no database
    ("errors", "methods", "tokens", "retry_after", "installs", "mending", "room"),
    ("hostnames",),
    ("settings", "model", "url"),
    ("scope", "robots", "border", "meaning", "url_v1"),
    ("wire",),
    # maths: pure functions of arrays
    ("classic", "spread"),
    ("opichits",),
    ("csr",),
    ("batching", "fixedpoint", "measures", "linksums", "places", "ranking", "revisit", "beliefs"),
    ("lanes", "fingerprints"),
    ("schedule", "ranges"),
    # graph: statements, and the one door to the driver
    ("statements",),
    ("graph",),
    # accounts
    ("ledger",),
    ("classic_ledger",),
    ("accounts",),
    # nouns
    ("addresses", "linking"),
    ("schema", "hosts", "cash", "exports", "scores", "priors", "notes", "passes"),
    ("heads", "pages", "classic_cash", "spellings"),
    ("claims",),
    ("classic_pages",),
    # what is done with several nouns at once
    ("verdicts",),
    ("visits",),
    ("relinking",),
    ("report",),
    ("parting",),
    ("ordering",),
    ("aliases",),
    ("corrections", "bending", "intake", "audit", "settling", "listing", "manners", "hinting", "due"),
    ("classic_audit", "standing", "moving"),
    # the two engines
    ("engines", "conversion"),
    # the whole, by what its verbs are for
    ("core",),
    ("passing",),
    ("tending", "looking", "scoring", "correcting", "hosting", "converting"),
    ("rekeying",),
    ("brain",),
    ("__init__",),
    # doors: the local server, recorded crawls, a text's relevance, workers
    ("formats", "lineio"),
    ("jars", "neo4j_home", "javacache", "recording", "relevance", "histories", "policies", "hints"),
    ("server", "records", "harvest", "simulate", "plots"),
    ("worker", "bulk", "priming"),
    ("stores",),
    ("replay", "hammer", "importing", "rehearsal"),
    # a brain served by threads; Scrapy
    ("desk",),
    ("scrapy_pages",),
    ("scrapy",),
    ("tables",),
    ("show",),
    ("bench", "dumps", "precision"),
    ("bench_accounts", "bench_scores", "bench_revisit", "precision_plot"),
    # the demo: a web, a crawler, a show
    ("demo", "demo.pages", "demo.crawler"),
    ("demo.web",),
    ("demo.crew",),
    ("demo.show",),
    # the command line
    ("cli_common",),
    (
        "cli_claims",
        "cli_crawl",
        "cli_keep",
        "cli_schedule",
        "cli_look",
        "cli_dump",
        "cli_precision",
        "cli_score",
        "cli_simulate",
        "cli_hosts",
    ),
    ("cli",),
    ("__main__",),
)
SHELF = {name: number for number, shelf in enumerate(SHELVES) for name in shelf}

# Imports inside a function that go up, each for a reason that is written where it stands.
EXCUSED = {
    ("bench", "bench_accounts"): "the measures of the accounts stand on the shelf above, and use what stands in bench",
    ("bench", "bench_scores"): "so do those of the batch scores",
    ("bench", "bench_revisit"): "and those of revisits",
    ("brain", "server"): "only looked at when no address is given: then it is the local server's",
    (
        "jars",
        "server",
    ): "`python -m graphbrain.jars VERSION`, which makes a lock file for a version",
}

MODULES = sorted(modules())


def test_every_module_has_its_shelf() -> None:
    assert set(MODULES) <= set(SHELF)


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down(name: str) -> None:
    up = {other for other in imported(name) if SHELF[other] >= SHELF[name] and (name, other) not in EXCUSED}
    assert not up, f"{name} imports {sorted(up)}, which do not stand below it"


def test_no_excuse_is_left_over() -> None:
    assert {pair for pair in EXCUSED if pair[1] not in imported(pair[0])} == set()


def test_an_excused_import_is_inside_a_function() -> None:
    import ast

    from tests.house.source import tree

    for name, other in EXCUSED:
        for node in tree(name).body:
            if isinstance(node, ast.ImportFrom):
                whole = {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
                assert f"graphbrain.{other}" not in whole


@pytest.mark.parametrize("name", MODULES)
def test_only_two_modules_know_the_driver(name: str) -> None:
    """graph.py is the door; server.py asks a server it has just started whether it answers."""
    assert ("neo4j" in outside(name)) == (name in ("graph", "server"))


@pytest.mark.parametrize("name", ["opichits", "classic", "ranking", "spread", "errors", "scope", "url"])
def test_words_and_maths_touch_nothing(name: str) -> None:
    touching = {"os", "time", "random", "socket", "threading", "pathlib", "neo4j", "logging"}
    assert not touching & outside(name)
