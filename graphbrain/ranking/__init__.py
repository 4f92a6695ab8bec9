"""Batch scores: PageRank, HITS and their kin over the whole graph, and where their results are kept.

`algorithms` is pure: arrays in, scores and an error bound out. `store` reads links and writes scores in batches.
May touch: statements on scores. Knows nothing of the live accounts.
"""

__all__ = ["algorithms", "store"]
