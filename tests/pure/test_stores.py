"""What is done to Neo4j's import tool from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphbrain.ingest import neo4j_admin

NAMED = """
import ctypes, sys, threading
def name(text): ctypes.CDLL(None).prctl(15, text.encode(), 0, 0, 0)
def work(text, done):
    name(text)
    print(threading.get_native_id(), flush=True)
    done.wait()
done = threading.Event()
for text in ("PageCacheFlusher", "NodesImporter-1"):
    threading.Thread(target=work, args=(text, done), daemon=True).start()
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only here threads have priorities of their own")
def test_the_tools_flusher_comes_after_its_other_threads() -> None:
    with subprocess.Popen([sys.executable, "-c", NAMED], stdin=-1, stdout=-1, text=True) as tool:
        assert tool.stdin is not None and tool.stdout is not None
        threads = [int(tool.stdout.readline()) for _ in range(2)]
        names = {(Path(f"/proc/{tool.pid}/task/{thread}/comm").read_text().strip()): thread for thread in threads}
        before = os.getpriority(os.PRIO_PROCESS, tool.pid)
        neo4j_admin._let_others_go_first(tool.pid)
        assert os.getpriority(os.PRIO_PROCESS, names["PageCacheFlushe"]) == neo4j_admin.LOWER
        assert os.getpriority(os.PRIO_PROCESS, names["NodesImporter-1"]) == before
        assert os.getpriority(os.PRIO_PROCESS, tool.pid) == before
        tool.stdin.close()
    neo4j_admin._let_others_go_first(tool.pid)  # it has ended
