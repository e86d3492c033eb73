"""Reading papers from the folder that MinerU writes: `MinerUParser`."""

from ingest.mineru.folder import is_mineru_folder, mineru_file
from ingest.mineru.parser import MinerUParser

__all__ = ["MinerUParser", "is_mineru_folder", "mineru_file"]
