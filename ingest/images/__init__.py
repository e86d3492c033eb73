"""Papers that are pictures: PNG, JPEG, TIFF of one page or many, WebP, BMP."""

from ingest.images.frames import is_image
from ingest.images.parser import ImageParser

__all__ = ["ImageParser", "is_image"]
