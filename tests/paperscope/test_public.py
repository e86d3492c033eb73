"""What a user imports from `paperscope`, and what that costs."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import paperscope
import paperscope.library

PUBLIC = """
AddResult Answer AnswerEvent Box Budget BudgetError Cell Check CitedCell Claim ColumnSet Context DoneEvent Element
Entity Equation Estimate Estimator Evidence Exhibit Figure Filters Finding ImageFinding InputError Library
LiteratureCell LiteratureColumn LiteratureRow LiteratureTable LookUp ModelError Neighbourhood NotFoundError
OutputError Paper PaperEntry PaperFileError PaperLockedError PaperReader PaperscopeError Passage Place
ProgressCallback Publication Reference Relation Section Settings SettingsError Stage StageEvent StageTime StoreError
Table TextEvent ToolCall ToolItem ToolResult Turn UnknownEntityError UnknownPaperError Usage View __version__
load_settings
"""


def test_the_public_names_are_these() -> None:
    assert paperscope.__all__ == PUBLIC.split()
    assert all(getattr(paperscope, name) is not None for name in paperscope.__all__)


def test_importing_the_package_and_the_models_imports_nothing_heavy(root: Path) -> None:
    heavy = {
        "torch",
        "faiss",
        "pymupdf",
        "sqlalchemy",
        "openai",
        "httpx2",
        "transformers",
        "sentence_transformers",
        "lemminflect",
    }
    code = f"import sys, paperscope, paperscope_core.models; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_both_packages_are_typed() -> None:
    assert all(files(package).joinpath("py.typed").is_file() for package in ("paperscope", "paperscope_core"))


def test_a_library_imports_no_readers_and_the_command_line_no_numbers(root: Path) -> None:
    for module, heavy in (
        ("paperscope.library", {"ingest", "lxml", "onnxruntime", "pymupdf", "torch"}),
        ("service.cli", {"numpy", "paperscope.library", "paperscope_core.settings"}),
    ):
        code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)  # noqa: S603
        assert done.stdout.strip() == "[]", module
