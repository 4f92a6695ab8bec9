"""The waiting pages that are expected to equal a fetched page, by what visits have taught of arguments and steps.

A rule predicts of two URLs that differ in one way alone that their pages are the same: by an argument, by a step of the
path, by upper and lower case, and so on. It is tried on the pages of a host that were visited last: of those that
differ in this way alone, how many have the same text? This is the learning of "different URLs with similar text" of
Bar-Yossef, Keidar and Schonfeld, "Do not crawl in the DUST" (WWW 2007), with the pages' contents in place of a guess by
logs. A rule holds in a section as far as it did there, and backs off to the host, as harvest does.
"""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

import numpy as np

from graphbrain.base.model import text_version
from graphbrain.base.urls.normalization import filled
from graphbrain.schedule.sections.harvest import posterior, settled_factor
from graphbrain.schedule.sections.shapes import LONGEST_WORD, NUMBER, TOKEN, ending_of
from graphbrain.schedule.sections.tree import CountedVisit

__all__ = [
    "COPY",
    "Content",
    "Copies",
    "CopyRule",
    "CopyTrial",
    "Equal",
    "Expectations",
    "UrlForm",
    "may_have_copies",
    "same",
]

LEAST_PAIRS = 3
"""The least number of pages that differ in one way alone from which a rule is judged."""
SURE = 0.75
"""A page is expected to equal another if so many of those did, as a posterior mean."""
BASED = 0.5
"""A page is expected to have a counterpart under its reduced URL if so many of those had, as a posterior mean. It only
waits behind pages that are as good or better, so more often than not is enough."""
MOST_RULES, MOST_BASES, MOST_ALIKE = 48, 2_000, 8
"""Rules that are tried, those first that the most pages have; URLs that are looked up for it; pages of one last step
that are compared for steps that replace each other."""
NEAR = 8
"""Bits in which the simhashes of two pages may differ that have one text, where one of them brought nothing: on the
sites of `bench traps` copies differ in up to 5, and pages of which one shows other products, posts or results in 13 or
more."""
MOST_MODELS, MODEL_BITS = 4_096, 24
"""Reduced URLs of fetched pages that are remembered, as numbers of so many bits."""
HOST = "*"
"""The key in place of the pattern of a section that was not there when copies were compared."""
COPY = 0.2
"""A page counts as a copy if it brought less."""
_INDEX = frozenset({"index.html", "index.htm", "index.php", "default.aspx", "default.asp", "default.htm"})


class UrlForm(NamedTuple):
    """A URL in parts: the steps of its path, an empty one at the end where it ends in a slash, and its arguments in
    order of the alphabet; `;` precedes those of its last step."""

    scheme: str
    host: str
    steps: tuple[str, ...]
    arguments: tuple[str, ...]

    @classmethod
    def of(cls, url: str) -> UrlForm | None:
        """The parts of an address; None where it has none."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        path, _, given = parts.path.partition(";")
        if "/" in given:  # arguments of a step that is not the last one belong to it
            path, given = parts.path, ""
        arguments = [f";{part}" for part in given.split(";") if part] + [
            part for part in parts.query.split("&") if part
        ]
        return cls(parts.scheme, parts.netloc, tuple(path.split("/")[1:]), tuple(sorted(arguments)))

    @property
    def url(self) -> str:
        """The URL, as a string."""
        given = "".join(each for each in self.arguments if each[0] == ";")
        query = "&".join(each for each in self.arguments if each[0] != ";")
        return f"{self.scheme}://{self.host}/{'/'.join(self.steps)}{given}{'?' * bool(query)}{query}"


class CopyRule(NamedTuple):
    """One way in which URLs may differ. `what`: argument, step, ending, swap, token, repeats, case, index, slash,
    scheme, www; `word`, `other`: the argument, or the step, or the ending, or the two steps that replace each other."""

    what: str
    word: str = ""
    other: str = ""

    def __str__(self) -> str:
        """Return the rule as the questions of sections are written."""
        return {
            "argument": self.word if self.word[:1] == ";" else f"?{self.word}",
            "ending": f".../*{self.word}",
            "step": f"/{self.word}",
            "swap": f"/{self.word} or /{self.other}",
            "token": "/{token}",
            "repeats": "repeats",
            "case": "upper or lower case",
            "index": "/index.html",
            "slash": "/ at the end",
            "scheme": "http or https",
            "www": "www.",
        }[self.what]

    def reduced(self, form: UrlForm) -> UrlForm:
        """The same URL without what the rule is about: two that differ in this alone are reduced to the same. A URL to
        which the rule does not apply is returned itself."""
        return _REDUCED[self.what](self, form)


def _without_argument(rule: CopyRule, form: UrlForm) -> UrlForm:
    others = tuple(each for each in form.arguments if each.partition("=")[0] != rule.word)
    return form if len(others) == len(form.arguments) else form._replace(arguments=others)


def _without_step(rule: CopyRule, form: UrlForm) -> UrlForm:
    if rule.word not in form.steps:
        return form
    index = form.steps.index(rule.word)
    return form._replace(steps=form.steps[:index] + form.steps[index + 1 :])


def _without_ending(rule: CopyRule, form: UrlForm) -> UrlForm:
    last = form.steps[-1] if form.steps else ""
    return (
        form._replace(steps=(*form.steps[:-1], last.removesuffix(rule.word))) if ending_of(last) == rule.word else form
    )


def _swapped(rule: CopyRule, form: UrlForm) -> UrlForm:
    if rule.word not in form.steps:
        return form
    index = form.steps.index(rule.word)
    return form._replace(steps=(*form.steps[:index], rule.other, *form.steps[index + 1 :]))


def _without_tokens(_: CopyRule, form: UrlForm) -> UrlForm:
    return _with_steps(form, [step for step in form.steps[:-1] if not TOKEN.fullmatch(step)] + [*form.steps[-1:]])


def _without_repeats(_: CopyRule, form: UrlForm) -> UrlForm:
    return _with_steps(form, dict.fromkeys(filled(form.steps)))


def _without_capitals(_: CopyRule, form: UrlForm) -> UrlForm:
    return _with_steps(form, map(str.lower, form.steps))


def _with_steps(form: UrlForm, steps: Iterable[str]) -> UrlForm:
    reduced = tuple(steps)
    return form if reduced == form.steps else form._replace(steps=reduced)


def _without_index(_: CopyRule, form: UrlForm) -> UrlForm:
    return form._replace(steps=(*form.steps[:-1], "")) if form.steps and form.steps[-1].lower() in _INDEX else form


def _without_slash(_: CopyRule, form: UrlForm) -> UrlForm:
    return form._replace(steps=form.steps[:-1]) if len(form.steps) > 1 and not form.steps[-1] else form


_REDUCED: Mapping[str, Callable[[CopyRule, UrlForm], UrlForm]] = {
    "argument": _without_argument,
    "step": _without_step,
    "ending": _without_ending,
    "swap": _swapped,
    "token": _without_tokens,
    "repeats": _without_repeats,
    "case": _without_capitals,
    "index": _without_index,
    "slash": _without_slash,
    "scheme": lambda _, form: form if form.scheme == "https" else form._replace(scheme="https"),
    "www": lambda _, form: form._replace(host=form.host[4:]) if form.host.startswith("www.") else form,
}
_FOR_ALL = tuple(CopyRule(what) for what in ("token", "repeats", "case", "index", "slash", "scheme", "www"))


def rules_of(form: UrlForm) -> Iterator[CopyRule]:
    """Yield the rules that apply to a URL: those that reduce it."""
    for name in dict.fromkeys(each.partition("=")[0] for each in form.arguments):
        if 0 < len(name) <= LONGEST_WORD:
            yield CopyRule("argument", name)
    for step in dict.fromkeys(form.steps):
        if _is_word(step):
            yield CopyRule("step", step)
    if form.steps and (ending := ending_of(form.steps[-1])):
        yield CopyRule("ending", ending)
    yield from (rule for rule in _FOR_ALL if rule.reduced(form) is not form)


def _is_word(step: str) -> bool:
    return 0 < len(step) <= LONGEST_WORD and not NUMBER.fullmatch(step) and not TOKEN.fullmatch(step)


def _swaps(forms: Iterable[UrlForm]) -> Counter[CopyRule]:
    """Return the steps that replace each other in URLs that are otherwise the same, and in how many pairs of them."""
    alike: dict[tuple[object, ...], list[UrlForm]] = defaultdict(list)
    for form in forms:
        if len(form.steps) > 1:
            alike[form.scheme, form.host, len(form.steps), form.steps[-1], form.arguments].append(form)
    counts: Counter[CopyRule] = Counter()
    for group in alike.values():
        for one, other in combinations(group[:MOST_ALIKE], 2):
            differ = [pair for pair in zip(one.steps, other.steps, strict=True) if pair[0] != pair[1]]
            if len(differ) == 1 and all(map(_is_word, differ[0])):
                counts[CopyRule("swap", *sorted(differ[0]))] += 1
    return counts


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a page that was fetched or redirects. `canonical`: the key of the page that it names as its
    canonical, if that is another; `redirects_to`: the key of the page to which it leads; `brought`: what it brought, 0
    to 1, None where that is not known."""

    key: str
    url: str
    alias: bool
    body_hash: str | None = None
    text_hash: str | None = None
    simhash: int | None = None
    brought: float | None = None
    canonical: str | None = None
    redirects_to: str | None = None


def same(one: Content, other: Content) -> bool | None:
    """Return whether two pages have the same content. None where neither their texts nor their canonicals and redirects
    show it."""
    if one.alias or other.alias:
        goals = [page.redirects_to if page.alias else page.key for page in (one, other)]
        return None not in goals and goals[0] == goals[1]
    if (one.canonical or one.key) == (other.canonical or other.key):
        return True
    pairs = [(one.text_hash, other.text_hash), (one.body_hash, other.body_hash)]
    complete = [pair for pair in pairs if None not in pair]
    if any(a == b for a, b in complete):
        return True
    if None not in pairs[0] and text_version(one.text_hash) != text_version(other.text_hash):
        return None
    if one.simhash is not None and other.simhash is not None:
        if ((one.simhash ^ other.simhash) & (2**64 - 1)).bit_count() <= NEAR:
            brought = [page.brought for page in (one, other)]
            if any(share is not None and share < COPY for share in brought):
                return True
            if None in brought:  # a page with few words of its own is as near to others of its template
                return None
        return False
    return False if complete else None


def may_have_copies(visits: Iterable[CountedVisit]) -> bool:
    """Return whether enough of these visits brought next to nothing for a rule of copies."""
    return sum(visit.brought < COPY for visit in visits) >= LEAST_PAIRS


@dataclass(slots=True)
class _Tally:
    """Pages that were compared, and those that were equal."""

    compared: int = 0
    equal: int = 0

    def add(self, equal: bool) -> None:
        self.compared += 1
        self.equal += equal


@dataclass(frozen=True, slots=True)
class Equal:
    """The expectation that a waiting page equals the page of `url`, because they differ only by `rule`.

    Of `compared` pages that differ in this alone `equal` had the same content; `expected`: the posterior mean of that,
    0 to 1, in the section of the page.
    """

    url: str
    rule: CopyRule
    compared: int
    equal: int
    expected: float


class CopyTrial:
    """Rules that are to be tried on the visits that a host remembers: see `wanted` and `learned`."""

    def __init__(self, visits: Sequence[CountedVisit], section_of: Callable[[str, bool], str]) -> None:
        self._sections = {visit.url: section_of(visit.url, visit.echo) for visit in visits}
        found = {visit.url: form for visit in visits if (form := UrlForm.of(visit.url)) is not None}
        self._forms = found
        # The rules that most visits have are tried.
        self._applies: dict[CopyRule, list[str]] = defaultdict(list)
        for url, form in found.items():
            for rule in rules_of(form):
                self._applies[rule].append(url)
        counts = _swaps(found.values())
        counts.update({rule: len(urls) for rule, urls in self._applies.items()})
        self._rules = [rule for rule, count in counts.most_common(MOST_RULES) if count >= LEAST_PAIRS]
        self._bases = {rule: self._reduced_by(rule) for rule in self._rules}
        self._urls_of: dict[UrlForm, list[str]] = {}
        for url, form in found.items():
            self._urls_of.setdefault(form, []).append(url)

    def _reduced_by(self, rule: CopyRule) -> dict[str, UrlForm]:
        """Return URL → reduced URL, of the visits to which a rule applies, in their order."""
        applies = CopyRule("step", rule.word) if rule.what == "swap" else rule
        return {url: rule.reduced(self._forms[url]) for url in self._applies[applies]}

    def wanted(self) -> list[str]:
        """The URLs of which the contents have to be known: of the visits, and of those without what rules are about."""
        bases = dict.fromkeys(base.url for rule in self._rules for base in reversed(self._bases[rule].values()))
        others = [url for url in bases if url not in self._forms]
        return [*self._forms, *others[:MOST_BASES]]

    def learned(
        self, contents: Mapping[str, Content], waiting_of: Callable[[Collection[str]], Container[str]]
    ) -> Expectations:
        """Return the expectations from these contents, by the URLs that were wanted. `waiting_of`: which of other URLs
        wait for their first visit."""
        expectations = Expectations()
        place_of = {url: place for place, url in enumerate(self._forms)}
        classes_of = {rule: self._classes(rule, contents, place_of) for rule in self._rules}
        for rule, classes in classes_of.items():
            self._compare(rule, classes, expectations)
        # Only rules by which pages are expected to be equal need the pages that others may equal.
        holding = [rule for rule in self._rules if expectations.holds(rule)]
        expectations.models = {rule: self._models(rule, contents) for rule in holding}
        based = [rule for rule in holding if rule.what != "swap"]
        bases = dict.fromkeys(base.url for rule in based for base in classes_of[rule])
        others = [url for url in bases if url not in contents][:MOST_BASES]
        waiting = waiting_of(others) if others else ()
        expectations.based = {rule: self._based(classes_of[rule], waiting) for rule in based}
        return expectations

    def _classes(
        self, rule: CopyRule, contents: Mapping[str, Content], place_of: Mapping[str, int]
    ) -> dict[UrlForm, dict[str, Content]]:
        """Return reduced URL → the pages that are equal but for the rule, by key, of the visits to which it applies."""
        bases = self._bases[rule]
        urls_of: dict[UrlForm, list[str]] = defaultdict(list)
        for url, base in bases.items():
            urls_of[base].append(url)
        classes: dict[UrlForm, dict[str, Content]] = {}
        for base, reduced in urls_of.items():
            others = [url for url in self._urls_of.get(base, ()) if url not in bases]
            pages = classes[base] = dict[str, Content]()
            for url in sorted([*reduced, *others], key=place_of.__getitem__):
                for each in (base.url, url) if url in bases else (url,):
                    if (page := contents.get(each)) is not None:
                        pages.setdefault(page.key, page)
        return classes

    def _models(self, rule: CopyRule, contents: Mapping[str, Content]) -> dict[UrlForm, str]:
        """Return reduced URL → the first page with it that was fetched and is no alias, of all visits."""
        bases = self._bases[rule]
        models: dict[UrlForm, str] = {}
        for url, form in self._forms.items():
            base = bases.get(url)
            pages = [contents.get(url)] if base is None else [contents.get(base.url), contents.get(url)]
            first = next((page for page in pages if page is not None and not page.alias), None)
            if first is not None:
                models.setdefault(form if base is None else base, first.url)
        return models

    def _compare(
        self, rule: CopyRule, classes: Mapping[UrlForm, Mapping[str, Content]], expectations: Expectations
    ) -> None:
        for pages in classes.values():
            first = next((page for page in pages.values() if not page.alias), None)
            if first is None:
                continue
            for page in pages.values():
                equal = same(first, page) if page is not first else None
                if equal is not None:
                    expectations.of_host.setdefault(rule, _Tally()).add(equal)
                    pattern = self._sections.get(page.url, self._sections.get(first.url, ""))
                    expectations.of_section.setdefault((pattern, rule), _Tally()).add(equal)

    def _based(self, classes: Mapping[UrlForm, Mapping[str, Content]], waiting: Container[str]) -> _Tally:
        """Count the visited pages that a rule applies to, and those of them whose reduced URL was fetched or waits."""
        tally = _Tally()
        for base, pages in classes.items():
            fetched = {page.url for page in pages.values()}
            for url in fetched & self._forms.keys():
                if self._forms[url] != base:
                    tally.add(base.url in fetched or base.url in waiting)
        return tally


@dataclass
class Expectations:
    """The rules that the visits of a host have taught. `models`: by rule that holds, a fetched page of each reduced
    URL. `based`: by such a rule, the number of pages that it applies to, and of those whose reduced URL was fetched or
    waits."""

    of_host: dict[CopyRule, _Tally] = field(default_factory=dict)
    of_section: dict[tuple[str, CopyRule], _Tally] = field(default_factory=dict)
    models: dict[CopyRule, dict[UrlForm, str]] = field(default_factory=dict)
    based: dict[CopyRule, _Tally] = field(default_factory=dict)

    @property
    def says_nothing(self) -> bool:
        """True if no rule makes a page of any section expected to equal another."""
        patterns = {pattern for pattern, _ in self.of_section}
        return not any(self._expected(pattern, rule) for rule in self.of_host for pattern in patterns)

    def holds(self, rule: CopyRule) -> bool:
        """Return whether the rule makes a page of any section, or of one that is not known yet, expected to equal
        another."""
        patterns = {HOST, *(pattern for pattern, one in self.of_section if one == rule)}
        return rule in self.of_host and any(self._expected(pattern, rule) for pattern in patterns)

    def candidates(self, url: str, pattern: str) -> list[tuple[Equal, bool]]:
        """Return the pages that a page of the section of this pattern may equal, the most likely first, each with a
        flag: it is known to have been fetched. The others are reduced URLs, which have to be looked up."""
        form = UrlForm.of(url)
        if form is None:
            return []
        equals: list[tuple[Equal, bool]] = []
        for rule, tally in self.of_host.items():
            expected = self._expected(pattern, rule)
            base = rule.reduced(form)
            model = self.models.get(rule, {}).get(base)
            other = model or base.url
            if expected and other != url and UrlForm.of(other) != form:
                equals.append((Equal(other, rule, tally.compared, tally.equal, expected), model is not None))
        return sorted(equals, key=lambda each: (-each[0].expected, each[0].url))

    def acting(self, patterns: Iterable[str], before: Copies, seen: int) -> Copies:
        """Return how pages of the sections of these patterns wait by these expectations; `before`: how they waited,
        `seen`: the number of visits that the host had."""
        rules: dict[str, dict[CopyRule, tuple[float, float]]] = {}
        for pattern in (*patterns, HOST):
            equals, factors = before.of(pattern), dict[CopyRule, tuple[float, float]]()
            for rule, tally in self.of_host.items():
                if expected := self._expected(pattern, rule):
                    factors[rule] = settled_factor(1.0 - expected, tally.compared, equals.get(rule))
            rules[pattern] = factors
        holding = sorted({rule for factors in rules.values() for rule in factors})
        names = [(rule, base) for rule in holding for base in self._of(rule)]
        models = frozenset(_number(rule, base) for rule, base in names[-MOST_MODELS:])
        return Copies(seen, rules if models else {}, models, frozenset(filter(self._is_based, holding)))

    def _is_based(self, rule: CopyRule) -> bool:
        """Return whether a page that the rule applies to is expected to have a counterpart under the reduced URL."""
        tally = self.based.get(rule, _Tally())
        return tally.compared >= LEAST_PAIRS and posterior(tally.equal, tally.compared, 0.0) >= BASED

    def _of(self, rule: CopyRule) -> Iterable[UrlForm]:
        return self.models.get(rule, {})

    def _expected(self, pattern: str, rule: CopyRule) -> float:
        """Return the expected share of a section's pages that equal another which differs by the rule alone.

        It is 0 if too few pairs are known, or if it is too small.
        """
        host = self.of_host[rule]
        here = self.of_section.get((pattern, rule), _Tally())
        mean = posterior(here.equal, here.compared, posterior(host.equal, host.compared, 0.0))
        return mean if host.compared >= LEAST_PAIRS and mean >= SURE else 0.0


@dataclass(frozen=True)
class Copies:
    """The factors with which pages of a host wait that are expected to equal one that was fetched.

    `at`: how many visits the host had when they were compared; `rules`: by pattern of a section, (factor, how many
    pages were compared when it changed) of each rule that holds there; `models`: reduced URLs of pages that were
    fetched, each with its rule, as numbers; `based`: the rules by which a page is expected to have a counterpart under
    its reduced URL, whether that is known yet or not.
    """

    at: int = 0
    rules: Mapping[str, Mapping[CopyRule, tuple[float, float]]] = field(default_factory=dict)
    models: frozenset[int] = frozenset()
    based: frozenset[CopyRule] = frozenset()

    def of(self, pattern: str) -> Mapping[CopyRule, tuple[float, float]]:
        """The rules that hold in a section: those of the host where it was not there when they were learned."""
        return self.rules[pattern] if pattern in self.rules else self.rules.get(HOST, {})

    def factor(self, url: str, pattern: str) -> float:
        """Return the factor of a new page of a section that is expected to equal a fetched one, else 1."""
        holding = self.of(pattern)
        form = UrlForm.of(url) if holding else None
        if form is None:
            return 1.0
        return min((factor for rule, (factor, _) in holding.items() if self._has(rule, form)), default=1.0)

    def plainer(self, url: str, pattern: str) -> list[tuple[str, float]]:
        """Return the reduced URLs of this one, by the rules that hold in its section, each with the factor of a page
        that is expected to equal the page of that URL. Of two steps that replace each other neither is plainer."""
        holding = {
            rule: factor for rule, (factor, _) in self.of(pattern).items() if factor < 1.0 and rule.what != "swap"
        }
        form = UrlForm.of(url) if holding else None
        if form is None:
            return []
        bases = [(rule.reduced(form), factor) for rule, factor in holding.items()]
        return [(base.url, factor) for base, factor in bases if base != form]

    def _has(self, rule: CopyRule, form: UrlForm) -> bool:
        base = rule.reduced(form)
        return _number(rule, base) in self.models or (rule in self.based and base != form)

    def may_rise_to(self, after: Copies) -> bool:
        """Return whether a rule holds pages down no longer, or less than before."""
        return not self.based <= after.based or any(
            after.of(pattern).get(rule, (1.0, 0.0))[0] > factor
            for pattern, holding in self.rules.items()
            for rule, (factor, _) in holding.items()
        )

    def plain(self) -> Any:
        """Return it as values of JSON."""
        numbers = np.array(sorted(self.models), dtype="<u4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
        rules = {pattern: [[*rule, *acts] for rule, acts in holding.items()] for pattern, holding in self.rules.items()}
        return [self.at, rules, base64.b64encode(numbers).decode(), sorted(self.based)]

    @classmethod
    def read(cls, plain: Any) -> Copies:
        """Return what `plain` has written. Raise ValueError for anything else."""
        try:
            at, rules, packed, based = plain
            numbers = np.frombuffer(base64.b64decode(packed), dtype=np.uint8).reshape(-1, 3).astype(np.uint32)
            return cls(
                int(at),
                {
                    pattern: {CopyRule(*named): (float(factor), float(since)) for *named, factor, since in holding}
                    for pattern, holding in rules.items()
                },
                frozenset((numbers @ np.array([1, 1 << 8, 1 << 16], dtype=np.uint32)).tolist()),
                frozenset(CopyRule(*named) for named in based),
            )
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise ValueError(f"not what was learned of copies: {error}") from None


NO_COPIES = Copies()


def _number(rule: CopyRule, base: UrlForm) -> int:
    return crc32(f"{rule.what} {rule.word} {rule.other} {base.url}".encode("utf-8", "surrogatepass")) & (
        (1 << MODEL_BITS) - 1
    )
