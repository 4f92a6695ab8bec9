"""Each verb as one HTTP request and the reading of its answer: what both clients share."""

from __future__ import annotations

import dataclasses
import ipaddress
import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlsplit

from graphbrain.base.errors import BadInput
from graphbrain.base.model import (
    Answer,
    AnyReport,
    Claim,
    Claims,
    Hint,
    Hinted,
    Host,
    KnownLink,
    LinkedPage,
    Page,
    Payments,
    RobotsAnswer,
    SeedAnswer,
    number,
)
from graphbrain.base.options.declare import given
from graphbrain.base.options.hosts import HostFilter
from graphbrain.base.options.pages import FindOptions, LinkFilter, PageFilter
from graphbrain.base.options.scores import RankDue, RankRun, SettleOptions
from graphbrain.base.records import Asked, Finding, Section
from graphbrain.base.work import Ranking, Settled, Tended
from graphbrain.service.client import shapes

__all__ = ["Call", "Calls", "JobCall", "LinesCall", "address"]

T = TypeVar("T")
LONGEST_WAIT = 30.0
"""Seconds of one long poll; longer ones are several requests."""
REPEATED = frozenset({"report", "renew", "give_back"})
"""The verbs that count once, however often the same items are sent."""
LONGEST_ANSWER = 300.0
"""Seconds that a service takes for a question at most."""
SOFTLY = 0.5
"""Seconds between two looks at a job."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and how its answer is read. `body`: its JSON. `key`: by it the service knows a repeated one.
    `seconds`: how long the service may take beside what every request may. `repeats`: the service answers soon, and
    again if asked again, so a request whose answer hangs is made again. `text`: the type of an answer that is no
    JSON."""

    method: str
    path: str
    read: Callable[[Any], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: str | None = None
    key: str | None = None
    seconds: float = 0.0
    repeats: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class LinesCall(Generic[T]):
    """A request that is answered by lines, and how each is read."""

    path: str
    read: Callable[[Any], T]
    query: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobCall(Generic[T]):
    """A request that begins a job, and the function that reads its result. `progress` is called with (step, done, of),
    or without the step."""

    begin: Call[Mapping[str, Any]]
    read: Callable[[Any], T]
    progress: Callable[..., None] | None = None
    named: bool = True
    stop: Callable[[], bool] = lambda: False

    def tell(self, answer: Mapping[str, Any]) -> None:
        """Call `progress` with the progress of the job."""
        if self.progress is None:
            return
        facts = answer["progress"]
        if self.named:
            self.progress(facts["doing"], facts["done"], facts["of"])
        else:
            self.progress(facts["done"], facts["of"])


def address(url: str | None, token: str | None, without_tls: bool) -> tuple[str, str]:
    """The service's address and the token, from arguments or the environment. Raises BadInput, also where the token
    would go over a network in the clear."""
    url = url or os.environ.get("GRAPHBRAIN_SERVICE_URL", "")
    token = token or os.environ.get("GRAPHBRAIN_SERVICE_TOKEN", "")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise BadInput(f"A service's address is like 'https://brain.example:8770', not {url!r:.80}.")
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise BadInput("That is no token: it has characters that none has.")
    if parts.scheme == "http" and token and not without_tls and not _loopback(parts.hostname):
        raise BadInput(f"The token would go to {parts.hostname} in the clear: use https, or give without_tls=True.")
    return url.rstrip("/"), token


def _loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _itself(answer: Any) -> Any:
    return answer


def _get(verb: str, read: Callable[[Any], T], /, **query: Any) -> Call[T]:
    return Call("GET", verb, read, _given(query))


def _post(verb: str, read: Callable[[Any], T], /, **body: Any) -> Call[T]:
    return Call("POST", verb, read, body=shapes.dumps(body))


def _given(query: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
        if value is not None
    }


def _done(verb: str, /, **body: Any) -> Call[Any]:
    return _post(verb, lambda answer: answer["done"], **body)


def _key() -> str:
    return uuid.uuid4().hex


def _begun(name: str, read: Callable[[Any], T], progress: Any, named: bool = True, **body: Any) -> JobCall[T]:
    begin = Call("POST", name, _itself, body=shapes.dumps(body), key=_key())
    return JobCall(begin, read, progress, named)


class Calls:
    """The verbs, each as what is to be sent."""

    @staticmethod
    def seed(urls: Iterable[str]) -> list[Call[SeedAnswer]]:
        """One request for each part."""
        if isinstance(urls, str | bytes):
            raise BadInput("seed takes a list of URLs, not one URL.")
        return [_listed("seed", "urls", part, shapes.seed_answer) for part in shapes.parts(map(_text, urls))]

    @staticmethod
    def next_urls(
        n: int, worker: str | None, wait: float, key: str | None, now_only: bool, kinds: list[str] | None = None
    ) -> Call[Claims]:
        """Return one long poll for claims."""
        body: dict[str, Any] = {"n": n, "wait": wait} | ({} if worker is None else {"worker": worker})
        body |= {"now_only": now_only} if now_only else {}
        body |= {} if kinds is None else {"kinds": kinds}
        text = shapes.dumps(body)
        return Call("POST", "next_urls", shapes.claims, body=text, key=key or _key(), seconds=wait, repeats=True)

    @staticmethod
    def report(items: Sequence[AnyReport], now: float) -> list[Call[list[Answer]]]:
        """One request for each part."""
        answeres = (shapes.report(item, now) for item in items)
        return [_listed("report", "reports", part, _answers) for part in shapes.parts(answeres)]

    @staticmethod
    def renew(held: Iterable[Claim], seconds: float | None) -> list[Call[list[Claim | None]]]:
        """One request for each part."""
        more = f', "seconds": {shapes.dumps(seconds)}'
        answeres = (claim.as_dict() for claim in held)
        return [_listed("renew", "claims", part, _renewed, more) for part in shapes.parts(answeres)]

    @staticmethod
    def give_back(held: Iterable[Claim]) -> list[Call[list[bool]]]:
        """One request for each part."""
        answeres = (claim.as_dict() for claim in held)
        return [_listed("give_back", "claims", part, _returned) for part in shapes.parts(answeres)]

    @staticmethod
    def hint(hints: Iterable[Hint | str]) -> list[Call[list[Hinted]]]:
        """One request for each part."""
        answeres = map(shapes.hint, hints)
        return [_listed("hint", "hints", part, _hinted) for part in shapes.parts(answeres)]

    @staticmethod
    def note(texts: Mapping[str, str]) -> list[Call[dict[str, str]]]:
        """One request for each part."""
        pairs = list(texts.items())
        some = [dict(pairs[start : start + shapes.MOST_ITEMS]) for start in range(0, len(pairs), shapes.MOST_ITEMS)]
        return [_post("note", lambda answer: dict(answer["refused"]), texts=part) for part in some]

    @staticmethod
    def notes(pages: Iterable[Claim | str]) -> list[Call[dict[str, str]]]:
        """One request for each part."""
        keys = (page.key if isinstance(page, Claim) else page for page in pages)
        return [_listed("notes", "pages", part, lambda answer: dict(answer["notes"])) for part in shapes.parts(keys)]

    @staticmethod
    def crawl_now(urls: Iterable[str]) -> list[Call[list[bool]]]:
        """One request for each part."""
        return [_listed("crawl_now", "urls", part, lambda answer: answer["will"]) for part in shapes.parts(urls)]

    @staticmethod
    def set_robots(host: str, text: str | bytes | None, agent: str | None) -> Call[RobotsAnswer]:
        """Bytes are read as UTF-8, as a robots.txt is."""
        text = text.decode("utf-8-sig", "replace") if isinstance(text, bytes) else text
        return _post("set_robots", lambda answer: RobotsAnswer(**answer), host=host, text=text, agent=agent)

    @staticmethod
    def robots(host: str) -> Call[str | None]:
        return _get("robots", lambda answer: answer["text"], host=host)

    @staticmethod
    def now() -> Call[float]:
        return _get("now", lambda answer: float(answer["now"]))

    @staticmethod
    def page(url: str) -> Call[Page]:
        return _get("page", shapes.page, url=url)

    @staticmethod
    def top(n: int, by: str) -> Call[list[Page]]:
        return _get("top", lambda answer: [shapes.page(each) for each in answer["pages"]], n=n, by=by)

    @staticmethod
    def payments(url: str, n: int) -> Call[Payments]:
        return _get("payments", shapes.payments, url=url, n=n)

    @staticmethod
    def links(url: str, way: str, limit: int | None) -> LinesCall[LinkedPage]:
        return LinesCall("links", lambda answer: LinkedPage(**answer), _given({"url": url, "way": way, "limit": limit}))

    @staticmethod
    def path(url: str, other: str | None) -> Call[list[LinkedPage]]:
        return _get("path", lambda answer: [LinkedPage(**step) for step in answer["path"]], url=url, other=other)

    @staticmethod
    def neighbours(url: str) -> Call[tuple[list[str], list[str]]]:
        """The URLs around a page."""
        return _get("neighbours", lambda answer: (answer["successors"], answer["predecessors"]), url=url)

    @staticmethod
    def find(which: FindOptions) -> LinesCall[Page]:
        return LinesCall("find", shapes.page, _given({**given(which), "text": which.text or None}))

    @staticmethod
    def dump_pages(which: PageFilter) -> LinesCall[Page]:
        return LinesCall("dump_pages", shapes.page, _given(given(which)))

    @staticmethod
    def dump_links(which: LinkFilter) -> LinesCall[KnownLink]:
        return LinesCall("dump_links", lambda answer: KnownLink(**answer), _given(given(which)))

    @staticmethod
    def stats() -> Call[dict[str, Any]]:
        return _get("stats", _itself)

    @staticmethod
    def questions() -> Call[list[dict[str, Any]]]:
        return _get("questions", lambda answer: list(answer["questions"]))

    @staticmethod
    def ask(name: str, parameters: Mapping[str, Any]) -> Call[Asked]:
        """The answer to a question."""
        if "format" in parameters:
            raise BadInput(f"{name} has no parameter 'format'.")
        call = _get(f"ask/{quote(name, safe='')}", shapes.asked, **parameters)
        return dataclasses.replace(call, seconds=LONGEST_ANSWER)

    @staticmethod
    def findings() -> Call[list[Finding]]:
        call = _get("findings", lambda answer: [Finding(**each) for each in answer["findings"]])
        return dataclasses.replace(call, seconds=LONGEST_ANSWER)

    @staticmethod
    def summary(since: float | None) -> Call[str]:
        """The crawl on one page."""
        call: Call[str] = _get("summary", _itself, since=since)
        return dataclasses.replace(call, seconds=LONGEST_ANSWER, text="text/html")

    @staticmethod
    def rankings() -> Call[list[Ranking]]:
        return _get("rankings", lambda answer: [shapes.ranking(each) for each in answer["rankings"]])

    @staticmethod
    def settings() -> Call[dict[str, Any]]:
        return _get("settings", lambda answer: dict(answer["settings"]))

    @staticmethod
    def hosts(which: HostFilter) -> LinesCall[Host]:
        return LinesCall("hosts", Host.from_dict, _given(given(which)))

    @staticmethod
    def host(name: str) -> Call[Host]:
        return _get("host", Host.from_dict, name=name)

    @staticmethod
    def sections(name: str) -> Call[list[Section]]:
        """The sections of a host."""
        return _get("sections", lambda answer: [Section(**each) for each in answer["sections"]], name=name)

    @staticmethod
    def set_host(host: str, given: Mapping[str, float | EllipsisType | None]) -> Call[None]:
        """Leave out the arguments that are not given."""
        return _done("set_host", host=host, **{name: value for name, value in given.items() if value is not ...})

    @staticmethod
    def retry(urls: Sequence[str], host: str | None, state: str | None) -> Call[int]:
        """Pages that are to be tried again."""
        return _done("retry", urls=list(urls), host=host, state=state)

    @staticmethod
    def park(urls: Sequence[str]) -> Call[list[bool]]:
        """Pages that are given up."""
        return _post("park", lambda answer: list(answer["parked"]), urls=list(urls))

    @staticmethod
    def done(name: str, **body: Any) -> Call[Any]:
        """Return a correction, whose answer is its only value."""
        return _done(name, **body)

    @staticmethod
    def tend(seconds: float, pages: Iterable[str] | None) -> Call[Tended]:
        if not number(seconds):
            raise BadInput(f"Over HTTP tend takes seconds, at most 60, not {seconds!r:.80}; settle ends all.")
        named = None if pages is None else list(pages)
        return _post("tend", lambda answer: Tended(**answer), seconds=float(seconds), pages=named)

    # -------------------------------------------------------------- jobs

    @staticmethod
    def settle(options: SettleOptions, progress: Any, stop: Callable[[], bool]) -> JobCall[Settled]:
        job = _begun("settle", lambda answer: Settled(**answer), progress, **given(options))
        return dataclasses.replace(job, stop=stop)

    @staticmethod
    def audit(sample: int | None, progress: Any) -> JobCall[Any]:
        return _begun("audit", shapes.audit, progress, named=False, sample=sample)

    @staticmethod
    def rank(options: RankRun, progress: Any) -> JobCall[Ranking]:
        return _begun("rank", shapes.ranking, progress, **given(options))

    @staticmethod
    def rank_if_due(due: RankDue, progress: Any) -> JobCall[Ranking | None]:
        """Batch scores, where they are old."""
        return _begun(
            "rank_if_due",
            lambda answer: None if answer is None else shapes.ranking(answer),
            progress,
            **given(due),
        )

    @staticmethod
    def change(settings: Mapping[str, Any], progress: Any) -> JobCall[None]:
        return _begun("change", _itself, progress, named=False, settings=dict(settings))

    @staticmethod
    def clear(progress: Any) -> JobCall[None]:
        return _begun("clear", _itself, progress, named=False)

    @staticmethod
    def forget_relevance(progress: Any) -> JobCall[int]:
        return _begun("forget_relevance", _itself, progress, named=False)

    @staticmethod
    def convert_engine(engine: str, progress: Any) -> JobCall[bool]:
        return _begun("convert_engine", _itself, progress, named=False, engine=engine)

    @staticmethod
    def job(job_id: str, wait: float) -> Call[Mapping[str, Any]]:
        return Call("GET", f"jobs/{job_id}", _itself, {"wait": wait}, seconds=wait)

    @staticmethod
    def stop_job(job_id: str) -> Call[Mapping[str, Any]]:
        return Call("DELETE", f"jobs/{job_id}", _itself)


def _text(url: Any) -> Any:
    """Keep what is no text: it is refused by its item, not with all."""
    return url if isinstance(url, str) else repr(url)[:200]


def _listed(name: str, field: str, part: Sequence[str], read: Callable[[Any], T], more: str = "") -> Call[T]:
    body = f'{{"{field}": [{", ".join(part)}]{more}}}'
    return Call("POST", name, read, body=body, repeats=name in REPEATED)


def _answers(answer: Any) -> list[Answer]:
    return [shapes.answer(each) for each in answer["answers"]]


def _hinted(answer: Any) -> list[Hinted]:
    return [Hinted(**each) for each in answer["answers"]]


def _renewed(answer: Any) -> list[Claim | None]:
    return [shapes.claim(each) if "token" in each else None for each in answer["claims"]]


def _returned(answer: Any) -> list[bool]:
    return [each.get("given_back", False) for each in answer["claims"]]
