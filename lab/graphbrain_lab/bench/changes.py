"""The detection of changes: each method is tried on pages from a directory that are edited by rules.

A page is visited some times while only noise differs: a date, a counter, a token, and one block of up to 40 words at
one place, all new at each visit. Then it is edited: a paragraph is added, a price is changed, or a row is removed. Of
two releases of the same pages, those whose words differ have changed. `drawn` does the like with pages that are drawn
from seeds, with more edits and more noise (`drawn_pages`).
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graphbrain.base.errors import BadInput
from graphbrain.base.model import Seen
from graphbrain.schedule import fingerprints
from graphbrain.schedule.fingerprints import ChangeTest
from graphbrain.schedule.section_noise import FEW_VISITS, HostNoise, SectionNoise
from graphbrain_lab.bench.drawn_pages import EDITS, NOISES, SEQUENCES, Drawn, drawn_section

__all__ = ["CLASSES", "METHODS", "ChangeFigures", "Score", "drawn", "measure"]

METHODS = ("text", "simhash", "blocks")
CLASSES = ((0, 300), (300, 1500), (1500, 10**9))
"""The classes of pages by their number of words."""
NOISY = 6
"""The number of visits of a page at which only noise differs."""
SETTLED = 2
"""The number of these visits after which the places that change must be known."""
PARAGRAPHS = (20, 60)
SIZES = (8, 40, 400)
"""Blocks of a drawn page, one for each class of length."""
SECTIONS = (10, 20, 40)
"""Pages of a drawn section, one for each class of length."""
SECTION, SECTION_NOISES, SALES = "https://shop.example/items/1", 2, (1, 3, NOISY)
"""An address of a page of a drawn section; the number of kinds of noise in its template; and the visits of which one
finds that all prices have changed."""
FOLLOWED, NOISES_EACH = 10, 2
"""The number of visits of a drawn page at which one kind of noise differs; and the number of kinds of noise in a page
that is then edited."""
FEWEST_WORDS = 30
"""The least number of words of a measured page."""
MOST_BLOCK = 40
KIND = "text/html"
_BEFORE = re.compile(rb"(?=<(?:p|h[1-6]|ul|table|dl|pre)[\s>])", re.IGNORECASE)
_END = re.compile(rb"</body>", re.IGNORECASE)
_ROW = re.compile(rb"<(tr|li)[\s>](?:(?!<(?:tr|li|ul|ol|table)[\s>]).){1,4000}?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(rb"<[^>]*>")
_PLAIN_WORD = re.compile(rb"[a-z]{3,}", re.IGNORECASE)


@dataclass(slots=True)
class Score:
    """The number of compared pages, and the number of these that a method called changed."""

    asked: int = 0
    changed: int = 0

    def add(self, changed: bool) -> None:
        self.asked += 1
        self.changed += changed

    @property
    def share(self) -> float:
        return self.changed / self.asked if self.asked else 0.0


@dataclass(slots=True)
class ChangeFigures:
    """The measurements: (method, edit, class of length) → the number called changed; CPU time by method."""

    pages: int = 0
    scores: dict[tuple[str, str, int], Score] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)
    largest: int = 0
    largest_of_host: int = 0

    def add(self, method: str, what: str, length: int, changed: bool) -> None:
        self.scores.setdefault((method, what, length), Score()).add(changed)

    def rows(self) -> list[dict[str, object]]:
        """Return one row for each method, edit and class of length."""
        return [
            {
                "method": method, "what": what, "words_from": CLASSES[length][0], "pages": score.asked,
                "changed": score.changed, "share": round(score.share, 4),
            }
            for (method, what, length), score in sorted(self.scores.items(), key=lambda item: (item[0][1:], item[0][0]))
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Page:
    path: Path
    body: bytes
    words: tuple[str, ...]


def measure(
    directory: Path, other: Path | None = None, most: int = 0, tick: Callable[[int, int], None] = lambda _, __: None
) -> ChangeFigures:
    """Edit HTML files and compare each before and after.

    Args:
        directory: The files are those below it.
        other: A directory of another release, whose files of the same names are compared, too.
        most: The largest number of files (0: all).
        tick: Is called with (done, all).
    """
    # Choose the pages.
    pages = list(_pages(directory))
    if len(pages) < 2:
        raise BadInput(
            f"{directory} holds {len(pages)} HTML files of {FEWEST_WORDS} words or more: at least 2 are needed."
        )
    dice = random.Random(1)
    chosen = dice.sample(pages, most) if 0 < most < len(pages) else pages
    # Try each method on each page.
    figures = ChangeFigures(len(chosen))
    for done, page in enumerate(chosen):
        tick(done, len(chosen))
        donor, name = dice.choice(pages), page.path.relative_to(directory)
        for method in METHODS:
            _edited(page, donor.words, ChangeTest(method), figures, random.Random(name.as_posix()))
        if other is not None and (newer := other / name).is_file():
            _released(page, newer.read_bytes(), figures)
    tick(len(chosen), len(chosen))
    _timed(chosen, figures)
    return figures


def drawn(seeds: range, tick: Callable[[int, int], None] = lambda _, __: None) -> ChangeFigures:
    """Draw pages from seeds, and compare each before and after its edits, and at visits that find only noise.

    Args:
        seeds: For each seed, one page of each length is drawn for each kind of edit, noise and sequence, and one
            section for the method `blocks`.
        tick: Is called with (done, all).
    """
    figures = ChangeFigures(len(seeds) * len(SIZES))
    for done, seed in enumerate(seeds):
        tick(done, len(seeds))
        for length, blocks in enumerate(SIZES):
            for method in METHODS:
                _drawn_edits(seed, blocks, ChangeTest(method), figures, length)
                _drawn_noise(seed, blocks, ChangeTest(method), figures, length)
            _drawn_section(seed, blocks, ChangeTest(), figures, length)
    tick(len(seeds), len(seeds))
    return figures


def _drawn_edits(seed: int, blocks: int, change: ChangeTest, figures: ChangeFigures, length: int) -> None:
    for what, edit in EDITS.items():
        page = Drawn(seed, blocks)
        at, (one, other) = page.at(), edit(page)
        # Edit the page without noise.
        old = _visited(page.body((at, one)), change)[0]
        figures.add(change.method, what, length, _visited(page.body((at, other)), change, old)[1])
        # Edit it after visits with noise.
        noises = [(page.at(), NOISES[name](page)) for name in page.dice.sample(sorted(NOISES), NOISES_EACH)]
        seen: Seen | None = None
        for visit in range(NOISY):
            noise = [(spot, shown(visit)) for spot, shown in noises]
            seen = _visited(page.body((at, one), *noise), change, seen)[0]
        noise = [(spot, shown(NOISY)) for spot, shown in noises]
        changed = _visited(page.body((at, other), *noise), change, seen)[1]
        figures.add(change.method, f"{what}, and noise", length, changed)


def _drawn_noise(seed: int, blocks: int, change: ChangeTest, figures: ChangeFigures, length: int) -> None:
    """Visit drawn pages whose noise differs at each visit, and count the visits at which a page counts as changed."""
    # Show one kind of noise at one place of the page.
    for what, draw in NOISES.items():
        page = Drawn(seed, blocks)
        at, shown = page.at(), draw(page)
        seen: Seen | None = None
        for visit in range(FOLLOWED):
            seen, changed = _visited(page.body((at, shown(visit))), change, seen)
            figures.largest = max(figures.largest, len(seen.blocks or ""))
            if visit:
                when = f"visit {visit + 1}" if visit < 4 else "visit 5 and later"
                for named in (what, "all"):
                    figures.add(change.method, f"noise, {named}: {when}", length, changed)
    # Show a sequence of contents at one place of the page.
    for what, draws in SEQUENCES.items():
        page = Drawn(seed, blocks)
        at, (first, *others) = page.at(), draws(page)
        seen = _visited(page.body((at, first)), change)[0]
        for html in others:
            seen, changed = _visited(page.body((at, html)), change, seen)
            figures.add(change.method, f"row of changes: {what}", length, changed)


def _drawn_section(seed: int, blocks: int, change: ChangeTest, figures: ChangeFigures, length: int) -> None:
    """Visit the pages of a section `NOISY` times. Its template has noise, each page is edited at some visit, and once
    all prices change."""
    # Draw the noise of the template, the edit of each page, and its two prices.
    pages, places = drawn_section(seed, SECTIONS[length], blocks)
    dice, known, seen = random.Random(seed), HostNoise(), dict[int, Seen]()
    kinds, sale = dice.choices(sorted(NOISES), k=SECTION_NOISES), dice.choice(SALES)
    noisy, shop = places[:SECTION_NOISES], places[SECTION_NOISES]
    noises = [[(place, NOISES[kind](page)) for place, kind in zip(noisy, kinds, strict=True)] for page in pages]
    edits = [(page.at(), EDITS[dice.choice(sorted(EDITS))](page), dice.randrange(1, 2 * NOISY)) for page in pages]
    prices = [EDITS["price"](page) for page in pages]
    # Visit all pages in turn.
    for visit in range(NOISY):
        for number, page in enumerate(pages):
            at, versions, when = edits[number]
            noise = [(place, shown(visit)) for place, shown in noises[number]]
            put = (at, versions[visit >= when]), (shop, prices[number][visit >= sale])
            new = fingerprints.take(Seen(), page.body(*put, *noise), KIND, change)
            old = seen.get(number)
            seen[number], changed = _after(old, new, change, known.of(SECTION) if visit <= FEW_VISITS else None)
            if old is not None and visit == 1 and (step := fingerprints.compared(old, new)) is not None:
                known = known.after(SECTION, step)
            if visit:
                what = "price of all" if visit == sale else "edit" if visit == when else "noise"
                figures.add(change.method, f"section, {what}: visit {visit + 1}", length, changed)
    figures.largest_of_host = max(figures.largest_of_host, len(known.text()))


def _pages(directory: Path) -> Iterator[_Page]:
    for path in sorted(directory.rglob("*.htm*")):
        if path.is_file():
            body = path.read_bytes()
            words = tuple((fingerprints.visible_text(body, KIND) or "").split())
            if len(words) >= FEWEST_WORDS:
                yield _Page(path, body, words)


def _class_of(page: _Page) -> int:
    return next(number for number, (first, end) in enumerate(CLASSES) if first <= len(page.words) < end)


# ---------------------------------------------------------------------- edits


def _edited(page: _Page, donor: Sequence[str], change: ChangeTest, figures: ChangeFigures, dice: random.Random) -> None:
    """Visit a page with noise, then once with each edit. Apply the same edits without noise, too."""
    method, length = change.method, _class_of(page)
    # Draw the places of noise and edits.
    places = [found.start() for found in _BEFORE.finditer(page.body)] or [len(page.body)]
    rotating, edited = dice.choice(places), dice.choice(places)
    noise = _noise(page, rotating, donor, dice)
    edits = dict(_edits(page, edited, donor, dice))
    # Visit the page with noise.
    seen: Seen | None = None
    for visit in range(NOISY):
        seen, changed = _visited(noise(page.body), change, seen)
        figures.largest = max(figures.largest, len(seen.blocks or ""))
        if visit:
            figures.add(method, f"noise, visit {visit + 1}" if visit < SETTLED else "noise, later", length, changed)
    # Edit it.
    for what, (before, after) in edits.items():
        old = _visited(before, change)[0]
        figures.add(method, what, length, _visited(after, change, old)[1])
        if before is page.body:
            figures.add(method, f"{what}, and noise", length, _visited(noise(after), change, seen)[1])


def _visited(body: bytes, change: ChangeTest, old: Seen | None = None) -> tuple[Seen, bool]:
    """Return the data that the brain would keep of a page after a visit, and whether the page was called changed."""
    return _after(old, fingerprints.take(Seen(), body, KIND, change), change)


def _after(old: Seen | None, new: Seen, change: ChangeTest, section: SectionNoise | None = None) -> tuple[Seen, bool]:
    """Return the same, of what was read of the body; `section`: as of `ChangeTest.differs`."""
    changed = old is not None and change.differs(old, new, section)
    kept = new if old is None or changed else old
    return replace(kept, blocks=fingerprints.following(old or Seen(), new)), changed


def _noise(page: _Page, place: int, donor: Sequence[str], dice: random.Random) -> Callable[[bytes], bytes]:
    """Return a function that puts other noise into the page's text at each call: a block before the one at `place`."""
    anchor = page.body[place : place + 80]

    def noisy(body: bytes) -> bytes:
        day = f"{dice.randrange(1, 29)} {dice.choice(('March', 'June', 'October'))} 20{dice.randrange(10, 40)}"
        token = f"{dice.randrange(16**16):016x}"
        foot = f"<p>Last updated: {day}</p><p>{dice.randrange(10**6):,} visitors</p><p>Request {token}</p>".encode()
        words = " ".join(dice.choice(donor) for _ in range(dice.randrange(5, MOST_BLOCK + 1)))
        block = b"<div>" + _escaped(words) + b"</div>"
        end = _END.search(body)
        body = body[: end.start()] + foot + body[end.start() :] if end else body + foot
        at = body.find(anchor, max(place - 100, 0)) if anchor else -1
        at = len(body) if at < 0 else at
        return body[:at] + block + body[at:]

    return noisy


def _escaped(text: str) -> bytes:
    return text.replace("&", "&amp;").replace("<", "&lt;").encode("utf-8", "replace")


def _edits(
    page: _Page, place: int, donor: Sequence[str], dice: random.Random
) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """Yield each edit with the page before and after it."""

    def put(html: bytes) -> bytes:
        return page.body[:place] + html + page.body[place:]

    for count in PARAGRAPHS:
        if len(donor) > count:
            first = dice.randrange(len(donor) - count)
            text = _escaped(" ".join(donor[first : first + count]))
            yield f"paragraph of {count} words", (page.body, put(b"<p>" + text + b"</p>"))
    one, other = dice.sample(range(100, 10_000), 2)
    priced = b"<p>Now only &euro; %.2f</p>"
    yield "price", (put(priced % (one / 100)), put(priced % (other / 100)))
    rows = [row for row in _ROW.finditer(page.body) if _PLAIN_WORD.search(_TAG.sub(b" ", row.group()))]
    if rows:
        row = dice.choice(rows)
        yield "row removed", (page.body, page.body[: row.start()] + page.body[row.end() :])


# ---------------------------------------------------------------------- two releases, and time


def _released(page: _Page, newer: bytes, figures: ChangeFigures) -> None:
    one, other = Counter(page.words), Counter((fingerprints.visible_text(newer, KIND) or "").split())
    differing = (one - other).total() + (other - one).total()
    what = "release: " + next(
        name for least, name in ((20, "20 words and more"), (1, "fewer words"), (0, "no word")) if differing >= least
    )
    for method in METHODS:
        old = _visited(page.body, ChangeTest(method))[0]
        figures.add(method, what, _class_of(page), _visited(newer, ChangeTest(method), old)[1])


def _timed(pages: Sequence[_Page], figures: ChangeFigures) -> None:
    """Measure the CPU time of reading a body, and of comparing it with the kept data, in milliseconds a page."""
    for method in METHODS:
        change = ChangeTest(method)
        started = time.process_time()
        for page in pages:
            fingerprints.take(Seen(), page.body, KIND, change)
        figures.milliseconds[method] = 1e3 * (time.process_time() - started) / len(pages)
    started = time.process_time()
    for page in pages:
        fingerprints.simhash(" ".join(page.words))
    figures.milliseconds["of these, the simhash"] = 1e3 * (time.process_time() - started) / len(pages)
