"""Settings of the documentation: `make docs` builds it with Sphinx, offline.

The pages are the Markdown files of this folder. Three things are made by code: the pictures
(`pictures.py`), the pages of the reference (`reference_pages.py`), which follow the `__all__`
of every public package, and the worked examples with their notebooks (`example_notebooks.py`).
"""

import re
import sys
from pathlib import Path

from docutils import nodes

import tacit

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "Tacit"
author = "The Tacit developers"
copyright = "The Tacit developers"
version = release = tacit.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx.ext.viewcode",
    "sphinx_design",
]
exclude_patterns = ["skeleton", "README.md"]
myst_enable_extensions = ["colon_fence"]
highlight_language = "none"
myst_heading_anchors = 3
nitpicky = False
suppress_warnings = ["autodoc.import_cycle"]

numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": False}

html_theme = "pydata_sphinx_theme"
html_title = "Tacit"
html_static_path = ["static"]
html_css_files = ["tacit.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "lecture_topics": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "lecture_topics": []}


def skip_member(app, what, name, thing, skip, options):
    """Leave out what scikit-learn's base classes bring: every estimator has it."""
    home = getattr(thing, "__module__", None) or ""
    return True if home.startswith(("sklearn.", "builtins")) else None


def escape_docstring(app, what, name, thing, options, lines):
    """Docstrings are written to be read as they are; make them reStructuredText."""
    from reference_pages import escape

    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", ".. ")):
            continue
        declared = re.match(r"\s*\w+( : |$)", line)  # of a parameter or an attribute
        cut = declared.end() if declared else 0
        lines[i] = line[:cut] + escape(line[cut:])


def escape_properties(app, what, name, thing, options, lines):
    """numpydoc has put the docstrings of properties among the attributes, as they are."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", ".. ")):
            parts = re.split(r"(``.*?``|`.*?`)", line)
            parts[::2] = [re.sub(r"(?<=\w)_(?!\w)", r"\_", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def prepare(app) -> None:
    """Write the pages of the reference and the worked examples before Sphinx looks for them."""
    from example_notebooks import write_examples
    from reference_pages import write_reference

    write_reference()
    write_examples()


def trim_examples(app, doctree) -> None:
    """Examples end with an empty line, which doctest needs and readers do not."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.children = [nodes.Text(text)]
        block.rawsource = text


def draw_pictures(app, problem) -> None:
    """Draw the pictures anew into the site: it shows what the code of today gives. The files
    in the repository are for readers of the Markdown."""
    if problem is None and app.builder.name == "html":
        from pictures import DRAWN, draw

        images = Path(app.outdir) / "_images"
        draw(images, [name for name in DRAWN if (images / f"{name}.png").exists()])


def setup(app) -> None:
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("autodoc-process-docstring", escape_properties, priority=900)
    app.connect("builder-inited", prepare)
    app.connect("doctree-read", trim_examples)
    app.connect("build-finished", draw_pictures)
