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
"""The reasons why a failed visit has no status: the host was silent, got no request, or was not understood."""
Kind = Literal["page", "robots", "sitemap", "link"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of claims: a page, a robots.txt, a sitemap, and `link`, the check of the status of a URL outside the
scope."""
RESOURCE_KINDS: tuple[Kind, ...] = KINDS[1:]
"""The kinds of claims of resources that are not pages."""
PAGES: frozenset[Kind] = frozenset({"page"})
"""The default of the kinds that a worker claims."""
ROBOTS_KEY, SITEMAP_KEY, LINK_KEY = "robots:", "sitemap:", "link:"
"""The beginnings of keys. The origin of a robots.txt follows, or the URL of a sitemap or of a link."""
RESOURCE_KEY = rf"(?:{ROBOTS_KEY}https?://[!-~]{{1,300}}|(?:{SITEMAP_KEY}|{LINK_KEY})https?://[!-~]{{1,2000}})"
"""A regular expression for the keys of resources that are not pages."""
_KIND_OF: Mapping[str, Kind] = {ROBOTS_KEY: "robots", SITEMAP_KEY: "sitemap", LINK_KEY: "link"}
HintOutcome = Literal["new", "moved", "noted", "old"]
Because = Literal["host", "retry", "probe", "revisit", "look", "lease"]
"""The reasons why the next page cannot be claimed before a time. `host`: its host may not be requested sooner. `retry`:
it failed, and is tried again then. `probe`: its host does not answer, and is probed then. `revisit`: it was visited,
and is visited again then. `look`: it redirects or was given up, and is looked at again then. `lease`: another worker
has claimed it."""
STATES = ("frontier", "known", "outside", "alias", "parked", "gone")
"""The states of a page: waiting or claimed, fetched, not to be fetched, redirecting, given up, reported as gone."""
FOR_EVER = 253_402_300_799.0
"""The last second of the year 9999: the end of a block that lasts until an operator lifts it."""
PARTS = ("text", "links", "images", "title", "robots", "structured_data")
"""The parts of a page in which a change may be. `text` is what the setting `change` compares."""
_TEXT_VERSION = re.compile(r"text(\d+):")
"""The beginning of a hash of a text that graphbrain has made."""
SCOPE, ROBOTS = "scope", "robots"
"""The reasons why a page is outside: the settings of the scope, or the robots.txt of its host."""


@dataclass(frozen=True, slots=True)
class Link:
    """One out-link of a fetched page.

    Attributes:
        url: The URL of the target.
        relevance: The crawler's estimate, 0 to 1, of how close the target is to the topic; None is no estimate. It
            holds until the target is fetched and gets its own relevance. The largest of several estimates holds.
        value: The crawler's estimate, 0 to 1e12, of the target's worth (see `Fetched`). It holds in the same way.
        anchor: The text of the link, at most 200 characters of it. Questions use it; the order does not.
        rel: The words nofollow, ugc and sponsored of its `rel`. Questions use it; the order does not.
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
        url: The address to fetch.
        key: The key of the page.
        token: The fencing token. A report, a renewal or a return is accepted only while the page still carries it.
        until: The end of the lease, in epoch seconds by the server's clock.
        host: The host of the page.
        depth: The depth of the page.
        etag: The ETag that the last visit returned.
        last_modified: The Last-Modified that the last visit returned.
        method: `HEAD` for the check of a link. None is GET; `as_dict` leaves it out.
        kind: `page`, `robots` for a robots.txt, `sitemap`, or `link` for the status of a URL outside the scope. The
            last three are reported as a `Resource`. The kind follows from the key. `as_dict` has it only if it is not
            `page`.
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
        """The time of the claim in epoch seconds, from its token. None for a token without a time."""
        return made_at(self.token)

    @property
    def kind(self) -> Kind:
        """The kind of the claimed resource."""
        return kind_of(self.key)

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name, with `kind` unless it is a page, and with `method` unless that is GET."""
        values = {name: getattr(self, name) for name in self.__slots__}
        if self.method is None:
            del values["method"]
        return values if self.kind == "page" else values | {"kind": self.kind}


def kind_of(key: object) -> Kind:
    """Return the kind of the resource with this key."""
    head, colon, _ = key.partition(":") if isinstance(key, str) else ("", "", "")
    return _KIND_OF.get(head + colon, "page")


class Claims(Sequence[Claim]):
    """The answer of `next_urls`: the claims, and the time of the next ones if there are fewer than requested.

    If the call got as many claims as it requested, the times are None.

    Attributes:
        next_ready: Epoch seconds at which the next page can be claimed; None if no page waits for a time.
        finished: True if no page waits, is claimed or will be tried again. The crawl is over unless a seed or a report
            brings more.
        next_unfailed: Like `next_ready`, without pages that have failed and will be tried again in minutes or days: the
            time for pages that wait for their host or that a worker has claimed, for sitemaps and for links to check.
        repeated: True if this idempotency key was used before. The claims are those of the first call whose leases have
            not ended; another key gets new ones.
        next_because: The reason why nothing can be claimed before `next_ready`: `host` (delay_seconds, groups,
            hours, robots.txt, a block), `retry` (it failed), `probe` (its host does not answer), `revisit`
            (revisit_seconds, intervals), `look` (it redirects or was given up), `lease` (a worker has claimed it).
        paused: True if no pages can be claimed until `resume`.
        notes: Key of a claimed page → the note on it, if the call has asked for notes. Pages without a note are left
            out.
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
        """Return a clause: why there are no more claims, when there will be some, and which setting decides it.

        `stats`: the answer of `stats` of the same brain.
        """
        if self.paused:
            return "the brain is paused: 'graphbrain resume' makes its pages claimable again"
        words = {"leased": "held by a crawler", "waiting": "waiting", "retries": "to be tried again"}
        counts = [f"{stats[name]:,} {states}" for name, states in words.items() if stats[name]]
        if not counts:
            outside = stats["states"].get("outside", 0)
            return "no page waits to be fetched" + (f"; {outside} are outside the scope" if outside else "")
        ready_at = self.when()
        return f"the pages left are {', '.join(counts)}" + (f", {ready_at}" if ready_at else "")

    def when(self) -> str:
        """Return a clause: when the next page can be claimed, and why not sooner. Empty if that is not known."""
        if self.next_ready is None:
            return ""
        why = "" if self.next_because is None else f" ({_WHY[self.next_because]})"
        return f"the next one from {_clock(self.next_ready)} on{why}"

    def __repr__(self) -> str:
        return f"Claims({len(self)}, next_ready={self.next_ready}, finished={self.finished})"


BESIDE = ("next_ready", "finished", "next_unfailed", "repeated", "next_because", "paused")
"""The attributes of `Claims` that the service sends with the claims."""
_WHY: Mapping[Because, str] = {
    "host": "its host may be asked again then: delay_seconds, groups, hours, or what the host has asked for",
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
    """The facts of a page's content by which its changes are found. None if a fact was not reported.

    Attributes:
        body_hash: A hash of the bytes.
        text_hash: A hash of the visible text.
        simhash: 64 bits as a signed integer; like texts share most of them.
        at: The time of this content in epoch seconds: of the visit that found the last change, or of the reported
            visit.
        blocks: The blocks of text of the reported visit; or the blocks that are stored of all earlier visits.
        shingles: A sketch of the text of the reported visit, from which sections are learned.
        words: The number of words of that text.
        parts: Hashes of the parts beside the text: see `schedule.parts`.
    """

    body_hash: str | None = None
    text_hash: str | None = None
    simhash: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    at: float | None = None
    blocks: str | None = None
    shingles: str | None = None
    words: int | None = None
    parts: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page that was fetched, with its content.

    Attributes:
        links: Its out-links as URLs or `Link` objects, absolute, in page order. They replace those of an earlier visit.
        claim: The claim under which it was fetched. A visit without a claim is accepted if it is newer than the last
            one.
        body: The bytes. They are hashed and not stored.
        content_type: The Content-Type header of the body. Without it HTML is recognised by its first bytes.
        body_hash, text_hash, simhash: Hashes that the crawler has computed, instead of `body`. Without a body and
            hashes nothing is compared.
        blocks: The blocks of the text of a body that was hashed elsewhere, from `schedule.fingerprints.text_blocks`.
            Blocks of different versions of graphbrain are not compared; then the simhash decides.
        shingles: The sketch of that text, from `schedule.fingerprints.take`.
        parts: The hashes of the images and the structured data of that body, from `schedule.fingerprints.take`.
        changed: The crawler's own verdict whether the page has changed since its last visit.
        status: The HTTP status. An error is a failure, whose links are added; 204 and 206 delete no links.
        not_modified: The server answered 304. Links, hashes, and an ETag or Last-Modified that the answer lacks stay.
        redirected_to: The page answered with a permanent redirect (301, 308) to this URL; it becomes an alias.
        led_to: The URLs to which temporary redirects led, in order, at most five. The content is that of the last one.
            With `status` 302, 303 or 307 the page leads to the first of them for now. Then neither the links nor the
            content are the page's own, unless the last URL is the page itself, and the page has changed if it leads to
            another URL than before. `redirected_to` with such a status means the same. With another status it is the
            target of a refresh in 0 seconds, and the content is the page's own.
        relevance: The closeness of the page to the topic, 0 to 1; None keeps the present one.
        value: The page's worth to the crawler, 0 to 1e12, on any scale, as `set_page` sets it. The order uses it if the
            setting `value` is own; a page without one counts 1 then. None keeps the present one.
        fetched_at: Epoch seconds; None means now. A claimed visit is never earlier than its claim.
        seconds: The duration of the fetch, for the setting `response_times`.
        address: The IP address at which it was reached, for limits by address.
        title, canonical, noindex, language, size: Facts for questions. The order does not use them. `canonical` is a
            URL, `size` is in bytes. If one of them is given, content type and seconds are stored, too.
        nofollow: True if the page asks that its links are not followed (meta robots, X-Robots-Tag).
        password_field: True if the page has a field for a password.
        canonicals: At most five of the canonicals that the page states, if there is more than one URL, or one in the
            body, where search engines ignore it. Each is its place (`head`, `body` or `header`), a space, and the URL.
        titles: At most five of its titles, if there is more than one, or one in the body. Each is its place (`head` or
            `body`), a space, and the text.
        descriptions, h1: The texts of its meta descriptions and of its first headings, at most five. Empty: it has
            none. None: it is not known.
        words: The number of words of its visible text. Without it they are counted in `body`.
        hreflang: The versions of the page in other languages, at most 100. Each is its code, a space, and the URL.
        requisites: The files that it loads, at most 200 of each kind, and where its forms send. Each is its kind
            (`image`, `script`, `style`, `media` or `form`), a space, and the URL; of an image with the attribute `alt`
            then a space and its text, at most 100 characters. 16,000 characters in all are stored.
        structured: The types of its structured data, at most 20. Each is its syntax (`json-ld`, `microdata` or
            `rdfa`), a space, and the type; `invalid json-ld` is a block that cannot be parsed.
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
    password_field: bool | None = None
    blocks: str | None = None
    shingles: str | None = None
    titles: Sequence[str] = ()
    descriptions: Sequence[str] | None = None
    h1: Sequence[str] | None = None
    words: int | None = None
    hreflang: Sequence[str] = ()
    requisites: Sequence[str] = ()
    structured: Sequence[str] = ()
    parts: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A fetch that brought no page.

    Attributes:
        status: The HTTP status; None if there was no answer: then `error` and `fault` describe the failure.
        error: The reason of the failure, in words.
        fault: silent: the host gave no answer (time-out, DNS, TLS, connection refused or reset); None means the same.
            not_sent: the crawler sent no request, because its own rules forbid it or it cannot request such a URL.
            not_understood: the crawler cannot read the answer (no HTTP, too many headers, a body that is too long or
            does not end). With a status it is ignored.
        retry_after: The wait that the server asked for, in seconds, or its Retry-After header unchanged, which may be a
            date. Any other text is ignored.
        seconds: The duration of the fetch, as in `Fetched`.
        address: The IP address, as in `Fetched`.
        body: The bytes of a 404 or 410. They are hashed and not stored: pages of the host that look like them are soft
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

    A `Fetched` or a `Failed` with such a claim is converted to a `Resource`.

    Attributes:
        status: The HTTP status; None if there was no answer: then `error` and `fault` describe the failure, as in
            `Failed`.
        body: The body of a 2xx answer, bytes or text, as much of it as was read. At most 500 KiB of a robots.txt are
            parsed, and at most 50 MB of a sitemap, packed by gzip or not.
        etag, last_modified: The headers of a sitemap. The next claim of the sitemap has them.
        redirected_to: The Location of a redirect. The crawler does not follow it: it becomes the next claim.
        retry_after, seconds, address, fetched_at: As in `Failed`.
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
        """Return the same result as a report of a page, which is its form on the wire."""
        # An answer without an error.
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
        # An error, or no answer.
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
    """A report that could not be read, with the reason. Its claim ends like that of a failed page."""

    url: str
    claim: Claim | None
    reason: str


AnyReport = Fetched | Failed | Resource | Unusable
"""The kinds of items that `report` accepts."""


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """The result of one reported item.

    Attributes:
        accepted: True if the brain has recorded the item.
        reason: The reason of a refusal, or the remark that a user or a password was left out of the page's own URL.
        outcome: `new` (its first content), `changed`, `same`; `alias` (redirect); `retry` (failed, will be tried
            again), `gone` (given up), `slowed` (429 or 503: the host waits, and this is no failure of the page); None
            if refused.
        links: The number of distinct out-links that are now known for the page.
        links_refused: The links that were refused, each with the reason.
        links_over: The number of links beyond `max_links`, which were left out.
        userinfo_dropped: The number of links with a user or a password (`http://user:password@host/`), which were left
            out.
        changed_in: The parts of the page (`PARTS`) in which a changed page differs from the last visit. Empty for other
            outcomes.
    """

    url: str
    accepted: bool
    reason: str = ""
    outcome: Outcome | None = None
    links: int = 0
    links_refused: tuple[tuple[str, str], ...] = ()
    links_over: int = 0
    userinfo_dropped: int = 0
    changed_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint:
    """A statement that a page has changed, or exists, from another source than a visit.

    Attributes:
        at: The time of the change in epoch seconds; None: now; 0: the source states only that there is such a page.
        within: The most seconds by which the change may be later than `at`: 86400 for a date without a time.
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
        reason: The reason of a refusal, or what was left out of its URL.
        outcome: `new` (the hint has created the page), `moved` (it will be fetched again sooner), `noted` (it is not
            fetched yet, or not again), `old` (a visit, or another hint, is as new); None if refused.
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
        known: The number of pages that were in the graph before.
        refused: (string, reason) of each string that cannot be a seed.
        outside: The number of these pages that will not be fetched, because of the settings or a robots.txt.
        gone: The number of these pages that were given up (gone, parked), and wait again.
        forgotten: The number of `refused` that were forgotten for ever.
        remarks: (URL, remark) of each page that is outside or was given up, and of each URL with a user or a password,
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
    """All facts that the brain has of one page. Times are in epoch seconds; None if the event never happened.

    A score is history + cash, at least about 1; under the classic engine it is the page's share of all, below 1.

    Attributes:
        id: Neo4j's number of its node. After the page was deleted, another page may get it.
        scores: Name in `methods.SCORES` → the batch score.
        provisional: The score that the order uses until the page has a batch score. The mean of all pages is 1.
        flow: 10,000 for a seed, plus what each page that links to it has passed on when it was read.
        flow_paid: The flow that each unit of weight of its links has received.
        live_pagerank: 1, plus .85 of the live PageRank of each page that links to it, divided equally along the links
            of that page; None if the brain does not keep it.
        live_pagerank_paid: The live_pagerank that each unit of weight of its links has received.
        value: Its worth, set by the crawler.
        rate_shape, rate_scale: The estimate of its change rate; `rate_scale` in days. None until a second visit.
        rate: Changes a day: `rate_shape` / `rate_scale`.
        interval: Days between visits, set by hand.
        comes_back: The days between visits that the order gives it at the present pace of the crawl; None if it is not
            visited again.
        due: The time of the next visit at this pace; None if it is not visited again.
        hub_updated, authority_updated: The time at which that side last spent its cash, by its own clock under the
            classic engine.
        hub_rank, authority_rank: floor(4·log2 score), for scores from 32 on.
        error: The message of the last failure, at `failed`, if no page came since.
        hinted_by: The kind of its last hint.
        claimed: The time at which its worker claimed it; None, too, for a token without a time.
        failing_since: The time of its first failure since it was last fetched.
        fault: The kind of the last visit's failure, one of `frontier.hosts.health.PAGE_FAULTS`.
        recheck_at: The time at which an alias or a parked page is looked at again.
        depth: The depth of the frontier, which `max_depth` bounds: it is 1 for a page that a sitemap names.
        clicks: The fewest clicks from a seed to it by links. `Brain.page` and `Brain.dump_pages` find it; None if no
            path of links leads to it.
        led_to: The URLs to which temporary redirects, or a refresh in 0 seconds, led its last visit.
        title, canonical, noindex, language, size, content_type, fetch_seconds: The facts of its last report.
        nofollow, canonicals, titles, descriptions, h1, words, hreflang, requisites, structured, password_field: As in
            `Fetched`; None if the page has none.
        changed_in: The parts of it (`PARTS`) in which it changed last; None if it never did.
        in_sitemap: The time at which a sitemap last named it.
        brought: The share of new text that its first visit brought to its host, 0 to 1; None until it is learned.
        echo: True if a page of its host whose URL ends in the same step of the path had been fetched before it.
        harvest: The factor of its section by which it counts while it waits; None if it waits for no first visit.
        url_weight: The factor of its worth by the setting `weights`; None if no pattern matches its URL.
        section: The section of its host that it is in. Only `Brain.page` finds it; it is not in `as_dict`.
        expected_copy: The page that it is expected to equal, while it waits for a first visit. Only `Brain.page` finds
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
    titles: Sequence[str] | None = None
    descriptions: Sequence[str] | None = None
    h1: Sequence[str] | None = None
    words: int | None = None
    hreflang: Sequence[str] | None = None
    requisites: Sequence[str] | None = None
    structured: Sequence[str] | None = None
    password_field: bool | None = None
    changed_in: Sequence[str] | None = None
    brought: float | None = None
    echo: bool = False
    harvest: float | None = None
    url_weight: float | None = None
    section: PageSection | None = dataclasses.field(default=None, compare=False)
    expected_copy: ExpectedCopy | None = dataclasses.field(default=None, compare=False)

    @property
    def rate(self) -> float | None:
        """Expected changes a day, by its visits; None until a second visit."""
        return None if self.rate_shape is None or self.rate_scale is None else self.rate_shape / self.rate_scale

    def score(self, by: str) -> float | None:
        """Return its score of this name: authority, hub, cash or one of `methods.UNINDEXED`; None if it has none."""
        live = {"authority": self.authority_score, "hub": self.hub_score, CASH: self.hub_cash + self.authority_cash}
        return live.get(by, getattr(self, by) if by in (*FORWARD, *OWN) else self.scores.get(by))

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the names in `as_dict`, in its order. They are the same for all pages."""
        return _PAGE_COLUMNS

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name, and all batch scores by their names: None for a score that it lacks."""
        values = {name: getattr(self, name) for name in _PAGE_FIELDS}
        return values | {name: self.scores.get(name) for name in SCORES}

    def in_full(self) -> dict[str, Any]:
        """Return `as_dict` with `section` and `expected_copy` as dictionaries."""
        return self.as_dict() | {
            name: None if (looked_up := getattr(self, name)) is None else looked_up.as_dict() for name in LOOKED_UP
        }


LOOKED_UP = ("section", "expected_copy")
"""The fields that only `Brain.page` finds. They are records, and no columns of a table."""
_PAGE_FIELDS = (
    *(field.name for field in dataclasses.fields(Page) if field.name not in ("scores", *LOOKED_UP)),
    "rate",
)
_PAGE_COLUMNS = (*_PAGE_FIELDS, *SCORES)


@dataclass(frozen=True, slots=True)
class Host(Record):
    """All facts that the brain has of one host. Times are in epoch seconds; None if there is none.

    Attributes:
        delay: The present seconds between two claims: the largest of `own_delay` (or the brain's setting),
            `robots_delay` and a multiple of `response_seconds`, divided by `pace`.
        own_delay: The delay of this host in seconds, set by `set_host`.
        robots_delay: Its Crawl-delay in seconds.
        response_seconds: The duration of its last fetch.
        pace: The share of its full rate that is left after answers 429 or 503; 1 is the full rate.
        complaints: The number of answers 429 and 503 in a row.
        blocked_until: The end of its block or of its back-off.
        unanswered: The number of requests in a row without any answer.
        probe_at: The time of its next probe, if it has failed so often that it is only probed.
        next_at: The time from which one of its pages can be claimed, without regard to blocks and its address.
        in_flight: The number of its open claims.
        most_in_flight: The limit of open claims, its own or that of the setting; 0: no limit.
        own_in_flight: The limit of this host, set by `set_host`.
        budget: The most pages that may be fetched for the first time; 0: no limit.
        budget_used: The number of pages that were fetched for the first time, or are claimed for it; None: not counted.
        set_aside: True if pages wait for room in its budget.
        queued: True if pages wait in queues of its own.
        address: The IP address at which it was last reached; None if that is not known, or if it is in a group.
        group: The hosts of the rule of `groups` that holds for it.
        shut_until: The time at which its `hours` begin, if it may not be asked now.
        robots_at: The time at which its robots.txt was set.
        robots_http_at, robots_https_at: The time at which a robots.txt was set for that scheme only.
        pages: The number of its pages in the graph that were counted.
        more_pages: True if it has more than `pages`.
        in_scope: True if the settings allow to fetch it.
        failing_since: The time since which all requests have failed.
        illness: The kind of the last of these failures: `silent`, `refused` or `broken`.
        wall: The URL to which temporary redirects have led the last visits of `walled` of its pages. It may be a login
            or a consent page. None if these are fewer than five.
        resources: Its robots.txt and the sitemaps that it names, at most a hundred, if crawlers claim them; None in a
            list of hosts.
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
    group: str | None = None
    shut_until: float | None = None
    resources: tuple[HostResource, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return its values by name."""
        values = {name: getattr(self, name) for name in self.columns()}
        resources = None if self.resources is None else [each.as_dict() for each in self.resources]
        return values | {"resources": resources}


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The effect of a robots.txt.

    Attributes:
        delay: The Crawl-delay in seconds; 0 if there is none.
        taken_out: The number of pages that it newly forbids.
        let_in: The number of pages that an earlier one forbade and that it allows.
    """

    delay: float
    taken_out: int
    let_in: int

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def text_version(text_hash: str | None) -> int:
    """Return the version of graphbrain's functions that made the hash and the simhash of a text.

    It is 0 for a hash that a crawler made itself. Hashes of different versions are not compared.
    """
    version = None if text_hash is None else _TEXT_VERSION.match(text_hash)
    return int(version[1]) if version else 0


def number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number of Python or numpy, and no bool."""
    return isinstance(value, Real) and not isinstance(value, bool)
