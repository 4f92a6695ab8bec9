"""A local Neo4j without Docker: its jars, its directory, its process.

It fetches Neo4j from Maven, checks it against the lock files here, creates its home directory, starts and stops it.
Users may call `server.start()`, `find` and `stop`, too.
May touch: processes, the network, the user's data and cache directories. Knows nothing of brains.
"""

from graphbrain.server.lifecycle import Server, Status, default_data_dir, find, logs, restart, start, status, stop

__all__ = [
    "Server",
    "Status",
    "default_data_dir",
    "find",
    "installation",
    "jars",
    "java_cache",
    "lifecycle",
    "logs",
    "prepare",
    "restart",
    "start",
    "status",
    "stop",
]
