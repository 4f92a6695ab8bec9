"""A local Neo4j, to start and stop, by the short name that users import. `graphbrain.graph.server.lifecycle` has the
code."""

from graphbrain.graph.server.lifecycle import Server, Status, default_data_dir, find, logs, restart, start, status, stop

__all__ = ["Server", "Status", "default_data_dir", "find", "logs", "restart", "start", "status", "stop"]
