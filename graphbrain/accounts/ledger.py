"""The accounts of the pages that one transaction has locked: what the ledgers of both engines share.

Every transaction that touches accounts has the same shape: lock pages in the order of their ids and read both sides
(`lock`), say what happens to pages (`relink`, `lower`, `become_seeds`, `wait_in` …), and write what has changed
together with what follows from it: ranks, priorities, lanes (`write`). Only this room writes into a ledger's arrays;
everybody may read them. `exact_ledger` and `classic_ledger` hold the two kinds; which of them a brain needs, `ledgers`
says. All values written are absolute and computed from locked state, so running the transaction again is safe. Ids are
Neo4j's internal ones: they are looked up by key in the same transaction, and give the one order in which everybody
locks. The id of a page that is deleted meanwhile is not given to another node while a transaction that could have read
it is open, so a page that is gone is told by its missing id.
Statements: accounts/*, scores/guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphbrain.accounts import algebra, link_sums
from graphbrain.accounts.algebra import NONE
from graphbrain.accounts.sides import Sides
from graphbrain.arrays import Flags, Floats, Ints
from graphbrain.errors import BeingConverted
from graphbrain.graph.connection import Again, Outdated, Tx
from graphbrain.methods import METHODS
from graphbrain.places import find
from graphbrain.rules import Forward, Rule
from graphbrain.schedule import lanes
from graphbrain.schedule.lanes import Known

__all__ = ["Accounts"]

A = TypeVar("A", bound="Accounts")
ROUNDING = 1e-6
UNWRITTEN = -1.0
"""Read in place of what a page has of an account that goes forward, or has paid of it, where none is written."""
WRITE = {
    "flow": ("accounts/flow", "accounts/flow_paid", "accounts/flow_priority"),
    "live_pagerank": ("accounts/live_pagerank", "accounts/live_pagerank_paid", "accounts/live_pagerank_priority"),
}
"""What writes an account that goes forward: what pages have, what they have paid, and their marks."""


class Accounts(Sides):
    """Locked pages, sorted by id, and their accounts as arrays to be changed in place."""

    engine: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    statement: ClassVar[str]
    first: ClassVar[Mapping[str, float]]
    """The account a page is created with."""
    keeps_payouts: ClassVar[bool]
    """Does a page begin with what the virtual page pays it as its history?"""

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
    """the factor of its section with which a page that was never fetched waits"""
    flow: Floats
    flow_paid: Floats
    live_pagerank: Floats
    live_pagerank_paid: Floats
    """The accounts that go forward (`rules.Forward`): what pages have of them, and what each unit of weight of their
    links has got."""
    flow_passes: Flags
    live_pagerank_passes: Flags
    """Of one that goes on by reading: has a page been read, as no alias, while it was passed on? Others pass none
    on."""
    links_sum: Ints
    """What `link_sums` says of the links of each page; NONE where nobody knows, as of imported pages."""

    def __init__(self, rows: list[list[Any]], rule: Rule) -> None:
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
        for number, name in enumerate(self.columns, start=1):
            setattr(self, name, table[:, number].copy())
        self.relevance[self.relevance < 0.0] = np.nan
        self.is_seed = self.is_seed > 0.0
        self.forwards = rule.forwards
        self._before_read: dict[str, Floats] = {}
        for forward in self.forwards:
            has, paid = getattr(self, forward.name), getattr(self, forward.paid)
            self._before_read[forward.name] = has
            setattr(self, forward.name, np.where(has == UNWRITTEN, forward.first(self.is_seed), has))
            setattr(self, f"{forward.name}_passes", paid != UNWRITTEN)
            setattr(self, forward.paid, np.where(paid != UNWRITTEN, paid, 0.0))
        unknown = np.where((self.out_weight == 0.0) & (not rule.weightless), 0, NONE)
        self.links_sum = np.where(self.links_sum < 0.0, unknown, self.links_sum.astype(np.int64))
        self._before = {name: getattr(self, name).copy() for name in (*self.columns, *self._flags())}
        self._urgency_before = {forward.name: self._forward_priority(forward) for forward in self.forwards}

    @classmethod
    def lock(cls: type[A], tx: Tx, ids: Iterable[int], rule: Rule) -> A:
        """Lock pages in the order of their ids.

        Raises Again when one is gone: it was deleted meanwhile; Outdated when the brain's settings have changed.
        """
        wanted = set(ids)
        ledger = cls.lock_present(tx, wanted, rule)
        if len(ledger.ids) != len(wanted):
            raise Again
        return ledger

    @classmethod
    def lock_present(cls: type[A], tx: Tx, ids: Iterable[int], rule: Rule) -> A:
        """Lock those of the pages that are still there.

        Raises Outdated when the brain's settings have changed, BeingConverted when its engine has.
        """
        if rule.engine != cls.engine:
            raise BeingConverted
        rows, revision = tx.one(cls.statement, ids=sorted(ids))
        if revision != rule.revision:
            raise Outdated("its settings are being changed, or files imported")
        ledger = cls(rows, rule)
        if rule.knows_hosts:
            hosts = dict(tx.one("accounts/hosts", ids=ledger.ids.tolist())[0])
            ledger.hosts = np.array([hosts[page] for page in ledger.ids.tolist()], dtype=object)
        if rule.standing_value not in ("authority", "hub"):
            ledger.read_values(tx)
        ledger.locked(tx)
        return ledger

    def locked(self, tx: Tx) -> None:
        """Read what else is needed, now that the pages are locked."""

    def read_values(self, tx: Tx) -> None:
        """Read what the pages are worth to the schedule, where that is neither of their two scores."""
        ids, name = self.ids.tolist(), lanes.property_of(self.rule.value)
        rows = {page: told for page, *told in tx.one("accounts/values", ids=ids, name=name)[0]}
        told = [rows.get(page, (None, None)) for page in ids]
        self._values = np.array([lanes.scored(self.rule, *each) for each in told])
        self._ranked = np.array([stored is not None for stored, _ in told], dtype=bool)
        self._guessed = np.array([guess is not None for _, guess in told], dtype=bool)

    def guess_values(self, tx: Tx, links: Mapping[int, Sequence[int]], new: Mapping[int, Sequence[int]]) -> None:
        """Where the order goes by a batch score, pages that came after it was computed get a provisional one, by what
        the pages that have just been read (`links`: page → all it links to) give those that they did not link to before
        (`new`)."""
        if self.rule.value not in METHODS or not new:
            return
        known = self._ranked | self._guessed
        if not known.any():
            return
        given: dict[int, float] = {}
        values, counts = np.where(known, self._values, 0.0), np.where(known, self.in_weight, 0.0)
        for page, found in new.items():
            ends = self.at(links[page])
            each = list(zip(values[ends].tolist(), counts[ends].tolist(), strict=True))
            passed = lanes.passed_on(self.rule, float(self._values[self.at([page])[0]]), each)
            for place in self.at(found).tolist():
                if not self._ranked[place]:
                    before = float(values[place]) if known[place] else lanes.first_given(self.rule)
                    given[place] = given.get(place, before) + passed
        if given:
            places = list(given)
            self._values[places] = list(given.values())
            self._waits_anew = True
            tx.do("scores/guess", ids=self.ids[places].tolist(), values=list(given.values()))

    def open(self, tx: Tx, now: float) -> object:
        """Read what all accounts have in common, so that the scores of these pages are known; where there is such a
        thing, it is locked after the pages."""

    def weighed(self, tx: Tx, now: float) -> Floats:
        """What the pages are worth to the schedule, relevance included. No page may be locked after it."""
        self.open(tx, now)
        return lanes.weighed(self.rule, self._value(), self.relevance)

    def lanes(self, steady: bool = True) -> Ints:
        """The lane each page should be in now; where it is, if that is about right and they are to be `steady`."""
        return self.lanes_for(self._value(), steady)

    def lanes_for(self, value: Floats, steady: bool = True) -> Ints:
        """The lane each page would be in if it had this value."""
        stored, fetched = self.lane.astype(np.int64), self.first_fetched >= 0.0
        return lanes.lane_of(self.rule, value, self.relevance, self.depth, fetched, stored, steady)

    def _value(self) -> Floats:
        if self.rule.blend:
            return self.valued(self.authority_score)
        if self.rule.value == "authority":
            return self.authority_score
        return self.hub_score if self.rule.value == "hub" else self._values

    def valued(self, authority: Floats) -> Floats:
        """What pages are worth where new ones are worth a blend, if these are their authority scores."""
        known = Known(
            self.in_weight,
            self.depth,
            self.path_repeats,
            self.siblings_before,
            self.is_seed,
            self.relevance,
            self.harvest,
        )
        blend = lanes.blended(self.rule.blend or {}, authority, self.flow, self.live_pagerank, known)
        return np.where(self.first_fetched >= 0.0, authority, blend)

    @classmethod
    def first_marks(cls, known: Known, payout: Floats, rule: Rule) -> tuple[Ints, Ints]:
        """Lanes and authority priorities of pages that nobody has paid yet."""
        raise NotImplementedError

    @staticmethod
    def first_lanes(known: Known, score: Floats, rule: Rule) -> Ints:
        """The lanes of pages that are made just now and have this score on both sides."""
        value = lanes.first_value(rule, score, known)
        return lanes.lane_of(rule, value, known.relevance, known.depth, np.zeros(len(score), dtype=bool))

    def holds(self, ids: Iterable[int]) -> bool:
        """Are all of these locked?"""
        return self._locked.issuperset(ids)

    def at(self, ids: Any) -> Ints:
        """The places of ids in the arrays. Raises Again for one that is not locked."""
        places = self.seek(np.asarray(ids, dtype=np.int64))
        if (places < 0).any():
            raise Again
        return places

    def seek(self, ids: Ints) -> Ints:
        """The places of ids in the arrays; −1 for one that is not locked."""
        return find(self.ids, ids)

    def weights(self, sources: Ints, targets: Ints) -> Floats:
        """The weights of links between places: 1, or the intra-host weight inside a host."""
        if self.rule.intra_host_weight == 1.0:
            return np.ones(len(sources))
        inside = self.hosts[sources] == self.hosts[targets]
        return np.where(inside, self.rule.intra_host_weight, 1.0)

    def depth_of(self, page: int) -> int:
        """How many clicks a page is away from a seed."""
        return int(self.depth[self.at([page])[0]])

    def may_link(self, pages: Sequence[int]) -> list[bool]:
        """Which of these pages may link to others: those with links that weigh something, or all where none need to."""
        return self._may(self.out_weight, pages)

    def may_be_linked(self, pages: Sequence[int]) -> list[bool]:
        """Which of these pages others may link to."""
        return self._may(self.in_weight, pages)

    def _may(self, weight: Floats, pages: Sequence[int]) -> list[bool]:
        may: list[bool] = ((weight[self.at(pages)] > 0.0) | self.rule.weightless).tolist()
        return may

    def in_links_turned(self) -> list[int]:
        """The pages that may have lost their last in-link since they were locked, or have got their first."""
        turned = (self._before["in_weight"] > 0.0) != (self.in_weight > 0.0)
        if self.rule.weightless:
            turned = self._linked
        ids: list[int] = self.ids[turned].tolist()
        return ids

    # ------------------------------------------------------------------------------- what happens to pages

    def begin_unlinked(self, pages: Sequence[int]) -> None:
        """Pages that were just created stand with the weight of the links that they are about to get, which saves a
        second write; these have none of them yet."""
        self.in_weight[self.at(pages)] = 0.0

    def relink(self, sources: Any, targets: Any, sign: int) -> None:
        """Links appear (+1) or disappear (−1)."""
        a, b = self.at(sources), self.at(targets)
        self._weigh_and_pay(a, b, sign * self.weights(a, b))
        self._linked[b] = True
        changed = self.links_sum + sign * link_sums.of_links(a, self.ids[b], len(self.ids))
        self.links_sum = np.where(self.links_sum == NONE, NONE, changed & link_sums.WHOLE)

    def reweigh(self, sources: Any, targets: Any, change: float) -> None:
        """Links get heavier by `change`, or lighter."""
        self._reweighed = True
        a, b = self.at(sources), self.at(targets)
        self._weigh_and_pay(a, b, np.full(len(a), change))

    def _weigh_and_pay(self, a: Ints, b: Ints, w: Floats) -> None:
        """As `_weigh`, and with it what the targets have got of what goes forward from their sources."""
        self._weigh(a, b, w)
        for forward in self.forwards:
            np.add.at(getattr(self, forward.name), b, w * getattr(self, forward.paid)[a])

    def _weigh(self, a: Ints, b: Ints, w: Floats) -> None:
        """The weight of links between these places changes by so much; and with it what their ends have got."""
        raise NotImplementedError

    def lower(self, depths: Mapping[int, int]) -> list[int]:
        """Pages are so many clicks away (id → depth) by another way; those that are less deep by it."""
        pages = np.array(list(depths), dtype=np.int64)
        places, offered = self.at(pages), np.array(list(depths.values()), dtype=np.float64)
        shorter = offered < self.depth[places]
        self.depth[places[shorter]] = offered[shorter]
        lowered: list[int] = pages[shorter].tolist()
        return lowered

    def become_seeds(self, pages: Iterable[int]) -> None:
        """Pages are seeds from now on: they have the flow of one, and are paid so, where seeds are."""
        self._set_seeds(pages, True)

    def cease_as_seeds(self, pages: Iterable[int]) -> None:
        """Pages are no seeds any more."""
        self._set_seeds(pages, False)

    def _set_seeds(self, pages: Iterable[int], are: bool) -> None:
        before = self.is_seed.copy()
        self.is_seed[self.at(list(pages))] = are
        for forward in self.forwards:
            has: Floats = getattr(self, forward.name)
            has += forward.first(self.is_seed) - forward.first(before)

    def note_first_fetch(self, moments: Mapping[int, float]) -> None:
        """Pages (id → when) were fetched for the first time: payouts and lanes may go by that."""
        if moments:
            self.first_fetched[self.at(list(moments))] = list(moments.values())

    def take_relevance(self, rows: Sequence[Sequence[Any]]) -> None:
        """What is said, or guessed, of the relevance of pages (by id), 0 to 1; None: nothing is known of it."""
        if rows:
            told = [np.nan if relevance is None else relevance for _, relevance in rows]
            self.relevance[self.at([page for page, _ in rows])] = told

    def take_values(self, rows: Sequence[Sequence[Any]]) -> None:
        """What the crawler says that pages (by id) are worth to it, if the order goes by that."""
        if rows and self.rule.value == "own":
            self._values[self.at([row[0] for row in rows])] = [row[1] for row in rows]
            self._waits_anew = True

    def take_harvest(self, factors: Mapping[int, float]) -> None:
        """Pages (id → factor, from above 0 to 1) wait with these factors of their sections."""
        self.harvest[self.at(list(factors))] = list(factors.values())
        self._waits_anew = True

    def wait_in(self, wanted: Mapping[int, int]) -> None:
        """Pages wait in these lanes (id → lane) when they wait again."""
        if wanted:
            self.lane[self.at(list(wanted))] = list(wanted.values())
            self._waits_anew = True

    def move_to_hosts(self, names: Mapping[int, str]) -> None:
        """Pages are on other hosts (id → name) now; their links are weighed anew (`reweigh`) by the caller."""
        self.hosts[self.at(list(names))] = list(names.values())

    def set_payouts(self, tx: Tx, payouts: Mapping[int, float | None]) -> None:
        """Pay pages (by id) so much, None: by the rule. Raises BadInput when the engine pays all pages alike."""
        raise NotImplementedError

    def inherit_payouts(self, tx: Tx, payouts: Mapping[int, float | None]) -> None:
        """As `set_payouts`, for pages that take the place of others; nothing where all pages are paid alike."""
        raise NotImplementedError

    def bury(self, page: int) -> None:
        """A locked page, unlinked, is about to be deleted."""
        raise NotImplementedError

    def pass_on(self, links: Mapping[int, Sequence[int]], aliases: Iterable[int] = ()) -> None:
        """Pages that were just read (page → all it links to, all locked) pass on, of each account that goes forward and
        is kept, what is due: what each unit of link weight has got in all is share · F/d, whatever it was before.

        Flow is the cash of OPIC as of 2003 (Abiteboul, Preda, Cobena, WWW 2003, section 3), where each page spends when
        it is read: F = first + Σ w·paid over the in-links holds at every commit, so it can be recomputed anywhere.
        Of `aliases` no flow goes on: the page that one leads to gets its in-links, and so what these have paid.
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

    def _flags(self) -> list[str]:
        return [f"{forward.name}_passes" for forward in self.forwards]

    def _passes(self, forward: Forward) -> Flags:
        flags: Flags = getattr(self, f"{forward.name}_passes")
        return flags

    def forward(self, name: str) -> Forward:
        """The account of this name that goes forward."""
        return next(forward for forward in self.forwards if forward.name == name)

    def _pass(self, forward: Forward, pages: Ints, sources: Ints, targets: Ints, goals: Floats | None = None) -> None:
        """The places `pages` pass on what is due along `sources[i]` → `targets[i]` (all their links); as if they had
        the `goals`, of every place, if these are given."""
        due = self._forward_due(forward) if goals is None else forward.share * goals
        has, paid = getattr(self, forward.name), getattr(self, forward.paid)
        new = due[pages] / self.out_weight[pages]
        steps = np.zeros(len(paid))
        steps[pages] = new - paid[pages]
        paid[pages] = new
        self._passes(forward)[pages] = True
        np.add.at(has, targets, self.weights(sources, targets) * steps[sources])

    def _forward_due(self, forward: Forward) -> Floats:
        """What the links of each page should have got of an account in all."""
        passes = self._passes(forward) if forward.by_reading else self.out_weight > 0.0
        return np.where(passes, forward.share * getattr(self, forward.name), 0.0)

    def _forward_priority(self, forward: Forward) -> Ints:
        """How urgent it is that pages pass on again what they have got since; NONE of all, where no push does it."""
        if not forward.pushed:
            return np.full(len(self.ids), NONE)
        paid = getattr(self, forward.paid)
        return algebra.forward_priority(self._forward_due(forward), self.out_weight, paid, forward.eps)

    def may_pass_on(self, pages: Iterable[int], aliases: Iterable[int]) -> None:
        """Pages that were read before pushes passed an account on do so, too; those that are aliases do not."""
        for forward in self.forwards:
            if forward.pushed and forward.by_reading:
                self._passes(forward)[self.at(list(pages))] = True
                self._passes(forward)[self.at(list(aliases))] = False

    def urgency(self, side: str) -> Ints:
        """The priorities by which the `side` of the pages waited for a push when they were locked; what goes forward is
        a side, too, of both engines."""
        return self._urgency_before[side]

    def push(self, side: str, pages: Ints, payers: Ints, payees: Ints) -> None:
        """Spend what waits on one side of the places `pages` along `payers[i]` – `payees[i]` (all their links on
        it)."""
        self._pass(self.forward(side), pages, payers, payees)

    def bring(self, name: str, pages: Ints, goals: Floats, payers: Ints, payees: Ints) -> None:
        """Let the places `pages` pass on, along `payers[i]` – `payees[i]` (all their links), what is due by these
        `goals`."""
        wanted = np.zeros(len(self.ids))
        wanted[pages] = goals
        self._pass(self.forward(name), pages, payers, payees, wanted)

    def spend_among(self, links: Mapping[int, Sequence[int]]) -> tuple[int, int]:  # noqa: ARG002
        """Push what is worth it, of the sides all of whose links are among these (page → those it links to, all
        locked): nobody else has to be locked for it. How many pushes that makes, and how many payments."""
        return 0, 0

    def write(self, tx: Tx, now: float, all_marks: bool = False) -> object:
        """Write what differs from what was locked, and the marks that follow from it (or all marks)."""
        raise NotImplementedError

    def compare(self, tx: Tx, side: str, links: Mapping[int, Sequence[int]], whole: bool = True) -> None:
        """Hold weights against links (page → whom a side of it pays) that were read under the locks. Raises Misfit.

        A page is left out where links may differ in weight and it has a neighbour that is not locked. `whole`: none of
        its links is missing, be it without weight.
        """
        if not links:
            return
        pages = self.at(list(links))
        each = np.repeat(np.arange(len(pages)), [len(others) for others in links.values()])
        ids = np.array([other for page in links.values() for other in page], dtype=np.int64)
        others = self.seek(ids)
        unknown = 1.0 if self.rule.intra_host_weight == 1.0 else np.nan
        weights = np.where(others >= 0, self.weights(pages[each], others), unknown)
        read = np.bincount(each, weights, len(pages))
        known = (self.out_weight if side == "hub" else self.in_weight)[pages]
        if (wrong := np.abs(read - known) > ROUNDING * (1.0 + read)).any():
            tx.misfits.meet(self.ids[pages[wrong]].tolist())
        if side == "hub" and whole and self.rule.weightless:  # that a page has no links cannot be told from its weight
            sums = link_sums.of_links(each, ids, len(pages))
            self.links_sum[pages] = np.where(self.links_sum[pages] == NONE, sums, self.links_sum[pages])

    def _write_forwards(self, tx: Tx, all_marks: bool) -> None:
        """Write what has changed of the accounts that go forward, and the marks that follow from it (or all marks).

        Where one is kept, a page that has none of it yet gets what it begins with in the backfill of all marks.
        """
        for forward in self.forwards:
            name = forward.name
            unwritten = (self._before_read[name] == UNWRITTEN) & (forward.kept and all_marks and forward.other > 0.0)
            write, write_paid, write_mark = WRITE[name]
            self._send(tx, write, self._changed(name) | unwritten, name)
            if (repaid := self._changed(forward.paid) | self._changed(f"{name}_passes")).any():
                paid = getattr(self, forward.paid).astype(object)
                paid[~self._passes(forward)] = None
                self._send(tx, write_paid, repaid, **{forward.paid: paid})
            priority = self._forward_priority(forward)
            which = all_marks | (priority != self._urgency_before[name])
            if forward.pushed:
                which |= self._relieved("out_weight")
            self._send(tx, write_mark, which, **{forward.mark: priority})

    def _write_harvest(self, tx: Tx) -> None:
        """Write with which factors of their sections pages wait."""
        if (changed := self._changed("harvest")).any():
            harvest = self.harvest.astype(object)
            harvest[self.harvest == 1.0] = None
            self._send(tx, "accounts/harvest", changed, harvest=harvest)

    def _relieved(self, weight: str) -> NDArray[np.bool_]:
        """Sides that may have had more neighbours than a push may have, and have fewer now.

        Pushes have taken the marks of such sides, whatever follows from their accounts. A side has at most as many
        neighbours as its weight holds of the lightest links that it pays along.
        """
        before: Floats = self._before[weight]
        now: Floats = getattr(self, weight)
        lightest = self.rule.intra_host_weight or 1.0
        relieved: NDArray[np.bool_] = (now < before) & (before > self.rule.max_payees * lightest)
        return relieved

    def _write_weights(self, tx: Tx) -> None:
        """Write weights that have changed, and what says which links they are the sum of; the database counts the links
        there are. Raises Misfit, as `compare`."""
        even = self.rule.intra_host_weight == 1.0 and not self._reweighed
        wrong = []
        out = self._changed("out_weight") | self._changed("links_sum")
        for which, *own in ((out, "out_weight", "links_sum"), (self._changed("in_weight"), "in_weight")):
            if which.any():
                wrong += tx.one(f"accounts/{own[0]}", **self._sent(which, *own), even=even)[0]
        if wrong:
            tx.misfits.meet(wrong)

    def _changed(self, name: str) -> NDArray[np.bool_]:
        changed: NDArray[np.bool_] = getattr(self, name) != self._before[name]
        return changed

    def _send(self, tx: Tx, name: str, which: NDArray[np.bool_], *own: str, **more: Any) -> None:
        """Run a statement over these places, unless there are none; `own`, `more` as in `_sent`."""
        if which.any():
            tx.do(name, **self._sent(which, *own, **more))

    def _sent(self, which: NDArray[np.bool_], *own: str, **more: Any) -> dict[str, Any]:
        """Params of a statement over these places: their ids, columns of the ledger by their names, and what else is
        given: other columns, and what is the same for all."""
        columns = {name: getattr(self, name) for name in own} | more
        return {"ids": self.ids[which].tolist()} | {
            name: _plain(value[which]) if isinstance(value, np.ndarray) else value for name, value in columns.items()
        }


def _plain(column: NDArray[Any]) -> list[Any]:
    if column.dtype == np.int64:
        return [None if value == NONE else value for value in column.tolist()]
    values: list[Any] = column.tolist()
    return values
