"""Formulas as MathML, which browsers draw by themselves: pages need no script from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def to_mathml(formula: str, *, is_block: bool) -> str:
    """Return a formula of LaTeX as an element of MathML."""
    return tex2mathml(formula.strip(), as_block=is_block)


def visit(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula; one that cannot be read is a warning and stays as it is."""
    is_block = isinstance(node, nodes.math_block)
    try:
        element = to_mathml(node.astext(), is_block=is_block)
    except (MathError, SyntaxError) as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        element = translator.encode(node.astext())
    translator.body.append(f'<div class="math">{element}</div>' if is_block else element)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the writer of formulas."""
    app.add_html_math_renderer("mathml", (visit, None), (visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
