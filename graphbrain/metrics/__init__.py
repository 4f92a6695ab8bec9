"""Metrics of a program, by the short names that users import. `graphbrain.service.metrics` has the code."""
