"""The recogniser that the settings ask for, if it is installed."""

from importlib.util import find_spec
from typing import Literal, NamedTuple

from ingest.ocr.rapid import RapidRecognizer
from ingest.ocr.recognizer import TextRecognizer

__all__ = ["Recognition", "recognizer_for"]


class Recognition(NamedTuple):
    """A recogniser, or why there is none and what to do about it."""

    recognizer: TextRecognizer | None
    remedy: str = ""


def recognizer_for(ocr: Literal["auto", "off"]) -> Recognition:
    """RapidOCR where the extra `ocr` is installed and recognition isn't switched off."""
    if ocr == "off":
        return Recognition(None, "text recognition (OCR) is off; set parser.ocr to auto to read it")
    if find_spec("rapidocr") is None or find_spec("onnxruntime") is None:
        return Recognition(None, 'install text recognition (OCR) to read it: pip install "paperscope[ocr]"')
    return Recognition(RapidRecognizer())
