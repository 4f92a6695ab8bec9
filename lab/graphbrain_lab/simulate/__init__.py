"""Simulations of revisit policies on invented or recorded histories of changes, without a server.

`optimal_revisits` computes the bound that no policy exceeds. `on_graph` runs a history on a real brain.
May touch: files of histories; a brain in `on_graph`.
"""

__all__ = ["histories", "on_graph", "optimal_revisits", "policies", "simulation"]
