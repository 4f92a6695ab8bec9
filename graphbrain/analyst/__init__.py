"""The questions of analysts about a crawl, in Cypher or computed in memory, and their answers.

A question is a file of `cypher/analyst/`, to be pasted into Neo4j Browser or asked by name.
May touch: reading transactions only; a socket on loopback for the guide.
"""

__all__ = ["computed", "findings", "frames", "guide", "last_look", "questions", "results", "summary"]
