"""What the second visits of a section's pages tell of the next one; and that it stays bounded."""

from __future__ import annotations

import random

import pytest

from graphbrain.schedule.blocks import cut, step
from graphbrain.schedule.section_noise import LARGEST, HostNoise, probability_of

URL = "https://shop.example/items/{}"


def page(number: int, visit: int, shown: str = "advertisement", edit: str = "", own: int = 4) -> list[str]:
    """A page of a template, with one block that differs by page and visit."""
    dice = random.Random(f"{number} {visit} {shown}")
    words = " ".join("".join(dice.sample("abcdefghik", 5)) for _ in range(9))
    noise = {
        "advertisement": words,
        "counter": f"{dice.randrange(10**6)} visitors",
        "price": f"{dice.randrange(10**6)} €",
    }
    texts = [f"text {text} of {number}" for text in range(own)]
    return [
        "Menu",
        "Home",
        f"Title {number}",
        "About it",
        *texts,
        *([edit] if edit else []),
        "See also",
        noise[shown],
        "Foot",
    ]


def second_visits(pages: int, shown: str, own: int = 4, known: HostNoise | None = None) -> tuple[HostNoise, list[bool]]:
    known, found = known or HostNoise(), []
    for number in range(pages):
        url = URL.format(number)
        taken = step(cut(page(number, 0, shown, own=own)), cut(page(number, 1, shown, own=own)) or "")
        found.append((probability_of(taken, known.of(url)) or 0.0) > 0.5)
        known = HostNoise.read(known.after(url, taken).text())
    return known, found


@pytest.mark.parametrize("own", [4, 300])
@pytest.mark.parametrize(("shown", "changes"), [("advertisement", 1), ("counter", 2), ("price", 12)])
def test_what_differs_on_all_pages_is_noise_from_some_page_on_but_no_value(shown: str, changes: int, own: int) -> None:
    found = second_visits(12, shown, own)[1]
    assert found[:changes] == [True] * changes
    if own < 100:
        assert not any(found[changes:])
    else:  # of a long page only a group of blocks is known to differ, on some pages a large one
        assert shown == "price" or not any(found[-3:])


def test_an_edit_beside_the_noise_of_the_section_is_seen() -> None:
    known, _ = second_visits(12, "advertisement")
    for edit in ("a new paragraph of its own", "In stock: 5"):
        for number in (50, 51):
            taken = step(cut(page(number, 0)), cut(page(number, 1, edit=edit)) or "")
            assert probability_of(taken, known.of(URL.format(number))) == taken.probability > 0.5
            known = known.after(URL.format(number), taken)


def test_a_value_beside_the_noise_of_the_section_is_seen() -> None:
    known, _ = second_visits(12, "advertisement")
    old, new = page(50, 0), page(50, 1)
    old[-3:-3], new[-3:-3] = ["12,50 €"], ["13,50 €"]  # one block before the advertisement
    taken = step(cut(old), cut(new) or "")
    assert (probability_of(taken, known.of(URL.format(50))) or 0.0) > 0.9


def test_a_banner_on_one_page_of_two_is_noise_and_an_edit_of_one_in_five_is_not() -> None:
    for every, expected in ((2, False), (5, True)):
        known = HostNoise()
        for number in range(21):
            old = page(number, 0, "price")
            new = [*old[:-3], f"text {number}", *old[-3:]] if number % every == 0 else old
            taken = step(cut(old), cut(new) or "")
            if number == 20:
                assert ((probability_of(taken, known.of(URL.format(number))) or 0.0) > 0.5) is expected
            known = known.after(URL.format(number), taken)


def test_what_differs_on_few_pages_is_no_noise() -> None:
    known = HostNoise()
    for number in range(30):
        edit = "" if number % 5 else "text"
        old, new = page(number, 0, "price"), page(number, 0, "price", edit=edit and f"edit of {number}")
        taken = step(cut(old), cut(new) or "")
        assert (probability_of(taken, known.of(URL.format(number))) > 0.5) == bool(edit)  # type: ignore[operator]
        known = known.after(URL.format(number), taken)


def test_another_section_and_another_host_know_nothing_of_it() -> None:
    known, _ = second_visits(12, "advertisement")
    taken = step(cut(page(70, 0)), cut(page(70, 1)) or "")
    alike = (URL.format(70), "https://shop.example/items/a-name")
    others = ("https://shop.example/news/70", "https://shop.example/items/70.html", "https://shop.example/items/?id=7")
    assert [probability_of(taken, known.of(url)) == taken.probability for url in (*alike, *others)] == [False] * 2 + [
        True
    ] * 3


def test_another_page_at_the_same_address_shows_nothing() -> None:
    known, _ = second_visits(3, "advertisement")
    taken = step(cut(page(1, 0)), cut(["all of it", "is new text"]) or "")
    assert known.after(URL.format(1), taken) == known
    assert probability_of(taken, known.of(URL.format(1))) == 1.0


def test_whatever_pages_do_it_stays_bounded() -> None:
    dice, known = random.Random(1), HostNoise()
    for number in range(700):
        old = [f"block {dice.randrange(50)}" for _ in range(30)]
        new = [text if dice.random() < 0.8 else f"new {dice.random()}" for text in old]
        url = f"https://shop.example/{'abcdefghijk'[number % 11] if number < 300 else 'a'}/{number}"
        known = known.after(url, step(cut(old), cut(new) or ""))
        assert len(known.text()) <= LARGEST
        assert HostNoise.read(known.text()) == known


@pytest.mark.parametrize("text", [None, "2:AAAA", "4:AAAA"])
def test_of_none_and_of_another_version_nothing_is_known(text: str | None) -> None:
    assert HostNoise.read(text) == HostNoise()
