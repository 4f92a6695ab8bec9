"""The only access to Neo4j: connections and transactions, statements, the schema, bulk reads, and a local server.

All other rooms use the database through a `Graph` and its `Tx`, which run statements by their names. `connection` has
both, and runs a transaction again after a deadlock or a lost connection. `statements` reads the files in `cypher/`.
`schema` makes the indexes and constraints. This room knows the schema of pages and links; the rooms above know their
meaning. `server` fetches, starts and stops a local Neo4j.
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
