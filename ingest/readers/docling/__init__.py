"""Reads PDF files with docling, an optional engine."""
