"""Reading papers from the folder that MinerU writes, and running MinerU: `MinerUParser`, `MinerUCommandParser`."""

from ingest.mineru.command import MinerUCommandParser
from ingest.mineru.folder import is_mineru_folder, mineru_file
from ingest.mineru.parser import MinerUParser

__all__ = ["MinerUCommandParser", "MinerUParser", "is_mineru_folder", "mineru_file"]
