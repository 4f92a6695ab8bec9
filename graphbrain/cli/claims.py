"""The crawler's own verbs, for crawlers in any language: next, report, renew, give-back.

With `--follow` one process serves a crawler from its first page to its last: lines in, lines out.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from graphbrain.base.errors import BadInput
from graphbrain.base.model import KINDS, Answer, Claim, Claims, Unusable
from graphbrain.cli import sheets
from graphbrain.cli.common import App, Number, as_json, brain_command
from graphbrain.cli.lines import InputLines
from graphbrain.content import wire
from graphbrain.terminal import show

if TYPE_CHECKING:
    from graphbrain.brain.brain import Brain

__all__ = ["COMMANDS"]

T = TypeVar("T")
TEXT = click.File(encoding="utf-8-sig", errors="replace")
"""A text file in UTF-8, with or without a byte order mark."""
MOST = 10_000
"""The most pages that are claimed at a time."""
PAUSE = 1.0
"""Seconds until the brain is asked again when nothing can be claimed, and no time is known."""


# ---------------------------------------------------------------------- next


@brain_command("next")
@click.argument("count", metavar="[N]", type=click.IntRange(1, MOST), required=False)
@click.option("--worker", metavar="NAME", help="Who takes them; this process unless given.")
@click.option("--wait", type=Number(0), help="Seconds to wait for a page.")
@click.option("--follow", is_flag=True, help="Go on: claim as many as the lines of stdin ask for.")
@click.option("--now-only", is_flag=True, help="Only pages that 'now' has asked for and that were not visited since.")
@click.option("--kinds", metavar="KINDS", help="page,robots,sitemap,link: other claims than pages, too.")
@as_json
def next_(
    app: App,
    count: int | None,
    worker: str | None,
    wait: float | None,
    follow: bool,
    now_only: bool,
    kinds: str | None,
    as_json: bool,
) -> None:
    """Claim up to N pages to fetch (10 unless given).

    With --json, each line is a claim, to be sent back in the 'claim' of its report. If there are
    fewer than N, stderr has when the next page is ready and why not sooner, or that the crawl is finished.

    With --kinds page,robots the robots.txt of a host is claimed before its first page, and again after 20 hours: such a
    claim has "kind": "robots", and is reported like a page, with its status and body. With page,robots,sitemap the
    sitemaps of a host are claimed, too, and what they list is taken as hints. With link the URLs that
    'graphbrain check-links' has asked for are claimed: ask by the "method" of the claim, HEAD or, without one, GET.

    With --follow it goes on. Each line of stdin asks for more pages: a number, or {"n": 5}, or
    {"n": 5, "kinds": ["page", "robots"]}. For each
    page asked for, N of them at the start, one claim is printed as a line of JSON, as soon as it can
    be had; none is claimed that was not asked for. It ends when all that was asked for is claimed
    and stdin has ended, when the crawl is finished, or when there was no page for --wait seconds.
    """
    wanted = None if kinds is None else tuple(kind.strip() for kind in kinds.split(","))
    with app.brain() as brain:
        if follow:
            _hand_out(brain, InputLines(sys.stdin.buffer), count or 0, wanted, worker, wait, now_only)
            return
        claims = brain.next_urls(count or 10, worker=worker, wait=wait or 0.0, now_only=now_only, kinds=wanted)
    show.answer(claims, sheets.claims_table, as_json)
    if len(claims) < (count or 10):
        _say_why(claims, now_only)


def _say_why(claims: Claims, now_only: bool) -> None:
    """Print why there are no more claims, and when there will be."""
    if claims.paused:
        show.say("graphbrain: the brain is paused: no page can be claimed until 'graphbrain resume'.")
    elif claims.finished and now_only:
        show.say("graphbrain: all pages that were asked for by 'now' have been visited.")
    elif claims.finished:
        when = f"; {claims.when()}" if claims.next_ready is not None else ""
        show.say(f"graphbrain: the crawl is finished: nothing waits and nothing is claimed{when}.")
    elif claims.next_ready is not None:
        away = max(0.0, claims.next_ready - time.time())
        show.say(f"graphbrain: the next page is ready in {away:.1f} s: {claims.when()}.")
    elif not claims:
        show.say("graphbrain: nothing waits; pages are out with other workers.")


Kinds = tuple[str, ...] | None
"""The kinds that are asked for; None: pages alone."""


def _hand_out(
    brain: Brain,
    lines: InputLines,
    first: int,
    usual: Kinds,
    worker: str | None,
    patience: float | None,
    now_only: bool,
) -> None:
    """Print a claim for each page that is asked for, as soon as it can be had: `first` of them before the lines.
    `usual`: the kinds of a line that names none."""
    wanted = Counter({usual: first})
    if sys.stdin.isatty():
        show.say("graphbrain: write how many pages you want, a line each time; Ctrl-D ends it.")
    last, pause = time.monotonic(), 0.0
    while +wanted or not lines.ended:
        # Read how many pages are wanted; wait for a line only if none are.
        line = lines.next(pause if +wanted else None)
        while line is not None:
            if not +wanted:
                last = time.monotonic()
            count, kinds = _claim_line(*line)
            wanted[kinds or usual] += count
            line = lines.next(0)
        if not +wanted:
            continue
        # Claim by kinds, and print what there is.
        claims, got = Claims(()), False
        for kinds, count in (+wanted).items():
            claims = brain.next_urls(min(count, MOST), worker=worker, now_only=now_only, kinds=kinds)
            _print_claims(brain, claims)
            wanted[kinds] -= len(claims)
            got |= len(claims) > 0
        if got:
            last, pause = time.monotonic(), 0.0
            continue
        # Nothing came: the crawl is over, patience has ended, or pages come later.
        if claims.finished:
            _say_why(claims, now_only)
            return
        if patience is not None and time.monotonic() - last >= patience:
            show.say(f"graphbrain: there was no page for {patience:g} s.")
            _say_why(claims, now_only)
            return
        pause = PAUSE if claims.next_ready is None else min(PAUSE, max(0.01, claims.next_ready - brain.now()))


def _claim_line(number: int, line: str) -> tuple[int, Kinds]:
    """Return how many claims a line asks for, and of which kinds. One that cannot be read asks for none, with a message
    on stderr."""
    try:
        parsed = json.loads(line)
        kinds = parsed.pop("kinds", None) if isinstance(parsed, dict) else None
        count = parsed.get("n") if isinstance(parsed, dict) and set(parsed) == {"n"} else parsed
        if isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MOST and _are_kinds(kinds):
            return count, None if kinds is None else tuple(kinds)
    except (ValueError, RecursionError):
        pass
    show.say(
        f'graphbrain: line {number}: ask for 1 to {MOST} pages by a number, or {{"n": 5}}, or with '
        f'"kinds": {json.dumps(KINDS)}, not {line[:80]!r}.'
    )
    return 0, None


def _are_kinds(kinds: Any) -> bool:
    """Return whether these kinds can be claimed together."""
    return kinds is None or (isinstance(kinds, list) and "page" in kinds and all(kind in KINDS for kind in kinds))


def _print_claims(brain: Brain, claims: Sequence[Claim]) -> None:
    """Print claims, each at once; those that could not be printed are given back."""
    unprinted = list(claims)
    try:
        while unprinted:
            sys.stdout.write(json.dumps(unprinted[0].as_dict()) + "\n")
            sys.stdout.flush()
            del unprinted[0]
    finally:
        if unprinted:
            brain.give_back(unprinted)


# ---------------------------------------------------------------------- report


@brain_command()
@click.argument("source", metavar="[FILE]", type=TEXT, default="-")
@click.option("--batch", type=click.IntRange(1), default=200, help="Lines reported at a time, at most.")
@click.option("--follow", is_flag=True, help="Answer each line as soon as it is there, by a line of JSON.")
@click.option("--schema", is_flag=True, help="Print what a line may be, as a JSON Schema.")
@as_json
def report(app: App, source: IO[str], batch: int, follow: bool, schema: bool, as_json: bool) -> int:
    """Report what was fetched.

    JSON lines go in, an answer to each comes out. FILE is stdin unless given. A line is an object
    with 'url' and, of a fetched page, 'links', 'claim', 'status', 'body' or 'body_hash',
    'relevance', …; of a failed one 'failed': true or 'error'. Exits 1 when an item was refused; the
    others are kept.

    With --follow it reports as many lines as are there, without waiting for more, and answers each by a line of JSON,
    in their order, until FILE ends. A line that was not answered is to be sent again.
    """
    if schema:
        sys.stdout.write(json.dumps(wire.report_schema(), indent=2) + "\n")
        return 0
    counts = {True: 0, False: 0}
    with app.brain() as brain:
        # Report in parts, and print the answers as they come.
        for part in _there(source, batch) if follow else _parts(source, batch):
            answers = list(_report(brain, part, again=follow))
            lines = ({"line": number, **answer.as_dict()} for (number, _), answer in zip(part, answers, strict=True))
            show.answer(lines, sheets.answers_table(answers), as_json or follow)
            for answer in answers:
                counts[answer.accepted] += 1
    if counts[False]:
        show.say(f"graphbrain: {counts[False]:,} of {sum(counts.values()):,} items were refused.")
    return 1 if counts[False] else 0


def _parts(source: Iterable[str], batch: int) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of a file with their numbers, `batch` at a time."""
    lines = ((n, line) for n, line in enumerate(source, 1) if line.strip())
    while part := list(islice(lines, batch)):
        yield part


def _there(source: IO[str], batch: int) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of a stream with their numbers: those that have arrived, at most `batch` at a time."""
    lines = InputLines(source.buffer)  # type: ignore[attr-defined]
    while (first := lines.next()) is not None:
        yield [first, *lines.there(batch - 1)]


def _report(brain: Brain, lines: Sequence[tuple[int, str]], again: bool) -> Iterator[Answer]:
    """The answers to some lines, in their order; a line that cannot be read is refused.

    `again`: a page that was reported twice among them is reported as often, for it is chance that they came together.
    """
    from graphbrain.frontier.reports.report_intake import TWICE

    items = [_read(line, wire.report_from_dict) for _, line in lines]
    answers = brain.report(items)
    while again and (refused := [index for index, answer in enumerate(answers) if answer.reason == TWICE]):
        for index, answer in zip(refused, brain.report([items[index] for index in refused]), strict=True):
            answers[index] = answer
    for (number, _), item, answer in zip(lines, items, answers, strict=True):
        if answer.accepted:
            yield answer
        else:
            yield dataclasses.replace(answer, url=answer.url or item.url, reason=f"line {number}: {answer.reason}")


def _read(line: str, read: Callable[[dict[str, Any]], T], prefix: str = "") -> T | Unusable:
    """Return what a line of JSON describes. A line that cannot be read is unusable, with the reason."""
    item: dict[str, Any] = {}
    try:
        item = wire.json_object(line)
        return read(item)
    except BadInput as error:
        return Unusable(wire.url_in(item), wire.claim_in(item), f"{prefix}{error}")


# ---------------------------------------------------------------------- renew, give-back


@brain_command()
@click.argument("source", metavar="[FILE]", type=TEXT, default="-")
@click.option("--seconds", type=Number(0), help="How long from now on, instead of 'lease_seconds'.")
@as_json
def renew(app: App, source: IO[str], seconds: float | None, as_json: bool) -> int:
    """Hold claims longer.

    FILE, or stdin, has JSON lines as 'next --json' prints them, or lines that have one as their 'claim'. With --json
    each is printed as it is now. Exits 1 when one was lost: another crawler may have the page.
    """
    claims = _claims(source)
    with app.brain(auto_tend=False) as brain:
        answers = wire.answered(claims, lambda good: brain.renew(good, seconds))
    rows = ((now.until if now else None, line.url) for line, now in answers)
    show.answer((now or wire.lost(line) for line, now in answers), sheets.leases_table(rows), as_json)
    return _print_outcomes(answers, "held longer")


@brain_command("give-back")
@click.argument("source", metavar="[FILE]", type=TEXT, default="-")
@as_json
def give_back(app: App, source: IO[str], as_json: bool) -> int:
    """Return claims unfetched.

    Their pages wait again where they were. FILE, or stdin, is as for 'renew'. Exits 1 when one was lost before.
    """
    claims = _claims(source)
    with app.brain(auto_tend=False) as brain:
        answers = wire.answered(claims, brain.give_back)
    if as_json:
        show.json_lines(wire.returned(*each) for each in answers)
    return _print_outcomes(answers, "given back")


def _claims(source: Iterable[str]) -> list[Claim | Unusable]:
    """Return the claims that lines name; a line that names none is unusable, with the reason."""
    return [_read(line, wire.meant_by, f"line {number}: ") for number, line in enumerate(source, 1) if line.strip()]


def _print_outcomes(answers: Sequence[tuple[Any, Any]], done: str) -> int:
    """Print the results of claims, and return the exit code."""
    good = sum(bool(now) for _, now in answers)
    wrong = [line.reason for line, _ in answers if isinstance(line, Unusable)]
    lost = len(answers) - good - len(wrong)
    for reason in wrong:
        show.say(f"graphbrain: {reason}")
    more = f"; {lost:,} were lost: their leases had ended" if lost else ""
    show.say(f"graphbrain: {good:,} claims {done}{more}.")
    return 1 if lost or wrong else 0


COMMANDS: tuple[click.Command, ...] = (next_, report, renew, give_back)
