"""Text recognition (OCR) of pages that have no usable text: `OcrBackend` round another backend."""

from ingest.ocr.backend import OcrBackend
from ingest.ocr.recognizer import FakeRecognizer, Recognition, RecognizedWord, TextRecognizer
from ingest.ocr.usable import needs_recognition
from ingest.ocr.wiring import recognition_for

__all__ = [
    "FakeRecognizer",
    "OcrBackend",
    "Recognition",
    "RecognizedWord",
    "TextRecognizer",
    "needs_recognition",
    "recognition_for",
]
