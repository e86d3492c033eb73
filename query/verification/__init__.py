"""Checks an answer without a model: numbers, computations, names, quotations and links."""

from query.verification.printed_links import check_links
from query.verification.verify import Cited, Verified, verify

__all__ = ["Cited", "Verified", "check_links", "verify"]
