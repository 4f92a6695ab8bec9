"""The links and redirects of a batch of visits, and the depths that follow. A link to an alias ends at the target of
the alias.

The caller has locked the pages with their accounts; `adjacency` writes the links. Statements: links/alias,
links/redirects, links/seeds, links/unalias.
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

__all__ = ["Named", "Relinked", "lower", "record", "reported_links"]

HOUR = 3_600.0
LONGEST_ALIAS = 180 * DAY
"""The most seconds before an alias is visited again. A younger alias is visited again after its age and a day."""


@dataclass(frozen=True, slots=True)
class Named:
    """The pages that a batch names.

    Attributes:
        ids: Key → id.
        goals: Key → id of the page at which links to it end: another page for an alias.
        created: The ids of created pages, ascending.
        linked: The keys of pages that may have links.
        redirecting: The keys of aliases. Some aliases have no target.
        unsure: Key → (id, reason) of pages that may take a better address.
        parked: The ids of parked pages.
        found: The number of created pages that wait for their first visit.
    """

    ids: dict[str, int]
    goals: dict[str, int]
    created: list[int]
    linked: set[str]
    redirecting: set[str]
    unsure: dict[str, tuple[int, str]]
    parked: set[int]
    found: int

    def created_keys(self) -> set[str]:
        """Return the keys of the created pages."""
        created = set(self.created)
        return {key for key, page in self.ids.items() if page in created}

    def aliases(self, keys: Iterable[str]) -> set[int]:
        """Return the ids of the pages with these keys that are aliases with a target."""
        return {self.ids[key] for key in self.redirecting.intersection(keys) if self.goals[key] != self.ids[key]}


def reported_links(verdict: Verdict, named: Named) -> ReportedLinks:
    """Return the links of a visit whose links count. A link to an alias ends at the target of the alias.

    An alias has no links. A page that redirects temporarily has one link, to its target, until a visit brings the page
    itself.
    """
    page, led_by, led_by_before = verdict.visit.page, verdict.led_by, verdict.visit.led_by
    if verdict.redirects and (verdict.item.led_by is None or not verdict.keep):
        return ReportedLinks(
            page, [], verdict.unlinks, spelt=verdict.visit.names_aliases, led_by=led_by, was_led_by=led_by_before
        )
    # Find the ends. A link to an alias of the page itself is ignored.
    keys = [key for key in verdict.targets if key in named.goals]
    ends = dict.fromkeys(named.goals[key] for key in keys)
    ends.pop(page, None)
    aliases = named.aliases(verdict.targets) if named.redirecting else ()
    replaces_all = verdict.unlinks or led_by != led_by_before
    if not (aliases or verdict.visit.names_aliases):
        return ReportedLinks(page, list(ends), replaces_all, led_by=led_by, was_led_by=led_by_before)
    # Distinguish ends that the page names itself from those that it names by aliases only.
    direct = frozenset(named.goals[key] for key in keys if named.ids[key] not in aliases)
    via = frozenset(named.goals[key] for key in keys if named.ids[key] in aliases) - direct
    return ReportedLinks(page, list(ends), replaces_all, frozenset(aliases), direct, via, True, led_by, led_by_before)


def lower(
    tx: Tx, verdicts: Sequence[Verdict], links: Sequence[ReportedLinks], named: Named, ledger: Accounts, policy: Policy
) -> None:
    """Lower the depths of pages to which these links lead. A redirect is no click."""
    redirect_of = {verdict.visit.page: verdict for verdict in verdicts if verdict.item.redirects}
    depths: dict[int, int] = {}
    for each, depth in zip(links, ledger.depths_of([each.page for each in links]), strict=True):
        verdict = redirect_of.get(each.page)
        new_depth = depth if verdict else depth + 1
        for end in _ends(verdict, named) if verdict else each.ends:
            depths[end] = min(new_depth, depths.get(end, new_depth))
    discovery.lower(tx, ledger, depths, policy.scope, {each.page for each in links})


def _ends(verdict: Verdict, named: Named) -> set[int]:
    """Return the target of a redirect, and if the target is an alias, the target of that, too."""
    ends = {of[key] for key in verdict.targets for of in (named.ids, named.goals) if key in of}
    return ends - {verdict.visit.page}


@dataclass(frozen=True, slots=True)
class Relinked:
    """The links and the redirects of a batch.

    Attributes:
        verdicts: The verdicts, with remarks on redirects in their answers.
        links: The links of the visits whose links count.
        leading: The pages that redirect to another page.
        astray: The pages whose in-links upkeep must check, since they redirect to another page than before, or no
            longer redirect.
        aliases: Rows [page, time since which it is an alias, time of its next visit or None], which are written with
            the visits.
        reached: The pages that have become targets of an alias.
        abandoned: The pages that have lost an alias.
    """

    verdicts: Sequence[Verdict]
    links: Sequence[ReportedLinks]
    leading: Sequence[int] = ()
    astray: set[int] = field(default_factory=set)
    aliases: Sequence[list[object]] = ()
    reached: set[int] = field(default_factory=set)
    abandoned: set[int] = field(default_factory=set)

    def to_look_at(self, ledger: Accounts) -> set[int]:
        """Return the pages whose in-links upkeep must check. Call it after the links of the batch are written."""
        return self.astray.union(compress(self.leading, ledger.may_be_linked(self.leading)))


def record(tx: Tx, verdicts: Sequence[Verdict], named: Named, ledger: Accounts, policy: Policy, now: float) -> Relinked:
    """Lower the depths that follow from the links of visits. Write the redirects of new aliases, and remove those of
    pages that are no longer aliases."""
    links = [reported_links(verdict, named) for verdict in verdicts if verdict.links]
    lower(tx, verdicts, links, named, ledger, policy)
    if not any(v.item.redirects or v.visit.state == "alias" or v.visit.led_by is not None for v in verdicts):
        return Relinked(verdicts, links)
    # Find the targets of the aliases, and the pages that are no longer aliases.
    target_of: dict[int, int] = {}
    aliases = [verdict for verdict in verdicts if verdict.keep and _leads(verdict)]
    for verdict in aliases:
        target = _target(verdict, named)
        if target is not None:
            target_of[verdict.visit.page] = target
    failing = [v for v in verdicts if v.keep and v.visit.state == "alias" and v.answer.outcome in ("retry", "slowed")]
    old_aliases = {v.visit.page for v in verdicts if v.keep and v.visit.state == "alias"}
    freed = old_aliases.difference(v.visit.page for v in (*aliases, *failing))
    # Read the old targets, and write the new ones.
    turning = freed | (old_aliases & target_of.keys())
    old_target_of = dict(tx.one("links/redirects", ids=sorted(turning))[0]) if turning else {}
    rows = [_alias_row(v, ledger, policy, now) for v in (*aliases, *failing)]
    if target_of:
        tx.do("links/alias", rows=[[page, target] for page, target in target_of.items()])
    if freed:
        tx.do("links/unalias", ids=sorted(freed))
    _seed(tx, verdicts, named, ledger, policy)
    # In-links of pages with another target must move. The same holds for a seed that redirected temporarily, since it
    # has made its target a seed.
    astray = freed | {page for page, target in old_target_of.items() if target_of.get(page, target) != target}
    astray |= {v.visit.page for v in verdicts if v.visit.led_by is not None and v.visit.is_seed and v.links}
    # Targets that are not locked were changed by another transaction.
    reached = {target for page, target in target_of.items() if old_target_of.get(page) != target}
    abandoned = {target for page, target in old_target_of.items() if target_of.get(page) != target}
    if not ledger.holds(abandoned):
        raise Again("a redirect leads elsewhere meanwhile")
    explained = [_explained(verdict, named, ledger, policy) if _leads(verdict) else verdict for verdict in verdicts]
    return Relinked(explained, links, list(target_of), astray, rows, reached, abandoned)


def _seed(tx: Tx, verdicts: Sequence[Verdict], named: Named, ledger: Accounts, policy: Policy) -> None:
    """Make the targets of redirects from seeds seeds, too; the redirects may be permanent or temporary."""
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


def _leads(verdict: Verdict) -> bool:
    """Return whether the visit is an accepted permanent redirect."""
    return verdict.answer.outcome == "alias" and verdict.answer.accepted


def _target(verdict: Verdict, named: Named) -> int | None:
    """Return the target of a redirect; None if the page does not exist."""
    return next((named.ids[key] for key in verdict.item.targets if key in named.ids), None)


def _explained(verdict: Verdict, named: Named, ledger: Accounts, policy: Policy) -> Verdict:
    """Return the verdict on a redirect. Its answer gets a remark if the target is outside the scope, or was forgotten
    for ever."""
    url, target = next((url for url, _ in verdict.item.targets.values()), ""), _target(verdict, named)
    remark = verdict.item.note
    if target is None and url:
        remark = f"redirects to {url[:200]}, which was forgotten for ever"
    elif target is not None and not policy.scope.holds(url, host_of(url), ledger.depth_of(target)):
        remark = f"redirects to {url[:200]}, which is outside the scope"
    return replace(verdict, answer=replace(verdict.answer, reason=remark))


def _alias_row(verdict: Verdict, ledger: Accounts, policy: Policy, now: float) -> list[object]:
    """Return the row [page, time since which it is an alias, time of its next visit].

    An alias is visited again after one day, two, four, … while it stays an alias. An alias outside the scope is not
    visited again (None).
    """
    visit, item = verdict.visit, verdict.item
    since = visit.alias_since if visit.state == "alias" and visit.alias_since is not None else item.at
    if verdict.answer.outcome == "alias":
        wait = min(DAY + max(0.0, now - since), LONGEST_ALIAS)
    else:
        failing_for = 0.0 if visit.failing_since is None else now - visit.failing_since
        wait = max(health.missing_wait(visit.errors + 1) if item.missing else health.page_wait(failing_for), HOUR)
    is_inside = policy.scope.holds(visit.url, visit.host, ledger.depth_of(visit.page))
    return [visit.page, since, now + wait if is_inside else None]
