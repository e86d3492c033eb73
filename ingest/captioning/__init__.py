"""Descriptions of a paper's images by a vision model."""

from ingest.captioning.captioner import ImageCaptioner
from ingest.captioning.selection import Selection, select_images
from ingest.extraction.image_entities import add_to_chunks, add_to_graph

__all__ = ["ImageCaptioner", "Selection", "add_to_chunks", "add_to_graph", "select_images"]
