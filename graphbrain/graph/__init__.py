"""The one door to Neo4j: connections and transactions, statements, the schema, bulk reads.

Everybody else speaks to the database through a `Graph` and its `Tx`, by the name of a statement in `cypher/`. What is
written here of pages and links is the schema only; what they mean is known to the rooms above.
May touch: the driver, files in `cypher/`. Knows of graphbrain: words only.
"""

__all__ = ["brain_state", "connection", "exports", "schema", "statements"]
