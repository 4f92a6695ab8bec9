"""An old brain holds URLs with user names and passwords: nothing that it shows or exports has them."""

from __future__ import annotations

from pathlib import Path

import neo4j as driver

from graphbrain import Brain, Fetched
from graphbrain.analyst import summary
from graphbrain.analyst.questions import ask, questions
from graphbrain.files import dump
from tests.integration.analyst.webs import A, B, crawl
from tests.verbs import neighbours, top_of

SECRET = "hunter2"
OLD = """
MATCH (p:Page) WHERE p.url STARTS WITH 'http://'
SET p.url = 'http://user:hunter2@' + substring(p.url, 7)
SET p.error = 'at ' + p.url, p.canonical = p.url, p.led_to = [p.url]
"""


def test_no_password_is_shown(brain: Brain, raw: driver.Driver, tmp_path: Path) -> None:
    crawl(brain)
    raw.execute_query(OLD, database_="neo4j")
    keys = [page.key for page in brain.dump_pages()]
    said = [repr(ask(brain.graph, each.name)) for each in questions() if each.name != "leases"]
    said += [
        repr(list(brain.dump_pages())),
        repr(list(brain.dump_links())),
        repr(top_of(brain, 9)),
        repr(list(brain.find("a."))),
    ]
    said += [
        repr([brain.page(key), *brain.links(key), *brain.links(key, "in"), neighbours(brain, key)]) for key in keys
    ]
    said += [repr([brain.path(key), brain.payments(key)]) for key in keys]
    said += [repr(brain.frame(table).to_pylist()) for table in ("pages", "links", "spells", "hosts")]
    said.append(summary.page(brain.graph, brain.now()))
    for form in ("jsonl", "csv", "nodes"):
        with dump.opened(tmp_path / form) as out:
            dump.write_pages(brain.dump_pages(), form, out)
        said.append((tmp_path / form).read_text("utf-8"))
    assert not [text for text in said if SECRET in text]
    assert f"{A}/two" in said[0] + said[-1] and brain.page(keys[0]).url.startswith("http://")
    # Refusals name what was refused.
    answers = brain.report([Fetched(f"{B}/new", ["http://user:hunter2@[broken/", "http://user:hunter2@/"])])
    assert answers[0].links_refused and SECRET not in repr([each.links_refused for each in answers])
