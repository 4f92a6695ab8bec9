"""A meter on a brain: its figures are the brain's own, a scrape asks the database nothing and tells of no page."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from graphbrain import Brain, Failed, Fetched, Resource
from graphbrain.analyst.inspect.figures import COUNTS
from graphbrain.base.errors import BadInput
from graphbrain.base.model import KINDS, OUTCOMES
from graphbrain.brain.observe import UNOBSERVED, verbs
from graphbrain.graph.connection import Graph
from graphbrain.service.metrics.meter import Meter
from graphbrain.service.metrics.sampling import Sampler
from tests.integration.conftest import HandClock
from tests.integration.examples import small_web

Make = Callable[..., Brain]
Ask = Callable[..., list[list[object]]]


def read(meter: Meter) -> dict[tuple[str, ...], float]:
    """(name, values of its labels) → value."""
    text, content_type = meter.exposition()
    assert content_type.startswith("text/plain")
    return {
        (sample.name, *dict(sorted(sample.labels.items())).values()): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def test_all_verbs_are_known() -> None:
    """One that is new must be said to be timed, streamed, or neither."""
    public = {name for name, _ in inspect.getmembers(Brain, callable) if not name.startswith("_")}
    assert public == {*verbs()[False], *verbs()[True], *UNOBSERVED}


def test_the_figures_are_those_of_the_brain(brain: Brain, clock: HandClock) -> None:
    meter = Meter(brain, sampler=(sampler := Sampler(brain)))
    small_web(brain, clock.pass_)
    clock.pass_(10.0)
    brain.block("hub.org", 100.0)
    brain.session.counters.write()
    assert sampler.look()
    sampler.scan()
    stats, found = brain.stats(), read(meter)
    assert found["graphbrain_known_pages",] == stats["pages"] + stats["outside_pages"]
    for ours, theirs in (
        ("scope_pages", "pages"), ("outside_pages", "outside_pages"), ("links", "links"), ("hosts", "hosts"),
        ("leases", "leased"),
    ):  # fmt: skip
        assert found[f"graphbrain_{ours}",] == stats[theirs]
    assert found["graphbrain_waiting_pages",] == stats["waiting"]
    assert found["graphbrain_retry_pages",] == stats["retries"] == 1
    assert {state: found["graphbrain_pages", state] for state in stats["states"]} == stats["states"]
    assert found["graphbrain_error_bound_ratio",] == pytest.approx(stats["error_bound"])
    for ours, theirs in (("visits", "pages"), ("reported_links", "links"), ("claims", "claims"), ("pushes", "pushes")):
        assert found[f"graphbrain_{ours}_total",] == stats["done"][theirs]
    assert found["graphbrain_hosts_blocked",] == 1
    assert found["graphbrain_copy_age_seconds",] == pytest.approx(11.0)
    assert 0.99 < found["graphbrain_fresh_ratio",] < 1.0
    assert found["graphbrain_cash", "hub"] + found["graphbrain_cash", "authority"] > 0


def test_lapses_and_reports_by_outcome_are_counted_for_all(brain: Brain, clock: HandClock) -> None:
    sampler = Sampler(brain)
    brain.seed([f"http://a.org/{n}" for n in range(6)])
    one, two, three, four, *left = brain.next_urls(6)
    answers = brain.report(
        [
            Fetched(one.url, ["http://b.org/"], one, body=b"1"),
            Fetched(two.url, (), two, redirected_to="http://c.org/"),
            Failed(three.url, three, status=500),
            Failed(four.url, four, status=404),
            Fetched(four.url, (), four),
        ]
    )
    clock.pass_(10_000.0)
    brain.tend(None)
    brain.session.counters.write()
    assert sampler.look()
    counted = sampler.latest.counted
    assert counted is not None
    told = [answer.outcome or "refused" for answer in answers]
    assert "refused" in told
    assert counted.reports == tuple(told.count(outcome) for outcome in OUTCOMES)
    assert counted.counts[COUNTS.index("lapsed")] == len(left)
    clock.pass_(5 * 3_600.0)  # counters of earlier hours are not lost when they are not read any more
    assert sampler.look()
    assert sampler.look()
    assert sampler.latest.counted == counted


def all_kinds(brain: Brain, clock: HandClock) -> None:
    """Claim and report each kind: a robots.txt twice, one report of it twice, one of its claims given back; a sitemap's
    claim lapses; a link is broken."""
    brain.seed(["https://a.org/"])
    (robots,) = brain.next_urls(9, kinds=KINDS)
    brain.give_back([robots])
    clock.pass_(1.0)
    (robots,) = brain.next_urls(9, kinds=KINDS)
    answered = Resource(robots.url, robots, 200, b"Sitemap: /s.xml")
    assert brain.report([answered]) == brain.report([answered])
    clock.pass_(1.0)
    (page,) = brain.next_urls(9)  # and not the sitemap, which has been found
    brain.report([Fetched(page.url, ["https://b.org/x"], page, body=b"1")])
    brain.check_links()
    claims = {claim.kind: claim for claim in brain.next_urls(9, kinds=KINDS)}
    brain.report([Resource(claims["link"].url, claims["link"], 200)])
    if "sitemap" not in claims:
        clock.pass_(1.0)
        claims |= {claim.kind: claim for claim in brain.next_urls(9, kinds=KINDS)}
    clock.pass_(brain.settings.lease_seconds + 1.0)
    brain.tend(None)
    late = brain.report([Resource(claims["sitemap"].url, claims["sitemap"], 200, b"")])
    assert not late[0].accepted
    brain.session.counters.write()


def test_each_kind_has_counts_of_its_own_and_pages_keep_theirs(make_brain: Make, clock: HandClock) -> None:
    brain = make_brain(order="breadth_first", delay_seconds=1.0, revisit_seconds=0, allow_hosts="a.org")
    sampler = Sampler(brain)
    meter = Meter(brain, sampler=sampler)
    all_kinds(brain, clock)
    assert sampler.look()
    found = read(meter)
    claims = {kind: found["graphbrain_claims_by_kind_total", kind] for kind in KINDS}
    assert claims == {"page": 1, "robots": 2, "sitemap": 1, "link": 1}
    assert found["graphbrain_claims_total",] == 1
    assert {kind: found["graphbrain_leases_lapsed_by_kind_total", kind] for kind in KINDS} == {
        **dict.fromkeys(KINDS, 0),
        "sitemap": 1,
    }
    told = {key[1:]: value for key, value in found.items() if key[0] == "graphbrain_reports_by_kind_total" and value}
    assert told == {("page", "new"): 1, ("robots", "new"): 1, ("sitemap", "refused"): 1, ("link", "new"): 1}
    assert sum(value for key, value in found.items() if key[0] == "graphbrain_reports_total") == 1
    assert {kind: found["graphbrain_leases_by_kind", kind] for kind in KINDS} == dict.fromkeys(KINDS, 0)
    (again,) = brain.next_urls(9, kinds=KINDS)
    assert again.kind == "sitemap" and sampler.look() and read(meter)["graphbrain_leases_by_kind", "sitemap"] == 1
    clock.pass_(brain.settings.lease_seconds + 1.0)
    assert sampler.look() and read(meter)["graphbrain_leases_by_kind", "sitemap"] == 0
    done = brain.stats()["done"]
    assert [done[name] for name in ("claims", "robots_claims", "sitemap_claims", "link_claims")] == [1, 2, 2, 1]
    asked = brain.ask("progress-by-hour")
    places = [asked.columns.index(name) for name in ("claims", "robots", "sitemaps", "checked")]
    assert [sum(row[place] for row in asked.rows) for place in places] == [1, 2, 2, 1]
    assert brain.audit().ok
    clock.pass_(5 * 3_600.0)
    assert sampler.look()
    assert read(meter)["graphbrain_claims_by_kind_total", "robots"] == 2, "earlier hours still count"


def test_a_scrape_asks_the_database_nothing_and_tells_of_no_page(brain: Brain, clock: HandClock) -> None:
    sampler = Sampler(brain)
    meter = Meter(brain, sampler=sampler)
    small_web(brain, clock.pass_)
    with pytest.raises(BadInput):
        brain.next_urls(0)
    sampler.look()
    sampler.scan()
    found = read(meter)
    assert found["graphbrain_verb_errors_total", "BadInput", "next_urls"] == 1
    assert found["graphbrain_verb_duration_seconds_count", "next_urls"] == 2
    assert found["graphbrain_verb_duration_seconds_count", "report"] == 2
    assert found["graphbrain_statement_duration_seconds_count", "claims/take"] >= 1
    again = read(meter)
    statements = "graphbrain_statement_duration_seconds_count"
    assert {name: value for name, value in again.items() if name[0] == statements} == {
        name: value for name, value in found.items() if name[0] == statements
    }
    text = meter.exposition()[0].decode()
    assert not re.search(r"https?:|\b\w+\.org\b", re.sub(r"# (HELP|TYPE).*", "", text))


def test_the_thread_samples_and_ends(brain: Brain) -> None:
    brain.seed(["http://a.org/"])
    sampler = Sampler(brain, every=0.05)
    with Meter(brain, sampler=sampler) as meter:
        until = time.monotonic() + 30
        while sampler.latest.scanned is None and time.monotonic() < until:
            time.sleep(0.01)
        assert read(meter)["graphbrain_pages", "frontier"] == 1
    before = sampler.latest
    time.sleep(0.2)
    assert sampler.latest is before


def test_a_database_that_is_away_is_said_to_be(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    brain.seed(["http://a.org/"])
    sampler = Sampler(brain)
    meter = Meter(brain, sampler=sampler)
    assert sampler.look()
    assert read(meter)["graphbrain_up",] == 1
    with monkeypatch.context() as patch:
        gone = Graph("bolt://127.0.0.1:1", brain.graph.user, brain.graph.password, brain.graph.database, 1.0)
        patch.setattr(brain.session, "graph", gone)
        assert not sampler.look()
        found = read(meter)
        gone.close()
    assert found["graphbrain_up",] == 0
    assert ("graphbrain_known_pages",) not in found
    assert sampler.look()
    assert read(meter)["graphbrain_up",] == 1


def test_observing_costs_nothing_where_nobody_observes(brain: Brain) -> None:
    assert brain.graph.observe is None
    assert not {*verbs()[False]} & vars(brain).keys()
