"""Steps whose commit's answer is lost, each on a few pages: of the statements that no other default test repeats or
commits (tests/contract/statement_tests.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphbrain import Brain, Failed, Fetched, Hint
from graphbrain.analyst.frames import TABLES
from graphbrain.crawl.gone import first_missed
from tests.integration.conftest import HandClock, sound

pytestmark = pytest.mark.usefixtures("answers_lost")

MakeBrain = Callable[..., Brain]
A, B, C, D = (f"http://{name}.example/" for name in "abcd")


@pytest.fixture
def linked(brain: Brain) -> Brain:
    """A brain of four pages, three of them fetched."""
    brain.seed([A])
    brain.report([Fetched(A, [B, C]), Fetched(B, [A, D]), Fetched(C, [A, B])])
    return brain


def test_an_engine_is_converted_and_back(linked: Brain) -> None:
    """Whichever there is, all looks name the same best pages."""
    for engine in ("classic", "exact"):
        assert linked.convert_engine(engine) and linked.settings.engine == engine
        sound(linked)
        linked.tend(None)
        for side in ("authority", "hub"):
            assert {page.url for page in linked.find(by=side, limit=4)} == {A, B, C, D}
        assert {page.url for page in linked.find(by="hub", min_score=0.0, limit=9)} == {A, B, C, D}


def test_a_pass_settles_all(linked: Brain) -> None:
    assert linked.settle(tolerance=1e-9).left == 0
    linked.link(D, A)
    assert linked.settle(tolerance=1e-9).left == 0
    sound(linked)


def test_notes_are_kept(linked: Brain) -> None:
    assert linked.note({A: "seen", B: "as a list"}) == {}
    assert [*linked.notes([A, C, B]).values()] == ["seen", "as a list"]
    linked.forget(B)
    linked.forget(C, for_ever=True)
    assert [*linked.notes([A]).values()] == ["seen"]


def test_a_hint_moves_a_page_once(linked: Brain, clock: HandClock) -> None:
    clock.pass_(86_400.0)
    for _ in range(2):
        linked.hint([Hint(A, at=clock.at - 60.0)])
    assert linked.page(A).state == "known" and linked.stats()["pages"] == 4


def test_scores_are_ranked_and_ranked_anew(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(value="pagerank", order="best_first")
    brain.report([Fetched(A, [B, C]), Fetched(B, [A])])
    brain.rank("pagerank")
    clock.pass_(1.0)
    brain.report([Fetched(C, [D])])
    assert brain.rank("pagerank", warm=True).pages == 4
    assert sum(page.scores["pagerank"] for page in brain.find(limit=9)) == pytest.approx(1.0)


def test_hosts_of_an_address_count_their_claims(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(address_in_flight=1)
    brain.report([Fetched(url, address="192.0.2.9") for url in (A, B)])
    clock.pass_(1.0)
    brain.seed([f"{A}1", f"{B}1"])
    (held,) = brain.next_urls(9)
    brain.report([Fetched(held.url, claim=held, address="192.0.2.9")])
    (other,) = brain.next_urls(9)
    assert other.url != held.url and brain.give_back([other]) is not None
    sound(brain)


def test_links_are_named_through_an_alias(linked: Brain, clock: HandClock) -> None:
    """Whose target a seed leads to, and then does not."""
    clock.pass_(1.0)
    linked.report([Fetched(A, redirected_to=B)])
    clock.pass_(1.0)
    linked.report([Fetched(C, [A, B])])
    assert linked.page(B).is_seed
    tables = {name: linked.frame(name).num_rows for name in TABLES}
    assert tables["pages"] == linked.stats()["pages"] == 4 and tables["spells"] >= 1, tables
    clock.pass_(1.0)
    linked.report([Fetched(A, [D])])
    linked.tend(None)
    assert not linked.page(B).is_seed


def test_tables_a_summary_and_the_end_of_a_crawl_are_of_the_same_pages(linked: Brain, clock: HandClock) -> None:
    assert linked.frame("pages").num_rows == sum(1 for _ in linked.dump_pages()) == 4
    assert linked.frame("links").num_rows == sum(1 for _ in linked.dump_links()) == 6
    assert linked.summary().startswith("<!") and linked.page(A).clicks == 0
    keys = {url: linked.page(url).key for url in (A, B)}
    assert first_missed(linked, keys.values()) == set()
    clock.pass_(1.0)
    linked.report([Failed(A, status=404)])
    assert first_missed(linked, keys.values()) == {keys[A]}
