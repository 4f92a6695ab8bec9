"""The accounts of the pages that one transaction has locked.

Every transaction that touches accounts has the same shape: lock pages in the order of their ids and read both sides
(`lock`), change the numbers in memory by the algebra of the engine, and write what has changed together with what
follows from it: ranks, priorities, lanes (`write`). `Accounts` is what both engines share, `Ledger` is the exact
one's (by `algebra`); which of them a brain needs, `ledgers` says. All values written are absolute
and computed from locked state, so running the transaction again is safe. Ids are Neo4j's internal ones: they are
looked up by key in the same transaction, and give the one order in which everybody locks. The id of a page that is
deleted meanwhile is not given to another node while a transaction that could have read it is open, so a missing id
says it all.
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
from graphbrain.arrays import Floats, Ints
from graphbrain.errors import BeingConverted
from graphbrain.graph.connection import Again, Outdated, Tx
from graphbrain.methods import METHODS
from graphbrain.places import find
from graphbrain.rules import Rule
from graphbrain.schedule import lanes

__all__ = ["Accounts", "Ledger", "Marks"]

A = TypeVar("A", bound="Accounts")
ROUNDING = 1e-6
ROUNDS = 8
"""So many times at most sides that pay each other are pushed in one transaction."""

_COLUMNS = (
    "hub_history",
    "hub_cash",
    "hub_paid",
    "out_weight",
    "authority_history",
    "authority_cash",
    "authority_paid",
    "in_weight",
    "relevance",
    "depth",
    "first_fetched",
    "lane",
    "links_sum",
)


class Marks:
    """What follows from accounts: ranks, priorities, lane."""

    def __init__(self, ledger: Ledger) -> None:
        rule = ledger.rule
        hub, authority = ledger.hub_score, ledger.authority_score
        self.hub_rank = algebra.rank(hub)
        self.authority_rank = algebra.rank(authority)
        self.hub_priority = algebra.priority(ledger.hub_waiting(), ledger.out_weight, rule.eps)
        self.authority_priority = algebra.priority(ledger.authority_waiting(), ledger.in_weight, rule.eps)
        self._ledger = ledger

    @property
    def lane(self) -> Ints:
        """By the accounts as they are when it is asked for."""
        return self._ledger.lanes()


class Accounts:
    """Locked pages, sorted by id, and their accounts as arrays to be changed in place."""

    engine: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    statement: ClassVar[str]
    first: ClassVar[Mapping[str, float]]
    """The account a page is created with."""
    keeps_payouts: ClassVar[bool]
    """Does a page begin with what the virtual page pays it as its history?"""

    hub_history: Floats
    hub_cash: Floats
    out_weight: Floats
    authority_history: Floats
    authority_cash: Floats
    in_weight: Floats
    relevance: Floats
    depth: Floats
    first_fetched: Floats
    lane: Floats
    links_sum: Ints
    """What `link_sums` says of the links of each page; NONE where nobody knows, as of imported pages."""

    def __init__(self, rows: list[list[Any]], rule: Rule) -> None:
        wide = len(self.columns) + 1
        table = np.fromiter(chain.from_iterable(rows), np.float64, wide * len(rows)).reshape(len(rows), wide)
        self.rule = rule
        self.ids: Ints = table[:, 0].astype(np.int64)
        self._locked = frozenset(self.ids.tolist())
        self.hosts: NDArray[np.object_] = np.empty(0, dtype=object)
        self.is_seed: NDArray[np.bool_] = np.zeros(len(rows), dtype=bool)
        self._values: Floats = np.empty(0)
        self._ranked = self._guessed = np.zeros(0, dtype=bool)
        self._reweighed = False
        self._linked = np.zeros(len(rows), dtype=bool)
        for number, name in enumerate(self.columns, start=1):
            setattr(self, name, table[:, number].copy())
        self.relevance[self.relevance < 0.0] = np.nan
        unknown = np.where((self.out_weight == 0.0) & (not rule.weightless), 0, NONE)
        self.links_sum = np.where(self.links_sum < 0.0, unknown, self.links_sum.astype(np.int64))
        self._before = {name: getattr(self, name).copy() for name in self.columns}

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
        if rule.value not in ("authority", "hub"):
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

    def take_values(self, rows: Sequence[Sequence[Any]]) -> None:
        """What the crawler says that pages (by id) are worth to it, if the order goes by that."""
        if rows and self.rule.value == "own":
            self._values[self.at([row[0] for row in rows])] = [row[1] for row in rows]

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
            tx.do("scores/guess", ids=self.ids[places].tolist(), values=list(given.values()))

    @property
    def hub_score(self) -> Floats:
        """History and cash, whatever the engine tells of them."""
        return self.hub_history + self.hub_cash

    @property
    def authority_score(self) -> Floats:
        """History and cash, whatever the engine tells of them."""
        return self.authority_history + self.authority_cash

    def weighed(self) -> Floats:
        """What the pages are worth to the schedule, relevance included."""
        return lanes.weighed(self.rule, self._value(), self.relevance)

    def lanes(self) -> Ints:
        """The lane each page should be in now."""
        return self.lanes_for(self._value())

    def lanes_for(self, value: Floats) -> Ints:
        """The lane each page would be in if it had this value."""
        stored, fetched = self.lane.astype(np.int64), self.first_fetched >= 0.0
        return lanes.lane_of(self.rule, value, self.relevance, self.depth, fetched, stored)

    def _value(self) -> Floats:
        if self.rule.value == "authority":
            return self.authority_score
        return self.hub_score if self.rule.value == "hub" else self._values

    @classmethod
    def first_marks(
        cls, relevance: Floats, weight: Floats, depth: Floats, payout: Floats, rule: Rule
    ) -> tuple[Ints, Ints]:
        """Lanes and authority priorities of pages that nobody has paid yet."""
        raise NotImplementedError

    @staticmethod
    def first_lanes(relevance: Floats, depth: Floats, score: Floats, rule: Rule) -> Ints:
        """The lanes of pages that are made just now and have this score on both sides."""
        value = lanes.first_value(rule, score, score)
        return lanes.lane_of(rule, value, relevance, depth, np.zeros(len(score), dtype=bool))

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

    def in_links_turned(self) -> list[int]:
        """The pages that may have lost their last in-link since they were locked, or have got their first."""
        turned = (self._before["in_weight"] > 0.0) != (self.in_weight > 0.0)
        if self.rule.weightless:
            turned = self._linked
        ids: list[int] = self.ids[turned].tolist()
        return ids

    def relink(self, sources: Any, targets: Any, sign: int) -> None:
        """Links appear (+1) or disappear (−1)."""
        a, b = self.at(sources), self.at(targets)
        self._weigh(a, b, sign * self.weights(a, b))
        self._linked[b] = True
        changed = self.links_sum + sign * link_sums.of_links(a, self.ids[b], len(self.ids))
        self.links_sum = np.where(self.links_sum == NONE, NONE, changed & link_sums.WHOLE)

    def bury(self, page: int) -> None:
        """A locked page, unlinked, is about to be deleted."""
        raise NotImplementedError

    def reweigh(self, sources: Any, targets: Any, change: float) -> None:
        """Links get heavier by `change`, or lighter."""
        self._reweighed = True
        a, b = self.at(sources), self.at(targets)
        self._weigh(a, b, np.full(len(a), change))

    def _weigh(self, a: Ints, b: Ints, w: Floats) -> None:
        """The weight of links between these places changes by so much; and with it what their ends have got."""
        raise NotImplementedError

    def spend_among(self, links: Mapping[int, Sequence[int]]) -> tuple[int, int]:  # noqa: ARG002
        """Push what is worth it, of the sides all of whose links are among these (page → those it links to, all
        locked): nobody else has to be locked for it. How many pushes that makes, and how many payments."""
        return 0, 0

    def set_payout(self, tx: Tx, value: float | None) -> None:
        """Pay all these pages so much, None: by the rule. Raises BadInput when the engine pays all pages alike."""
        raise NotImplementedError

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

    def _put(self, tx: Tx, name: str, which: NDArray[np.bool_], *own: str, **more: Any) -> None:
        """Write accounts or marks of these places, as `_send`."""
        self._send(tx, f"accounts/{name}", which, *own, **more)

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


class Ledger(Accounts):
    """The accounts of the exact engine: signed cash, repaired when links change."""

    engine = "exact"
    keeps_payouts = True
    columns = _COLUMNS
    statement = "accounts/lock"
    first: ClassVar[Mapping[str, float]] = {
        "hub_history": 1.0,
        "hub_cash": 0.0,
        "hub_paid": 0.0,
        "authority_history": 1.0,
        "authority_cash": 0.0,
        "authority_paid": 0.0,
    }

    hub_paid: Floats
    authority_paid: Floats

    def __init__(self, rows: list[list[Any]], rule: Rule) -> None:
        super().__init__(rows, rule)
        self.payout: Floats = np.ones(len(rows))
        self.own_payout: Floats = np.full(len(rows), np.nan)
        self._pays = False
        self.marks_before = Marks(self)

    def locked(self, tx: Tx) -> None:
        if self.rule.bends_payouts:
            self.read_payouts(tx)

    def read_payouts(self, tx: Tx) -> None:
        """Read what the pages are paid; `write` will pay the difference to what is due to them."""
        rows = tx.one("accounts/payouts", ids=self.ids.tolist())[0]
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 4)
        self.payout, own = table[:, 1].copy(), table[:, 2]
        self.own_payout = np.where(own < 0.0, np.nan, own)
        self.is_seed = table[:, 3] > 0.0
        self._own_before = self.own_payout.copy()
        self._pays = True

    def due_payout(self) -> Floats:
        """What the pages are to be paid: what was set for them by hand, else what the rule says."""
        by_rule = algebra.payout(self.rule, self.relevance, self.first_fetched >= 0.0, self.is_seed, self.hosts)
        return np.where(np.isnan(self.own_payout), by_rule, self.own_payout)

    def set_payout(self, tx: Tx, value: float | None) -> None:
        """The difference goes to both sides' cash."""
        self.read_payouts(tx)
        self.own_payout[:] = np.nan if value is None else value

    @classmethod
    def first_marks(
        cls, relevance: Floats, weight: Floats, depth: Floats, payout: Floats, rule: Rule
    ) -> tuple[Ints, Ints]:
        keep = algebra.keep_authority(weight, relevance, rule.alpha)
        waiting = algebra.residual(keep, payout, weight, 0 * payout)
        return cls.first_lanes(relevance, depth, payout, rule), algebra.priority(waiting, weight, rule.eps)

    def keep_hub(self) -> Floats:
        return algebra.keep_hub(self.out_weight, self.rule.alpha)

    def keep_authority(self) -> Floats:
        return algebra.keep_authority(self.in_weight, self.relevance, self.rule.alpha)

    def hub_waiting(self) -> Floats:
        """What a push of each hub side would pay."""
        return self._waiting("hub")

    def authority_waiting(self) -> Floats:
        """What a push of each authority side would pay."""
        return self._waiting("authority")

    def _waiting(self, side: str) -> Floats:
        keep, weight, paid = self._side(side)
        return algebra.residual(keep, self._score(side), weight, paid)

    def _weigh(self, a: Ints, b: Ints, w: Floats) -> None:
        """Each end is paid, or pays back, what the other's links have got."""
        np.add.at(self.hub_cash, a, w * self.authority_paid[b])
        np.add.at(self.authority_cash, b, w * self.hub_paid[a])
        np.add.at(self.out_weight, a, w)
        np.add.at(self.in_weight, b, w)

    def bury(self, page: int) -> None:
        """Nothing of its account is left when its links are gone but what the virtual page has paid it."""

    def push(self, side: str, pages: Ints, payers: Ints, payees: Ints) -> None:
        """Spend the cash of one side of the places `pages` along `payers[i]` – `payees[i]` (all their links on it)."""
        self.prescribe(side, pages, self._score(side)[pages], payers, payees)

    def spend_among(self, links: Mapping[int, Sequence[int]]) -> tuple[int, int]:
        """New pages and those they were found on pay each other to and fro until little waits between them. What that
        writes would be written anyway, or soon after by a push that has to lock them all again."""
        sources = self.at([page for page, others in links.items() for _ in others])
        targets = self.at([other for others in links.values() for other in others])
        if not len(sources):
            return 0, 0
        weights = self.weights(sources, targets)
        ends = {"hub": (sources, targets), "authority": (targets, sources)}
        whole = {side: self._whole(side, payers, weights) for side, (payers, _) in ends.items()}
        pushes = payments = 0
        for _ in range(ROUNDS):
            before = pushes
            for side, (payers, payees) in ends.items():
                go = whole[side] & self._worth(side)
                pays = go[payers]
                self.push(side, np.flatnonzero(go), payers[pays], payees[pays])
                pushes += int(go.sum())
                payments += int(pays.sum())
            if pushes == before:
                break
        return pushes, payments

    def _whole(self, side: str, payers: Ints, weights: Floats) -> NDArray[np.bool_]:
        """Where links of these payers and weights are all that a side has, and no more than it may pay.

        The weights are whole multiples of 1/1024, so their sums are exact.
        """
        _, weight, _ = self._side(side)
        count, seen = np.bincount(payers, minlength=len(weight)), np.bincount(payers, weights, len(weight))
        whole: NDArray[np.bool_] = (seen == weight) & (count <= self.rule.max_payees)
        return whole

    def _worth(self, side: str) -> NDArray[np.bool_]:
        """Which places are worth a push."""
        _, weight, _ = self._side(side)
        worth: NDArray[np.bool_] = algebra.priority(self._waiting(side), weight, self.rule.eps) != NONE
        return worth

    def _score(self, side: str) -> Floats:
        return self.hub_score if side == "hub" else self.authority_score

    def off(self, side: str, places: Ints, goals: Floats, share: float) -> NDArray[np.bool_]:
        """Where would a push at these scores pay more than this share of them?"""
        keep, weight, paid = self._side(side)
        waiting = np.abs(keep[places] * goals - weight[places] * paid[places])
        return (waiting > share * goals) & (weight[places] > 0.0)

    def prescribe(self, side: str, pages: Ints, goals: Floats, payers: Ints, payees: Ints) -> None:
        """Spend as if the scores of the places `pages` were the `goals`: H = goal, e takes the difference,
        Z = keep·H/d, and the links `payers[i]` – `payees[i]` (all their links) pay the step of Z. A push is what has
        its own score as the goal: H += e, e = 0."""
        history = getattr(self, f"{side}_history")
        cash = getattr(self, f"{side}_cash")
        keep, weight, paid = self._side(side)
        cash[pages] = (history[pages] + cash[pages]) - goals
        history[pages] = goals
        new = keep[pages] * goals / weight[pages]
        step = np.zeros(len(history))
        step[pages] = new - paid[pages]
        paid[pages] = new
        other = self.authority_cash if side == "hub" else self.hub_cash
        sources, targets = (payers, payees) if side == "hub" else (payees, payers)
        np.add.at(other, payees, self.weights(sources, targets) * step[payers])

    def _side(self, side: str) -> tuple[Floats, Floats, Floats]:
        """keep, weight and paid of one side."""
        if side == "hub":
            return self.keep_hub(), self.out_weight, self.hub_paid
        return self.keep_authority(), self.in_weight, self.authority_paid

    def absorb(self, side: str, goals: Floats) -> None:
        """Where one side has paid all that these scores (of every place, nan for none) give, its cash is history: it
        has been spent in advance."""
        history, cash = getattr(self, f"{side}_history"), getattr(self, f"{side}_cash")
        keep, weight, paid = self._side(side)
        ahead = (weight > 0.0) & (paid == np.divide(keep * goals, weight, out=np.zeros(len(paid)), where=weight > 0.0))
        history[ahead] += cash[ahead]
        cash[ahead] = 0.0

    def write(self, tx: Tx, now: float, all_marks: bool = False) -> Marks:
        """Write what differs from what was locked, and the marks that follow from it (or all marks); all true marks."""
        if self._pays:
            self._pay(tx)
        marks = Marks(self)
        self._write_side(tx, "hub_history", "hub_paid", "hub_cash", "hub_spent", now)
        self._write_side(tx, "authority_history", "authority_paid", "authority_cash", "authority_spent", now)
        self._write_weights(tx)
        self._write_places(tx, marks, all_marks)
        self._mark(tx, "hub_priority", marks, all_marks | self._relieved("out_weight"))
        self._mark(tx, "authority_priority", marks, all_marks | self._relieved("in_weight"))
        return marks

    def _relieved(self, weight: str) -> NDArray[np.bool_]:
        """Sides that may have had more neighbours than a push may have, and have fewer now.

        Pushes have taken the marks of such sides (`cash`), whatever follows from their accounts. A side has at most as
        many neighbours as its weight holds of the lightest links that it pays along.
        """
        before: Floats = self._before[weight]
        now: Floats = getattr(self, weight)
        lightest = self.rule.intra_host_weight or 1.0
        relieved: NDArray[np.bool_] = (now < before) & (before > self.rule.max_payees * lightest)
        return relieved

    def write_settled(self, tx: Tx, hubs: Ints, authorities: Ints) -> Marks:
        """Write what a settling pass has changed, and the marks that follow from it; all true marks.

        The pass looks at the priorities again in the end: the sides it has settled, `hubs` and `authorities`, lose
        theirs whatever is right, and no other place gets one. When they were settled is said by the brain.
        """
        if self._pays:
            self._pay(tx)
        marks = Marks(self)
        hub, authority = np.zeros((2, len(self.ids)), dtype=np.bool_)
        hub[hubs], authority[authorities] = True, True
        hubs_own = ("hub_history", "hub_paid")
        authorities_own = ("authority_history", "authority_paid", "authority_cash")
        self._put(tx, "settled", hub & authority, *hubs_own, *authorities_own)
        self._put(tx, "hub_settled", hub & ~authority, *hubs_own)
        self._put(tx, "authority_settled", authority & ~hub, *authorities_own)
        self._put(tx, "hub_cash", self._changed("hub_cash"), "hub_cash")
        self._put(tx, "authority_cash", self._changed("authority_cash") & ~authority, "authority_cash")
        for side, settled in (("hub", hub), ("authority", authority)):
            history = f"{side}_history"
            self._put(tx, history, self._changed(history) & ~settled, history)
            self._unmark(tx, f"{side}_priority", marks, settled)
        self._write_places(tx, marks)
        return marks

    def _write_places(self, tx: Tx, marks: Marks, every: bool = False) -> None:
        """Write by what rank the pages are found, and where they wait."""
        for name in ("hub_rank", "authority_rank"):
            self._mark(tx, name, marks, every)
        lane = marks.lane
        self._put(tx, "lane", lane != self._before["lane"], lane=lane)

    def _write_side(self, tx: Tx, history: str, paid: str, cash: str, spent: str, now: float) -> None:
        """A side that has spent is written whole; one that was only paid, its cash."""
        whole = self._changed(history) | self._changed(paid)
        self._put(tx, spent, whole, cash, history, paid, now=now)
        self._put(tx, cash, self._changed(cash) & ~whole, cash)

    def _mark(self, tx: Tx, name: str, marks: Marks, every: bool | NDArray[np.bool_]) -> None:
        new = getattr(marks, name)
        self._put(tx, name, every | (new != getattr(self.marks_before, name)), **{name: new})

    def _unmark(self, tx: Tx, name: str, marks: Marks, but: NDArray[np.bool_]) -> None:
        """Take the mark from those that have lost it, `but` from these, from which it was taken."""
        new, before = getattr(marks, name), getattr(self.marks_before, name)
        self._put(tx, name, (new == NONE) & (before != NONE) & ~but, **{name: new})

    def _pay(self, tx: Tx) -> None:
        """The virtual page pays both sides the difference between what is due and what it has paid."""
        due = self.due_payout()
        self.hub_cash += due - self.payout
        self.authority_cash += due - self.payout
        by_hand = ~np.isnan(self.own_payout)
        which = (due != self.payout) | (by_hand == np.isnan(self._own_before)) | (by_hand & (due != self._own_before))
        self.payout = due
        if which.any():
            paid, own = due[which].tolist(), by_hand[which].tolist()
            tx.do(
                "accounts/payout",
                ids=self.ids[which].tolist(),
                payout=[None if each == 1.0 else each for each in paid],
                own_payout=[each if mine else None for each, mine in zip(paid, own, strict=True)],
            )


def _plain(column: NDArray[Any]) -> list[Any]:
    if column.dtype == np.int64:
        return [None if value == NONE else value for value in column.tolist()]
    values: list[Any] = column.tolist()
    return values
