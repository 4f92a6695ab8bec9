"""The only access to Neo4j: connections and transactions, statements, the schema, bulk reads, and a local server.

All other rooms use the database through a `Graph` and its `Tx`, by the name of a statement in `cypher/`. This room
knows the schema of pages and links; the rooms above know their meaning. `server` fetches, starts and stops a local
Neo4j.
May touch: the driver, files in `cypher/`; for the server processes, the network and the user's directories.
"""

__all__ = [
    "brain_state",
    "connection",
    "exports",
    "schema",
    "server",
    "statements",
]
