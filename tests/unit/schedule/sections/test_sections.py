"""Sections: bounded whatever a site does, the same for all who learn the same, and right about what is copied."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbrain.schedule import shingles
from graphbrain.schedule.sections import harvest, tree
from graphbrain.schedule.sections.copies import Copies, CopyRule
from graphbrain.schedule.sections.known import LARGEST, MOST, HostSample
from graphbrain.schedule.sections.shapes import LONGEST_QUESTION, ShapeQuestion, read_question, shape_of
from graphbrain.schedule.sections.site import MOST_VISITS, ActingSection, FirstVisit, Sections, Site
from graphbrain.schedule.sections.tree import DEEPEST, LONGEST_PATTERN, CountedVisit
from graphbrain.schedule.words import EDGE, Words, masked

STEP = st.one_of(
    st.sampled_from(["a", "shop", "12", "2024-05", "s1d9f8a7c6", "Index.html", "print", "x" * 60]), st.text(max_size=9)
)
URLS = st.one_of(
    st.text(max_size=80),
    st.builds(
        lambda steps, query: "http://s.example/" + "/".join(steps) + ("?" + "&".join(query) if query else ""),
        st.lists(STEP, max_size=24),
        st.lists(st.sampled_from(["a=1", "b=red", "sort", "page=7", "=", "q=a%20b", "a=b=c"]), max_size=30),
    ),
)
VISITS = st.lists(
    st.builds(CountedVisit, URLS, st.floats(0, 1), st.floats(0.01, 1), st.booleans()),
    max_size=40,
)


@given(URLS)
def test_a_shape_is_bounded_and_its_tests_are_written_and_read(url: str) -> None:
    shape = shape_of(url)
    assert len(shape.tests) <= 100
    for test in shape.tests:
        assert len(str(test)) <= LONGEST_QUESTION
        assert read_question(str(test)) == test
        assert test.holds(shape)


@pytest.mark.parametrize("text", ["", "!", "shop", "/", "/*", "steps>", "steps>x", ".../", "? a", "/{what}x y"])
def test_what_is_no_test_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a test"):
        read_question(text)


@settings(deadline=None, max_examples=60)
@given(VISITS, URLS, st.integers(1, 200))
def test_a_tree_is_bounded_and_each_url_is_in_one_section(visits: list[CountedVisit], url: str, most: int) -> None:
    found = tree.learn(visits, most)
    leaves = list(found.leaves())
    patterns = [leaf.pattern for leaf in leaves]
    assert 1 <= len(leaves) <= most
    assert len(set(patterns)) == len(patterns)
    assert all(len(pattern) <= LONGEST_PATTERN and pattern.count(" ") < DEEPEST for pattern in patterns)
    assert all(0.0 <= leaf.mean <= 1.0 for leaf in leaves)
    assert found.section_of(url).pattern in patterns
    assert sum(leaf.count for leaf in leaves) == pytest.approx(sum(visit.weight for visit in visits))
    for leaf in leaves:
        assert 0.0 <= leaf.brought <= leaf.visits + 1e-9 <= leaf.count + 1e-8
        assert leaf.visits <= 1.0 / (1.0 - tree.LASTS)
    again = tree.read(json.loads(json.dumps(found.plain())))
    assert [leaf.pattern for leaf in again.leaves()] == patterns
    assert again.section_of(url).pattern == found.section_of(url).pattern


@settings(deadline=None, max_examples=30)
@given(VISITS, st.randoms(use_true_random=False))
def test_what_is_learned_does_not_depend_on_the_order_of_the_visits(
    visits: list[CountedVisit], dice: random.Random
) -> None:
    shuffled = list(visits)
    dice.shuffle(shuffled)
    one, other = tree.learn(visits, 50), tree.learn(shuffled, 50)
    assert [leaf.pattern for leaf in one.leaves()] == [leaf.pattern for leaf in other.leaves()]


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.floats(0, 1), st.booleans()), min_size=1, max_size=12)
)
def test_no_way_to_divide_visits_gains_more_than_the_best_by_their_yield(
    visits: list[tuple[float, float, bool]],
) -> None:
    """So no question about URLs has to be tried where that is not enough. A visit may have the weight 0."""
    weight = np.array([weight for weight, _, _ in visits])
    brought = weight * np.array([share for _, share, _ in visits])
    yes = np.array([side for _, _, side in visits])

    def evidence(*parts: np.ndarray) -> float:
        return sum(
            float(tree._evidence(brought[part].sum(keepdims=True), weight[part].sum(keepdims=True))[0])
            for part in parts
        )

    gain = evidence(yes, ~yes) - evidence(np.ones(len(visits), dtype=bool))
    assert gain <= tree._greatest_gain(weight, brought) + 1e-9


def test_sections_are_split_where_they_differ_and_not_else() -> None:
    good = [CountedVisit(f"http://s.example/p/{k}", 1.0, 1.0) for k in range(20)]
    bad = [CountedVisit(f"http://s.example/p/{k}?sort=price", 0.0, 1.0) for k in range(20)]
    found = tree.learn([*good, *bad], 200)
    assert {leaf.pattern for leaf in found.leaves()} == {"?sort", "!?sort"}
    assert found.section_of("http://s.example/q?sort=name").mean < 0.1
    assert found.section_of("http://s.example/q").mean > 0.9
    alike = [CountedVisit(f"http://s.example/{'ab'[k % 2]}/{k}?x{k % 3}=1", 0.9, 1.0) for k in range(60)]
    assert [leaf.pattern for leaf in tree.learn(alike, 200).leaves()] == [""]


@given(
    st.sampled_from(["/goods?id={n}", "/goods?id={n}&page={m}", "/goods/{n}", "/{n}/goods?page={m}"]),
    st.sampled_from(["%3Bsid%3D9f8e7d", "-9f8e7d"]),
    st.integers(3, 12),
    st.integers(8, 40),
)
def test_copies_hold_down_no_pages_of_the_same_arguments_whose_values_have_another_form(
    form: str, token: str, own: int, copies: int
) -> None:
    """Three good pages among many bad ones of their section are enough to free the others."""

    def urls(tail: str, count: int) -> list[str]:
        return ["http://s.example" + form.format(n=f"{100 + 7 * k}{tail}", m=k % 5) for k in range(count)]

    pages = [CountedVisit(f"http://s.example/about-{chr(97 + k)}", 1.0, 1.0) for k in range(20)]
    goods = [CountedVisit(url, 1.0, 1.0) for url in urls("", own)]
    twins = [CountedVisit(url, 0.0, 1.0) for url in urls(token, copies)]
    found = tree.learn([*pages, *goods, *twins], 200)
    good, twin = found.section_of(urls("", 900)[-1]), found.section_of(twins[-1].url)
    assert harvest.factor_of(harvest.upper(good.mean, good.visits)) == 1.0
    assert harvest.factor_of(harvest.upper(twin.mean, twin.visits)) < 0.5


def test_ten_visits_move_a_section_and_one_does_not() -> None:
    parent = harvest.PRIOR
    assert harvest.factor_of(harvest.posterior(0.0, 1.0, parent)) == 1.0
    assert harvest.factor_of(harvest.posterior(0.0, 10.0, parent)) <= 0.25
    assert harvest.posterior(0.0, 0.0, parent) == parent  # a new section starts at what its parent knows


@given(st.floats(0, 1), st.floats(0, 1e4), st.floats(0, 1e4))
def test_the_upper_bound_is_above_the_mean_and_nearer_to_it_with_more_visits(
    mean: float, one: float, other: float
) -> None:
    few, many = sorted((one, other))
    assert mean <= harvest.upper(mean, many) <= harvest.upper(mean, few) <= 1.0


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_what_a_page_brings_rises_with_its_new_text_and_is_next_to_nothing_of_a_date(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= harvest.yield_of(low) <= harvest.yield_of(high) <= 1.0
    assert harvest.yield_of(1.0) < 0.02 < 0.75 < harvest.yield_of(8.0)


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_page_without_a_text_brings_more_the_more_it_is_first_to_name(new: int, known: int) -> None:
    brought = harvest.yield_of_links(new, new + known)
    assert harvest.UNSEEN <= brought <= 1.0
    assert brought <= harvest.yield_of_links(new + 1, new + known + 1)
    assert (brought == 1.0) is (known == 0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_factor_is_a_power_of_two_and_never_rises_with_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    factors = [harvest.factor_of(low), harvest.factor_of(high)]
    assert factors[0] <= factors[1] <= 1.0
    assert all(factor >= harvest.LEAST and np.log2(factor).is_integer() for factor in factors)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 50)), max_size=30))
def test_a_factor_changes_at_most_once_per_doubling_of_visits(steps: list[tuple[float, float]]) -> None:
    state, visits = None, 1.0
    changes: list[float] = []
    for mean, more in steps:
        visits += more
        after = harvest.settled_factor(mean, visits, state)
        if state is not None and after[0] != state[0]:
            changes.append(visits)
        state = after
    assert all(later >= 2.0 * earlier for earlier, later in itertools.pairwise(changes))


# ---------------------------------------------------------------------- what was met before


def sketched(*texts: str) -> tuple[list[int], int]:
    made = shingles.sketch(masked(Words.of(EDGE.join(texts))))
    assert made is not None
    return made.keys.tolist(), made.count


class Writer:
    """Texts of invented words, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._words = [a + b for a in "bdfgklmnprst" for b in ("ane", "elo", "ust", "imra", "argo", "ently", "sora")]
        self.template = [self.text(4) for _ in range(10)]

    def text(self, words: int) -> str:
        return " ".join(self._dice.choice(self._words) for _ in range(words))

    def visit(self, url: str, *texts: str) -> FirstVisit:
        return FirstVisit(f"http://s.example{url}", sketched(*self.template, *texts))


@pytest.mark.parametrize("words", [12, 60, 900])
@pytest.mark.parametrize("seed", range(3))
def test_copies_are_told_from_pages_of_their_own_however_long(words: int, seed: int) -> None:
    write = Writer(seed)
    site = Site.unknown()
    texts = [write.text(words) for _ in range(40)]
    for number, text in enumerate(texts):
        site, _ = site.after([write.visit(f"/p/{number}", text)], 200)
        site, _ = site.after([write.visit(f"/p/{number}/print", text)], 200)
    assert site.sections.factor("http://s.example/p/77/print") <= 0.25
    assert site.sections.factor("http://s.example/p/77") == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_few_words_in_a_template_are_no_copy(seed: int) -> None:
    write = Writer(seed)
    site = Site.unknown()
    for number in range(60):
        own = write.text(12 if number % 2 else 300)
        site, _ = site.after([write.visit(f"/{'image' if number % 2 else 'page'}/{number}", own)], 200)
    assert all(section.factor == 1.0 for section in site.sections.by_pattern.values())


@pytest.mark.parametrize("seed", range(3))
def test_one_text_under_many_urls_brings_nothing(seed: int) -> None:
    write = Writer(seed)
    site = Site.unknown()
    missing = write.text(15)
    for number in range(60):
        text = missing if number % 2 else write.text(100)
        site, _ = site.after([write.visit(f"/{'old' if number % 2 else 'page'}/{number}", text)], 200)
    assert site.sections.factor("http://s.example/old/1000") <= 0.25
    assert site.sections.factor("http://s.example/page/1000") == 1.0


def test_a_site_is_kept_and_bounded() -> None:
    write = Writer(1)
    site = Site.unknown()
    for number in range(MOST_VISITS + 100):
        site, [(share, _)] = site.after([write.visit(f"/{number % 7}/{number}?a{number}={number}", write.text(60))], 20)
        assert share is not None
    data = (site.known.text(), site.evidence(), site.sections.text())
    assert len(data[0]) <= LARGEST
    assert len(site.visits) == MOST_VISITS
    again = Site.read(*data)
    assert (again.known.text(), again.evidence(), again.sections.text()) == data
    assert again.seen == MOST_VISITS + 100


@pytest.mark.parametrize("data", ["", "x", "eJwDAAAAAAE="])
def test_what_is_no_sample_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match="not"):
        HostSample.read(data)
    with pytest.raises(ValueError, match="not"):
        Sections.read("[1]")


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sets(st.integers(0, 2**32 - 1), min_size=1, max_size=400), max_size=30))
def test_a_sample_tells_amounts_and_stays_consistent(pages: list[set[int]]) -> None:
    known = HostSample.nothing()
    for hashes in pages:
        keys = np.array(sorted(hashes)[: shingles.MOST], dtype=np.uint32)
        first = known.brought(keys, len(hashes))
        assert 0.0 <= first.brought <= 1.0
        assert 0.0 <= first.weight <= 1.0
        known.add(keys, len(hashes))
        again = known.brought(keys, len(hashes))
        assert again.brought == 0.0
    assert HostSample.read(known.text()).text() == known.text()
    assert HostSample.read(known.text().replace("3:", "4:", 1)).text() == HostSample.nothing().text()
    assert known.pages == len(pages)


@pytest.mark.parametrize("template", [0, 40, 400])
@pytest.mark.parametrize("own", [0, 2, 8, 40])
def test_what_a_page_brings_depends_on_the_amount_of_its_own_text_and_not_on_that_of_its_template(
    own: int, template: int
) -> None:
    dice = random.Random(own)
    shared = [dice.getrandbits(32) for _ in range(template)]
    known, brought = HostSample.nothing(), list[float]()
    for number in range(30):
        hashes = {*shared, *(dice.getrandbits(32) for _ in range(own))}
        if not hashes:
            return
        keys = np.array(sorted(hashes)[: shingles.MOST], dtype=np.uint32)
        brought += [known.brought(keys, len(hashes)).brought] if number > 2 else []
        known.add(keys, len(hashes))
    mean = sum(brought) / len(brought)
    assert mean <= 0.2 if own <= 2 else mean >= 0.7


def test_a_page_brings_its_text_once_though_a_list_has_shown_it_and_a_copy_brings_nothing() -> None:
    dice = random.Random(1)
    texts = [{dice.getrandbits(32) for _ in range(20)} for _ in range(30)]
    known = HostSample.nothing()

    def brought(hashes: set[int]) -> float:
        keys = np.array(sorted(hashes)[: shingles.MOST], dtype=np.uint32)
        shown = known.brought(keys, len(hashes))
        known.add(keys, len(hashes))
        return shown.brought

    assert brought(set().union(*texts[:12])) > 0.99, "a list shows the whole texts of twelve pages"
    assert all(brought(text) > 0.9 for text in texts[:12])
    assert all(brought(text) == 0.0 for text in texts[:12]), "copies"
    assert all(brought(set().union(*dice.sample(texts[:12], 5))) == 0.0 for _ in range(10)), "facets"


@pytest.mark.parametrize("own", [0, 8, 60])
def test_a_small_sample_condemns_no_page_for_what_it_does_not_show(own: int) -> None:
    """On a host of so many texts that a page of few words is seldom in the sample at all."""
    dice = random.Random(own)
    known = HostSample.nothing()
    for _ in range(1_500):
        known.add(np.array(sorted(dice.getrandbits(32) for _ in range(250)), dtype=np.uint32), 250)
    brought = weight = 0.0
    shared = [dice.getrandbits(32) for _ in range(100)]
    for number in range(400):
        keys = np.array(sorted({*shared, *(dice.getrandbits(32) for _ in range(own))}), dtype=np.uint32)
        shown = known.brought(keys, len(keys))
        known.add(keys, len(keys))
        if number:
            brought, weight = brought + shown.weight * shown.brought, weight + shown.weight
    assert brought <= 0.05 * weight if not own else brought >= 0.45 * weight


def test_a_sample_does_not_grow_beyond_its_bound() -> None:
    dice = np.random.default_rng(1)
    known = HostSample.nothing()
    for _ in range(300):
        keys = np.unique(dice.integers(0, 2**32, 256, dtype=np.uint32))
        known.add(keys, len(keys))
    assert len(known.text()) <= LARGEST
    assert len(known._keys) <= MOST
    assert known.pages == 300


def test_a_test_is_a_question_about_the_url() -> None:
    shape = shape_of("http://s.example/shop/12/a/shop/print?color=red&page=7")
    for yes in (
        ShapeQuestion("step", 0, "shop"),
        ShapeQuestion("kind", 1, "number"),
        ShapeQuestion("last", 0, "print"),
        ShapeQuestion("repeats", 0),
        ShapeQuestion("steps", 4),
        ShapeQuestion("arguments", 1),
        ShapeQuestion("argument", 0, "color"),
        ShapeQuestion("value", 0, "color", "red"),
        ShapeQuestion("value", 0, "page", "{number}"),
    ):
        assert yes.holds(shape), yes
    for no in (
        ShapeQuestion("step", 0, "a"),
        ShapeQuestion("steps", 5),
        ShapeQuestion("value", 0, "page", "7"),
        ShapeQuestion("argument", 0, "size"),
    ):
        assert not no.holds(shape), no


def test_arguments_of_steps_and_endings_are_parts_of_an_address() -> None:
    shape = shape_of("http://s.example/shop;kx=a1b2/chair.html.amp;view=all?page=7")
    for yes in (
        ShapeQuestion("step", 0, "shop"),
        ShapeQuestion("argument", 0, "kx"),
        ShapeQuestion("value", 0, "view", "all"),
        ShapeQuestion("argument", 0, "page"),
        ShapeQuestion("last", 0, "*.amp"),
    ):
        assert yes.holds(shape), yes
        assert read_question(str(yes)) == yes
    assert not ShapeQuestion("last", 0, "*.5").holds(shape_of("http://s.example/version/1.5"))


def test_a_copy_in_a_section_at_the_least_factor_waits_behind_the_others_of_the_section() -> None:
    """As on a site of many versions of one text, which is also there under www."""
    section = ActingSection(tree.ONE.section_of("https://a.example/"), harvest.LEAST, 0.0)
    copies = Copies(40, {"": {CopyRule("www"): (0.25, 40.0)}}, based=frozenset({CopyRule("www")}))
    sections = Sections(by_pattern={"": section}, copies=copies)
    assert sections.factor("https://a.example/1") == harvest.LEAST
    assert sections.factor("https://www.a.example/1") == harvest.LEAST / 4
    assert sections.plainer("https://www.a.example/1") == [("https://a.example/1", harvest.LEAST / 4)]
