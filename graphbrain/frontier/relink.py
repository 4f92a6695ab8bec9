"""The links and redirects that a batch of visits tells of: their difference to those that are known, written.

A link to an alias ends where the alias leads. Pages are locked, with their accounts; depths follow.
Statements: links/alias, links/redirects, links/seeds, links/unalias, visits/alias.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

from graphbrain.accounts import adjacency
from graphbrain.accounts.ledgers import Accounts
from graphbrain.frontier import discovery
from graphbrain.frontier.verdicts import Policy, Verdict
from graphbrain.frontier.visits import HOUR, pause
from graphbrain.graph.connection import Again, Tx
from graphbrain.schedule.value import DAY
from graphbrain.url import host_of

__all__ = ["Led", "redirect", "relink"]

LONGEST_ALIAS = 180 * DAY
"""An alias is looked at again after as long as it has been one, and a day; but after so long at the latest."""


@dataclass(frozen=True, slots=True)
class Led:
    """Key → id of each page that a batch names, and of the page it leads to: another one if it is an alias."""

    ids: dict[str, int]
    goals: dict[str, int]
    redirecting: set[str]
    """keys of aliases, some of which lead nowhere"""

    def aliases(self, keys: Iterable[str]) -> set[int]:
        """Those among these pages that lead to another."""
        if not self.redirecting:
            return set()
        return {self.ids[key] for key in self.redirecting.intersection(keys) if self.goals[key] != self.ids[key]}


def relink(
    tx: Tx,
    verdicts: Sequence[Verdict],
    led: Led,
    ledger: Accounts,
    policy: Policy,
    now: float,
) -> dict[int, list[int]]:
    """Write the difference between the links that are known and those that were reported; depths follow. All links
    that these pages have now: page → those it links to.

    A link to an alias is one to the page that it leads to.
    """
    taking = [v for v in verdicts if v.links]
    links: dict[int, list[int]] = {}
    if not taking:
        return links
    pages = [v.visit.page for v in taking]
    old = adjacency.held(tx, ledger, "hub", compress(pages, ledger.may_link(pages)))
    named = {v.visit.page: led.aliases(v.targets) for v in taking}
    spelt = adjacency.spelling(tx, (v.visit.page for v in taking if v.visit.names_aliases or named[v.visit.page]))
    made: adjacency.Ends = []
    gone: adjacency.Ends = []
    names: list[list[object] | None] = []
    depths: dict[int, int] = {}
    for verdict in taking:
        page = verdict.visit.page
        before = set(old.get(page, ()))
        if verdict.unlinks and not ledger.holds(before):
            raise Again
        after = list(dict.fromkeys(led.goals[key] for key in verdict.targets if key in led.goals))
        if page in after:  # by way of an alias of itself
            after.remove(page)
        new = [target for target in after if target not in before]
        if new:
            made.append((page, new))
        if verdict.unlinks and (lost := before.difference(after)):
            gone.append((page, sorted(lost)))
        links[page] = after if verdict.unlinks else [*before, *new]
        if page in spelt:
            now_named = _spelling(verdict, led, named[page], spelt[page], new)
            names.append(now_named.row(page, spelt[page], links[page]))
        depth = ledger.depth_of(page)
        _offer(depths, depth if verdict.item.leads_on else depth + 1, after)
    adjacency.create(tx, ledger, made, now)
    ledger.guess_values(tx, links, dict(made))
    adjacency.delete(tx, ledger, gone)
    adjacency.respell(tx, ledger, names)
    discovery.lower(tx, ledger, depths, policy.scope)
    return links


def _spelling(
    verdict: Verdict, led: Led, named: set[int], before: adjacency.Spelling, new: Iterable[int]
) -> adjacency.Spelling:
    """What the page names after this visit; one that was refused only adds links."""
    own = {led.goals[key] for key in verdict.targets if key in led.goals and led.ids[key] not in named}
    via = {led.goals[key] for key in verdict.targets if key in led.goals and led.ids[key] in named} - own
    if verdict.unlinks:
        return adjacency.Spelling(frozenset(named), frozenset(via))
    return adjacency.Spelling(before.named | named, (before.via - own) | via.intersection(new))


def redirect(tx: Tx, verdicts: Sequence[Verdict], led: Led, ledger: Accounts, policy: Policy, now: float) -> set[int]:
    """Write which pages are aliases of which, and are so no more; those whose in-links are to be looked at for it."""
    leading: dict[int, int] = {}
    seeds: set[tuple[int, int]] = set()
    aliases: list[Verdict] = []
    for verdict in verdicts:
        if verdict.answer.outcome == "alias" and verdict.answer.accepted:
            target = next((led.ids[key] for key in verdict.item.targets if key in led.ids), None)
            verdict.answer = replace(verdict.answer, reason=_whither(verdict, target, ledger, policy))
            if verdict.keep:
                aliases.append(verdict)
                if target is not None:
                    leading[verdict.visit.page] = target
                if verdict.visit.is_seed:
                    ends = {led.ids[key] for key in verdict.item.targets if key in led.ids}
                    ends |= {led.goals[key] for key in verdict.item.targets if key in led.goals}
                    seeds |= {(verdict.visit.page, end) for end in ends if end != verdict.visit.page}
    failing = [v for v in verdicts if v.keep and v.visit.state == "alias" and v.answer.outcome in ("retry", "slowed")]
    was = {v.visit.page for v in verdicts if v.keep and v.visit.state == "alias"}
    again = was.difference(v.visit.page for v in (*aliases, *failing))
    before = dict(tx.one("links/redirects", ids=sorted(was & leading.keys()))[0]) if was & leading.keys() else {}
    if leading:
        tx.do("links/alias", rows=[[page, target] for page, target in leading.items()])
    if aliases or failing:
        tx.do("visits/alias", rows=[_alias_row(v, ledger, policy, now) for v in (*aliases, *failing)])
    if again:
        tx.do("links/unalias", ids=sorted(again))
    if seeds:
        tx.do("links/seeds", rows=[list(pair) for pair in sorted(seeds)])
        made = sorted({end for _, end in seeds})
        ledger.become_seeds(made)
        discovery.lower(tx, ledger, dict.fromkeys(made, 0), policy.scope)
    linked = set(compress(leading, ledger.may_be_linked(list(leading))))
    return linked | again | {page for page, target in before.items() if leading[page] != target}


def _whither(verdict: Verdict, target: int | None, ledger: Accounts, policy: Policy) -> str:
    """What the answer says of where an alias leads, if that is no page of the crawl."""
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
        after = max(pause(visit.errors + 1, item.missing), HOUR)
    inside = policy.scope.holds(visit.url, visit.host, ledger.depth_of(visit.page))
    return [visit.page, since, now + after if inside else None]


def _offer(depths: dict[int, int], depth: int, targets: Iterable[int]) -> None:
    for target in targets:
        if depth < depths.get(target, depth + 1):
            depths[target] = depth
