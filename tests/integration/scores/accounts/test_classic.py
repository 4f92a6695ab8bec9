"""The classic engine on a live graph: the ancestors' numbers, total cash, options, conversion."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Fetched
from graphbrain.base.errors import BadInput, BeingConverted, SettingsError
from graphbrain.base.numeric.rules import total_cash
from graphbrain.base.settings import ENGINES
from graphbrain.brain import outstanding
from graphbrain.brain.push import Pushing
from graphbrain.scores.accounts import classic_ledger, classic_pushes
from graphbrain.scores.accounts.pushes import Wanted
from tests.integration.conftest import EDITS, Going, HandClock, churning, crowd, just_before, rounds, sound
from tests.plugin import Neo4j
from tests.recordings import Recordings, crawl, web_of
from tests.reference.ancestors import T1, T4, TOY, Ancestors
from tests.verbs import top_of

MakeBrain = Callable[..., Brain]
FOR_EVER = 1e6


NUMBERS: dict[int, int] = {}


@pytest.fixture(autouse=True)
def _nobody_has_a_number() -> None:
    NUMBERS.clear()


def url(page: int) -> str:
    return f"http://web.example/{NUMBERS.get(page, page)}"


def teach(brain: Brain, web: dict[int, tuple[int, ...]]) -> None:
    """A web whose pages are numbered in the order of their internal ids: of equal cash, the higher page is first."""
    names = [url(page) for page in sorted(web)]
    brain.seed(names)
    keys = {brain.page(name).key: page for name, page in zip(names, sorted(web), strict=True)}
    found = brain.graph.read(lambda tx: tx.one("pages/find", keys=sorted(keys))[0], "a test")
    by_id = [keys[key] for key, *_ in sorted(found, key=lambda row: row[1])]
    NUMBERS.update(zip(sorted(web), by_id, strict=True))
    brain.report([Fetched(url(page), [url(target) for target in targets]) for page, targets in web.items()])


def scores(brain: Brain, web: dict[int, tuple[int, ...]]) -> tuple[list[float], list[float]]:
    found = [brain.page(url(page)) for page in sorted(web)]
    return [page.hub_score for page in found], [page.authority_score for page in found]


def chosen(brain: Brain) -> object:
    """The batch that comes next."""
    found = outstanding.for_upkeep(brain.session, Wanted(100_000)).push
    assert found is not None
    return found.work


def update(brain: Brain, passes: int = 1) -> None:
    """Passes of the ancestors: one batch with all sides in it."""
    for _ in range(passes):
        pushing = Pushing(brain.session)
        found = outstanding.for_upkeep(brain.session, pushing.wanted(100_000)).push
        if found is not None:
            pushing.push(found)


def total(brain: Brain) -> float:
    figures = brain.audit(None).figures
    held: float = figures["total_cash"]
    return held


@pytest.fixture
def classic(make_brain: MakeBrain) -> Brain:
    """An empty brain of the classic engine, without a window."""
    return make_brain(engine="classic", window=0.0, passes=FOR_EVER)


# ---------------------------------------------------------------- the ancestors' numbers


def test_single_steps(classic: Brain) -> None:
    """Reference §6.1; the virtual page pays at the end of each step."""
    teach(classic, TOY)
    assert total(classic) == 10
    for side, page in (("hub", 3), ("authority", 2), ("hub", 4), ("authority", 3)):
        step(classic, side, page)
        assert total(classic) == pytest.approx(10, abs=1e-9)
    plain = Ancestors(dict(TOY))
    plain.hub(3)
    plain.virtual()
    plain.authority(2)
    plain.virtual()
    plain.hub(4)
    plain.virtual()
    plain.authority(3)
    plain.virtual()
    same(classic, plain)


def place(brain: Brain, page: int) -> int:
    """The page's internal id."""
    found: int = brain.graph.read(lambda tx: tx.one("pages/find", keys=[brain.page(url(page)).key]), "a test")[0][0][1]
    return found


def step(brain: Brain, side: str, page: int) -> None:
    """Let one side of one page spend."""
    batch = [classic_pushes.ChosenSide(side, place(brain, page), -np.inf)]
    brain.graph.write(lambda tx: classic_pushes.spend(tx, batch, brain.policy.rule, brain.now()), "a test")


def same(brain: Brain, plain: Ancestors) -> None:
    for page in plain.web:
        found = brain.page(url(page))
        assert found.hub_cash == pytest.approx(plain.cash["h", page], abs=1e-6)
        assert found.authority_cash == pytest.approx(plain.cash["a", page], abs=1e-6)
        assert found.hub_history == pytest.approx(plain.history["h", page], abs=1e-6)
        assert found.authority_history == pytest.approx(plain.history["a", page], abs=1e-6)


def test_one_pass_is_the_ancestors_pass(classic: Brain) -> None:
    """Reference §6.2: 4h 4a 3h 3a 2h 2a 1h 1a, each spending what it has when its turn comes."""
    teach(classic, TOY)
    batch = chosen(classic)
    assert isinstance(batch, list)
    named = {place(classic, page): page for page in TOY}
    assert [f"{named[seen.page]}{seen.side[0]}" for seen in batch] == ["4h", "4a", "3h", "3a", "2h", "2a", "1h", "1a"]
    update(classic)
    assert total(classic) == pytest.approx(10, abs=1e-9)
    found = [classic.page(url(page)) for page in sorted(TOY)]
    assert [page.hub_history for page in found] == pytest.approx([1.4444444, 1.3333333, 1.3333333, 1])
    assert [page.authority_history for page in found] == pytest.approx([1.3333333, 1.3333333, 1, 1])
    assert [page.hub_cash for page in found] == pytest.approx([0.9305556, 0.9305556, 2.0416667, 0.9305556])
    assert [page.authority_cash for page in found] == pytest.approx([0.8611111, 1.5833333, 0.8611111, 1.8611111])
    assert classic.audit(None).figures["clock"] == pytest.approx(9.7777778)


def test_the_web_of_five(classic: Brain) -> None:
    """Reference §6.2: after two passes."""
    teach(classic, T4)
    update(classic, 2)
    assert scores(classic, T4)[0] == pytest.approx([0.306673, 0.179271, 0.179271, 0.179271, 0.155515], abs=1e-6)
    assert total(classic) == pytest.approx(12, abs=1e-9)


FIXED = {
    "the toy web": (TOY, [2, 2, 4, 1], [2, 3, 1, 3]),
    "the web of the graph's test": (T1, [3, 2, 2, 1], [1, 2, 2, 3]),
    "the web of five": (T4, [5, 3, 3, 3, 3], [5, 3, 3, 3, 3]),
}
"""Reference §6.3: degree + 1 of hubs and authorities."""


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("engine", ENGINES)
def test_without_relevance_a_score_is_degree_plus_one(make_brain: MakeBrain, engine: str, name: str) -> None:
    """Reference §1.2.10 and §6.3, to 1e-4; the exact engine without α, which the ancestors did not have."""
    web, *due = FIXED[name]
    brain = make_brain(engine=engine, passes=FOR_EVER, alpha=0.0)
    teach(brain, web)
    if engine == "classic":
        take_turns(brain, web)
    else:
        brain.settle(tolerance=1e-12)
    for found, wanted in zip(scores(brain, web), due, strict=True):
        assert np.array(found) / sum(found) == pytest.approx(np.array(wanted) / sum(wanted), abs=1e-4, rel=1e-4)


def take_turns(brain: Brain, web: dict[int, tuple[int, ...]]) -> None:
    """All sides spend, sixty times over, in the same order each time: the window forgets how it began, so that the
    error shrinks by a factor at each pass. Where the highest cash comes first the last bit chooses between equals, and
    what a window of eight passes sees goes up and down in the third digit."""
    batch, *_ = classic_pushes.named([place(brain, page) for page in web])
    for _ in range(60):
        brain.graph.write(lambda tx: classic_pushes.spend(tx, batch, brain.policy.rule, brain.now()), "a test")


def test_without_a_window_the_error_falls_like_one_over_the_passes(classic: Brain) -> None:
    """Reference §1.2.10, §3 T4: .02 to .03 after ten passes, a tenth of that after a hundred."""
    teach(classic, T4)
    due = np.array([5, 3, 3, 3, 3]) / 17
    for passes, least in ((10, 2e-2), (90, 2e-3)):
        update(classic, passes)
        for found in scores(classic, T4):
            assert least < np.max(np.abs(np.array(found) - due) / due) < 1.5 * least
    hub, authority = scores(classic, T4)
    assert hub == pytest.approx([0.294313, 0.176532, 0.176532, 0.176532, 0.176090], abs=1e-6)
    assert authority == pytest.approx([0.294963, 0.176591, 0.176149, 0.176149, 0.176149], abs=1e-6)


def test_relevance_bends_it(make_brain: MakeBrain) -> None:
    """Reference §6.3: the toy web with r = 1 at page 2 and .1 at page 4, by the ancestors' polynomial."""
    brain = make_brain(engine="classic", passes=FOR_EVER, relevance_rule="polynomial")
    teach(brain, TOY)
    brain.set_page(url(2), relevance=1.0)
    brain.set_page(url(4), relevance=0.1)
    take_turns(brain, TOY)
    hub, authority = scores(brain, TOY)
    assert hub == pytest.approx([0.305626, 0.135181, 0.448363, 0.110831], abs=1e-4)
    assert authority == pytest.approx([0.224344, 0.369133, 0.118138, 0.288385], abs=1e-4)


def test_the_window_is_the_plain_second_opinions(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic", window=4.0, passes=FOR_EVER)
    teach(brain, TOY)
    plain = Ancestors(dict(TOY), window=4.0 * total_cash(len(TOY)))
    for _ in range(12):
        update(brain)
        plain.update()
    same(brain, plain)


# ---------------------------------------------------------------- total cash


def test_total_cash_at_every_step(classic: Brain) -> None:
    """Creation, links, relevance, pushes, deletion: 2(N + 1) after each."""
    assert total(classic) == 2.0
    classic.seed([url(1)])
    assert total(classic) == 4.0
    teach(classic, T4)
    update(classic, 3)
    assert total(classic) == pytest.approx(12)
    classic.link(url(2), url(77))
    classic.forget(url(0))
    assert total(classic) == pytest.approx(12)
    classic.unlink(url(2), url(77))
    update(classic, 3)
    for page in (1, 2, 3, 4, 77):
        classic.forget(url(page))
    assert total(classic) == pytest.approx(2.0)
    sound(classic)


def test_a_link_to_itself_destroys_nothing(classic: Brain) -> None:
    """F18: a→b, a→a lost a sixth of all cash with each update."""
    classic.report([Fetched(url(1), [url(1), url(2)])])
    update(classic, 6)
    assert total(classic) == pytest.approx(6.0)


def test_a_page_forgotten_in_poverty_leaves_a_debt_that_is_worked_off(classic: Brain) -> None:
    teach(classic, T4)
    step(classic, "hub", 0)
    step(classic, "authority", 0)
    classic.forget(url(0))
    assert classic.audit(None).figures["virtual_hub_cash"] < 0
    sound(classic)
    update(classic, 20)
    assert classic.audit(None).figures["virtual_hub_cash"] == pytest.approx(0, abs=1e-9)
    sound(classic)


def test_reopening_mints_nothing_and_keeps_the_clock(classic: Brain, neo4j: Neo4j, clock: HandClock) -> None:
    """F23, F24: offsets and clock are there for whoever comes next."""
    teach(classic, T4)
    update(classic, 5)
    before = classic.audit(None).figures
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        after = other.audit(None).figures
        assert {name: after[name] for name in ("total_cash", "clock", "hub_offset")} == {
            name: before[name] for name in ("total_cash", "clock", "hub_offset")
        }
        update(other, 5)
        assert other.audit(None).figures["clock"] > before["clock"]


def test_a_page_never_owes_under_the_polynomial(make_brain: MakeBrain) -> None:
    """Where links inside a host weigh next to nothing, its share of a page of little relevance would be −1/8."""
    brain = make_brain(engine="classic", relevance_rule="polynomial", intra_host_weight=1 / 1024)
    brain.seed([url(page) for page in range(20)])
    brain.link(url(0), url(1))
    brain.set_page(url(1), relevance=0.25)
    step(brain, "hub", 0)
    step(brain, "hub", 0)
    before = brain.page(url(0)).hub_cash
    step(brain, "authority", 1)
    assert brain.page(url(0)).hub_cash >= before > 0.0
    sound(brain)


def test_a_side_with_too_many_neighbours_gives_all_to_the_virtual_page(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic", max_payees=3)
    teach(brain, T4)
    brain.tend(pages=[url(0)])
    assert {brain.page(url(page)).authority_cash for page in (1, 2, 3, 4)} == {brain.page(url(1)).authority_cash}
    sound(brain)


def test_a_side_with_too_many_neighbours_can_go_before_its_turn(make_brain: MakeBrain) -> None:
    """A page that was chosen and is forgotten meanwhile stops nobody; the others of its batch spend."""
    brain = make_brain(engine="classic", max_payees=3)
    teach(brain, T4)
    batch = chosen(brain)
    assert isinstance(batch, list)
    brain.forget(url(0))
    spent = brain.graph.write(
        lambda tx: classic_pushes.spend(tx, batch, brain.policy.rule, brain.now()), "a test", patient=False
    )
    assert spent.pushes == len(batch) - 2
    sound(brain)


def test_offsets_are_put_into_the_cash_before_they_grow_large(
    classic: Brain, monkeypatch: pytest.MonkeyPatch, ask: Callable[..., list[list[object]]]
) -> None:
    """A pass in steps, with pushes, births and deaths in between; the same accounts afterwards."""
    monkeypatch.setattr(classic_pushes, "LARGEST_OFFSET", 1.5)
    monkeypatch.setattr(classic_pushes, "REBASE_IDS", 2)
    teach(classic, T4)
    steps = 0
    for number in range(90):
        update(classic)
        if ask("MATCH (b:Brain) RETURN b.virtual_rebased")[0][0]:
            steps += 1
            step(classic, "hub", 1)
            step(classic, "authority", 3)
            if steps % 4 == 1:
                classic.link(url(1), url(1000 + number))
                sound(classic)
                classic.forget(url(1000 + number))
                sound(classic)
    offsets = classic.audit(None).figures
    assert steps > 8
    assert max(offsets["hub_offset"], offsets["authority_offset"]) < 3.0
    assert total(classic) == pytest.approx(12)


@pytest.mark.long
@pytest.mark.nightly
def test_a_recorded_crawl(make_brain: MakeBrain, data_dir: Recordings, raw: Any) -> None:
    """300 pages of a real crawl; then, from fresh accounts, 16 times all cash: the error is about two over that."""
    brain = make_brain(engine="classic", window=0.0, passes=16.0)
    crawl(brain, web_of(data_dir / "hollins.dat.gz"), pages=300)
    sound(brain)
    for engine in ("exact", "classic"):
        brain.convert_engine(engine)
    assert brain.tend(None).settled
    rows = raw.execute_query(
        "MATCH (p:Page) RETURN p.out_weight, p.hub_history, p.in_weight, p.authority_history", database_="neo4j"
    ).records
    table = np.array([row.values() for row in rows])
    for degree, history in (table.T[:2], table.T[2:]):
        due = (degree + 1) / (degree + 1).sum()
        assert np.abs(history / history.sum() - due).sum() < 0.2
    assert total(brain) == pytest.approx(total_cash(len(rows)))


SPOILT = {
    "cash made": ("MATCH (p:Page {url: $a}) SET p.hub_cash = p.hub_cash + 0.01", "All cash"),
    "cash of nobody": ("MATCH (b:Brain) SET b.virtual_hub_cash = b.virtual_hub_cash - 0.01", "All cash"),
    "negative cash": ("MATCH (p:Page {url: $a}) SET p.authority_cash = p.authority_cash - 100", "holds -"),
    "a clock that went back": ("MATCH (b:Brain) SET b.virtual_clock = 0.5", "the clock is at"),
    "a page not counted": ("MATCH (b:Brain) SET b.virtual_pages = b.virtual_pages - 1", "counts"),
    "a history made": ("MATCH (p:Page {url: $a}) SET p.hub_history = p.hub_history + 0.5", "hub histories"),
    "a page half born": ("MATCH (p:Page {url: $a}) SET p.hub_paid = 1.0", "first cash"),
    "a rank": ("MATCH (p:Page {url: $a}) SET p.hub_rank = 50", "hub_rank"),
    "a priority": ("MATCH (p:Page {url: $a}) SET p.hub_priority = 5", "hub_priority"),
    "a lane too good": ("MATCH (p:Page {state: 'frontier'}) WITH p LIMIT 1 SET p.lane = 3", "lane 3"),
    "a lane too bad": ("MATCH (p:Page {state: 'frontier'}) WITH p LIMIT 1 SET p.lane = 1900", "lane 1900"),
    "a weight": ("MATCH (p:Page {url: $a}) SET p.out_weight = p.out_weight + 1", "out_weight"),
}


@pytest.mark.parametrize("what", sorted(SPOILT))
def test_the_audit_finds(classic: Brain, ask: Callable[..., list[list[object]]], what: str) -> None:
    classic.report([Fetched(url(1), [url(2), url(3)]), Fetched(url(2), [url(3)])])
    update(classic, 2)
    sound(classic)
    spoil, finding = SPOILT[what]
    ask(spoil, a=url(1))
    found = classic.audit(None)
    classic.clear()
    assert not found.ok
    assert any(finding in sentence for sentence in found.findings), found.findings


# ---------------------------------------------------------------- settings


def test_a_brain_is_made_with_it(exact: Brain, neo4j: Neo4j, ask: Callable[..., list[list[object]]]) -> None:
    """In an empty database: with its indexes, and 2 cash on the virtual page."""
    exact.clear()
    ask("MATCH (b:Brain) DELETE b")
    with neo4j.open(crawl="test", engine="classic", auto_tend=False) as brain:
        assert len(indexes(ask)) == 2
        assert total(brain) == 2.0
        brain.seed([url(1)])
        sound(brain)
        brain.clear()
        assert total(brain) == 2.0


def test_it_rests_when_the_total_cash_was_spent_so_often(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic", passes=4.0)
    teach(brain, T4)
    done = brain.tend(None)
    assert done.settled
    assert done.pushes > 0
    spent = brain.audit(None).figures["clock"]
    assert 4 * 12 <= spent <= 6 * 12
    assert brain.tend(None).pushes == 0
    brain.link(url(3), url(1))
    assert brain.tend(None).pushes > 0


@pytest.mark.parametrize(
    "change",
    [{"relevance_rule": "polynomial"}, {"root_share": 0.3}, {"window": 2.0}, {"max_payees": 3}, {"passes": 8.0}],
    ids=str,
)
def test_it_rests_no_more_when_what_is_spent_or_kept_has_changed(make_brain: MakeBrain, change: dict[str, Any]) -> None:
    brain = make_brain(engine="classic", passes=4.0)
    teach(brain, T4)
    assert brain.tend(None).settled
    brain.change(eps=0.1, score="history_and_cash", window=8.0)
    assert brain.tend(None).pushes == 0
    brain.change(**change)
    done = brain.tend(None)
    assert done.pushes > 0
    assert done.settled


def test_scores_by_history_and_cash_add_up(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic", score="history_and_cash")
    teach(brain, T4)
    for _ in range(3):
        hub, authority = scores(brain, T4)
        assert (sum(hub), sum(authority)) == pytest.approx((1, 1))
        update(brain)
    assert [page.url for page in top_of(brain, 1)] == [url(0)]


def test_scores_by_history_add_up(classic: Brain) -> None:
    teach(classic, T4)
    assert scores(classic, T4) == ([0] * 5, [0] * 5)
    update(classic, 3)
    hub, authority = scores(classic, T4)
    assert (sum(hub), sum(authority)) == pytest.approx((1, 1))
    assert top_of(classic, 1)[0].url == url(0)
    assert top_of(classic, 1, by="hub")[0].url == url(0)


@pytest.mark.parametrize("score", ["history", "history_and_cash"])
def test_every_look_tells_the_same_scores(make_brain: MakeBrain, score: str) -> None:
    """Shares and real cash, however a page is come by; who paid whom is not remembered."""
    brain = make_brain(engine="classic", score=score)
    teach(brain, T4)
    update(brain, 3)
    known = {page: brain.page(url(page)) for page in T4}
    listed = {replace(page, clicks=None) for page in known.values()}  # clicks are counted for a page, and for all
    assert set(brain.find()) == set(top_of(brain, 5)) == listed
    assert set(brain.dump_pages()) == set(known.values())
    best = known[0].authority_score
    assert [page.url for page in brain.find(min_score=best - 1e-9)] == [url(0)]
    (_, other) = brain.path(url(1), url(0))
    assert other.authority_score == pytest.approx(best)
    found = {end.url: end.hub_score for end in brain.links(url(0), "in")}
    assert found == pytest.approx({url(page): known[page].hub_score for page in (1, 2, 3, 4)})
    payments = brain.payments(url(0))
    assert not (payments.hub_payers or payments.authority_payers)


def test_a_new_page_can_have_the_mean_history(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic", new_history="mean")
    teach(brain, T4)
    update(brain, 3)
    before = [brain.page(url(page)).hub_history for page in T4]
    brain.link(url(1), url(99))
    assert brain.page(url(99)).hub_history == pytest.approx(sum(before) / 5)


def test_first_cash_can_go_to_all(make_brain: MakeBrain) -> None:
    """The 1 + 1 of a new page goes to the virtual page, which pays it to everybody."""
    brain = make_brain(engine="classic", first_cash="root")
    teach(brain, T4)
    assert total(brain) == pytest.approx(12)
    assert brain.page(url(4)).hub_cash == 0
    update(brain)
    assert brain.page(url(4)).hub_cash == pytest.approx(6 / 5)
    assert brain.page(url(0)).authority_cash == pytest.approx(6 / 5)


def test_the_root_can_have_a_share_of_its_own(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic", root_share=0.5)
    teach(brain, TOY)
    step(brain, "hub", 3)
    # Half of page 3's cash goes to three pages; the virtual page then pays its first 1 to four.
    assert brain.page(url(1)).authority_cash == pytest.approx(1 + 0.5 / 3 + 1 / 4)
    assert brain.page(url(1)).hub_cash == pytest.approx(1 + 1.5 / 4)


def test_a_window_in_seconds(make_brain: MakeBrain, clock: HandClock) -> None:
    """The clock is the server's; what was spent a window ago is forgotten."""
    brain = make_brain(engine="classic", window_unit="seconds", window=100.0, passes=FOR_EVER)
    teach(brain, TOY)
    step(brain, "hub", 3)
    first = brain.page(url(3)).hub_history
    clock.pass_(50.0)
    cash = brain.page(url(3)).hub_cash
    step(brain, "hub", 3)
    assert brain.page(url(3)).hub_history == pytest.approx(first / 2 + cash)
    clock.pass_(-1000.0)
    step(brain, "hub", 3)
    sound(brain)


def test_the_virtual_page_pays_all_alike(classic: Brain) -> None:
    classic.seed([url(1)])
    with pytest.raises(BadInput, match="pays all pages alike"):
        classic.set_page(url(1), payout=5.0)


def test_links_inside_a_host_can_weigh_less_and_payouts_can_not_differ(classic: Brain) -> None:
    classic.report([Fetched(url(1), [url(2), "http://b.org/"])])
    classic.change(intra_host_weight=0.25)
    assert classic.page(url(1)).out_weight == 1.25
    update(classic)
    sound(classic)
    with pytest.raises(SettingsError, match="uniform under the classic engine"):
        classic.change(payout="trusted")


def test_pages_that_got_cash_are_fetched_first(classic: Brain) -> None:
    """The lane of an unfetched page follows its history and cash."""
    classic.report([Fetched(url(0), [url(9)]), *(Fetched(url(page), [url(8)]) for page in range(1, 6))])
    update(classic)
    assert [claim.url for claim in classic.next_urls(1)] == [url(8)]


def test_impossible_options_are_refused(make_brain: MakeBrain) -> None:
    brain = make_brain(engine="classic")
    for name, value in (("root_share", 1.0), ("score", "fame"), ("window", -1.0), ("passes", 0.0)):
        with pytest.raises(SettingsError, match=name):
            brain.change(**{name: value})


# ---------------------------------------------------------------- many at once


def test_the_highest_cash_is_found_by_index(classic: Brain, raw: Any) -> None:
    from graphbrain.graph.statements import statement

    teach(classic, T4)
    for side in ("hub", "authority"):
        with raw.session(database="neo4j") as session:
            text = "EXPLAIN " + statement(f"classic/{side}_candidates").text
            plan = str(session.run(text, limit=5).consume().plan)
        assert "NodeIndexSeekByRange" in plan
        assert "Sort" not in plan
        assert "Top" not in plan


def test_several_change_it_at_once(classic: Brain, neo4j: Neo4j) -> None:
    """Four threads with brains of their own create, link, forget, report and push on a dozen pages."""
    with churning(
        neo4j,
        url,
        4,
        *EDITS,
        lambda own, a, _: own.report([Fetched(a(), [a(), a()]), Fetched(a(), [a()])]),
        lambda own, _a, dice: own.tend(0.02, batch=dice.choice([1, 10, 100])),
    ) as going:
        for _ in rounds(going, 3.0):
            audit = classic.audit(None)
            assert not audit.figures["wrong"], audit.findings
    sound(classic)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"relevance_rule": "polynomial", "root_share": 0.1, "window": 2.0},
        {"relevance_rule": "polynomial", "intra_host_weight": 1 / 1024},
        {"first_cash": "root", "new_history": "mean", "intra_host_weight": 0.0},
        {"order": "breadth_first", "window_unit": "seconds", "window": 60.0, "score": "history_and_cash"},
    ],
)
def test_random_churn(make_brain: MakeBrain, clock: HandClock, options: dict[str, Any]) -> None:
    """Whatever is done, in whatever order: audited after every step."""
    brain, dice = make_brain(engine="classic", **options), random.Random(len(options))
    for _ in range(25):
        clock.pass_(1.0)
        a, b = url(dice.randrange(20)), url(dice.randrange(20))
        verb = dice.randrange(7)
        try:
            if verb == 0:
                brain.forget(a)
            elif verb == 1:
                brain.unlink(a, b)
            elif verb == 2:
                brain.link(a, b)
            elif verb == 3:
                brain.set_page(a, relevance=dice.choice([None, 0.0, 0.25, dice.random(), 1.0]))
            elif verb == 4:
                brain.report([Fetched(a, [b, url(dice.randrange(20))], relevance=dice.choice([None, dice.random()]))])
            elif verb == 5:
                claims = brain.next_urls(3)
                brain.report([Fetched(claim.url, [a, b], claim) for claim in claims])
            else:
                brain.tend(0.05, batch=dice.choice([1, 5, 50]))
        except BadInput:
            continue
        sound(brain)


# ---------------------------------------------------------------- from engine to engine


@pytest.fixture
def exact(make_brain: MakeBrain) -> Iterator[Brain]:
    """A settled brain of the exact engine on the web of five, one page waiting and one held."""
    brain = make_brain()
    teach(brain, T4)
    brain.link(url(2), url(50))
    brain.link(url(2), url(51))
    brain.next_urls(1)
    brain.tend(None)
    yield brain


def indexes(ask: Callable[..., list[list[object]]]) -> set[object]:
    return {row[0] for row in ask("SHOW INDEXES YIELD name RETURN name")} & {"page_hub_cash", "page_authority_cash"}


@pytest.mark.nightly
def test_there_and_back(exact: Brain, ask: Callable[..., list[list[object]]]) -> None:
    before = {page: exact.page(url(page)) for page in (0, 1, 50)}
    assert not indexes(ask)
    seen: list[tuple[int, int]] = []
    assert exact.convert_engine("classic", lambda *done: seen.append(done))
    assert seen == [(7, 7)]
    assert not exact.convert_engine("classic")
    assert len(indexes(ask)) == 2
    page = exact.page(url(1))
    assert (page.hub_cash, page.authority_cash, page.hub_history, page.authority_history) == (1, 1, 0, 0)
    sound(exact)
    assert total(exact) == 16
    update(exact, 3)
    sound(exact)
    assert exact.convert_engine("exact")
    assert not indexes(ask)
    sound(exact)
    assert exact.tend(None).settled
    for number, page in before.items():
        again = exact.page(url(number))
        assert (again.hub_score, again.authority_score) == pytest.approx(
            (page.hub_score, page.authority_score), rel=0.1
        )
        assert (again.state, again.queue is None, again.lease_until) == (
            page.state,
            page.queue is None,
            page.lease_until,
        )
    assert not [name for (name,) in ask("MATCH (b:Brain) UNWIND keys(b) AS k RETURN k") if "virtual" in str(name)]


def test_who_had_it_open_goes_on(exact: Brain, neo4j: Neo4j, clock: HandClock) -> None:
    """Another process takes up the new engine with its next transaction."""
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        exact.convert_engine("classic")
        other.report([Fetched(url(50), [url(60)])])
        other.tend(0.1)
        assert other.settings.engine == "classic"
    sound(exact)
    assert total(exact) == 18


@pytest.mark.parametrize(("name", "how"), [("upkeep/outstanding", "read"), ("cash/push", "write")])
@pytest.mark.parametrize("begin", ENGINES)
def test_a_conversion_comes_before_the_choice_of_a_push_or_after_it(
    make_brain: Callable[..., Brain],
    neo4j: Neo4j,
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
    begin: str,
    name: str,
    how: str,
) -> None:
    """A batch of one engine means nothing to the other: it is let go, and another is chosen."""
    brain, pages = make_brain(engine=begin), [url(n) for n in range(4)]
    brain.seed(pages[:1])
    brain.report([Fetched(pages[0], pages[1:]), Fetched(pages[1], pages[2:]), Fetched(pages[2], pages[:1])])
    brain.link(pages[3], pages[0])
    (wanted,) = set(ENGINES) - {begin}
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        just_before(monkeypatch, brain, name, lambda: other.convert_engine(wanted), how)
        with contextlib.suppress(BeingConverted):  # "wait": where it was about to make a settling pass
            brain.tend(None)
        assert brain.tend(None).settled
    assert brain.settings.engine == wanted
    sound(brain)


def test_a_conversion_that_was_killed_is_finished_or_turned_back(
    exact: Brain, neo4j: Neo4j, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphbrain.brain.session.PASS_BATCH", 2)

    def stop(done: int, _: int) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exact.convert_engine("classic", stop)
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        for forbidden in (
            lambda: other.report([Fetched(url(70))]),
            lambda: other.tend(0.1),
            lambda: other.audit(None),
            lambda: top_of(other, 3),
            lambda: other.change(eps=0.1),
        ):
            with pytest.raises(BeingConverted) as raised:
                forbidden()
            assert raised.value.try_again
        seen: list[int] = []
        assert other.convert_engine("classic", lambda done, _: seen.append(done))
        assert sum(1 for _ in seen) <= 3, "it goes on where it stopped"
        sound(other)
        with pytest.raises(KeyboardInterrupt):
            other.convert_engine("exact", stop)
        assert other.convert_engine("classic")
        sound(other)
        assert total(other) == 16


def test_whoever_converts_begins_again_when_another_conversion_has_begun_meanwhile(
    exact: Brain, neo4j: Neo4j, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There and back, and again as far as two pages, while the first is at the fourth: the third is still to do."""
    monkeypatch.setattr("graphbrain.brain.session.PASS_BATCH", 2)

    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:

        def meanwhile(done: int, _: int) -> None:
            if done == 4 and not turns:
                turns.append(other.convert_engine("classic"))
                turns.append(other.convert_engine("exact"))
                other.tend(None)
                begin(other, "classic")

        turns: list[bool] = []
        assert exact.convert_engine("classic", meanwhile)
    assert turns == [True, True]
    assert total(exact) == 16
    sound(exact)


@pytest.mark.parametrize("goal", ["classic", "exact"])
def test_a_conversion_that_is_overtaken_leaves_the_indexes_of_the_engine_there_is(
    exact: Brain,
    neo4j: Neo4j,
    clock: HandClock,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[..., list[list[object]]],
    goal: str,
) -> None:
    """Another one goes all the way back while the first is about to make the indexes, or to drop them."""
    back = {"classic": "exact", "exact": "classic"}[goal]
    exact.convert_engine(back)
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        just_before(monkeypatch, exact, "engine/furnish", lambda: other.convert_engine(back))
        with pytest.raises(BeingConverted, match="Another process"):
            exact.convert_engine(goal)
    assert len(indexes(ask)) == (2 if back == "classic" else 0)
    sound(exact)


def test_indexes_that_a_killed_conversion_has_left_are_put_right_by_running_it_again(
    exact: Brain, ask: Callable[..., list[list[object]]]
) -> None:
    exact.convert_engine("classic")
    ask("DROP INDEX page_hub_cash")
    assert not exact.convert_engine("classic")
    assert len(indexes(ask)) == 2


def test_two_convert_at_once_while_others_report(exact: Brain, neo4j: Neo4j, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphbrain.brain.session.PASS_BATCH", 2)

    def report(seed: int, going: Going) -> None:
        dice = random.Random(seed)
        with neo4j.open(crawl="test", auto_tend=False) as own:
            while going():
                try:
                    own.report([Fetched(url(dice.randrange(40)), [url(dice.randrange(40)) for _ in range(3)])])
                    own.tend(0.01)
                except BeingConverted:
                    time.sleep(0.01)

    def convert(engine: str, _going: Going) -> None:
        with contextlib.suppress(BeingConverted), neo4j.open(crawl="test", auto_tend=False) as own:
            own.convert_engine(engine)

    with crowd(*(partial(report, seed) for seed in range(2))):
        for engine in ("classic", "exact", "classic"):
            with crowd(*[partial(convert, engine)] * 2):
                pass
    exact.session.refresh()
    assert exact.settings.engine == "classic"
    sound(exact)


PAID = {"payout": "trusted"}, {"payout": "target", "target_relevance": 0.4}


def accounts(brain: Brain) -> dict[str, Any]:
    return {page.url: (page.payout, page.hub_score, page.authority_score) for page in brain.dump_pages()}


@pytest.mark.parametrize(
    ("policy", "way"),
    [(PAID[0], "all the way"), (PAID[0], "turned back"), (PAID[1], "all the way"), (PAID[1], "turned back twice")],
    ids=str,
)
def test_the_policy_of_payouts_comes_back_with_the_exact_engine(
    exact: Brain, monkeypatch: pytest.MonkeyPatch, policy: dict[str, Any], way: str
) -> None:
    """Accounts begin with what the policy pays, scaled for the pages that have come, and settle where they would."""
    exact.set_page(url(1), payout=3.0)
    exact.set_page(url(50), relevance=0.2)
    exact.change(**policy)
    monkeypatch.setattr("graphbrain.brain.session.PASS_BATCH", 2)
    if way == "all the way":
        exact.convert_engine("classic")
        assert (exact.settings.payout, exact.kept_payout) == ("uniform", policy["payout"])
        sound(exact)
        update(exact)
    else:
        begin(exact, "classic")
        if way == "turned back twice":
            begin(exact, "exact")
            begin(exact, "classic")
    if exact.settings.engine == "classic":
        exact.link(url(3), url(60))
    exact.convert_engine("exact")
    assert (exact.settings.payout, exact.kept_payout) == (policy["payout"], None)
    sound(exact)
    begun = accounts(exact)
    assert all(hub == authority == (1.0 if paid is None else paid) for paid, hub, authority in begun.values())
    exact.change(payout="fetched", eps=1e-6)
    exact.change(**policy)
    assert {page: paid for page, (paid, *_) in accounts(exact).items()} == {
        page: paid for page, (paid, *_) in begun.items()
    }
    exact.tend(None)
    sound(exact)


def test_a_policy_that_was_given_up_meanwhile_does_not_come_back(exact: Brain) -> None:
    exact.change(payout="trusted")
    exact.convert_engine("classic")
    exact.change(payout="uniform")
    exact.convert_engine("exact")
    assert (exact.settings.payout, exact.page(url(50)).payout) == ("uniform", None)
    sound(exact)


def stop(*_: int) -> None:
    raise KeyboardInterrupt


def begin(brain: Brain, engine: str) -> None:
    """A conversion, left after its first batch."""
    with pytest.raises(KeyboardInterrupt):
        brain.convert_engine(engine, stop)


@pytest.mark.parametrize("late", [False, True])
def test_whoever_believes_in_the_engine_before_changes_nothing_that_does_not_go_with_this_one(
    exact: Brain, neo4j: Neo4j, clock: HandClock, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Converted since it was opened, and between its last look and its transaction."""
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        if late:
            just_before(monkeypatch, other, "brain/change", lambda: exact.convert_engine("classic"))
        else:
            exact.convert_engine("classic")
        with pytest.raises(SettingsError, match="uniform under the classic engine"):
            other.change(payout="trusted")
        assert other.report([Fetched(url(70))])[0].accepted
        other.tend(0.1)
        exact.convert_engine("exact")
        other.change(payout="trusted")
    sound(exact)


def test_whoever_believes_in_the_engine_before_can_clear_a_brain(exact: Brain, neo4j: Neo4j, clock: HandClock) -> None:
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        exact.convert_engine("classic")
        other.clear()
    exact.seed([url(1)])
    update(exact)
    assert total(exact) == 4.0
    sound(exact)


def test_a_brain_cleared_while_it_is_converted_can_be_converted_to_the_end(
    exact: Brain, neo4j: Neo4j, clock: HandClock
) -> None:
    begin(exact, "classic")
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        other.clear()
        other.convert_engine("classic")
        other.seed([url(1)])
        assert total(other) == 4.0


@pytest.mark.parametrize("made_with", ["exact", "classic"])
def test_a_window_in_seconds_begins_with_the_accounts(make_brain: MakeBrain, clock: HandClock, made_with: str) -> None:
    """Nobody has waited since 1970: what is spent first counts whole, also what the virtual page pays."""
    brain = make_brain(engine=made_with, window_unit="seconds", window=100.0)
    teach(brain, TOY)
    brain.convert_engine("classic")
    step(brain, "hub", 3)
    assert brain.page(url(3)).hub_history == pytest.approx(1.0)
    assert brain.graph.read(classic_ledger.read_virtual, "a test").authority_history == pytest.approx(1.25)
    clock.pass_(50.0)
    cash = brain.page(url(3)).authority_cash
    step(brain, "authority", 3)
    assert brain.page(url(3)).authority_history == pytest.approx(cash)
    sound(brain)


@pytest.mark.parametrize("change", [{"intra_host_weight": 0.5}, {"payout": "trusted"}, {"eps": 0.1}], ids=str)
def test_nothing_is_changed_once_a_conversion_has_begun(
    exact: Brain, neo4j: Neo4j, clock: HandClock, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
        before = other.settings
        just_before(monkeypatch, other, "brain/change", lambda: begin(exact, "classic"))
        with pytest.raises(BeingConverted):
            other.change(**change)
        assert other.convert_engine("classic")
        assert other.settings == replace(before, engine="classic")
        assert other.tend(None).settled
    sound(exact)


def test_an_unknown_engine_is_refused(exact: Brain) -> None:
    with pytest.raises(SettingsError, match="exact or classic"):
        exact.convert_engine("steam")


def test_opening_with_another_engine_says_what_to_do(exact: Brain, neo4j: Neo4j) -> None:  # noqa: ARG001
    with pytest.raises(SettingsError, match="graphbrain engine classic"):
        neo4j.open(crawl="test", engine="classic")
