"""Ask your papers a question and get an answer that you can check."""

__all__ = ["__version__"]


__version__ = "0.1.0"
