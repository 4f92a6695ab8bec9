"""Functions of URLs: normal forms, host names, removal of passwords, patterns of a scope, recognition of logins.

May touch: nothing.
"""

__all__ = ["hostnames", "logins", "masking", "normalization", "patterns", "walls"]
