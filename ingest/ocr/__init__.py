"""Text recognition (OCR) of pages that have no usable text: `OcrBackend` round another backend."""

from ingest.ocr.backend import OcrBackend
from ingest.ocr.recognizer import FakeRecognizer, RecognizedWord, TextRecognizer
from ingest.ocr.wiring import recognizer_for

__all__ = ["FakeRecognizer", "OcrBackend", "RecognizedWord", "TextRecognizer", "recognizer_for"]
