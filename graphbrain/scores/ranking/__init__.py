"""Batch scores of the whole graph (PageRank, HITS and related methods), and their storage.

`algorithms` is pure: it takes arrays and returns scores with an error bound. `store` reads links and writes scores in
batches.
May touch: statements on scores. Knows nothing of the live accounts.
"""

__all__ = ["algorithms", "store"]
