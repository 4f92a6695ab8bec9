"""Orders over many recordings: the mean and the least share of a web's importance that they fetch early.

Each recording is crawled from several pages, one after another, which follow from a fixed rule (`begin`). The figure of
a crawl is the area of an order as a share of the omniscient order's (`order.Curve`). That of a recording is the mean
over its crawls, so that more seeds have no more weight. Small webs are shown and not counted, because their shares are
mostly chance. The bootstrap (B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7,
1979) estimates how far the mean over these webs may be from the mean over others of their kind. It computes the means
of webs that are drawn anew, with repetition.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphbrain.base.errors import BadInput
from graphbrain_lab.bench import order
from graphbrain_lab.bench.order import Curve
from graphbrain_lab.recording import Recording, read

__all__ = ["COUNTED", "EARLY", "REFERENCES", "Measured", "begin", "recordings", "restricted", "summary", "web_row"]

COUNTED = 500
"""Webs with fewer reached pages are not counted."""
REFERENCES = ("breadth first", "back-link count", "PageRank, d 0.85", "OPIC of 2003")
OPIC = REFERENCES[-1]
EARLY = (0.01, 0.02, 0.05, 0.1)
"""The parts of a crawl after which an order is compared with OPIC."""
EARLY_PAGES = 20
"""A part of a crawl is skipped if it has fewer fetched pages."""
CANDIDATES, BY_DICE, REACHES = 30, 100, 0.9
RESAMPLES, CONFIDENCE = 2_000, 0.95
ROUNDING = 1e-9


@dataclass(frozen=True)
class Measured:
    """One crawl of a recording: its first page, the number of pages it reaches, and the curve of each order, the
    omniscient order's first."""

    recording: str
    seed: str
    pages: int
    links: int
    curves: Sequence[Curve]

    @property
    def shares(self) -> Mapping[str, float]:
        """Return order → its area as a share of the omniscient order's."""
        best = self.curves[0].area
        return {curve.name: curve.area / best for curve in self.curves}


def recordings(
    folder: Path, own: bool, passed_over: Callable[[Path, str], None] = lambda *_: None
) -> Iterator[Recording]:
    """Yield the recorded crawls in a directory and those below it, one at a time, by their paths.

    Args:
        folder: The directory.
        own: Leave out the pages that were never crawled.
        passed_over: Is called with each other file and the reason why it is no recording.

    Raises:
        BadInput: There is no recording.
    """
    found = 0
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".nodes." not in path.name):
        try:
            recording = read(path)
        except (BadInput, UnicodeDecodeError) as error:
            passed_over(path, str(error))
            continue
        found += 1
        yield restricted(recording) if own else recording
    if not found:
        raise BadInput(f"{folder} holds no recorded crawl: give a directory of files as for 'replay'.")


def restricted(recording: Recording) -> Recording:
    """Return the recording without the pages that were found in links and never crawled."""
    kept = recording.crawled
    if kept.all():
        return recording
    number = np.cumsum(kept) - 1
    sources, targets = recording.distinct
    both = kept[sources] & kept[targets]
    pages = int(kept.sum())
    inner = Recording.of(
        number[sources[both]],
        number[targets[both]],
        pages=pages,
        urls=[recording.urls[page] for page in np.flatnonzero(kept).tolist()],
        name=recording.name,
    )
    return dataclasses.replace(inner, ids=recording.ids[kept])


def begin(recording: Recording, count: int) -> list[int]:
    """Return the pages at which `count` crawls begin, or fewer. They are the same at each call.

    The candidates are the pages with the most links, those with the shortest URLs, and some random ones. A candidate is
    used if it reaches at least nine tenths of the pages that the best one reaches. The one with the shortest URL, which
    is usually a site's home page, comes first, then random ones.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # Choose the candidates.
    sources, targets = recording.distinct
    size, dice = recording.pages, np.random.default_rng(0)
    links = np.bincount(sources, minlength=size)
    lengths = np.array([len(url) for url in recording.urls])
    known = [np.argsort(-links, kind="stable")[:CANDIDATES], np.argsort(lengths, kind="stable")[:CANDIDATES]]
    some = np.unique(np.concatenate([*known, dice.permutation(size)[:BY_DICE]]))
    some = some[links[some] > 0]
    # Count the pages that each reaches, once for each component.
    matrix = csr_array((np.ones(len(sources), dtype=np.int8), (sources, targets)), shape=(size, size))
    part = connected_components(matrix, connection="strong")[1]
    reach = {number: int(recording.reachable([page]).sum()) for number, page in _one_of_each(part[some], some)}
    most = max(reach.values(), default=0)
    # Choose among the good ones.
    good = [page for page in some.tolist() if reach[int(part[page])] >= REACHES * most]
    first = sorted(good, key=lambda page: (int(lengths[page]), page))[:1]
    rest = [page for page in dice.permutation(np.array(good, dtype=np.int64)).tolist() if page not in first]
    return [*first, *rest][:count]


def _one_of_each(parts: Any, pages: Any) -> Iterator[tuple[int, int]]:
    """Yield each strongly connected component with one of its pages. All its pages reach the same pages."""
    numbers, first = np.unique(parts, return_index=True)
    yield from zip(numbers.tolist(), pages[first].tolist(), strict=True)


def web_row(measured: Measured) -> dict[str, Any]:
    """Return a crawl as one row of figures."""
    return {
        "measure": "order of one web",
        "recording": measured.recording,
        "seed": measured.seed,
        "pages": measured.pages,
        "links": measured.links,
        "counted": measured.pages >= COUNTED,
        "shares": {name: round(share, 4) for name, share in measured.shares.items()},
        "at": {curve.name: {f"{part:g}": round(curve.at(part), 4) for part in order.AT} for curve in measured.curves},
    }


def summary(crawls: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return figures of each order over the counted webs.

    They are the mean, its interval, the least share of a crawl, the number of webs on which it is at least as good as
    each reference, the largest distance below it, and the comparison with OPIC early in a crawl.
    """
    counted = [crawl for crawl in crawls if crawl.pages >= COUNTED]
    names = [curve.name for curve in counted[0].curves] if counted else []
    webs = list(dict.fromkeys(crawl.recording for crawl in counted))
    means = {name: np.array([_mean_on(counted, web, name) for web in webs]) for name in names}
    return [_row(name, means, counted, webs) for name in names]


def _mean_on(crawls: Sequence[Measured], web: str, name: str) -> float:
    return float(np.mean([crawl.shares[name] for crawl in crawls if crawl.recording == web and name in crawl.shares]))


def _row(name: str, means: Mapping[str, Any], crawls: Sequence[Measured], webs: Sequence[str]) -> dict[str, Any]:
    # Compare the order's mean of each web with the mean of each reference order.
    own = means[name]
    low, high = _interval(own)
    references = [reference for reference in REFERENCES if reference in means]
    return {
        "measure": "order of many webs",
        "order": name,
        "webs": len(webs),
        "crawls": len(crawls),
        "mean": round(float(own.mean()), 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "least": round(min(crawl.shares[name] for crawl in crawls if name in crawl.shares), 4),
        "wins": {reference: int((own >= means[reference] - ROUNDING).sum()) for reference in references},
        "below": {reference: round(max(0.0, float((means[reference] - own).max())), 4) for reference in references},
        "early": {f"{part:g}": _early(name, crawls, part) for part in EARLY},
    }


def _interval(values: Any) -> tuple[float, float]:
    """Return the interval of the mean at a confidence of 95 %, by the bootstrap over webs with a fixed seed."""
    dice = np.random.default_rng(0)
    drawn = values[dice.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(drawn, [(1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0])
    return float(low), float(high)


def _early(name: str, crawls: Sequence[Measured], part: float) -> dict[str, float] | None:
    """Return the difference of the share of PageRank from OPIC's after this part of a crawl: the mean, and the least.

    None: no crawl has fetched enough by then.
    """
    gained = []
    for crawl in crawls:
        curves = {curve.name: curve for curve in crawl.curves}
        if part * crawl.pages >= EARLY_PAGES and {name, OPIC} <= curves.keys():
            gained.append(curves[name].at(part) - curves[OPIC].at(part))
    return {"mean": round(float(np.mean(gained)), 4), "least": round(min(gained), 4)} if gained else None
