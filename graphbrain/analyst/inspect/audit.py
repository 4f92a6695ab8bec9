"""Proof that nothing is lost: accounts recomputed from their neighbours, leases and indexes compared with states.

An account is right if history + cash = payout + Σ weight × payment of each neighbour, on both sides. A page is locked
before its neighbours are read. A transaction that changes a neighbour's payments must write this page, too. So the
comparison is exact also while others work. Its sum over all pages is held = paid. Under both engines a forward account
of a page has its first amount + Σ weight × amount that each source of its in-links has passed on. The error bound is
Σ|amount that pushes would pay| / (α·Σ score). It bounds the relative L1 error of the scores.
Statements: audit/*, brain/read, brain/sizes, links/led_to, links/packed_out, pages/ids_from.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphbrain.analyst.inspect.pages import ForwardSums
from graphbrain.analyst.inspect.sections import faults
from graphbrain.base.numeric.arrays import Ints
from graphbrain.base.numeric.ids import sums_of_links
from graphbrain.base.numeric.rules import Forward, Rule
from graphbrain.base.work import Audit
from graphbrain.frontier.claims.candidates import Finder
from graphbrain.frontier.hosts import addresses, politeness
from graphbrain.frontier.hosts.addresses import FULL_WAIT
from graphbrain.frontier.hosts.state import HostState, open_queues
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports import canonicals
from graphbrain.graph.connection import Graph, Tx, bound
from graphbrain.schedule.lanes import is_frontier
from graphbrain.scores.accounts import adjacency, ledgers
from graphbrain.scores.accounts.algebra import FIRST_RANK, NONE
from graphbrain.scores.accounts.exact_ledger import AccountMarks, Ledger
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["Audit", "Check", "Exact", "Tally", "forward_errors", "run"]

BATCH = 500
TOLERANCE = 1e-9
"""The largest error that is no fault, relative to the sum of the terms. Float sums drift by about 1e-13 in 2·10⁷
payments."""
MOST_FINDINGS = 50


@dataclass
class Tally:
    """The findings of an audit so far.

    Attributes:
        checked: The number of pages that were checked.
        wrong: Kind of fault → the number of its findings.
        findings: The first findings as sentences.
        worst: The largest relative error of an account.
        unmarked: Faults in the marks of waiting cash. They count unless a settling pass is under way.
    """

    checked: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    worst: float = 0.0
    unmarked: list[str] = field(default_factory=list)

    def found(self, kind: str, sentence: str) -> None:
        self.wrong[kind] += 1
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(sentence)

    def adopt_waiting(self) -> None:
        """Count the faults of marks, because no settling pass was under way."""
        for sentence in self.unmarked:
            self.found("marks", sentence)

    def __iadd__(self, other: Tally) -> Tally:
        self.unmarked += other.unmarked
        self.checked += other.checked
        self.wrong += other.wrong
        self.findings = [*self.findings, *other.findings][:MOST_FINDINGS]
        self.worst = max(self.worst, other.worst)
        return self


class Check(Protocol):
    """The checks of one engine's accounts."""

    def sums(self, tx: Tx, rule: Rule) -> list[Any]:
        """Return sums over all accounts. Equal sums before and after an audit prove that nothing was written in
        between."""

    def compare(self, rows: list[Any], ledger: Accounts, tx: Tx, tally: Tally) -> None:
        """Compare locked accounts and their marks with the rows of audit/pages."""

    def whole(self, sums: list[Any], rule: Rule, quiet: bool, tally: Tally) -> dict[str, Any]:
        """Check the sums if the audit was `quiet`: nothing was written meanwhile. Return the figures that follow from
        them."""

    def counts(self, tx: Tx) -> list[list[int]]:
        """Return counts from the pages, and the same counts from the indexes."""


def run(
    graph: Graph,
    check: Check,
    policy: Callable[[], Policy],
    finder: Finder,
    sample: int | None,
    progress: Callable[[int, int], None],
    clock: Callable[[], float],
) -> Audit:
    """Audit `sample` pages and resting hosts (None: all).

    Args:
        graph: The brain's graph.
        check: The checks of the brain's engine.
        policy: Called in each transaction, because the brain's settings may change meanwhile.
        finder: The queues of waiting pages.
        sample: Number of pages, and of resting hosts.
        progress: Called with the numbers of pages done and of pages to do.
        clock: Epoch seconds.
    """
    started = time.monotonic()
    tally, passes = Tally(), _passes(graph)

    def sums() -> list[Any]:
        return graph.read(lambda tx: check.sums(tx, policy().rule), "audit/sums", slow=True)

    # Check each page. During a settling pass, marks of waiting cash may be missing.
    before = sums()
    pages, links, _ = graph.read(lambda tx: tx.one("brain/sizes"), "brain/sizes")
    _each_page(graph, check, policy, sample, pages, tally, progress)
    settling = passes[1] or _passes(graph) != passes
    if not settling:
        tally.adopt_waiting()
    # Check hosts, sections and indexes.
    _hosts(graph, policy, tally)
    _resting(graph, policy, finder, sample, tally, clock)
    _sites(graph, tally)
    for name, state in graph.read(lambda tx: tx.many("audit/indexes"), "audit/indexes"):
        tally.found("indexes", f"Index {name} is {state}.")
    # Check the sums. While others write, sums over the graph are of no single moment, and cannot be compared.
    after = sums()
    forwards = graph.read(
        lambda tx: [ForwardSums.of(tx, one) for one in policy().rule.forwards], "audit/forward", slow=True
    )
    quiet = before == after == sums()
    whole = check.whole(after, policy().rule, quiet, tally)
    if quiet:
        _indexes(graph, check, tally)
        for sums_of in forwards:
            name, got, passed = sums_of.account.name, sums_of.got, sums_of.passed
            if abs(got - passed) > TOLERANCE * max(1.0, passed):
                tally.found(name, f"The pages have got a {_in_words(name)} of {got!r}, but {passed!r} was passed on.")
    # Collect the figures.
    figures: dict[str, Any] = {
        "pages": pages,
        "links": links,
        "accounts_checked": tally.checked * 2,
        "worst_account_error": tally.worst,
        **whole,
        **forward_errors(forwards),
        "alone": quiet,
        "settling": settling,
        "wrong": dict(tally.wrong),
        "seconds": round(time.monotonic() - started, 2),
        "now": clock(),
    }
    return Audit(not tally.wrong, tuple(tally.findings), figures)


def _passes(graph: Graph) -> tuple[int, bool]:
    """Return the number of settling passes that have begun, and whether one is under way."""
    stored = _stored(graph)
    return stored.get("settle_passes", 0), "settling" in stored


def _stored(graph: Graph) -> Mapping[str, Any]:
    """Return the properties of the brain's node."""
    return graph.read(lambda tx: tx.one("brain/read")[0], "brain/read") or {}


def _indexes(graph: Graph, check: Check, tally: Tally) -> None:
    """Compare counts of pages with those of indexes. A claim between the two counts makes them differ, so only a
    lasting difference is wrong."""
    off = set()
    for _ in range(3):
        counts, by_index = graph.read(check.counts, "audit/counts", slow=True)
        if counts == by_index:
            return
        off.add((tuple(counts), tuple(by_index)))
    if len(off) == 1:
        tally.found("indexes", f"Pages give the counts {counts}, the indexes {by_index}.")


def _each_page(
    graph: Graph,
    check: Check,
    policy: Callable[[], Policy],
    sample: int | None,
    total: int,
    tally: Tally,
    progress: Callable[[int, int], None],
) -> None:
    """Check all pages in the order of their keys, or samples of pages that follow random keys. Keys are hashes."""
    wanted = total if sample is None else min(sample, total)
    after = ""

    def look(tx: Tx, ids: Sequence[int]) -> Tally:
        return _look(tx, ids, check, policy())

    while tally.checked < wanted or sample is None:
        if sample is not None:
            after = f"{random.getrandbits(128):032x}"
        # Read the next keys, lock their pages and check them.
        limit = BATCH if sample is None else min(50, wanted - tally.checked)
        ids, last = graph.read(bound(Tx.one, "pages/ids_from", after=after, limit=limit), "pages/ids_from")
        if not ids and sample is None:
            return
        if ids:
            tally += graph.write(bound(look, ids), "audit/pages")
            after = last
        progress(tally.checked, wanted)


def _look(tx: Tx, ids: Sequence[int], check: Check, policy: Policy) -> Tally:
    """Lock the pages that still exist, read them with their neighbours, and check them."""
    ledger = ledgers.of(policy.rule).lock_present(tx, ids, policy.rule)
    rows = tx.records("audit/pages", ids=ledger.ids.tolist(), intra=policy.rule.intra_host_weight)
    tally = Tally(checked=len(rows))
    # Compare the accounts, links, marks and lease of each page with the values that follow from its neighbours.
    check.compare(rows, ledger, tx, tally)
    sums = _sums(tx, ledger)
    for row, index in zip(rows, ledger.at([row.id for row in rows]).tolist(), strict=True):
        _links(row, ledger, index, tally)
        _coming_back(row, policy.rule, tally)
        _weight(row, float(ledger.url_weight[index]), policy.rule, tally)
        for number, forward in enumerate(ledger.forwards):
            _forward(row, forward, row.brought[number], ledger, index, tally)
            _forward_mark(row, forward, row.priorities[number], ledger, index, tally)
        if ledger.links_sum[index] not in (NONE, sums[index]):
            tally.found("links sums", f"{row.url} has links_sum {ledger.links_sum[index]}, not {sums[index]}.")
        _lease(row, tally)
    # Redirects and canonicals are checked for all pages at once.
    _canonicals(tx, rows, tally)
    _redirects(tx, rows, tally)
    return tally


def _redirects(tx: Tx, rows: Sequence[Any], tally: Tally) -> None:
    """Check that locked pages with a redirect have no links, and that no link ends at an alias with a target.

    The second is not checked for an alias if it, or its target, is marked for upkeep, which moves such links.
    """
    page_of = {row.id: row for row in rows}
    redirecting = tx.one("audit/redirects", ids=list(page_of))[0]
    led = dict(tx.one("links/led_to", ids=sorted(page_of))[0]) if redirecting else {}
    # `leads` counts temporary redirects (LEADS_TO), `redirects` permanent ones (REDIRECTS_TO).
    for page, links, leads, redirects, state, led_by, marked in redirecting:
        url = page_of[page].url
        if links and (state == "alias" or leads):
            tally.found("redirects", f"{url} redirects, and has {links} links of its own.")
        if leads > 1 or (leads and led_by is None):
            tally.found("redirects", f"{url} has {leads} LEADS_TO, and led_by is {led_by}.")
        if leads and state == "alias":
            tally.found("redirects", f"{url} redirects both for good and for now.")
        if redirects and state != "alias":
            tally.found("redirects", f"{url} is {state}, and has a REDIRECTS_TO.")
        if state == "alias" and page in led and page_of[page].in_links and not marked:
            tally.found("redirects", f"{page_of[page].in_links} links end at {url}, which is an alias with a goal.")


def _canonicals(tx: Tx, rows: Sequence[Any], tally: Tally) -> None:
    """Check that links count for the canonical page that a locked page names. Pages that are marked for upkeep are not
    checked."""
    urls = {row.id: row.url for row in rows}
    differing = canonicals.differing(tx, list(urls))
    if not differing:
        return
    marked = set(tx.one("audit/marked", ids=sorted({page for ends in differing for page in ends if page >= 0}))[0])
    for page, wanted, has in differing:
        if marked.isdisjoint((page, wanted, has)):
            tally.found("canonicals", f"Links to {urls[page]} do not count for the page that its canonical names.")


def _sites(graph: Graph, tally: Tally) -> None:
    """Check that the sections learned of hosts can be read and are within their bounds."""
    after, rows = "", [["", ""]]
    while rows:
        rows = graph.read(bound(Tx.one, "audit/sites", after=after, limit=BATCH), "audit/sites")[0]
        for host, text in rows:
            for sentence in faults(text):
                tally.found("sections", f"Of {host} {sentence}.")
            after = host


def _sums(tx: Tx, ledger: Accounts) -> Ints:
    """Return the number that identifies the links of each locked page (`sums_of_links`)."""
    sources, targets = adjacency.packed(tx, "links/packed_out", ledger.ids)
    return sums_of_links(ledger.seek(sources), targets, len(ledger.ids))


class Exact:
    """The checks of the exact engine: each account follows from its neighbours, and all cash that was paid is held."""

    def sums(self, tx: Tx, rule: Rule) -> list[Any]:
        """Return the cash held, the cash paid, and the cash that waits."""
        return tx.one("audit/waiting", alpha=rule.alpha)

    def compare(self, rows: list[Any], ledger: Accounts, tx: Tx, tally: Tally) -> None:
        """Compare each side with its neighbours' payments, and the marks with those that follow from the accounts."""
        assert isinstance(ledger, Ledger)
        ledger.read_payouts(tx)
        marks, tips, payouts = AccountMarks(ledger), _tips(ledger, ledger.rule), ledger.due_payout()
        hub, authority = ledger.hub_score, ledger.authority_score
        for row, index in zip(rows, ledger.at([row.id for row in rows]).tolist(), strict=True):
            _account(row, float(hub[index]), float(authority[index]), tally)
            # During a backfill, some pages still have payouts or marks by the settings before.
            if not ledger.rule.repaying and row.payout != payouts[index]:
                tally.found("payouts", f"{row.url} is paid {row.payout!r}, by the policy {payouts[index]!r} is due.")
            if not ledger.rule.remarking:
                _marks(row, marks, tips, index, ledger.rule, tally)

    def whole(self, sums: list[Any], rule: Rule, quiet: bool, tally: Tally) -> dict[str, Any]:
        """Check held = paid, and return the bound of the error."""
        holdings, paid, waits = sums
        gap = abs(holdings - paid) / max(1.0, holdings)
        if quiet and gap > TOLERANCE:
            tally.found("held = paid", f"The accounts hold {holdings!r} but were paid {paid!r}.")
        bound = waits / (rule.alpha * holdings) if rule.alpha and holdings else None
        return {"held": holdings, "paid": paid, "gap": gap, "error_bound": bound}

    def counts(self, tx: Tx) -> list[list[int]]:
        """Return counts of queues, leases, retries, priorities and ranks."""
        return tx.one("audit/counts")


def _account(row: Any, hub: float, authority: float, tally: Tally) -> None:
    for side, score, expected in (
        ("hub", hub, row.payout + row.due_hub),
        ("authority", authority, row.payout + row.due_authority),
    ):
        error = float(abs(score - expected) / max(1.0, abs(expected)))
        tally.worst = max(tally.worst, error)
        if not error <= TOLERANCE:
            tally.found("accounts", f"{row.url} holds {score!r} on its {side} side, its neighbours give {expected!r}.")


def forward_errors(sums: Iterable[ForwardSums]) -> dict[str, float | None]:
    """Return the bounds of the errors of forward accounts by figure; None if not known."""
    by_name = {each.account.name: each for each in sums}
    flow, live_pagerank = by_name.get("flow"), by_name.get("live_pagerank")
    return {
        "frontier_flow_error": flow.frontier_error if flow else None,
        "live_pagerank_error": live_pagerank.error if live_pagerank else None,
    }


def _in_words(name: str) -> str:
    return name.replace("_", " ").replace("pagerank", "PageRank")


def _forward(row: Any, forward: Forward, brought: float, ledger: Accounts, index: int, tally: Tally) -> None:
    """Check that a page has its first amount plus the amounts that its in-links have passed on."""
    got = float(getattr(ledger, forward.name)[index])
    expected = float(forward.first(ledger.is_seed[[index]])[0]) + brought
    if not abs(got - expected) <= TOLERANCE * max(1.0, abs(expected)):
        tally.found(
            forward.name, f"{row.url} has a {_in_words(forward.name)} of {got!r}, its in-links give {expected!r}."
        )


def _forward_mark(row: Any, forward: Forward, stored: int | None, ledger: Accounts, index: int, tally: Tally) -> None:
    """Check that the mark of a waiting amount is exactly the one that follows from the stored values."""
    if ledger.rule.remarking or row.out_links > ledger.rule.max_payees:
        return
    wanted = _or_null(int(ledger.urgency(forward.name)[index]))
    if wanted != stored:
        tally.found("marks", f"{row.url} has {forward.mark} {stored}, not {wanted}.")


def _links(row: Any, ledger: Accounts, index: int, tally: Tally) -> None:
    for name, stored, links in (
        ("out", ledger.out_weight[index], row.out_weight),
        ("in", ledger.in_weight[index], row.in_weight),
    ):
        if stored != links:
            tally.found("weights", f"{row.url} has {name}_weight {stored}, its links weigh {links}.")
    if row.self_links or row.double_links:
        tally.found("links", f"{row.url} has {row.self_links} links to itself and {row.double_links} double links.")


def _coming_back(row: Any, rule: Rule, tally: Tally) -> None:
    """Check that a fetched page that waits for a revisit is in no lane of unfetched pages: it would be due at once."""
    waits = row.state == "known" and row.was_fetched and row.queue is not None
    if waits and rule.revisits and not rule.remarking and is_frontier(row.lane):
        tally.found("marks", f"{row.url} was fetched, and waits in lane {row.lane}, which is of pages that never were.")


def _weight(row: Any, stored: float, rule: Rule, tally: Tally) -> None:
    """Check that a page has the weight that the patterns of the setting `weights` give to its URL."""
    if not rule.remarking and stored != (weight := rule.weights.product(row.url)):
        tally.found("marks", f"{row.url} has url_weight {stored:g}, by the setting weights {weight:g}.")


def _marks(
    row: Any, marks: AccountMarks, tips: Mapping[str, NDArray[np.bool_]], index: int, rule: Rule, tally: Tally
) -> None:
    """Check ranks, priorities and lanes against the accounts. A float's last bit may shift a bucket by one."""
    for name in ("hub_rank", "authority_rank", "hub_priority", "authority_priority", "lane"):
        # Lanes by batch scores are written later than these. Sides with too many links have no priority.
        stored = getattr(row, name)
        wanted = _or_null(int(getattr(marks, name)[index]))
        links = row.out_links if name.startswith("hub") else row.in_links
        if name == "lane" and rule.standing_value not in ("authority", "hub", "own"):
            continue
        if name.endswith("priority") and stored is None and links > rule.max_payees:
            continue
        # At a threshold the last bit of a float decides whether there is a mark.
        if wanted == stored or ((wanted is None or stored is None) and tips[name][index]):
            continue
        if wanted is None or stored is None or abs(wanted - stored) > 1:
            sentence = f"{row.url} has {name} {stored}, not {wanted}."
            if name.endswith("priority"):
                tally.unmarked.append(sentence)
            else:
                tally.found("marks", sentence)


def _tips(ledger: Ledger, rule: Rule) -> Mapping[str, NDArray[np.bool_]]:
    """Return mark → a mask of the places at a threshold, where the last bits of a float decide whether it exists."""
    none = np.zeros(len(ledger.ids), dtype=bool)
    tips = {"lane": none}
    for side, score, waiting, weight in (
        ("hub", ledger.hub_score, ledger.waiting("hub"), ledger.out_weight),
        ("authority", ledger.authority_score, ledger.waiting("authority"), ledger.in_weight),
    ):
        tips[f"{side}_rank"] = np.isclose(np.log2(np.maximum(score, 1e-300)) * 4, FIRST_RANK, atol=1e-9)
        tips[f"{side}_priority"] = np.isclose(np.abs(waiting) / (weight + 1), rule.eps, rtol=1e-9, atol=1e-12)
    return tips


def _or_null(value: int) -> int | None:
    return None if value == NONE else value


def _lease(row: Any, tally: Tally) -> None:
    """Check that a page of the frontier waits in a queue, is leased, or waits for a retry: exactly one of the three.

    A fetched page may be in one of these. Any other page may not wait in a queue.
    """
    url, state, queue, lease, not_before = row.url, row.state, row.queue, row.lease, row.not_before
    if (lease is None) != (row.lease_until is None) or (lease is not None and row.worker is None):
        tally.found("leases", f"{url} has half a lease: {lease}, {row.lease_until}, {row.worker}.")
    places = [queue is not None, lease is not None, not_before is not None]
    if state == "frontier" and sum(places) != 1:
        tally.found("leases", f"{url} is in the frontier but queue={queue}, lease={lease}, not_before={not_before}.")
    if state == "known" and sum(places) > 1:
        tally.found("leases", f"{url} is known but queue={queue}, lease={lease}, not_before={not_before}.")
    if state not in ("frontier", "known") and queue is not None:
        tally.found("leases", f"{url} is {state} but waits in queue {queue}.")


def _hosts(graph: Graph, policy: Callable[[], Policy], tally: Tally) -> None:
    """Check in-flight counts and queues of hosts. Suspects are checked again under their lock."""
    # Read without locks first. Changes in the meantime may look like faults.
    suspects = graph.read(lambda tx: _unfit(tx, None, policy().manners.budget), "audit/hosts")
    places = graph.read(lambda tx: _unfit_places(tx, None), "audit/addresses")

    def again(tx: Tx) -> dict[str, str]:
        names = list(politeness.read(tx, suspects, policy().manners))
        politeness.lock(tx, names, policy().manners)
        return _unfit(tx, names, policy().manners.budget)

    def places_again(tx: Tx) -> dict[str, str]:
        addresses.lock(tx, places, policy().manners)
        return _unfit_places(tx, list(places))

    _, halves, stranded = graph.read(lambda tx: tx.one("audit/resources"), "audit/resources", slow=True)
    for key in halves:
        tally.found("leases", f"{key} has half a lease.")
    for key in stranded:
        tally.found("hosts", f"{key} waits in a queue that is not served.")
    # Read the suspects again under their locks, where no change can look like a fault.
    if suspects:
        for sentence in graph.write(again, "audit/hosts").values():
            tally.found("hosts", sentence)
    if places:
        for sentence in graph.write(places_again, "audit/addresses").values():
            tally.found("addresses", sentence)


def _resting(
    graph: Graph,
    policy: Callable[[], Policy],
    finder: Finder,
    sample: int | None,
    tally: Tally,
    clock: Callable[[], float],
) -> None:
    """Check that no host rests beyond the time at which its first page may be visited.

    Hosts are not checked while upkeep applies a change of settings to them.
    """
    # Without a sample, check all resting hosts.
    names = graph.read(lambda tx: tx.one("audit/resting")[0], "audit/resting")
    names = names if sample is None else random.sample(names, min(sample, len(names)))

    def late(tx: Tx, names: Sequence[str]) -> list[str]:
        return _oversleeping(tx, politeness.read(tx, names, policy().manners).values(), finder, clock())

    def still(tx: Tx, names: Sequence[str]) -> list[str]:
        manners = policy().manners
        locked = politeness.lock(tx, politeness.read(tx, names, manners), manners)
        return _oversleeping(tx, locked.values(), finder, clock())

    # Check suspects again under their lock.
    for start in range(0, len(names), BATCH):
        part = names[start : start + BATCH]
        suspects = graph.read(bound(late, part), "audit/resting")
        if suspects and not _reviewing(graph):
            sure = graph.write(bound(still, suspects), "audit/resting")
            for name in sure:
                tally.found("hosts", f"Host {name} rests for longer than until one of its pages may be visited.")


def _reviewing(graph: Graph) -> bool:
    """Return whether upkeep is applying a change of settings to hosts or pages."""
    return not {"reviewing_hosts", "remarking"}.isdisjoint(_stored(graph))


def _oversleeping(tx: Tx, hosts: Iterable[HostState], finder: Finder, now: float) -> list[str]:
    """Return the hosts that rest for longer than they should."""
    queues = {host.name: open_queues(host) for host in hosts if host.stored["resting"] and not host.ill()}
    until = {host.name: host.stored["ready_at"] for host in hosts}
    ripe = finder.ripe_at(tx, list(chain.from_iterable(queues.values())), now) if queues else {}
    return [
        name
        for name, own in queues.items()
        # While all claims that a host may have are in flight, it is not read for up to `FULL_WAIT` seconds.
        if until[name] > max(now, min((ripe[queue] for queue in own if queue in ripe), default=until[name])) + FULL_WAIT
    ]


def _unfit_places(tx: Tx, names: Sequence[str] | None) -> dict[str, str]:
    """Return the faults of addresses, by address."""
    counts = {name: [in_flight, pages] for name, in_flight, pages in tx.one("audit/addresses", names=names)[0]}
    for _, name, many in tx.one("audit/resources")[0]:
        if name is not None and (names is None or name in names):
            counts.setdefault(name, [0, 0])[1] += many
    return {
        name: f"Address {name} counts {in_flight} claims in flight, {out} are leased."
        for name, (in_flight, out) in counts.items()
        if in_flight != out
    }


def _unfit(tx: Tx, names: Sequence[str] | None, budget: int) -> dict[str, str]:
    """Return the faults of hosts, by host."""
    counted: Counter[str] = Counter(dict(tx.one("audit/in_flight")[0]))
    for name, _, many in tx.one("audit/resources")[0]:
        counted[name] += many
    rows = tx.one("audit/hosts", names=names)[0]
    wrong: dict[str, str] = {}
    # Check the claims in flight, and the queues that no claim serves.
    for name, in_flight, queued, ready_at, waits in rows:
        out = counted.pop(name, 0)
        if in_flight != out:
            wrong[name] = f"Host {name} counts {in_flight} claims in flight, {out} are leased."
        if waits and (not queued or ready_at is None):
            wrong[name] = f"Pages wait in the queue of host {name}, which is not served."
    # Check the budgets, and the pages that wait for room in them.
    for name, used, pages, limit, aside, queued, waits in tx.one("audit/budgets", names=names, budget=budget)[0]:
        if used is not None and used != pages:
            wrong[name] = f"Host {name} counts {used} pages of its budget, {pages} were fetched or are being so."
        if waits and not (aside and (queued or 0 < limit <= (used or 0))):
            wrong[name] = f"Pages of host {name} wait for room in its budget, which has room."
    # Check the queues of retries.
    for name, served in tx.one("audit/retries", names=names)[0]:
        if not served:
            wrong[name] = f"Pages of host {name} wait to be tried again, and its queue of retries is not served."
    # Check the claims and pages of hosts that have no stored state.
    if names is None:
        wrong |= {name: f"Host {name} counts no claims in flight, {out} are leased." for name, out in counted.items()}
        wrong |= {
            name: f"Pages wait in the queue of host {name}, which is not served."
            for name in tx.one("audit/stranded")[0]
        }
    return wrong
