"""The verdict on a reported visit: taken or refused by its lease, and its outcome. Decided under the page's lock.

A visit that is refused may still bring links of a page that has not been fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graphbrain.base.model import Answer, Failed, Fetched, Outcome, Seen
from graphbrain.base.runtime.tokens import asked_at, made_at
from graphbrain.frontier import url_variants
from graphbrain.frontier.hosts import health
from graphbrain.frontier.hosts.state import HostRequest
from graphbrain.frontier.policy import BY_BODY, RETURNED, Policy
from graphbrain.schedule import fingerprints
from graphbrain.schedule.blocks import VisitStep
from graphbrain.schedule.fingerprints import ChangeTest
from graphbrain.schedule.section_noise import FEW_VISITS, HostNoise

__all__ = ["Item", "Verdict", "Visit", "judge", "respells", "told_of"]

NEVER_FETCHED = "not modified, but never fetched"
NOTHING_SEEN = Seen()


@dataclass(slots=True)
class Item:
    """One reported visit, checked: addressed, hashed, with a token made before any transaction."""

    report: Fetched | Failed
    key: str
    url: str
    token: str
    at: float
    seen: Seen = NOTHING_SEEN
    address: str | None = None
    """where the host was reached, in its usual spelling"""
    targets: dict[str, tuple[str, float | None]] = field(default_factory=dict)
    """key → (address, guess of relevance) of each distinct out-link, in page order, without the page itself"""
    values: dict[str, float] = field(default_factory=dict)
    """key → guess of what it is worth to the crawler, of those of the targets of which there is one"""
    facts: list[object] = field(default_factory=list)
    """facts of the page for later questions: see facts/pages"""
    led_to: tuple[str, ...] = ()
    """where the visit was led by temporary redirects, or a refresh in 0 seconds"""
    led_by: int | None = None
    """the status of a temporary redirect; its one target is where that leads"""
    leads_to: str | None = None
    """its host, and in short where it was led by temporary redirects: see `walls`"""
    walled: bool = False
    """was it led where many pages of its host are led, to a login perhaps?"""
    missing_simhash: int | None = None
    """of the text of an answer that there is no such page"""
    link_facts: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    """key → (text, rel) of the targets, if any of them has such"""
    link_bytes: int = 0
    """the length of the URLs of all links that the visit brought"""
    refused: tuple[tuple[str, str], ...] = ()
    over: int = 0
    users: int = 0
    """how many of the links named a user or a password, which were left out"""
    note: str = ""
    """a remark for the answer, beside the outcome"""
    spelling: str | None = None
    """the other spelling of its own URL that the page redirects to"""
    circles: bool = False
    """does it redirect to itself, in this spelling or another?"""
    completeness: str = "all"
    """which of the page's links `targets` are: all, some, so that others stay, or none"""
    refusal: str = ""
    """why what was reported was refused: what is recorded instead is that its page has failed"""

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
        """The kind of the attempt, as it speaks of the host; `none` where the report itself was refused."""
        report = self.report
        if not isinstance(report, Failed):
            return "well"
        if self.refusal:
            return "none"
        return health.kind_of(report.status, report.fault)

    @property
    def fault(self) -> health.PageFault:
        """The kind of the failure of a visit, as it is kept on its page."""
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
        """Seconds that the server asked to wait: of a header, intake has read them."""
        wait = self.report.retry_after if isinstance(self.report, Failed) else None
        return None if isinstance(wait, str) else wait

    @property
    def asked_at(self) -> float:
        """The earliest time of the request: that of its claim, or without a claim that of its fetch."""
        return asked_at(self.token, self.at) if self.claimed else self.at

    def request(self, visit: Visit) -> HostRequest:
        """The request that the visit made, to be held against what else was under way; `visit`: the page before it."""
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
        """True if it is a permanent redirect."""
        return isinstance(self.report, Fetched) and self.report.redirected_to is not None

    @property
    def brings_page(self) -> bool:
        """True if the server answered with a page or a redirect, neither with a 304 nor with a wall."""
        return isinstance(self.report, Fetched) and not self.report.not_modified and not self.walled

    @property
    def redirects(self) -> bool:
        """True if it is a redirect, for good or for now: no click lies between the page and its target."""
        return self.leads_on or self.led_by is not None

    def replaces_links(self) -> bool:
        """Return whether this visit has all links of the page."""
        return isinstance(self.report, Fetched) and self.completeness == "all"

    def adds_links(self) -> bool:
        """Return whether the visit names links of the page that may not be all."""
        return self.completeness == "some" and bool(self.targets)


@dataclass(slots=True)
class Visit:
    """A page's last visits, as known under the lock."""

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
    """for how many rounds in a row it took the spelling that its server redirects to"""
    is_seed: bool
    alias_since: float | None
    names_aliases: bool
    failed: float | None
    """when it failed the last time"""
    failing_since: float | None
    """when it failed first since it was fetched the last time"""
    led: bool
    """was its last visit led elsewhere by temporary redirects?"""
    turned: float | None
    """when a visit last put it into another state, or made it fail"""
    rate_shape: float | None
    rate_scale: float | None
    """what is believed of its rate of change; the scale in days"""
    interval: float | None
    """days between its visits, where they were set by hand"""
    blocks: str | None
    led_by: int | None = None
    """the status by which it leads elsewhere for now"""
    noise: str | None = None
    """of the sections of its host, where it has few visits"""

    @property
    def failed_before(self) -> float | None:
        """The time of its last failure, if it has not been fetched since."""
        fails = self.failing_since is not None and (self.failed or 0.0) > (self.fetched or 0.0)
        return self.failed if fails else None

    @property
    def known_ill(self) -> bool:
        """True if the page was to blame for its failures. A first failure counts for either side, unless it is a
        refusal."""
        return self.errors >= 2 or (self.errors == 1 and self.refusals > 0)

    @property
    def spared_at(self) -> float | None:
        """The time of its last failure, if it has failed since it was fetched, and by no fault of its own."""
        return self.failed_before if self.errors == 0 else None

    @property
    def seen(self) -> Seen:
        """The content as it was when it last changed; blocks, ETag and Last-Modified of the last visit."""
        return Seen(
            self.body_hash, self.text_hash, self.simhash, self.etag, self.last_modified, self.changed, self.blocks
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one item.

    `keep`: the visit is recorded; `links`: its links are taken. `hollow`: the page was reported as unchanged, and had
    never been fetched. `change`: the facts that showed whether it has changed.
    """

    item: Item
    visit: Visit
    keep: bool
    links: bool
    answer: Answer
    hollow: bool = False
    change: ChangeTest = BY_BODY

    @property
    def vanished(self) -> bool:
        """True if the page does not exist any more."""
        return self.answer.outcome == "gone" and self.item.missing

    @property
    def redirects(self) -> bool:
        """True if the page is a redirect after this visit, for good or for now, so that the links of the visit are not
        its own."""
        if self.item.redirects:
            return True
        if self.vanished or self._brings_page:
            return False
        return self.visit.state == "alias" or self.visit.led_by is not None

    @property
    def led_by(self) -> int | None:
        """The status by which the page leads elsewhere for now after this visit."""
        if not self.keep or self.item.leads_on or self.vanished or self._brings_page:
            return None if self.keep else self.visit.led_by
        return self.item.led_by or self.visit.led_by

    @property
    def _brings_page(self) -> bool:
        return self.keep and self.item.brings_page and not self.item.redirects

    @property
    def targets(self) -> Mapping[str, tuple[str, float | None]]:
        """The targets of its links, as far as the visit has them."""
        return {} if self.vanished else self.item.targets

    @property
    def unlinks(self) -> bool:
        """True if links are deleted that were not reported."""
        return self.keep and (self.item.replaces_links() or self.vanished)

    @property
    def shows(self) -> VisitStep | None:
        """The differences of a second visit to the page from the first one, which show the noise of its section."""
        if not (self.keep and self.visit.visits == 1 and self._brings_page and self.change.method == "blocks"):
            return None
        compares = self.item.completeness != "some" and self.answer.outcome in ("changed", "same")
        return fingerprints.compared(self.visit.seen, self.item.seen) if compares else None

    @property
    def own(self) -> bool:
        """True if the page is claimed under this visit's token, or not claimed."""
        return self.visit.lease in (None, self.item.token)


def told_of(item: Item, answer: Answer | None) -> Answer:
    """Return the answer for the caller: that a visit was refused, whatever was recorded instead."""
    if item.refusal:
        return _refuse(item, item.refusal)
    return answer or _refuse(item, "the page was forgotten")


def _refuse(item: Item, reason: str) -> Answer:
    return Answer(item.report.url, False, reason, **_of_links(item))


def _of_links(item: Item) -> dict[str, Any]:
    """Return the parts of an answer about links that were not taken as they are."""
    return {"links_refused": item.refused, "links_over": item.over, "userinfo_dropped": item.users}


def judge(item: Item, visit: Visit, policy: Policy, noise: HostNoise | None = None) -> Verdict:
    """Accept or refuse one visit by its lease, and find its outcome. `noise`: of the host's sections, if not as it was
    read with the page."""
    claim = item.report.claim
    # It was recorded before: give the same answer.
    if visit.last_lease == item.token and visit.lease != item.token:
        if visit.last_outcome == RETURNED:
            return _refused(item, visit, "the claim was given back or had lapsed")
        return Verdict(item, visit, False, False, _accepted(item, visit.last_outcome))
    # Only the holder of the lease is heard, and without a claim only what is news.
    if claim is not None and visit.lease != item.token:
        return _refused(item, visit, "the lease lapsed, or another worker holds the page")
    if claim is None and visit.fetched is not None and visit.fetched >= item.at:
        return _refused(item, visit, "a later visit is known")
    # A 304 for a page whose links are not known makes it come again.
    hollow = isinstance(item.report, Fetched) and item.report.not_modified and _is_hollow(visit)
    if hollow:
        item = _unfetched(item)
    if claim is None and visit.lease is not None and isinstance(item.report, Failed):
        return _refused(item, visit, "another worker holds the page and will report it")
    # Compare the content, and find whether links change.
    outcome, change = _outcome(item, visit, policy, noise) if not hollow else ("retry", policy.change)
    answer = _accepted(item, outcome)
    if change.failure:
        answer = replace(answer, reason=change.failure)
    verdict = Verdict(item, visit, True, False, answer, hollow, change)
    turned = verdict.led_by != visit.led_by
    return replace(verdict, links=item.replaces_links() or item.adds_links() or verdict.vanished or turned)


def _is_hollow(visit: Visit) -> bool:
    """Return whether nothing is known from before of a page that is reported as unchanged."""
    return visit.first_fetched is None or visit.state in ("alias", "gone")


def _unfetched(item: Item) -> Item:
    """The visit as a failure: the page is asked for again, and then in full."""
    report = item.report
    failed = Failed(
        report.url, report.claim, health.NOT_MODIFIED, NEVER_FETCHED, seconds=report.seconds, address=report.address
    )
    return replace(item, report=failed, note=f"{NEVER_FETCHED}: it will be asked for in full")


def _refused(item: Item, visit: Visit, reason: str) -> Verdict:
    """Return a refusal; but links of a page that was never fetched are news that no other visit has brought."""
    links = item.replaces_links() and visit.first_fetched is None and visit.state in ("frontier", "outside")
    return Verdict(item, visit, False, links and bool(item.targets), _refuse(item, reason))


def _accepted(item: Item, outcome: str | None) -> Answer:
    stated: Outcome | None = outcome  # type: ignore[assignment]  # written by _outcome, read back from the page
    links = len(item.targets) if isinstance(item.report, Fetched) else 0
    return Answer(item.report.url, True, item.note, stated, links, **_of_links(item))


def _outcome(item: Item, visit: Visit, policy: Policy, noise: HostNoise | None) -> tuple[Outcome, ChangeTest]:
    """Return the outcome, and the facts that showed whether the page has changed: not the user's detector when that
    fails."""
    report, change = item.report, policy.change
    if isinstance(report, Failed):
        if item.slowed:
            return "slowed", change
        if respells(item, visit):
            return "retry", change
        return "gone" if item.missing and visit.errors + 1 >= policy.max_errors else "retry", change
    if report.redirected_to is not None:
        return "alias", change
    if visit.first_fetched is None:
        return "new", change
    if report.not_modified or item.walled:
        return "same", change
    if report.changed is not None:
        return "changed" if report.changed else "same", change
    if visit.state == "alias":
        return "changed", change
    if item.completeness == "some":  # what came was not the page
        return "same", change
    host_noise = HostNoise.read(visit.noise) if noise is None else noise
    section = host_noise.of(visit.url) if visit.visits <= FEW_VISITS else None
    differs, change = change.judge(visit.seen, item.seen, section)
    return "changed" if differs else "same", change


def respells(item: Item, visit: Visit) -> bool:
    """Return whether the page takes the spelling to which its server redirects. The number of times is bounded."""
    return item.spelling is not None and item.spelling != visit.url and visit.respelt < url_variants.MOST_ROUNDS
