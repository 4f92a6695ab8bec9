"""Which edits of a page its blocks show, whatever its length, and what stops counting because it changes every time."""

from __future__ import annotations

import random

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.schedule.blocks import LARGEST_SKETCH, VisitStep, cut, read, step
from graphbrain.schedule.words import MOST_BLOCKS

WORDS = [
    a + b for a in ("ba", "do", "ki", "lu", "me", "po", "ru", "su") for b in ("nar", "tel", "vor", "wim", "zed", "gal")
]


def prose(dice: random.Random, words: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(words))


def page(dice: random.Random, paragraphs: int) -> list[str]:
    return [prose(dice, dice.randrange(4, 60)) for _ in range(paragraphs)]


def visits(*pages: list[str]) -> list[bool]:
    """Whether each visit after the first finds a change."""
    kept, found = None, []
    for texts in pages:
        made = cut(texts)
        assert made is not None
        taken = step(kept, made)
        assert taken.kept is not None
        assert len(taken.kept) <= LARGEST_SKETCH <= 860
        assert taken == step.__wrapped__(kept, made)
        assert taken.probability is None or 0.0 <= taken.probability <= 1.0
        kept = taken.kept
        found.append((taken.probability or 0.0) > 0.5)
    return found[1:]


def keys_of(*texts: str) -> set[int]:
    made = read(cut(texts) or "")
    assert made is not None
    return set(made["exact"].tolist())


LENGTHS = pytest.mark.parametrize("paragraphs", [3, 30, 1000])


@LENGTHS
def test_a_paragraph_more_or_less_is_seen_in_a_page_of_any_length(paragraphs: int) -> None:
    for seed in range(5):
        dice = random.Random(seed)
        texts = page(dice, paragraphs)
        at = dice.randrange(len(texts))
        more = [*texts[:at], prose(dice, 20), *texts[at:]]
        assert visits(texts, more, more, texts) == [True, False, True]


@LENGTHS
def test_a_row_that_is_like_others_counts(paragraphs: int) -> None:
    texts = [*page(random.Random(1), paragraphs), *["free"] * 7]
    assert visits(texts, texts[:-1], texts[:-1], texts) == [True, False, True]


NOISY = [
    ("It is 08:10:32", "It is 09:02:11"),
    ("Updated 2026-11-21T10:32:11Z by Ada", "Updated 2026-12-01T09:00:00Z by Ada"),
    ("Request 9f3b2c77a0de41bb", "Request 04c7aa1bd9e25f30"),
    ("Session 550e8400-e29b-41d4-a716-446655440000", "Session 6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
]
CONTENT = [
    ("Last modified: 21 November 2026", "Last modified: Tue, 1 December 2026"),
    ("Am 21. März 2026 um 10:32 Uhr", "Am 2. Juni 2026 um 09:15 Uhr"),
    ("1,204 visitors", "1,204,331 visitors"),
    ("Version 3.11.2", "Version 3.11.4"),
    ("open 9:00–17:00", "open 9:00–18:00"),
    ("In stock: 5", "In stock: 0"),
    ("12 990 €", "14 990 €"),
    ("1 299 Kč", "2 299 Kč"),
    ("Monday", "Tuesday"),
    ("Service: ✅", "Service: ❌"),
    ("★★★☆☆ of all", "★★☆☆☆ of all"),
    ("written in C++", "written in C"),
    ("it is 5 degrees", "it is -5 degrees"),
    ("2026年の新製品は東京で発売されます。", "2026年の新製品の発売は中止されます。"),
    ("he comes", "he comes not"),
]


@LENGTHS
@pytest.mark.parametrize(("one", "other"), NOISY)
def test_tokens_and_times_to_the_second_are_noise_until_more_is_known(paragraphs: int, one: str, other: str) -> None:
    texts = page(random.Random(2), paragraphs)
    assert visits([one, *texts], [other, *texts], [one, *texts]) == [False, False]


@LENGTHS
@pytest.mark.parametrize(("one", "other"), CONTENT)
def test_all_that_is_written_counts(paragraphs: int, one: str, other: str) -> None:
    texts = page(random.Random(2), paragraphs)
    assert visits([one, *texts], [other, *texts]) == [True]


@LENGTHS
def test_the_order_of_a_list_counts(paragraphs: int) -> None:
    texts = page(random.Random(3), paragraphs)
    assert visits(["anna", "berta", "carla", *texts], ["carla", "berta", "anna", *texts]) == [True]


@LENGTHS
@pytest.mark.parametrize(
    "values", [("ordered", "packed", "sent", "in customs", "delivered"), ("19.99 €", "18 €", "7.50 €")]
)
def test_a_value_behind_its_name_goes_on_counting(paragraphs: int, values: tuple[str, ...]) -> None:
    texts = page(random.Random(3), paragraphs)
    assert all(visits(*([*texts, f"It is: {value}"] for value in values)))


@LENGTHS
def test_a_banner_that_comes_and_goes_stops_counting(paragraphs: int) -> None:
    texts = page(random.Random(3), paragraphs)
    pages = [texts, [*texts[:2], "Get our app now and save on your first order", *texts[2:]]] * 4
    assert visits(*pages)[2:] == [False] * 5


@LENGTHS
def test_related_links_stop_counting(paragraphs: int) -> None:
    dice = random.Random(4)
    texts, links = page(dice, paragraphs + 6), [prose(dice, 5) for _ in range(12)]
    assert visits(*([*texts[:4], *dice.sample(links, 8), *texts[4:]] for _ in range(9)))[3:] == [False] * 5


@LENGTHS
@pytest.mark.parametrize("rotating", [1, 3])
def test_what_changes_at_every_visit_stops_counting(paragraphs: int, rotating: int) -> None:
    """From the third visit on; and an edit is still seen, also one next to it."""
    for seed in range(10 if paragraphs < 100 else 2):
        dice = random.Random(seed)
        texts = page(dice, paragraphs + 12)
        at = dice.randrange(len(texts))

        def shown(texts: list[str], at: int = at, dice: random.Random = dice) -> list[str]:
            return [*texts[:at], *(prose(dice, dice.randrange(5, 15)) for _ in range(rotating)), *texts[at:]]

        learned = 1
        found = visits(*(shown(texts) for _ in range(8)))
        assert found[0] and not any(found[learned:])
        edits = [0, len(texts) - 1, at, max(at - 1, 0)]
        for edit in edits:
            edited = [*texts[:edit], prose(dice, 20), *texts[edit:]]
            assert visits(*(shown(texts) for _ in range(learned + 3)), shown(edited))[-1], edit


def test_two_rotating_places_that_begin_at_different_visits() -> None:
    dice = random.Random(4)
    one, two, three = page(dice, 5), page(dice, 9), page(dice, 4)

    def shown(first: bool, second: bool) -> list[str]:
        return [*one, prose(dice, 9) if first else "calm", *two, prose(dice, 9) if second else "quiet", *three]

    pages = [shown(True, second) for second in (False, False, False, True, True, True, True)]
    assert visits(*pages) == [True, False, True, False, False, False]


def test_text_that_no_longer_changes_counts_again() -> None:
    dice = random.Random(5)
    texts = page(dice, 20)
    shown = [[*texts[:9], prose(dice, 12), *texts[9:]] for _ in range(4)]
    last = [*texts[:9], prose(dice, 12), *texts[9:]]
    assert visits(*shown, *[shown[-1]] * 4, last) == [True, False, False, *[False] * 4, True]


def test_one_change_is_not_followed_by_deafness() -> None:
    dice = random.Random(6)
    texts = page(dice, 20)
    one, two = ([*texts[:9], prose(dice, 30), *texts[9:]] for _ in range(2))
    assert visits(texts, one, one, two, two) == [True, False, True, False]


def test_a_list_that_grows_at_its_head_goes_on_changing() -> None:
    dice = random.Random(7)
    head, foot = page(dice, 3), page(dice, 10)
    news: list[str] = [prose(dice, 12) for _ in range(6)]
    pages = []
    for _ in range(6):
        news = [prose(dice, 12), *news[:5]]
        pages.append([*head, *news, *foot])
    assert all(visits(*pages))


def test_a_page_that_is_new_each_time_goes_on_changing() -> None:
    dice = random.Random(8)
    assert all(visits(*([*page(dice, 12), "the foot of the page"] for _ in range(5))))
    assert all(visits(*([prose(dice, 60), "the foot of the page"] for _ in range(5))))


def test_in_a_page_of_few_words_numbers_are_the_content() -> None:
    assert visits(["Temperature: 12"], ["Temperature: 13"]) == [True]


def test_long_text_without_marks_is_cut_where_its_own_words_say() -> None:
    dice = random.Random(9)
    words = prose(dice, 3000).split()
    more = [*words[:700], "zebra", *words[700:]]
    one, other = (keys_of(" ".join(text)) for text in (words, more))
    assert len(one) > 50
    assert len(one ^ other) <= 8


def edited(dice: random.Random, texts: list[str]) -> list[str]:
    """A page after any of the edits that a writer or a machine makes."""
    at = dice.randrange(len(texts) + 1)
    kind = dice.choice(["added", "removed", "value", "order", "cut", "repeated"])
    if kind == "added":
        return [*texts[:at], prose(dice, dice.randrange(1, 20)), *texts[at:]]
    if kind == "order":
        return dice.sample(texts, len(texts))
    if kind == "repeated":
        return [*texts[:at], *["free"] * dice.randrange(1, 150), *texts[at:]]
    if kind == "value":
        return [*texts[:at], f"It is {dice.randrange(99)} {dice.choice(['', '€', '08:11:12'])}", *texts[at + 1 :]]
    return (texts[:at] if kind == "cut" else texts[:at] + texts[at + 1 :]) or ["nothing"]


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_page_does_its_record_is_bounded_and_finds_no_change_in_the_same_page(seed: int) -> None:
    dice = random.Random(seed)
    texts, kept = page(dice, dice.choice([1, 5, 30, 90, 115, 400])), None
    for _ in range(15):
        for _ in range(dice.choice([0, 1, 1, 3, 20])):
            texts = edited(dice, texts)
        made = cut(texts)
        assert made is not None
        found = step(kept, made)
        kept = found.kept
        assert kept is not None and len(kept) <= LARGEST_SKETCH
        for again in (step(kept, made), step(made, made)):
            assert (again.probability, again.where) == (0.0, None)


def test_without_words_there_are_no_blocks() -> None:
    assert cut([]) is None
    assert cut(["", " – ", "!"]) is None


@pytest.mark.parametrize("text", ["nonsense!", "none", "AAAAAAA=", "AAA", "3;AAAA", "3;!", "x;AAAAAAA=", "Grüße"])
def test_what_is_no_list_of_blocks_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="blocks must be"):
        read(text)


def test_what_another_version_has_kept_is_begun_anew() -> None:
    made = cut([prose(random.Random(1), 40)])
    assert made is not None
    first = step(None, made)
    assert first.probability is None
    older = "2:" + (first.kept or "").removeprefix("3:")
    assert older != first.kept
    for kept in (older, "2:AAAA", "3:", "3:AAAA", "3:!", "4:AAAA", "AAAAAAA="):
        assert step(kept, made) == first, kept


@pytest.mark.parametrize("other", ["1;AAAAAAA=", "2;AAAAAAA=", "4;AAAAAAA="])
def test_blocks_of_another_version_show_nothing_and_are_not_kept(other: str) -> None:
    kept = step(None, cut([prose(random.Random(1), 40)]) or "").kept
    assert step(kept, other) == VisitStep(None, kept)
    assert step(None, other) == VisitStep(None, None)


def test_of_very_many_blocks_the_last_count_as_one() -> None:
    texts = [f"line{n} of" for n in range(MOST_BLOCKS + 500)]
    made, other = cut(texts), cut([*texts, "one more"])
    assert made is not None and other is not None
    found = read(made)
    assert found is not None
    assert MOST_BLOCKS < len(found) < MOST_BLOCKS + 500
    assert step(step(None, made).kept, other).probability > 0.5
