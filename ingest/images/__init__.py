"""Papers that are pictures: PNG, JPEG, TIFF of one page or many, WebP, BMP."""

from ingest.images.frames import IMAGE_SUFFIXES, is_image
from ingest.images.parser import ImageParser

__all__ = ["IMAGE_SUFFIXES", "ImageParser", "is_image"]
