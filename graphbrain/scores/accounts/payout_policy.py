"""Changes of the payout policy and of link weights for a whole crawl while it runs.

A change must be applied to all pages. The transaction that makes it records on the brain that a backfill begins. The
backfill (`brain_state`) proceeds in the order of keys, in batches. Each batch locks the brain, reads the progress,
repairs the accounts of the next pages and records the progress in the same transaction. So any process may continue it,
even if the one that began it is dead, and the invariant holds at every commit. During a change of payouts all other
work continues: each account holds the payout that it has received. During a change of link weights no other transaction
may write accounts, because a link does not store its weight. The brain is then closed by its revision, which every
accounting transaction reads after its locks (`ledger`). Statements: brain/lock, brain/change, brain/note,
pages/ids_from, pages/shares, hosts/like, hosts/count_pages, links/inside, accounts/*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphbrain.base.numeric.methods import METHODS
from graphbrain.base.numeric.rules import Rule
from graphbrain.base.settings import Settings
from graphbrain.graph import brain_state
from graphbrain.graph.connection import Outdated, Tx
from graphbrain.scores.accounts import ledgers
from graphbrain.scores.accounts.algebra import target_hosts
from graphbrain.scores.accounts.exact_ledger import Ledger
from graphbrain.scores.ranking import store

__all__ = ["GROWN", "NOTHING_BENT", "change", "off", "repay", "rescale", "reweigh", "scaled"]

BATCH = 500
REMARKING = (
    *(
        "alpha",
        "eps",
        "max_payees",
        "order",
        "value",
        "value_by_relevance",
        "reach",
        "keep_live_pagerank",
        "intervals",
        "weights",
        "orphans",
        "canonical_links",
    ),
    *("allow_hosts", "deny_hosts", "allow_urls", "deny_urls", "max_depth"),
)
"""Settings on which state, queue, lane or marks of pages depend."""
GROWN = 1.25
"""Payouts are scaled anew when the number of pages has grown by this factor, or their mean is off from 1 by it."""
NOTHING_BENT: Mapping[str, Any] = {
    "payout_scale": 1.0,
    "payout_pages": 0,
    "payout_looked": None,
    "repaying": None,
    "reweighing": None,
    "weight_before": None,
    "remarking": None,
    "relearning": None,
    "exact_payout": None,
}
"""The properties of the brain of an empty graph."""


def change(tx: Tx, settings: Mapping[str, Any], notes: Mapping[str, Any]) -> None:
    """Change shared settings, and record the backfills of all pages that follow from them and those in `notes`.

    The brain is read here under its lock, because the caller may have read an older state.

    Raises:
        BeingConverted: The brain is between two engines.
        SettingsError: The settings contradict those of the brain.
        Outdated: Links are being weighed anew or files imported; that must end first.
    """
    # Refuse a change that cannot be made now.
    stored = tx.one("brain/lock")[0]
    before, after = Rule.of(stored), Rule.of({**stored, **settings})
    ledgers.of(before)
    if brain_state.closed(stored):
        raise Outdated("links are being weighed anew, or files imported")
    replace(Settings().with_stored(stored), **settings).checked()
    # Note each backfill that follows.
    notes = dict(notes)
    if after.intra_host_weight != before.intra_host_weight:
        notes |= {"reweighing": "", "weight_before": before.intra_host_weight}
    other_targets = after.payout == "target" and after.target_relevance != before.target_relevance
    other_targets |= after.payout == "hosts" and after.target_hosts != before.target_hosts
    if after.payout != before.payout or other_targets:
        notes |= scaled(tx, after)
    # The classic engine keeps the exact engine's policy for its return, unless the caller chooses one now.
    if before.engine == "classic" and "payout" in settings:
        notes |= {"exact_payout": None}
    if before.engine == "classic" and _spending(after) != _spending(before):
        notes |= {"virtual_stirred": stored["virtual_spent"]}
    if set(REMARKING) & set(settings):
        notes |= {"remarking": ""}
    if "value" in settings and after.value in METHODS:
        notes |= store.notes(tx, after.value)
    tx.do("brain/change", settings={**settings, **notes})


def _spending(rule: Rule) -> tuple[object, ...]:
    """Return the settings on which the classic engine's spending and history depend. After a change of them, the engine
    spends anew."""
    options = rule.classic
    return rule.max_payees, options.relevance_rule, options.root_share, options.window


def rescale(tx: Tx) -> None:
    """Scale payouts anew if the crawl has grown by `GROWN` or their mean is off by it, and no backfill is running."""
    stored = tx.one("brain/lock")[0]
    rule = Rule.of(stored)
    if rule.payout == "uniform" or rule.repaying or stored.get("reweighing") is not None:
        return
    notes = scaled(tx, rule)
    if notes["payout_pages"] >= GROWN * stored.get("payout_pages", 0) or _off(rule, notes):
        tx.do("brain/change", settings=notes)


def off(tx: Tx, rule: Rule) -> bool:
    """Return True if the mean payout is off from 1 by `GROWN`. This reads every page."""
    return _off(rule, scaled(tx, rule))


def _off(rule: Rule, notes: Mapping[str, Any]) -> bool:
    mean: float = rule.payout_scale / notes["payout_scale"]
    return not 1.0 / GROWN < mean < GROWN


def scaled(tx: Tx, rule: Rule) -> dict[str, Any]:
    """Return notes with the scale that makes the mean payout 1, and with a backfill that applies it to all pages.

    If no page gets a payout, the scale is 1.
    """
    pages, shares_by_policy = tx.one("pages/shares", target=rule.target_relevance)
    shares = _on_targets(tx, rule) if rule.payout == "hosts" else shares_by_policy[rule.payout]
    return {"payout_scale": pages / shares if shares else 1.0, "payout_pages": pages, "repaying": ""}


def _on_targets(tx: Tx, rule: Rule) -> int:
    """Return the number of pages on the target hosts."""
    targets = target_hosts(rule.target_hosts)
    named = {*targets.anyway, *(host for host, _ in targets.at_port)}
    names = [name for name in tx.one("hosts/like", texts=sorted(named))[0] if targets.holds(name)]
    pages: int = tx.one("hosts/count_pages", names=names)[0]
    return pages


def repay(tx: Tx, now: float, revision: int) -> int:
    """Pay the next pages their payouts due by the present rule.

    Returns:
        The number of pages, 0 at the end of the backfill.

    Raises:
        BegunAnew: The settings have changed.
    """
    stored = brain_state.stored(tx, revision)
    if stored.get("repaying") is None:
        return 0
    ids, last = tx.one("pages/ids_from", after=stored["repaying"], limit=BATCH)
    if ids:
        Ledger.lock(tx, ids, Rule.of(stored)).write(tx, now)
    tx.do("brain/note", notes={"repaying": last if len(ids) == BATCH else None})
    return len(ids)


def reweigh(tx: Tx, now: float, revision: int) -> int:
    """Give the links inside hosts their new weight, for the next pages. The last batch opens the brain with a new
    revision.

    Returns:
        The number of pages, 0 at the end of the backfill.

    Raises:
        BegunAnew: The settings have changed.
    """
    stored = brain_state.stored(tx, revision)
    if stored.get("reweighing") is None:
        return 0
    # Read the links inside hosts of the next pages, and give both ends the new weight.
    ids, last = tx.one("pages/ids_from", after=stored["reweighing"], limit=BATCH)
    links = tx.one("links/inside", ids=ids)[0]
    sources = [page for page, targets in links for _ in targets]
    targets = [target for _, targets in links for target in targets]
    if links:
        rule = Rule.of(stored)
        ledger = ledgers.lock(tx, {*sources, *targets}, rule)
        ledger.reweigh(sources, targets, rule.intra_host_weight - stored["weight_before"])
        ledger.write(tx, now)
    # Note the progress; the last batch ends the backfill.
    if len(ids) == BATCH:
        tx.do("brain/note", notes={"reweighing": last})
    else:
        tx.do("brain/change", settings={"reweighing": None, "weight_before": None})
    return len(ids)
