"""The verbs that change nothing: pages, links, finds, dumps, figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from fastapi import Query as InQuery
from pydantic import Field

from graphbrain.base.options.hosts import HostFilter
from graphbrain.base.options.pages import MOST_TOP, FindOptions, LinkFilter, PageFilter, TopOptions
from graphbrain.base.settings import Settings
from graphbrain.brain.brain import Brain
from graphbrain.service import answers
from graphbrain.service.declared import request
from graphbrain.service.patterns import HOST, PAGE, PART_OF_HOST
from graphbrain.service.verbs import EVERYBODY, READERS, LinesResponse, Query, Service, json_answer, line, verb

__all__ = ["router"]

router = APIRouter(tags=["looking"])
MOST_COUNTED = 1_000_000
NO_SCORE: Mapping[int, str] = {409: "No page carries this score yet."}
Url = Annotated[str, Field(description="a page's URL or key", examples=["https://a.example/"], json_schema_extra=PAGE)]
Limit = Annotated[int | None, Field(ge=0, le=2**53, description="end after so many", examples=[100])]


class OnePage(Query):
    """A page by its URL or key."""

    url: Url


class Top(request(TopOptions, Query)):  # type: ignore[misc]
    """The number of pages, and the score."""


class Payers(OnePage):
    """A page, and how many payers of a side."""

    n: int = Field(5, ge=0, le=MOST_TOP, examples=[5])


class LinksOf(OnePage):
    """A page, which way, and how many."""

    way: Literal["out", "in"] = Field("out", examples=["out"])
    limit: Limit = None


class Path(OnePage):
    """A page, and another to which the way leads; with one alone it leads from a seed to it."""

    other: str | None = Field(None, examples=["https://b.example/"], json_schema_extra=PAGE)


class Which(request(PageFilter, Query, shapes={"host": HOST})):  # type: ignore[misc]
    """The criteria of pages, all of which a page must meet."""


class Find(request(FindOptions, Query, shapes={"host": HOST})):  # type: ignore[misc]
    """The criteria of pages, and the number wanted."""


class WhichLinks(request(LinkFilter, Query, shapes={"host": HOST})):  # type: ignore[misc]
    """The pages whose links are wanted."""


class Hosts(request(HostFilter, Query, shapes={"text": PART_OF_HOST}, count=MOST_COUNTED)):  # type: ignore[misc]
    """The criteria of hosts, all of which a host must meet."""


class OneHost(Query):
    """A host by its name."""

    name: str = Field(examples=["a.example"], json_schema_extra=HOST)


@verb(router, "GET", "page", READERS, answers.OnePageAnswer)
async def page(query: Annotated[OnePage, InQuery()], service: Service) -> Response:
    """Return everything about one page."""
    return json_answer((await service.look.run(service.brain.page, query.url)).in_full())


@verb(router, "GET", "top", READERS, answers.PagesAnswer, may=NO_SCORE)
async def top(query: Annotated[Top, InQuery()], service: Service) -> Response:
    """The best pages. By anything but authority and hub every page is read."""
    pages = await service.look.run(lambda: service.brain.top(**query.model_dump()))
    return json_answer({"pages": [page.as_dict() for page in pages]})


@verb(router, "GET", "payments", READERS, answers.PaymentsAnswer)
async def payments(query: Annotated[Payers, InQuery()], service: Service) -> Response:
    """Explain the scores of a page: return the largest payers and payees."""
    return json_answer((await service.look.run(service.brain.payments, query.url, query.n)).as_dict())


@verb(router, "GET", "links", READERS, None, lines=True)
async def links(query: Annotated[LinksOf, InQuery()], service: Service) -> Response:
    """The pages a page links to, or those that link to it, best first."""
    return LinesResponse(await service.stream(lambda: service.brain.links(query.url, query.way, query.limit), line))


@verb(router, "GET", "path", READERS, answers.PathAnswer)
async def path(query: Annotated[Path, InQuery()], service: Service) -> Response:
    """A shortest way along links."""
    steps = await service.look.run(service.brain.path, query.url, query.other)
    return json_answer({"path": [step.as_dict() for step in steps]})


@verb(router, "GET", "neighbours", READERS, answers.Neighbours)
async def neighbours(query: Annotated[OnePage, InQuery()], service: Service) -> Response:
    """The URLs a page links to, and those that link to it."""
    successors, predecessors = await service.look.run(service.brain.neighbours, query.url)
    return json_answer({"successors": successors, "predecessors": predecessors})


@verb(router, "GET", "find", READERS, None, lines=True, may=NO_SCORE)
async def find(query: Annotated[Find, InQuery()], service: Service) -> Response:
    """The pages that fit, as JSON lines."""
    return LinesResponse(await service.stream(lambda: service.brain.find(**query.model_dump()), line))


@verb(router, "GET", "dump_pages", READERS, None, lines=True)
async def dump_pages(query: Annotated[Which, InQuery()], service: Service) -> Response:
    """All pages that fit, in the order of the store, as JSON lines."""
    return LinesResponse(await service.stream(lambda: service.brain.dump_pages(**query.model_dump()), line))


@verb(router, "GET", "dump_links", READERS, None, lines=True)
async def dump_links(query: Annotated[WhichLinks, InQuery()], service: Service) -> Response:
    """All links of the pages that fit, as JSON lines."""
    return LinesResponse(await service.stream(lambda: service.brain.dump_links(**query.model_dump()), line))


@verb(router, "GET", "stats", EVERYBODY, answers.StatsAnswer)
async def stats(service: Service) -> Response:
    """The crawl in figures. Every page is read: for people, not for loops."""
    return json_answer(await service.look.run(service.brain.stats))


@verb(router, "GET", "rankings", READERS, answers.RankingsAnswer)
async def rankings(service: Service) -> Response:
    """Return the rankings whose batch scores the pages have, and how they were computed."""
    return json_answer({"rankings": [each.as_dict() for each in await service.look.run(service.brain.rankings)]})


@verb(router, "GET", "settings", READERS, answers.SettingsAnswer)
async def settings(service: Service) -> Response:
    """The settings of the brain, which all who use it share."""
    settings = await service.look.run(_settings, service.brain)
    return json_answer({"settings": settings, "fixed": [*Settings.names("fixed")]})


def _settings(brain: Brain) -> dict[str, object]:
    return {name: getattr(brain.settings, name) for name in Settings.names("fixed", "shared")}


@verb(router, "GET", "hosts", READERS, None, lines=True)
async def hosts(query: Annotated[Hosts, InQuery()], service: Service) -> Response:
    """The hosts that fit, by name, as JSON lines."""
    return LinesResponse(await service.stream(lambda: service.brain.hosts(**query.model_dump()), line))


@verb(router, "GET", "host", READERS, answers.HostAnswer)
async def host(query: Annotated[OneHost, InQuery()], service: Service) -> Response:
    """Return what is known of one host."""
    return json_answer((await service.look.run(service.brain.host, query.name)).as_dict())


@verb(router, "GET", "sections", READERS, answers.SectionsAnswer)
async def sections(query: Annotated[OneHost, InQuery()], service: Service) -> Response:
    """The sections of a host, those with the most pages first. All its pages are read: for people, not for loops."""
    learned = await service.look.run(service.brain.sections, query.name)
    return json_answer({"sections": [each.as_dict() for each in learned]})
