"""Files in and out: recorded crawls, imports, dumps, replays.

May touch: the user's files, and a local server while a database is made beside it.
"""

__all__ = ["dump", "importer", "recording", "replay", "seed_files"]
