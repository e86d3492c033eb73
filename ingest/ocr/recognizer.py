"""The protocol of text recognisers, and the RapidOCR adapter."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from threading import Lock
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from PIL import Image

from ingest.document.pages import PageReadError
from paperscope_core.telemetry import disable_onnxruntime_telemetry
from paperscope_core.types import Box

__all__ = ["Recognition", "RecognizedWord", "TextRecognizer", "recognition_for"]

# RapidOCR's results have no types.
Untyped: TypeAlias = Any
_FINDER, _READER = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
_MAX_THREADS = 4
_MAX_SIDE = 4000
_FAILURES = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, OSError, MemoryError)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecognizedWord:
    """A recognised word.

    Attributes:
        box: Its box in pixels.
        confidence: From 0 to 1.
        letters: The x of each letter's centre, empty if unknown.
    """

    text: str
    box: Box
    line: int
    confidence: float
    letters: tuple[float, ...] = ()


class TextRecognizer(Protocol):
    """Recognises the text of an image."""

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        """Return the words of an RGB image. Raise `PageReadError` if recognition fails."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Recognition:
    """A recogniser, or the remedy to mention without one."""

    recognizer: TextRecognizer | None = None
    remedy: str = ""


class RapidRecognizer:
    """Recognises Latin and Chinese text with RapidOCR, whose models are part of its wheel; nothing is downloaded.

    The models are loaded for the first image and used by one thread at a time.
    """

    def __init__(self) -> None:
        self._engine: Untyped = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["RapidRecognizer"], tuple[()]]:
        """Return pickles without the models; another process loads its own."""
        return RapidRecognizer, ()

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        """See `TextRecognizer.recognize`."""
        # OpenCV's colour order.
        pixels = np.ascontiguousarray(np.asarray(picture.convert("RGB"))[:, :, ::-1])
        try:
            with self._lock:
                if self._engine is None:
                    self._engine = _engine()
                result = self._engine(pixels, use_cls=False, return_word_box=True, return_single_char_box=True)
        except _FAILURES as error:
            raise PageReadError(f"text recognition failed: {str(error) or type(error).__name__}") from error
        return tuple(_words(result))


def _engine() -> Untyped:
    disable_onnxruntime_telemetry()
    from rapidocr import RapidOCR

    models = files("rapidocr") / "models"
    threads = max(1, min(_MAX_THREADS, os.cpu_count() or 1))
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": _MAX_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # RapidOCR downloads nothing if the paths are given.
            "Det.model_path": str(models / _FINDER),
            "Rec.model_path": str(models / _READER),
        }
    )


def _words(result: Untyped) -> Iterator[RecognizedWord]:
    """Yield the words of all lines; RapidOCR returns the text of a line, and its letters separately."""
    if result.boxes is None or result.txts is None:
        return
    lines = zip(result.boxes, result.txts, result.scores, result.word_results, strict=False)
    for number, (corners, text, score, letters) in enumerate(lines):
        line = _box(corners)
        known = [(str(letter), float(sure), _box(quad)) for letter, sure, quad in letters if quad is not None]
        known = [item for item in known if item[0].strip()]
        words = str(text).split()
        if [letter for letter, _, _ in known] != list("".join(words)):
            yield RecognizedWord(text=str(text), box=line, line=number, confidence=round(float(score), 3))
            continue
        at = 0
        for word in words:
            own = known[at : at + len(word)]
            at += len(word)
            yield RecognizedWord(
                text=word,
                box=Box(own[0][2].x0, line.y0, own[-1][2].x1, line.y1),
                line=number,
                confidence=round(sum(sure for _, sure, _ in own) / len(own), 3),
                letters=tuple((box.x0 + box.x1) / 2 for _, _, box in own),
            )


def _box(corners: Untyped) -> Box:
    xs, ys = [float(corner[0]) for corner in corners], [float(corner[1]) for corner in corners]
    return Box(min(xs), min(ys), max(xs), max(ys))


def recognition_for(ocr: Literal["auto", "off"]) -> Recognition:
    """RapidOCR, if the extra `ocr` is installed and recognition isn't switched off."""
    if ocr == "off":
        return Recognition(remedy="text recognition (OCR) is off; set parser.ocr to auto to read it")
    if find_spec("rapidocr") is None:
        return Recognition(remedy='install text recognition (OCR) to read it: pip install "paperscope[ocr]"')
    return Recognition(recognizer=RapidRecognizer())
