"""A parsed robots.txt, by the short name that users import. `graphbrain.frontier.hosts.robots` has the code."""

from graphbrain.frontier.hosts.robots import LONGEST_TEXT, Robots, fingerprint, parsed, product, readable, remembered

__all__ = ["LONGEST_TEXT", "Robots", "fingerprint", "parsed", "product", "readable", "remembered"]
