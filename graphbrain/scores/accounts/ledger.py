"""The accounts of the pages that one transaction has locked: the part that both engines share.

Every transaction that touches accounts has the same shape. It locks pages in the order of their ids and reads both
sides (`lock`), records changes of pages (`relink`, `lower`, `become_seeds`, `wait_in` …), and writes the differences
with the ranks, priorities and lanes that follow from them (`write`). Only this room writes into a ledger's arrays; all
rooms may read them. `exact_ledger` and `classic_ledger` hold the two kinds, and `ledgers` chooses between them.

All written values are absolute and computed from locked state, so the transaction can safely run again. Ids are Neo4j's
internal ones. They are looked up by key in the same transaction, and define the one order in which all transactions
lock. The id of a deleted page is not reused while a transaction that could have read it is open, so a missing id means
a deleted page. Statements: accounts/*, scores/guess.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.errors import BeingConverted
from graphbrain.base.numeric.arrays import Flags, Floats, Ints
from graphbrain.base.numeric.ids import WHOLE, find, sums_of_links
from graphbrain.base.numeric.methods import METHODS
from graphbrain.base.numeric.rules import Forward, Rule
from graphbrain.graph.connection import Again, Outdated, Tx
from graphbrain.schedule import lanes
from graphbrain.schedule.lanes import PageColumns
from graphbrain.scores.accounts import algebra
from graphbrain.scores.accounts.algebra import NONE, Sides

__all__ = ["Accounts", "Blocks"]

A = TypeVar("A", bound="Accounts")
ROUNDING = 1e-6
UNWRITTEN = -1.0
"""The value that is read for a forward account of a page, or for its payments, if none is stored."""

Blocks = dict[str, list[list[Any]]]
"""The blocks of a writing statement by name. A block is the ids of pages, followed by columns of values."""


class Accounts(Sides):
    """Locked pages, sorted by id, and their accounts as arrays that are changed in place."""

    engine: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    locking: ClassVar[str]
    """The statement that locks pages and reads their accounts."""
    writing: ClassVar[str]
    """The statement that writes accounts. Each of its blocks has a group of properties for some of the pages."""
    first: ClassVar[Mapping[str, float]]
    """The properties of the account of a new page."""
    keeps_payouts: ClassVar[bool]
    """True if the history of a new page begins with its payout."""

    out_weight: Floats
    in_weight: Floats
    relevance: Floats
    depth: Floats
    first_fetched: Floats
    lane: Floats
    is_seed: Flags
    path_repeats: Floats
    siblings_before: Floats
    harvest: Floats
    """The factor that a page's section gives it while it waits for its first visit."""
    url_weight: Floats
    """The factor of the page's worth by patterns of URLs, in the setting `weights`."""
    flow: Floats
    flow_paid: Floats
    live_pagerank: Floats
    live_pagerank_paid: Floats
    """The forward accounts (`rules.Forward`): the amount of each page, and the amount that each unit of weight of its
    links has got."""
    flow_passes: Flags
    live_pagerank_passes: Flags
    """True if a page was read while the account was passed on, and is no alias. Other pages pass none on."""
    links_sum: Ints
    """The number that identifies the links of each page (`sums_of_links`). NONE if unknown, as for imported pages."""

    def __init__(self, rows: list[list[Any]], rule: Rule, unlinked: Sequence[int] = ()) -> None:
        wide = len(self.columns) + 1
        table = np.fromiter(chain.from_iterable(rows), np.float64, wide * len(rows)).reshape(len(rows), wide)
        self.rule = rule
        self.ids: Ints = table[:, 0].astype(np.int64)
        self._locked = frozenset(self.ids.tolist())
        self.hosts: NDArray[np.object_] = np.empty(0, dtype=object)
        self._values: Floats = np.empty(0)
        self._ranked = self._guessed = np.zeros(0, dtype=bool)
        self._reweighed = self._waits_anew = False
        self._linked = np.zeros(len(rows), dtype=bool)
        self._lowered: dict[int, tuple[int, int, int | None]] = {}
        """Id → (id, depth, the mark of a page whose targets must get their depths, or None)."""
        self._parked: dict[str | None, Flags] = {}
        # One array for each column, in the order of the ids.
        for number, name in enumerate(self.columns, start=1):
            setattr(self, name, table[:, number].copy())
        self.relevance[self.relevance < 0.0] = np.nan
        self.is_seed = self.is_seed > 0.0
        # A page whose amount was never written has its first amount.
        self.forwards = rule.forwards
        self._unwritten: dict[str, Flags] = {}
        for forward in self.forwards:
            has, paid = getattr(self, forward.name), getattr(self, forward.paid)
            unwritten = self._unwritten[forward.name] = has == UNWRITTEN
            setattr(self, forward.name, np.where(unwritten, forward.first(self.is_seed), has))
            setattr(self, f"{forward.name}_passes", paid != UNWRITTEN)
            setattr(self, forward.paid, np.where(paid != UNWRITTEN, paid, 0.0))
        unknown = np.where((self.out_weight == 0.0) & (not rule.weightless), 0, NONE)
        self.links_sum = np.where(self.links_sum < 0.0, unknown, self.links_sum.astype(np.int64))
        # Keep the locked state, so that only differences are written.
        passing = (f"{forward.name}_passes" for forward in self.forwards)
        self._before = {name: getattr(self, name).copy() for name in (*self.columns, *passing)}
        self.in_weight[self.at(unlinked)] = 0.0
        self._urgency_before = {forward.name: self._forward_priority(forward) for forward in self.forwards}

    @classmethod
    def lock(cls: type[A], tx: Tx, ids: Iterable[int], rule: Rule, created: Sequence[int] = ()) -> A:
        """Lock pages in the order of their ids. `created`: the pages among them that this transaction has created.

        To save a second write, a new page is stored with the weight of the links that it is about to get. In the ledger
        its weight is 0, unless another transaction has linked to it between its creation and the lock.

        Raises:
            Again: A page was deleted in the meantime.
            Outdated: The brain's settings have changed.
        """
        wanted = set(ids)
        ledger = cls.lock_present(tx, wanted, rule, created)
        if len(ledger.ids) != len(wanted):
            raise Again
        return ledger

    @classmethod
    def lock_present(cls: type[A], tx: Tx, ids: Iterable[int], rule: Rule, created: Sequence[int] = ()) -> A:
        """Lock those of the pages that still exist.

        Raises:
            Outdated: The brain's settings have changed.
            BeingConverted: The brain's engine is being changed.
        """
        if rule.engine != cls.engine:
            raise BeingConverted
        rows, revision, unlinked = tx.one(cls.locking, ids=sorted(ids), made=created)
        if revision != rule.revision:
            raise Outdated("its settings are being changed, or files imported")
        ledger = cls(rows, rule, unlinked)
        if rule.knows_hosts:
            hosts = dict(tx.one("accounts/hosts", ids=ledger.ids.tolist())[0])
            ledger.hosts = np.array([hosts[page] for page in ledger.ids.tolist()], dtype=object)
        if rule.standing_value not in ("authority", "hub"):
            ledger.read_values(tx)
        if rule.bends_payouts and cls.keeps_payouts:
            ledger.read_payouts(tx)
        return ledger

    def read_payouts(self, tx: Tx) -> None:
        """Read the payouts of the pages; `write` will pay the difference to the payouts due."""
        raise NotImplementedError

    def read_values(self, tx: Tx) -> None:
        """Read the values of the pages for the schedule, if they are neither of the two scores."""
        ids, name = self.ids.tolist(), lanes.property_of(self.rule.value)
        rows = {page: values for page, *values in tx.one("accounts/values", ids=ids, name=name)[0]}
        values = [rows.get(page, (None, None)) for page in ids]
        self._values = np.array([lanes.scored(self.rule, *each) for each in values])
        self._ranked = np.array([stored is not None for stored, _ in values], dtype=bool)
        self._guessed = np.array([guess is not None for _, guess in values], dtype=bool)

    def guess_values(self, tx: Tx, links: Mapping[int, Sequence[int]], new: Mapping[int, Sequence[int]]) -> None:
        """Give a provisional score to pages that are younger than the batch score that the order uses.

        Args:
            links: Page that was just read → all pages it links to.
            new: Page that was just read → the pages to which it did not link before. These get the scores.
        """
        if self.rule.value not in METHODS or not new:
            return
        has_value = self._ranked | self._guessed
        if not has_value.any():
            return
        guesses: dict[int, float] = {}
        # A page passes on its score, or the guess of it.
        values, counts = np.where(has_value, self._values, 0.0), np.where(has_value, self.in_weight, 0.0)
        for page, targets in new.items():
            ends = self.at(links[page])
            each = list(zip(values[ends].tolist(), counts[ends].tolist(), strict=True))
            passed = lanes.passed_on(self.rule, float(self._values[self.at([page])[0]]), each)
            for target in self.at(targets).tolist():
                if not self._ranked[target]:
                    before = float(values[target]) if has_value[target] else lanes.first_given(self.rule)
                    guesses[target] = guesses.get(target, before) + passed
        # Use the guesses in this transaction, and store them.
        if guesses:
            places = list(guesses)
            self._values[places] = list(guesses.values())
            self._waits_anew = True
            tx.do("scores/guess", ids=self.ids[places].tolist(), values=list(guesses.values()))

    def open(self, tx: Tx, now: float) -> object:
        """Read the values that all accounts share, if the engine has such values. They are needed for scores, and are
        locked after the pages."""

    def weighed(self, tx: Tx, now: float) -> Floats:
        """Return the values of the pages for the schedule, with their relevance. No page may be locked afterwards."""
        self.open(tx, now)
        return lanes.weighed(self.rule, self._value(), self.relevance, self.url_weight)

    def lanes(self, value: Floats | None = None, *, steady: bool = True) -> Ints:
        """Return the lane of each page by its present value, or by `value`. With `steady`, a page keeps its lane if
        that is about right."""
        value = self._value() if value is None else value
        stored, fetched = self.lane.astype(np.int64), self.first_fetched >= 0.0
        return lanes.lane_of(self.rule, value, self.relevance, self.url_weight, self.depth, fetched, stored, steady)

    def _value(self) -> Floats:
        if self.rule.blend:
            return self.valued(self.authority_score)
        if self.rule.value == "authority":
            return self.authority_score
        return self.hub_score if self.rule.value == "hub" else self._values

    def valued(self, authority: Floats) -> Floats:
        """Return the values of pages with these authority scores. An unfetched page has the value of the blend."""
        page_columns = PageColumns(
            self.in_weight,
            self.depth,
            self.path_repeats,
            self.siblings_before,
            self.is_seed,
            self.relevance,
            self.harvest,
        )
        blend = lanes.blended(self.rule.blend or {}, authority, self.flow, self.live_pagerank, page_columns)
        return np.where(self.first_fetched >= 0.0, authority, blend)

    def holds(self, ids: Iterable[int]) -> bool:
        """Return True if all of these pages are locked."""
        return self._locked.issuperset(ids)

    def at(self, ids: Any) -> Ints:
        """Return the places of ids in the arrays.

        Raises:
            Again: One of them is not locked.
        """
        places = find(self.ids, np.asarray(ids, dtype=np.int64))
        if (places < 0).any():
            raise Again
        return places

    def seek(self, ids: Ints) -> Ints:
        """Return the places of ids in the arrays, −1 for one that is not locked."""
        return find(self.ids, ids)

    def weights(self, sources: Ints, targets: Ints) -> Floats:
        """Return the weights of links between places: 1, or the intra-host weight inside a host."""
        if self.rule.intra_host_weight == 1.0:
            return np.ones(len(sources))
        inside = self.hosts[sources] == self.hosts[targets]
        return np.where(inside, self.rule.intra_host_weight, 1.0)

    def depth_of(self, page: int) -> int:
        """Return the number of clicks from a seed to a page."""
        return self.depths_of([page])[0]

    def depths_of(self, pages: Sequence[int]) -> list[int]:
        """Return the number of clicks from a seed to each of these pages."""
        depths: list[int] = self.depth[self.at(pages)].astype(np.int64).tolist()
        return depths

    def may_link(self, pages: Sequence[int]) -> list[bool]:
        """Return for each of these pages whether it may have links: its links have some weight, or the rule has links
        of weight 0."""
        return ((self.out_weight[self.at(pages)] > 0.0) | self.rule.weightless).tolist()  # type: ignore[no-any-return]

    def may_be_linked(self, pages: Sequence[int]) -> list[bool]:
        """Return for each of these pages whether others may link to it."""
        return ((self.in_weight[self.at(pages)] > 0.0) | self.rule.weightless).tolist()  # type: ignore[no-any-return]

    def in_links_turned(self) -> list[int]:
        """Return the pages that may have lost their last in-link since the lock, or got their first one."""
        turned = (self._before["in_weight"] > 0.0) != (self.in_weight > 0.0)
        if self.rule.weightless:
            turned = self._linked
        ids: list[int] = self.ids[turned].tolist()
        return ids

    # ------------------------------------------------------------------------------- changes of pages

    def relink(self, sources: Any, targets: Any, sign: int) -> None:
        """Record that links appear (+1) or disappear (−1)."""
        a, b = self.at(sources), self.at(targets)
        self._weigh_and_pay(a, b, sign * self.weights(a, b))
        self._linked[b] = True
        changed = self.links_sum + sign * sums_of_links(a, self.ids[b], len(self.ids))
        self.links_sum = np.where(self.links_sum == NONE, NONE, changed & WHOLE)

    def reweigh(self, sources: Any, targets: Any, change: float) -> None:
        """Record that links become heavier by `change`, or lighter."""
        self._reweighed = True
        a, b = self.at(sources), self.at(targets)
        self._weigh_and_pay(a, b, np.full(len(a), change))

    def _weigh_and_pay(self, a: Ints, b: Ints, w: Floats) -> None:
        """Change the weights of links from places `a` to places `b` by `w`, with the accounts at both ends."""
        self._weigh(a, b, w)
        for forward in self.forwards:
            np.add.at(getattr(self, forward.name), b, w * getattr(self, forward.paid)[a])

    def _weigh(self, a: Ints, b: Ints, w: Floats) -> None:
        """Change the weights of links from places `a` to places `b` by `w`, with the engine's accounts of both ends."""
        raise NotImplementedError

    def lower(self, depths: Mapping[int, int], linking: Collection[int] = frozenset()) -> list[int]:
        """Record that pages can be reached at these depths (id → clicks), and return those whose depth falls.

        The returned pages that have links, or that are `linking` (about to get some), are marked: the depths of their
        targets must be lowered, too.
        """
        pages = np.array(list(depths), dtype=np.int64)
        places, offered = self.at(pages), np.array(list(depths.values()), dtype=np.float64)
        shorter = offered < self.depth[places]
        self.depth[places[shorter]] = offered[shorter]
        lowered: list[int] = pages[shorter].tolist()
        for page, links in zip(lowered, self.may_link(lowered), strict=True):
            self._lowered[page] = (page, depths[page], depths[page] if links or page in linking else None)
        return lowered

    def deepened(self, pages: Iterable[int]) -> None:
        """Record that the depths of the targets of these pages have been lowered. This removes the marks of `lower`."""
        for page, depth in zip(pages, self.depths_of(list(pages)), strict=True):
            self._lowered[page] = (page, depth, None)

    def become_seeds(self, pages: Iterable[int]) -> None:
        """Make pages seeds: they get the flow of a seed, and a seed's payout if the policy pays seeds."""
        self._set_seeds(pages, True)

    def cease_as_seeds(self, pages: Iterable[int]) -> None:
        """Make seeds ordinary pages, without the flow and the payout of a seed."""
        self._set_seeds(pages, False)

    def _set_seeds(self, pages: Iterable[int], are_seeds: bool) -> None:
        before = self.is_seed.copy()
        self.is_seed[self.at(list(pages))] = are_seeds
        for forward in self.forwards:
            has: Floats = getattr(self, forward.name)
            has += forward.first(self.is_seed) - forward.first(before)

    def note_first_fetch(self, moments: Mapping[int, float]) -> None:
        """Record the time of the first fetch of pages (id → time). Payouts and lanes may depend on it."""
        if moments:
            self.first_fetched[self.at(list(moments))] = list(moments.values())

    def take_relevance(self, rows: Sequence[Sequence[Any]]) -> None:
        """Record the stated or guessed relevance of pages (by id), 0 to 1, or None for unknown."""
        if rows:
            relevances = [np.nan if relevance is None else relevance for _, relevance in rows]
            self.relevance[self.at([page for page, _ in rows])] = relevances

    def take_values(self, rows: Sequence[Sequence[Any]]) -> None:
        """Record the crawler's own values of pages (by id), if the order uses them."""
        if rows and self.rule.value == "own":
            self._values[self.at([row[0] for row in rows])] = [row[1] for row in rows]
            self._waits_anew = True

    def take_harvest(self, factors: Mapping[int, float]) -> None:
        """Record the factors that sections give to waiting pages (id → factor, above 0 and at most 1)."""
        self.harvest[self.at(list(factors))] = list(factors.values())
        self._waits_anew = True

    def take_url_weights(self, weights: Mapping[int, float]) -> None:
        """Record the factors that patterns of URLs give to pages (id → factor, above 0)."""
        self.url_weight[self.at(list(weights))] = list(weights.values())
        self._waits_anew |= bool(self._changed("url_weight").any())

    def wait_in(self, wanted: Mapping[int, int]) -> None:
        """Record the lanes (id → lane) in which pages wait when they wait again."""
        if wanted:
            self.lane[self.at(list(wanted))] = list(wanted.values())
            self._waits_anew = True

    def set_payouts(self, tx: Tx, payouts: Mapping[int, float | None]) -> None:
        """Set the payouts of pages (by id); None: the rule's.

        Raises:
            BadInput: The engine pays all pages in equal parts.
        """
        raise NotImplementedError

    def bury(self, page: int) -> None:
        """Remove a locked page without links that is about to be deleted."""
        raise NotImplementedError

    def pass_on(self, links: Mapping[int, Sequence[int]], aliases: Iterable[int] = ()) -> None:
        """Let pages that were just read pass on the amount due of each forward account that is kept.

        Afterwards each unit of link weight has got share · F/d in all, whatever it had got before. Flow is the cash of
        OPIC of 2003 (Abiteboul, Preda, Cobena, WWW 2003, section 3), where each page spends when it is read. F = first
        + Σ w·paid over the in-links holds at every commit, so F can be recomputed anywhere. `aliases` pass no flow on:
        the alias's target gets their in-links, and with them the amounts that these have paid.

        Args:
            links: Page → all pages it links to, all locked.
            aliases: The pages among them that are aliases.
        """
        kept = [forward for forward in self.forwards if forward.kept]
        if not kept:
            return
        sources = self.at([page for page, others in links.items() for _ in others])
        targets = self.at([other for others in links.values() for other in others])
        payers = np.unique(sources[self.out_weight[sources] > 0.0])
        for forward in kept:
            self._passes(forward)[payers] = True
            if forward.by_reading:
                self._passes(forward)[self.at(list(aliases))] = False
            self._pass(forward, payers, sources, targets)

    def _passes(self, forward: Forward) -> Flags:
        flags: Flags = getattr(self, f"{forward.name}_passes")
        return flags

    def forward(self, name: str) -> Forward:
        """Return the forward account of this name."""
        return next(forward for forward in self.forwards if forward.name == name)

    def _pass(self, forward: Forward, pages: Ints, sources: Ints, targets: Ints, goals: Floats | None = None) -> None:
        """Let the places `pages` pass on the amount due along `sources[i]` → `targets[i]` (all their links).

        `goals`: A score for every place. With it, the amount is the one that is due for these scores.
        """
        payouts = self._forward_due(forward) if goals is None else forward.share * goals
        has, paid = getattr(self, forward.name), getattr(self, forward.paid)
        new = payouts[pages] / self.out_weight[pages]
        steps = np.zeros(len(paid))
        steps[pages] = new - paid[pages]
        paid[pages] = new
        self._passes(forward)[pages] = True
        np.add.at(has, targets, self.weights(sources, targets) * steps[sources])

    def _forward_due(self, forward: Forward) -> Floats:
        """Return the amount of an account that the links of each page should have got in all."""
        passes = self._passes(forward) if forward.by_reading else self.out_weight > 0.0
        return np.where(passes, forward.share * getattr(self, forward.name), 0.0)

    def _forward_priority(self, forward: Forward) -> Ints:
        """Return the priority of another push of each page, and NONE for all if no push passes this account on."""
        if not forward.pushed:
            return np.full(len(self.ids), NONE)
        paid = getattr(self, forward.paid)
        return algebra.forward_priority(self._forward_due(forward), self.out_weight, paid, forward.eps)

    def may_pass_on(self, pages: Iterable[int], aliases: Iterable[int]) -> None:
        """Let pages pass on the accounts that pushes pass on, also if they were read before pushes did so. `aliases`
        pass nothing on."""
        for forward in self.forwards:
            if forward.pushed and forward.by_reading:
                self._passes(forward)[self.at(list(pages))] = True
                self._passes(forward)[self.at(list(aliases))] = False

    def urgency(self, side: str) -> Ints:
        """Return the priorities with which this side of the pages waits for a push now.

        Each forward account is a side too, under both engines.
        """
        return self._forward_priority(self.forward(side))

    def push(self, side: str, pages: Ints, payers: Ints, payees: Ints) -> None:
        """Spend the waiting cash of one side of the places `pages` along `payers[i]` – `payees[i]` (all their links on
        it)."""
        self._pass(self.forward(side), pages, payers, payees)

    def bring(self, name: str, pages: Ints, goals: Floats, payers: Ints, payees: Ints) -> None:
        """Let the places `pages` pass on the amounts due for these `goals` along `payers[i]` – `payees[i]` (all their
        links)."""
        wanted = np.zeros(len(self.ids))
        wanted[pages] = goals
        self._pass(self.forward(name), pages, payers, payees, wanted)

    def park(self, side: str, pages: Ints) -> None:
        """Remove a side of these pages (by id) from the order of work until they are paid again.

        They have more neighbours than a push may have, or are not worth a push: other workers have pushed them, and a
        transaction that began earlier has written their mark.
        """
        parked = np.zeros(len(self.ids), dtype=bool)
        parked[self.at(pages)] = True
        self._parked[side] = parked

    def spend_among(self, links: Mapping[int, Sequence[int]]) -> tuple[int, int]:  # noqa: ARG002
        """Push the sides that are worth it and have all their links among these. No further page has to be locked.

        Args:
            links: Page → the pages it links to, all locked.

        Returns:
            The number of pushes, and the number of payments.
        """
        return 0, 0

    def write(self, tx: Tx, now: float, all_marks: bool = False) -> object:
        """Write the differences from the locked state, and the marks that follow from them (or all marks).

        Raises:
            Misfit: Links and weights differ.
        """
        raise NotImplementedError

    def compare(self, tx: Tx, side: str, links: Mapping[int, Sequence[int]], whole: bool = True) -> None:
        """Compare weights with links (page → the pages that a side of it pays) that were read under the locks.

        A page is skipped if its links may differ in weight and it has a neighbour that is not locked. With `whole`,
        none of its links is missing, not even one of weight 0.

        Raises:
            Misfit: Links and weights differ.
        """
        if not links:
            return
        # Flatten the links: `each` is the row of a link's page, `others` the place of its other end, negative if that
        # is not locked.
        pages = self.at(list(links))
        each = np.repeat(np.arange(len(pages)), [len(others) for others in links.values()])
        ids = np.array([other for page in links.values() for other in page], dtype=np.int64)
        others = self.seek(ids)
        # Compare the sums of weights. The weight of a link to a page that is not locked may be unknown (NaN), which
        # equals every weight.
        unknown = 1.0 if self.rule.intra_host_weight == 1.0 else np.nan
        weights = np.where(others >= 0, self.weights(pages[each], others), unknown)
        read = np.bincount(each, weights, len(pages))
        ledger_weights = (self.out_weight if side == "hub" else self.in_weight)[pages]
        if (wrong := np.abs(read - ledger_weights) > ROUNDING * (1.0 + read)).any():
            tx.attempts.meet_misfits(self.ids[pages[wrong]].tolist())
        # If links can have weight 0, a weight does not show that a page has no links: remember the links themselves.
        if side == "hub" and whole and self.rule.weightless:
            sums = sums_of_links(each, ids, len(pages))
            self.links_sum[pages] = np.where(self.links_sum[pages] == NONE, sums, self.links_sum[pages])

    def _send(self, tx: Tx, blocks: Blocks, **values: Any) -> None:
        """Write these blocks by the one statement of the engine. The database counts the links of written weights.

        Raises:
            Misfit: Links and weights differ.
        """
        sent = {name: block for name, block in blocks.items() if block}
        even = self.rule.intra_host_weight == 1.0 and not self._reweighed
        if sent and (wrong := tx.one(self.writing, **sent, even=even, **values)[0]):
            tx.attempts.meet_misfits(wrong)

    def _block(self, which: Flags, *columns: str | NDArray[Any]) -> list[list[Any]]:
        """Return one block over these places: its columns are those of the ledger (by name), or arrays. NaN and NONE
        are stored as null."""
        if not which.any():
            return []
        arrays = (getattr(self, each) if isinstance(each, str) else each for each in columns)
        return [self.ids[which].tolist(), *(_plain(each[which]) for each in arrays)]

    def _link_blocks(self, all_marks: bool) -> Blocks:
        """Return the blocks that follow from links: weights, depths, and the amounts, payments and marks of forward
        accounts.

        A page without a kept account gets its first amount in the backfill of all marks.
        """
        # Write weights and depths.
        blocks = {
            "out_weights": self._block(self._changed("out_weight", "links_sum"), "out_weight", "links_sum"),
            "in_weights": self._block(self._changed("in_weight"), "in_weight"),
            "depths": [list(each) for each in zip(*self._lowered.values(), strict=True)],
        }
        for forward in self.forwards:
            # Write the amount of each page, the amount that its links have got, and its priority.
            name, fills = forward.name, all_marks and forward.kept and forward.other > 0.0
            paid = np.where(self._passes(forward), getattr(self, forward.paid), np.nan)
            before, priority = self._urgency_before[name], self._forward_priority(forward)
            relieved = "out_weight" if forward.pushed else None
            blocks |= {
                f"{name}_amounts": self._block(self._changed(name) | (self._unwritten[name] & fills), name),
                f"{name}_payments": self._block(self._changed(forward.paid, f"{name}_passes"), paid),
                f"{name}_priorities": self._mark(name, priority, before, all_marks, relieved),
            }
        return blocks

    def _place_blocks(self, all_marks: bool) -> Blocks:
        """Return the blocks of the lanes of pages, and of the factors of their sections."""
        lane = self.lanes(steady=not all_marks)
        harvest, weight = (np.where(factor == 1.0, np.nan, factor) for factor in (self.harvest, self.url_weight))
        return {
            "lanes": self._block(lane != self._before["lane"], lane),
            "harvests": self._block(self._changed("harvest"), harvest),
            "url_weights": self._block(self._changed("url_weight"), weight),
        }

    def _mark(
        self, side: str | None, mark: Ints, before: Ints, every: bool, weight: str | None = None
    ) -> list[list[Any]]:
        """Return the block of a mark for the places where it changes, or for `every` place.

        A parked `side` loses its priority. A side that has lost so many neighbours that pushes may have it again gets
        its priority anew (`_relieved` by this `weight`).
        """
        changed = mark != before
        which = every | changed
        if weight:
            which |= self._relieved(weight)
        if side in self._parked:
            parked = self._parked[side]
            mark, which = np.where(parked & ~changed, NONE, mark), which | parked
        return self._block(which, mark)

    def _relieved(self, weight: str) -> NDArray[np.bool_]:
        """Return the places of sides that may have had more neighbours than a push allows, and now have fewer.

        Pushes have removed the marks of such sides, whatever their accounts. A side has at most as many neighbours as
        its weight divided by the weight of its lightest link.
        """
        before: Floats = self._before[weight]
        now: Floats = getattr(self, weight)
        lightest = self.rule.intra_host_weight or 1.0
        relieved: NDArray[np.bool_] = (now < before) & (before > self.rule.max_payees * lightest)
        return relieved

    def _changed(self, *names: str) -> Flags:
        """Return the places where one of these columns differs from the locked state."""
        changed = np.zeros(len(self.ids), dtype=bool)
        for name in names:
            changed |= getattr(self, name) != self._before[name]
        return changed


def _plain(column: NDArray[Any]) -> list[Any]:
    values: list[Any] = column.tolist()
    absent = column == NONE if column.dtype == np.int64 else np.isnan(column)
    if absent.any():
        return [None if missing else value for value, missing in zip(values, absent.tolist(), strict=True)]
    return values
