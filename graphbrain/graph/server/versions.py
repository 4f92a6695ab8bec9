"""The versions of Neo4j and of Neo4j Browser that graphbrain runs.

This is the only place of these versions. For a new one, `python -m graphbrain.graph.server.jars VERSION` makes the lock
file graphbrain/graph/server/neo4j-VERSION.lock.
"""

__all__ = ["BROWSER_VERSION", "NEO4J_LTS_VERSION", "NEO4J_VERSION"]

NEO4J_VERSION = "2026.09.0"
NEO4J_LTS_VERSION = "5.26.12"
BROWSER_VERSION = "5.24.0"
