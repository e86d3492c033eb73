"""Copies the pages of the documentation site, and writes the generated parts that they include.

    python scripts/reference.py BUILD

`BUILD/docs` gets the pages of docs/ and, below `lab`, those of lab/docs/; `BUILD/reference` the generated parts.
The command line comes from the Typer app, the HTTP API from the OpenAPI document, the settings from their schema;
README.md, CONTRIBUTING.md and CHANGELOG.md become pages with links relative to docs/.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from typer.cli import get_docs_for_click

from paperscope_core.settings import Settings, load_settings
from service.cli import app
from service.http import create_app

ROOT = Path(__file__).resolve().parent.parent
JSON = "application/json"


def main(build: Path) -> None:
    """Write every page and every generated part."""
    copy_pages(build / "docs")
    folder = build / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "cli": command_line(),
        "http-api": "\n".join(http_api(openapi())),
        "settings": "\n".join(settings()),
        "readme": root_page("README.md"),
        "contributing": root_page("CONTRIBUTING.md"),
        "changelog": root_page("CHANGELOG.md"),
    }
    for name, text in parts.items():
        (folder / f"{name}.md").write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def copy_pages(folder: Path) -> None:
    """Copy the pages of the product and of the laboratory, whose links to each other change."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    shutil.copytree(ROOT / "lab" / "docs", folder / "lab")
    for page in folder.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        text = (
            text.replace("](../../docs/", "](../")
            .replace("](../lab/docs/", "](lab/")
            .replace("](../../lab/docs/", "](../lab/")
        )
        page.write_text(text, encoding="utf-8")


def root_page(name: str) -> str:
    """Return a Markdown file of the repository's root without its title, with links as pages of docs/ need them."""
    _title, _, text = (ROOT / name).read_text(encoding="utf-8").partition("\n")
    pages = {"docs/": "", "lab/docs/": "lab/", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
    for target, page in pages.items():
        text = text.replace(f"]({target}", f"]({page}")
    return text


def command_line() -> str:
    """Return every command with its arguments and options."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="paperscope")
    text = get_docs_for_click(obj=command, ctx=context, name="paperscope")
    return text.partition("\n")[2]


def settings() -> Iterator[str]:
    """Yield a table of settings for each section of the settings file."""
    sections: dict[str, list[str]] = {"": []}
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, BaseModel):
            sections[name] = [
                setting_row(f"{name}.{inner}", given.default, given.description)
                for inner, given in type(field.default).model_fields.items()
            ]
        else:
            sections[""].append(setting_row(name, field.default, field.description))
    for section, rows in sections.items():
        yield f"\n## {f'`[{section}]`' if section else 'Top level'}\n"
        yield "| setting | default | meaning |\n| --- | --- | --- |"
        yield from rows


def setting_row(name: str, default: object, description: str | None) -> str:
    """Return one row of the table of settings."""
    value = "" if str(default) in ("", "()", "{}", "**********") else f"`{cell(default)}`"
    return f"| `{name}` | {value} | {cell(description or '')} |"


def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of a service over an empty library."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"library": f"{folder}/library", "service.keys": f"{folder}/keys.json"}
        return create_app(load_settings(environ={}, overrides=given)).openapi()


def http_api(document: dict[str, Any]) -> Iterator[str]:
    """Yield the operations by tag, then the schemas of their bodies and responses."""
    by_tag: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = operation["tags"][0]
            by_tag.setdefault(tag, []).extend(describe_operation(method.upper(), path, operation))
    for tag, lines in by_tag.items():
        yield f"\n## {tag.capitalize()}\n"
        yield from lines
    yield "\n## Schemas\n"
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f"\n### {name} {{ #schema-{name.lower()} }}\n"
        yield from describe_schema(schema)


def describe_operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    """Yield an operation: summary, parameters, request body and response."""
    anchor = f"{method}-{path}".lower().translate(str.maketrans("/.", "--", "{}")).strip("-")
    yield f"\n### `{method} {path}` {{ #{anchor} }}\n"
    yield f"**{operation['summary']}**\n\n{operation.get('description', '')}\n"
    if parameters := operation.get("parameters"):
        yield "| parameter | in | type | meaning |\n| --- | --- | --- | --- |"
        for given in parameters:
            yield (
                f"| `{given['name']}`{'' if given.get('required') else ' (optional)'} | {given['in']} "
                f"| {type_of(given['schema'])} | {cell(given.get('description') or '')} |"
            )
        yield ""
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = content.get("schema", {})
        yield f"Request body, `{kind}`: {type_of(schema)}\n"
        if "properties" in schema:
            yield from describe_schema({key: value for key, value in schema.items() if key != "description"})
        if example := content.get("example"):
            yield f"```json\n{json.dumps(example, indent=2, ensure_ascii=False)}\n```\n"
    for status, response in operation["responses"].items():
        if status.isdigit():
            kinds = [
                f"`{kind}` {type_of(content.get('schema', {}))}"
                for kind, content in response.get("content", {}).items()
            ]
            yield f"Response {status}: {', '.join(kinds) or 'no content'}\n"


def describe_schema(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of an object, or what else a schema allows."""
    if text := schema.get("description"):
        yield f"{text}\n"
    if "properties" not in schema:
        yield f"{type_of(schema)}\n"
        return
    yield "| field | type | meaning |\n| --- | --- | --- |"
    for name, field in schema["properties"].items():
        optional = "" if name in schema.get("required", ()) else " (optional)"
        yield f"| `{name}`{optional} | {type_of(field)} | {cell(field.get('description') or '')} |"
    yield ""


def type_of(schema: dict[str, Any]) -> str:
    """Return a schema's type in words, with links to named schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#schema-{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(type_of(one) for one in schema[key])
    if "enum" in schema:
        return " or ".join(f"`{cell(json.dumps(value))}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {type_of(items)}" if items else "list"
    kind = str(schema.get("type", "any"))
    return f"{kind} ({schema['format']})" if "format" in schema else kind


def cell(value: object) -> str:
    """Return a text as one cell of a Markdown table."""
    return " ".join(str(value).split()).replace("|", "\\|")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
