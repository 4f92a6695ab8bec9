"""The operator's verbs: corrections of pages, links and hosts, and short upkeep."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from graphbrain.base.errors import SettingsError
from graphbrain.base.options.checks import LinkCheckOptions
from graphbrain.base.options.hosts import HostOptions
from graphbrain.base.options.upkeep import TendOptions
from graphbrain.frontier.hosts.state import LONGEST_BLOCK
from graphbrain.service import answers
from graphbrain.service.crawling import Urls
from graphbrain.service.declared import request
from graphbrain.service.patterns import HOST, PAGE, between, listed, of_settings
from graphbrain.service.refusals import Refusal
from graphbrain.service.verbs import OPERATORS, Body, Nothing, Service, done, json_answer, verb

__all__ = ["router"]

router = APIRouter(tags=["correcting"])
LONGEST_TEND = 60.0
NOT_EMPTY: Mapping[int, str] = {409: "The brain has pages."}
_NONE: JsonDict = {"type": "null"}
_ONE_WAY: JsonDict = {
    "anyOf": [
        {"required": ["urls"], "properties": {"urls": {"minItems": 1}, "host": _NONE, "state": _NONE}},
        {"required": ["host"], "properties": {"urls": {"maxItems": 0}, "host": {"type": "string"}}},
        {"required": ["state"], "properties": {"urls": {"maxItems": 0}, "state": {"type": "string"}}},
    ]
}
"""The part of the schema for pages that are named by URLs, or by their host and state."""
_URL, _OTHER, _HOST = "https://a.example/", "https://a.example/b", "a.example"


class Ends(Body):
    """The two ends of a link, by URL or key."""

    source: str = Field(examples=[_URL], json_schema_extra=PAGE)
    target: str = Field(examples=[_OTHER], json_schema_extra=PAGE)


class OfPage(Body):
    """A page, by URL or key."""

    url: str = Field(examples=[_URL], json_schema_extra=PAGE)


class OfHost(Body):
    """A host by its name."""

    host: str = Field(examples=[_HOST], json_schema_extra=HOST)


class Forget(OfPage):
    """A page, and whether it is forgotten for ever."""

    for_ever: bool = Field(False, description="refuse it when it is met again", examples=[False])


class CheckLinks(request(LinkCheckOptions, Body)):  # type: ignore[misc]
    """The URLs outside the scope that are to be checked."""


class Retry(Body):
    """URLs, or all of a host, of a state, or of both."""

    model_config = ConfigDict(json_schema_extra=_ONE_WAY)

    urls: list[str] = Field([], examples=[[_URL]], json_schema_extra=listed(PAGE))
    host: str | None = Field(None, examples=[None], json_schema_extra=HOST)
    state: Literal["parked", "gone", "alias", "frontier", "known"] | None = Field(None, examples=[None])


class Park(Body):
    """Pages, by URLs or keys."""

    urls: list[str] = Field(examples=[[_URL]], json_schema_extra=listed(PAGE))


class SetRelevance(OfPage):
    """A page, and its relevance from 0 to 1; null: not known."""

    relevance: float | None = Field(examples=[0.9], json_schema_extra=between(0, 1))


class SetPayout(OfPage):
    """A page, and its payout of 0 or more; null: that of the setting."""

    payout: float | None = Field(examples=[2.0], json_schema_extra=between(0, 1e9, below=True))


class SetValue(OfPage):
    """A page, and its worth of 0 or more; null: 1."""

    value: float | None = Field(examples=[3.5], json_schema_extra=between(0, 1e12))


class SetRate(OfPage):
    """Changes a day; null: forget what is known."""

    per_day: float | None = Field(examples=[0.5], json_schema_extra=between(1e-6, 1e6))


class SetInterval(OfPage):
    """A page, and the seconds between its visits; null: as the order decides."""

    seconds: float | None = Field(examples=[3_600], json_schema_extra=between(1, 1e9))


class SetHost(request(HostOptions, OfHost)):  # type: ignore[misc]
    """One host's own politeness; what is not given stays, null goes back to the brain's."""


class Block(OfHost):
    """A host, and for how many seconds; null: until it is unblocked."""

    seconds: float | None = Field(None, examples=[3_600], json_schema_extra=between(0, LONGEST_BLOCK))


class Unblock(OfHost):
    """The host that is asked again."""


class Tend(request(TendOptions, Body, shapes={"pages": listed(PAGE) | {"minItems": 0}}, seconds=LONGEST_TEND)):  # type: ignore[misc]
    """The seconds, and the pages to push."""


class Remake(Body):
    """Settings of an empty brain, the fixed ones too."""

    settings: dict[str, Any] = Field(examples=[{"order": "optimal"}], json_schema_extra=of_settings("fixed", "shared"))


@verb(router, "POST", "crawl_now", OPERATORS, answers.Wills)
async def crawl_now(body: Urls, service: Service) -> Response:
    """Hand these pages out before all others."""
    service.many(len(body.urls), "URLs")
    will = await service.crawl.run(service.brain.crawl_now, body.urls)
    service.gate.open()
    return json_answer({"will": will})


@verb(router, "POST", "link", OPERATORS, answers.Done, example="done")
async def link(body: Ends, service: Service) -> Response:
    """Record that one page links to another; false: the link was there."""
    return done(await service.crawl.run(service.brain.link, body.source, body.target))


@verb(router, "POST", "unlink", OPERATORS, answers.Done, example="done")
async def unlink(body: Ends, service: Service) -> Response:
    """Remove a link; false: there was none."""
    return done(await service.crawl.run(service.brain.unlink, body.source, body.target))


@verb(router, "POST", "forget", OPERATORS, answers.Done, example="done")
async def forget(body: Forget, service: Service) -> Response:
    """Delete a page, its links and its account. The answer has the number of its links, null if there was no such
    page."""
    return done(await service.crawl.run(service.brain.forget, body.url, body.for_ever))


@verb(router, "POST", "check_links", OPERATORS, answers.Done)
async def check_links(body: CheckLinks, service: Service) -> Response:
    """Request the status of URLs outside the scope to which pages link. The answer has the number of those that wait
    since now."""
    count = await service.crawl.run(service.brain.check_links, body.days)
    service.gate.open()
    return done(count)


@verb(router, "POST", "retry", OPERATORS, answers.Done, example="done")
async def retry(body: Retry, service: Service) -> Response:
    """Queue pages again at once that were given up, redirect, or have failed. The answer has their number."""
    service.many(len(body.urls), "URLs")
    count = await service.crawl.run(service.brain.retry, *body.urls, host=body.host, state=body.state)
    service.gate.open()
    return done(count)


@verb(router, "POST", "set_relevance", OPERATORS, answers.Done, example="done")
async def set_relevance(body: SetRelevance, service: Service) -> Response:
    """Set how close a page is to the topic."""
    return done(await service.crawl.run(service.brain.set_relevance, body.url, body.relevance))


@verb(router, "POST", "set_payout", OPERATORS, answers.Done, example="done")
async def set_payout(body: SetPayout, service: Service) -> Response:
    """Set the payout of a page."""
    return done(await service.crawl.run(service.brain.set_payout, body.url, body.payout))


@verb(router, "POST", "set_value", OPERATORS, answers.Done, example="done")
async def set_value(body: SetValue, service: Service) -> Response:
    """Set the worth of a page to the crawler."""
    return done(await service.crawl.run(service.brain.set_value, body.url, body.value))


@verb(router, "POST", "set_rate", OPERATORS, answers.Done, example="done")
async def set_rate(body: SetRate, service: Service) -> Response:
    """Set how often a page changes."""
    return done(await service.crawl.run(service.brain.set_rate, body.url, body.per_day))


@verb(router, "POST", "set_interval", OPERATORS, answers.Done, example="done")
async def set_interval(body: SetInterval, service: Service) -> Response:
    """Fetch a page every so often."""
    return done(await service.crawl.run(service.brain.set_interval, body.url, body.seconds))


@verb(router, "POST", "set_host", OPERATORS, answers.Done, example="done")
async def set_host(body: SetHost, service: Service) -> Response:
    """Set the delay, limit and budget of one host."""
    given = {name: getattr(body, name) for name in body.model_fields_set - {"host"}}
    await service.crawl.run(service.brain.set_host, body.host, **given)
    service.gate.open()
    return done()


@verb(router, "POST", "block", OPERATORS, answers.Done, example="done")
async def block(body: Block, service: Service) -> Response:
    """Block a host for a time, or until it is unblocked."""
    return done(await service.crawl.run(service.brain.block, body.host, body.seconds))


@verb(router, "POST", "unblock", OPERATORS, answers.Done, example="done")
async def unblock(body: Unblock, service: Service) -> Response:
    """Ask a host again, at its full rate."""
    await service.crawl.run(service.brain.unblock, body.host)
    service.gate.open()
    return done()


@verb(router, "POST", "park", OPERATORS, answers.Parked)
async def park(body: Park, service: Service) -> Response:
    """Stop fetching these pages until 'retry', 'crawl_now' or 'seed' names them. The answer has, for each, whether it
    is parked now."""
    service.many(len(body.urls), "URLs")
    return json_answer({"parked": await service.crawl.run(service.brain.park, *body.urls)})


@verb(router, "POST", "pause", OPERATORS, answers.Done, example="done")
async def pause(body: Nothing, service: Service) -> Response:  # noqa: ARG001
    """Let no page be claimed until 'resume'; reports are accepted. False: the brain is paused already."""
    return done(await service.crawl.run(service.brain.pause))


@verb(router, "POST", "resume", OPERATORS, answers.Done, example="done")
async def resume(body: Nothing, service: Service) -> Response:  # noqa: ARG001
    """Let pages be claimed again; false: the brain was not paused."""
    was_paused = await service.crawl.run(service.brain.resume)
    service.gate.open()
    return done(was_paused)


@verb(router, "POST", "tend", OPERATORS, answers.TendedAnswer)
async def tend(body: Tend, service: Service) -> Response:
    """Upkeep for some seconds; the job `settle` brings all accounts to their fixed point."""
    upkeep = await service.look.run(service.brain.tend, body.seconds, pages=body.pages, stop=service.stopping.is_set)
    return json_answer(dataclasses.asdict(upkeep))


@verb(router, "POST", "remake", OPERATORS, answers.Done, example="done", may=NOT_EMPTY)
async def remake(body: Remake, service: Service) -> Response:
    """Give an empty brain new settings, the fixed ones too."""

    def work() -> None:
        try:
            service.brain.remake(**body.settings)
        except SettingsError as error:
            if service.brain.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
                raise Refusal(409, "SettingsError", str(error)) from None
            raise

    return done(await service.crawl.run(work))
