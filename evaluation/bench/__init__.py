"""Measures Paperscope beside others: how fast it parses, and how good it is at everything."""

from evaluation.bench.cli import main

__all__ = ["main"]
