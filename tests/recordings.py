"""Recorded crawls: real ones where they lie on this machine, and always small ones that are made here, by a seed.

Those made have the names, the formats and the shape of the real ones: in-degrees by a power law, hosts of very unequal
size, most links inside a host, cycles, pages without out-links, pages that were never fetched, links that stand twice,
links of a page to itself, URLs that no page can have. What is known of each by the way it was made, or is said of the
real one where it comes from, are its `Facts`.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphbrain import Brain, Fetched
from graphbrain.base.urls.normalization import Rules, spell
from graphbrain.files import harvest
from graphbrain.files.harvest import Harvest

__all__ = ["EVENTS", "REAL", "Facts", "Recordings", "crawl", "folders", "links_of", "made", "web_of"]

EVENTS = "opentermsarchive-contrib.events.tsv.gz"
DAY = 86_400.0


@dataclass(frozen=True)
class Facts:
    """Pages, lines of links, distinct links between two pages; URLs that cannot be used; pages without in-links;
    without out-links; never fetched; a page from which all can be reached; links of a page to itself. None: not
    said."""

    pages: int
    recorded: int
    distinct: int
    stand_ins: int = 0
    roots: int | None = None
    dangling: int | None = None
    unfetched: int | None = None
    reaches_all: int | None = None
    selfish: int | None = None


@dataclass(frozen=True)
class Recordings:
    """A folder of them."""

    folder: Path
    facts: dict[str, Facts]

    def __truediv__(self, name: str) -> Path:
        return self.folder / name


REAL = {
    "hollins.dat.gz": Facts(6_012, 23_875, 23_875, roots=2, dangling=3_189),
    "gr0.California.gz": Facts(9_664, 16_150, 16_150, 57),
    "cnr-2000.edges.tsv.gz": Facts(325_557, 3_216_152, 3_128_710, reaches_all=217_849, selfish=87_442),
    "numpy-doc.edges.tsv.gz": Facts(59_898, 3_562_280, 3_562_280, 4, unfetched=5_184),
}


def web_of(file: Path) -> Harvest:
    """A recorded crawl, as an import reads it, with all links of its pages."""
    return harvest.read([file], rules=Rules(), max_links=1_000_000, now=0.0)


def links_of(web: Harvest, page: int) -> list[str]:
    """The URLs that a page links to, as a brain spells them."""
    return [spell(web.urls[target]) for target in web.targets[web.offsets[page] : web.offsets[page + 1]].tolist()]


def crawl(brain: Brain, web: Harvest, pages: int, batch: int = 100) -> None:
    """Claim and report pages, beginning at the first, until so many are reported or none is left."""
    number = {spell(url): page for page, url in enumerate(web.urls)}
    brain.seed(web.urls[:1])
    while pages > 0 and (claims := brain.next_urls(min(batch, pages))):
        brain.report([Fetched(claim.url, links_of(web, number[claim.url]), claim) for claim in claims])
        pages -= len(claims)


def folders() -> dict[str, Path | None]:
    """Where recorded crawls are: name → folder, None for those that are made when they are asked for."""
    given = os.environ.get("TEST_GRAPHBRAIN_DATA")
    real = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    return {"made": None, **({"real": real} if (real / "hollins.dat.gz").is_file() else {})}


@dataclass
class _Web:
    """A web in the making: links as two columns, in the order in which they were made; the host of each page."""

    sources: list[int]
    targets: list[int]
    hosts: np.ndarray
    linking: np.ndarray
    """Pages that have out-links, in order."""

    def rows(self) -> np.ndarray:
        return np.array([self.sources, self.targets]).T


def _web(seed: int, pages: int, links: int, hosts: int, *, silent: float, dense: int = 0, roots: int = 1) -> _Web:
    """Distinct links between two pages, so that all can be reached from the first ones, `roots`, which nobody links to.

    `silent`: the share of pages without out-links. `dense`: so many of the first pages are full of navigation.
    """
    dice = np.random.default_rng(seed)
    sizes = 1.0 / np.arange(1, hosts + 1)
    # The navigation is one site's; the others lie side by side behind it.
    host = np.concatenate([np.zeros(dense, int), np.sort(dice.choice(hosts, pages - dense, p=sizes / sizes.sum()))])
    links_out = dice.random(pages) >= silent
    links_out[: max(dense, roots, 10)] = True
    linking = np.flatnonzero(links_out)
    found: dict[tuple[int, int], None] = {}
    for page in range(roots, pages):  # somebody before links to each: the first roots reach all
        before = linking[: np.searchsorted(linking, page)]
        near = before[-40:] if dice.random() < 0.7 else before
        found[int(dice.choice(near)), page] = None
    for page in linking[roots:]:
        found.setdefault((int(page), roots if page != roots else roots + 1))
    for page in range(dense):
        for other in dice.choice(dense, 14, replace=False):
            if other != page and other >= roots:
                found.setdefault((page, int(other)))
    # Few pages have most links: they are chosen by a power of their rank in a list of their own, mostly inside a host.
    rank = np.empty(pages)
    rank[dice.permutation(pages)] = np.arange(1, pages + 1)
    wanted = rank**-0.9
    wanted[:roots] = 0.0
    everywhere, inside = wanted.cumsum(), np.array([(wanted * (host == each)).cumsum() for each in range(hosts)])
    while len(found) < links:
        source = int(dice.choice(linking))
        sums = inside[host[source]] if dice.random() < 0.7 else everywhere
        target = int(np.searchsorted(sums, dice.random() * sums[-1], side="right"))
        if roots <= target < pages and target != source:
            found.setdefault((source, target))
    pairs = list(found)
    return _Web([a for a, _ in pairs], [b for _, b in pairs], host, linking)


def made(folder: Path) -> Recordings:
    """Make them all."""
    return Recordings(folder, {**_hollins(folder), **_california(folder), **_cnr(folder), **_numpy(folder)})


def _write(path: Path, lines: list[str]) -> None:
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), 6, mtime=0))


def _hollins(folder: Path) -> dict[str, Facts]:
    """A college's site: two roots, half of the pages without links."""
    name, pages, links = "hollins.dat.gz", 1_200, 7_000
    web = _web(1, pages, links, 8, silent=0.5, dense=200, roots=2)
    rows = web.rows() + 1
    lines = [f"{pages} {len(rows)} 1"]
    lines += [f"{n + 1} http://www{web.hosts[n]}.college.example/{n % 37}/page{n}.htm " for n in range(pages)]
    lines += [f"{a} {b}" for a, b in rows]
    _write(folder / name, lines)
    return {name: Facts(pages, links, links, roots=2, dangling=pages - len(np.unique(rows[:, 0])))}


def _california(folder: Path) -> dict[str, Facts]:
    """A query's neighbourhood: many hosts, few links, some URLs that no page can have."""
    name, pages, links, hosts = "gr0.California.gz", 1_500, 3_300, 200
    web = _web(2, pages, links, hosts, silent=0.6, roots=3)
    urls = [f"http://host{web.hosts[n]}.example/~{n}/index.html" for n in range(pages)]
    for number in range(0, pages, 100):
        urls[number] = f"http://[{number}"
    lines = [f"n {n} {url}" for n, url in enumerate(urls)] + [f"e {a} {b}" for a, b in web.rows()]
    _write(folder / name, lines)
    return {name: Facts(pages, links, links, pages // 100)}


def _cnr(folder: Path) -> dict[str, Facts]:
    """No URLs, many links: of pages to themselves, too, and some that stand twice."""
    name, pages, links = "cnr-2000.edges.tsv.gz", 2_500, 18_000
    web = _web(3, pages, links, 10, silent=0.2, dense=100)
    dice = np.random.default_rng(33)
    number = dice.permutation(pages)
    selfish = dice.choice(web.linking, 400, replace=False)
    rows = number[np.concatenate([web.rows(), np.stack([selfish, selfish], axis=1)])]
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    _write(folder / name, [f"{a}\t{b}" for a, b in rows])
    return {name: Facts(pages, len(rows), links, reaches_all=int(number[0]), selfish=len(selfish))}


def _numpy(folder: Path) -> dict[str, Facts]:
    """A manual: navigation on each page, targets that were never fetched, some URLs that no page can have."""
    name, pages, links = "numpy-doc.edges.tsv.gz", 1_000, 24_000
    web = _web(4, pages, links, 30, silent=0.1, dense=150)
    fetched = np.zeros(pages, bool)
    fetched[web.linking] = True
    urls = [f"https://doc{web.hosts[n]}.example/{n % 11}/generated/f.{n}.html" for n in range(pages)]
    bad = np.flatnonzero(~fetched)[:4]
    for n in bad:
        urls[n] = f"https://[{n}"
    _write(folder / name.replace("edges", "nodes"), [f"{n}\t{fetched[n]:d}\t{url}" for n, url in enumerate(urls)])
    _write(folder / name, [f"{a}\t{b}\t{1 + (a + b) % 3}" for a, b in web.rows()])
    _events(folder)
    return {name: Facts(pages, links, links, len(bad), unfetched=int((~fetched).sum()))}


def _events(folder: Path) -> None:
    """When pages changed, by chance, some a hundred times as often as others."""
    dice = np.random.default_rng(5)
    lines = ["epoch\tgit_status\tkind\tdocument\tcurrent_url"]
    for n in range(600):
        document, url = f"Service {n}/Terms.md", f"https://service{n % 350}.example/terms/{n}"
        lines.append(f"{1_600_000_000 + n}\tA\tfirst\t{document}\t{url}")
        rate = float(np.exp(dice.normal(-4.0, 1.5)))
        for moment in np.sort(dice.random(dice.poisson(rate * 300)) * 300 * DAY):
            lines.append(f"{1_600_010_000 + int(moment)}\tM\tchange\t{document}\t{url}")
    lines.append(
        f"{1_600_010_000 + int(300 * DAY)}\tM\ttechnical\tService 0/Terms.md\thttps://service0.example/terms/0"
    )
    _write(folder / EVENTS, lines)
