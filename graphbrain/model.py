"""The values that cross the border between a crawler and its brain.

A crawler asks for `Claim`s, fetches them with whatever it likes, and reports a `Fetched` or a `Failed` for each;
the brain answers every item with an `Answer`. All are frozen: they can be shared between threads and sent to
other processes (`as_dict`, and `wire` the other way, are what the command line's JSON lines speak).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from numbers import Real
from typing import Any, Literal, TypeGuard, get_args, overload

from graphbrain.methods import CASH, FORWARD, OWN, SCORES
from graphbrain.records import ExpectedCopy, KnownLink, LinkedPage, PageSection, Payment, Payments, Record, Section
from graphbrain.tokens import made_at

__all__ = [
    "FAULTS",
    "FOR_EVER",
    "KINDS",
    "LOOKED_UP",
    "PAGES",
    "ROBOTS",
    "ROBOTS_KEY",
    "SCOPE",
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
]

Outcome = Literal["new", "changed", "same", "alias", "retry", "gone", "slowed"]
OUTCOMES = (*get_args(Outcome), "refused")
"""What can become of a report, in the order in which workers count it."""
Fault = Literal["silent", "not_sent", "not_understood"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
"""Why a failed visit has no status: the host was silent, was not asked, or was not understood."""
Kind = Literal["page", "robots"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What can be claimed: pages, and the robots.txt of their hosts."""
PAGES: frozenset[Kind] = frozenset({"page"})
"""What is claimed where no kinds are named."""
ROBOTS_KEY = "robots:"
"""How the key of a robots.txt begins; its origin follows."""
HintOutcome = Literal["new", "moved", "noted", "old"]
Because = Literal["host", "retry", "probe", "revisit", "look", "lease"]
"""Why no page can be claimed before a moment: its host may not be asked sooner; it failed, and is tried again then; its
host does not answer, and is probed then; it was visited, and is visited again then; it redirects or was given up, and
is looked at again then; somebody holds it."""
STATES = ("frontier", "known", "outside", "alias", "parked", "gone")
"""What a page can be: waiting or held, fetched, not to be fetched, redirecting, given up, said to be gone."""
FOR_EVER = 253_402_300_799.0
"""The last second of the year 9999: a host is blocked until somebody lifts it."""
SCOPE, ROBOTS = "scope", "robots"
"""Why a page is outside: the settings of the scope, or its host's robots.txt."""


@dataclass(frozen=True, slots=True)
class Link:
    """One out-link of a fetched page.

    `relevance`: the crawler's guess, 0..1, how near the target is to the topic; None says nothing. It holds until
    the target is fetched and given a relevance of its own; of several guesses the largest holds.
    `value`: the crawler's guess, 0..1e12, what the target is worth to it (see `Fetched`); it holds in the same way.
    `anchor`: its text, of which 200 characters are kept; `rel`: its `rel`, of which nofollow, ugc and sponsored are.
    Both are for those who ask later; the crawl does not go by them.
    """

    url: str
    relevance: float | None = None
    value: float | None = None
    anchor: str | None = None
    rel: str | None = None


@dataclass(frozen=True, slots=True)
class Claim(Record):
    """A page handed out to one worker until `until`.

    `token` is the fencing token: a report, a renewal or a return is accepted only while the page still carries it.
    `until` is in epoch seconds by the server's clock. `etag` and `last_modified` are what the last visit returned.
    `kind`: `page`, or `robots`, a robots.txt that a caller of this kind reports as a `Resource`. Its key says it, so
    it is in `as_dict` only where it is no page.
    """

    url: str
    key: str
    token: str
    until: float
    host: str
    depth: int
    etag: str | None = None
    last_modified: str | None = None

    @property
    def claimed(self) -> float | None:
        """When it was handed out, in epoch seconds; its token says it. None for one of an older graphbrain."""
        return made_at(self.token)

    @property
    def kind(self) -> Kind:
        """What it is a claim of."""
        return kind_of(self.key)

    def as_dict(self) -> dict[str, Any]:
        """Its values by name; with `kind`, unless it is a page."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return values if self.kind == "page" else values | {"kind": self.kind}


def kind_of(key: object) -> Kind:
    """What a key is the key of."""
    return "robots" if isinstance(key, str) and key.startswith(ROBOTS_KEY) else "page"


class Claims(Sequence[Claim]):
    """The answer of `next_urls`: the claims, and what to expect when there are fewer than asked. Of as many as asked
    nothing more is said: the times are None then.

    `next_ready`: epoch seconds at which the next page can be claimed, None when nothing is waiting for a time.
    `finished`: nothing waits, nothing is leased and nothing is to be retried: the crawl is over unless somebody
    seeds or reports more. `next_unfailed`: as `next_ready`, of pages that wait for their host, or that somebody holds;
    those that have failed, and will be tried again in minutes or days, are left aside. `repeated`: by this key claims
    were handed out before, and these are those of them that are still held: others are had by another key.
    `next_because`: why nothing can be claimed before `next_ready`: `host` (delay_seconds, robots.txt, a block), `retry`
    (it failed), `probe` (its host does not answer), `revisit` (revisit_seconds, intervals), `look` (it redirects or was
    given up), `lease` (somebody holds it). `paused`: nothing is handed out to anybody until `resume`.
    """

    __slots__ = ("_claims", "finished", "next_because", "next_ready", "next_unfailed", "paused", "repeated")

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
    ) -> None:
        self._claims = tuple(claims)
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
        """Why there are no more, when there will be, and which setting says so: a clause. `stats`: of the same brain,
        as `stats` gives them."""
        if self.paused:
            return "the brain is paused: 'graphbrain resume' lets it hand out pages again"
        kinds = {"leased": "held by a crawler", "waiting": "waiting", "retries": "to be tried again"}
        found = [f"{stats[name]:,} {are}" for name, are in kinds.items() if stats[name]]
        if not found:
            outside = stats["states"].get("outside", 0)
            return "no page waits to be fetched" + (f"; {outside} are outside the scope" if outside else "")
        due = self.when()
        return f"the pages left are {', '.join(found)}" + (f", {due}" if due else "")

    def when(self) -> str:
        """When the next page can be claimed, and what says so: a clause; empty where that is not known."""
        if self.next_ready is None:
            return ""
        why = "" if self.next_because is None else f" ({_WHY[self.next_because]})"
        return f"the next one from {_clock(self.next_ready)} on{why}"

    def __repr__(self) -> str:
        return f"Claims({len(self)}, next_ready={self.next_ready}, finished={self.finished})"


_WHY: Mapping[Because, str] = {
    "host": "its host may be asked again then: delay_seconds, or what the host itself has said",
    "retry": "it failed, and is tried again then: docs/explanation/health.md",
    "probe": "its host does not answer, and is probed then: dead_after",
    "revisit": "it is visited again then: revisit_seconds, or an interval; 'graphbrain now' asks for it at once",
    "look": "it redirects or was given up, and is looked at again then; 'graphbrain retry' does it at once",
    "lease": "a crawler holds it until then, unless it reports before: lease_seconds",
}


def _clock(at: float) -> str:
    """A time as people at this machine read it."""
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is kept of a page's content to tell whether it has changed, None where it was not told or not taken.

    Hashes are of the bytes and of the visible text; `simhash` has 64 bits, of which like texts share most, as a signed
    integer. `at`: when it was so, epoch seconds: the visit that found the last change, or the one that is reported.
    `blocks`: of the reported visit its blocks of text, of those before it what is kept of them, up to the last one.
    `shingles`: a sketch of the reported visit's text, by which sections are learned.
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
    """A page that was fetched, with what it said.

    `links`: its out-links, as URLs or `Link`s, absolute, in page order; they replace what an earlier visit found.
    `claim`: the claim it was fetched under; without one it is an unclaimed visit, taken when newer than the last.
    `body`: the bytes, hashed and forgotten; `content_type`: their header, without which HTML is known by how it begins.
    `body_hash`, `text_hash`, `simhash`: the crawler's own instead; with none of these nothing is compared. `blocks`:
    the blocks of the text of a body that was hashed elsewhere, as `schedule.fingerprints.text_blocks` gives them.
    `shingles`: the sketch of that text, as `schedule.fingerprints.take` gives it.
    `changed`: the crawler says itself whether the page has changed since its last visit.
    `status`: what it says counts: an error is a failure (links told with it are added), 204 and 206 delete no links.
    `not_modified`: the server answered 304: links, hashes, and what it does not name of ETag and Last-Modified stay.
    `redirected_to`: the page answered with a permanent redirect (301, 308) to this URL; it becomes an alias.
    `led_to`: the URLs that a temporary redirect led through, in order, at most five; the last is where the content was.
    With `status` 302, 303 or 307 the links reported count as this page's, and hashes and facts of the content do not;
    the page has changed when it leads elsewhere. With another status it is where a refresh in 0 seconds leads, and the
    content is the page's own.
    `relevance`: 0..1, how near the page is to the topic; None leaves what is known.
    `value`: 0..1e12, what the page is worth to the crawler, on any scale of its own, as `set_value` sets it: the order
    goes by it where the setting `value` is own, in which a page without one counts 1; None leaves what is known.
    `fetched_at`: epoch seconds; None means now; a claimed visit is taken to be after its claim.
    `seconds`: how long the fetch took, for the `response_times` setting.
    `address`: the IP address it was reached at, for limits by address.
    `title`, `canonical` (a URL), `noindex`, `language`, `size` (bytes) are facts for those who ask later: the crawl
    does not go by them. With any of them, content type and seconds are kept, too.
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
    blocks: str | None = None
    shingles: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A fetch that brought no page.

    `status`: the HTTP status, or None when there was none: `error` says why, and `fault` whose fault it was.
    `fault`: silent, the host gave no answer (time-out, DNS, TLS, connection refused or reset), which None means, too;
    not_sent, the crawler did not ask (its own rules forbid it, or it cannot ask for such a URL); not_understood, the
    host answered what the crawler cannot read (no HTTP, too many headers, a body that is too long or does not end).
    Beside a status it says nothing.
    `retry_after`: how long the server asked to wait, in seconds, or its Retry-After header as it stands, which may be a
    date; what is neither says nothing. `seconds`, `address`: as of a `Fetched`.
    `body`: the bytes of a 404 or 410, hashed and forgotten: pages of the host that look like it are soft 404s.
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
    """What came of the claim of a resource that is no page: of a robots.txt.

    `status`: the HTTP status; None: there was no answer, `error` says why and `fault` whose fault it was, as of a
    `Failed`. `body`: of a 2xx answer, bytes or text, as much of it as was read; 500 KiB are parsed.
    `redirected_to`: the Location of a redirect, which is not followed: it is the next claim. `retry_after`, `seconds`,
    `address`, `fetched_at`: as of a `Failed`.
    A `Fetched` or a `Failed` under such a claim is read as one of these.
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
    """A report that could not be read: `reason` says why. The claim that came with it ends as that of a failed page."""

    url: str
    claim: Claim | None
    reason: str


AnyReport = Fetched | Failed | Resource | Unusable
"""What `report` takes."""


@dataclass(frozen=True, slots=True)
class Answer(Record):
    """What the brain did with one reported item.

    `outcome`: `new` (first body seen), `changed`, `same`; `alias` (redirect); `retry` (failed, will be tried
    again), `gone` (given up), `slowed` (429/503: the host waits, the page is not blamed); None when refused.
    `links`: distinct out-links now known for the page; `links_refused`: with the reason for each;
    `links_over`: how many were beyond `max_links` and left out; `userinfo_dropped`: how many named a user or a password
    (`http://user:password@host/`), which were left out; of the page's own URL `reason` says so.
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
    """Word that a page has changed, or is there, from elsewhere than a visit.

    `at`: when it changed, epoch seconds; None: now; 0: it is only said that there is such a page. `within`: it changed
    up to so many seconds after `at`, 86400 for a date without a time. `kind`: where the word is from.
    """

    url: str
    at: float | None = None
    kind: Literal["sitemap", "feed", "ping"] = "ping"
    within: float = 0.0


@dataclass(frozen=True, slots=True)
class Hinted(Record):
    """What came of one hint.

    `reason`: why it was refused, or what was left out of its URL.
    `outcome`: `new` (there was no such page; there is now), `moved` (it will be fetched again sooner), `noted` (it is
    not fetched yet, or not again), `old` (a visit, or another hint, is as new); None when refused.
    """

    url: str
    accepted: bool
    reason: str = ""
    outcome: HintOutcome | None = None


@dataclass(frozen=True, slots=True)
class SeedAnswer:
    """What `seed` wrote: of each page one thing.

    `created`, `known`: pages that this call has created, and that were there before. `outside`: pages that are in the
    graph and will not be fetched, as the settings or a robots.txt say. `gone`: pages that were given up (gone, parked),
    and wait again. `refused`: what cannot be a seed, with the reason; `forgotten` of these were forgotten for ever.
    `remarks`: pages that are outside or were given up, and those whose URLs named a user or a password, which were left
    out, with what is to be said of each.
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
    """Everything the brain knows about one page; times in epoch seconds, None where it never happened.

    `id` is Neo4j's number of its node: it holds as long as the page does, then another may get it.
    A score is history + cash, at least about 1; under the classic engine the page's share of all, below 1. `scores`:
    the batch scores that it carries, by the names in `methods.SCORES`. `provisional`: what it counts until it has the
    one that the order goes by, on a scale on which the mean of all pages is 1.
    `flow`: 10,000 of a seed, and what pages that link to it have passed on, each when it was read; `flow_paid`:
    what each unit of weight of its links has got of that.
    `live_pagerank`: 1, and .85 of what each page that links to it has, in equal parts along its links; None where none
    is kept; `live_pagerank_paid`: what each unit of weight of its links has got of that.
    `value`: set by the crawler. `rate_shape`, `rate_scale` (days): what is believed of its rate of change, `rate`
    (changes a day) their ratio; None until a second visit. `interval`: days between visits, set by hand. `comes_back`:
    the days between visits that the order has for it at the pace the crawl goes now, and `due`: when the next would be;
    both None where there is no such time. `hub_updated`, `authority_updated`: when that side last spent its cash,
    by its own clock under the classic engine. `hub_rank`, `authority_rank`: floor(4·log2 score), of scores from 32 on.
    `error`: what was said of the last failure, at `failed`, if no page came since; `hinted_by`: its last hint's kind.
    `claimed`: since when somebody holds it; None, too, where that is held by a claim of an older graphbrain.
    `failing_since`: its first failure since it was last fetched; `fault`: how the last visit failed, one of
    `hosts.health.PAGE_FAULTS`; `recheck_at`: when an alias or a parked page is looked at again.
    `clicks`: the fewest clicks from a seed to it by links, as `Brain.page` and `Brain.dump_pages` find them; None where
    no links lead there. `depth` is the frontier's own, by which `max_depth` goes: it is 1 for what a sitemap names.
    `led_to`: where its last visit was led by temporary redirects, or a refresh in 0 seconds.
    `title` to `fetch_seconds`: what its last report told of it, `in_sitemap`: when a sitemap last named it.
    `brought`: the share of its text that was new to its host at its first visit, 0 to 1; None until that is learned.
    `echo`: had a page of its host been fetched before it whose URL ends in the same step of the path?
    `harvest`: the factor of its section that it waits with; None where it does not wait for a first visit. `section`:
    the part of its host that it is in; `expected_copy`: the page that it is expected to equal, while it waits for a
    first visit. `Brain.page` alone finds these two; they are not in `as_dict`.
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
    brought: float | None = None
    echo: bool = False
    harvest: float | None = None
    section: PageSection | None = dataclasses.field(default=None, compare=False)
    expected_copy: ExpectedCopy | None = dataclasses.field(default=None, compare=False)

    @property
    def rate(self) -> float | None:
        """Changes a day, as far as visits have told."""
        return None if self.rate_shape is None or self.rate_scale is None else self.rate_shape / self.rate_scale

    def score(self, by: str) -> float | None:
        """Its score of this name: authority, hub, cash or one of `methods.UNINDEXED`; None where it has none."""
        live = {"authority": self.authority_score, "hub": self.hub_score, CASH: self.hub_cash + self.authority_cash}
        return live.get(by, getattr(self, by) if by in (*FORWARD, *OWN) else self.scores.get(by))

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The names in `as_dict`, in its order: the same for all pages, whatever scores they carry."""
        return _PAGE_COLUMNS

    def as_dict(self) -> dict[str, Any]:
        """Its values by name, each batch score under its own: None where it has none."""
        values = {name: getattr(self, name) for name in _PAGE_FIELDS}
        return values | {name: self.scores.get(name) for name in SCORES}

    def in_full(self) -> dict[str, Any]:
        """`as_dict`, and what only a look at one page finds, as dictionaries: `section` and `expected_copy`."""
        return self.as_dict() | {
            name: None if (found := getattr(self, name)) is None else found.as_dict() for name in LOOKED_UP
        }


LOOKED_UP = ("section", "expected_copy")
"""What `Brain.page` alone finds of a page: records of their own, no columns of a table."""
_PAGE_FIELDS = (
    *(field.name for field in dataclasses.fields(Page) if field.name not in ("scores", *LOOKED_UP)),
    "rate",
)
_PAGE_COLUMNS = (*_PAGE_FIELDS, *SCORES)


@dataclass(frozen=True, slots=True)
class Host(Record):
    """What the brain knows of one host; times in epoch seconds, None where there is none.

    `delay`: seconds between two claims as things stand: the largest of `own_delay` (or the brain's setting),
    `robots_delay` (its Crawl-delay) and a multiple of `response_seconds` (its last fetch), divided by `pace`, the share
    of its full rate that it gets since it answered 429 or 503 (1: all of it). `in_flight` of at most `most_in_flight`
    claims are out (0: no limit), of its own (`own_in_flight`) or by the setting. `budget_used` of `budget` pages were
    fetched for the first time or are being so (0: no limit; None: not counted). `complaints`: 429 and 503 in a row.
    `unanswered`: how often in a row it gave no answer at all; `failing_since`: since when every request has failed,
    and `illness`, how the last of them did (`silent`, `refused` or `broken`); `probe_at`: when it is asked again,
    where it has failed so often that it is only probed. `next_at`: when a page of it can be claimed, blocks and its
    address left aside. `queued`: do pages wait in queues of its own? `set_aside`: do such wait that its budget must
    have room for? `robots_at`: when its robots.txt was set; `robots_http_at`, `robots_https_at`: when one was set
    for that scheme alone. `pages`: how many the graph has of it, no more than were counted: `more_pages` says that
    there are more. `in_scope`: do the settings let it be fetched? `wall`: where temporary redirects have led the last
    visits of `walled` of its pages, a login or a consent page perhaps; None where they were fewer than five.
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


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What a robots.txt has changed: its Crawl-delay in seconds (0: none), pages taken out and let in again."""

    delay: float
    taken_out: int
    let_in: int

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def number(value: object) -> TypeGuard[float]:
    """Is it a real number, of Python or of numpy?"""
    return isinstance(value, Real) and not isinstance(value, bool)
