"""Downloads that are let go end at once, whatever they wait for; others end as they would."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Response

from graphbrain.crawl.downloading import Downloads


async def answered(seconds: float, fails: bool) -> Response:
    await asyncio.sleep(seconds)
    if fails:
        raise OSError("no answer")
    return Response("http://a.example/")


@pytest.mark.parametrize("seed", range(10))
def test_what_has_not_been_answered_is_cancelled(seed: int) -> None:
    dice = random.Random(seed)
    given = [(dice.choice([0.0, 0.01, 3_600.0]), dice.random() < 0.3) for _ in range(dice.randrange(1, 12))]

    async def run() -> list[Response | BaseException]:
        downloads = Downloads()
        tasks = [asyncio.ensure_future(downloads.done(answered(*each))) for each in given]
        await asyncio.sleep(0.2)
        downloads.let_go()
        tasks.append(asyncio.ensure_future(downloads.done(answered(3_600.0, False))))
        return await asyncio.gather(*tasks, return_exceptions=True)

    began = time.monotonic()
    found = asyncio.run(run())
    assert time.monotonic() - began < 30.0
    wanted = [DownloadCancelledError if wait > 1 else OSError if fails else Response for wait, fails in given]
    assert [type(one) for one in found] == [*wanted, DownloadCancelledError]
