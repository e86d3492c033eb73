"""Paperscope: ask your papers a question, get an answer that you can check.

This package holds what every room shares (values, protocols, errors, settings, model clients) and the two ways in
for Python: `paperscope.library.Library` and the command line in `paperscope.cli`.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
