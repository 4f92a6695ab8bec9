"""Payouts by class, and links that weigh less inside a host: changed while others work, killed half way, and solved."""

from __future__ import annotations

import dataclasses
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphbrain import Brain, Fetched, Link
from graphbrain.base.errors import GraphUnavailable, SettingsError
from graphbrain.base.settings import PAYOUTS
from graphbrain.scores.accounts import payout_policy
from tests.integration.conftest import HandClock, LateReport, churning, forget, rounds, sound, unlink
from tests.integration.scores.accounts.test_churn import Churn, assert_sound, url
from tests.plugin import PATIENCE, Neo4j
from tests.reference.exported import Exported, export
from tests.reference.linear import payouts, solve
from tests.verbs import neighbours

MakeBrain = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]

A, B, C, D = "http://a.org/", "http://b.org/", "http://c.org/", "http://d.org/"
SETTLED = 1e-6
TARGETS = "host-1.example host-3.example"


def random_web(brain: Brain, seed: int, clock: HandClock, pages: int = 40) -> None:
    """Pages of four hosts, most of them fetched, some with a relevance, a guess, a payout of their own; three seeds."""
    dice = random.Random(seed)
    brain.seed([url(0), url(1), url(pages + 1)])
    visits = []
    for page in dice.sample(range(pages), pages * 7 // 10):
        links = [Link(url(dice.randrange(pages)), dice.choice([None, dice.random()])) for _ in range(6)]
        visits.append(Fetched(url(page), links, relevance=dice.choice([None, None, dice.random()])))
    brain.report(visits[:20])
    brain.report(visits[20:])
    for page in dice.sample(range(pages), 4):
        brain.link(url(page), url(pages + 2))
        brain.set_page(url(page), payout=dice.choice([0.0, 0.5, 1.0, 4.0]))
    clock.pass_(1.0)
    brain.tend(None)


def due(found: Exported, policy: str, target: float, scale: float | None = None) -> Any:
    """The payouts that the policy asks for, worked out from what stands on the pages; a page's own goes over it."""
    fetched = np.array([page.get("first_fetched") is not None for page in found.pages])
    seeds = np.array([page.get("is_seed", False) for page in found.pages])
    on_target = np.array([page["host"] in TARGETS.split() for page in found.pages])
    by_policy = payouts(policy, found.web.relevance, fetched, seeds, target, scale, on_target)
    return np.array([page.get("own_payout", one) for page, one in zip(found.pages, by_policy, strict=True)])


def assert_solved(brain: Brain, found: Exported, payout: Any) -> None:
    """The scores solve the system with these payouts; a page that nobody pays may have none."""
    web = dataclasses.replace(found.web, payout=payout)
    for scores, wanted in zip((found.hub, found.authority), solve(web, brain.settings.alpha), strict=True):
        assert np.max(np.abs(scores - wanted) / np.maximum(1.0, np.abs(wanted))) < 1e-4


def noted(ask: Ask) -> dict[str, Any]:
    """What stands on the brain."""
    brain: Any = ask("MATCH (b:Brain) RETURN properties(b)")[0][0]
    return dict(brain)


# ---------------------------------------------------------------- payouts


@pytest.mark.parametrize("policy", PAYOUTS)
def test_scores_solve_the_system_of_the_policy(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock, policy: str
) -> None:
    """Set on a web that has settled under another policy; the mean share is 1."""
    brain = make_brain(payout="fetched" if policy == "uniform" else "uniform", intra_host_weight=0.25)
    random_web(brain, 3, clock)
    brain.change(payout=policy, target_hosts=TARGETS, eps=SETTLED)
    sound(brain)
    assert brain.tend(None).settled
    sound(brain)
    found = export(neo4j, 0.25)
    wanted = due(found, policy, brain.settings.target_relevance)
    np.testing.assert_allclose(found.web.payout, wanted, rtol=1e-12)
    assert np.ptp(wanted) > 0.4
    assert_solved(brain, found, wanted)


def test_alpha_is_changed_on_a_web_that_has_settled(make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock) -> None:
    """No account changes with it, but what all have still to pay."""
    brain = make_brain(alpha=0.4, eps=SETTLED)
    random_web(brain, 3, clock)
    assert brain.tend(None).settled
    before = export(neo4j)
    brain.change(alpha=0.05)
    sound(brain)
    np.testing.assert_array_equal(export(neo4j).hub, before.hub)
    assert brain.tend(None).settled
    found = export(neo4j)
    assert np.max(np.abs(found.hub - before.hub)) > 0.1
    assert_solved(brain, found, found.web.payout)


@pytest.mark.parametrize("policy", PAYOUTS)
def test_scores_solve_the_system_when_the_policy_was_there_first(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock, ask: Ask, policy: str
) -> None:
    """Classes change with every visit, and the scale with the growth of the crawl."""
    brain = make_brain(payout=policy, eps=SETTLED, target_relevance=0.6, target_hosts=TARGETS)
    random_web(brain, 4, clock)
    assert brain.tend(None).settled
    found = export(neo4j)
    scale = noted(ask).get("payout_scale", 1.0)
    wanted = due(found, policy, 0.6, scale)
    np.testing.assert_allclose(found.web.payout, wanted, rtol=1e-12)
    assert (scale != 1.0) == (policy != "uniform")
    assert_solved(brain, found, wanted)


@pytest.mark.usefixtures("unspent")
def test_a_first_visit_moves_the_payout(make_brain: MakeBrain, clock: HandClock) -> None:
    for policy, before, after in (("unfetched", 1.0, 0.0), ("fetched", 0.0, 1.0)):
        brain = make_brain(payout=policy)
        brain.seed([A])
        assert (brain.page(A).hub_score, brain.page(A).authority_score) == (before, before)
        (claim,) = brain.next_urls(1)
        brain.report([Fetched(A, [B], claim)])
        assert (brain.page(A).hub_score, brain.page(A).authority_score) == (after, after)
        assert brain.page(B).authority_score == before
        sound(brain)
        clock.pass_(1.0)
        brain.report([Fetched(A, [B])])
        assert brain.page(A).hub_score == after


@pytest.mark.usefixtures("unspent")
def test_relevance_moves_the_payout(make_brain: MakeBrain) -> None:
    brain = make_brain(payout="target", target_relevance=0.6)
    brain.report([Fetched(A, [Link(B, 0.8), Link(C, 0.1)], relevance=0.6)])
    assert [brain.page(page).hub_score for page in (A, B, C)] == [1.0, 1.0, 0.0]
    brain.set_page(C, relevance=0.7)
    brain.set_page(A, relevance=None)
    assert [brain.page(page).hub_score for page in (A, B, C)] == [0.0, 1.0, 1.0]
    sound(brain)
    brain.change(target_relevance=0.75)
    assert [brain.page(page).payout for page in (A, B, C)] == [0.0, 3.0, 0.0]
    brain.change(payout="relevance")
    told = np.array([brain.page(page).payout or 1.0 for page in (A, B, C)])
    np.testing.assert_allclose(told, 3 * np.array([0.5, 0.8, 0.7]) / 2.0)


@pytest.mark.usefixtures("unspent")
def test_pages_of_target_hosts_are_paid(make_brain: MakeBrain) -> None:
    """With those of the domains below them, by any spelling, at any port or at one; no other host."""
    pages = [f"http://{host}/" for host in ("b.org", "www.b.org", "notb.org", "b.org.uk", "c.org", "c.org:8080")]
    brain = make_brain(payout="hosts", target_hosts="B.org, c.org:8080")
    brain.report([Fetched(A, pages[:3])])
    brain.report([Fetched(D, pages)])

    def paid() -> list[float | None]:
        return [brain.page(page).payout for page in pages]

    brain.tend(0)
    mean = 8 / 3
    assert paid() == pytest.approx([mean, mean, 0.0, 0.0, 0.0, mean])
    sound(brain)
    brain.change(target_hosts="*.c.org")
    assert paid() == pytest.approx([0.0, 0.0, 0.0, 0.0, 4.0, 4.0])
    sound(brain)
    with pytest.raises(SettingsError, match="target_hosts must be hosts while payout is hosts"):
        brain.change(target_hosts="")
    with pytest.raises(SettingsError, match="target_hosts must be hosts"):
        brain.change(target_hosts="b.*.org")
    brain.change(payout="uniform", target_hosts="")
    assert paid() == [None] * 6


@pytest.mark.usefixtures("unspent")
def test_a_page_that_becomes_a_seed_is_trusted(make_brain: MakeBrain) -> None:
    brain = make_brain(payout="trusted")
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    assert [brain.page(page).authority_score for page in (A, B, C)] == [1.0, 0.0, 0.0]
    brain.seed([B, D])
    assert [brain.page(page).authority_score for page in (A, B, C, D)] == [1.0, 1.0, 0.0, 1.0]
    brain.tend(0)
    assert [brain.page(page).payout for page in (A, B, C, D)] == pytest.approx([4 / 3, 4 / 3, 0.0, 4 / 3])


@pytest.mark.usefixtures("unspent")
@pytest.mark.parametrize("policy", ["trusted", "unfetched"])
def test_a_pages_own_payout_wins(make_brain: MakeBrain, policy: str) -> None:
    brain = make_brain(payout=policy)
    brain.seed([A])
    brain.report([Fetched(A, [B, C])])
    brain.set_page(A, payout=5.0)
    brain.set_page(B, payout=1.0)
    assert (brain.page(A).hub_score, brain.page(B).hub_score) == (5.0, 1.0)
    brain.change(payout="fetched")
    assert (brain.page(A).hub_score, brain.page(B).hub_score) == (5.0, 1.0)
    brain.set_page(A, payout=None)
    assert brain.page(A).payout == 3.0
    brain.change(payout="uniform")
    assert [brain.page(page).payout for page in (A, B, C)] == [None, None, None]
    assert brain.page(A).hub_score == 1.0


def test_payouts_are_scaled_anew_when_the_crawl_has_grown_by_a_quarter(make_brain: MakeBrain, ask: Ask) -> None:
    brain = make_brain(payout="trusted")
    brain.seed([A, B])
    brain.tend(0)
    assert noted(ask)["payout_pages"] == 2
    brain.report([Fetched(A, [f"http://x.org/{n}" for n in range(8)])])
    brain.tend(0)
    assert (noted(ask)["payout_scale"], brain.page(A).payout) == (5.0, 5.0)
    brain.report([Fetched(B, [f"http://y.org/{n}" for n in range(2)])])
    brain.tend(0)
    assert (noted(ask)["payout_pages"], brain.page(B).payout) == (10, 5.0)
    brain.report([Fetched(D)])
    brain.tend(0)
    assert (noted(ask)["payout_pages"], brain.page(B).payout) == (13, 6.5)


@pytest.mark.parametrize(("seeds", "more", "scale"), [(0, 3, 10 / 3), (1, 4, 2.0), (8, 1, 10 / 8)])
def test_payouts_are_scaled_anew_when_others_are_paid(
    make_brain: MakeBrain, clock: HandClock, seeds: int, more: int, scale: float
) -> None:
    """Of ten pages some are trusted; more come to be, and if they are many the mean is 1 again after ten minutes."""
    pages = [f"http://x.org/{n}" for n in range(10)]
    brain = make_brain()
    brain.seed(pages[:seeds])
    brain.report([Fetched(pages[0], pages)])
    brain.change(payout="trusted")
    brain.tend(0)

    def paid() -> list[float]:
        return [1.0 if (payout := brain.page(page).payout) is None else payout for page in pages]

    brain.seed(pages[: seeds + more])
    brain.tend(0)
    before, unpaid = 10 / seeds if seeds else 1.0, [0.0] * (10 - seeds - more)
    assert paid() == [before] * (seeds + more) + unpaid
    clock.pass_(601.0)
    brain.tend(0)
    assert paid() == [scale] * (seeds + more) + unpaid
    sound(brain)


def test_a_cleared_brain_forgets_the_scale(make_brain: MakeBrain) -> None:
    brain = make_brain(payout="trusted")
    brain.seed([A])
    brain.report([Fetched(A, [f"http://x.org/{n}" for n in range(8)])])
    brain.tend(0)
    assert brain.page(A).payout == 9.0
    brain.clear()
    brain.seed([A])
    brain.link(A, B)
    brain.tend(0)
    assert brain.page(A).payout == 2.0


def test_nobody_in_the_class_is_no_error(make_brain: MakeBrain) -> None:
    brain = make_brain(payout="trusted")
    brain.report([Fetched(A, [B])])
    assert brain.tend(None).settled
    assert (brain.page(A).hub_score, brain.stats()["error_bound"]) == (0.0, None)
    sound(brain)


def test_the_usual_crawl_pays_nothing_for_it(brain: Brain) -> None:
    seen = set()
    with brain.graph.trace(lambda name, *_: seen.add(name)):
        brain.seed([A])
        brain.report([Fetched(A, [B, C])])
        brain.tend(None)
        brain.change(eps=0.01)
    assert "report" not in seen and "accounts/lock" in seen
    assert not seen & {"accounts/payouts", "accounts/payout", "pages/shares", "accounts/hosts"}


@pytest.mark.parametrize(
    "wrong", [{"payout": "nobody"}, {"target_relevance": 1.5}, {"intra_host_weight": 0.3}, {"intra_host_weight": -0.25}]
)
def test_an_impossible_bend_is_refused_and_changes_nothing(brain: Brain, ask: Ask, wrong: dict[str, Any]) -> None:
    before = noted(ask)
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        brain.change(**wrong)
    assert noted(ask) == before


# ---------------------------------------------------------------- the weight of links


@pytest.mark.parametrize("weight", [0.0, 1 / 1024, 0.5, 1.0])
def test_links_inside_a_host_weigh_what_they_are_told(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock, ask: Ask, weight: float
) -> None:
    brain = make_brain(intra_host_weight=0.125)
    random_web(brain, 5, clock)
    brain.change(intra_host_weight=weight)
    sound(brain)
    found = export(neo4j, weight)
    np.testing.assert_array_equal(found.column("out_weight"), found.web.out_weight)
    np.testing.assert_array_equal(found.column("in_weight"), found.web.in_weight)
    assert not {"reweighing", "weight_before"} & set(noted(ask))
    brain.change(eps=SETTLED)
    assert brain.tend(None).settled
    found = export(neo4j, weight)
    assert_solved(brain, found, found.web.payout)


SITE = [f"http://a.org/{n}" for n in range(6)]


def test_links_without_weight_are_links_all_the_same(make_brain: MakeBrain, clock: HandClock) -> None:
    """A page all of whose links stay inside its host gives nothing on, and gets nothing: it keeps what it is paid. But
    its links are there, they are replaced at its next visit, and who is linked to is no orphan."""
    brain = make_brain(intra_host_weight=0.0, orphans="park")
    brain.report([Fetched(SITE[0], [SITE[1], SITE[2]])])
    brain.report([Fetched(SITE[3], [SITE[2], B])])
    brain.tend(None)
    assert [(brain.page(one).out_links, brain.page(one).out_weight) for one in SITE[:4:3]] == [(2, 0.0), (2, 1.0)]
    assert [brain.page(one).authority_score for one in SITE[:4]] == [1.0] * 4
    assert brain.page(B).authority_score == pytest.approx(1.0 + 0.5 * brain.page(SITE[3]).hub_score)
    clock.pass_(1.0)
    brain.report([Fetched(SITE[0], [SITE[4]]), Fetched(SITE[3], [B])])
    brain.tend(None)
    assert neighbours(brain, SITE[0])[0] == [SITE[4]]
    assert [brain.page(one).state for one in SITE[1:5]] == ["parked", "parked", "known", "frontier"]
    clock.pass_(1.0)
    brain.report([Fetched(SITE[4], [SITE[2]])])
    brain.tend(None)
    assert [brain.page(one).state for one in SITE[1:3]] == ["parked", "frontier"]
    sound(brain)


def test_depths_come_through_links_without_weight(make_brain: MakeBrain, clock: HandClock) -> None:
    brain = make_brain(intra_host_weight=0.0)
    brain.seed([A])
    for target in SITE[:3]:
        clock.pass_(10.0)
        (claim,) = brain.next_urls(1)
        brain.report([Fetched(claim.url, [target], claim)])
    assert [brain.page(one).depth for one in SITE[:3]] == [1, 2, 3]
    brain.seed([SITE[0]])
    brain.tend(0)
    assert [brain.page(one).depth for one in SITE[:3]] == [0, 1, 2]


def test_nobody_knows_the_links_of_a_page_by_its_weight(make_brain: MakeBrain, clock: HandClock, ask: Ask) -> None:
    """Pages that were imported do not say which links they have; without weight they do not say that they have none."""
    brain = make_brain(intra_host_weight=0.0)
    random_web(brain, 8, clock)
    for weight in (1.0, 0.0):
        ask("MATCH (p:Page) REMOVE p.links_sum")
        brain.change(intra_host_weight=weight)
        sound(brain)
        clock.pass_(1.0)
        brain.report([Fetched(url(n), [url(n + 4), url(n + 1)]) for n in range(10)])
        sound(brain)
        assert brain.settle().left == 0
        sound(brain)


def test_both_bends_in_one_change(make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock) -> None:
    brain = make_brain()
    random_web(brain, 6, clock)
    brain.change(intra_host_weight=0.5, payout="relevance", eps=SETTLED)
    assert brain.tend(None).settled
    found = export(neo4j, 0.5)
    assert_solved(brain, found, due(found, "relevance", 0.7))


# ---------------------------------------------------------------- half way, and beside others


class Enough(Exception):
    """Whoever changed the settings has seen enough of it."""


def give_up(done: int, total: int) -> None:
    """Leave after the first batch."""
    assert 0 < done < total
    raise Enough


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payout_policy, "BATCH", 7)


@pytest.mark.usefixtures("small_batches")
def test_payouts_left_half_way_are_sound_and_tend_goes_on(
    brain: Brain, second: Brain, neo4j: Neo4j, clock: HandClock, ask: Ask
) -> None:
    random_web(brain, 7, clock)
    with pytest.raises(Enough):
        brain.change(give_up, payout="fetched")
    assert noted(ask)["repaying"] > ""
    sound(second)
    second.report([Fetched(url(39), [url(0), url(77)])])
    second.tend(0.1)
    sound(second)
    second.change(payout="trusted", eps=SETTLED)  # another begins before the first has ended
    assert second.tend(None).settled
    sound(second)
    found = export(neo4j)
    wanted = due(found, "trusted", 0.7)
    np.testing.assert_allclose(found.web.payout, wanted, rtol=1e-12)
    assert_solved(second, found, wanted)


@pytest.mark.long
@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("verb", ["report", "tend", "audit", "link", "change", "open"])
def test_weights_left_half_way_are_finished_by_whoever_comes(
    brain: Brain, second: Brain, neo4j: Neo4j, clock: HandClock, ask: Ask, verb: str
) -> None:
    random_web(brain, 8, clock)
    with pytest.raises(Enough):
        brain.change(give_up, intra_host_weight=0.25)
    assert noted(ask)["reweighing"] > ""
    clock.pass_(1.0)
    if verb == "report":
        assert second.report([Fetched(url(3), [url(7), url(4)])])[0].accepted
    elif verb == "tend":
        second.tend(0)
    elif verb == "audit":
        sound(second)
    elif verb == "link":
        second.link(url(3), url(7))
    elif verb == "change":
        second.change(intra_host_weight=0.5)
    else:
        with neo4j.open(crawl="test", auto_tend=False, clock=clock) as other:
            other.report([Fetched(url(3), [url(7)])])
    assert "reweighing" not in noted(ask)
    sound(second)
    found = export(neo4j, second.settings.intra_host_weight)
    np.testing.assert_array_equal(found.column("out_weight"), found.web.out_weight)
    assert second.settings.intra_host_weight == (0.5 if verb == "change" else 0.25)


PROGRAM = """
import sys, time
from graphbrain import Brain
from graphbrain.scores.accounts import payout_policy
from tests.verbs import neighbours
payout_policy.BATCH = 4
def told(done, total):
    print(done, flush=True)
    time.sleep(0.05)
uri, user, password = sys.stdin.read().split("\\n")[:3]
name, value = sys.argv[1:]
Brain.open(uri=uri, user=user, password=password, crawl="test", auto_tend=False).change(told, **{name: value})
"""


@pytest.mark.long
@pytest.mark.parametrize(("name", "value"), [("intra_host_weight", "0.5"), ("payout", "unfetched")])
def test_a_killed_changer_leaves_nothing_closed(
    brain: Brain, second: Brain, neo4j: Neo4j, clock: HandClock, ask: Ask, name: str, value: str
) -> None:
    """kill -9, in the middle of a pass, three times."""
    random_web(brain, 9, clock)
    for after in (1, 2, 3):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, name, value], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{neo4j.uri}\n{neo4j.user}\n{neo4j.password}\n")
        process.stdin.close()
        for _ in range(after):
            assert process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait(PATIENCE) == -signal.SIGKILL
        process.stdout.close()
        noted_now = noted(ask)
        assert (noted_now.get("reweighing") or noted_now.get("repaying")) is not None
        value = {"0.5": "0.25", "0.25": "1.0", "unfetched": "fetched", "fetched": "relevance"}.get(value, value)
    clock.pass_(1.0)
    assert second.report([Fetched(url(1), [url(5), url(2)])])[0].accepted
    assert second.tend(None).settled
    assert not {"reweighing", "repaying"} & set(noted(ask))
    sound(second)


CHANGES: list[dict[str, Any]] = [{"intra_host_weight": 0.5}, {"payout": "fetched"}, {"deny_hosts": "new.org"}]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_transaction_that_began_before_is_waited_for(
    brain: Brain, late_report: LateReport, change: dict[str, Any]
) -> None:
    """It creates pages, and links between them, that no pass can see before it commits."""
    go_on = late_report()
    changer = threading.Thread(target=lambda: brain.change(**change))
    changer.start()
    time.sleep(0.5)
    assert changer.is_alive()
    go_on()
    changer.join(PATIENCE)
    sound(brain)
    weight = change.get("intra_host_weight", 1.0)
    assert brain.page("http://new.org/1").out_weight == 2 * weight
    assert brain.page("http://new.org/2").state == ("outside" if "deny_hosts" in change else "frontier")


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_whoever_is_at_a_pass_waits_again_when_settings_change_meanwhile(
    brain: Brain, neo4j: Neo4j, late_report: LateReport, change: dict[str, Any]
) -> None:
    """The first changer's pass becomes that of the second change, before which a transaction began."""
    brain.seed([A])
    begun, go_on = threading.Event(), threading.Event()
    others = {"intra_host_weight": 0.25, "payout": "unfetched", "deny_hosts": "old.org"}

    def stop(*_: int) -> None:
        begun.set()
        go_on.wait(PATIENCE)

    def change_first() -> None:
        with neo4j.open(crawl="test", auto_tend=False) as first:
            first.change(stop, **{name: others[name] for name in change})

    changers = [threading.Thread(target=change_first), threading.Thread(target=lambda: brain.change(**change))]
    changers[0].start()
    assert begun.wait(PATIENCE)
    report_on = late_report()
    changers[1].start()
    time.sleep(0.5)
    go_on.set()
    time.sleep(0.5)
    assert [changer.is_alive() for changer in changers] == [True, True]
    report_on()
    for changer in changers:
        changer.join(PATIENCE)
    sound(brain)
    assert brain.page("http://new.org/1").out_weight == 2 * change.get("intra_host_weight", 1.0)
    assert brain.page("http://new.org/2").state == ("outside" if "deny_hosts" in change else "frontier")


def test_a_transaction_that_does_not_end_is_told(brain: Brain, neo4j: Neo4j, ask: Ask) -> None:
    brain.seed([A])
    with neo4j.open(crawl="test", auto_tend=False, limit_seconds=1.0) as hasty:

        def stuck(tx: Any) -> None:
            tx.do("brain/read")
            with pytest.raises(GraphUnavailable, match="does not end; the change is noted") as told:
                hasty.change(intra_host_weight=0.5)
            assert told.value.try_again
            with pytest.raises(GraphUnavailable, match="does not end; no budget is changed yet: try again"):
                hasty.change(pages_per_host=3)

        brain.graph.write(stuck, "a test that holds on")
    assert noted(ask)["reweighing"] == ""
    assert noted(ask)["pages_per_host"] == 0
    brain.change(pages_per_host=3)
    assert noted(ask)["pages_per_host"] == 3
    brain.tend(0)
    assert "reweighing" not in noted(ask)


def test_everything_changes_while_everybody_works(make_brain: MakeBrain, neo4j: Neo4j) -> None:
    """Three threads report, link and push on a dozen pages while weights and policies change all the time."""
    brain = make_brain()

    with churning(
        neo4j,
        url,
        3,
        forget,
        unlink,
        lambda own, a, dice: own.report([Fetched(a(), [a(), a(), a()], relevance=dice.random())]),
        lambda own, a, _: own.seed([a()]),
        lambda own, _a, _: own.tend(0.01, batch=6),
    ) as going:
        dice = random.Random(20)
        for _ in rounds(going, 4.0):
            weight, policy = dice.choice([0.0, 0.25, 1.0]), dice.choice(PAYOUTS)
            brain.change(intra_host_weight=weight, payout=policy, target_hosts=dice.choice([TARGETS, "a.example"]))
            audit = brain.audit(None)
            assert not {"accounts", "weights", "payouts"} & set(audit.figures["wrong"]), audit.findings
    brain.change(eps=SETTLED)
    assert brain.tend(None).settled
    assert_sound(brain, "all are done")
    found = export(neo4j, brain.settings.intra_host_weight)
    assert_solved(brain, found, found.web.payout)


class BendingChurn(Churn):
    """Churn in which the policies, the weight and the seeds change too."""

    def verbs(self) -> list[tuple[Callable[[], str], int]]:
        return [*super().verbs(), (self.policy, 3), (self.weigh, 2), (self.seed, 2)]

    def policy(self) -> str:
        policy, target = self.dice.choice(PAYOUTS), self.dice.choice([0.3, 0.5, 0.9])
        self.brain.change(payout=policy, target_relevance=target, target_hosts=TARGETS)
        return f"policy {policy} {target}"

    def weigh(self) -> str:
        weight = self.dice.choice([0.0, 0.125, 1.0])
        self.brain.change(intra_host_weight=weight)
        return f"weigh {weight}"

    def seed(self) -> str:
        page = self.any()
        self.brain.seed([page])
        self.model.know(page)
        return f"seed {page}"


@pytest.mark.long
@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.nightly)])
def test_accounts_survive_any_change_of_policy(
    make_brain: MakeBrain, neo4j: Neo4j, clock: HandClock, ask: Ask, seed: int
) -> None:
    brain = make_brain()
    churn = BendingChurn(brain, seed)
    for number in range(50):
        clock.pass_(1.0)
        what = churn.step()
        assert_sound(brain, f"step {number}: {what}")
    brain.change(eps=SETTLED)
    assert brain.tend(None).settled
    found = export(neo4j, brain.settings.intra_host_weight)
    assert found.links == {(a, b) for a, targets in churn.model.links.items() for b in targets}
    assert [page.get("own_payout") for page in found.pages] == [churn.model.payout.get(one) for one in found.urls]
    wanted = due(found, brain.settings.payout, brain.settings.target_relevance, noted(ask)["payout_scale"])
    np.testing.assert_allclose(found.web.payout, wanted, rtol=1e-12)
    assert_solved(brain, found, wanted)
