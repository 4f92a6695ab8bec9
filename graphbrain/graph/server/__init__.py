"""A local Neo4j without Docker: its jars, its directory, its process.

The room fetches Neo4j from Maven, checks it against the lock files here, creates its home directory, starts and stops
it. Users know it as `graphbrain.server`.
May touch: processes, the network, the user's data and cache directories. Knows nothing of brains.
"""

__all__ = ["installation", "jars", "java_cache", "lifecycle", "prepare"]
