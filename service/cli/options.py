"""Options, settings, file arguments and error reports that several commands share."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from typer.core import TyperGroup

from paperscope_core.errors import InputError
from service.cli.terminal import print_json, print_note

if TYPE_CHECKING:
    from paperscope.library import Library
    from paperscope_core.models import Budget
    from paperscope_core.settings import Settings

__all__ = [
    "ConfigOption",
    "JsonOption",
    "LibraryOption",
    "MaxCallsOption",
    "MaxCostOption",
    "PasswordFileOption",
    "PasswordOption",
    "PathsArgument",
    "PlacesArgument",
    "find_each",
    "make_budget",
    "new_app",
    "open_library",
    "print_notes",
    "read_password",
    "read_settings",
    "report_failure",
]

Place = TypeVar("Place", str, Path)
Found = TypeVar("Found")

PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Papers, or folders of papers: PDF, Markdown, HTML, DOCX, ODT, EPUB, XLSX, PPTX, LaTeX, text, JATS, TEI."
    ),
]
PlacesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Papers, or folders of papers: PDF, Markdown, HTML, DOCX, ODT, EPUB, XLSX, PPTX, LaTeX, text, JATS, TEI; "
        "or s3://BUCKET/PREFIX.",
        show_default=False,
    ),
]
MaxCallsOption = Annotated[int | None, typer.Option("--max-calls", min=0, help="Stop before more model calls.")]
MaxCostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, help="Stop before models cost more, by the prices that are set.")
]
LibraryOption = Annotated[
    str | None,
    typer.Option(
        "--library",
        "-l",
        help="The library's folder, or postgresql://HOST/DATABASE?files=FOLDER (or PAPERSCOPE_LIBRARY; "
        "default: ./library).",
    ),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="A settings file in TOML (or PAPERSCOPE_CONFIG; ./paperscope.toml).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]

PasswordOption = Annotated[
    str | None,
    typer.Option("--password", help="Opens encrypted files; others on this machine may see it while the command runs."),
]
PasswordFileOption = Annotated[
    Path | None, typer.Option("--password-file", help="A file whose first line is the password.")
]


def new_app(description: str, *, group: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """Return a group of commands; the errors of its commands are handled by `main`."""
    return typer.Typer(
        cls=group,
        help=description,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def read_password(password: str | None, file: Path | None, *, option: str = "--password-file") -> str | None:
    """Return the password or key that the options give, if any. Raises InputError."""
    if file is None:
        return password
    if password is not None:
        raise InputError("--password and --password-file say the same thing; give one of them")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{option} {file}: can't be read ({error}); name a text file in UTF-8") from error
    if not lines:
        raise InputError(f"{option} {file}: is empty; its first line is the password or key")
    return lines[0]


def read_settings(
    *, library: str | None = None, config: Path | None, overrides: Mapping[str, object] | None = None
) -> "Settings":
    """Return the settings with the command's options on top; None among the `overrides` means not given.

    Raises SettingsError.
    """
    from paperscope_core.settings import load_settings

    given = {"library": library, **(overrides or {})}
    return load_settings(file=config, environ=os.environ, overrides=given)


def print_notes(settings: "Settings") -> None:
    """Print notes on settings that have no effect."""
    for note in settings.notes():
        print_note(f"! {note}", style="yellow")


def open_library(
    *,
    library: str | None,
    config: Path | None,
    budget: "Callable[[Settings], Budget | None]" = lambda _settings: None,
) -> "Library":
    """Open the library that the options and settings name, with the budget for these settings.

    Raises SettingsError and StoreError.
    """
    from paperscope.library import Library

    settings = read_settings(library=library, config=config)
    limit = budget(settings)
    print_notes(settings)
    return Library.open(settings=settings, budget=limit)


def find_each(
    places: Sequence[Place], find: Callable[[Place], Iterable[Found]], *, as_json: bool
) -> tuple[list[Found], int]:
    """Return what `find` finds at `places`, each once, and the number of places at which it raises InputError, which
    are reported."""
    found: dict[Found, None] = {}
    failed = 0
    for place in places:
        try:
            found.update(dict.fromkeys(find(place)))
        except InputError as error:
            failed += 1
            report_failure(place, error, as_json=as_json)
    return list(found), failed


def report_failure(path: Path | str, error: Exception, *, as_json: bool) -> None:
    """Report that a file failed: as a JSON row on stdout, or as an error on stderr."""
    if as_json:
        print_json({"file": str(path), "outcome": "failed", "error": str(error)})
    else:
        print_note(f"error: {error}", style="red")


def make_budget(
    settings: "Settings", *, roles: Sequence[str], max_calls: int | None, max_cost: float | None
) -> "Budget | None":
    """Return the budget of a command that uses the models of these roles, if it has one.

    Raises InputError if the cost can't be limited, as a configured model has no price.
    """
    from paperscope_core.models import Budget

    if max_calls is None and max_cost is None:
        return None
    unpriced = [
        role for role in roles if getattr(settings, role).configured and not getattr(settings, role).price_prompt
    ]
    if not settings.embed.local and not settings.embed.price_prompt:
        unpriced.append("embed")
    if max_cost is not None and unpriced:
        names = " and ".join(f"{role}.price_prompt" for role in unpriced)
        raise InputError(f"--max-cost {max_cost:g} can't be kept: set {names}, or limit the calls with --max-calls")
    return Budget(max_calls=max_calls, max_cost=max_cost)
