"""`paperscope setup`: finds or takes a model, tries it, and writes it into the settings."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from pydantic import SecretStr, ValidationError

from paperscope_core.errors import InputError
from service.cli.options import ConfigOption, JsonOption, read_password, read_settings
from service.cli.terminal import print_json, print_line, print_note, stderr

if TYPE_CHECKING:
    from paperscope.model_setup import OfferedModel, Server, Trial
    from paperscope_core.settings.changes import FileChange, RoleModel

__all__ = ["setup"]

_OTHER = "another server, by its address"
_SIGHT = {True: "reads pictures", False: "text only", None: ""}


class _Chosen(NamedTuple):
    """A model on a server; `key` is None if none was given."""

    base_url: str
    key: SecretStr | None
    model: "OfferedModel"


def setup(
    *,
    url: Annotated[
        str | None, typer.Option("--url", help="The address of an OpenAI-compatible server; it usually ends in /v1.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="The name of the model that answers.")] = None,
    vision_model: Annotated[
        str | None, typer.Option("--vision-model", help="Another model of the server, for pictures.")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option("--key-file", help="A file whose first line is the server's key.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Only list the models found on this machine, or at --url.")
    ] = False,
    test: Annotated[bool, typer.Option("--test/--no-test", help="Ask the model about an example paper first.")] = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write the settings without asking.")] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set up a language model: find one on this machine or take a server's address, try it, write paperscope.toml.

    Without --url, Ollama, LM Studio, llama.cpp and vLLM are looked for on their usual ports of this machine."""
    from paperscope_core.settings import settings_file
    from paperscope_core.settings.changes import RoleModel, model_changes, with_stored_keys

    file = settings_file(config, os.environ)
    text = read_password(None, key_file, option="--key-file")
    key = None if text is None else SecretStr(text)
    if listed:
        _print_servers(_found(url, key), as_json=as_json)
        return
    chosen = _choose(url, model, key)
    roles = {"answer": RoleModel(model=chosen.model.name, base_url=chosen.base_url, key=chosen.key)}
    if vision_model or chosen.model.sees or (test and chosen.model.sees is None):
        roles["vision"] = replace(roles["answer"], model=vision_model or chosen.model.name)
    roles = dict(with_stored_keys(file, roles))
    if test and not _try(roles, config=config if file.is_file() else None).sees:
        roles.pop("vision", None)
    if _write(model_changes(file, roles), yes=yes):
        _print_overridden(roles, config=config)


def _checked(url: str, key: SecretStr | None) -> tuple[str, SecretStr | None]:
    """Return the address and the key as settings have them. Raises InputError."""
    from paperscope_core.settings import RoleSettings

    try:
        role = RoleSettings.model_validate({"base_url": url, "api_key": key or SecretStr("")})
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        raise InputError(f"{problem['loc'][0]}: {problem['msg'].removeprefix('Value error, ')}") from None
    return role.base_url, None if key is None else role.api_key


def _found(url: str | None, key: SecretStr | None) -> "Sequence[Server]":
    """Return the servers of this machine, or the one at an address, with their models. Raises ModelError."""
    from paperscope.model_setup import Server, list_models, local_servers

    if url is not None:
        url, key = _checked(url, key)
        return [Server(kind="server", base_url=url, models=tuple(list_models(url, key)))]
    with stderr().status("looking for servers of models on this machine …"):
        return list(local_servers())


def _print_servers(servers: "Sequence[Server]", *, as_json: bool) -> None:
    for server in servers:
        if as_json:
            print_json(asdict(server))
            continue
        print_line(f"{server.kind}  {server.base_url}", style="bold")
        for model in server.models:
            print_line(f"  {model.name}  {_SIGHT[model.sees]}".rstrip())
    if not servers:
        print_note("No server of models answers on this machine; name one with --url.")


def _choose(url: str | None, name: str | None, key: SecretStr | None) -> _Chosen:
    """Return the model that the options name, or that the user picks of those found.

    Raises InputError if the options leave a choice and nobody can be asked, and ModelError.
    """
    from paperscope.model_setup import OfferedModel

    if url is not None:
        url, key = _checked(url, key)
        key = _ask_key() if key is None and _is_interactive() else key
        if name is not None:
            return _Chosen(url, key, OfferedModel(name=name))
    offers = [_Chosen(one.base_url, key, model) for one in _found(url, key) for model in one.models]
    if name is not None:
        offers = [one for one in offers if one.model.name == name]
    if len(offers) == 1 and (name is not None or url is not None):
        return offers[0]
    if not _is_interactive():
        names = ", ".join(f"{one.model.name} ({one.base_url})" for one in offers) or "none"
        raise InputError(f"name a server with --url and a model with --model; found on this machine: {names}")
    return _pick(offers, key)


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _ask_key() -> SecretStr | None:
    text = typer.prompt("API key (none: empty)", default="", show_default=False, hide_input=True, err=True)
    return _checked("", SecretStr(text))[1] if text else None


def _pick(offers: "Sequence[_Chosen]", key: SecretStr | None) -> _Chosen:
    """Let the user pick a model, or name a server and pick one of its models."""
    for number, one in enumerate(offers, start=1):
        print_note(f"{number:3}  {one.model.name}  {_SIGHT[one.model.sees]}  {one.base_url}")
    print_note(f"{0:3}  {_OTHER}")
    number = -1
    while not 0 <= number <= len(offers):
        number = int(typer.prompt("Which model", default=1 if offers else 0, type=int, err=True))
    if number:
        return offers[number - 1]
    return _choose(typer.prompt("Address of the server", err=True), None, key)


def _try(roles: "Mapping[str, RoleModel]", *, config: Path | None) -> "Trial":
    """Try the models and print what works. Raises ModelError and SettingsError."""
    from paperscope.model_setup import try_models

    answer, vision = roles["answer"], roles.get("vision")
    overrides: dict[str, object] = {}
    for role, one in roles.items():
        overrides |= {f"{role}.model": one.model, f"{role}.base_url": one.base_url, f"{role}.api_key": one.key}
    settings = read_settings(config=config, overrides=overrides)
    with stderr().status(f"asking {answer.model} about an example paper …"):
        trial = try_models(settings, sight=vision is not None)
    verdict = "right" if trial.right else "wrong; a larger model may do better"
    cited = f"{trial.cited} cited place{'' if trial.cited == 1 else 's'}"
    print_line(f"{answer.model} at {answer.base_url}", style="bold")
    print_line(f"  answer     {verdict}, {cited}, {trial.seconds:.1f} s: {trial.answer.text}")
    print_line(f"  replies    {trial.form}{'' if trial.cited else ', without citations that can be checked'}")
    print_line(f"  streaming  {'yes' if trial.streams else 'no'}")
    if vision is None:
        print_line("  pictures   not tried: the server says that the model reads none; name one with --vision-model")
    elif trial.sees:
        print_line(f"  pictures   yes ({vision.model})")
    else:
        print_line(f"  pictures   no ({vision.model}: {trial.blindness}); name another model with --vision-model")
    return trial


def _write(changes: "Sequence[FileChange]", *, yes: bool) -> bool:
    """Show the changes, ask, and write them; return whether the settings are as wanted."""
    for change in changes:
        print_line(f"{change.path}{' (only you may read it)' if change.private else ''}", style="bold")
        for line in change.lines():
            print_line(f"  {line}", style="green" if line.startswith("+") else "red")
    if not changes:
        print_line("The settings say so already.")
    elif not yes and not _is_interactive():
        print_note("Nothing was written; add --yes to write it.")
        raise typer.Exit(1)
    elif not yes and not typer.confirm("Write this", default=True, err=True):
        return False
    # The file of keys first: without it, the settings would name a server that refuses them.
    for change in reversed(changes):
        change.write()
    return True


def _print_overridden(roles: "Mapping[str, RoleModel]", *, config: Path | None) -> None:
    """Say which of the written settings a variable of the environment overrides."""
    rows = {row.name: row for row in read_settings(config=config).describe()}
    for role, wanted in roles.items():
        for name, value in (("model", wanted.model), ("base_url", wanted.base_url)):
            row = rows[f"{role}.{name}"]
            if row.value != value:
                print_note(f"! {row.origin} overrides {row.name}: unset it", style="yellow")
