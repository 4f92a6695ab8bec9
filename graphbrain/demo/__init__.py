"""`graphbrain demo`: a small web on loopback, an example crawler, and what the brain makes of it.

`pages` and `web` are the web, `crawler` is the file to copy, `show` puts them together.
"""
