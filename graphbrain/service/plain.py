"""The paths of the verbs that only pass arguments on and answer what the brain answers, made from its declarations;
and of the few that read something of the service itself beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, Response

from graphbrain.base.errors import BadInput, SettingsError
from graphbrain.base.model import Page
from graphbrain.base.options.scores import RankRun, checked
from graphbrain.base.options.verbs import READERS, Verb
from graphbrain.base.settings import Settings, changes, checked_engine
from graphbrain.brain.brain import VERBS, Brain
from graphbrain.service import answers
from graphbrain.service.backend import Backend
from graphbrain.service.jobs import Job
from graphbrain.service.refusals import Refusal
from graphbrain.service.verbs import (
    BEGUN,
    Caller,
    IdempotencyKey,
    LinesResponse,
    Service,
    json_answer,
    line,
    path,
    route,
)

__all__ = ["router"]

router = APIRouter()
COUNTED: Mapping[str, str] = {"urls": "URLs", "texts": "notes"}
"""The argument whose items are counted → their name in the refusal of too many, where it is another."""
BY_HAND = ("ask", "findings", "summary", "next_urls", "report", "renew", "give_back", "hint", "remake", "now")


def _given(verb: Verb, request: Any) -> dict[str, Any]:
    """Return the arguments of a request by name. One that stays as it is where it is not given is left out."""
    given = {} if request is None else {name: getattr(request, name) for name in type(request).model_fields}
    arguments = verb.arguments
    return {
        name: each
        for name, each in given.items()
        if arguments[name].default is not ... or name in request.model_fields_set
    }


async def _answer(verb: Verb, request: Any, service: Backend) -> Response:
    given = _given(verb, request)
    if verb.items:
        service.many(len(given[verb.items]), COUNTED.get(verb.items, verb.items))
    # One that can be stopped takes long.
    stops = {"stop": service.stopping.is_set} if "stop" in verb.callbacks else {}
    threads = service.look if verb.reads or stops else service.crawl
    answer = await threads.run(verb.call, service.brain, given, **stops)
    if verb.wakes:
        service.wake()
    answer = answer.in_full() if isinstance(answer, Page) else answer
    return json_answer({verb.field: answer} if verb.field else answer)


def _settings_hold(brain: Brain, settings: dict[str, Any]) -> None:
    if not settings:
        raise BadInput("Name a setting and its new value.")
    _ = brain.session.engine  # raises BeingConverted: no settings would pass the check below
    brain.session.changed(changes(settings))


CHECKS: Mapping[str, Callable[[Brain, Mapping[str, Any]], object]] = {
    "rank": lambda _, given: checked(RankRun(**given)),
    "change": lambda brain, given: _settings_hold(brain, given["settings"]),
    "convert_engine": lambda _, given: checked_engine(given["engine"]),
}
"""Long work → what refuses wrong arguments before it begins."""


def _begin(verb: Verb, body: Any, service: Backend, caller: Caller, key: str | None) -> Response:
    given = _given(verb, body)
    if verb.name in CHECKS:
        CHECKS[verb.name](service.brain, given)
    request = json.dumps(body.model_dump(), sort_keys=True)

    def work(job: Job) -> Any:
        callbacks = {"progress": job.note, "stop": job.stopped}
        return verb.call(service.brain, given, **{name: callbacks[name] for name in verb.callbacks})

    job = service.jobs.begin(verb.name, caller, service.own_key(caller, key), request, work)
    return json_answer(job, BEGUN)


def _endpoint(verb: Verb) -> Callable[..., Any]:
    """Return the function of a path. The framework reads its parameters, so each kind of verbs has a function."""
    # There are functions for long work, for changes, and for reading with and without a query.
    if verb.long:

        async def begin(body: Any, service: Service, caller: Caller, key: IdempotencyKey = None) -> Response:
            return _begin(verb, body, service, caller, key)

        return begin
    if verb.lines:

        async def lines(query: Any, service: Service) -> Response:
            return LinesResponse(await service.stream(lambda: verb.call(service.brain, _given(verb, query)), line))

        return lines
    if not verb.reads:

        async def act(body: Any, service: Service) -> Response:
            return await _answer(verb, body, service)

        return act
    if verb.parameters:

        async def read(query: Any, service: Service) -> Response:
            return await _answer(verb, query, service)

        return read

    async def read_all(service: Service) -> Response:
        return await _answer(verb, None, service)

    return read_all


for _verb in VERBS.values():
    if _verb.name not in BY_HAND:
        route(router, _verb.name)(_endpoint(_verb))


@route(router, "now")
async def now(service: Service) -> Response:
    return json_answer({"now": service.brain.now()})


@path(router, "GET", "settings", READERS, answers.SettingsAnswer)
async def settings(service: Service) -> Response:
    """The settings of the brain, which all who use it share."""
    settings = await service.look.run(_settings, service.brain)
    return json_answer({"settings": settings, "fixed": [*Settings.names("fixed")]})


def _settings(brain: Brain) -> dict[str, object]:
    return {name: getattr(brain.settings, name) for name in Settings.names("fixed", "shared")}


@route(router, "remake")
async def remake(body: Any, service: Service) -> Response:
    """Answer `remake`; 409 where the brain has pages."""

    def work() -> None:
        try:
            service.brain.remake(**body.settings)
        except SettingsError as error:
            if service.brain.graph.read(lambda tx: tx.one("brain/sizes")[0], "brain/sizes"):
                raise Refusal(409, "SettingsError", str(error)) from None
            raise

    return json_answer({"done": await service.crawl.run(work)})
