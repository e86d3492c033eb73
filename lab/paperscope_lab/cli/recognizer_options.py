"""Options of the commands for recognizers, and what their values mean."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paperscope_core.errors import InputError
from paperscope_lab.ner.formats import FormatName

if TYPE_CHECKING:
    from ingest.extraction.recognizer.examples import Example

__all__ = [
    "Device",
    "DeviceOption",
    "FormOption",
    "InstructionOption",
    "LabelsOption",
    "OutFile",
    "device_of",
    "meanings_of",
    "numbers_of",
    "read_text",
    "read_texts",
    "refuse_others",
]

OutFile = Annotated[Path, typer.Option("--out", "-o", help="The file of span JSONL to write.")]
Device = Literal["auto", "cpu", "cuda"]
DeviceOption = Annotated[Device, typer.Option("--device", help="auto: a GPU if there is one.")]
LabelsOption = Annotated[
    Path | None,
    typer.Option("--labels", help="A JSON object: what each label means. Without it, the names of the labels."),
]
InstructionOption = Annotated[
    Path | None, typer.Option("--instruction", help="A text file: what the model is told, in place of our own words.")
]
FormOption = Annotated[FormatName, typer.Option("--form", help="The format of a language model's replies.")]


def refuse_others(context: typer.Context, obeyed: set[str], wish: str) -> None:
    """Raise InputError if another option than those obeyed is given."""
    sources = {name: context.get_parameter_source(name) for name in sorted(context.params)}
    given = [name for name, source in sources.items() if source and source.name != "DEFAULT"]
    if unused := [f"--{name.replace('_', '-')}" for name in given if name not in obeyed]:
        raise InputError(f"{wish} does not use {', '.join(unused)}")


def read_text(file: Path | None) -> str:
    """Return the text of a file; "" if none is given. Raises InputError."""
    return read_texts([file])[0].text.strip() if file else ""


def read_texts(files: Sequence[Path]) -> "list[Example]":
    """Return files of plain text as examples. Raise InputError."""
    from ingest.extraction.recognizer.examples import Example

    found = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file}: can't be read ({error}); name a text file in UTF-8") from error
        found.append(Example(id=str(file), text=text, tokens=(), spans=()))
    return found


def device_of(name: Device) -> str:
    """Return the device that `auto` means; another name as it is. Raises InputError."""
    import torch

    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise InputError("--device cuda: PyTorch finds no GPU; use cpu or auto")
    return ("cuda" if available else "cpu") if name == "auto" else name


def numbers_of(text: str, option: str = "--seeds") -> list[int]:
    """Return the numbers that `1..8` or `1,3` means. Raises InputError."""
    if match := re.fullmatch(r"(\d+)\.\.(\d+)", text):
        found = list(range(int(match[1]), int(match[2]) + 1))
    else:
        found = [int(part) for part in text.split(",") if part.strip().isdigit()]
    if not found or (not match and len(found) != len(text.split(","))):
        raise InputError(f"{option} {text}: no {option[2:]}; give some such as 1..8 or 1,3")
    return list(dict.fromkeys(found))


def meanings_of(file: Path | None, examples: "Sequence[Example]") -> dict[str, str]:
    """Return what each label means, by a file of JSON or else by nothing. Raise InputError."""
    used = sorted({span.label for example in examples for span in example.spans})
    if file is None:
        return dict.fromkeys(used, "")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"--labels {file}: can't be read ({error}); name a file of JSON") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InputError(f"--labels {file}: not a JSON object of texts")
    if missing := [label for label in used if label not in found]:
        raise InputError(f"--labels {file}: it lacks {', '.join(missing)}")
    return found
