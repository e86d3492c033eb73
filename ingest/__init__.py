"""Converts paper files to elements, chunks, entities and relations.

It imports nothing, so that a process loads only the modules it needs.
"""
