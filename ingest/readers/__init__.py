"""Readers of papers in every format but PDF."""
