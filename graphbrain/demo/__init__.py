"""`graphbrain demo`: a small web on loopback, an example crawler, and the brain's result.

`pages` and `web` are the web, `crawler` is the file to copy, `show` runs them together.
"""
