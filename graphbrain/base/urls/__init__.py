"""URLs: their normal form, host names, what is masked in them, patterns that they contain, logins.

May touch: nothing.
"""

__all__ = ["hostnames", "logins", "masking", "normalization", "patterns", "walls"]
