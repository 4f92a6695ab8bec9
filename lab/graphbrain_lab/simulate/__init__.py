"""Policies of revisiting, tried without a server on invented or recorded histories of changes.

`optimal_revisits` is the bound that no policy exceeds; `on_graph` runs a history on a real brain.
May touch: files of histories; a brain for `on_graph` alone.
"""

__all__ = ["histories", "on_graph", "optimal_revisits", "policies", "simulation"]
