"""The dict that forgets."""

from __future__ import annotations

from graphbrain.base.runtime.newest import Newest


def test_the_entries_that_were_set_last_are_kept() -> None:
    known: Newest[str, int] = Newest(2)
    for n, name in enumerate(("a", "b", "a", "c")):
        known[name] = n
    assert known == {"a": 2, "c": 3}
