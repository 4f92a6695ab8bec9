"""Sites drawn from a grammar: structure × text × address × noise, each drawn by the seed.

Half of an honest site is an ordinary tree. The pages of the other half look like those that servers make up, but each
has new text. A trap is a tree whose server makes such pages up without new text. Both draw from the same addresses and
noises, so that an address alone is no sign of either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from random import Random
from string import Formatter, ascii_lowercase

from graphbrain.base.urls.normalization import normal
from graphbrain_lab.bench.traps import words
from graphbrain_lab.bench.traps.honest import Honest
from graphbrain_lab.bench.traps.site import Part, TrapNode, TrapPage, TrapSite

__all__ = ["DrawnHonest", "DrawnMixed", "DrawnTrap"]

ADDRESSES = (
    *("/{part}?{a}={x}&{b}={y}", "/{part}.php?{a}={n}", "/{part}/{a}-{x}/{b}-{y}"),
    *("/{part}/{n}", "/{part}/{n}/", "/{part}/{t}", "/{t}/{part}", "/{part};{a}={x};{b}={y}", "/{part}/{x}.{y}.html"),
    *("/{part}?{a}={t}", "/{part}?{a}=p{x}&{a}=q{y}", "/{x}/{part}/{y}/", "/{part}/{x}/{y}/{a}"),
)
"""Forms of addresses. `x` and `y`: two small numbers of a page; `n`: one number; `t`: a token. The names are drawn."""
TWINS = (
    *("{path}?{a}={t}", "{path};{a}={t}", "/{a}{path}", "{path}/{a}", "/{t}{path}", "{path}.{a}", "/{a}-{t}{path}"),
    *("/{w}{path}", "/{a}-{w}{path}"),
)
"""Forms of other addresses of a real page. `w`: a token that has only letters."""
FILLERS = ("cards", "nothing", "echo")
"""The texts of made-up pages: first paragraphs of real pages, an excuse, or an excuse that repeats the address."""
NOISES = ("none", "none", "count", "stamp", "token", "related")
SIDE, GRID = 20, 400
"""The first number of a made-up page is below `SIDE`, the second below `SIDE` or `GRID`. Pages without end have any
numbers."""
TOKENS = 1 << 48
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 1_200)]
"""Characters of texts in a script without spaces."""


class _Address:
    """One form of addresses: of pages with two small numbers, or of copies of pages."""

    def __init__(self, dice: Random, forms: Sequence[str] = ADDRESSES) -> None:
        self._names = dict(zip(("part", "a", "b"), words.name(dice, 3).split(), strict=True))
        path, mark, query = dice.choice(forms).partition("?")
        arguments = sorted(query.split("&"), key=lambda each: (self._names.get(each[1:2], ""), each))
        self.form = path + mark + "&".join(arguments)  # as in a normal form
        self._factor, self._offset = 2 * dice.getrandbits(46) + 1, dice.getrandbits(48)
        groups = {"x": r"\d+", "y": r"\d+", "n": r"\d+", "t": "[0-9a-f]{12}", "w": "[a-z]{12}", "path": "/.*"}
        pattern, met = "", set[str]()
        for text, name, _, _ in Formatter().parse(self.form):
            pattern += re.escape(text)
            if name in groups:
                pattern += f"(?P={name})" if name in met else f"(?P<{name}>{groups[name]})"
                met.add(name)
            elif name:
                pattern += re.escape(self._names[name])
        self._pattern = re.compile(pattern)

    def of(self, x: int, y: int) -> str:
        """Return the path of a page."""
        token = ((SIDE * GRID * x + y) * self._factor + self._offset) % TOKENS
        return self.form.format(x=x, y=y, n=1000 + GRID * x + y, t=f"{token:012x}", **self._names)

    def read(self, path: str) -> tuple[int, int] | None:
        """Return the numbers of the page with this path; None for a path of another form."""
        match = self._pattern.fullmatch(path)
        if match is None:
            return None
        given = match.groupdict()
        if "x" in given:
            return int(given["x"]), int(given["y"])
        if "n" in given:
            return divmod(int(given["n"]) - 1000, GRID)
        return divmod((int(given["t"], 16) - self._offset) * pow(self._factor, -1, TOKENS) % TOKENS, SIDE * GRID)

    def twin(self, path: str, dice: Random) -> str:
        """Return another address of a path, by a form of `TWINS`."""
        letters = "".join(dice.choices(ascii_lowercase, k=12))
        return self.form.format(path=path, t=f"{dice.randrange(TOKENS):012x}", w=letters, **self._names)

    def plain(self, path: str) -> str | None:
        """Return the path that this is another address of; None for a path of another form."""
        match = self._pattern.fullmatch(path)
        return match["path"] if match else None


def _noise(kind: str, dice: Random, name: str) -> tuple[Part, ...]:
    """Return a text that differs on each page, and is no content."""
    if kind == "count":
        return (Part(f"{name} has been read by {dice.randrange(10**6):,} visitors since it was opened."),)
    if kind == "stamp":
        day, hour, minute = dice.randint(1, 28), dice.randrange(24), dice.randrange(60)
        return (Part(f"Generated on 2026-03-{day:02} {hour}:{minute:02} for {name}."),)
    if kind == "token":
        return (Part(f"Request {dice.getrandbits(64):016x} of {name}."),)
    return ()


class _Noisy(TrapSite):
    """A site whose pages all have some noise."""

    noise = "none"

    def noisy(self, page: TrapPage | None, url: str) -> TrapPage | None:
        """Return the page with its noise."""
        if page is None or page.moved_to:
            return page
        dice = self.dice_of(f"noise {url}")
        more = list(_noise(self.noise, dice, self.menu[0][1] if self.menu else "page"))
        if self.noise == "related":
            near = dice.sample(sorted(self.nodes), min(5, len(self.nodes)))
            more += [Part(href=other, label=self.nodes[other].title) for other in near]
        return TrapPage(
            page.title, (*page.parts, *more), page.worth, page.repeats, page.canonical, page.language, page.moved_to
        )

    def page(self, url: str) -> TrapPage | None:
        return self.noisy(super().page(url), url)


class DrawnHonest(_Noisy, Honest):
    """A site that is half a tree. The other pages have a drawn form of address, structure and text."""

    structures = ("lists", "chain", "crosswise", "calendar")
    texts = ("long", "short", "caption", "table", "series", "terms", "quotes", "han", "code", "shown", "alike")

    def __init__(self, seed: int, size: int) -> None:
        dice = Random(f"drawn honest {seed}")
        self.structure, self.kind, self.noise = (dice.choice(each) for each in (self.structures, self.texts, NOISES))
        self.address = _Address(dice)
        self.terms = words.sentences(dice, dice.choice((60, 120, 240)))
        self.bodies: dict[str, tuple[Part, ...]] = {}
        super().__init__(seed, size)

    def __str__(self) -> str:
        return f"{self.structure}, {self.kind}, {self.address.form}, {self.noise}"

    def build(self, count: int) -> list[TrapNode]:
        lists = 0 if self.structure in ("chain", "crosswise") else max(1, count // 31)
        # Chains and crosswise links need no lists.
        items = [self._item(number) for number in range(count - lists)]
        if self.structure == "chain":
            self.chain(items)
            return items[:1]
        if self.structure == "crosswise":
            for node in items:
                near = self.dice.sample(items, min(6, len(items)))
                node.links += [(other.url, other.title) for other in near if other is not node]
            self.chain(items)
            return items[:2]
        # Otherwise lists name the items.
        pages = [self.add(f"/index/{number + 1}", f"Index {number + 1}", length=20) for number in range(lists)]
        for number, page in enumerate(pages):
            self.under(
                page, items[number::lists] if self.structure == "lists" else items[30 * number : 30 * number + 30]
            )
        if self.kind == "shown":  # the lists have the whole texts
            for page in pages:
                own = [url for url, _ in page.links if url in self.bodies]
                self.bodies[page.url] = tuple(part for url in own for part in self.bodies[url])
        self.chain(pages)
        return pages[:2]

    def _item(self, number: int) -> TrapNode:
        dice = self.dice_of(f"item {number}")
        node = self.add(self.address.of(number // SIDE, number % SIDE), self._title(number, dice))
        self.bodies[node.url] = tuple(Part(text) for text in self._texts(number, dice))
        return node

    def _title(self, number: int, dice: Random) -> str:
        return f"Number {number}" if self.kind in ("table", "series") else words.name(dice, 3)

    def _texts(self, number: int, dice: Random) -> Iterable[str]:
        # Each kind of page has its own kind of text.
        if self.kind == "long":
            return [words.sentences(dice, 60) for _ in range(3)]
        if self.kind == "short":
            return [words.sentences(dice, dice.randint(14, 30))]
        if self.kind == "caption":
            return [
                words.sentences(dice, dice.randint(7, 12)),
                "Taken in the year of the exhibition; all rights reserved.",
            ]
        if self.kind == "table":
            rows = ("population", "births", "deaths", "schools", "ships", "roads in use", "cattle", "marriages")
            return [f"{row} {dice.randrange(100, 10**6):,}" for row in rows]
        if self.kind == "series":
            return [f"{hour:02}:00 {dice.uniform(-9, 30):.1f} {dice.randrange(980, 1040)}" for hour in range(24)]
        if self.kind == "terms":
            return [words.sentences(dice, dice.randint(30, 70)), self.terms]
        if self.kind == "quotes":
            others = [words.sentences(self.dice_of(f"own {dice.randrange(number + 1)}"), 60) for _ in range(2)]
            return [words.sentences(self.dice_of(f"own {number}"), 60), *others]
        if self.kind == "han":
            return ["".join(dice.choices(HAN, k=dice.randint(60, 120))) + "。"]
        if self.kind == "shown":
            return [words.sentences(dice, 30)]
        if self.kind == "alike":
            return [words.sentences(self.dice_of(f"own {number // 3}"), 50), words.sentences(dice, 10)]
        names = [f"{words.name(dice, 1)}_{words.name(dice, 1)}" for _ in range(6)]
        return [f"{each}({words.name(dice, 1)}, {words.name(dice, 1)})" for each in names]

    def text(self, node: TrapNode) -> tuple[Part, ...]:
        return self.bodies.get(node.url) or super().text(node)


class _MadeUp(_Noisy):
    """A site whose server makes pages up. They have a drawn form of address, structure and text."""

    def arm(self, dice: Random, real: Sequence[TrapNode], lister: TrapNode) -> None:
        """Draw the form of the made-up pages. `lister`: the page that names the first of them."""
        self.scheme, self.filler = dice.choice(("crosswise", "endless", "twins", "missing")), dice.choice(FILLERS)
        self.invented = _Address(dice, TWINS if self.scheme == "twins" else ADDRESSES)
        self.each = dice.choice((10, 20, 40))
        self.excuse = words.sentences(dice, 40).split()
        self.items = [node.url for node in dice.sample(real[len(real) // 3 :], min(60, len(real) // 3))]
        self.lister = lister

    def _link(self, x: int, y: int) -> Part:
        return Part(href=self.invented.of(x, y), label=f"{x} {y}")

    def _twins(self, url: str, dice: Random) -> list[Part]:
        paths = [self.invented.twin(url.removeprefix(self.root), dice) for _ in range(3)]
        return [Part(href=self.root + path, label="another look") for path in paths]

    def lures(self, node: TrapNode, dice: Random) -> Sequence[Part]:
        if self.scheme == "twins":
            return self._twins(node.url, dice)
        if self.scheme == "missing":
            return [self._link(dice.randrange(SIDE), dice.randrange(GRID)) for _ in range(2)]
        return [self._link(dice.randrange(SIDE), dice.randrange(SIDE)) for _ in range(self.each)] * (
            node is self.lister
        )

    def strange(self, url: str) -> TrapPage | None:
        path = url.removeprefix(self.root)
        if self.scheme == "twins":
            plain = self.invented.plain(path)
            node = None if plain is None else self.nodes.get(normal(self.root + plain))
            if node is None:
                return None
            again = self._twins(node.url, self.dice_of(f"twins {url}"))
            return TrapPage(node.title, (*self.text(node), *self.links(node), *again), repeats=(node.url,))
        numbers = self.invented.read(path)
        if numbers is None:
            return None
        return TrapPage(" ".join(map(str, numbers)), tuple(self._parts(url, *numbers)), repeats=(self.lister.url,))

    def _parts(self, url: str, x: int, y: int) -> Iterable[Part]:
        dice = self.dice_of(f"page {x} {y}")
        if self.filler == "cards":
            yield from (self.card(item) for item in dice.sample(self.items, min(12, len(self.items))))
        elif self.filler == "echo":
            said = " ".join(re.findall(r"\w+", url.removeprefix(self.root)))
            yield Part(" ".join((*self.excuse[:9], said, *self.excuse[9:20], said, *self.excuse[20:])))
        else:
            yield Part(" ".join(self.excuse))
        if self.scheme == "endless":
            yield from (self._link(x + by, y) for by in (1, 2, 10))
            yield from (self._link(x, y + by) for by in (1, 2, 10))
        elif self.scheme == "missing":
            yield from (self._link(dice.randrange(SIDE), dice.randrange(GRID)) for _ in range(3))
        else:
            yield from (self._link(dice.randrange(SIDE), dice.randrange(SIDE)) for _ in range(self.each))


class DrawnTrap(_MadeUp):
    """A tree, and pages that the server makes up."""

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size, "drawntrap")
        dice = Random(f"drawn trap {seed}")
        self.noise = dice.choice(NOISES)
        nodes = self.tree(size)
        self.name_in_menu(nodes, nodes[1])
        self.arm(dice, nodes, nodes[1])

    def __str__(self) -> str:
        return f"{self.scheme}, {self.filler}, {self.invented.form}, {self.noise}"


class DrawnMixed(_MadeUp, DrawnHonest):
    """A site like `DrawnHonest` whose server makes pages up, too."""

    def __init__(self, seed: int, size: int) -> None:
        super().__init__(seed, size)
        real = [node for node in self.nodes.values() if node.url not in self.own]
        self.arm(Random(f"drawn mixed {seed}"), real, real[1])

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.scheme}, {self.filler}, {self.invented.form}"
