"""What PyMuPDF, the recognition of text and the embedder bring along reports nothing to anybody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_OPEN = """
import sys
from pathlib import Path
from ingest.pdf import PdfBackend
file = Path(sys.argv[1])
with PdfBackend().open(file.read_bytes(), name=file.name, password=None) as document:
    assert document.page_count
"""
_RECOGNISE = """
import sys
from PIL import Image
from ingest.ocr.recognizer import RapidRecognizer
RapidRecognizer().recognize(Image.new("RGB", (64, 64), "white"))
"""
_EMBED = """
import asyncio
from paperscope_core.models import find_weights
from paperscope_core.models.embedders import LocalEmbedder
asyncio.run(LocalEmbedder(find_weights("")).embed(["text"]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("work", [_OPEN, _RECOGNISE, _EMBED], ids=["opening", "recognising", "embedding"])
def test_nothing_is_reported_to_onnxruntimes_maker(root: Path, tmp_path: Path, work: str) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": ""}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    paper = root / "examples" / "paper" / "ner-report.pdf"
    subprocess.run([sys.executable, "-c", work, str(paper)], env=environment, check=True, timeout=120)  # noqa: S603
    assert not [path for path in tmp_path.rglob("*") if "microsoft" in str(path.relative_to(tmp_path)).lower()]
