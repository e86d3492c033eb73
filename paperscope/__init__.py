"""Ask your papers a question and get an answer that you can check.

from paperscope import Library

with Library.open("library") as library:
    library.add("paper.pdf")
    print(library.ask("Which loss has the highest F1?"))
"""

from importlib import import_module
from typing import TYPE_CHECKING

from paperscope.display import View
from paperscope_core.errors import (
    BudgetError,
    InputError,
    ModelError,
    NotFoundError,
    OutputError,
    PaperFileError,
    PaperLockedError,
    PaperscopeError,
    SettingsError,
    StoreError,
    UnknownEntityError,
    UnknownPaperError,
)
from paperscope_core.types import (
    Answer,
    AnswerEvent,
    Box,
    Cell,
    Check,
    CitedCell,
    Claim,
    Context,
    DoneEvent,
    Element,
    Entity,
    Equation,
    Evidence,
    Exhibit,
    Figure,
    Filters,
    Finding,
    ImageFinding,
    LookUp,
    Paper,
    PaperEntry,
    Passage,
    Place,
    Publication,
    Reference,
    Relation,
    Section,
    StageEvent,
    StageTime,
    Table,
    TextEvent,
    ToolCall,
    ToolItem,
    ToolResult,
    Turn,
    Usage,
)
from paperscope_core.types.literature import (
    ColumnSet,
    LiteratureCell,
    LiteratureColumn,
    LiteratureRow,
    LiteratureTable,
)

if TYPE_CHECKING:
    from paperscope.library import (
        AddResult,
        Estimate,
        Estimator,
        Library,
        Neighbourhood,
        PaperReader,
        ProgressCallback,
        Stage,
    )
    from paperscope_core.models import Budget
    from paperscope_core.settings import Settings, load_settings

__all__ = [
    "AddResult",
    "Answer",
    "AnswerEvent",
    "Box",
    "Budget",
    "BudgetError",
    "Cell",
    "Check",
    "CitedCell",
    "Claim",
    "ColumnSet",
    "Context",
    "DoneEvent",
    "Element",
    "Entity",
    "Equation",
    "Estimate",
    "Estimator",
    "Evidence",
    "Exhibit",
    "Figure",
    "Filters",
    "Finding",
    "ImageFinding",
    "InputError",
    "Library",
    "LiteratureCell",
    "LiteratureColumn",
    "LiteratureRow",
    "LiteratureTable",
    "LookUp",
    "ModelError",
    "Neighbourhood",
    "NotFoundError",
    "OutputError",
    "Paper",
    "PaperEntry",
    "PaperFileError",
    "PaperLockedError",
    "PaperReader",
    "PaperscopeError",
    "Passage",
    "Place",
    "ProgressCallback",
    "Publication",
    "Reference",
    "Relation",
    "Section",
    "Settings",
    "SettingsError",
    "Stage",
    "StageEvent",
    "StageTime",
    "StoreError",
    "Table",
    "TextEvent",
    "ToolCall",
    "ToolItem",
    "ToolResult",
    "Turn",
    "UnknownEntityError",
    "UnknownPaperError",
    "Usage",
    "View",
    "__version__",
    "load_settings",
]

__version__ = "0.1.0"

# Public names that are not imported above are imported on first use, because their modules load FAISS, PyMuPDF and
# SQLAlchemy. All others of them are in `paperscope.library`.
_LAZY = {
    "Budget": "paperscope_core.models",
    "Settings": "paperscope_core.settings",
    "load_settings": "paperscope_core.settings",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY.get(name, "paperscope.library")), name)
