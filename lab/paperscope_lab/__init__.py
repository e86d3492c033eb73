"""The laboratory: measures Paperscope, and trains and compares entity extractors."""

__all__ = ["__version__"]

__version__ = "0.1.0"
