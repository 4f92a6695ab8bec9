"""URLs: their normal form, by the rules of now and of earlier brains, host names, and what is masked in them.

May touch: nothing.
"""

__all__ = ["earlier_rules", "hostnames", "masking", "normalization", "rules_v1", "rules_v2", "walls"]
