"""The crawler's verbs: seeds, claims, reports, hints, notes, robots.txt."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Literal

from fastapi import APIRouter, Response

from graphbrain.base.errors import BadInput
from graphbrain.base.model import BESIDE, Answer, Claim, Claims, Hint, Report, Unusable
from graphbrain.content.wire import claim_from_dict, claim_in, hint_from_dict, meant_by, report_from_dict, url_in
from graphbrain.service.backend import Backend, Gate
from graphbrain.service.refusals import Refusal
from graphbrain.service.seats import CALLER
from graphbrain.service.verbs import (
    Asked,
    Caller,
    IdempotencyKey,
    Service,
    by_hand,
    json_answer,
)

__all__ = ["router"]

router = APIRouter()
UNUSABLE = "unusable"


@by_hand(router, "next_urls")
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
    return json_answer({"claims": [claim.as_dict() for claim in claims], **beside, "now": service.brain.now()})


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
    news = gate.told_since(came)
    return await ask() if news is None else news


def _empty_answer(gate: Gate, came: float) -> Claims:
    """Return the brain's last answer since a request came that is not going to ask any more. Raises Refusal."""
    news = gate.told_since(came)
    if news is None:
        raise Refusal(503, "Stopping", "The service stops, or the token is good no more; try again.", try_again=True)
    return news


async def _let_in(gate: Gate, request: Asked, until: float, *, first: bool) -> bool:
    """Wait at the gate, where a request costs no seat; False: time is up."""
    with request.state.seat.resting():
        return await gate.enter(until - time.monotonic(), first=first)


@by_hand(router, "report")
async def report(body: Any, service: Service) -> Response:
    service.many(len(body.reports), "reports")
    recorded = await _report(service, body.reports)
    service.wake()
    return json_answer({"answers": [answer.as_dict() for answer in recorded]})


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
    plain = item if isinstance(item, dict) else {}
    try:
        if isinstance(plain.get(UNUSABLE), str):  # the client could make nothing of it
            raise BadInput(plain[UNUSABLE][:200])
        return report_from_dict(item)
    except BadInput as error:
        return Unusable(url_in(plain), claim_in(plain), str(error))


@by_hand(router, "renew")
async def renew(body: Any, service: Service) -> Response:
    """Answer `renew`, item by item."""
    service.many(len(body.claims), "claims")
    claims = [_claim_of(item) for item in body.claims]
    good = [claim for claim in claims if isinstance(claim, Claim)]
    kept = iter(await service.crawl.run(service.brain.renew, good, body.seconds))
    facts = [
        _renewed(each, next(kept), item) if isinstance(each, Claim) else each
        for each, item in zip(claims, body.claims, strict=True)
    ]
    return json_answer({"claims": facts})


def _renewed(claim: Claim, now: Claim | None, item: dict[str, Any]) -> dict[str, Any]:
    """Return a claim as it is now, with the other fields of the item."""
    if now is None:
        return {"url": claim.url, "key": claim.key, "lost": True}
    names = {"url", "key", "token", "until", "kind", *item.get("claim", item)}
    return {name: value for name, value in now.as_dict().items() if name in names}


@by_hand(router, "give_back")
async def give_back(body: Any, service: Service) -> Response:
    """Answer `give_back`, item by item."""
    service.many(len(body.claims), "claims")
    claims = [_claim_of(item) for item in body.claims]
    good = [claim for claim in claims if isinstance(claim, Claim)]
    given = iter(await service.crawl.run(service.brain.give_back, good))
    service.wake()
    facts = [
        {"url": each.url, "key": each.key, "given_back" if next(given) else "lost": True}
        if isinstance(each, Claim)
        else each
        for each in claims
    ]
    return json_answer({"claims": facts})


def _claim_of(item: Any) -> Claim | dict[str, Any]:
    """Return the claim that an item names, or the answer to one that is none. Fields beside url, key and token are
    returned only where they are those of a claim."""
    plain = item if isinstance(item, dict) else {}
    try:
        claim = meant_by(plain) if plain else claim_from_dict(item)
    except BadInput as error:
        return {"url": url_in(plain), "refused": True, "reason": str(error)}
    method: Literal["HEAD"] | None = "HEAD" if claim.method == "HEAD" else None
    texts = {name: text for name in ("host", "etag", "last_modified") if isinstance(text := getattr(claim, name), str)}
    depth = claim.depth if isinstance(claim.depth, int) and not isinstance(claim.depth, bool) else 0
    return Claim(claim.url, claim.key, claim.token, 0.0, **{"host": "", **texts}, depth=depth, method=method)


@by_hand(router, "hint")
async def hint(body: Any, service: Service) -> Response:
    service.many(len(body.hints), "hints")
    hints = [_hint_of(item) for item in body.hints]
    good = [each for each in hints if not isinstance(each, dict)]
    answers = iter(await service.crawl.run(service.brain.hint, good))
    service.wake()
    return json_answer({"answers": [each if isinstance(each, dict) else next(answers).as_dict() for each in hints]})


def _hint_of(item: Any) -> Hint | str | dict[str, Any]:
    if isinstance(item, str):
        return item
    try:
        return hint_from_dict(item)
    except BadInput as error:
        url = url_in(item) if isinstance(item, dict) else ""
        return {"url": url, "accepted": False, "reason": str(error), "outcome": None}
