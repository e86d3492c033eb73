"""Descriptions of a paper's images by a vision model."""

from ingest.captioning.captioner import ImageCaptioner
from ingest.captioning.selection import select_images
from ingest.extraction.float_entities import add_to_chunks, add_to_graph

__all__ = ["ImageCaptioner", "add_to_chunks", "add_to_graph", "select_images"]
