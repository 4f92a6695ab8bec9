"""The links and redirects of a batch of visits, and the depths that follow. A link to an alias ends where the alias
leads.

Pages are locked, with their accounts; `adjacency` writes the links. Statements: links/alias, links/redirects,
links/seeds, links/unalias.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

from graphbrain.base.urls.normalization import host_of
from graphbrain.frontier import discovery
from graphbrain.frontier.hosts import health
from graphbrain.frontier.policy import Policy
from graphbrain.frontier.reports.outcomes import Verdict
from graphbrain.graph.connection import Again, Tx
from graphbrain.schedule.value import DAY
from graphbrain.scores.accounts.adjacency import ReportedLinks
from graphbrain.scores.accounts.ledgers import Accounts

__all__ = ["Named", "Redirected", "explained", "lower", "redirect", "reported_links"]

HOUR = 3_600.0
LONGEST_ALIAS = 180 * DAY
"""An alias is looked at again after as long as it has been one, and a day; but after so long at the latest."""


@dataclass(frozen=True, slots=True)
class Named:
    """The pages that a batch names: key → id of each, and of the page it leads to: another one if it is an alias."""

    ids: dict[str, int]
    goals: dict[str, int]
    created: list[int]
    """those that had to be created, ascending"""
    linked: set[str]
    """keys of pages that may have links"""
    redirecting: set[str]
    """keys of aliases, some of which lead nowhere"""
    unsure: dict[str, tuple[int, str]]
    """key → (id, why) of pages whose addresses may get better"""
    parked: set[int]
    """pages of these that are parked"""
    found: int
    """how many of those that had to be created wait to be fetched"""

    def created_keys(self) -> set[str]:
        """Return the keys of the pages that had to be created."""
        created = set(self.created)
        return {key for key, page in self.ids.items() if page in created}

    def aliases(self, keys: Iterable[str]) -> set[int]:
        """Return those of these pages that redirect to another."""
        return {self.ids[key] for key in self.redirecting.intersection(keys) if self.goals[key] != self.ids[key]}


def reported_links(verdict: Verdict, named: Named) -> ReportedLinks:
    """Return the links of a visit that counts for links; a link to an alias is one to where it leads.

    An alias has none, and a page that leads elsewhere for now has that one, until a visit brings the page itself.
    """
    page, led_by, before = verdict.visit.page, verdict.led_by, verdict.visit.led_by
    if verdict.redirects and (verdict.item.led_by is None or not verdict.keep):
        return ReportedLinks(
            page, [], verdict.unlinks, spelt=verdict.visit.names_aliases, led_by=led_by, was_led_by=before
        )
    keys = [key for key in verdict.targets if key in named.goals]
    ends = dict.fromkeys(named.goals[key] for key in keys)
    ends.pop(page, None)  # by way of an alias of itself
    aliases = named.aliases(verdict.targets) if named.redirecting else ()
    whole = verdict.unlinks or led_by != before
    if not (aliases or verdict.visit.names_aliases):
        return ReportedLinks(page, list(ends), whole, led_by=led_by, was_led_by=before)
    direct = frozenset(named.goals[key] for key in keys if named.ids[key] not in aliases)
    via = frozenset(named.goals[key] for key in keys if named.ids[key] in aliases) - direct
    return ReportedLinks(page, list(ends), whole, frozenset(aliases), direct, via, True, led_by, before)


def lower(
    tx: Tx, verdicts: Sequence[Verdict], links: Sequence[ReportedLinks], named: Named, ledger: Accounts, policy: Policy
) -> None:
    """Give the pages that are linked to (`links`) the depth that follows, if that is less. A redirect costs no
    click."""
    leads_on = {verdict.visit.page: verdict for verdict in verdicts if verdict.item.redirects}
    depths: dict[int, int] = {}
    for each, depth in zip(links, ledger.depths_of([each.page for each in links]), strict=True):
        verdict = leads_on.get(each.page)
        offered = depth if verdict else depth + 1
        for end in _ends(verdict, named) if verdict else each.ends:
            depths[end] = min(offered, depths.get(end, offered))
    discovery.lower(tx, ledger, depths, policy.scope, {each.page for each in links})


def _ends(verdict: Verdict, named: Named) -> set[int]:
    """Return the page that a redirect names, and where that leads."""
    ends = {of[key] for key in verdict.targets for of in (named.ids, named.goals) if key in of}
    return ends - {verdict.visit.page}


@dataclass(frozen=True, slots=True)
class Redirected:
    """The redirects of a batch: pages that lead to another one, and pages whose in-links are to be looked at, as they
    lead elsewhere than before, or nowhere."""

    leading: list[int] = field(default_factory=list)
    astray: set[int] = field(default_factory=set)
    aliases: list[list[object]] = field(default_factory=list)
    """[page, since when it is an alias, when it is looked at again, or None], to be written with the visits"""
    reached: set[int] = field(default_factory=set)
    """pages to which aliases lead that did not before"""
    abandoned: set[int] = field(default_factory=set)
    """pages to which aliases led that do so no more"""

    def to_look_at(self, ledger: Accounts) -> set[int]:
        """Pages whose in-links are to be looked at, now that the links of the batch are written."""
        return self.astray.union(compress(self.leading, ledger.may_be_linked(self.leading)))


def redirect(
    tx: Tx, verdicts: Sequence[Verdict], named: Named, ledger: Accounts, policy: Policy, now: float
) -> Redirected:
    """Write the redirects of new aliases, and remove those of pages that are no longer aliases."""
    leading: dict[int, int] = {}
    aliases = [verdict for verdict in verdicts if verdict.keep and _leads(verdict)]
    for verdict in aliases:
        target = _target(verdict, named)
        if target is not None:
            leading[verdict.visit.page] = target
    failing = [v for v in verdicts if v.keep and v.visit.state == "alias" and v.answer.outcome in ("retry", "slowed")]
    was = {v.visit.page for v in verdicts if v.keep and v.visit.state == "alias"}
    again = was.difference(v.visit.page for v in (*aliases, *failing))
    turning = again | (was & leading.keys())
    before = dict(tx.one("links/redirects", ids=sorted(turning))[0]) if turning else {}
    rows = [_alias_row(v, ledger, policy, now) for v in (*aliases, *failing)]
    if leading:
        tx.do("links/alias", rows=[[page, target] for page, target in leading.items()])
    if again:
        tx.do("links/unalias", ids=sorted(again))
    _seed(tx, verdicts, named, ledger, policy)
    astray = again | {page for page, target in before.items() if leading.get(page, target) != target}
    # A seed that led elsewhere has made that page a seed.
    astray |= {v.visit.page for v in verdicts if v.visit.led_by is not None and v.visit.is_seed and v.links}
    reached = {target for page, target in leading.items() if before.get(page) != target}
    left_targets = {target for page, target in before.items() if leading.get(page) != target}
    if not ledger.holds(left_targets):
        raise Again("a redirect leads elsewhere meanwhile")
    return Redirected(list(leading), astray, rows, reached, left_targets)


def _seed(tx: Tx, verdicts: Sequence[Verdict], named: Named, ledger: Accounts, policy: Policy) -> None:
    """Make the pages seeds to which seeds redirect, for good or for now."""
    seeds = {
        (v.visit.page, end)
        for v in verdicts
        if v.keep and v.visit.is_seed and v.item.redirects
        for end in _ends(v, named)
    }
    if seeds:
        tx.do("links/seeds", rows=[list(pair) for pair in sorted(seeds)])
        new_seeds = sorted({end for _, end in seeds})
        ledger.become_seeds(new_seeds)
        linking = {verdict.visit.page for verdict in verdicts if verdict.links}
        discovery.lower(tx, ledger, dict.fromkeys(new_seeds, 0), policy.scope, linking)


def explained(verdicts: Sequence[Verdict], named: Named, ledger: Accounts, policy: Policy) -> list[Verdict]:
    """Return the same verdicts, with a remark in the answers to redirects on where they lead, if that is no page of the
    crawl."""
    return [
        replace(v, answer=replace(v.answer, reason=_whither(v, _target(v, named), ledger, policy))) if _leads(v) else v
        for v in verdicts
    ]


def _leads(verdict: Verdict) -> bool:
    """Return whether it is a redirect that was accepted."""
    return verdict.answer.outcome == "alias" and verdict.answer.accepted


def _target(verdict: Verdict, named: Named) -> int | None:
    """The page that a redirect names; None: it is not there."""
    return next((named.ids[key] for key in verdict.item.targets if key in named.ids), None)


def _whither(verdict: Verdict, target: int | None, ledger: Accounts, policy: Policy) -> str:
    """Return the remark on where an alias leads, if that is no page of the crawl."""
    url = next((url for url, _ in verdict.item.targets.values()), "")
    if target is None:
        return f"redirects to {url[:200]}, which was forgotten for ever" if url else verdict.item.note
    if policy.scope.holds(url, host_of(url), ledger.depth_of(target)):
        return verdict.item.note
    return f"redirects to {url[:200]}, which is outside the scope"


def _alias_row(verdict: Verdict, ledger: Accounts, policy: Policy, now: float) -> list[object]:
    """Since when the page is an alias, and when it is looked at again: after a day, two, four, … while it stays one.

    One outside the scope is not looked at.
    """
    visit, item = verdict.visit, verdict.item
    since = visit.alias_since if visit.state == "alias" and visit.alias_since is not None else item.at
    if verdict.answer.outcome == "alias":
        after = min(DAY + max(0.0, now - since), LONGEST_ALIAS)
    else:
        failing = 0.0 if visit.failing_since is None else now - visit.failing_since
        after = max(health.missing_wait(visit.errors + 1) if item.missing else health.page_wait(failing), HOUR)
    inside = policy.scope.holds(visit.url, visit.host, ledger.depth_of(visit.page))
    return [visit.page, since, now + after if inside else None]
