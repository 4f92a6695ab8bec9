"""Functions of URLs: normal forms, host names, rules for hosts, removal of passwords, patterns of a scope, logins.

May touch: nothing.
"""

__all__ = ["host_rules", "hostnames", "logins", "masking", "normalization", "patterns", "url_rules", "walls"]
