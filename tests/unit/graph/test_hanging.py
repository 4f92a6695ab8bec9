"""The watch over calls that hang: whose driver is dropped, and when."""

from __future__ import annotations

import threading
import time

from graphbrain.graph.hanging import Watch


def test_who_is_in_a_hurry_waits_for_no_call_that_hangs() -> None:
    dropped, gone = list[str](), threading.Event()

    def drop(driver: str) -> None:
        dropped.append(driver)
        gone.set()

    watch, began = Watch[str](drop), time.monotonic()
    with watch.over("slow", 3_600.0, slow=True), watch.over("running", 3_600.0):
        watch.hurry(0.1)
        assert gone.wait(10.0)
    gone.clear()
    with watch.over("later", 3_600.0):
        assert gone.wait(10.0)
    watch.stop()
    assert dropped == ["running", "later"] and time.monotonic() - began < 10.0
