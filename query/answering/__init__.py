"""Answers with a language model and a vision model."""
