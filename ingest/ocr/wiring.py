"""The recogniser that the settings ask for, if it is installed."""

from importlib.util import find_spec
from typing import Literal

from ingest.ocr.rapid import RapidRecognizer
from ingest.ocr.recognizer import Recognition

__all__ = ["recognition_for"]


def recognition_for(ocr: Literal["auto", "off"]) -> Recognition:
    """RapidOCR where the extra `ocr` is installed and recognition isn't switched off."""
    if ocr == "off":
        return Recognition(remedy="text recognition (OCR) is off; set parser.ocr to auto to read it")
    if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
        return Recognition(remedy='install text recognition (OCR) to read it: pip install "paperscope[ocr]"')
    return Recognition(recognizer=RapidRecognizer())
