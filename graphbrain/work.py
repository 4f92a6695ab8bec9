"""The results of verbs that work on the whole brain, by the short name that users import. `graphbrain.base.work` has
the code."""

from graphbrain.base.work import Audit, Ranking, Settled, Tended

__all__ = ["Audit", "Ranking", "Settled", "Tended"]
