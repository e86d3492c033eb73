"""Text recognition (OCR) of pages without usable text: `OcrBackend` wraps another backend."""

from ingest.ocr.backend import OcrBackend, needs_recognition
from ingest.ocr.recognizer import Recognition, RecognizedWord, TextRecognizer, recognition_for

__all__ = [
    "OcrBackend",
    "Recognition",
    "RecognizedWord",
    "TextRecognizer",
    "needs_recognition",
    "recognition_for",
]
