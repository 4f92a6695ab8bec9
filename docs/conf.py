"""How Sphinx builds these pages: `sphinx-build -W docs build`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from graphbrain import __version__

project = "graphbrain"
release = version = __version__
copyright = "the graphbrain maintainers. Apache License 2.0"
language = "en"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "from_code",
]
exclude_patterns = ["build", "_*"]
# Cypher has no lexer in Pygments; what cannot be coloured is shown as it is.
suppress_warnings = ["misc.highlighting_failure"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_preserve_defaults = True
autoclass_content = "class"
# Docstrings have names of code between single backticks.
default_role = "code"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
templates_path = ["_templates"]
html_title = f"graphbrain {release}"
html_static_path = ["_static"]
html_css_files = ["graphbrain.css"]
html_js_files = [("graphbrain.js", {"defer": "defer"})]
# Furo puts the button "View this page" outside of all landmarks.
html_theme_options = {"top_of_page_buttons": []}
html_show_sphinx = False
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
