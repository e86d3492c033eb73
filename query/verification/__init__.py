"""Checks an answer without a model: its numbers, the cells they stand in, its names and its quotations."""

from query.verification.verify import Cited, Verified, verify

__all__ = ["Cited", "Verified", "verify"]
