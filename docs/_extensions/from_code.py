"""Parts of the reference that are made from the code when the pages are built.

A page has a line `<!-- from the code: NAME -->`. Sphinx reads the page with the Markdown of `PARTS[NAME]()` in place of
that line, and so do the tests of the pages: `expanded` is the text that both read.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

MARK = re.compile(r"^<!-- from the code: ([a-z-]+) -->$", re.MULTILINE)


def expanded(text: str) -> str:
    """Return a page with the parts that are made from the code.

    Raises:
        KeyError: A mark names no part.
    """
    return MARK.sub(lambda found: PARTS[found[1]](), text)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


# ---------------------------------------------------------------------- settings

TOPICS: dict[str, tuple[str, ...]] = {
    "Connection": (
        *("uri", "user", "password", "database", "worker", "limit_seconds", "auto_tend", "share", "change_settings"),
        "crawl",
    ),
    "Scope": (
        *("allow_hosts", "deny_hosts", "allow_urls", "deny_urls", "max_depth", "max_links", "pages_per_host"),
        *("hash_bang", "canonical_links", "orphans"),
    ),
    "Politeness": (
        *("delay_seconds", "in_flight", "response_times", "longest_delay_seconds", "longest_block_seconds"),
        *("address_delay_seconds", "address_in_flight", "groups", "hours", "user_agent", "robots_unreachable_seconds"),
    ),
    "Claims and failures": ("lease_seconds", "dead_after", "max_errors", "park_after_seconds"),
    "Order": (
        *("order", "value", "value_by_relevance", "discovery_days", "freshness_value", "change_value"),
        *("revisit_seconds", "frontier_reserve", "oldest_reserve", "harvest_reserve", "weights", "intervals"),
    ),
    "Changes and hints": (
        "change",
        "change_bits",
        *("change_probability", "change_in"),
        *("forgetting", "hint_recall", "hint_false", "sections_per_host"),
    ),
    "Scores": (
        *("engine", "alpha", "eps", "max_payees", "settled_bound", "intra_host_weight", "payout", "target_relevance"),
        *("target_hosts", "reach", "keep_live_pagerank"),
    ),
    "The classic engine": (
        *("window", "window_unit", "score", "root_share", "relevance_rule", "new_history", "first_cash", "passes"),
    ),
}
"""Topic → its settings. A setting that no topic names is listed under `OTHER`, and a test names it."""
OTHER = "More settings"


def topics() -> dict[str, tuple[str, ...]]:
    """Return topic → its settings, with all settings of the code and no others."""
    from graphbrain.base.settings import Settings

    known = Settings.names()
    named = {name for names in TOPICS.values() for name in names}
    found = {topic: tuple(name for name in names if name in known) for topic, names in TOPICS.items()}
    rest = tuple(name for name in known if name not in named)
    return found | ({OTHER: rest} if rest else {})


def settings() -> str:
    """Return a table of settings for each topic."""
    from graphbrain.base.settings import CHOICES, RANGES, Settings

    meanings = Settings.meanings()
    parts = []
    for topic, names in topics().items():
        rows = []
        for name in names:
            kind, default, meaning = meanings[name]
            shown = (
                ("no", "yes")[default] if isinstance(default, bool) else f"`{default}`" if default != "" else "empty"
            )
            values = " ".join(f"`{word}`" for word in CHOICES.get(name, ())) or str(RANGES.get(name, ""))
            rows.append((f"`{name}`", shown, kind, values, meaning))
        parts.append(f"### {topic}\n\n{_table(('setting', 'default', 'kind', 'values', 'meaning'), rows)}")
    return "\n\n".join(parts)


def scrapy_settings() -> str:
    """Return the names of the settings that the Scrapy add-on has beside those of the brain."""
    from graphbrain.crawl.scrapy.requests import OWN

    return ", ".join(f"`GRAPHBRAIN_{name.upper()}`" for name in OWN)


# ---------------------------------------------------------------------- questions


def questions() -> str:
    """Return the table of all questions, by topic."""
    from graphbrain.analyst.questions import questions as all_of_them

    rows = ((f"`{each.name}`", each.title, each.cost or "little") for each in all_of_them())
    return _table(("question", "what it answers", "reads"), rows)


def question_details() -> str:
    """Return each question with its parameters and how to read its answer."""
    from graphbrain.analyst.questions import GROUPS
    from graphbrain.analyst.questions import questions as all_of_them

    parts = []
    for group in GROUPS:
        parts.append(f"### {group}")
        for each in all_of_them():
            if each.group != group:
                continue
            params = "; ".join(
                f"`{one.name}` (`{one.default!r}`): {_plain(one.meaning)}" for one in each.params if one.name != "limit"
            )
            reading = _plain(each.reading)
            parts.append(
                f"`{each.name}`\n: {_plain(each.title)}. {reading}" + (f" Parameters: {params}." if params else "")
            )
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """Return a text of the code as one line of Markdown in which only backticks have a meaning."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]|{}])", r"\\\1", part) for part in parts)


# ---------------------------------------------------------------------- the service


def verbs() -> str:
    """Return the table of the verbs of `Brain`: their arguments, their meaning, and who may use them over HTTP."""
    from graphbrain.brain.brain import VERBS, Brain

    rows = []
    for name, method in inspect.getmembers(Brain, inspect.isfunction):
        if name.startswith("_"):
            continue
        verb = VERBS.get(name)
        meaning = verb.meaning if verb else (inspect.getdoc(method) or "").partition("\n\n")[0]
        who = ", ".join(verb.roles) if verb else "Python alone"
        rows.append((f"`{name}({', '.join(_as_called(method))})`", _plain(meaning), who))
    return _table(("verb", "what it does", "who may, over HTTP"), rows)


def _as_called(function: Callable[..., Any]) -> list[str]:
    """Return the arguments of a method as a caller writes them: `name=` is given by its name alone."""
    kinds = {inspect.Parameter.KEYWORD_ONLY: "{}=", inspect.Parameter.VAR_POSITIONAL: "*{}"}
    kinds[inspect.Parameter.VAR_KEYWORD] = "**{}"
    found = list(inspect.signature(function).parameters.values())[1:]
    return [kinds.get(each.kind, "{}").format(each.name) for each in found]


@cache
def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of a service with its usual limits.

    The document follows from the routes alone. Nothing calls the stand-in for the service's brain.
    """
    from graphbrain.service.app import Terms, _api

    return _api(MagicMock(), Terms()).openapi()


def paths() -> str:
    """Return the table of all paths with their fields and the roles that may call them."""
    rows = []
    for method, path, facts in _operations():
        fields = _fields(facts)
        needed = [f"`{name}`" for name, (required, _) in fields.items() if required]
        optional = [f"`{name}`?" for name, (required, _) in fields.items() if not required]
        roles = ", ".join(facts.get("x-roles", ())) or "no token"
        rows.append((f"`{method} {path}`", ", ".join([*needed, *optional]) or "none", roles))
    return _table(("path", "its fields", "who may"), rows)


def path_details() -> str:
    """Return each path with its meaning and the types of its fields and of its answer."""
    parts = []
    for method, path, facts in _operations():
        lines = [f"`{method} {path}`", f": {_plain(facts.get('description') or facts.get('summary') or '')}"]
        if fields := _fields(facts):
            shown = "; ".join(f"`{name}` {kind}{'' if must else ', optional'}" for name, (must, kind) in fields.items())
            lines.append(f"\n  Fields: {shown}.")
        for code, answer in facts["responses"].items():
            for kind, content in answer.get("content", {}).items() if code[0] == "2" else ():
                lines.append(f"\n  Answer {code}, `{kind}`: {_type(content.get('schema', {}))}.")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in openapi()["paths"].items():
        for method, facts in methods.items():
            yield method.upper(), path, facts


def _fields(facts: dict[str, Any]) -> dict[str, tuple[bool, str]]:
    """Return field of the query or the body → whether it is required, and its type."""
    found = {
        each["name"]: (each["required"], _type(each["schema"]))
        for each in facts.get("parameters", ())
        if each["in"] == "query"
    }
    if "requestBody" in facts:
        model = _model(facts["requestBody"]["content"]["application/json"]["schema"])
        needed = model.get("required", ())
        found |= {name: (name in needed, _type(each)) for name, each in model.get("properties", {}).items()}
    return found


def _model(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = openapi()["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return found


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rsplit('/', 1)[1]}`"
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[word]))
    if "const" in schema or "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "value")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    bounds = [f"{word} {schema[key]:g}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in schema]
    return " ".join([str(kind), *bounds])


# ---------------------------------------------------------------------- the graph


def data_model() -> str:
    """Return a table of properties for each label, and one of relationships."""
    from graphbrain.analyst.dictionary import NODES

    written, indexed = _writers(), _indexed()
    parts = []
    for label, properties in NODES.items():
        links = label == "links"
        rows = []
        for name, (unit, meaning) in properties.items():
            short = name.rpartition(".")[2]
            is_property = not links or "." in name
            writers = written.get(short, []) if is_property else []
            index = "" if links else indexed.get((label, short), "")
            row = [f"`{name}`", unit or "–", _plain(meaning), _listed(writers)]
            rows.append(row if links else [*row, index or "–"])
        head = ["property", "unit", "meaning", "written by"] + ([] if links else ["index"])
        parts.append(f"### {'Relationships' if links else f':{label}'}\n\n{_table(head, rows)}")
    return "\n\n".join(parts)


FEW = 3


def _listed(names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:FEW])
    return (shown + (f" and {len(names) - FEW} more" if len(names) > FEW else "")) or "a map of properties"


@cache
def _writers() -> dict[str, list[str]]:
    """Return property → the statements that assign it by name, in `SET x.name =` or in a map of `SET x += {name:`."""
    from graphbrain.graph.statements import names, statement

    found: dict[str, list[str]] = {}
    for name in names():
        one = statement(name)
        if one.mode != "write":
            continue
        words = set(re.findall(r"\b\w+\.(\w+)\s*=(?![=~])", " ".join(_set_clauses(one.text))))
        words |= {word for made in re.findall(r"\+=\s*\{([^}]*)\}", one.text) for word in re.findall(r"(\w+):", made)}
        words |= {
            word
            for made in re.findall(r"(?:CREATE|MERGE) [^\n]*\{([^}]*)\}", one.text)
            for word in re.findall(r"(\w+):", made)
        }
        for word in words:
            found.setdefault(word, []).append(name)
    return found


def _set_clauses(text: str) -> list[str]:
    return re.findall(
        r"\bSET\b(.*?)(?=\b(?:MATCH|WITH|RETURN|UNWIND|CALL|DELETE|REMOVE|MERGE|FOREACH)\b|$)", text, re.DOTALL
    )


@cache
def _indexed() -> dict[tuple[str, str], str]:
    """Return (label, property) → the index or constraint that has it."""
    from graphbrain.graph.statements import names, statement

    found = {}
    for name in names("schema_"):
        text = statement(name).text
        label = re.search(r"FOR \((\w+):(\w+)\)", text)
        made = re.search(r"CREATE (\w+) (\w+)", text)
        if label is None or made is None:
            continue
        kind = "unique, " if made[1] == "CONSTRAINT" else ""
        for word in re.findall(rf"\b{label[1]}\.(\w+)", text):
            found.setdefault((label[2], word), f"{kind}`{made[2]}`")
    return found


def indexes() -> str:
    """Return the table of indexes and constraints."""
    from graphbrain.graph.statements import names, statement

    rows = []
    for name in names("schema_"):
        one = statement(name)
        on = re.search(r"FOR \(\w+:(\w+)\)(.*)", one.text, re.DOTALL)
        what = ", ".join(dict.fromkeys(re.findall(r"\b[a-z]\.(\w+)", on[2]))) if on else ""
        made = re.search(r"CREATE (\w+) (\w+)", one.text)
        kind = "unique" if made and made[1] == "CONSTRAINT" else "index"
        rows.append(
            (f"`{made[2] if made else name}`", kind, f"`:{on[1]}`" if on else "", f"`{what}`", _plain(one.sentence))
        )
    return _table(("name", "kind", "label", "properties", "what it is for"), rows)


def statements() -> str:
    """Return a table of statements for each folder of `cypher/`."""
    from graphbrain.graph.statements import names, path, statement

    folders: dict[str, list[tuple[str, ...]]] = {}
    for name in names():
        one = statement(name)
        folder = path(name).parent.relative_to(path(name).parents[2]).as_posix()
        row = (f"`{name}`", _plain(one.sentence), one.mode, one.rows, _plain(one.locks), _plain(one.retry))
        folders.setdefault(folder, []).append(row)
    head = ("statement", "what it does", "mode", "rows", "locks", "may run twice")
    return "\n\n".join(f"### cypher/{folder}\n\n{_table(head, rows)}" for folder, rows in sorted(folders.items()))


# ---------------------------------------------------------------------- metrics


def metrics() -> str:
    """Return the table of all metrics: name, kind, labels and help."""
    rows = (
        (f"`{name}`", kind, ", ".join(f"`{each}`" for each in labels) or "–", _plain(text))
        for name, kind, labels, text in families()
    )
    return _table(("metric", "kind", "labels", "what it is"), rows)


def families() -> list[tuple[str, str, tuple[str, ...], str]]:
    """Return name, kind, labels and help of each metric, read from `graphbrain/service/metrics/families.py`.

    Some families appear only while a crawl has them, so that no sample has them all.
    """
    from graphbrain.service.metrics import families as code

    found = [(f"{name}_total", "counter", (), text) for name, text in code.COUNTERS.values()]
    for node in ast.walk(ast.parse(inspect.getsource(code))):
        if not isinstance(node, ast.Call) or len(node.args) < 2:
            continue
        if not all(isinstance(each, ast.Constant) for each in node.args[:2]):
            continue
        maker, name, text = ast.unparse(node.func), node.args[0].value, str(node.args[1].value)
        labels = next((tuple(ast.literal_eval(each.value)) for each in node.keywords if each.arg == "labels"), ())
        if maker == "_gauge":
            found.append((f"graphbrain_{name}", "gauge", (), text))
        elif maker == "_histogram":
            found.append((f"graphbrain_{name}_duration_seconds", "histogram", (str(name),), text))
        elif maker.endswith("MetricFamily"):
            kind = maker.removesuffix("MetricFamily").lower()
            found.append((f"{name}{'_total' if kind == 'counter' else ''}", kind, labels, text))
    return sorted(dict.fromkeys(found))


# ---------------------------------------------------------------------- errors, states


def errors() -> str:
    """Return the table of error classes."""
    from graphbrain.base import errors as code

    tree = dict(re.findall(r"[├└]── (\w+) +(.+)", code.__doc__ or ""))
    rows = []
    for name in code.__all__:
        kind = getattr(code, name)
        above = kind.__mro__[1].__name__
        meaning = tree.get(name) or (kind.__doc__ or "").strip()
        rows.append((f"`{name}`", f"`{above}`", "yes" if kind.try_again else "no", _plain(meaning)))
    return _table(("error", "is a", "try again", "meaning"), rows)


def messages() -> dict[str, set[str]]:
    """Return class of errors → the messages that the code raises it with; `…` is a value that the code fills in."""
    from graphbrain.base import errors as code

    found: dict[str, set[str]] = {}
    for name, _, texts in _raised():
        found.setdefault(name, set()).update(text for text in texts if " " in text and re.search(r"[a-z]{3}", text))
    for name in code.__all__:
        kind = getattr(code, name)
        if kind.__doc__:
            found.setdefault(name, set()).add(kind.__doc__.strip())
    return {name: texts for name, texts in found.items() if texts}


def untold() -> set[tuple[str, str]]:
    """Return (module, argument) of the errors whose message is not written in the code where it can be found."""
    return {(module, argument) for _, (module, argument), texts in _raised() if not texts}


OF_THE_COMMAND_LINE = ("UsageError", "BadParameter")


@cache
def _raised() -> tuple[tuple[str, tuple[str, str], frozenset[str]], ...]:
    """Return the class of each error that is made with a message, where that is, and the messages it can have."""
    from graphbrain.base import errors as code

    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "graphbrain").rglob("*.py"))}
    known = _Known.of(trees.values())
    found: dict[tuple[str, tuple[str, str]], set[str]] = {}
    for path, tree in trees.items():
        for scope in (tree, *_functions(tree)):
            local = _assigned(scope) if scope is not tree else {}
            for node in ast.walk(scope):
                if not isinstance(node, ast.Call) or not node.args:
                    continue
                name, message = ast.unparse(node.func).rpartition(".")[2], node.args[0]
                if name == "Refusal" and len(node.args) > 2 and isinstance(node.args[1], ast.Constant):
                    name, message = str(node.args[1].value), node.args[2]
                elif name not in code.__all__ and name not in OF_THE_COMMAND_LINE:
                    continue
                where = (path.relative_to(ROOT).as_posix(), ast.unparse(message))
                found.setdefault((name, where), set()).update(_texts(message, local, known))
    return tuple((name, where, frozenset(texts)) for (name, where), texts in found.items())


def _functions(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _assigned(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """Return variable → the expressions that it gets; of a caught error its class."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            found.setdefault(node.name, []).append(node.type)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            for target in targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


@dataclass(frozen=True)
class _Known:
    """The functions and the constants of all modules, by name."""

    functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]
    constants: dict[str, list[ast.expr]]
    errors: frozenset[str]

    @classmethod
    def of(cls, trees: Iterable[ast.Module]) -> _Known:
        """Return those of these modules. A constant has a name in capitals."""
        from graphbrain.base import errors

        known = cls({}, {}, frozenset(errors.__all__))
        for tree in trees:
            for function in _functions(tree):
                known.functions.setdefault(function.name, []).append(function)
            for name, values in _assigned(tree).items():
                if name.isupper():
                    known.constants.setdefault(name, []).extend(values)
        return known


DEEPEST = 4
"""Calls and variables that are followed from an error to its text."""


def _texts(node: ast.expr, local: dict[str, list[ast.expr]], known: _Known, depth: int = 0) -> set[str]:
    """Return the messages that an expression can be; none where they are not written in the code."""
    if isinstance(node, ast.Constant):
        return {" ".join(node.value.split())} if isinstance(node.value, str) else set()
    if isinstance(node, ast.JoinedStr):
        parts = [str(each.value) if isinstance(each, ast.Constant) else "…" for each in node.values]
        return {" ".join("".join(parts).split())}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        before, after = (_texts(side, local, known, depth) or {"…"} for side in (node.left, node.right))
        return {f"{one}{other}" for one in before for other in after} - {"……"}
    if isinstance(node, ast.IfExp | ast.BoolOp):
        choices = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
        return {text for each in choices for text in _texts(each, local, known, depth)}
    if isinstance(node, ast.Subscript):
        return _texts(node.value, local, known, depth)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return {re.sub(r"\{[^}]*\}", "…", text) for text in _texts(node.func.value, local, known, depth)}
    if depth == DEEPEST:
        return set()
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and node.args:
        return _texts(node.args[0], local, known, depth + 1)
    if isinstance(node, ast.Name) and node.id in known.errors:
        return {"…"}  # an error of ours is raised again: its messages are listed below its own class
    if isinstance(node, ast.Call):
        made = known.functions.get(ast.unparse(node.func).rpartition(".")[2], ())
        return {text for each in made for text in _returned(each, known, depth + 1)}
    name = ast.unparse(node).rpartition(".")[2]
    return {
        text
        for each in local.get(name) or known.constants.get(name, ())
        for text in _texts(each, local, known, depth + 1)
    }


def _returned(function: ast.FunctionDef | ast.AsyncFunctionDef, known: _Known, depth: int) -> set[str]:
    local = _assigned(function)
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    return {text for value in values for text in _texts(value, local, known, depth)}


def message_table() -> str:
    """Return each message below its class of errors."""
    parts = []
    for name, texts in sorted(messages().items()):
        rows = "\n".join(f"* {_plain(text)}" for text in sorted(texts))
        parts.append(f"### {name}\n\n{rows}")
    return "\n\n".join(parts)


def api() -> str:
    """Return the directives of Sphinx's autodoc for each public module and name."""
    from tests.contract.public_surface import MODULES, NOT_PROMISED

    parts = []
    for module, names in sorted(MODULES.items()):
        lines = [f"## {module}", "", "```{eval-rst}", f".. currentmodule:: {module}", ""]
        for name in names:
            lines += _documented(module, name, NOT_PROMISED)
        parts.append("\n".join([*lines, "```"]))
    return "\n\n".join(parts)


def _documented(module: str, name: str, hidden: Iterable[str]) -> list[str]:
    import importlib

    from tests.contract.public_surface import MODULES

    what = getattr(importlib.import_module(module), name)
    home = [other for other, names in MODULES.items() if name in names and _same(other, name, what)][-1]
    if home != module:
        return [f"``{name}``", f"   See :py:obj:`{home}.{name}`.", ""]
    kind = "autoclass" if inspect.isclass(what) else "autofunction" if callable(what) else "autodata"
    lines = [f".. {kind}:: {module}.{name}"]
    if kind == "autoclass":
        lines += [
            "   :members:",
            "   :inherited-members: Exception, tuple, Sequence, Record",
            f"   :exclude-members: {', '.join(sorted(hidden))}",
        ]
    return [*lines, ""]


def _same(module: str, name: str, what: object) -> bool:
    import importlib

    return getattr(importlib.import_module(module), name) is what


def rank_options() -> str:
    """Return the table of the options of `rank`: their command line and Python names, values, and meanings."""
    from graphbrain.base.options.scores import BY_METHOD
    from graphbrain.brain.brain import VERBS

    rows = []
    for name, option in VERBS["rank"].arguments.items():
        methods = [method for method, names in BY_METHOD.items() if name in names]
        some = ", ".join(f"`{method}`" for method in methods) if 0 < len(methods) < len(BY_METHOD) else "all"
        rows.append((f"`{name}`", _plain(option.sentence), str(option.bounds or ""), some))
    return _table(("option", "meaning (default)", "values", "methods"), rows[1:])


def room_figures() -> str:
    """Return the number of rooms, layers, imports between rooms, upward imports and circles."""
    from tests.contract.rooms import counts
    from tests.contract.test_rooms import ROOMS

    return _table(("figure", "count"), ((what, f"{count:,}") for what, count in counts(ROOMS).items()))


# ---------------------------------------------------------------------- commands


def __getattr__(name: str) -> Any:
    """Return the product's commands as one group when Sphinx asks for it: nothing else needs the command line."""
    if name != "product_commands":
        raise AttributeError(name)
    import click

    from graphbrain.cli.app import cli
    from graphbrain.cli.commands import LABORATORY

    commands = {each: cli.commands[each] for each in cli.commands if each not in LABORATORY}
    return click.Group("graphbrain", commands, params=cli.params, help=cli.help)


def laboratory() -> str:
    """Return the reference of the laboratory's commands, where it is installed."""
    if importlib.util.find_spec("graphbrain_lab") is None:
        return "These pages were built without the laboratory: install it to read about each option here."
    table = importlib.import_module("graphbrain_lab.commands").COMMANDS
    directives = [
        f".. click:: graphbrain_lab.cli.{module}:{name}\n   :prog: graphbrain {name}\n   :nested: full\n"
        for name, (module, _) in table.items()
    ]
    return "\n".join(("```{eval-rst}", *directives, "```"))


PARTS: dict[str, Callable[[], str]] = {
    "api": api,
    "data-model": data_model,
    "errors": errors,
    "indexes": indexes,
    "laboratory": laboratory,
    "messages": message_table,
    "metrics": metrics,
    "path-details": path_details,
    "paths": paths,
    "question-details": question_details,
    "questions": questions,
    "rank-options": rank_options,
    "rooms": room_figures,
    "scrapy-settings": scrapy_settings,
    "settings": settings,
    "statements": statements,
    "verbs": verbs,
}


def _literal(line: str) -> str:
    """Return a line of a docstring in which stars and bars outside of code have no meaning for docutils."""
    if line.lstrip().startswith(("..", "* ", "|")):
        return line
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"(?<![\\*])([*|])(?!\*)", r"\\\1", part) for part in parts)


def setup(app: Any) -> dict[str, bool]:
    """Register the expansion of marks with Sphinx."""

    def read(_: Any, __: str, source: list[str]) -> None:
        source[0] = expanded(source[0])

    def plain(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
        lines[:] = [_literal(line) for line in lines]

    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", plain, priority=900)
    return {"parallel_read_safe": True}
