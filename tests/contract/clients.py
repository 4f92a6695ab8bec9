"""The clients, made from the declarations of the verbs: three files of `graphbrain/service/client` are not written by
hand.

    python -m tests.contract.clients            print the difference
    python -m tests.contract.clients --write    make the files anew

`asynchronous` has a method for each verb that `transport` has none of, with the signature and the docstring of `Brain`.
`waiting` and `synchronous` are made from these two as httpcore does it: words are substituted, line by line. A test
compares the result with the files.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import inspect
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from graphbrain.base.options.verbs import Option, Verb
from graphbrain.brain.brain import VERBS
from tests.contract.source import PACKAGE

__all__ = ["made"]

CLIENT = PACKAGE / "service" / "client"
TRANSPORT, ASYNCHRONOUS = CLIENT / "transport.py", CLIENT / "asynchronous.py"
WAITING, SYNCHRONOUS = CLIENT / "waiting.py", CLIENT / "synchronous.py"
MADE_BY = "Made from {}: change these, and run `python -m tests.contract.clients --write`."
PROGRESS = "Callable[[{}int, int], None] | None"

SUBSTITUTIONS = (
    ("`graphbrain.AsyncClient`", "`graphbrain.Client`"),
    ("as `Client`, for an event loop. Use it as an asynchronous", "as `Brain`. Thread-safe. Use it as a"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsync(Client|Transport)\b", r"\1"),
    (r"\bclient\.transport\b", "client.waiting"),
    (r"\bretrying_async\b", "retrying"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_lines\b", "iter_lines"),
)
"""Pattern → text, in this order; the first two are whole phrases."""
PHRASES = 2


def made() -> dict[Path, str]:
    """Return each file that is made, with its source."""
    transport = TRANSPORT.read_text(encoding="utf-8")
    waiting = _waits(transport).replace(
        '"""\n', f'\n\n{MADE_BY.format("`graphbrain.service.client.transport`")}\n"""\n', 1
    )
    asynchronous = _formatted(_asynchronous(transport))
    return {
        ASYNCHRONOUS: asynchronous,
        WAITING: _formatted(waiting),
        SYNCHRONOUS: _formatted(_waits(asynchronous)),
    }


def _formatted(source: str) -> str:
    """Return a source with its imports sorted, and in the form of the formatter."""
    for command in (["check", "--select", "I,F401", "--fix"], ["format"]):
        run = ["ruff", *command, "-q", "--stdin-filename", str(ASYNCHRONOUS), "-"]
        source = subprocess.run(run, input=source, capture_output=True, text=True, check=True).stdout
    return source


def _waits(text: str) -> str:
    """Return the source of a class that waits, as it follows from one for event loops."""
    for number, (pattern, new) in enumerate(SUBSTITUTIONS):
        text = text.replace(pattern, new) if number < PHRASES else re.sub(pattern, new, text)
    return text


# ---------------------------------------------------------------------- from the declarations


def _asynchronous(transport: str) -> str:
    by_hand = {node.name for node in ast.walk(ast.parse(transport)) if isinstance(node, ast.AsyncFunctionDef)}
    methods = [_method(verb) for name, verb in VERBS.items() if name not in by_hand]
    body = "\n\n".join(textwrap.indent(each, "    ") for each in methods)
    return "\n".join(
        [
            '"""The verbs of `graphbrain.AsyncClient`.',
            "",
            f'{MADE_BY.format("the verbs of `graphbrain.brain`")}\n"""',
            "",
            "from __future__ import annotations",
            "",
            *sorted(_imports(body)),
            "from graphbrain.service.client import shapes",
            "from graphbrain.service.client.calls import Job, get, post",
            "from graphbrain.service.client.transport import AsyncTransport",
            "",
            '__all__ = ["AsyncClient"]',
            "",
            "",
            "class AsyncClient(AsyncTransport):",
            textwrap.indent(f'"""{_of_class(transport)}\n"""', "    "),
            "",
            body,
            "",
        ]
    )


def _of_class(transport: str) -> str:
    """Return the docstring of the class that has the requests."""
    (found,) = [node for node in ast.parse(transport).body if isinstance(node, ast.ClassDef)]
    return ast.get_docstring(found) or ""


def _imports(body: str) -> Iterator[str]:
    """Yield an import for each name of the methods that is one of the brain's module."""
    found = {node.id for node in ast.walk(ast.parse("class _:\n" + body)) if isinstance(node, ast.Name)}
    yield "from collections.abc import AsyncIterator, Callable"
    known = {name: what for verb in VERBS.values() for name, what in verb.method.__globals__.items()}
    for name in sorted(found & known.keys()):
        what = known[name]
        module = {"Any": "typing", "EllipsisType": "types"}.get(name) or what.__module__
        yield f"from {module} import {name}"


def _method(verb: Verb) -> str:
    """Return the source of a client's method."""
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(verb.method))).body
    assert isinstance(function, ast.FunctionDef)
    left_out = {*verb.local, *(verb.callbacks if verb.lines else ())}
    parameters = [
        _parameter(each, _annotation(function, name), "" if verb.lines else name in verb.callbacks and name)
        for name, each in inspect.signature(verb.method).parameters.items()
        if name not in left_out
    ]
    returned = ast.unparse(function.returns).replace("Iterator[", "AsyncIterator[")  # type: ignore[arg-type]
    words = "def" if verb.lines else "async def"
    head = f"{words} {verb.name}({', '.join(_with_marks(verb, parameters, left_out))}) -> {returned}:"
    told = textwrap.indent(f'"""{_docstring(verb, left_out)}', "    ").lstrip()
    closes = '\n    """' if "\n\n" in told else '"""'
    return f"{head}\n    {told}{closes}\n{textwrap.indent(_body(verb, returned), '    ')}"


def _annotation(function: ast.FunctionDef, name: str) -> str:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    (found,) = [each for each in every if each is not None and each.arg == name]
    return "" if found.annotation is None else ast.unparse(found.annotation)


def _parameter(parameter: inspect.Parameter, annotation: str, callback: str | bool) -> str:
    star = "*" * (2 if parameter.kind is parameter.VAR_KEYWORD else parameter.kind is parameter.VAR_POSITIONAL)
    if callback == "progress":
        return f"progress: {_progress(annotation)} = None"
    if callback == "stop":
        return f"stop: {annotation} = lambda: False"
    default = parameter.default
    shown = "" if default is parameter.empty else " = ..." if default is ... else f" = {default!r}"
    return f"{star}{parameter.name}{f': {annotation}' if annotation else ''}{shown}"


def _progress(annotation: str) -> str:
    return PROGRESS.format("str, " if _is_named(annotation) else "")


def _is_named(annotation: str) -> bool:
    """Return whether progress is called with the name of the step."""
    return annotation == "RankProgress" or "str" in annotation


def _with_marks(verb: Verb, parameters: list[str], left_out: set[str]) -> list[str]:
    """Return parameters with the marks of those that are given by place or by name alone."""
    signature = inspect.signature(verb.method).parameters.values()
    kinds = [each.kind for each in signature if each.name not in left_out]
    marked = list(parameters)
    keyword = inspect.Parameter.KEYWORD_ONLY
    if keyword in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        marked.insert(kinds.index(keyword), "*")
    places = [place for place, kind in enumerate(kinds) if kind is inspect.Parameter.POSITIONAL_ONLY]
    if places:
        marked.insert(places[-1] + 1, "/")
    return marked


def _docstring(verb: Verb, left_out: set[str]) -> str:
    """Return the docstring of a verb, without the arguments that a client lacks."""
    kept, skipping = [], False
    for line in (inspect.getdoc(verb.method) or "").splitlines():
        if not line.startswith(" " * 5):
            skipping = line.startswith("    ") and line.strip().partition(":")[0] in left_out
        if not skipping:
            kept.append(line)
    return "\n".join(kept).replace("\n\nArgs:\n\n", "\n\n")


def _body(verb: Verb, returned: str) -> str:
    """Return the statements of a client's method."""
    given = {name: _given(name, option, _annotation_of(verb, name)) for name, option in verb.arguments.items()}
    pairs = "{" + ", ".join(f'"{name}": {value}' for name, value in given.items()) + "}"
    kind = returned if returned != "None" else "None"
    if verb.lines:
        return f'return self._lines("{verb.name}", {returned.removeprefix("AsyncIterator[")[:-1]}, {pairs})'
    if verb.long:
        named = "progress" in verb.callbacks and _is_named(_annotation_of(verb, "progress"))
        job = f"Job(progress, {named}{', stop' if 'stop' in verb.callbacks else ''})"
        asked = f'self._job("{verb.name}", {kind}, {pairs}, {job})'
    elif verb.items and verb.parameters[verb.items].kind is not inspect.Parameter.VAR_POSITIONAL:
        repeats = ", repeats=True" if verb.repeats else ""
        asked = f'self._parts("{verb.name}", {kind}, "{verb.field}", "{verb.items}", {verb.items}{repeats})'
    else:
        request = f'{"get" if verb.reads else "post"}("{verb.name}"{", " + pairs if given or not verb.reads else ""})'
        asked = f'self._ask({request}, {kind}, "{verb.field}")'
    return f"await {asked}" if returned == "None" else f"answer: {returned} = await {asked}\nreturn answer"


def _annotation_of(verb: Verb, name: str) -> str:
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(verb.method))).body
    assert isinstance(function, ast.FunctionDef)
    return _annotation(function, name)


def _given(name: str, option: Option, annotation: str) -> str:
    """Return the expression that sends an argument."""
    return f"shapes.listed({name})" if option.many else f"shapes.text({name})" if "bytes" in annotation else name


def main() -> int:
    """Print the differences, or make the files; exit 1 if there are some that are not made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make the files anew")
    write, differs = parser.parse_args().write, False
    for path, text in made().items():
        if write:
            path.write_text(text, encoding="utf-8")
            continue
        here = path.read_text(encoding="utf-8").splitlines(keepends=True)
        difference = list(difflib.unified_diff(here, text.splitlines(keepends=True), path.name, "made"))
        sys.stdout.writelines(difference)
        differs |= bool(difference)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
