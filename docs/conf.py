"""How Sphinx builds these pages: `sphinx-build -W docs build`."""

project = "graphbrain"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 3
# Cypher has no lexer in Pygments; what cannot be coloured is shown as it is.
suppress_warnings = ["misc.highlighting_failure"]
exclude_patterns = ["build"]
