"""The project's prose as data, and counts of it: `python -m tests.contract.language`.

The script prints one table: for docs, docstrings, comments and the headers of statements, how often words of a dialect
occur in a thousand words; and how many docstrings begin with a question word, or have four words or fewer; and how
many class names are defined twice. `--rooms` prints the same for each room. `--sample N --seed S` prints N docstrings
and N comments that the seed chooses, of the rooms that follow.
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from tests.contract.source import ROOT, modules, tree

__all__ = [
    "AVOIDED",
    "MEASURED",
    "OF_PEERS",
    "OPENINGS",
    "Prose",
    "class_names_defined_twice",
    "comments",
    "docs",
    "docstrings",
    "headers",
    "locals_named",
    "messages",
    "participles",
    "per_thousand",
    "room_of",
]

AVOIDED = {
    "told": re.compile(r"\b(told|tells?|telling|says?(?!:)|said(?!:)|saying)\b", re.I),
    "whoever": re.compile(r"\b(who(so)?ever|whom(so)?ever|somebody|nobody|anybody|everybody)\b", re.I),
    "stands": re.compile(r"\b(stands?|stood|standing)\b", re.I),
    "goes by": re.compile(r"\b(go|goes|going|gone|went) by\b", re.I),
    "handed out": re.compile(r"\b(hand|hands|handed|handing) (it |them |him )?(out|in|over)\b", re.I),
    "left alone": re.compile(r"\b(leaves?|left|leaving) (it |them |him )?alone\b", re.I),
    "reckoned": re.compile(r"\breckon(s|ed|ing)?\b", re.I),
}
"""Word of the dialect → its forms. CONTRIBUTING.md names the words to use instead."""

MEASURED = {
    "told, tells, says": re.compile(r"\b(told|tells|says)\b", re.I),
    "whoever, somebody, nobody": re.compile(r"\b(whoever|somebody|nobody|anybody|everybody)\b", re.I),
    "stands, stood": re.compile(r"\b(stands|stood)\b", re.I),
    "handed out, in": re.compile(r"\bhanded (out|in)\b", re.I),
}
"""The words that docs/reference/stability.md's peers were measured by: procrastinate, httpx and Scrapy."""

OF_PEERS = {"told, tells, says": 0.24, "whoever, somebody, nobody": 0.2}
"""The occurrences in a thousand words of Scrapy's docs and docstrings."""

OPENINGS = re.compile(
    r"(What|How|When|Where|Whether|Which|Of|Why|Whose|Whom|Who)\b"
    r"|(Is|Are|Was|Were|Does|Do|Did|Has|Have|May|Can|Must|Will)\b[^.`]*\?"
)
"""A docstring that begins so names no subject, or is a question."""
FEW = 4


@dataclass(frozen=True)
class Prose:
    """One docstring, comment, message, header or page, with its place in the tree.

    Attributes:
        module: Name of the module, as tests/contract/source.py has it, or the file's path from the root.
        line: Its first line in that file.
        text: The prose without quotes, `#` and `//`.
    """

    module: str
    line: int
    text: str

    @property
    def words(self) -> int:
        """Number of words."""
        return len(re.findall(r"[^\W\d_][\w'’-]*", self.text))


def room_of(module: str) -> str:
    """Return the folder of a module or of a statement's file: `frontier.hosts`, or the room itself."""
    parts = module.removeprefix("cypher/").replace("/", ".").split(".")
    second = ".".join(parts[:2])
    is_folder = second in modules() and modules()[second].name == "__init__.py" and parts[0] != "lab"
    return second if is_folder else parts[0]


@cache
def docstrings() -> tuple[Prose, ...]:
    """Return the docstrings of all modules, classes and functions, and the strings below assignments."""
    return tuple(Prose(name, line, text) for name in sorted(modules()) for line, text in _bare_strings(tree(name)))


def _bare_strings(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        for child in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                text = child.value.value
                if isinstance(text, str):
                    yield child.lineno, " ".join(text.split())


@cache
def comments() -> tuple[Prose, ...]:
    """Return the comments of all modules; lines that follow each other are one comment."""
    return tuple(found for name in sorted(modules()) for found in _comments(name))


def _comments(name: str) -> Iterator[Prose]:
    text = modules()[name].read_text(encoding="utf-8")
    first, last, parts = 0, -1, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or token.string.startswith(("#!", "# type:", "# noqa")):
            continue
        line, alone = token.start[0], not token.line[: token.start[1]].strip()
        if parts and not (alone and line == last + 1):
            yield Prose(name, first, " ".join(parts))
            parts = []
        if not parts:
            first = line
        parts.append(token.string.lstrip("# ").strip())
        last = line if alone else -1
    if parts:
        yield Prose(name, first, " ".join(parts))


@cache
def messages() -> tuple[Prose, ...]:
    """Return the strings of all modules that hold words between spaces: messages, help texts, meanings."""
    found = []
    for name in sorted(modules()):
        bare = {id(node.value) for node in ast.walk(tree(name)) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree(name)):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in bare:
                continue
            if len(words := node.value.split()) > 1:
                found.append(Prose(name, node.lineno, " ".join(words)))
    return tuple(found)


@cache
def headers() -> tuple[Prose, ...]:
    """Return the comments of each statement in cypher/ as one text."""
    found = []
    for path in sorted((ROOT / "cypher").rglob("*.cypher")):
        lines = path.read_text(encoding="utf-8").splitlines()
        text = " ".join(line.strip().lstrip("/ ") for line in lines if line.strip().startswith("//"))
        found.append(Prose(path.relative_to(ROOT).as_posix(), 1, text))
    return tuple(found)


@cache
def docs() -> tuple[Prose, ...]:
    """Return the pages of docs/ and the README without their code; the diary of measurements is left out."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return tuple(
        Prose(page.relative_to(ROOT).as_posix(), 1, _without_code(page.read_text(encoding="utf-8")))
        for page in pages
        if not {"archive", "build"} & set(page.relative_to(ROOT).parts)
    )


def _without_code(text: str) -> str:
    text = re.sub(r"^```.*?^```", " ", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(    |\t).*$", " ", text, flags=re.MULTILINE)
    return " ".join(re.sub(r"`[^`\n]*`", " ", text).split())


def class_names_defined_twice() -> dict[str, list[str]]:
    """Return each class name that two modules or more define, with those modules."""
    found: dict[str, list[str]] = {}
    for name in sorted(modules()):
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(name)
    return {name: where for name, where in found.items() if len(where) > 1}


def locals_named(word: str) -> Counter[str]:
    """Return how often each room binds a name of functions, an argument or a local, that is this word."""
    return Counter(
        room_of(name)
        for name in modules()
        for node in ast.walk(tree(name))
        if (isinstance(node, ast.Name) and node.id == word and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == word)
    )


PARTICIPLES = ("known", "left", "made", "held", "taken", "said", "told", "gone", "asked", "due", "met")
"""Words that are no name of a thing: `known_pages`, `new_links`, `leased`, `remaining` say what it is."""


def participles() -> Counter[str]:
    """Return how often each of `PARTICIPLES` is a name in the code: of a function, an argument, a variable, or a
    member."""
    names: Counter[str] = Counter()
    for name in modules():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Name):
                names[node.id.strip("_")] += 1
            elif isinstance(node, ast.Attribute):
                names[node.attr.strip("_")] += 1
            elif isinstance(node, ast.arg):
                names[node.arg.strip("_")] += 1
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names[node.name.strip("_")] += 1
    return Counter({word: names[word] for word in PARTICIPLES})


def per_thousand(texts: Iterable[Prose], pattern: re.Pattern[str]) -> float:
    """Return the occurrences of a pattern in a thousand words of these texts."""
    texts = list(texts)
    return 1000 * sum(len(pattern.findall(each.text)) for each in texts) / (sum(each.words for each in texts) or 1)


def _table(kinds: dict[str, tuple[Prose, ...]]) -> None:
    print(f"{'per 1,000 words':28}" + "".join(f"{kind:>12}" for kind in kinds))
    print(f"{'words':28}" + "".join(f"{sum(each.words for each in texts):12,}" for texts in kinds.values()))
    for called, pattern in MEASURED.items():
        print(f"{called:28}" + "".join(f"{per_thousand(texts, pattern):12.2f}" for texts in kinds.values()))


def _counts(texts: tuple[Prose, ...]) -> None:
    begun = Counter(match[1] for each in texts if (match := OPENINGS.match(each.text)))
    spread = ", ".join(f"{word} {number}" for word, number in begun.most_common())
    print(f"\ndocstrings                   {len(texts):,}")
    print(f"  begin with a question word {sum(begun.values())} ({spread})")
    print(f"  of {FEW} words or fewer       {sum(each.words <= FEW for each in texts)}")


def _sample(rooms: list[str], number: int, seed: int) -> None:
    for kind, texts in (("docstring", docstrings()), ("comment", comments())):
        among = [each for each in texts if room_of(each.module) in rooms]
        for each in random.Random(seed).sample(among, min(number, len(among))):
            print(f"{kind} {each.module}:{each.line}\n    {each.text}")


def main() -> None:
    """Print the counts, or a sample."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rooms", action="store_true", help="the counts of each room")
    parser.add_argument("--sample", type=int, metavar="N", help="print N docstrings and N comments")
    parser.add_argument("--seed", type=int, default=20261126, help="chooses the sample")
    parser.add_argument("room", nargs="*", help="rooms of the sample")
    arguments = parser.parse_args()
    kinds = {"docs": docs(), "docstrings": docstrings(), "comments": comments(), "headers": headers()}
    rooms = sorted({room_of(each.module) for each in docstrings()})
    if arguments.sample:
        _sample(arguments.room or rooms, arguments.sample, arguments.seed)
        return
    _table(kinds)
    _counts(docstrings())
    print(f"\nclass names defined twice or more  {len(class_names_defined_twice())}")
    for room in rooms if arguments.rooms else ():
        here = {
            kind: tuple(each for each in texts if room_of(each.module) == room)
            for kind, texts in kinds.items()
            if kind != "docs"
        }
        print(f"\n== {room}")
        _table(here)
        _counts(here["docstrings"])


if __name__ == "__main__":
    main()
