"""The answers of the verbs, as the OpenAPI document describes them, with an example of each.

The shapes are those of `graphbrain.model`; answers are made by `as_dict` and not by these, which would take longer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, create_model

from graphbrain.analyst.inspect.finding import Outlook
from graphbrain.base.model import BESIDE, LOOKED_UP, Claim, Claims, Kind, Page
from graphbrain.base.numeric.methods import SCORES
from graphbrain.base.options.verbs import meanings

__all__ = [
    "BY_HAND",
    "CLAIM",
    "EXAMPLES",
    "KEY",
    "TEXTS",
    "Done",
    "ErrorAnswer",
    "Health",
    "JobAnswer",
    "JobsAnswer",
    "MeAnswer",
    "OnePageAnswer",
    "PageAnswer",
    "SettingsAnswer",
    "WatchAnswer",
    "example_of",
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


class JobError(BaseModel):
    """The error with which a job has failed."""

    type: str
    message: str
    try_again: bool


class ErrorFacts(JobError):
    """The error in one sentence; `type` is a class of graphbrain.errors or a word of the service's own."""

    request_id: str


class ErrorAnswer(BaseModel):
    """The answer to every request that was not done."""

    error: ErrorFacts


_CLAIM_FIELDS = {name: hint for name, hint in get_type_hints(Claim).items() if name != "method"}
ClaimAnswer: type[BaseModel] = create_model(
    "ClaimAnswer",
    __doc__="A claim, with the fields of `Claim`; `until`: when it lapses, epoch seconds by the server's clock.",
    **{name: (hint, ...) for name, hint in _CLAIM_FIELDS.items()},
    kind=(
        Kind,
        Field(
            "page",
            description="'robots': the robots.txt of a host, reported with its body; left out where it is a page",
        ),
    ),
    method=(
        Literal["GET", "HEAD"],
        Field("GET", description="'HEAD', of a link: ask by HEAD; left out where the URL is fetched by GET"),
    ),
)  # type: ignore[call-overload]


_OF_CLAIMS, _MEANT = get_type_hints(Claims.__init__), meanings(Claims, "Attributes")
ClaimsAnswer: type[BaseModel] = create_model(
    "ClaimsAnswer",
    __doc__="Pages to fetch, and what to expect where there are fewer than asked; see `Claims`.",
    claims=(list[ClaimAnswer], ...),  # type: ignore[valid-type]
    **{name: (_OF_CLAIMS[name], Field(description=_MEANT[name])) for name in BESIDE},
    now=(
        float,
        Field(
            description="The server's clock at this answer, epoch seconds: subtract it from next_ready and "
            "next_unfailed, because the crawler's own clock may differ."
        ),
    ),
)  # type: ignore[call-overload]
_INSTEAD: dict[str, Any] = {"lost": (bool | None, None), "refused": (bool | None, None), "reason": (str | None, None)}
Renewal: type[BaseModel] = create_model(
    "Renewal",
    __doc__="A claim as it is now, or one that was `lost`, or `refused` since it is no claim.",
    url=(str, ...),
    **{name: (hint | None, None) for name, hint in _CLAIM_FIELDS.items() if name != "url"},
    **_INSTEAD,
)  # type: ignore[call-overload]
Return: type[BaseModel] = create_model(
    "Return",
    __doc__="A claim that was given back, or `lost` before, or `refused` since it is none.",
    url=(str, ...),
    key=(str | None, None),
    given_back=(bool | None, None),
    **_INSTEAD,
)


class Renewed(BaseModel):
    """One for each claim, in their order."""

    claims: list[Renewal]  # type: ignore[valid-type]


class GivenBack(BaseModel):
    """One for each claim, in their order."""

    claims: list[Return]  # type: ignore[valid-type]


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


class StatsAnswer(BaseModel):
    """The counts of what there is, by state, and of what was done."""

    crawl: str
    engine: str
    pages: int = Field(description="pages inside the scope")
    outside_pages: int = Field(description="pages outside the scope, which links name")
    links: int
    hosts: int = Field(description="hosts that have a page inside the scope")
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


class Progress(BaseModel):
    """The step of a job, how much of it is done, and of how much; 0 where that is not known."""

    doing: str
    done: int
    of: int


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


BY_HAND: dict[str, Any] = {
    "next_urls": ClaimsAnswer,
    "renew": Renewed,
    "give_back": GivenBack,
    "page": OnePageAnswer,
    "stats": StatsAnswer,
    "questions": QuestionsAnswer,
}
"""Verb → the type of its answer, where that is no type of the brain's."""


def example_of(kind: Any) -> Any:
    """Return an example of an answer: a name has its value of `_NAMES`, all else is null, empty or 0."""
    # Types with parameters.
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if NoneType in parts else example_of(parts[0])
    if origin is Literal:
        return parts[0]
    if origin in (list, Sequence):
        return [example_of(parts[0])]
    if origin is tuple:
        return [example_of(parts[0])] if parts[-1] is ... else [example_of(part) for part in parts]
    if origin in (dict, Mapping):
        return {}
    # Records, field by field; other types are plain values.
    if dataclasses.is_dataclass(kind):
        fields = {field.name: get_type_hints(kind)[field.name] for field in dataclasses.fields(kind)}
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {name: field.annotation for name, field in kind.model_fields.items()}
    else:
        return {str: "", int: 0, float: 0.0, bool: False}.get(kind)
    return {name: _NAMES[name] if name in _NAMES else example_of(hint) for name, hint in fields.items()}


_NAMES: dict[str, Any] = {
    **CLAIM,
    "source": CLAIM["url"],
    "target": "https://a.example/b",
    "claims": [CLAIM],
    "notes": {KEY: "render with a browser"},
    "state": "known",
    "engine": "exact",
    "accepted": True,
    "outcome": None,
    "now": 1795610551.5,
    "text": None,
    "links": 80,
    "visits": 3,
    "hub_score": 1.8,
    "authority_score": 2.4,
    "pattern": "?sort",
    "method": "GET",
    "kind": "page",
    "type": "UnknownPage",
    "began": 1795610851.5,
    "share": 0.2,
    "message": "https://a.example/x is not in the graph.",
    "request_id": "7a7f3e0c5f4b4f0ea2f0b5a1d0c9e8f7",
}
"""Name of a field → its value in examples, whatever it is a field of."""
TEXTS = {"text/csv": "state,pages\nknown,12\nfrontier,80\n", "text/html": "<!doctype html>…"}
"""Examples of answers that are no JSON, by their types."""
EXAMPLES: dict[str, Any] = {
    "done": {"done": True},
    "renew": {"claims": [{**CLAIM, "until": 1795611151.5}, {"url": "https://a.example/b", "key": KEY, "lost": True}]},
    "give_back": {"claims": [{"url": CLAIM["url"], "key": KEY, "given_back": True}]},
    "ask": {"columns": ["state", "pages"], "cut": False, "note": "", "rows": [["known", 12], ["frontier", 80]]},
    "settings": {"settings": {"crawl": "news", "order": "optimal", "delay_seconds": 1.0}, "fixed": ["crawl"]},
}
"""Verb → the example of its answer, where its type does not make a good one."""
