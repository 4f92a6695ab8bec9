"""Bodies of requests: those with too many values are known before they are parsed, and few are held at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from graphbrain.service import bodies
from graphbrain.service.access import Grant
from graphbrain.service.bodies import HELD, HELD_OF_ONE, Body, marks_of
from graphbrain.service.refusals import Refusal
from graphbrain.service.seats import Places

ANN, BOB, EVE = (Grant(name, "crawler", 0.0, None, None) for name in ("ann", "bob", "eve"))
TEXTS = some.text(alphabet='ab"\\{}[],:\n€', max_size=8)
VALUES = some.recursive(
    some.none() | some.integers(-99, 99) | TEXTS,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=30,
)


def counted(value: Any) -> tuple[int, int]:
    """Objects, lists and names, and marks of a value, by what was parsed."""
    if not isinstance(value, dict | list):
        return 0, 0
    inner = [counted(each) for each in (value.values() if isinstance(value, dict) else value)]
    colons = len(value) if isinstance(value, dict) else 0
    parts = 1 + colons + sum(each for each, _ in inner)
    return parts, 1 + colons + max(0, len(value) - 1) + sum(each for _, each in inner)


@given(value=VALUES, spare=some.integers(-1, 1), ascii_only=some.booleans())
def test_the_values_are_counted_as_a_parser_finds_them(value: Any, spare: int, ascii_only: bool) -> None:
    """Whatever the texts contain: exactly as many as are allowed pass, and one less is too many."""
    parts, marks = counted(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies, "MOST_PARTS", parts + min(spare, 0))
        patch.setattr(bodies, "MOST_MARKS", marks + min(spare, 0))
        body = json.dumps(value, ensure_ascii=ascii_only).encode()
        assert (marks_of(body) is None) == (spare < 0)


def places() -> Places:
    """Room for bodies of 1,000 bytes."""
    return Places(HELD * 1_000, HELD_OF_ONE * 1_000, 0, "bytes are held")


async def read(
    grant: Grant, held: Places, parts: list[bytes], length: bytes | None = None, *, seconds: float = 60.0
) -> tuple[Body, int]:
    """A body that arrives in these parts; the answer: it, and 200 or the status of its refusal."""
    coming = iter(parts)

    async def receive() -> MutableMapping[str, Any]:
        part = next(coming, None)
        if part is None:
            await asyncio.sleep(60.0)
        return {"type": "http.request", "body": part, "more_body": True}

    async def whole() -> MutableMapping[str, Any]:
        message = await receive()
        return {**message, "more_body": message["body"] != b"."}

    body = Body(held, grant, 1_000, seconds)
    try:
        assert await body.read(whole, length) == b"".join(parts)
    except Refusal as refusal:
        return body, refusal.status
    return body, 200


def test_half_of_all_bytes_are_held_for_one_token_and_what_ends_frees_them() -> None:
    async def run() -> None:
        held = places()
        whole = [b"x" * 500, b"x" * 499, b"."]
        ann = [await read(ANN, held, whole) for _ in range(9)]
        assert [status for _, status in ann] == [200] * 8 + [503]
        bob = [await read(BOB, held, whole) for _ in range(8)]
        assert [status for _, status in bob] == [200] * 8
        assert (await read(EVE, held, whole))[1] == 503
        for body, _ in [*ann, *bob]:
            body.leave()
        assert (await read(EVE, held, whole))[1] == 200

    asyncio.run(run())


@pytest.mark.parametrize(
    ("parts", "length", "status"),
    [
        ([b"x" * 1_000, b"."], None, 413),
        ([b"."], b"1001", 413),
        ([b"x"], None, 408),
        ([b"[" * 70, b"."], None, 413),
        # In UTF-16 the sign after `"` would look like the end of the text.
        (['"\u2201", []]'.encode("utf-16-le"), b"."], None, 400),
    ],
)
def test_what_is_too_large_too_slow_or_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch, parts: list[bytes], length: bytes | None, status: int
) -> None:
    monkeypatch.setattr(bodies, "SMALL", 10)
    monkeypatch.setattr(bodies, "MOST_PARTS", 50)
    assert asyncio.run(read(ANN, places(), parts, length, seconds=0.2))[1] == status


def test_large_bodies_of_one_token_are_parsed_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six bodies of one token take six pauses, in which a body of another token passes."""
    monkeypatch.setattr(bodies, "SMALL", 10)
    monkeypatch.setattr(bodies, "PAUSE", 0.001)
    ended: list[str] = []

    async def one(grant: Grant, held: Places) -> None:
        await read(grant, held, [b"," * 50, b"."])
        ended.append(grant.name)

    async def run() -> None:
        held = places()
        await asyncio.gather(*(one(ANN, held) for _ in range(6)), one(BOB, held))

    asyncio.run(run())
    assert ended.count("ann") == 6
    assert ended.index("bob") < 2
