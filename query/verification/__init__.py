"""Checks an answer without a model: numbers, computations, names and quotations."""

from query.verification.verify import Cited, Verified, verify

__all__ = ["Cited", "Verified", "verify"]
