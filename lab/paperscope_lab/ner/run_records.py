"""What is recorded of a run beside its predictions: time, cost, and what became of the replies of a model."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from paperscope_core.files import write_atomically
from paperscope_lab.errors import ExampleFileError

__all__ = ["RunRecord", "read_run", "train_examples", "training_recipe", "write_run"]

# What two runs of one recipe may differ in.
_NO_RECIPE = ("seed", "threads", "device")


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What a run cost, and what it learned from: the file `PREDICTIONS.run.json` beside its predictions.

    Attributes:
        seconds: The time of predicting, without loading.
        calls: The calls of a model; None if it has no price, because it runs here.
        cost: What they cost, in the currency of the price settings; None if it is not known.
        failures: The texts without a reply that can be read.
        outcomes: The entities of the replies by what became of them, and the replies that can't be read.
        train_examples: The examples that the system was trained on.
        curve: Runs of the same curve differ only in their training examples and seeds; "" is no curve.
    """

    seconds: float | None = None
    calls: int | None = None
    cost: float | None = None
    failures: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    train_examples: int | None = None
    curve: str = ""

    @property
    def cost_text(self) -> str:
        """The cost, or that the price is not known; "" if nothing was paid for."""
        if self.cost is not None:
            return f"{self.cost:.4f}"
        return "" if self.calls is None else f"{self.calls:,} calls, price not known"

    @property
    def replies_text(self) -> str:
        """What became of the entities in a model's replies, and the failures; "" if there were no replies."""
        if not self.outcomes and not self.failures:
            return ""
        counts = dict.fromkeys(("rejected", "unknown label", "broken"), 0) | self.outcomes
        shown = [f"{count:,} {outcome}" for outcome, count in counts.items()] if self.outcomes else []
        return ", ".join([*shown, f"{self.failures:,} texts failed"])


def write_run(predictions: Path, record: RunRecord) -> None:
    """Write the record of a run beside its predictions. Raises OutputError."""
    write_atomically(_record_of(predictions), f"{json.dumps(asdict(record), indent=1)}\n".encode())


def read_run(predictions: Path) -> RunRecord:
    """Return the record of a run; an empty one if there is none.

    Raises:
        ExampleFileError: The record is broken.
    """
    file = _record_of(predictions)
    if not file.is_file():
        return RunRecord()
    try:
        return TypeAdapter(RunRecord).validate_json(file.read_bytes())
    except ValidationError as error:
        raise ExampleFileError(f"no record of a run: {error.errors()[0]['msg']}", where=file) from error


def train_examples(system: Path) -> int | None:
    """Return the number of examples that a trained system learned, by its `manifest.json`; None if that does not
    say."""
    try:
        manifest = json.loads((system / "manifest.json").read_text(encoding="utf-8"))
        corpora = manifest["train"] if isinstance(manifest["train"], list) else [manifest["train"]]
        return sum(int(corpus["examples"]) for corpus in corpora)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def training_recipe(system: Path) -> str:
    """Return a name for how a system was trained, whatever its data, seed and place; "" if `manifest.json` does not
    say."""
    try:
        settings = json.loads((system / "recognizer.json").read_text(encoding="utf-8"))
        manifest = json.loads((system / "manifest.json").read_text(encoding="utf-8"))
        options = {name: value for name, value in manifest["options"].items() if name not in _NO_RECIPE}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()
    return f"{settings['kind']} {digest[:8]}"


def _record_of(predictions: Path) -> Path:
    return predictions.with_name(f"{predictions.name}.run.json")
