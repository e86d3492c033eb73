"""Formulas as a line of text, from LaTeX, MathML and Word's OMML."""

from ingest.markup.maths.latex import latex_text, split_tag
from ingest.markup.maths.mathml import mathml_text
from ingest.markup.maths.omml import omml_text

__all__ = ["latex_text", "mathml_text", "omml_text", "split_tag"]
