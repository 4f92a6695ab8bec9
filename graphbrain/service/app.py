"""The application: the door, the verbs, the health checks and the OpenAPI document, around one brain."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from fastapi.responses import PlainTextResponse
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException

from graphbrain import __version__
from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.brain.brain import VERBS, Brain
from graphbrain.service import answers, asking, crawling, long_work, plain, watching
from graphbrain.service.access import PREFIX
from graphbrain.service.backend import Backend
from graphbrain.service.declared import title
from graphbrain.service.door import Door, Limits
from graphbrain.service.refusals import Refusal, body_of, refusal_of, validation_sentence
from graphbrain.service.verbs import EXAMPLE, NDJSON, JsonAnswer, failures, json_answer

__all__ = ["LOCAL_NAMES", "Application", "Terms"]

LOCAL_NAMES = ("localhost",)
NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?")
ORIGIN = re.compile(r"https?://(?:\[[0-9a-fA-F:.]+\]|[^\s/:?#@*]+)(?::\d{1,5})?")
READY_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a service is used: `names` it is called by beside localhost and addresses, `origins` of pages in
    browsers that may use it (CORS), and whether it is used `without_token`. `data`: the directory of the local server;
    None: the usual one."""

    limits: Limits = field(default_factory=Limits)
    names: Sequence[str] = ()
    origins: Sequence[str] = ()
    without_token: bool = False
    data: Path | None = None

    def checked(self) -> Terms:
        """Return these terms. Raise BadInput for a name or an origin that cannot be one."""
        for name in self.names:
            if not NAME.fullmatch(name):
                raise BadInput(f"A service's name is like brain.example, without a scheme or a port, not {name!r:.80}.")
        for origin in self.origins:
            if origin != "*" and not ORIGIN.fullmatch(origin):
                raise BadInput(f"An origin is like https://desk.example or http://[::1]:8080, not {origin!r:.80}.")
        return self


class Application:
    """An ASGI application for a brain. The caller owns the brain, and closes it after the service has ended."""

    def __init__(self, brain: Brain, terms: Terms | None = None) -> None:
        self.terms = terms or Terms()
        self.backend = Backend(brain, self.terms.limits)
        self.api = _api(self.backend, self.terms)
        self._door = Door(
            self._shared(self.api),
            keeper=self.backend.keeper,
            limits=self.terms.limits,
            names=[*LOCAL_NAMES, *self.terms.names],
            roles=_roles(self.api),
            queried=_queried(self.api),
            shown=watching.PATHS,
            without_token=self.terms.without_token,
            preflights=bool(self.terms.origins),
            shared=self._shared,
        )

    def _shared(self, app: Any) -> Any:
        """Return the application with CORS headers for the origins that may use it."""
        if not self.terms.origins:
            return app
        return CORSMiddleware(
            app,
            allow_origins=self.terms.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-Request-ID"],
            expose_headers=["X-Request-ID", "Retry-After", "WWW-Authenticate"],
        )

    def readable(self, origin: str) -> dict[str, str]:
        """Return the CORS headers of an answer that is made before the application is called; none for an origin that
        may not use it."""
        cors = self._shared(self.api)
        if not (isinstance(cors, CORSMiddleware) and origin and cors.is_allowed_origin(origin)):
            return {}
        headers = MutableHeaders(cors.simple_headers)
        if not cors.allow_all_origins:
            cors.allow_explicit_origin(headers, origin)
        return dict(headers)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one HTTP request, or handle a lifespan event."""
        await self._door(scope, receive, send)

    def stop(self) -> None:
        """Begin to go down: long polls and streams end. To be called in the service's event loop."""
        self.backend.stop()


def _verbs(api: FastAPI) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yield (method, path) of each verb, as the door knows them, and its description in the document."""
    for path, methods in api.openapi()["paths"].items():
        for method, facts in methods.items():
            yield (method.upper(), path.replace("{job_id}", "{job}")), facts


def _roles(api: FastAPI) -> dict[tuple[str, str], Collection[str]]:
    """(method, path) → the roles that may; of verbs alone."""
    return {verb: facts["x-roles"] for verb, facts in _verbs(api) if "x-roles" in facts}


def _queried(api: FastAPI) -> set[tuple[str, str]]:
    """(method, path) of the verbs that take something in the query."""
    return {verb for verb, facts in _verbs(api) if any(each["in"] == "query" for each in facts.get("parameters", ()))}


def _methods(api: FastAPI, path: str) -> set[str]:
    """The methods that a path of a request has."""
    templates = {verb: re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(verb[1])) for verb, _ in _verbs(api)}
    return {method for (method, _), template in templates.items() if re.fullmatch(template, path)}


def _api(backend: Backend, terms: Terms) -> FastAPI:
    # Tokens are read before the first request, and jobs and threads end after the last one.
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(backend.keeper.read)
        backend.meter.start()
        yield
        backend.stop()
        await backend.jobs.close()
        await asyncio.to_thread(backend.close)

    api = FastAPI(
        title="graphbrain",
        version=__version__,
        summary="The brain of a web crawler: what to fetch next, who holds it, and how much it matters.",
        lifespan=lifespan,
        openapi_url=None,  # the framework would encode the document for each request, of strangers, too
        docs_url=None,  # their pages load programs from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    # Add the paths: those of the verbs, the console, the health checks, the metrics.
    api.state.backend = backend
    backend.snapshots = watching.Snapshots(backend, terms.data)
    for part in (crawling, plain, asking, watching, long_work):
        api.include_router(part.router)
    _describe(api)
    watching.shell_of(api)
    _health(api, backend)
    _metrics(api, backend)
    _errors(api)
    api.openapi = lambda: _document(api, terms)  # type: ignore[method-assign]
    return api


def _describe(api: FastAPI) -> None:
    """Add the path of the OpenAPI document, which is encoded once."""
    encoded = cache(lambda: json.dumps(api.openapi(), ensure_ascii=False).encode())

    @api.get("/openapi.json", include_in_schema=False)
    async def document() -> Response:
        return Response(encoded(), media_type="application/json")


def _health(api: FastAPI, backend: Backend) -> None:
    @api.get("/healthz", tags=["health"], response_class=JsonAnswer, response_model=answers.Health)
    async def healthz() -> Response:
        """Answer as long as the process is alive."""
        return json_answer({"status": "ok"})

    @api.get(
        "/readyz",
        tags=["health"],
        response_class=JsonAnswer,
        response_model=answers.Health,
        responses={503: {"model": answers.Health, "description": "Not now."}},
    )
    async def readyz() -> Response:
        """Return 200 if the brain answers and the service does not stop, else 503."""
        # A proxy sends no more requests to a service that stops.
        if backend.stopping.is_set():
            return json_answer({"status": "the service stops"}, 503)
        try:
            await asyncio.wait_for(asyncio.shield(backend.answers()), READY_SECONDS)
        except (GraphbrainError, TimeoutError):
            return json_answer({"status": "Neo4j does not answer"}, 503)
        return json_answer({"status": "ok"})


def _metrics(api: FastAPI, backend: Backend) -> None:
    @api.get(
        "/metrics",
        tags=["health"],
        response_class=PlainTextResponse,
        openapi_extra={"x-roles": ["analyst", "operator"], "security": [{"token": []}]},
        responses=failures(),
    )
    async def metrics(request: Request) -> Response:
        """Figures of the brain and of this service, for Prometheus."""
        body, kind = backend.meter.exposition(request.headers.get("accept", ""))
        return Response(body, media_type=None, headers={"content-type": kind})


def _errors(api: FastAPI) -> None:
    def say(refusal: Refusal) -> Response:
        body = body_of(refusal)
        return Response(body, refusal.status, refusal.headers, "application/json")

    # Refusals of the service, and errors of the brain.
    @api.exception_handler(Refusal)
    async def refused(_: Request, error: Refusal) -> Response:
        return say(error)

    @api.exception_handler(GraphbrainError)
    async def wrong(_: Request, error: GraphbrainError) -> Response:
        return say(refusal_of(error))

    # Errors that the framework finds in a request.
    @api.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return say(Refusal(400, "BadInput", validation_sentence(error.errors())))

    @api.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        words = {404: ("NoSuchPath", "There is no such path; /openapi.json has all there are.")}
        words[400] = ("BadInput", "The body cannot be read as JSON.")
        words[405] = ("WrongMethod", "This path wants another method; /openapi.json names it.")
        kind, sentence = words.get(error.status_code, ("BadInput", "The request cannot be read."))
        headers = dict(error.headers or {})
        if error.status_code == 405:  # the framework names the methods of the first route that has this path
            headers["Allow"] = ", ".join(sorted(_methods(api, request.url.path)))
        return say(Refusal(error.status_code, kind, sentence, headers=headers))


def _with_tuples(schema: Any) -> Any:
    """Return a schema with lists in place of tuples, because readers of OpenAPI documents do not agree on tuples."""
    if isinstance(schema, list):
        return [_with_tuples(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {name: _with_tuples(each) for name, each in schema.items()}
    if parts := changed.pop("prefixItems", None):
        kinds = [kind for index, kind in enumerate(parts) if kind not in parts[:index]]
        changed["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return changed


def _show(facts: dict[str, Any]) -> None:
    """Put the example of an answer into its successful responses."""
    name = facts.pop(EXAMPLE, None)
    for code, answer in facts["responses"].items() if name is not None else ():
        for kind, content in answer.get("content", {}).items() if code[0] == "2" else ():
            shown = answers.TEXTS[kind] if kind in answers.TEXTS else answers.EXAMPLES[name]
            content["example"] = json.dumps(shown) + "\n" if kind == NDJSON else shown


def _bound(schemas: dict[str, Any], limits: Limits) -> None:
    """Add the limits of this service to the schemas."""
    schemas["NextUrls"]["properties"]["wait"]["maximum"] = limits.wait
    for verb in VERBS.values():
        if verb.items:
            counted = schemas[title(verb.name)]["properties"][verb.items]
            counted["maxItems" if counted["type"] == "array" else "maxProperties"] = limits.items


def _document(api: FastAPI, terms: Terms) -> dict[str, Any]:
    """The OpenAPI document, made once."""
    if api.openapi_schema is None:
        # The framework's document has schemas of its own errors, and not of the service's.
        document = get_openapi(title=api.title, version=api.version, summary=api.summary, routes=api.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        facts = answers.ErrorAnswer.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= facts.pop("$defs")
        schemas["ErrorAnswer"] = {**facts, "example": answers.example_of(answers.ErrorAnswer)}
        # Describe the token.
        document["components"]["securitySchemes"] = {
            "token": {
                "type": "http",
                "scheme": "bearer",
                "description": f"Made by 'graphbrain token make'; it begins with {PREFIX}.",
            }
        }
        # Add this service's limits, and the examples of the answers.
        _bound(schemas, terms.limits)
        for methods in document["paths"].values():
            for facts in methods.values():
                facts["responses"].pop("422", None)
                _show(facts)
                if terms.without_token:
                    facts.pop("security", None)
        api.openapi_schema = _with_tuples(document)
    return api.openapi_schema
