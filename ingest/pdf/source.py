"""Reading the bytes of a file that should be a PDF."""

from pathlib import Path

from paperscope.errors import PaperFileError

__all__ = ["read_pdf"]

_HEADER_WITHIN = 1024


def read_pdf(file: Path) -> bytes:
    """The bytes of a PDF file. Raises `PaperFileError` for anything else, quoting the file's name."""
    name = file.name or str(file)
    try:
        data = file.read_bytes()
    except FileNotFoundError as error:
        raise PaperFileError(f"There is no file {str(file)!r}. Check the path.") from error
    except IsADirectoryError as error:
        raise PaperFileError(f"{name!r} is a folder. Name a PDF file in it.") from error
    except OSError as error:
        raise PaperFileError(
            f"{name!r} can't be read: {error.strerror}. Check the path and its permissions."
        ) from error
    if not data:
        raise PaperFileError(f"{name!r} is empty. Fetch the file again.")
    if b"%PDF-" not in data[:_HEADER_WITHIN]:
        raise PaperFileError(f"{name!r} is no PDF file. Convert it to PDF, or name another file.")
    return data
