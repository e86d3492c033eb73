"""The laboratory: measures Paperscope, and trains and compares entity extractors."""

__version__ = "0.1.0"
