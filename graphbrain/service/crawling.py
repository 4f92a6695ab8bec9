"""The crawler's verbs: seeds, claims, reports, hints, notes, robots.txt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar

from fastapi import APIRouter, Response

from graphbrain.base.errors import BadInput
from graphbrain.base.model import BESIDE, Answer, Claim, Claims, Hint, Hinted, Report, Unusable
from graphbrain.content.wire import (
    answered,
    claim_from_dict,
    claim_in,
    hint_from_dict,
    lost,
    meant_by,
    report_from_dict,
    returned,
    url_in,
)
from graphbrain.service.backend import Backend, Gate
from graphbrain.service.refusals import Refusal
from graphbrain.service.seats import CALLER
from graphbrain.service.verbs import Asked, Caller, IdempotencyKey, Service, json_answer, route

__all__ = ["router"]

router = APIRouter()
UNUSABLE = "unusable"
T = TypeVar("T")
A = TypeVar("A")


@route(router, "next_urls")
async def next_urls(
    body: Any, service: Service, caller: Caller, request: Asked, key: IdempotencyKey = None
) -> Response:
    """Answer `next_urls`: a long poll, once for each key at a time."""
    if body.wait > service.limits.wait:
        raise BadInput(f"'wait' is at most {service.limits.wait:g} seconds here, not {body.wait:g}; ask again then.")
    own = service.own_key(caller, key)
    worker = body.worker or caller.name
    async with service.alone(own):
        claims = await _claims(service, body, worker, own, request)
    if claims and own is None and await request.is_disconnected():
        # The pages would not be fetched, and the claims could not be asked for again.
        await service.crawl.run(service.brain.give_back, list(claims))
        service.wake()
    beside = {name: getattr(claims, name) for name in BESIDE}
    return json_answer({"claims": list(claims), **beside, "now": service.brain.now()})


async def _claims(service: Backend, body: Any, worker: str, key: str | None, request: Asked) -> Claims:
    """Return claims, as soon as there are some, time is up, the caller has hung up, or the service stops."""
    gate, came = service.gate_of(body.now_only, body.kinds), time.monotonic()
    until = came + body.wait

    async def ask() -> Claims:
        mark = gate.mark()
        soon = service.brain.combined.next_urls(body.n, worker, key, CALLER.get().name, body.now_only, body.kinds)
        if soon is None:
            batch = await service.crawl.run(
                service.brain.next_urls, body.n, worker=worker, key=key, now_only=body.now_only, kinds=body.kinds
            )
        else:
            batch = await asyncio.wrap_future(soon)
        if not batch and not batch.repeated:
            gate.shut(batch, (batch.next_ready or service.brain.now() + 1.0) - service.brain.now(), mark)
        return batch

    if not body.wait:
        return await ask()
    first = False
    while await _let_in(gate, request, until, first=first):
        served = False
        try:
            if service.stopping.is_set() or await request.is_disconnected():
                return _empty_answer(gate, came)
            claims = await ask()  # to its end: the caller must get what it claims
            served = bool(claims)
        finally:
            gate.leave(served=served)
        if claims or claims.finished or claims.repeated:  # waiting for others would be of no use
            return claims
        first = True
    # An empty answer is given only if the brain has found nothing since the request came.
    news = gate.empty_since(came)
    return await ask() if news is None else news


def _empty_answer(gate: Gate, came: float) -> Claims:
    """Return the brain's last answer since a request came that is not going to ask any more. Raises Refusal."""
    news = gate.empty_since(came)
    if news is None:
        raise Refusal(503, "Stopping", "The service stops, or the token is good no more; try again.", try_again=True)
    return news


async def _let_in(gate: Gate, request: Asked, until: float, *, first: bool) -> bool:
    """Wait at the gate, where a request costs no seat; False: time is up."""
    with request.state.seat.resting():
        return await gate.enter(until - time.monotonic(), first=first)


@route(router, "report")
async def report(body: Any, service: Service) -> Response:
    service.many(len(body.reports), "reports")
    recorded = await _report(service, body.reports)
    service.wake()
    return json_answer({"answers": recorded})


async def _report(service: Backend, items: list[Any]) -> list[Answer]:
    def checked() -> list[Report | Unusable]:
        return [_report_of(item) for item in items]

    lists = (item.get("links") for item in items if isinstance(item, dict))
    links = sum(len(some) for some in lists if isinstance(some, list))
    combined = service.brain.combined
    soon = combined.report(checked, len(items), links, CALLER.get().name)
    if soon is None:
        return await service.crawl.run(lambda: service.brain.report(checked()))
    answers = await asyncio.wrap_future(soon)
    return answers if isinstance(answers, list) else await service.crawl.run(combined.alone, answers)


def _report_of(item: Any) -> Report | Unusable:
    reason = item.get(UNUSABLE) if isinstance(item, dict) else None
    if isinstance(reason, str):  # the client could make nothing of it
        return Unusable(url_in(item), claim_in(item), reason[:200])
    return _read(item, report_from_dict)


def _read(item: Any, read: Callable[[Any], T]) -> T | Unusable:
    """Return what an item of a request is; what cannot be read with the reason."""
    try:
        return read(item)
    except BadInput as error:
        plain = item if isinstance(item, dict) else {}
        return Unusable(url_in(plain), claim_in(plain), str(error))


@route(router, "renew")
async def renew(body: Any, service: Service) -> Response:
    """Answer `renew`, item by item."""
    renewed = await _answered(
        service, body.claims, "claims", _claim, partial(service.brain.renew, seconds=body.seconds)
    )
    facts = [_renewed(claim, now, item) for (claim, now), item in zip(renewed, body.claims, strict=True)]
    return json_answer({"claims": facts})


def _renewed(claim: Claim | Unusable, now: Claim | None, item: Any) -> dict[str, Any]:
    """Return a claim as it is now, with the other fields of the item."""
    if now is None:
        return lost(claim)
    names = {"url", "key", "token", "until", "kind", *item.get("claim", item)}
    return {name: value for name, value in now.as_dict().items() if name in names}


@route(router, "give_back")
async def give_back(body: Any, service: Service) -> Response:
    """Answer `give_back`, item by item."""
    given_back = await _answered(service, body.claims, "claims", _claim, service.brain.give_back)
    service.wake()
    return json_answer({"claims": [returned(*each) for each in given_back]})


async def _answered(
    service: Backend, items: list[Any], what: str, read: Callable[[Any], T], do: Callable[[list[T]], list[A]]
) -> list[tuple[T | Unusable, A | None]]:
    """Return each item of a request as it was read, with the brain's answer; None for one that cannot be read."""
    service.many(len(items), what)
    return await service.crawl.run(answered, [_read(item, read) for item in items], do)


def _claim(item: Any) -> Claim:
    """Return the claim that an item names. Fields beside url, key and token are returned only where they are those of a
    claim. Raise BadInput."""
    claim = meant_by(item) if isinstance(item, dict) and item else claim_from_dict(item)
    method: Literal["HEAD"] | None = "HEAD" if claim.method == "HEAD" else None
    texts = {name: text for name in ("host", "etag", "last_modified") if isinstance(text := getattr(claim, name), str)}
    depth = claim.depth if isinstance(claim.depth, int) and not isinstance(claim.depth, bool) else 0
    return Claim(claim.url, claim.key, claim.token, 0.0, **{"host": "", **texts}, depth=depth, method=method)


@route(router, "hint")
async def hint(body: Any, service: Service) -> Response:
    hinted = await _answered(service, body.hints, "hints", _hint, service.brain.hint)
    service.wake()
    refused = (Hinted(each.url, False, each.reason) if isinstance(each, Unusable) else None for each, _ in hinted)
    answers = [refusal or answer for refusal, (_, answer) in zip(refused, hinted, strict=True)]
    return json_answer({"answers": answers})


def _hint(item: Any) -> Hint | str:
    return item if isinstance(item, str) else hint_from_dict(item)
