"""Which edits of a page its blocks show, whatever its length, and what stops counting because it changes every time."""

from __future__ import annotations

import random

import pytest

from graphbrain.base.errors import BadInput
from graphbrain.schedule import blocks
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
        assert len(taken.kept) <= LARGEST_SKETCH <= 260
        assert taken == step.__wrapped__(kept, made)
        kept = taken.kept
        found.append(bool(taken.changed))
    return found[1:]


def keys_of(*texts: str) -> set[int]:
    made = read(cut(texts) or "")
    assert made is not None
    return set(made["key"].tolist())


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
    assert visits(texts, texts[:-1], texts) == [True, True]


@LENGTHS
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Last modified: 21 November 2026", "Last modified: Tue, 1 December 2026"),
        ("Updated 2026-11-21T10:32:11Z by Ada", "Updated 2026-12-01T09:00:00Z by Ada"),
        ("Posted 3 hours ago", "Posted 2 days ago"),
        ("Am 21. März 2026 um 10:32 Uhr", "Am 2. Juni 2026 um 09:15 Uhr"),
        ("1,204 visitors", "1,204,331 visitors"),
        ("Request 9f3b2c77a0de41bb", "Request 04c7aa1bd9e25f30"),
        ("Session 550e8400-e29b-41d4-a716-446655440000", "Session 6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
        ("Monday", "Tuesday"),
    ],
)
def test_dates_counters_and_tokens_do_not_count(paragraphs: int, one: str, other: str) -> None:
    texts = page(random.Random(2), paragraphs)
    assert visits([one, *texts], [other, *texts], [one, *texts]) == [False, False]


@LENGTHS
@pytest.mark.parametrize(
    ("one", "other"),
    [("Only $19.99", "Only $17.99"), ("19,99 €", "21 €"), ("EUR 20", "EUR 25"), ("¥1,200", "¥900"), ("99kr", "89kr")],
)
def test_a_price_counts_each_time_that_it_changes(paragraphs: int, one: str, other: str) -> None:
    texts = page(random.Random(3), paragraphs)
    head = "A chair of ash wood, "
    pages = [[*texts, head + price] for price in (one, other, one, other, other)]
    assert visits(*pages) == [True, True, True, False]


@LENGTHS
@pytest.mark.parametrize("rotating", [1, 3])
def test_what_changes_at_every_visit_stops_counting(paragraphs: int, rotating: int) -> None:
    """From the third visit on; and an edit beside it is still seen, also where it is next to it."""
    for seed in range(10 if paragraphs < 100 else 2):
        dice = random.Random(seed)
        texts = page(dice, paragraphs + 8)
        at = dice.randrange(len(texts))

        def shown(texts: list[str], at: int = at, dice: random.Random = dice) -> list[str]:
            return [*texts[:at], *(prose(dice, dice.randrange(5, 15)) for _ in range(rotating)), *texts[at:]]

        found = visits(*(shown(texts) for _ in range(8)))
        assert found == [True] + [False] * 6
        edits = [0, len(texts) - 1, at, max(at - 1, 0)]
        for edit in edits:
            edited = [*texts[:edit], prose(dice, 20), *texts[edit:]]
            assert visits(*(shown(texts) for _ in range(4)), shown(edited))[-1], edit


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
    still = [shown[-1]] * blocks.QUIET
    last = [*texts[:9], prose(dice, 12), *texts[9:]]
    assert visits(*shown, *still, last) == [True, False, False, *[False] * blocks.QUIET, True]


def test_one_change_is_not_followed_by_deafness() -> None:
    dice = random.Random(6)
    texts = page(dice, 20)
    one, two = ([*texts[:9], prose(dice, 30), *texts[9:]] for _ in range(2))
    assert visits(texts, one, one, two, two, texts) == [True, False, True, False, True]


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


def test_without_words_there_are_no_blocks() -> None:
    assert cut([]) is None
    assert cut(["", " – ", "!"]) is None


@pytest.mark.parametrize("text", ["nonsense!", "none", "AAA", "2;AAAA", "2;!", "x;AAAAAAA=", "Grüße"])
def test_what_is_no_list_of_blocks_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="blocks must be"):
        read(text)


def test_what_another_version_has_kept_is_begun_anew() -> None:
    made = cut([prose(random.Random(1), 40)])
    assert made is not None
    first = step(None, made)
    assert first.changed is None
    of_version_1 = "1:" + (first.kept or "").removeprefix("2:")
    assert all(step(kept, made) == first for kept in (of_version_1, "2:AAAA", "3:AAAA", "1:!", "AAAAAAA="))


@pytest.mark.parametrize("other", ["AAAAAAA=", "1;AAAAAAA=", "3;AAAAAAA="])
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
    assert step(step(None, made).kept, other).changed
