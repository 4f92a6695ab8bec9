"""A small crawl of which everything that questions ask for is known by hand."""

from __future__ import annotations

import time

from graphbrain import Brain, Failed, Fetched, Hint, Link
from graphbrain.schedule.fingerprints import simhash
from tests.verbs import neighbours

DAY = 86_400.0
HASH = {name: f"{number:032x}" for number, name in enumerate(("first", "second", "same", "text"), 1)}
HOME = ("one", "two", "old", "list?x=1", "list?x=2", "lost", "private", "shop/tea")
A, B, C, D, E, F = (f"http://{letter}.example" for letter in "abcdef")

MISSING = "<!doctype html>There is no such page, we are sorry to say; try the home page"


def crawl(brain: Brain) -> None:
    """Fill an empty brain. All is seen a day ago, but for what is said to be older.

    a.example is the site, b and c link to each other and to it, d asks to be left alone, e is outside of the scope, f
    is an island. a/private is barred by robots.txt.
    """
    now = time.time()
    brain.change(deny_hosts="e.example", response_times=True)
    brain.seed([f"{A}/", f"{F}/"])
    brain.set_robots("a.example", "User-agent: *\nDisallow: /private")
    answers = brain.report(
        [
            Fetched(
                f"{A}/",
                [*(f"{A}/{name}" for name in HOME), f"{B}/", f"{D}/", f"{E}/"],
                fetched_at=now - 10 * DAY,
                body_hash=HASH["first"],
                seconds=0.5,
            ),
            Fetched(
                f"{A}/one", [f"{A}/two", f"{A}/broken"], fetched_at=now - DAY, simhash=0b1111 << 40, body_hash="1" * 32
            ),
            Fetched(
                f"{A}/two",
                [Link(f"{A}/", anchor="  Start\n here ", rel="nofollow noopener UGC")],
                fetched_at=now - DAY,
                simhash=0b0111 << 40,
                body_hash="2" * 32,
                title="Tea",
                canonical="/gone-away",
                canonicals=["head /gone-away", "head /two"],
                noindex=True,
            ),
            Fetched(
                f"{A}/list?x=1",
                [],
                fetched_at=now - DAY,
                body_hash=HASH["same"],
                text_hash=HASH["text"],
                simhash=simhash(MISSING.removeprefix("<!doctype html>")),
            ),
            Fetched(f"{A}/list?x=2", [f"{A}/"], fetched_at=now - DAY, body_hash=HASH["same"], text_hash=HASH["text"]),
            Fetched(
                f"{A}/shop/tea",
                [Link(f"{A}/", anchor="Start here"), Link(f"{A}/", anchor="again", rel="nofollow")],
                fetched_at=now - DAY,
                title="Tea",
                language="en",
                size=1000,
                content_type="text/html; charset=utf-8",
                seconds=0.5,
            ),
            Fetched(f"{A}/lost", [], fetched_at=now - 2 * DAY),
            Fetched(f"{B}/", [f"{A}/", f"{C}/"], fetched_at=now - DAY, led_to=(f"{A}/",)),
            Fetched(f"{C}/", [f"{A}/", f"{B}/"], fetched_at=now - DAY),
            Fetched(f"{F}/", [f"{F}/new"], fetched_at=now - DAY),
            Fetched(f"{A}/old", redirected_to=f"{A}/middle", fetched_at=now - DAY),
            Fetched(f"{A}/middle", redirected_to=f"{A}/two", fetched_at=now - DAY),
        ]
    )
    assert all(answer.accepted for answer in answers), answers
    # For a moment the redirect is a page.
    brain.report([Fetched(f"{A}/old", [], fetched_at=now - DAY + 1)])
    brain.report([Fetched(f"{A}/old", redirected_to=f"{A}/middle", fetched_at=now - DAY + 2)])
    # The home page changes.
    links = neighbours(brain, f"{A}/")[0]
    brain.report([Fetched(f"{A}/", links, fetched_at=now - 3600, body_hash=HASH["second"], seconds=0.5)])
    brain.report(
        [
            Failed(f"{A}/broken", status=404, body=MISSING.encode()),
            Failed(f"{A}/lost", status=410),
            Failed(f"{D}/", status=503, retry_after=7200),
        ]
    )
    brain.set_robots("a.example", "User-agent: *\nDisallow: /private\nDisallow: /secret")
    brain.hint([Hint(f"{A}/hidden", kind="sitemap", at=0.0)])
    brain.tend(0)


EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
"""What a page or a server may say to whoever takes it for more than a text."""


def hostile(brain: Brain) -> None:
    """A page whose address, and one whose server's answer, is such a text; one that turns the direction of reading."""
    evil = f"{A}/'onmouseover='alert(3)'?{EVIL}"
    brain.report([Fetched(f"{C}/", [f"{A}/", f"{B}/", evil, f"{C}/\u202elmth.exe", f"{C}/silent"])])
    brain.report([Failed(f"{C}/silent", error=f"{EVIL} =1+1 \x1b[31m \u202e")])
