"""RapidOCR behind the seam: the only module that imports it. Its models lie in its wheel; nothing is fetched."""

import os
from collections.abc import Iterator, Sequence
from importlib.resources import files
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from PIL import Image

from ingest.ocr.recognizer import RecognizedWord
from ingest.pdf.backend import PageReadError
from ingest.silence import silence_onnxruntime
from paperscope.types import Box

__all__ = ["RapidRecognizer"]

# RapidOCR's results are half typed.
Untyped: TypeAlias = Any

_FINDER, _READER = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
_MOST_THREADS = 4
_LONGEST = 4000
_FAILURES = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, OSError, MemoryError)


class RapidRecognizer:
    """Reads Latin and Chinese text; the models are loaded at the first picture and used by one thread at a time."""

    def __init__(self) -> None:
        self._engine: Untyped = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["RapidRecognizer"], tuple[()]]:
        """Another process loads the models anew."""
        return RapidRecognizer, ()

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        """See `TextRecognizer.recognize`."""
        # OpenCV's order of colours.
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
    silence_onnxruntime()
    from rapidocr import RapidOCR

    models = files("rapidocr") / "models"
    threads = max(1, min(_MOST_THREADS, os.cpu_count() or 1))
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": _LONGEST,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # With a path that is named RapidOCR never downloads.
            "Det.model_path": str(models / _FINDER),
            "Rec.model_path": str(models / _READER),
        }
    )


def _words(result: Untyped) -> Iterator[RecognizedWord]:
    """The words of all lines; a line comes as one text and its letters one by one."""
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
