"""What analysts ask of a crawl: questions in Cypher and those computed in memory, and their answers.

A question is a file of `cypher/analyst/`, to be pasted into Neo4j Browser or asked by name.
May touch: reading transactions only; the files it is told to write.
"""

__all__ = ["computed", "questions", "summary"]
