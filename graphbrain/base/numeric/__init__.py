"""Arrays, sparse matrices, and the rules and names of scores.

May touch: nothing.
"""

__all__ = ["arrays", "bounds", "csr", "ids", "methods", "rules"]
