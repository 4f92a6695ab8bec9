"""The address of a page, as the brain writes it, by the short name that users import.
`graphbrain.base.urls.normalization` has the code."""

from graphbrain.base.urls.normalization import host_of, spell

__all__ = ["host_of", "spell"]
