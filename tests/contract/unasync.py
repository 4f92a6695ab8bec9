"""The client that waits, made from the one for event loops: `graphbrain.service.client.synchronous` is not written by
hand.

    python -m tests.contract.unasync            print the difference
    python -m tests.contract.unasync --write    make the file anew

As httpcore does it: words are substituted, line by line. A test compares the result with the file.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys

from tests.contract.source import PACKAGE

__all__ = ["SOURCE", "TARGET", "made"]

CLIENT = PACKAGE / "service" / "client"
SOURCE, TARGET = CLIENT / "asynchronous.py", CLIENT / "synchronous.py"

SUBSTITUTIONS = (
    (
        '"""The client for programs with an event loop: `graphbrain.AsyncClient`, the verbs of `Client` as coroutines.',
        '"""The client that waits for its answers: `graphbrain.Client`.\n\n'
        "Made from `graphbrain.service.client.asynchronous`: change that, and run "
        "`python -m tests.contract.unasync --write`.\n",
    ),
    (
        "as `Client`, for an event loop. Use it as an asynchronous context manager, or close it.",
        "as `Brain`. Thread-safe. Use it as a context manager, or close it.",
    ),
    (
        "import AsyncIterator, Callable, Iterable, Mapping, Sequence",
        "import Callable, Iterable, Iterator, Mapping, Sequence",
    ),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bAsyncClient\b", "Client"),
    (r"\bretrying_async\b", "retrying"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_lines\b", "iter_lines"),
)
"""Pattern → text, in this order; the first three are whole phrases."""
PHRASES = 3


def made() -> str:
    """Return the source of the client that waits, as it follows from the other one."""
    text = SOURCE.read_text(encoding="utf-8")
    for number, (pattern, new) in enumerate(SUBSTITUTIONS):
        if number < PHRASES:
            assert text.count(pattern) == 1, f"{SOURCE.name} has not this text once: {pattern}"
            text = text.replace(pattern, new)
        else:
            text = re.sub(pattern, new, text)
    return text


def main() -> int:
    """Print the difference, or make the file; exit 1 if there is one that is not made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make graphbrain/service/client/synchronous.py anew")
    if parser.parse_args().write:
        TARGET.write_text(made(), encoding="utf-8")
        return 0
    here = TARGET.read_text(encoding="utf-8").splitlines(keepends=True)
    difference = list(difflib.unified_diff(here, made().splitlines(keepends=True), TARGET.name, "made"))
    sys.stdout.writelines(difference)
    return int(bool(difference))


if __name__ == "__main__":
    sys.exit(main())
