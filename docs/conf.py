"""How Sphinx builds the documentation: ``make docs``."""

import re
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.util.nodes import make_refnode

import pidselect

project = "pidselect"
author = "The pidselect developers"
copyright = author
version = release = pidselect.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "contents",
    "mathml",
]
exclude_patterns = ["_build", "api/generated/README*"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:class|py:obj", ".*")]  # many are words, or names inside
default_role = "py:obj"  # names in docstrings lead to what they name

# Pages are plain Markdown that also reads well where it is stored.
myst_enable_extensions = ["dollarmath", "html_image"]
myst_dmath_allow_digits = False
myst_dmath_allow_space = False
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4

# Docstrings say the types in words, so signatures need not repeat them.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autosummary_ignore_module_all = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "ignore_pattern": r"^(?!plot_)",
    "image_scrapers": ("pictures.scrape",),
    "capture_repr": ("_repr_html_", "__repr__"),
    "copyfile_regex": "^$",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("pidselect",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"pidselect": None},
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 60,
    "write_computation_times": False,
    "ignore_repr_types": "Display",
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = "pidselect"
html_static_path = ["_static"]
html_css_files = ["pidselect.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


INTERNAL = (Path(__file__).parent / "api" / "internal.txt").read_text(encoding="utf-8").split()

#: Packages of the results that users read, and do not make.
RESULTS = ("pidselect.selection.", "pidselect.decomposition.", "pidselect.datasets.")

#: What a docstring may name without its class or module.
NAMED_ALONE, SELECTOR = ("class", "exception", "function"), "pidselect.PIDSelector"

for field in PyObject.doc_field_types:
    if field.name == "variable":
        field.label = "Attributes"  # as in the docstrings


def skip_member(app: Sphinx, what: str, name: str, value: object, skip: bool, options: Any) -> bool:
    """Leave out what scikit-learn writes into the class, and what only this package calls."""
    called = getattr(value, "fget", None) or value
    return skip or name == "set_fit_request" or getattr(called, "__qualname__", "") in INTERNAL


def is_result(value: object) -> bool:
    """Return whether users read objects of a class, and do not make them."""
    return is_dataclass(value) and getattr(value, "__module__", "").startswith(RESULTS)


def drop_signature(app: Sphinx, what: str, name: str, value: object, *rest: Any) -> Any:
    """Leave out the arguments of protocols, results and errors: nobody calls them."""
    is_error = isinstance(value, type) and issubclass(value, BaseException)
    is_read = is_error or is_result(value) or getattr(value, "_is_protocol", False)
    _, arguments, returned, *_ = rest
    if arguments is None:
        return None
    return ("", None) if is_read else (arguments.replace(", **refused", ""), returned)


def before_napoleon(app: Sphinx, what: str, name: str, value: object, *rest: Any) -> None:
    """Show the fields of results as attributes, and keep the colons of properties.

    Else napoleon reads what is before the colon as the type of the property.
    """
    lines: list[str] = rest[-1]
    if what == "class" and is_result(value) and "Parameters" in lines:
        place = lines.index("Parameters")
        lines[place : place + 2] = ["Attributes", "----------"]
    if what == "property" and lines and ":" in lines[0]:
        lines[0] = f": {lines[0]}"


def find_by_ending(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Return a link to the page of a name such as ``Explanation.share``, in whatever module it is.

    Of methods without their class only those of the selector are found: others may be parameters.
    """
    target, python = node["reftarget"], env.get_domain("py")
    found = [
        name
        for name, entry in python.objects.items()
        if name.endswith(f".{target}")
        and not entry.aliased
        and ("." in target or entry.objtype in NAMED_ALONE or name == f"{SELECTOR}.{target}")
    ]
    least = min((name.count(".") for name in found), default=0)
    nearest = [name for name in found if name.count(".") == least]
    if node.get("refdomain") != "py" or len(nearest) != 1:
        return None
    entry = python.objects[nearest[0]]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, target)


def keep_underscores(app: Sphinx, what: str, name: str, value: object, *rest: Any) -> None:
    """Let the last letter of names such as ``selection_`` be a letter: else it is markup."""
    lines: list[str] = rest[-1]
    for place, line in enumerate(lines):
        if head := re.match(r":(?:ivar|vartype) [^:]*:", line):
            lines[place] = re.sub(r"_(?=[,:])", r"\\_", head[0]) + line[head.end() :]


def setup(app: Sphinx) -> None:
    """Connect these functions to Sphinx."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("missing-reference", find_by_ending)
    app.connect("autodoc-process-signature", drop_signature)
    app.connect("autodoc-process-docstring", before_napoleon, priority=100)
    app.connect("autodoc-process-docstring", keep_underscores, priority=900)  # after napoleon
