"""Hundreds of crawlers of some services, in one process, that keep one ledger outside: the claims that they got, the
reports that they sent, and those that were acknowledged. A request is sent again, to any of the services, until it is
answered.

    python -m lab_tests.acceptance.service.crowd '{"ports": [1, 2], "token": "…", "ledger": "PATH", "crawlers": 200}'
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphbrain_lab.bench.service import Caller

WEB = 60_000
"""Pages of the web, which is a tree with popular pages."""
HOSTS = 500
AT_ONCE = 5
LEAVES = 0.01
"""The share of claims that a crawler never reports, as if it had died."""
GIVES_UP = 60.0
"""Seconds after which a request is sent again."""


def url_of(page: int) -> str:
    """The URL of a page."""
    return f"http://h{page % HOSTS}.crowd.example/p{page}"


def page_of(url: str) -> int:
    """The page of a URL."""
    return int(url.rsplit("/p", 1)[1])


def links_of(page: int) -> set[int]:
    """The pages that a page links to: two children, and a popular one."""
    links = {2 * page + 1, 2 * page + 2, int(WEB * random.Random(page).random() ** 3)}
    return {link for link in links if link < WEB and link != page}


class Crowd:
    """The crawlers and their ledger."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._ports, self._token = order["ports"], order["token"]
        self._ledger = Path(order["ledger"]).open("w", encoding="utf-8")  # noqa: SIM115  # as long as the process
        self.ended = False
        self.statuses: Counter[str] = Counter()
        self.took: dict[str, list[float]] = {"next_urls": [], "report": []}

    def note(self, what: str, pages: Iterable[Iterable[Any]]) -> None:
        """Write a line: what was done at this time with these pages and tokens."""
        self._ledger.write(json.dumps([what, time.time(), list(pages)]) + "\n")

    async def flush(self) -> None:
        """Let others read the ledger, until the end is wanted."""
        while not self.ended:
            self._ledger.flush()
            await asyncio.sleep(0.5)

    def close(self) -> None:
        """End the ledger."""
        self._ledger.close()

    async def crawl(self) -> None:
        """Claim pages and report them until the end is wanted; what is out is reported then."""
        caller, dice = _Persistent(self, self._ports, self._token), random.Random()
        await asyncio.sleep(2.0 * dice.random())
        while not self.ended:
            answer, _ = await caller.answer("next_urls", {"n": AT_ONCE, "wait": 1})
            claims = answer["claims"]
            self.note("claimed", ([page_of(each["url"]), each["token"], each["until"]] for each in claims))
            if dice.random() < LEAVES:
                continue
            await self._report(caller, claims)

    async def _report(self, caller: _Persistent, claims: list[Any]) -> None:
        held = [(page_of(claim["url"]), claim["token"]) for claim in claims]
        reports = [
            {
                "url": claim["url"],
                "claim": claim,
                "links": [*map(url_of, links_of(page))],
                "body_hash": uuid.uuid4().hex,
            }
            for claim, (page, _) in zip(claims, held, strict=True)
        ]
        if not reports:
            return
        self.note("ending", held)
        answer, tries = await caller.answer("report", {"reports": reports})
        told = list(zip(held, answer["answers"], strict=True))
        self.note("acknowledged", (one for one, each in told if each["accepted"]))
        self.note("refused", ((*one, tries, each["reason"]) for one, each in told if not each["accepted"]))


class _Persistent:
    """A connection that is made anew, to any of the services, until a request is answered."""

    def __init__(self, crowd: Crowd, ports: list[int], token: str) -> None:
        self._crowd, self._ports, self._token = crowd, ports, token
        self._caller: Caller | None = None

    async def answer(self, verb: str, body: Mapping[str, Any]) -> tuple[Any, int]:
        """The answer to a request, and how often it was sent."""
        key, began, tries = uuid.uuid4().hex, time.monotonic(), 0
        while True:
            tries += 1
            try:
                async with asyncio.timeout(GIVES_UP):
                    status, found = await (await self._connected()).post(verb, body, key)
            except (OSError, asyncio.IncompleteReadError) as error:  # TimeoutError is an OSError
                self._crowd.statuses[type(error).__name__] += 1
                self._leave()
            else:
                self._crowd.statuses[f"{verb} {status if status == 200 else found['error']['type']}"] += 1
                if status == 200:
                    self._crowd.took[verb].append(time.monotonic() - began)
                    return found, tries
                if not found["error"]["try_again"]:
                    raise AssertionError(f"{verb} was answered {status} {found}")
            await asyncio.sleep(random.uniform(0.2, 0.7))

    async def _connected(self) -> Caller:
        if self._caller is None:
            self._caller = await Caller.connected(random.choice(self._ports), self._token)
        return self._caller

    def _leave(self) -> None:
        if self._caller is not None:
            self._caller.close()
            self._caller = None


async def main(order: Mapping[str, Any]) -> None:
    """Crawl until the end of standard input, and print what was seen."""
    crowd = Crowd(order)
    crawling = asyncio.gather(crowd.flush(), *(crowd.crawl() for _ in range(order["crawlers"])))
    ends = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait([crawling, ends], return_when=asyncio.FIRST_COMPLETED)
    crowd.ended = True
    await crawling
    crowd.close()
    took = {verb: sorted(all_) for verb, all_ in crowd.took.items()}
    shares = {verb: [round(all_[int(part * len(all_))], 3) for part in (0.5, 0.99)] for verb, all_ in took.items()}
    print(json.dumps({"statuses": crowd.statuses, "seconds_p50_p99": shares}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
