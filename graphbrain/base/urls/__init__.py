"""URLs: their normal form, host names, what is masked in them, and patterns that they contain.

May touch: nothing.
"""

__all__ = ["hostnames", "masking", "normalization", "patterns", "walls"]
