"""The scheduler of the add-on."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("scrapy")

from graphbrain.crawl.scrapy.scheduler import Scheduler


def test_an_error_of_a_step_for_which_no_call_waits_ends_the_crawl() -> None:
    async def fails() -> None:
        raise ValueError("a fault of ours")

    async def ends() -> None:
        return

    scheduler = Scheduler.__new__(Scheduler)
    scheduler._failure = None
    asyncio.run(scheduler.watch_step(ends()))
    assert scheduler._failure is None
    asyncio.run(scheduler.watch_step(fails()))
    assert "ValueError: a fault of ours" in str(scheduler._failure)
