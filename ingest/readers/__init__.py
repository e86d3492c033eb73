"""Readers for every format except PDF."""
