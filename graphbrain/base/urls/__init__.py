"""URLs: their normal form, host names, and what is masked in them.

May touch: nothing.
"""

__all__ = ["hostnames", "masking", "normalization", "walls"]
