"""The answers of the verbs, as the OpenAPI document describes them, with an example of each.

The shapes are those of `graphbrain.model`; answers are made by `as_dict` and not by these, which would take longer.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, Field, create_model

from graphbrain.analyst.inspect.finding import Outlook
from graphbrain.base.model import (
    LOOKED_UP,
    Answer,
    Because,
    Hinted,
    Host,
    Kind,
    KnownLink,
    LinkedPage,
    Page,
    RobotsAnswer,
    SeedAnswer,
)
from graphbrain.base.numeric.methods import SCORES
from graphbrain.base.records import Section
from graphbrain.base.work import Ranking

__all__ = [
    "CLAIM",
    "EXAMPLES",
    "TEXTS",
    "Answers",
    "AskedAnswer",
    "AuditAnswer",
    "ClaimsAnswer",
    "Done",
    "ErrorAnswer",
    "FindingsAnswer",
    "GivenBack",
    "Health",
    "HintsAnswer",
    "HostAnswer",
    "JobAnswer",
    "JobsAnswer",
    "MeAnswer",
    "Neighbours",
    "NotesAnswer",
    "NowAnswer",
    "OnePageAnswer",
    "PageAnswer",
    "PagesAnswer",
    "Parked",
    "PathAnswer",
    "PaymentsAnswer",
    "QuestionsAnswer",
    "RankingsAnswer",
    "Refused",
    "Renewed",
    "RobotsAnswer",
    "RobotsText",
    "SectionsAnswer",
    "SeedAnswer",
    "SettingsAnswer",
    "StatsAnswer",
    "TendedAnswer",
    "WatchAnswer",
    "Wills",
]

KEY = "7bd6b5f6c1b84d1aa6aa4a1e3f5d9f10"
CLAIM = {
    "url": "https://a.example/",
    "key": KEY,
    "token": "0199d2f07c3a7bd2b1a4c0e5d6f70819",
    "until": 1795610851.5,
    "host": "a.example",
    "depth": 0,
    "etag": None,
    "last_modified": None,
}


class ErrorFacts(BaseModel):
    """The error in one sentence; `type` is a class of graphbrain.errors or a word of the service's own."""

    type: str
    message: str
    try_again: bool
    request_id: str


class ErrorAnswer(BaseModel):
    """The answer to every request that was not done."""

    error: ErrorFacts


class ClaimAnswer(BaseModel):
    """A claim, with the fields of `Claim`."""

    url: str
    key: str
    token: str
    until: float = Field(description="when it lapses, epoch seconds by the server's clock")
    host: str
    depth: int
    etag: str | None
    last_modified: str | None
    kind: Kind = Field(
        "page", description="'robots': the robots.txt of a host, reported with its body; left out where it is a page"
    )
    method: Literal["GET", "HEAD"] = Field(
        "GET", description="'HEAD', of a link: ask by HEAD; left out where the URL is fetched by GET"
    )


class ClaimsAnswer(BaseModel):
    """Pages to fetch, and what to expect where there are fewer than asked; see `Claims`."""

    claims: list[ClaimAnswer]
    next_ready: float | None = Field(
        description="where fewer are claimed than asked for: when the next page can be claimed, epoch seconds by the "
        "server's clock; null: never"
    )
    finished: bool = Field(
        description="nothing waits, nothing is leased and nothing is to be retried: one page that failed, and will be "
        "tried again in days, keeps it false"
    )
    next_unfailed: float | None = Field(
        description="as next_ready, without pages that have failed and will be tried again; a page that a worker holds "
        "counts with the end of its lease. A crawler ends when 'claims' is empty and this is null or too far off"
    )
    repeated: bool = Field(description="this Idempotency-Key was used before; these are its claims that are still held")
    next_because: Because | None = Field(
        description="why nothing can be claimed before next_ready: its host may not be asked sooner, it failed and is "
        "tried again, its host does not answer and is probed, it is visited again, it redirects or was given up and is "
        "looked at again, or a worker holds it"
    )
    paused: bool = Field(description="no pages can be claimed until 'resume'")
    now: float = Field(
        description="the server's clock at this answer, epoch seconds: subtract it from next_ready and next_unfailed, "
        "because the crawler's own clock may differ"
    )


class Answers(BaseModel):
    """One answer for each report, in their order."""

    answers: list[Answer]


class Renewal(BaseModel):
    """A claim as it is now, or one that was `lost`, or `refused` since it is no claim."""

    url: str
    key: str | None = None
    token: str | None = None
    until: float | None = None
    host: str | None = None
    depth: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    lost: bool | None = None
    refused: bool | None = None
    reason: str | None = None


class Renewed(BaseModel):
    """One for each claim, in their order."""

    claims: list[Renewal]


class Return(BaseModel):
    """A claim that was given back, or `lost` before, or `refused` since it is none."""

    url: str
    key: str | None = None
    given_back: bool | None = None
    lost: bool | None = None
    refused: bool | None = None
    reason: str | None = None


class GivenBack(BaseModel):
    """One for each claim, in their order."""

    claims: list[Return]


class HintsAnswer(BaseModel):
    """One answer for each hint, in their order."""

    answers: list[Hinted]


class Refused(BaseModel):
    """The pages that were refused, each with the reason."""

    refused: dict[str, str]


class NotesAnswer(BaseModel):
    """The notes there are, by key."""

    notes: dict[str, str]


class Wills(BaseModel):
    """For each URL, in their order: true if it will be fetched."""

    will: list[bool]


class Parked(BaseModel):
    """For each page, in their order: true if it is parked now."""

    parked: list[bool]


class Done(BaseModel):
    """The result: true or false, a number, or null."""

    done: bool | int | None


PageAnswer: type[BaseModel] = create_model(
    "Page",
    __doc__="Everything about one page; times in epoch seconds. Batch scores have fields of their own.",
    **{
        **{name: (hint, ...) for name, hint in get_type_hints(Page).items() if name not in ("scores", *LOOKED_UP)},
        "rate": (float | None, ...),
        **dict.fromkeys(SCORES, (float | None, ...)),
    },  # type: ignore[call-overload]
)
OnePageAnswer: type[BaseModel] = create_model(
    "OnePage",
    __base__=PageAnswer,
    __doc__="Everything about one page, and what only a look at one page finds; times in epoch seconds.",
    **{name: (hint, ...) for name, hint in get_type_hints(Page).items() if name in LOOKED_UP},  # type: ignore[call-overload]
)
HostAnswer = Host


class PagesAnswer(BaseModel):
    """The pages in the order of their score, the best first."""

    pages: list[PageAnswer]  # type: ignore[valid-type]


class PaymentAnswer(BaseModel):
    """Cash that one page has paid another until now, and its share of the score of the one that was paid."""

    url: str
    key: str
    cash: float
    share: float | None


class PaymentsAnswer(BaseModel):
    """The payers and payees that make a page's scores."""

    hub_payers: list[PaymentAnswer]
    hub_payees: list[PaymentAnswer]
    authority_payers: list[PaymentAnswer]
    authority_payees: list[PaymentAnswer]


class PathAnswer(BaseModel):
    """A shortest way, both ends in it; empty where there is none."""

    path: list[LinkedPage]


class Neighbours(BaseModel):
    """URLs of the pages it links to, and of those that link to it."""

    successors: list[str]
    predecessors: list[str]


class StatsAnswer(BaseModel):
    """The counts of what there is, by state, and of what was done."""

    crawl: str
    engine: str
    pages: int
    links: int
    hosts: int
    waiting: int
    leased: int
    lapsed: int
    retries: int
    states: dict[str, int]
    scores: dict[str, dict[str, float | None]] = Field(description="sum and mean of both live scores, cash and history")
    paused: float | None = Field(description="since when claims are paused")
    aliases_outside: int
    error_bound: float | None
    frontier_flow_error: float | None
    live_pagerank_error: float | None
    pace: dict[str, Any]
    frontier: Outlook = Field(description="how fast pages are found, and when the frontier will be done at this pace")
    done: dict[str, int]
    client: dict[str, int]


class AuditAnswer(BaseModel):
    """The result of an audit: what is off, and figures."""

    ok: bool
    findings: list[str]
    figures: dict[str, Any]


class RankingsAnswer(BaseModel):
    """The rankings whose batch scores the pages have."""

    rankings: list[Ranking]


class SectionsAnswer(BaseModel):
    """The sections of a host, those with the most pages first."""

    sections: list[Section]


class ParamAnswer(BaseModel):
    """A parameter of a question: its default, and its meaning."""

    default: str | bool | int | float
    meaning: str


class QuestionAnswer(BaseModel):
    """A question: its name, what it answers, how to read the answer, what of the graph it reads, its parameters."""

    name: str
    group: str
    title: str
    reading: str
    cost: str | None
    params: dict[str, ParamAnswer]


class QuestionsAnswer(BaseModel):
    """The questions that can be asked, by group and name."""

    questions: list[QuestionAnswer]


class AskedAnswer(BaseModel):
    """An answer: its columns and rows. `cut`: there are more rows than `limit`; `note`: what is to be known of them."""

    columns: list[str]
    cut: bool
    note: str
    rows: list[list[Any]]


class FindingAnswer(BaseModel):
    """A fault: so many pages or links have it, and waste so much of the authority inside the scope."""

    title: str
    what: str
    question: str = Field(description="names them, where the question has 'given' as its parameters")
    given: dict[str, bool | int | float]
    count: int
    share: float | None = Field(
        description="of the authority inside the scope, 0 to 1; null: the classic engine records no payments"
    )


class FindingsAnswer(BaseModel):
    """The faults of pages and links, the most wasteful first."""

    findings: list[FindingAnswer]


class MeAnswer(BaseModel):
    """The owner of the token. `name`: null where the service is used without tokens; `expires`: null: never."""

    name: str | None
    role: str
    expires: float | None


class WatchAnswer(BaseModel):
    """A snapshot for the console. Its data may change with every version.

    `as_of`: when it was made, in epoch seconds; `took`: in how many seconds. These and `data` are null while the first
    one is being made. `making`: a newer one is being made; `progress`: the part of it that is made, null if that is not
    known. `trouble`: why the last attempt failed, or empty.
    """

    as_of: float | None
    took: float | None
    making: bool
    progress: float | None
    trouble: str
    data: dict[str, Any] | None


class SettingsAnswer(BaseModel):
    """The settings of the brain, which all who use it share."""

    settings: dict[str, str | bool | int | float]
    fixed: list[str] = Field(description="those that cannot be changed")


class TendedAnswer(BaseModel):
    """The upkeep that was done; see `Tended`."""

    pushes: int
    payments: int
    swept: int
    released: int
    seconds: float
    settled: bool
    error_bound: float | None
    near: bool


class RobotsText(BaseModel):
    """The robots.txt that was set; null: none was."""

    text: str | None


class NowAnswer(BaseModel):
    """Epoch seconds by the server's clock."""

    now: float


class Progress(BaseModel):
    """The step of a job, how much of it is done, and of how much; 0 where that is not known."""

    doing: str
    done: int
    of: int


class JobError(BaseModel):
    """The error with which a job has failed."""

    type: str
    message: str
    try_again: bool


class JobAnswer(BaseModel):
    """A job: running, done, failed or stopped. `result` is what the verb answers in Python."""

    id: str
    verb: str
    by: str
    state: str
    began: float
    ended: float | None
    progress: Progress
    result: Any
    error: JobError | None


class JobsAnswer(BaseModel):
    """The jobs of this service, the newest first."""

    jobs: list[JobAnswer]


class Health(BaseModel):
    """`ok`, or the reason why the service is not ready."""

    status: str


def _of(kind: type, **given: Any) -> dict[str, Any]:
    """An example of a model, all fields of it: what is not given is null, or empty."""
    hints = get_type_hints(kind)
    plain = {str: "", int: 0, float: 0.0, bool: False}
    names = [f.name for f in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else list(hints)
    return {name: given.get(name, plain.get(hints.get(name, Any))) for name in names}


_PAGE = _of(PageAnswer, **CLAIM, id=42, state="known", is_seed=True, visits=3, status=200)
_PAGE |= {"hub_score": 1.8, "authority_score": 2.4}
_HOST = _of(Host, name="a.example", delay=1.0, pace=1.0, in_flight=2, pages=120, in_scope=True)
_SECTION = _of(Section, pattern="?sort", pages=400, fetched=20, waiting=380, copies=19, failing=0, example=None)
_SECTION |= {"harvest": 0.09, "around": 0.5, "visits": 20.0, "factor": 0.125}
_PAGE_SECTION = {"pattern": "?sort", "harvest": 0.09, "around": 0.5, "brought": 0.98, "visits": 20.0}
_PAGE_SECTION |= {"factor": 0.03125, "counts": True}
_JOB = {
    "id": "5f0c0e3b9a8d4c7e8b1f2a3d4c5b6a79",
    "verb": "settle",
    "by": "ann",
    "state": "running",
    "began": 1795610851.5,
    "ended": None,
    "progress": {"doing": "write", "done": 4_000, "of": 60_000},
    "result": None,
    "error": None,
}
_LINKED: dict[str, Any] = _of(LinkedPage, url="https://a.example/b", key=KEY, state="frontier", depth=1)
_LINKED |= {"hub_score": 1.0, "authority_score": 1.2, "since": 1795610851.5}
_PAID = {"url": "https://a.example/b", "key": KEY, "cash": 0.4, "share": 0.2}
_ANSWER = {"url": CLAIM["url"], "accepted": True, "reason": "", "outcome": "new", "links": 12}
_ANSWER |= {"links_refused": [["mailto:x", "not http"]], "links_over": 0, "userinfo_dropped": 0}
_DONE = {"pages": 12, "links": 80, "claims": 12, "pushes": 9, "payments": 120, "retries": 0, "found": 92, "left": 12}
_PACE: dict[str, Any] = {"visits_an_hour": 360.0, "links_an_hour": 2_400.0, "visits": 12, "links": 80}
_PACE |= {"found_an_hour": 90.0, "left_an_hour": 360.0, "found": 3, "left": 12}
_PACE |= {"seconds": 120.0, "so_far": True, "price": None}
_STATS = _of(StatsAnswer, crawl="news", engine="exact", pages=92, links=80, hosts=3, waiting=80, done=_DONE, pace=_PACE)
_STATS |= {"states": {"known": 12, "frontier": 80}, "error_bound": 0.01, "frontier_flow_error": None}
_STATS |= {"frontier": Outlook(80, 0.25, "unknown", None, "nothing was reported lately").as_dict()}
_STATS |= {"live_pagerank_error": 0.05, "client": {}}
_STATS |= {"scores": {"authority": {"sum": 412.5, "mean": 4.48}, "hub": {"sum": 398.0, "mean": 4.33}}}
_LINK = _of(KnownLink, source="https://a.example/", target="https://a.example/b", source_id=42, target_id=43)
_RANKING = _of(
    Ranking, method="pagerank", damping=0.85, tolerance=1e-9, pages=92, converged=True, best={}, complete=True
)
_QUESTION: dict[str, Any] = {"name": "states", "group": "Progress", "title": "The number of pages in each state"}
_QUESTION |= {"reading": "A row is a state.", "cost": "every page", "params": {}}
_FINDING: dict[str, Any] = {
    "title": "Links to pages that fail",
    "what": "link",
    "question": "broken-links",
    "given": {},
}
_FINDING |= {"count": 12, "share": 0.013}
TEXTS = {"text/csv": "state,pages\nknown,12\nfrontier,80\n", "text/html": "<!doctype html>…"}
"""Examples of answers that are no JSON, by their types."""
EXAMPLES: dict[str, Any] = {
    "seed": _of(SeedAnswer, created=1, known=0, refused=[], outside=0, gone=0, forgotten=0, remarks=[]),
    "next_urls": {
        "claims": [CLAIM],
        "next_ready": None,
        "finished": False,
        "next_unfailed": None,
        "repeated": False,
        "next_because": None,
        "paused": False,
        "now": 1795610551.5,
    },
    "report": {"answers": [_ANSWER]},
    "renew": {"claims": [{**CLAIM, "until": 1795611151.5}, {"url": "https://a.example/b", "key": KEY, "lost": True}]},
    "give_back": {"claims": [{"url": CLAIM["url"], "key": KEY, "given_back": True}]},
    "hint": {"answers": [{"url": CLAIM["url"], "accepted": True, "reason": "", "outcome": "moved"}]},
    "note": {"refused": {}},
    "notes": {"notes": {KEY: "render with a browser"}},
    "crawl_now": {"will": [True]},
    "check_links": {"done": 12},
    "park": {"parked": [True]},
    "now": {"now": 1795610851.5},
    "page": _PAGE | {"section": _PAGE_SECTION, "expected_copy": None},
    "top": {"pages": [_PAGE]},
    "payments": {name: [_PAID] for name in PaymentsAnswer.model_fields},
    "links": _LINKED,
    "path": {"path": [_LINKED]},
    "neighbours": {"successors": ["https://a.example/b"], "predecessors": []},
    "find": _PAGE,
    "dump_pages": _PAGE,
    "dump_links": _LINK,
    "stats": _STATS,
    "questions": {"questions": [_QUESTION]},
    "ask": {"columns": ["state", "pages"], "cut": False, "note": "", "rows": [["known", 12], ["frontier", 80]]},
    "findings": {"findings": [_FINDING]},
    "summary": None,
    "me": {"name": "ann", "role": "analyst", "expires": None},
    "watch": {"as_of": 1795610851.5, "took": 0.2, "making": False, "progress": None, "trouble": "", "data": {}},
    "rankings": {"rankings": [_RANKING]},
    "settings": {"settings": {"crawl": "news", "order": "optimal", "delay_seconds": 1.0}, "fixed": ["crawl"]},
    "hosts": _HOST,
    "host": _HOST,
    "sections": {"sections": [_SECTION]},
    "robots": {"text": "User-agent: *\nDisallow: /private\n"},
    "set_robots": {"delay": 0.0, "taken_out": 3, "let_in": 0},
    "tend": _of(TendedAnswer, pushes=9, payments=120, seconds=0.4, settled=True),
    "job": _JOB,
    "jobs": {"jobs": [_JOB]},
    "done": {"done": True},
    "error": {
        "error": _of(ErrorFacts, type="UnknownPage", message="https://a.example/x is not in the graph.")
        | {"request_id": "7a7f3e0c5f4b4f0ea2f0b5a1d0c9e8f7"}
    },
}
