"""Files in and out: imports and dumps.

May touch: the user's files, and a local server while a database is made beside it.
"""

__all__ = ["dump", "formats", "harvest", "importer", "reader", "seed_files"]
