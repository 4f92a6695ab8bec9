"""Functions of URLs: normal forms, host names, removal of passwords, patterns of a scope, rules for hosts, recognition of logins.

May touch: nothing.
"""

__all__ = ["host_rules", "hostnames", "logins", "masking", "normalization", "patterns", "walls"]
