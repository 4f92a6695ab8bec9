"""Generated sites are what their shapes say: traps repeat pages, look-alikes do not, and seeds make them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import pytest
from click.testing import CliRunner

from graphbrain.base.errors import BadInput, GraphbrainError
from graphbrain.base.model import Claim, Failed, Fetched, Link
from graphbrain.base.urls.normalization import host_of, key_of, normal
from graphbrain.cli.app import cli
from graphbrain_lab.bench.traps import (
    DRAWN,
    LOOK_ALIKES,
    SHAPES,
    TRAPS,
    TrapCrawl,
    TrapTrial,
    chosen,
    rows,
    without_harvest,
    words,
)
from graphbrain_lab.bench.traps.reader import visit
from graphbrain_lab.bench.traps.running import TrapCrew
from graphbrain_lab.bench.traps.shapes import site_of
from graphbrain_lab.bench.traps.site import TrapSite
from graphbrain_lab.cli.common import seed_numbers

SIZE, SEEDS = 70, (1, 2)
REPEATED, OWN = 0.8, 0.3
"""At least so much of a trap's page was read before, and at most so much of an honest one elsewhere."""
SAMPLE = 25
BLEND = "flow^.2 authority plain_path"


@lru_cache(128)
def site(shape: str, seed: int) -> TrapSite:
    return site_of(shape, seed, SIZE)


def claim(url: str) -> Claim:
    return Claim(url, key_of(url), "token", 0.0, host_of(url), 0)


@lru_cache(128)
def walked(shape: str, seed: int) -> dict[str, Fetched]:
    """What a crawler brings from a site, breadth first, twice as many pages as it really has."""
    found, queue = dict[str, Fetched](), [site(shape, seed).start]
    seen = set(queue)
    while queue and len(found) < 2 * SIZE:
        report = visit(site(shape, seed), claim(queue.pop(0)))
        assert isinstance(report, Fetched), f"{report.url} is named, and is not there"
        found[report.url] = report
        new = [url for url in dict.fromkeys(named(report)) if url not in seen]
        seen.update(new)
        queue += new
    return found


def named(report: Fetched) -> Iterator[str]:
    for link in report.links:
        assert isinstance(link, Link)
        yield normal(link.url)


def main(where: TrapSite, url: str) -> set[tuple[str, ...]]:
    page = where.page(url)
    assert page is not None, url
    return words.shingles(page.main())


def overlap(where: TrapSite) -> dict[str, float]:
    """Of each real page that is no list of others, the part of its shingles that other real pages have."""
    each = {url: main(where, url) for url in where.nodes}
    count = Counter(shingle for shingles in each.values() for shingle in shingles)
    return {
        url: sum(count[shingle] > 1 for shingle in shingles) / len(shingles)
        for url, shingles in each.items()
        if not where.nodes[url].index
    }


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(TRAPS) >= 16
    assert len(LOOK_ALIKES) == 8
    assert len(SHAPES) == len(TRAPS) + len(LOOK_ALIKES) + len(DRAWN)
    assert all(shape.trap for shape in TRAPS)
    assert not any(shape.trap for shape in LOOK_ALIKES)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_is_made_from_its_url_and_the_seed(shape: str) -> None:
    again, other = site_of(shape, 1, SIZE), site_of(shape, 2, SIZE)
    urls = random.Random(1).sample(sorted(walked(shape, 1)), SAMPLE)
    for url in urls:
        page = again.page(url)
        assert page is not None
        assert page.moved_to or again.html(page) == walked(shape, 1)[url].body
    paths = [{url.removeprefix(each.root) for url in each.nodes} for each in (again, other)]
    assert paths[0] != paths[1]
    assert again.page(f"{again.root}/no/such/page-at-all") is None
    assert again.page("http://elsewhere.example/") is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_crawl_of_real_pages_alone_reaches_all_of_them(shape: str, seed: int) -> None:
    where = site(shape, seed)
    assert abs(len(where.nodes) - SIZE) <= 12
    assert all(normal(url) == url for url in where.nodes)
    reached, queue = {where.start}, [where.start]
    while queue:
        report = visit(where, claim(queue.pop()))
        assert isinstance(report, Fetched)
        new = {url for url in named(report) if url in where.nodes} - reached
        reached |= new
        queue += new
    assert reached == where.nodes.keys()


@pytest.mark.parametrize("shape", [shape.name for shape in TRAPS])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_trap_repeats_pages_and_has_more_of_its_own_than_there_are_real_ones(shape: str, seed: int) -> None:
    where, met = site(shape, seed), walked(shape, seed)
    made_up = [url for url in met if url not in where.nodes]
    known = {url for report in met.values() for url in named(report)} - where.nodes.keys()
    assert len(known) >= 0.9 * SIZE, "so many at least wait at once, sooner or later"
    for url in random.Random(seed).sample(made_up, min(SAMPLE, len(made_up))):
        page = where.page(url)
        assert page is not None
        assert not page.worth
        assert page.repeats
        if page.moved_to:
            assert (page.repeats, page.parts) == ((page.moved_to,), ())
            continue
        before = set[tuple[str, ...]]().union(*(main(where, other) for other in page.repeats))
        own = words.shingles(page.main())
        assert len(own & before) >= REPEATED * len(own), url


@pytest.mark.parametrize("shape", [shape.name for shape in LOOK_ALIKES])
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_of_a_look_alike_is_made_up(shape: str, seed: int) -> None:
    where = site(shape, seed)
    assert walked(shape, seed).keys() == where.nodes.keys()
    assert where.own < where.nodes.keys()
    assert 0.4 * SIZE <= len(where.own) <= 0.6 * SIZE
    assert not any(where.nodes[url].index for url in where.own)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_real_page_has_a_text_of_its_own(shape: str, seed: int) -> None:
    shares = overlap(site(shape, seed))
    worst = max(shares, key=shares.__getitem__)
    assert shares[worst] <= OWN, worst


def test_the_measure_sees_a_copy() -> None:
    where = site("print", 1)
    one, other = list(where.nodes)[3:5]
    assert overlap(where)[one] < 0.05
    text = where.text(where.nodes[one])
    where = site_of("print", 1, SIZE)
    where.text = lambda _: text  # type: ignore[method-assign]
    assert min(overlap(where)[url] for url in (one, other)) > 0.8


def test_a_crawler_reports_what_the_html_says() -> None:
    where = site("mobile", 1)
    copy = next(url for url in walked("mobile", 1) if url not in where.nodes)
    report = visit(where, claim(copy))
    assert isinstance(report, Fetched)
    assert report.canonical == where.start.removesuffix("/") + copy.removeprefix(f"{where.root}/m")
    assert (report.status, report.language, report.content_type) == (200, "en", "text/html; charset=utf-8")
    assert report.title
    assert report.body
    assert report.size == len(report.body)
    missing = visit(where, claim(f"{where.root}/none"))
    assert isinstance(missing, Failed)
    assert (missing.status, bool(missing.body)) == (404, True)


def test_a_redirect_is_reported_as_one() -> None:
    where = site("redirects", 1)
    url = next(url for url in walked("redirects", 1) if url not in where.nodes)
    report = visit(where, claim(url))
    assert isinstance(report, Fetched)
    assert (report.status, report.redirected_to, report.body) == (301, url.partition("?")[0], None)


def test_a_relative_link_is_read_against_its_page() -> None:
    where = site("growing-path", 1)
    grown = next(url for url in walked("growing-path", 1) if url not in where.nodes)
    depth = max(url.count("/") for url in named(walked("growing-path", 1)[grown]))
    assert depth > grown.count("/")


def test_a_shape_that_there_is_not() -> None:
    assert [shape.name for shape in chosen(["print", "gallery", "print"])] == ["print", "gallery"]
    assert len(chosen([])) == len(SHAPES) - len(DRAWN)
    with pytest.raises(BadInput, match="There is no shape 'prints'"):
        chosen(["prints"])


# ---------------------------------------------------------------- what is good enough


def crawled(shape: str, *, seed: int = 1, value: str = BLEND, **what: int) -> TrapCrawl:
    trial = TrapTrial(shape, seed, 300, "optimal", value, 1)
    return TrapCrawl(trial, **{"wanted": 100, "fetched": 100, **what})


@pytest.mark.parametrize(
    ("real", "waited", "fetched", "good"),
    [
        (90, 50, 100, True),
        (89, 50, 100, False),
        (89, 9, 100, True),
        (80, 9, 100, True),
        (79, 9, 100, False),
        (90, 50, 99, False),
    ],
)
def test_what_is_asked_of_a_trap(real: int, waited: int, fetched: int, good: bool) -> None:
    first = crawled("print", real=100, waited=50)
    [row] = rows([first, crawled("print", seed=2, real=real, waited=waited, fetched=fetched)])
    assert row.good is good
    figures = row.figures()
    assert (figures["good"], figures["real"], figures["seeds"]) == (good, [100, real], [1, 2])


@pytest.mark.parametrize(
    ("own", "good"), [((50, 50), True), ((47, 50), True), ((46, 54), False), ((48, 48), False), ((60, 47), True)]
)
def test_what_is_asked_of_a_look_alike(own: tuple[int, int], good: bool) -> None:
    value = f"{BLEND} harvest>.1^.5"
    with_it = [crawled("gallery", seed=seed, value=value, own=each) for seed, each in enumerate(own)]
    without = [crawled("gallery", seed=seed, own=50) for seed in range(2)]
    found = {row.value: row for row in rows([*without, *with_it])}
    assert found[value].ratios == [each / 50 for each in own]
    assert (found[value].good, found[BLEND].good, found[BLEND].figures()["of_without_harvest"]) == (good, None, None)


def test_the_crawl_that_a_look_alike_is_compared_with() -> None:
    trial = crawled("gallery", value=f"flow^.2 harvest^2 {BLEND}").trial
    assert without_harvest(trial) == replace(trial, value=f"flow^.2 {BLEND}")
    assert without_harvest(replace(trial, value=BLEND)) is None
    assert without_harvest(replace(trial, value="harvest")) is None
    assert without_harvest(replace(trial, shape="print")) is None


# ---------------------------------------------------------------- the command


def test_a_process_that_dies_is_told_of_in_a_sentence() -> None:
    with TrapCrew(1) as crew:
        [member] = crew.members
        member.kill()
        member.wait()
        with pytest.raises(GraphbrainError, match="A process that crawled has died"):
            crew.turn({}).result()


def test_sites_are_drawn_by_seeds() -> None:
    done = CliRunner().invoke(cli, ["bench", "traps", "--seed", "1", "--seed", "2", "--seeds", "2"])
    assert done.exit_code == 2 and "--seeds counts on from one --seed" in done.output
    assert seed_numbers([], None, 5, "--seeds") == [1, 2, 3, 4, 5]
    assert seed_numbers([7], 2, 5, "--seeds") == [7, 8]
    assert seed_numbers([7], None, 5, "--seeds") == [7]
    assert seed_numbers([9, 3, 9], None, 5, "--seeds") == [9, 3]


def test_what_cannot_be_is_said_before_any_work() -> None:
    for given, said in ((["--value", "beauty"], "beauty"), (["--shape", "prints"], "no shape 'prints'")):
        done = CliRunner().invoke(cli, ["bench", "traps", *given], standalone_mode=False)
        assert said in str(done.exception)
