"""Switches off onnxruntime's usage reports."""

import os

__all__ = ["silence_onnxruntime"]


def silence_onnxruntime() -> None:
    """Let onnxruntime, where it is loaded after this, report nothing and write nothing down for a later report.

    Whoever sets the variable themselves is obeyed.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
