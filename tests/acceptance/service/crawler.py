"""A crawler of the service that keeps a ledger outside: what it was handed, and which reports were acknowledged.

Run as a process; it is told where by JSON in its argument. Claims are asked for with a key that is written down before;
on its start it asks again by the keys of the ledger whose answers it does not have.
"""

from __future__ import annotations

import json
import random
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import httpx

PAGES = 250


def links_of(page: int) -> list[str]:
    """The links of a page of the made web."""
    dice = random.Random(page)
    return [url_of((page + 1) % PAGES), *(url_of(int(PAGES * dice.random() ** 2)) for _ in range(dice.randrange(6)))]


def url_of(page: int) -> str:
    """The URL of a page."""
    return f"http://h{page % 20}.killed.example/p{page}"


def main(order: dict[str, Any]) -> None:
    """Crawl until there is nothing more."""
    ledger = Path(order["ledger"]).open("a", buffering=1)  # noqa: SIM115  # as long as the process
    http = httpx.Client(
        base_url=order["url"], headers={"Authorization": f"Bearer {order['token']}"}, trust_env=False, timeout=60
    )

    def note(what: str, **facts: Any) -> None:
        ledger.write(json.dumps({"what": what, "at": time.time(), **facts}) + "\n")

    def post(verb: str, body: Any, key: str | None = None) -> Any:
        """Until it is answered: while the service is away the same request is sent again."""
        while True:
            try:
                answer = http.post(f"/v1/{verb}", json=body, headers={"Idempotency-Key": key} if key else {})
            except httpx.TransportError:
                time.sleep(0.05)
                continue
            if answer.status_code == 200:
                return answer.json()
            assert answer.json()["error"]["try_again"], answer.text
            time.sleep(0.05)

    while True:
        key = uuid.uuid4().hex
        note("asked", key=key)
        answer = post("next_urls", {"n": 7, "wait": 2}, key)
        claims = answer["claims"]
        note("handed", key=key, claims=[[claim["key"], claim["token"]] for claim in claims])
        if answer["finished"]:
            return
        told = [
            {"url": each["url"], "claim": each, "links": links_of(int(each["url"].rsplit("p", 1)[1])), "body_hash": "x"}
            for each in claims
        ]
        if told:
            answers = post("report", {"reports": told})["answers"]
            for each, claim in zip(answers, claims, strict=True):
                note(
                    "acknowledged" if each["accepted"] else "refused", url=claim["url"], token=claim["token"], why=each
                )


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
