"""Arrays, sparse matrices, the names of scores, and the settings of accounts.

May touch: nothing.
"""

__all__ = ["arrays", "bounds", "csr", "ids", "methods", "rules"]
