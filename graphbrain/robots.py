"""robots.txt by RFC 9309, for users: what a crawler of one's own asks before it fetches."""

from graphbrain.hosts.robots import LONGEST_TEXT, Robots, fingerprint, parsed, product, readable, remembered

__all__ = ["LONGEST_TEXT", "Robots", "fingerprint", "parsed", "product", "readable", "remembered"]
