"""Plots as SVG inside a page. They use the page's colours and font, and need no script.

Colour alone never has a meaning: series differ in pattern or dash, and have names. All texts are escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from graphbrain.base.numeric.arrays import Floats
from graphbrain.terminal.tables import shorten, visible

__all__ = ["bars", "columns", "curve", "labels_of", "network", "short"]

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 10, 34
ROW = 22
HATCH = (
    '<defs><pattern id="{id}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" class="hatch-ground"/><line x1="0" y1="0" x2="0" y2="6" class="hatch"/>'
    "</pattern></defs>"
)


def short(value: float) -> str:
    """Return a number in few characters: 950, 1.2k, 3.4M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.1f}".removesuffix(".0") + unit
    return f"{value:g}" if abs(value) < 10 and value != int(value) else f"{value:.0f}"


def text(words: str) -> str:
    """Return words that are safe in HTML and SVG: escaped, with visible control and direction characters."""
    return escape(visible(str(words)))


def bars(name: str, title: str, rows: Sequence[tuple[str, float]]) -> str:
    """Return horizontal bars, one for each row, with the row's words and number."""
    most = max([value for _, value in rows], default=0) or 1
    height = ROW * len(rows) + 8
    parts = []
    for number, (words, value) in enumerate(rows):
        y = ROW * number + 4
        wide = 150 * value / most
        parts.append(
            f'<text x="140" y="{y + 13}" class="end">{text(shorten(words, 20))}</text>'
            f'<rect x="148" y="{y + 2}" width="{wide:.1f}" height="{ROW - 8}" class="bar"/>'
            f'<text x="{152 + wide:.1f}" y="{y + 13}">{short(value)}</text>'
        )
    return _svg(name, title, height, parts)


def columns(
    name: str,
    title: str,
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    beneath: str = "",
    logs: bool = False,
) -> str:
    """Return columns over labels. The second of two series is a part of the first, and is drawn hatched inside it.

    `logs`: the height of a column is the logarithm of its value. A value of 0 has no column, and 1 a low one.
    """
    # Draw the grid lines and their labels, up to the largest value.
    count = len(labels)
    most = max([1.0, *(value for _, values in series for value in values)])
    most = most if logs else rounded(most)
    top = TOP + (16 if len(series) > 1 else 0)
    tall, wide = HEIGHT - top - BOTTOM, (WIDTH - LEFT - RIGHT) / max(count, 1)
    scale = _powers(most, top, tall) if logs else _scale(most, top, tall)
    parts = [HATCH.format(id=f"{name}-hatch"), scale]
    # Draw a column for each value. The columns of the second series are narrower.
    for number, (_, values) in enumerate(series):
        look = 'class="bar"' if number == 0 else f'fill="url(#{name}-hatch)" class="edge"'
        inset = wide * (0.1 if number == 0 else 0.22)
        for column, value in enumerate(values):
            high = tall * (_log(value) / _log(most) if logs else value / most)
            x = LEFT + wide * column + inset
            corner = f'x="{x:.1f}" y="{top + tall - high:.1f}"'
            parts.append(f'<rect {corner} width="{wide - 2 * inset:.1f}" height="{high:.1f}" {look}/>')
    # Draw as many labels as fit, with the width of a letter between two of them.
    room = LETTER * (max([1, *map(len, labels)]) + 1)
    every = max(1, math.ceil(count * room / (WIDTH - LEFT - RIGHT)))
    for column in range(0, count, every):
        x = LEFT + wide * (column + 0.5)
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 18}" class="middle">{text(labels[column])}</text>')
    if beneath:
        parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 3}" class="middle soft">{text(beneath)}</text>')
    if len(series) > 1:
        parts.append(_legend(name, series[0][0], series[1][0]))
    return _svg(name, title, HEIGHT, parts)


def _legend(name: str, filled: str, hatched: str) -> str:
    """Return the names of two series, each beside its pattern."""
    return (
        f'<rect x="{LEFT}" y="4" width="12" height="10" class="bar"/>'
        f'<text x="{LEFT + 17}" y="13">{text(filled)}</text>'
        f'<rect x="{LEFT + 130}" y="4" width="12" height="10" fill="url(#{name}-hatch)" class="edge"/>'
        f'<text x="{LEFT + 147}" y="13">{text(hatched)}</text>'
    )


def rounded(most: float) -> float:
    """Return the least number that is at least `most` and is 1, 2, 4, 6 or 8 times a power of ten. From 2 on its half
    is round, too."""
    power = 10.0 ** math.floor(math.log10(most))
    return next(power * step for step in (1, 2, 4, 6, 8, 10) if power * step >= most * (1 - 1e-12))


def _scale(most: float, top: float, tall: float) -> str:
    """Return the horizontal lines of a plot, at zero, at half of `most`, and at `most`, with their numbers."""
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = top + tall * (1 - share)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" class="end">{short(most * share)}</text>')
    return "".join(parts)


def _log(value: float) -> float:
    """Return the height of a value: 1 for each factor of ten. It is 0 at a half."""
    return max(0.0, math.log10(value) + 0.3) if value > 0 else 0.0


def _powers(most: float, top: float, tall: float) -> str:
    """Return lines across at powers of ten."""
    parts = [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{top + tall}" y2="{top + tall}" class="grid"/>']
    for power in range(math.floor(math.log10(most)) + 1):
        y = top + tall * (1 - _log(10.0**power) / _log(most))
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" class="end">{short(10.0**power)}</text>')
    return "".join(parts)


def curve(name: str, title: str, points: Sequence[tuple[float, float]], across: str, up: str) -> str:
    """Return a curve from (0, 0) to (1, 1), beside the straight line of equal shares (dashed)."""
    tall, wide = HEIGHT - TOP - BOTTOM, WIDTH - LEFT - RIGHT
    places = " ".join(f"{LEFT + wide * x:.1f},{TOP + tall * (1 - y):.1f}" for x, y in points)
    parts = [
        _scale(100.0, TOP, tall),
        f'<line x1="{LEFT}" y1="{TOP + tall}" x2="{LEFT + wide}" y2="{TOP}" class="equal"/>',
        f'<polyline points="{places}" class="line"/>',
        f'<text x="{LEFT}" y="{HEIGHT - 18}">0</text>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 18}" class="end">100 %</text>',
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 3}" class="middle soft">{text(across)}</text>',
        f'<text x="{LEFT + 8}" y="{TOP + 14}" class="soft">{text(up)}</text>',
    ]
    return _svg(name, title, HEIGHT, parts)


LETTER, LINE = 6.5, 13.0
"""Width and height of a letter of a label. A label that would overlap another one is left out."""


def network(
    name: str, title: str, nodes: Sequence[tuple[str, float]], links: NDArray[np.float64], seed: int = 1
) -> str:
    """Return circles that grow with the weights of nodes, and lines that grow with the links of two nodes in both
    directions."""
    wide, tall = 720, 460
    both = links + links.T
    spots = _laid_out(both, seed) * (wide - 160, tall - 60) + (80, 30)
    parts = []
    most = max(1.0, float(both.max(initial=0.0)))
    # Draw the lines first, so that circles cover them.
    for one in range(len(nodes)):
        for other in range(one + 1, len(nodes)):
            if both[one, other] > 0:
                thick = 0.6 + 4 * math.log1p(both[one, other]) / math.log1p(most)
                (x, y), (x2, y2) = spots[one], spots[other]
                ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
                parts.append(f'<line {ends} class="link" stroke-width="{thick:.1f}"/>')
    # Draw the circles, the largest beneath the others, and the labels on top.
    heaviest = max([weight for _, weight in nodes], default=0) or 1
    circles = [
        (x, y, 5 + 15 * math.sqrt(weight / heaviest), words)
        for (words, weight), (x, y) in sorted(zip(nodes, spots.tolist(), strict=True), key=lambda each: -each[0][1])
    ]
    for x, y, radius, words in circles:
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="node"><title>{text(words)}</title></circle>'
        )
    for x, y, label in labels_of(circles, wide, tall):
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="middle halo">{text(label)}</text>')
    return _svg(name, title, tall, parts, wide)


def labels_of(
    circles: Sequence[tuple[float, float, float, str]], wide: float, tall: float
) -> list[tuple[float, float, str]]:
    """Return the labels of circles (x, y, radius, words), in the order of the circles: (middle, base line, text).

    A label is beneath, above, right or left of its circle, where it overlaps no other label and no other circle. A
    label without such a place is left out.
    """
    labels: list[tuple[float, float, str]] = []
    for number, (x, y, radius, words) in enumerate(circles):
        label = shorten(words, 24)
        half = _half_width(label)
        aside = radius + half + 4
        # Take the first place at which the label overlaps nothing.
        for middle, base in ((x, y + radius + 12), (x, y - radius - 4), (x + aside, y + 4), (x - aside, y + 4)):
            outside = middle < half or middle > wide - half or base < LINE or base > tall - 4
            over_label = any(
                abs(base - other_base) < LINE and abs(middle - other_middle) < half + _half_width(other_label) + LETTER
                for other_middle, other_base, other_label in labels
            )
            over_circle = any(
                abs(base - 4 - other_y) < other_radius + LINE / 2 and abs(middle - other_x) < other_radius + half
                for other, (other_x, other_y, other_radius, _) in enumerate(circles)
                if other != number
            )
            if not (outside or over_label or over_circle):
                labels.append((middle, base, label))
                break
    return labels


def _half_width(label: str) -> float:
    return LETTER * len(label) / 2


def _laid_out(both: NDArray[np.float64], seed: int) -> Floats:
    """Return places in the unit square by springs, with linked nodes near each other and all others apart.

    Fruchterman, Reingold, "Graph drawing by force-directed placement", Software: practice and experience 21, 1991.

    Args:
        both: float64[n, n]; the links between two nodes in both directions.
    """
    # Begin at random places.
    count = len(both)
    spots = np.random.default_rng(seed).random((count, 2))
    if count < 2:
        return np.full((count, 2), 0.5)
    pull = np.log1p(both) / max(1.0, float(np.log1p(both).max()))
    distance = math.sqrt(1.0 / count)
    for step in range(300):
        # All nodes push each other away, linked ones attract each other, and the middle attracts all.
        apart = spots[:, None, :] - spots[None, :, :]
        far = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        force = distance**2 / far - pull * far**2 / distance
        np.fill_diagonal(force, 0.0)
        move = (apart / far[:, :, None] * force[:, :, None]).sum(axis=1) - 0.8 * (spots - 0.5)
        # Move along the force, in steps that become shorter.
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        spots += move / length * np.minimum(length, 0.1 * (1 - step / 300))
    # Fill the square.
    low, high = spots.min(axis=0), spots.max(axis=0)
    return np.asarray((spots - low) / np.maximum(high - low, 1e-9))


def _svg(name: str, title: str, height: float, parts: Sequence[str], width: float = WIDTH) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-labelledby="{name}-title">'
        f'<title id="{name}-title">{text(title)}</title>{"".join(parts)}</svg>'
    )
