"""Measures how fast Paperscope parses and how much memory that takes, beside others on the same files."""

from evaluation.bench.cli import main

__all__ = ["main"]
