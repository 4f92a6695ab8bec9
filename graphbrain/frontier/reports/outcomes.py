"""The verdict on a reported visit: accepted or refused by its lease, and its outcome. It is decided under the page's
lock.

The links of a refused visit are still taken if its page has not been fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graphbrain.base.model import PARTS, Answer, Failed, Fetched, Outcome, Seen
from graphbrain.base.runtime.tokens import asked_at, made_at
from graphbrain.frontier import url_variants
from graphbrain.frontier.hosts import health
from graphbrain.frontier.hosts.state import HostRequest
from graphbrain.frontier.policy import BY_BODY, RETURNED, Policy
from graphbrain.schedule import fingerprints, parts
from graphbrain.schedule.blocks import VisitStep
from graphbrain.schedule.fingerprints import ChangeTest
from graphbrain.schedule.section_noise import FEW_VISITS, HostNoise

__all__ = ["Item", "Verdict", "Visit", "judge", "respells", "told_of"]

NEVER_FETCHED = "not modified, but never fetched"
NOTHING_SEEN = Seen()


@dataclass(slots=True)
class Item:
    """One reported visit after its check, which comes before any transaction.

    Attributes:
        report: The report.
        key, url: The key and the address of the page.
        token: The token of the claim; for an unclaimed visit a new token.
        at: The time of the visit by the server's clock.
        seen: The hashes of the content.
        address: The network address of the host, in its usual spelling.
        targets: Key → (address, guess of relevance) of each distinct link target, in page order, without the page
            itself.
        values: Key → guess of the value, for targets with a guess.
        facts: Facts of the page for later questions: see `facts.of_page`.
        led_to: The URLs to which temporary redirects, or a refresh after 0 seconds, led the visit.
        led_by: The status of a temporary redirect that was followed. `targets` has its target only.
        leads_to: A short form of the host and the target of temporary redirects: see `walls`.
        walled: True if the redirect leads to a target of many pages of the host, for instance a login.
        missing_simhash: The simhash of the text of an answer 404 or 410.
        link_facts: Key → (text, rel) of the targets; empty if no link has either.
        link_bytes: The length of the URLs of all targets.
        refused: The links that cannot be read, each with the reason.
        over: The number of targets beyond `max_links`.
        users: The number of links with a user or a password, which were left out.
        note: A remark for the answer, beside the outcome.
        spelling: The other spelling of its own URL to which the page redirects.
        circles: True if the page redirects to itself, in this spelling or another.
        completeness: The links in `targets`: `all` links of the page, `some`, or `none`.
        refusal: The reason why the report was refused. A failure of the page is recorded instead.
    """

    report: Fetched | Failed
    key: str
    url: str
    token: str
    at: float
    seen: Seen = NOTHING_SEEN
    address: str | None = None
    targets: dict[str, tuple[str, float | None]] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    facts: list[object] = field(default_factory=list)
    led_to: tuple[str, ...] = ()
    led_by: int | None = None
    leads_to: str | None = None
    walled: bool = False
    missing_simhash: int | None = None
    link_facts: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    link_bytes: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    over: int = 0
    users: int = 0
    note: str = ""
    spelling: str | None = None
    circles: bool = False
    completeness: str = "all"
    refusal: str = ""

    @property
    def claimed(self) -> bool:
        return self.report.claim is not None

    @property
    def missing(self) -> bool:
        """True if the server answered that there is no such page, or sent a redirect without a target."""
        report = self.report
        return (
            isinstance(report, Failed)
            and 300 <= (report.status or 0) < 500
            and report.status not in health.PASSING | health.REFUSING | {health.NOT_MODIFIED}
            and not self.circles
        )

    @property
    def unsent(self) -> bool:
        """True if the crawler did not send the request: the visit is no attempt at the page."""
        return self.fault == health.NOT_SENT

    @property
    def kind(self) -> health.Kind:
        """The kind of the answer, as evidence on the host; `none` if the report itself was refused."""
        report = self.report
        if not isinstance(report, Failed):
            return "well"
        if self.refusal:
            return "none"
        return health.kind_of(report.status, report.fault)

    @property
    def fault(self) -> health.PageFault:
        """The kind of the failure, as the page stores it."""
        if self.refusal:
            return "bad_report"
        if self.missing:
            return "missing" if (self.report.status or 0) >= 400 else "nowhere"
        named = self.report.fault if isinstance(self.report, Failed) else None
        return health.page_fault(self.kind, self.report.status, named)

    @property
    def slowed(self) -> bool:
        """True if the host asked for a wait."""
        return self.kind == "refused"

    @property
    def retry_after(self) -> float | None:
        """The seconds of Retry-After, which the intake has read from the header; None if there are none."""
        wait = self.report.retry_after if isinstance(self.report, Failed) else None
        return None if isinstance(wait, str) else wait

    @property
    def asked_at(self) -> float:
        """The earliest time of the request: the time of its claim, or the time of an unclaimed visit."""
        return asked_at(self.token, self.at) if self.claimed else self.at

    def request(self, visit: Visit) -> HostRequest:
        """Return the request of this visit, for the comparison with other requests to its host. `visit`: the last visit
        of the page."""
        return HostRequest(
            self.asked_at,
            self.claimed and made_at(self.token) is not None,
            self.retry_after,
            self.kind,
            self.at,
            failed_before=visit.failed_before,
            known_ill=visit.known_ill,
        )

    def touches_links(self) -> bool:
        """Return whether recording this visit can add or remove links."""
        return self.replaces_links() or self.adds_links() or self.missing or self.brings_page

    @property
    def leads_on(self) -> bool:
        """True if the answer is a permanent redirect."""
        return isinstance(self.report, Fetched) and self.report.redirected_to is not None

    @property
    def brings_page(self) -> bool:
        """True if the server answered with a page or a redirect, and not with a 304 or a wall."""
        return isinstance(self.report, Fetched) and not self.report.not_modified and not self.walled

    @property
    def redirects(self) -> bool:
        """True if the answer is a permanent or a temporary redirect, so that its target has the depth of the page."""
        return self.leads_on or self.led_by is not None

    def replaces_links(self) -> bool:
        """Return whether this visit reports all links of the page."""
        return isinstance(self.report, Fetched) and self.completeness == "all"

    def adds_links(self) -> bool:
        """Return whether the visit reports some links of the page, and perhaps not all."""
        return self.completeness == "some" and bool(self.targets)


@dataclass(slots=True)
class Visit:
    """A page with its last visits, as it was read under the lock. Most fields are properties of the page.

    Attributes:
        lease: The token of the claim that holds the page; None if it is not claimed.
        counted: True if the claim counts among the claims of its host; `counted_at`: since when, as an address.
        charged: True if the claim was charged to the budget of the host.
        respelt: How many times in a row it took the spelling to which its server redirects.
        names_aliases: True if it has links to aliases.
        failed: The time of the last failure.
        failing_since: The time of the first failure since the last fetch.
        led: True if temporary redirects led its last visit to another URL.
        turned: The time at which a visit last changed its state, or made it fail.
        rate_shape, rate_scale: The belief on its change rate; the scale in days.
        interval: The days between its visits, if an operator has set them.
        led_by: The status of the temporary redirect by which it leads to another page.
        parts: The hashes of its parts.
        changed_in: The parts in which it changed last.
        noise: The noise of its host's sections, if it has few visits.
    """

    page: int
    url: str
    state: str
    host: str
    lease: str | None
    counted: bool
    last_lease: str | None
    last_outcome: str | None
    fetched: float | None
    first_fetched: float | None
    visits: int
    changes: int
    errors: int
    changed: float | None
    body_hash: str | None
    text_hash: str | None
    simhash: int | None
    etag: str | None
    last_modified: str | None
    counted_at: str | None
    charged: bool
    refusals: int
    respelt: int
    is_seed: bool
    alias_since: float | None
    names_aliases: bool
    failed: float | None
    failing_since: float | None
    led: bool
    turned: float | None
    rate_shape: float | None
    rate_scale: float | None
    interval: float | None
    blocks: str | None
    led_by: int | None = None
    parts: str | None = None
    changed_in: tuple[str, ...] | None = None
    noise: str | None = None

    @property
    def failed_before(self) -> float | None:
        """The time of the page's last failure; None if it was fetched since."""
        is_failing = self.failing_since is not None and (self.failed or 0.0) > (self.fetched or 0.0)
        return self.failed if is_failing else None

    @property
    def known_ill(self) -> bool:
        """True if the failures are known to be faults of the page. A first failure alone may be a fault of the host,
        unless it is a refusal that counted as an error."""
        return self.errors >= 2 or (self.errors == 1 and self.refusals > 0)

    @property
    def spared_at(self) -> float | None:
        """The time of the page's last failure, if no failure since its last fetch was a fault of the page."""
        return self.failed_before if self.errors == 0 else None

    @property
    def seen(self) -> Seen:
        """The hashes of the content at its last change; blocks, ETag and Last-Modified of the last visit."""
        return Seen(
            self.body_hash, self.text_hash, self.simhash, self.etag, self.last_modified, self.changed, self.blocks,
            parts=self.parts,
        )  # fmt: skip


@dataclass(slots=True)
class Verdict:
    """The verdict on one item.

    Attributes:
        item: The item.
        visit: The page before the visit.
        keep: True if the visit is accepted and recorded.
        links: True if its links are taken.
        answer: The answer to the caller.
        hollow: True for a 304 of a page whose content is not stored.
        change: The test that showed whether the page has changed.
        own: True if the page is claimed with the token of this visit, or not claimed.
        vanished: True if the visit shows that the page no longer exists.
        brings_page: True if the visit is accepted and brought the page itself.
        redirects: True if the page is a permanent or a temporary redirect after this visit, so that it has no links of
            its own.
        led_by: The status of the temporary redirect of the page after this visit; None if there is none.
        targets: The targets of the links that the visit reports; none for a page that no longer exists.
        unlinks: True if links that were not reported are deleted.
    """

    item: Item
    visit: Visit
    keep: bool
    links: bool
    answer: Answer
    hollow: bool = False
    change: ChangeTest = BY_BODY
    own: bool = field(init=False)
    vanished: bool = field(init=False)
    brings_page: bool = field(init=False)
    redirects: bool = field(init=False)
    led_by: int | None = field(init=False)
    targets: Mapping[str, tuple[str, float | None]] = field(init=False)
    unlinks: bool = field(init=False)

    def __post_init__(self) -> None:
        item, visit = self.item, self.visit
        self.own = visit.lease in (None, item.token)
        self.vanished = self.answer.outcome == "gone" and item.missing
        self.brings_page = self.keep and item.brings_page and not item.redirects
        stays = not (self.vanished or self.brings_page)
        self.redirects = item.redirects or (stays and (visit.state == "alias" or visit.led_by is not None))
        if self.keep:
            self.led_by = (item.led_by or visit.led_by) if stays and not item.leads_on else None
        else:
            self.led_by = visit.led_by
        self.targets = {} if self.vanished else item.targets
        self.unlinks = self.keep and (item.replaces_links() or self.vanished)

    @property
    def shows(self) -> VisitStep | None:
        """The differences between the first and the second visit of the page, which show the noise of its section."""
        if not (self.visit.visits == 1 and self.brings_page and self.change.method == "blocks"):
            return None
        compares = self.item.completeness != "some" and self.answer.outcome in ("changed", "same")
        return fingerprints.compared(self.visit.seen, self.item.seen) if compares else None


def told_of(item: Item, answer: Answer | None) -> Answer:
    """Return the answer for the caller. A refused visit is answered by its refusal, also if a failure was recorded."""
    if item.refusal:
        return _refuse(item, item.refusal)
    return answer or _refuse(item, "the page was forgotten")


def _refuse(item: Item, reason: str) -> Answer:
    return Answer(item.report.url, False, reason, **_of_links(item))


def _of_links(item: Item) -> dict[str, Any]:
    """Return the parts of an answer about links that were refused, left out or shortened."""
    return {"links_refused": item.refused, "links_over": item.over, "userinfo_dropped": item.users}


def judge(item: Item, visit: Visit, policy: Policy, noise: HostNoise | None = None) -> Verdict:
    """Accept or refuse one visit by its lease, and find its outcome. `noise`: the noise of the host's sections; None:
    as it was read with the page."""
    claim = item.report.claim
    # Give the same answer to a visit that was recorded before.
    if visit.last_lease == item.token and visit.lease != item.token:
        if visit.last_outcome == RETURNED:
            return _refused(item, visit, "the claim was given back or had lapsed")
        changed_in = tuple(visit.changed_in or ()) if visit.last_outcome == "changed" else ()
        return Verdict(item, visit, False, False, _accepted(item, visit.last_outcome, changed_in))
    # Accept a claimed visit from the holder of the lease only, and an unclaimed visit only if it is the latest.
    if claim is not None and visit.lease != item.token:
        return _refused(item, visit, "the lease lapsed, or another worker holds the page")
    if claim is None and visit.fetched is not None and visit.fetched >= item.at:
        return _refused(item, visit, "a later visit is known")
    # A 304 for a page whose content is not stored counts as a failure, so that the page is fetched again.
    is_hollow = isinstance(item.report, Fetched) and item.report.not_modified and _is_hollow(visit)
    if is_hollow:
        item = _unfetched(item)
    if claim is None and visit.lease is not None and isinstance(item.report, Failed):
        return _refused(item, visit, "another worker holds the page and will report it")
    # Compare the content, and find whether links change.
    outcome, change, changed_in = ("retry", policy.change, ()) if is_hollow else _outcome(item, visit, policy, noise)
    answer = _accepted(item, outcome, changed_in)
    if change.failure:
        answer = replace(answer, reason=change.failure)
    verdict = Verdict(item, visit, True, False, answer, is_hollow, change)
    turns = verdict.led_by != visit.led_by
    verdict.links = item.replaces_links() or item.adds_links() or verdict.vanished or turns
    return verdict


def _is_hollow(visit: Visit) -> bool:
    """Return whether a page has no stored content, so that a 304 shows nothing."""
    return visit.first_fetched is None or visit.state in ("alias", "gone")


def _unfetched(item: Item) -> Item:
    """Return the visit as a failure, after which the page is fetched again without validators."""
    report = item.report
    failed = Failed(
        report.url, report.claim, health.NOT_MODIFIED, NEVER_FETCHED, seconds=report.seconds, address=report.address
    )
    return replace(item, report=failed, note=f"{NEVER_FETCHED}: it will be asked for in full")


def _refused(item: Item, visit: Visit, reason: str) -> Verdict:
    """Return the refusal of a visit. Its links are taken if the page was never fetched, since no other visit has
    reported them."""
    links = item.replaces_links() and visit.first_fetched is None and visit.state in ("frontier", "outside")
    return Verdict(item, visit, False, links and bool(item.targets), _refuse(item, reason))


def _accepted(item: Item, outcome: str | None, changed_in: tuple[str, ...] = ()) -> Answer:
    stated: Outcome | None = outcome  # type: ignore[assignment]  # written by _outcome, read back from the page
    links = len(item.targets) if isinstance(item.report, Fetched) and not item.walled else 0
    return Answer(item.report.url, True, item.note, stated, links, changed_in=changed_in, **_of_links(item))


def _outcome(
    item: Item, visit: Visit, policy: Policy, noise: HostNoise | None
) -> tuple[Outcome, ChangeTest, tuple[str, ...]]:
    """Return the outcome; the test that showed whether the page has changed, which is another than the user's detector
    if that fails; and the parts in which the page has changed."""
    report, change = item.report, policy.change
    # The outcome of a failed visit.
    if isinstance(report, Failed):
        if item.slowed:
            return "slowed", change, ()
        if respells(item, visit):
            return "retry", change, ()
        return "gone" if item.missing and visit.errors + 1 >= policy.max_errors else "retry", change, ()
    # Outcomes that need no comparison of contents.
    if report.redirected_to is not None:
        return "alias", change, ()
    if visit.first_fetched is None:
        return "new", change, ()
    is_decided = report.changed is not None or visit.state == "alias"
    if report.not_modified or item.walled or (item.completeness == "some" and not is_decided):
        return "same", change, ()  # a 304, a wall, or a part of the page
    # Compare the parts beside the text, and then the text. A verdict of the crawler holds for the whole page.
    others = parts.changed(visit.parts, item.seen.parts)
    if is_decided:
        differs = report.changed is not False
    else:
        # A page with few visits is compared by the noise of its section.
        host_noise = HostNoise.read(visit.noise) if noise is None else noise
        section = host_noise.of(visit.url) if visit.visits <= FEW_VISITS else None
        differs, change = change.judge(visit.seen, item.seen, section)
        is_decided = change.detector is not None
    changed_in = (PARTS[:1] if differs else ()) + others
    is_changed = differs if is_decided else not change.counted.isdisjoint(changed_in)
    return ("changed", change, changed_in) if is_changed else ("same", change, ())


def respells(item: Item, visit: Visit) -> bool:
    """Return whether the page takes the spelling to which its server redirects. The number of times is bounded."""
    return item.spelling is not None and item.spelling != visit.url and visit.respelt < url_variants.MOST_ROUNDS
