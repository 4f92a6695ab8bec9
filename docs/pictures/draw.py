"""Draw the pictures of the pages: `python docs/pictures/draw.py [DIR]` writes each as NAME-light.svg and NAME-dark.svg.

The pictures are narrow, so that a phone shows them in their own size. Their backgrounds are transparent.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

WIDTH = 380


@dataclass(frozen=True)
class Theme:
    """Colours of one theme."""

    text: str
    faint: str
    line: str
    fills: tuple[str, ...]
    strokes: tuple[str, ...]


THEMES = {
    "light": Theme(
        "#1b1f24",
        "#57606a",
        "#57606a",
        ("#ddeeff", "#e3f5e5", "#fff1d6", "#f6e3f3"),
        ("#0969da", "#1a7f37", "#9a6700", "#8250df"),
    ),
    "dark": Theme(
        "#e6edf3",
        "#9da7b3",
        "#9da7b3",
        ("#12304f", "#143a22", "#41300a", "#35204d"),
        ("#58a6ff", "#3fb950", "#d29922", "#bc8cff"),
    ),
}


@dataclass
class Picture:
    """One picture in one theme; shapes are added from back to front."""

    theme: Theme
    height: int
    title: str
    shapes: list[str] = field(default_factory=list)

    def box(
        self, x: float, y: float, width: float, height: float, lines: Iterable[str], colour: int = 0, size: int = 13
    ) -> None:
        """Add a box with centred lines of text, of which the first is bold."""
        lines = list(lines)
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="{self.theme.fills[colour]}" '
            f'stroke="{self.theme.strokes[colour]}" stroke-width="1.5"/>'
        )
        first = y + height / 2 - (len(lines) - 1) * (size + 4) / 2 + size * 0.35
        for number, line in enumerate(lines):
            self.text(
                x + width / 2,
                first + number * (size + 4),
                line,
                bold=number == 0,
                size=size if number == 0 else size - 1,
            )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        bold: bool = False,
        size: int = 12,
        anchor: str = "middle",
        faint: bool = False,
    ) -> None:
        """Add a line of text."""
        colour = self.theme.faint if faint else self.theme.text
        weight = ' font-weight="600"' if bold else ""
        self.shapes.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}>'
            f"{escape(text)}</text>"
        )

    def arrow(self, *points: tuple[float, float], both: bool = False, dashed: bool = False) -> None:
        """Add a line through the points, with a head at its end."""
        path = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
        start = ' marker-start="url(#head)"' if both else ""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.shapes.append(
            f'<path d="{path}" fill="none" stroke="{self.theme.line}" stroke-width="1.5" '
            f'marker-end="url(#head)"{start}{dash}/>'
        )

    def curve(self, points: Iterable[tuple[float, float]], colour: int) -> None:
        """Add a curve through the points."""
        path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.shapes.append(f'<path d="{path}" fill="none" stroke="{self.theme.strokes[colour]}" stroke-width="2.5"/>')

    def dot(self, x: float, y: float, colour: int, radius: float = 7) -> None:
        """Add a dot."""
        self.shapes.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{self.theme.fills[colour]}" '
            f'stroke="{self.theme.strokes[colour]}" stroke-width="1.5"/>'
        )

    def svg(self) -> str:
        """Return the file's text."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
            f'height="{self.height}" '
            'role="img" font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">'
        )
        marker = (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 Z" fill="{self.theme.line}"/></marker></defs>'
        )
        return "\n".join([head, f"<title>{escape(self.title)}</title>", marker, *self.shapes, "</svg>", ""])


def overview(theme: Theme) -> Picture:
    """Draw crawlers, the brain, the database and analysts."""
    picture = Picture(theme, 350, "Crawlers, graphbrain, Neo4j and analysts")
    picture.box(20, 10, 340, 58, ["Your crawlers", "Python, Scrapy, or any language"], 0)
    picture.arrow((120, 72), (120, 124))
    picture.text(112, 102, "report()", anchor="end")
    picture.arrow((260, 124), (260, 72))
    picture.text(268, 102, "claims", anchor="start")
    picture.box(
        20, 128, 340, 76, ["graphbrain", "what to fetch next, which crawler holds it,", "how much it matters"], 1
    )
    picture.arrow((190, 208), (190, 256), both=True)
    picture.text(200, 236, "one transaction each", anchor="start", faint=True)
    picture.box(20, 260, 210, 78, ["Neo4j", "pages and links, cash, scores,", "queues, leases, hosts"], 2)
    picture.box(270, 260, 90, 78, ["Analysts", "Cypher, ask,", "Parquet"], 3)
    picture.arrow((266, 299), (234, 299))
    return picture


ROOMS: dict[str, tuple[float, float, float, int, str]] = {
    "cli": (20, 10, 340, 3, "the commands"),
    "files": (10, 90, 88, 3, "import, dump"),
    "crawl": (106, 90, 76, 3, "by Scrapy"),
    "service": (190, 90, 98, 3, "HTTP, metrics"),
    "demo": (296, 90, 74, 3, "small web"),
    "brain": (20, 170, 340, 0, "the verbs, by topic; workers"),
    "analyst": (20, 250, 340, 1, "questions, findings, the audit"),
    "frontier": (20, 330, 240, 1, "claims, reports, politeness of hosts"),
    "scores": (110, 410, 150, 1, "cash, PageRank"),
    "schedule": (110, 490, 150, 1, "change rates, lanes"),
    "content": (10, 570, 104, 2, "input, checked"),
    "graph": (130, 570, 110, 2, "Neo4j, schema"),
    "terminal": (272, 570, 98, 2, "tables"),
    "base": (20, 650, 340, 2, "errors, settings, options, records, URLs"),
}
"""Room → left, top and width of its box, its colour, and what is in it."""
HIGH = 44
IMPORTS: dict[tuple[str, str], tuple[float, str]] = {
    ("cli", "files"): (54, "imports"),
    ("cli", "crawl"): (144, "runs"),
    ("cli", "service"): (239, "serves"),
    ("cli", "demo"): (333, "shows"),
    ("files", "brain"): (54, "the verbs"),
    ("crawl", "brain"): (144, "claims"),
    ("service", "brain"): (239, "all verbs"),
    ("demo", "brain"): (333, "workers"),
    ("brain", "analyst"): (190, "pages, figures, questions"),
    ("analyst", "frontier"): (150, "queues, hosts"),
    ("analyst", "terminal"): (321, "tables"),
    ("frontier", "scores"): (190, "accounts"),
    ("frontier", "content"): (62, "scope"),
    ("scores", "schedule"): (190, "lanes"),
    ("schedule", "graph"): (190, "priors"),
    ("content", "base"): (62, "URLs"),
    ("graph", "base"): (190, "errors"),
    ("terminal", "base"): (321, "masking"),
}
"""(Room, room that it imports) → where the arrow is, and a word for what is imported. An import that follows from
others is left out; a test compares the arrows with the code."""


def architecture(theme: Theme) -> Picture:
    """Draw the rooms, and their imports as arrows."""
    picture = Picture(theme, 732, "The rooms of graphbrain and their imports, from the command line down")
    for (above, below), (x, word) in IMPORTS.items():
        top, end = ROOMS[above][1] + HIGH, ROOMS[below][1]
        picture.arrow((x, top + 2), (x, end - 3))
        picture.text(x + 6, (top + end) / 2 + 4, word, size=11, anchor="start", faint=True)
    for name, (x, y, width, colour, what) in ROOMS.items():
        picture.box(x, y, width, HIGH, [name, what], colour)
    picture.text(190, 718, "Arrows are imports. Those that follow from others are left out.", faint=True, size=11)
    return picture


def states(theme: Theme) -> Picture:
    """Draw the states of a page and the transitions between them."""
    picture = Picture(theme, 470, "States of a page and the transitions between them")
    picture.text(190, 16, "seed, or a link in a report", faint=True)
    picture.arrow((190, 22), (190, 46))
    picture.box(120, 50, 140, 44, ["frontier", "waits, or claimed"], 0)
    picture.arrow((190, 98), (190, 186))
    picture.text(198, 146, "fetched", anchor="start")
    picture.box(120, 190, 140, 44, ["known", "revisited when due"], 1)
    picture.arrow((120, 66), (70, 66), (70, 116), both=True)
    picture.text(64, 92, "scope,", anchor="end")
    picture.text(64, 107, "robots.txt", anchor="end")
    picture.box(10, 120, 96, 44, ["outside", "not fetched"], 2)
    picture.arrow((260, 66), (310, 66), (310, 116))
    picture.text(318, 96, "301, 308", anchor="start")
    picture.box(274, 120, 96, 44, ["alias", "redirects"], 3)
    picture.arrow((310, 168), (310, 212), (264, 212), both=True)
    picture.text(318, 196, "answers", anchor="start")
    picture.arrow((150, 238), (150, 270), (75, 270), (75, 306))
    picture.text(86, 262, "failed for days", anchor="middle")
    picture.box(10, 310, 140, 44, ["parked", "checked rarely"], 2)
    picture.arrow((230, 238), (230, 270), (305, 270), (305, 306))
    picture.text(312, 262, "missing again", anchor="middle")
    picture.box(230, 310, 140, 44, ["gone", "links removed"], 2)
    picture.arrow((75, 358), (75, 400), (186, 400))
    picture.arrow((305, 358), (305, 400), (194, 400))
    picture.arrow((190, 404), (190, 440))
    picture.text(190, 456, "to the frontier: retry, seed, now, or a later check")
    return picture


def scores(theme: Theme) -> Picture:
    """Draw hubs and authorities with the flow of cash."""
    picture = Picture(theme, 300, "Cash moves from hubs to authorities and back")
    picture.text(80, 24, "hubs", bold=True)
    picture.text(300, 24, "authorities", bold=True)
    hubs, authorities = (70, 140, 210), (100, 180)
    for hub, targets in zip(hubs, ((0,), (0, 1), (0, 1)), strict=True):
        for target in targets:
            picture.arrow((94, hub), (276, authorities[target]), both=True)
    for y in hubs:
        picture.dot(80, y, 0, 11)
    for y, radius in zip(authorities, (20, 13), strict=True):
        picture.dot(300, y, 1, radius)
    picture.text(300, 104, "3", bold=True)
    picture.text(300, 184, "2", bold=True)
    picture.text(190, 252, "A side keeps d/(d+1) of its score, at most 1 − α, and")
    picture.text(190, 268, "pays it in equal parts along its d links.")
    picture.text(190, 288, "The rest leaves the circle.", faint=True)
    return picture


def lanes(theme: Theme) -> Picture:
    """Draw three lanes, the pages that wait in them, and their heads."""
    picture = Picture(theme, 270, "The oldest page of each lane is its head")
    picture.text(16, 22, "lane", anchor="start", bold=True)
    picture.text(120, 22, "waiting since: oldest first", anchor="start", faint=True)
    for row, (name, count, colour) in enumerate((("1041", 6, 1), ("1042", 4, 1), ("70310", 7, 3))):
        y = 60 + row * 56
        picture.text(16, y + 4, name, anchor="start")
        for number in range(count):
            picture.dot(100 + number * 36, y, 0 if number == 0 else colour, 12 if number == 0 else 9)
        picture.text(100, y + 28, "head", size=11, faint=True)
    picture.text(190, 230, "A claim compares the heads alone. Under one lane,")
    picture.text(190, 246, "the page that has waited longest is worth most.")
    picture.text(190, 264, "1041, 1042: new pages. 70310: visited pages.", faint=True, size=11)
    return picture


def visit(theme: Theme) -> Picture:
    """Plot the worth of a visit over the days since the last one, for three change rates."""
    picture = Picture(theme, 300, "Worth of a visit over days since the last one")
    left, bottom, wide, high, days, most = 44.0, 244.0, 310.0, 210.0, 30.0, 10.0
    for colour, rate in ((0, 0.1), (1, 1.0), (2, 10.0)):
        points = []
        for step in range(121):
            age = days * step / 120
            worth = (1 - (1 + rate * age) * math.exp(-rate * age)) / rate
            points.append((left + wide * age / days, bottom - high * worth / most))
        picture.curve(points, colour)
    picture.arrow((left, bottom), (left + wide + 14, bottom))
    picture.arrow((left, bottom), (left, bottom - high - 16))
    for age in (10, 20, 30):
        picture.text(left + wide * age / days, bottom + 18, str(age))
    for worth in (5, 10):
        picture.text(left - 8, bottom - high * worth / most + 4, str(worth), anchor="end")
    picture.text(left + wide / 2, bottom + 38, "days since the last visit", faint=True)
    picture.text(left + 8, 24, "worth, for w = 1", anchor="start", faint=True)
    picture.text(250, 76, "λ = 0.1 a day", anchor="end")
    picture.text(350, 216, "λ = 1", anchor="end")
    picture.text(350, 238, "λ = 10", anchor="end")
    return picture


DRAWN: dict[str, Callable[[Theme], Picture]] = {
    "architecture": architecture,
    "lanes": lanes,
    "overview": overview,
    "scores": scores,
    "states": states,
    "visit": visit,
}


def main() -> None:
    """Write all pictures into the directory that is named, or beside this file."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, draw in DRAWN.items():
        for theme, colours in THEMES.items():
            (folder / f"{name}-{theme}.svg").write_text(draw(colours).svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
