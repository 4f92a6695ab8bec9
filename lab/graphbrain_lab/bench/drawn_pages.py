"""Pages drawn from a seed, with edits and noise. The same seed gives the same pages.

A page is a sequence of blocks of HTML. An edit is the HTML at a place before and after it. Noise is HTML at a place
that is drawn anew at each visit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

__all__ = ["EDITS", "NOISES", "SEQUENCES", "Drawn", "drawn_section"]

_SYLLABLES = [
    one + two
    for one in ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z")
    for two in ("a", "e", "i", "o", "u", "al", "en", "ir", "os", "un")
]
_CURRENCIES = ("{} €", "€{}", "${}", "{} zł", "{} Kč", "CHF {}", "£{}", "{} kr", "₹{}", "R$ {}", "{} ₽", "{} лв")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "December")
_STATES = ("ordered", "packed", "sent", "waiting", "delivered", "returned", "cancelled", "open", "closed", "failed")
_SIGNS = "✅❌★☆▲▼⚠●○↑↓♥"
_KANJI = [chr(0x4E00 + 37 * n) for n in range(400)]

Edit = tuple[str, str]
Noise = Callable[[int], str]


class Drawn:
    """A page, and draws for its edits and noise.

    Args:
        seed: The seed of the dice.
        blocks: The number of blocks.
    """

    def __init__(self, seed: int, blocks: int) -> None:
        self.dice = random.Random(f"{seed} {blocks}")
        self.blocks = [self._block() for _ in range(blocks)]

    def words(self, least: int, most: int) -> str:
        """Return some words, from `least` to `most`."""
        dice = self.dice
        return " ".join(
            "".join(dice.choice(_SYLLABLES) for _ in range(dice.randint(1, 4)))
            for _ in range(dice.randint(least, most))
        )

    def body(self, *put: tuple[int, str], blocks: Sequence[str] | None = None) -> bytes:
        """Return the page with the HTML of `put` inserted, each before the block of its number."""
        shown = list(self.blocks if blocks is None else blocks)
        for at, html in sorted(put, reverse=True):
            shown.insert(min(at, len(shown)), html)
        text = "".join(shown)
        return f"<html><head><title>{self.blocks[0][:20]}</title></head><body>{text}</body></html>".encode()

    def at(self) -> int:
        """Return a place between blocks."""
        return self.dice.randrange(len(self.blocks) + 1)

    def _block(self) -> str:
        dice = self.dice
        kind = dice.choice(["p", "p", "p", "li", "li", "tr", "h2"])
        if kind == "tr":
            return f"<table><tr><td>{self.words(1, 3)}</td><td>{dice.randrange(1000)}</td></tr></table>"
        return f"<{kind}>{self.words(*((2, 6) if kind == 'h2' else (3, 60)))}.</{kind}>"

    def amount(self) -> str:
        """Return an amount, in one of many spellings."""
        dice = self.dice
        return (
            dice.choice(["{:.2f}", "{:,.2f}", "{:.0f}", "{:,.0f}"])
            .format(dice.uniform(1, 20_000))
            .replace(",", dice.choice([",", ".", "\u202f", "'"]))
        )

    def day(self) -> str:
        """Return a date, in one of many spellings."""
        dice = self.dice
        day, month, year = dice.randrange(1, 29), dice.randrange(len(_MONTHS)), dice.randrange(2020, 2030)
        return dice.choice(
            [f"{year}-{month + 1:02}-{day:02}", f"{day} {_MONTHS[month]} {year}", f"{day}.{month + 1}.{year}"]
        )

    def two(self, draw: Callable[[], str]) -> Edit:
        """Return two draws that differ."""
        one = other = draw()
        while other == one:
            other = draw()
        return one, other


def drawn_section(seed: int, pages: int, blocks: int) -> tuple[list[Drawn], list[int]]:
    """Return pages of one template, and places for noise, as numbers of blocks of any of them.

    A template has a menu, headings and a foot, which are the same on all pages. Between them each page has its own
    blocks. One in five places is between two own blocks of a page.
    """
    # Draw the parts of the template.
    template = Drawn(seed, 0)
    dice = template.dice
    own = [dice.randint(1, max(1, blocks // 2)) for _ in range(3)]
    menu = [f"<li>{template.words(1, 2)}</li>" for _ in range(dice.randint(2, 6))]
    heads = [f"<h2>{template.words(1, 3)}</h2>" for _ in own]
    foot = [f"<p>{template.words(3, 20)}</p>" for _ in range(dice.randint(1, 4))]
    # Find the places beside and between own blocks.
    beside, between, at = [len(menu)], list[int](), len(menu)
    for count in own:
        beside += [at + 1, at + 1 + count]
        between += range(at + 2, at + 1 + count)
        at += 1 + count
    beside += [at + len(foot)]
    # Put the blocks of each page into the template.
    drawn = [Drawn(1_000 * seed + number, sum(own)) for number in range(pages)]
    for page in drawn:
        theirs = iter(page.blocks)
        page.blocks = menu + [block for head, count in zip(heads, own, strict=True)
                              for block in (head, *(next(theirs) for _ in range(count)))] + foot  # fmt: skip
    dice.shuffle(beside)
    dice.shuffle(between)
    return drawn, [*beside[:4], *between[:1]]


# ---------------------------------------------------------------------- edits: the HTML at a place, before and after


def _labelled(draw: Callable[[Drawn], str]) -> Callable[[Drawn], Edit]:
    def edit(page: Drawn) -> Edit:
        form = page.dice.choice(["<p>{0}: {1}</p>", "<table><tr><td>{0}</td><td>{1}</td></tr></table>",
                                 "<div>{0} <b>{1}</b> {2}</div>", "<div>{1}</div>"])  # fmt: skip
        label, tail = page.words(1, 3), page.words(1, 4)
        one, other = page.two(lambda: draw(page))
        return form.format(label, one, tail), form.format(label, other, tail)

    return edit


def _price(page: Drawn) -> Edit:
    form = page.dice.choice(["<p>{}</p>", "<span>{}</span> <i>{}</i>", "<div>{}</div>", "<bdi>{}</bdi>"])
    currency = page.dice.choice(_CURRENCIES)
    if page.dice.random() < 0.3:
        currency = currency.format("<span>{}</span>")
    one, other = page.two(page.amount)
    return form.format(currency.format(one), "x"), form.format(currency.format(other), "x")


def _ranking(page: Drawn) -> Edit:
    rows = [f"<li>{page.words(1, 4)}</li>" for _ in range(page.dice.randint(3, 10))]
    other = rows[:]
    while other == rows:
        if page.dice.random() < 0.5:
            page.dice.shuffle(other)
        else:
            at = page.dice.randrange(len(other) - 1)
            other[at], other[at + 1] = other[at + 1], other[at]
    return f"<ol>{''.join(rows)}</ol>", f"<ol>{''.join(other)}</ol>"


def _word(page: Drawn) -> Edit:
    words = page.words(8, 120).split()
    other = words[:]
    other[page.dice.randrange(len(words))] = page.words(1, 1) + "x"
    return f"<p>{' '.join(words)}</p>", f"<p>{' '.join(other)}</p>"


def _negation(page: Drawn) -> Edit:
    words = page.words(8, 60).split()
    at = page.dice.randrange(len(words))
    return f"<p>{' '.join(words)}</p>", f"<p>{' '.join([*words[:at], 'not', *words[at:]])}</p>"


def _clause(page: Drawn) -> Edit:
    def clause() -> str:
        return "".join(page.dice.choice(_KANJI) for _ in range(page.dice.randint(4, 12)))

    head = f"{page.dice.randrange(2000, 2030)}年の"
    one, other = page.two(clause)
    return f"<p>{head}{one}。</p>", f"<p>{head}{other}。</p>"


def _sign(page: Drawn) -> Edit:
    if page.dice.random() < 0.3:
        word = page.words(1, 1)
        one, other = page.two(lambda: word + page.dice.choice(["", "+", "++", "#"]))
    else:
        one, other = page.two(lambda: page.dice.choice(_SIGNS) * page.dice.randint(1, 5))
    label = page.words(1, 3)
    return f"<p>{label}: {one}</p>", f"<p>{label}: {other}</p>"


def _paragraph(page: Drawn) -> Edit:
    words = f"<p>{page.words(20, 20)}</p>"
    return ("", words) if page.dice.random() < 0.5 else (words, "")


def _row(page: Drawn) -> Edit:
    rows = [f"<li>{page.words(1, 6)}</li>" for _ in range(page.dice.randint(3, 12))]
    other = rows[:]
    del other[page.dice.randrange(len(rows))]
    return f"<ul>{''.join(rows)}</ul>", f"<ul>{''.join(other)}</ul>"


def _number(page: Drawn) -> str:
    return str(page.dice.randrange(10 ** page.dice.randint(1, 5)))


EDITS: dict[str, Callable[[Drawn], Edit]] = {
    "paragraph of 20 words": _paragraph,
    "one word of a paragraph": _word,
    "a negation": _negation,
    "heading": lambda page: tuple(f"<h2>{text}</h2>" for text in page.two(lambda: page.words(1, 6))),  # type: ignore[return-value,dict-item]
    "row more or less": _row,
    "price": _price,
    "number": _labelled(_number),
    "version": _labelled(lambda page: ".".join(str(page.dice.randrange(30)) for _ in range(3))),
    "date": _labelled(Drawn.day),
    "hours": _labelled(lambda page: f"{page.dice.randrange(6, 12)}:00–{page.dice.randrange(15, 23)}:30"),
    "percent": _labelled(lambda page: f"{page.dice.randrange(100)} %"),
    "score": _labelled(lambda page: f"{page.dice.randrange(6)}:{page.dice.randrange(6)}"),
    "status": _labelled(lambda page: page.dice.choice(_STATES)),
    "ranking": _ranking,
    "sign": _sign,
    "clause with a digit": _clause,
}
"""Name of an edit → a function that draws the HTML at its place before and after."""


SEQUENCES: dict[str, Callable[[Drawn], list[str]]] = {
    "status": lambda page: [f"<p>{state}</p>" for state in _under(page, page.dice.sample(_STATES, 6))],
    "price": lambda page: [f"<p>{price}</p>" for price in _under(page, [f"{page.amount()} €" for _ in range(6)])],
    "news": lambda page: _news(page),
}
"""Name of a sequence of changes → a function that draws the HTML at one place at six visits."""


def _under(page: Drawn, values: Sequence[str]) -> list[str]:
    label = page.words(1, 2)
    return [f"{label}: {value}" for value in values]


def _news(page: Drawn) -> list[str]:
    items = [f"<li>{page.words(5, 14)}</li>" for _ in range(12)]
    return [f"<ul>{''.join(items[at : at + 6])}</ul>" for at in range(6, 0, -1)]


# ---------------------------------------------------------------------- noise: the HTML at a place at each visit


def _related(page: Drawn) -> Noise:
    items = [f"<li>{page.words(3, 8)}</li>" for _ in range(12)]
    return lambda _: f"<ul>{''.join(page.dice.sample(items, 8))}</ul>"


def _order(page: Drawn) -> Noise:
    items = [f"<li>{page.words(3, 8)}</li>" for _ in range(10)]
    return lambda _: f"<ul>{''.join(page.dice.sample(items, 10))}</ul>"


def _banner(share: float) -> Callable[[Drawn], Noise]:
    def banner(page: Drawn) -> Noise:
        text = f"<div>{page.words(4, 12)}</div>"
        return lambda visit: text if (visit % 2 if share == 1 else page.dice.random() < share) else ""

    return banner


def _counter(page: Drawn) -> Noise:
    start, form = page.dice.randrange(10**5), page.dice.choice(["<p>{:,} {}</p>", "<p>{1}: {0}</p>"])
    label = page.words(1, 3)
    return lambda visit: form.format(start + 17 * visit * page.dice.randint(1, 5), label)


def _quotation(page: Drawn) -> Noise:
    said = [f"<blockquote>{page.words(5, 30)}</blockquote>" for _ in range(4)]
    return lambda _: page.dice.choice(said)


def _each(draw: Callable[[Drawn], str]) -> Callable[[Drawn], Noise]:
    return lambda page: lambda _: draw(page)


NOISES: dict[str, Callable[[Drawn], Noise]] = {
    "time to the second": _each(
        lambda page: f"<p>It is 08:{page.dice.randrange(60):02}:{page.dice.randrange(60):02}</p>"
    ),
    "token": _each(lambda page: f"<p>Request {page.dice.randrange(16**32):032x}</p>"),
    "date": lambda page: lambda visit: f"<p>Today: {page.dice.choice(_MONTHS)} {1 + visit}, 2026</p>",
    "counter": _counter,
    "advertisement": _each(lambda page: f"<div>{page.words(4, 30)}</div>"),
    "advertisement with a price": _each(lambda page: f"<div>{page.words(3, 9)} {page.amount()} €</div>"),
    "quotation of four": _quotation,
    "banner each 2nd visit": _banner(1),
    "banner of one half": _banner(0.5),
    "8 of 12 links": _related,
    "order of a list": _order,
}
"""Kind of noise → a function that draws it: from the number of a visit to the HTML at one place."""
