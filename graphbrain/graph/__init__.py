"""The only access to Neo4j: connections and transactions, statements, the schema, bulk reads.

All other rooms use the database through a `Graph` and its `Tx`, by the name of a statement in `cypher/`. This room
knows the schema of pages and links; the rooms above know their meaning.
May touch: the driver, files in `cypher/`. Knows of graphbrain: words only.
"""

__all__ = ["brain_state", "connection", "exports", "schema", "statements"]
