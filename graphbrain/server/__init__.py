"""A Neo4j of one's own on this machine, without Docker: its jars, its directory, its process.

It fetches Neo4j from Maven, checks it against the lock files here, lays out a home for it, starts and stops it.
Others ask `lifecycle` for the address of a running server.
May touch: processes, the network, the user's data and cache directories. Knows nothing of brains.
"""

__all__ = ["installation", "jars", "java_cache", "lifecycle", "prepare"]
