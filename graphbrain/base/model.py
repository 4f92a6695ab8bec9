"""The values that a crawler and its brain exchange.

A crawler claims pages as `Claim`s, fetches them, and reports a `Fetched` or a `Failed` for each; the brain returns an
`Answer` for each report. All are frozen, so that threads can share them, and can be sent to other processes: `as_dict`
writes the JSON of the command line, and `wire` reads it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from numbers import Real
from typing import Any, Literal, TypeGuard, get_args, overload

from graphbrain.base.numeric.methods import CASH, FORWARD, OWN, SCORES
from graphbrain.base.records import (
    ExpectedCopy,
    HostResource,
    KnownLink,
    LinkedPage,
    PageSection,
    Payment,
    Payments,
    Record,
    Section,
)
from graphbrain.base.runtime.tokens import made_at

__all__ = [
    "BESIDE",
    "FAULTS",
    "FOR_EVER",
    "KINDS",
    "LOOKED_UP",
    "PAGES",
    "RESOURCE_KINDS",
    "ROBOTS",
    "ROBOTS_KEY",
    "SCOPE",
    "SITEMAP_KEY",
    "STATES",
    "Answer",
    "AnyReport",
    "Because",
    "Claim",
    "Claims",
    "ExpectedCopy",
    "Failed",
    "Fault",
    "Fetched",
    "Hint",
    "HintOutcome",
    "Hinted",
    "Host",
    "HostResource",
    "Kind",
    "KnownLink",
    "Link",
    "LinkedPage",
    "Page",
    "PageSection",
    "Payment",
    "Payments",
    "Report",
    "Resource",
    "RobotsAnswer",
    "Section",
    "SeedAnswer",
    "Seen",
    "Unusable",
    "kind_of",
    "number",
    "text_version",
]

Outcome = Literal["new", "changed", "same", "alias", "retry", "gone", "slowed"]
OUTCOMES = (*get_args(Outcome), "refused")
"""The outcomes of a report, in the order in which workers count them."""
Fault = Literal["silent", "not_sent", "not_understood"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
"""The reasons why a failed visit has no status: the host was silent, was not asked, or was not understood."""
Kind = Literal["page", "robots", "sitemap", "link"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of claims: pages, the robots.txt of their hosts, the sitemaps of these, and the status of URLs outside the
scope."""
RESOURCE_KINDS: tuple[Kind, ...] = KINDS[1:]
"""The kinds of what is claimed as a page is, and is no page."""
PAGES: frozenset[Kind] = frozenset({"page"})
"""The kinds that are claimed where no kinds are named."""
ROBOTS_KEY, SITEMAP_KEY, LINK_KEY = "robots:", "sitemap:", "link:"
"""The beginnings of the keys of a robots.txt, whose origin follows, and of a sitemap and of the check of a link, whose
URLs follow."""
RESOURCE_KEY = rf"(?:{ROBOTS_KEY}https?://[!-~]{{1,300}}|(?:{SITEMAP_KEY}|{LINK_KEY})https?://[!-~]{{1,2000}})"
"""A regular expression of the keys of resources that are not pages."""
_KIND_OF: Mapping[str, Kind] = {ROBOTS_KEY: "robots", SITEMAP_KEY: "sitemap", LINK_KEY: "link"}
HintOutcome = Literal["new", "moved", "noted", "old"]
Because = Literal["host", "retry", "probe", "revisit", "look", "lease"]
"""The reasons why no page can be claimed before a moment. `host`: its host may not be asked sooner. `retry`: it
failed, and is tried again then. `probe`: its host does not answer, and is probed then. `revisit`: it was visited,
and is visited again then. `look`: it redirects or was given up, and is looked at again then. `lease`: another
worker holds it."""
STATES = ("frontier", "known", "outside", "alias", "parked", "gone")
"""The states of a page: waiting or held, fetched, not to be fetched, redirecting, given up, reported as gone."""
FOR_EVER = 253_402_300_799.0
"""The last second of the year 9999: a host is blocked until an operator lifts the block."""
_TEXT_VERSION = re.compile(r"text(\d+):")
"""The beginning of a hash of a text that graphbrain has made."""
SCOPE, ROBOTS = "scope", "robots"
"""The reasons why a page is outside: the settings of the scope, or its host's robots.txt."""


@dataclass(frozen=True, slots=True)
class Link:
    """One out-link of a fetched page.

    Attributes:
        relevance: The crawler's estimate, 0 to 1, of how close the target is to the topic; None is no estimate. It
            holds until the target is fetched and gets a relevance of its own. The largest of several estimates holds.
        value: The crawler's estimate, 0 to 1e12, of the target's worth (see `Fetched`). It holds in the same way.
        anchor: The link's text, of which 200 characters are kept. It is for later questions; the order does not use it.
        rel: Its `rel`, of which nofollow, ugc and sponsored are kept. It is for later questions; the order does not use
            it.
    """

    url: str
    relevance: float | None = None
    value: float | None = None
    anchor: str | None = None
    rel: str | None = None


@dataclass(frozen=True, slots=True)
class Claim(Record):
    """A page that one worker has claimed until `until`.

    Attributes:
        token: The fencing token. A report, a renewal or a return is accepted only while the page still carries it.
        until: The end of the lease, in epoch seconds by the server's clock.
        etag: The ETag that the last visit returned.
        last_modified: The Last-Modified that the last visit returned.
        method: `HEAD` for the check of a link: ask by HEAD, without the body. None is GET; `as_dict` leaves it out.
        kind: `page`, or `robots` for a robots.txt, `sitemap`, or `link` for the status of a URL outside the scope,
            which a caller of these kinds reports as a `Resource`. It follows from the key, so it is in `as_dict` only
            where it is not `page`.
    """

    url: str
    key: str
    token: str
    until: float
    host: str
    depth: int
    etag: str | None = None
    last_modified: str | None = None
    method: Literal["HEAD"] | None = None

    @property
    def claimed(self) -> float | None:
        """The time of the claim in epoch seconds, read from its token. None for a token that has no time."""
        return made_at(self.token)

    @property
    def kind(self) -> Kind:
        """The kind of resource that it is a claim of."""
        return kind_of(self.key)

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name; with `kind`, unless it is a page, and with `method`, unless that is GET."""
        values = {name: getattr(self, name) for name in self.__slots__}
        if self.method is None:
            del values["method"]
        return values if self.kind == "page" else values | {"kind": self.kind}


def kind_of(key: object) -> Kind:
    """Return the kind of resource that a key belongs to."""
    head, colon, _ = key.partition(":") if isinstance(key, str) else ("", "", "")
    return _KIND_OF.get(head + colon, "page")


class Claims(Sequence[Claim]):
    """The answer of `next_urls`: the claims, and what to expect when there are fewer than asked for.

    Where the call got as many as it asked for, the times are None.

    Attributes:
        next_ready: Epoch seconds at which the next page can be claimed; None when nothing waits for a time.
        finished: True when nothing waits, nothing is leased and nothing is to be retried. The crawl is over unless a
            seed or a report brings more.
        next_unfailed: Like `next_ready`, of the pages that wait for their host or that a worker holds, of sitemaps and
            of links to check. Pages that have failed, and will be tried again in minutes or days, are not counted. A
            crawler ends when there are no claims, and this is None or too far off.
        repeated: True when this key was used before. The claims are those of the first call that are still held;
            another key gets new ones.
        next_because: The reason why nothing can be claimed before `next_ready`: `host` (delay_seconds, robots.txt, a
            block), `retry` (it failed), `probe` (its host does not answer), `revisit` (revisit_seconds, intervals),
            `look` (it redirects or was given up), `lease` (a worker holds it).
        paused: True when no pages can be claimed until `resume`.
        notes: The notes on the claimed pages, by their keys, where the call has asked for them; a page without one has
            none.
    """

    __slots__ = ("_claims", "finished", "next_because", "next_ready", "next_unfailed", "notes", "paused", "repeated")

    def __init__(
        self,
        claims: Iterable[Claim],
        *,
        next_ready: float | None = None,
        finished: bool = False,
        next_unfailed: float | None = None,
        repeated: bool = False,
        next_because: Because | None = None,
        paused: bool = False,
        notes: Mapping[str, str] | None = None,
    ) -> None:
        self._claims = tuple(claims)
        self.notes: Mapping[str, str] = {} if notes is None else notes
        self.next_because = next_because
        self.paused = paused
        self.next_ready = next_ready
        self.finished = finished
        self.next_unfailed = next_unfailed
        self.repeated = repeated

    @overload
    def __getitem__(self, index: int) -> Claim: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Claim]: ...
    def __getitem__(self, index: int | slice) -> Claim | Sequence[Claim]:
        return self._claims[index]

    def __len__(self) -> int:
        return len(self._claims)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims)

    def why(self, stats: Mapping[str, Any]) -> str:
        """Return a clause: why there are no more, when there will be, and which setting decides it. `stats`: the answer
        of `stats` of the same brain."""
        if self.paused:
            return "the brain is paused: 'graphbrain resume' makes its pages claimable again"
        kinds = {"leased": "held by a crawler", "waiting": "waiting", "retries": "to be tried again"}
        counts = [f"{stats[name]:,} {are}" for name, are in kinds.items() if stats[name]]
        if not counts:
            outside = stats["states"].get("outside", 0)
            return "no page waits to be fetched" + (f"; {outside} are outside the scope" if outside else "")
        ready_at = self.when()
        return f"the pages left are {', '.join(counts)}" + (f", {ready_at}" if ready_at else "")

    def when(self) -> str:
        """Return a clause: when the next page can be claimed, and why not sooner. It is empty where that is not
        known."""
        if self.next_ready is None:
            return ""
        why = "" if self.next_because is None else f" ({_WHY[self.next_because]})"
        return f"the next one from {_clock(self.next_ready)} on{why}"

    def __repr__(self) -> str:
        return f"Claims({len(self)}, next_ready={self.next_ready}, finished={self.finished})"


BESIDE = ("next_ready", "finished", "next_unfailed", "repeated", "next_because", "paused")
"""The attributes of `Claims` that the service answers beside the claims."""
_WHY: Mapping[Because, str] = {
    "host": "its host may be asked again then: delay_seconds, or what the host itself has asked for",
    "retry": "it failed, and is tried again then",
    "probe": "its host does not answer, and is probed then: dead_after",
    "revisit": "it is visited again then: revisit_seconds, or an interval; 'graphbrain now' asks for it at once",
    "look": "it redirects or was given up, and is looked at again then; 'graphbrain retry' does it at once",
    "lease": "a crawler holds it until then, unless it reports before: lease_seconds",
}


def _clock(at: float) -> str:
    """Return a time in this machine's time zone, for people."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True, slots=True)
class Seen:
    """The facts of a page's content that are kept to find whether it has changed; None where a fact was not reported.

    Attributes:
        body_hash: A hash of the bytes.
        text_hash: A hash of the visible text.
        simhash: 64 bits as a signed integer; like texts share most of them.
        at: The time of this content in epoch seconds: of the visit that found the last change, or of the reported
            visit.
        blocks: The blocks of text of the reported visit; of earlier visits, what is kept of them, up to the last one.
        shingles: A sketch of the reported visit's text, from which sections are learned.
    """

    body_hash: str | None = None
    text_hash: str | None = None
    simhash: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    at: float | None = None
    blocks: str | None = None
    shingles: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page that was fetched, with its content.

    Attributes:
        links: Its out-links as URLs or `Link` objects, absolute, in page order. They replace those of an earlier visit.
        claim: The claim under which it was fetched. Without one it is an unclaimed visit, which is accepted when it is
            newer than the last.
        body: The bytes, which are hashed and not kept.
        content_type: The Content-Type header of the body. Without it HTML is recognised by its first bytes.
        body_hash, text_hash, simhash: The crawler's own, in place of those of the body. With none of these nothing is
            compared.
        blocks: The blocks of the text of a body that was hashed elsewhere, from `schedule.fingerprints.text_blocks`.
            Those of another version of graphbrain are compared with nothing; then the simhash decides.
        shingles: The sketch of that text, from `schedule.fingerprints.take`.
        changed: The crawler's own verdict whether the page has changed since its last visit.
        status: The HTTP status. An error is a failure, whose links are added; 204 and 206 delete no links.
        not_modified: The server answered 304. Links, hashes, and an ETag or Last-Modified that the answer lacks stay.
        redirected_to: The page answered with a permanent redirect (301, 308) to this URL; it becomes an alias.
        led_to: The URLs that a temporary redirect led through, in order, at most five; the last is where the content
            was. With `status` 302, 303 or 307 the page leads to the first of them for now, and neither links nor
            content are the page's own, unless the last is the page itself; the page has changed when it leads
            elsewhere. `redirected_to` with such a status means the same. With another status it is where a refresh in
            0 seconds leads, and the content is the page's own.
        relevance: 0 to 1, how close the page is to the topic; None keeps what is known.
        value: 0 to 1e12, the page's worth to the crawler, on any scale of its own, as `set_page` sets it. The order
            uses it where the setting `value` is own, in which a page without one counts 1; None keeps what is known.
        fetched_at: Epoch seconds; None means now. A claimed visit is never earlier than its claim.
        seconds: The duration of the fetch, for the setting `response_times`.
        address: The IP address at which it was reached, for limits by address.
        title, canonical, noindex, language, size: Facts for later questions, which the order does not use: `canonical`
            is a URL, `size` in bytes. With any of them, content type and seconds are kept, too.
        nofollow: The page asks that its links are not followed (meta robots, X-Robots-Tag).
        canonicals: At most five of the canonicals that the page states, each after its place (`head`, `body` or
            `header`) and a space, where they contradict each other: more than one URL, or one in the body, where
            search engines ignore it.
    """

    url: str
    links: Sequence[str | Link] = ()
    claim: Claim | None = None
    status: int = 200
    body: bytes | None = None
    content_type: str | None = None
    body_hash: str | None = None
    text_hash: str | None = None
    simhash: int | None = None
    changed: bool | None = None
    not_modified: bool = False
    redirected_to: str | None = None
    relevance: float | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetched_at: float | None = None
    seconds: float | None = None
    address: str | None = None
    value: float | None = None
    title: str | None = None
    canonical: str | None = None
    noindex: bool | None = None
    language: str | None = None
    size: int | None = None
    led_to: Sequence[str] = ()
    nofollow: bool | None = None
    canonicals: Sequence[str] = ()
    blocks: str | None = None
    shingles: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A fetch that brought no page.

    Attributes:
        status: The HTTP status, or None when there was none: then `error` and `fault` describe the failure.
        error: The reason of the failure, in words.
        fault: silent: the host gave no answer (time-out, DNS, TLS, connection refused or reset); None means the same.
            not_sent: the crawler did not ask, because its own rules forbid it or it cannot ask for such a URL.
            not_understood: the crawler cannot read the answer (no HTTP, too many headers, a body that is too long or
            does not end). Beside a status it is ignored.
        retry_after: The wait that the server asked for, in seconds, or its Retry-After header unchanged, which may be a
            date. Anything else is ignored.
        seconds: The duration of the fetch, as of a `Fetched`.
        address: The IP address, as of a `Fetched`.
        body: The bytes of a 404 or 410, which are hashed and not kept: pages of the host that look like it are soft
            404s.
    """

    url: str
    claim: Claim | None = None
    status: int | None = None
    error: str = ""
    retry_after: float | str | None = None
    fetched_at: float | None = None
    seconds: float | None = None
    address: str | None = None
    fault: Fault | None = None
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """The result of a claim of a resource that is not a page: of a robots.txt, of a sitemap, or of a link's check.

    A `Fetched` or a `Failed` under such a claim is read as one of these.

    Attributes:
        status: The HTTP status; None when there was no answer: then `error` and `fault` describe the failure, as of a
            `Failed`.
        body: The body of a 2xx answer, bytes or text, as much of it as was read. Of a robots.txt 500 KiB are
            parsed, of a sitemap, packed by gzip or not, 50 MB.
        etag, last_modified: The headers of a sitemap, which its next claim has.
        redirected_to: The Location of a redirect, which is not followed: it is the next claim.
        retry_after, seconds, address, fetched_at: As of a `Failed`.
    """

    url: str
    claim: Claim
    status: int | None = None
    body: bytes | str | None = None
    redirected_to: str | None = None
    error: str = ""
    fault: Fault | None = None
    retry_after: float | str | None = None
    seconds: float | None = None
    address: str | None = None
    fetched_at: float | None = None
    etag: str | None = None
    last_modified: str | None = None

    def as_report(self) -> Fetched | Failed:
        """The same as the report of a page: so it goes over the wire."""
        body = self.body.encode("utf-8", "replace") if isinstance(self.body, str) else self.body
        if self.status is not None and self.status < 400:
            return Fetched(
                self.url,
                claim=self.claim,
                status=self.status,
                body=body,
                redirected_to=self.redirected_to,
                fetched_at=self.fetched_at,
                seconds=self.seconds,
                address=self.address,
                etag=self.etag,
                last_modified=self.last_modified,
            )
        return Failed(
            self.url,
            self.claim,
            self.status,
            self.error,
            retry_after=self.retry_after,
            fetched_at=self.fetched_at,
            seconds=self.seconds,
            address=self.address,
            fault=self.fault,
        )


Report = Fetched | Failed


@dataclass(frozen=True, slots=True)
class Unusable:
    """A report that could not be read; `reason` has the cause. The claim that came with it ends like that of a failed
    page."""

    url: str
    claim: Claim | None
    reason: str


AnyReport = Fetched | Failed | Resource | Unusable
"""The kinds of items that `report` accepts."""


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """The result of one reported item.

    Attributes:
        outcome: `new` (first body seen), `changed`, `same`; `alias` (redirect); `retry` (failed, will be tried again),
            `gone` (given up), `slowed` (429 or 503: the host waits, and the page has no failure); None when refused.
        reason: Why it was refused, or that a user or a password was left out of the page's own URL.
        links: The number of distinct out-links that are now known for the page.
        links_refused: The links that were refused, each with the reason.
        links_over: The number of links beyond `max_links`, which were left out.
        userinfo_dropped: The number of links with a user or a password (`http://user:password@host/`), which were left
            out.
    """

    url: str
    accepted: bool
    reason: str = ""
    outcome: Outcome | None = None
    links: int = 0
    links_refused: tuple[tuple[str, str], ...] = ()
    links_over: int = 0
    userinfo_dropped: int = 0


@dataclass(frozen=True, slots=True)
class Hint:
    """A statement that a page has changed, or exists, from another source than a visit.

    Attributes:
        at: The time of the change in epoch seconds; None: now; 0: the source states only that there is such a page.
        within: The page changed up to so many seconds after `at`: 86400 for a date without a time.
        kind: The source.
    """

    url: str
    at: float | None = None
    kind: Literal["sitemap", "feed", "ping"] = "ping"
    within: float = 0.0


@dataclass(frozen=True, slots=True)
class Hinted(Record):
    """The result of one hint.

    Attributes:
        reason: Why it was refused, or what was left out of its URL.
        outcome: `new` (there was no such page; there is now), `moved` (it will be fetched again sooner), `noted` (it is
            not fetched yet, or not again), `old` (a visit, or another hint, is as new); None when refused.
    """

    url: str
    accepted: bool
    reason: str = ""
    outcome: HintOutcome | None = None


@dataclass(frozen=True, slots=True)
class SeedAnswer:
    """The result of `seed`. Each page is counted once.

    Attributes:
        created: The number of pages that this call has created.
        known: The number of pages that were there before.
        refused: The strings that cannot be seeds, each with the reason.
        outside: The number of pages in the graph that will not be fetched, because of the settings or a robots.txt.
        gone: The number of pages that were given up (gone, parked), and wait again.
        forgotten: The number of `refused` that were forgotten for ever.
        remarks: A remark on each page that is outside or was given up, and on each whose URL had a user or a password,
            which were left out.
    """

    created: int
    known: int
    refused: tuple[tuple[str, str], ...] = ()
    outside: int = 0
    gone: int = 0
    forgotten: int = 0
    remarks: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: SeedAnswer) -> SeedAnswer:
        return SeedAnswer(*(getattr(self, f.name) + getattr(other, f.name) for f in dataclasses.fields(self)))


@dataclass(frozen=True, slots=True)
class Page(Record):
    """Everything that the brain knows about one page; times in epoch seconds, None where it never happened.

    A score is history + cash, at least about 1; under the classic engine it is the page's share of all, below 1.

    Attributes:
        id: Neo4j's number of its node. It holds as long as the page does; then another page may get it.
        scores: The batch scores that it carries, by the names in `methods.SCORES`.
        provisional: Its score until it has the one that the order uses, on a scale on which the mean of all pages is 1.
        flow: 10,000 of a seed, and what pages that link to it have passed on, each when it was read.
        flow_paid: The flow that each unit of weight of its links has received.
        live_pagerank: 1, and .85 of that of each page that links to it, divided along its links in equal parts; None
            where none is kept.
        live_pagerank_paid: The live_pagerank that each unit of weight of its links has received.
        value: Its worth, set by the crawler.
        rate_shape, rate_scale: The estimate of its change rate; `rate_scale` in days. None until a second visit.
        rate: Changes a day, their ratio.
        interval: Days between visits, set by hand.
        comes_back: The days between visits that the order gives it at the present pace of the crawl; None if there is
            no such time.
        due: The time of the next visit after them; None if there is no such time.
        hub_updated, authority_updated: The time at which that side last spent its cash, by its own clock under the
            classic engine.
        hub_rank, authority_rank: floor(4·log2 score), of scores from 32 on.
        error: The message of the last failure, at `failed`, if no page came since.
        hinted_by: The kind of its last hint.
        claimed: The time at which the worker that holds it claimed it; None, too, for a token that has no time.
        failing_since: The time of its first failure since it was last fetched.
        fault: The kind of the last visit's failure, one of `frontier.hosts.health.PAGE_FAULTS`.
        recheck_at: The time at which an alias or a parked page is looked at again.
        depth: The frontier's own depth, which `max_depth` bounds: it is 1 for a page that a sitemap names.
        clicks: The fewest clicks from a seed to it by links, as `Brain.page` and `Brain.dump_pages` find them; None
            where no links lead there.
        led_to: The URLs to which temporary redirects, or a refresh in 0 seconds, led its last visit.
        title, canonical, noindex, language, size, content_type, fetch_seconds: The facts of its last report.
        nofollow, canonicals: As of a `Fetched`; None where there is nothing of the kind.
        in_sitemap: The time at which a sitemap last named it.
        brought: What its first visit brought that was new to its host, 0 to 1; None until that is learned.
        echo: True if a page of its host whose URL ends in the same step of the path had been fetched before it.
        harvest: The factor of its section with which it waits; None where it does not wait for a first visit.
        section: The part of its host that it is in. `Brain.page` alone finds it; it is not in `as_dict`.
        expected_copy: The page that it is expected to equal, while it waits for a first visit. `Brain.page` alone finds
            it; it is not in `as_dict`.
    """

    url: str
    key: str
    id: int
    host: str
    state: str
    depth: int
    is_seed: bool
    discovered: float
    hub_score: float
    authority_score: float
    hub_cash: float
    hub_history: float
    hub_paid: float
    hub_updated: float | None
    hub_rank: int | None
    authority_cash: float
    authority_history: float
    authority_paid: float
    authority_updated: float | None
    authority_rank: int | None
    out_weight: float
    in_weight: float
    out_links: int
    in_links: int
    relevance: float | None
    payout: float | None
    status: int | None
    value: float | None
    rate_shape: float | None
    rate_scale: float | None
    interval: float | None
    first_fetched: float | None
    fetched: float | None
    changed: float | None
    visits: int
    changes: int
    errors: int
    error: str | None
    failed: float | None
    not_before: float | None
    parked_because: str | None
    hinted: float | None
    hinted_by: str | None
    body_hash: str | None
    text_hash: str | None
    simhash: int | None
    etag: str | None
    last_modified: str | None
    queue: str | None
    lane: int
    waiting_since: float
    worker: str | None
    lease_until: float | None
    redirects_to: str | None
    comes_back: float | None = None
    due: float | None = None
    outside_because: str | None = None
    claimed: float | None = None
    provisional: float | None = None
    scores: Mapping[str, float] = dataclasses.field(default_factory=dict, hash=False)
    flow: float = 0.0
    flow_paid: float = 0.0
    live_pagerank: float | None = None
    live_pagerank_paid: float | None = None
    title: str | None = None
    canonical: str | None = None
    noindex: bool | None = None
    language: str | None = None
    size: int | None = None
    content_type: str | None = None
    fetch_seconds: float | None = None
    in_sitemap: float | None = None
    failing_since: float | None = None
    fault: str | None = None
    recheck_at: float | None = None
    clicks: int | None = None
    led_to: Sequence[str] | None = None
    nofollow: bool | None = None
    canonicals: Sequence[str] | None = None
    brought: float | None = None
    echo: bool = False
    harvest: float | None = None
    section: PageSection | None = dataclasses.field(default=None, compare=False)
    expected_copy: ExpectedCopy | None = dataclasses.field(default=None, compare=False)

    @property
    def rate(self) -> float | None:
        """Changes a day, as its visits show; None until a second visit."""
        return None if self.rate_shape is None or self.rate_scale is None else self.rate_shape / self.rate_scale

    def score(self, by: str) -> float | None:
        """Return its score of this name: authority, hub, cash or one of `methods.UNINDEXED`; None where it has none."""
        live = {"authority": self.authority_score, "hub": self.hub_score, CASH: self.hub_cash + self.authority_cash}
        return live.get(by, getattr(self, by) if by in (*FORWARD, *OWN) else self.scores.get(by))

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the names in `as_dict`, in its order: the same for all pages, whatever scores they carry."""
        return _PAGE_COLUMNS

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name, each batch score under its own: None where it has none."""
        values = {name: getattr(self, name) for name in _PAGE_FIELDS}
        return values | {name: self.scores.get(name) for name in SCORES}

    def in_full(self) -> dict[str, Any]:
        """Return `as_dict` with `section` and `expected_copy`, which only a look at one page finds, as dictionaries."""
        return self.as_dict() | {
            name: None if (looked_up := getattr(self, name)) is None else looked_up.as_dict() for name in LOOKED_UP
        }


LOOKED_UP = ("section", "expected_copy")
"""The fields that `Brain.page` alone finds: records of their own, not columns of a table."""
_PAGE_FIELDS = (
    *(field.name for field in dataclasses.fields(Page) if field.name not in ("scores", *LOOKED_UP)),
    "rate",
)
_PAGE_COLUMNS = (*_PAGE_FIELDS, *SCORES)


@dataclass(frozen=True, slots=True)
class Host(Record):
    """Everything that the brain knows about one host; times in epoch seconds, None where there is none.

    Attributes:
        delay: Seconds between two claims now: the largest of `own_delay` (or the brain's setting), `robots_delay` and a
            multiple of `response_seconds`, divided by `pace`.
        own_delay: The host's own delay in seconds, set by `set_host`.
        robots_delay: Its Crawl-delay in seconds.
        response_seconds: The duration of its last fetch.
        pace: The share of its full rate that it gets since it answered 429 or 503; 1 is all of it.
        complaints: The number of answers 429 and 503 in a row.
        blocked_until: The end of its block or of its back-off.
        unanswered: The number of times in a row that it gave no answer at all.
        probe_at: The time of its next probe, where it has failed so often that it is only probed.
        next_at: The time from which a page of it can be claimed, apart from blocks and its address.
        in_flight: The number of its claims that are out.
        most_in_flight: The most of them, its own or the setting's; 0: no limit.
        own_in_flight: The host's own limit, set by `set_host`.
        budget: The most pages that may be fetched for the first time; 0: no limit.
        budget_used: The pages of the budget that were fetched for the first time or are being so; None: not counted.
        set_aside: True if pages wait for room in its budget.
        queued: True if pages wait in queues of its own.
        robots_at: The time at which its robots.txt was set.
        robots_http_at, robots_https_at: The time at which one was set for that scheme alone.
        pages: The number of its pages in the graph, at most as many as were counted.
        more_pages: True if there are more than `pages`.
        in_scope: True if the settings let it be fetched.
        failing_since: The time since which every request has failed.
        illness: The kind of the last of these failures: `silent`, `refused` or `broken`.
        wall: The URL to which temporary redirects have led the last visits of `walled` of its pages, a login or a
            consent page perhaps; None where they were fewer than five.
        resources: Its robots.txt and the sitemaps that these name, at most a hundred, as far as crawlers claim them;
            None in a list of hosts.
    """

    name: str
    delay: float
    own_delay: float | None
    robots_delay: float | None
    response_seconds: float | None
    pace: float
    complaints: int
    blocked_until: float | None
    unanswered: int
    probe_at: float | None
    next_at: float | None
    in_flight: int
    most_in_flight: int
    own_in_flight: int | None
    budget: int
    own_budget: int | None
    budget_used: int | None
    set_aside: bool
    queued: bool
    address: str | None
    robots_at: float | None
    robots_agent: str | None
    robots_http_at: float | None
    robots_https_at: float | None
    discovered: float | None
    pages: int | None = None
    more_pages: bool = False
    in_scope: bool = True
    failing_since: float | None = None
    illness: str | None = None
    wall: str | None = None
    walled: int | None = None
    resources: tuple[HostResource, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name."""
        values = {name: getattr(self, name) for name in self.columns()}
        resources = None if self.resources is None else [each.as_dict() for each in self.resources]
        return values | {"resources": resources}


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The result of a robots.txt: its Crawl-delay in seconds (0: none), and how many pages were taken out and let in
    again."""

    delay: float
    taken_out: int
    let_in: int

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def text_version(text_hash: str | None) -> int:
    """Return the version of the functions of graphbrain that made the hash of a text, and the simhash beside it.

    It is 0 for a crawler's own hash. Values of two versions are not compared.
    """
    version = None if text_hash is None else _TEXT_VERSION.match(text_hash)
    return int(version[1]) if version else 0


def number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number, of Python or of numpy."""
    return isinstance(value, Real) and not isinstance(value, bool)
