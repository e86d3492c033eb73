"""What a vision model sees in a paper's pictures, and how that becomes part of its graph and chunks."""

from ingest.describing.describer import ImageDescriber
from ingest.describing.graph import add_to_chunks, add_to_graph
from ingest.describing.picking import Picked, pick_images

__all__ = ["ImageDescriber", "Picked", "add_to_chunks", "add_to_graph", "pick_images"]
