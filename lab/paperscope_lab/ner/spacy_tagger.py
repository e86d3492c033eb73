"""spaCy's entity recognizer (extra `ner`), trained from a blank pipeline or an installed one."""

import asyncio
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.tagging import word_tokens
from paperscope_core.errors import InputError, ModelError
from paperscope_core.files import output_errors, write_atomically
from paperscope_lab.ner.gold_tags import flat_spans

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

__all__ = ["SpacyOptions", "SpacyTagger", "train_spacy"]

_PIPELINE, _SETTINGS, _MANIFEST = "pipeline", "recognizer.json", "manifest.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class SpacyOptions:
    """How a pipeline is trained.

    Attributes:
        language: The code of a blank pipeline, such as "en" or "ko"; only its settings of vocabulary are used.
        base: The package or folder of a pipeline whose recognizer is trained further; "" for a blank one.
        epochs: The number of epochs.
        batch: The number of texts of a step.
        dropout: The share of values that is set to zero.
        seed: Seeds weights, order and dropout.
    """

    language: str = "xx"
    base: str = ""
    epochs: int = 8
    batch: int = 16
    dropout: float = 0.2
    seed: int = 1


class SpacyTagger:
    """Recognizes entities by a spaCy pipeline. Its entities have no confidence.

    Args:
        pipeline: A pipeline with a component `ner`.
        name: Its name in reports.
        labels: Those that it was trained on; an installed pipeline has others, which are left out.
    """

    def __init__(self, pipeline: "Language", *, name: str = "spacy", labels: Sequence[str] = ()) -> None:
        self.name = name
        self._pipeline = pipeline
        self._labels = set(labels)

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts in a thread. See `Recognizer.recognize`."""
        return await asyncio.to_thread(self.tag, examples)

    def tag(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts. See `Recognizer.recognize`."""
        tokens = [_tokens(example) for example in examples]
        docs = (_doc(self._pipeline, example.text, of) for example, of in zip(examples, tokens, strict=True))
        found = []
        for example, of, doc in zip(examples, tokens, self._pipeline.pipe(docs), strict=True):
            spans = tuple(
                Span(start=of[ent.start][0], end=of[ent.end - 1][1], label=ent.label_)
                for ent in doc.ents
                if not self._labels or ent.label_ in self._labels
            )
            found.append(replace(example, spans=spans, failure=None))
        return found

    @classmethod
    def load(cls, folder: Path, *, device: str = "cpu") -> Self:  # noqa: ARG003 # spaCy chooses its own
        """Read what `train_spacy` wrote.

        Raises:
            ModelError: It can't be read.
        """
        spacy = _spacy()
        try:
            labels = json.loads((folder / _SETTINGS).read_text(encoding="utf-8")).get("labels", ())
            return cls(spacy.load(folder / _PIPELINE), name=folder.name, labels=labels)
        except (OSError, ValueError) as error:
            raise ModelError(f"no spaCy pipeline can be loaded ({error}); train it again", where=folder) from error


def train_spacy(
    train: Sequence[Example],
    dev: Sequence[Example],
    options: SpacyOptions,
    folder: Path,
    *,
    on_progress: Callable[[int, int, float], None] = lambda *_: None,
) -> dict[str, Any]:
    """Train a pipeline and write it.

    Args:
        train: The examples to learn. Of entities that overlap, the longest is learned.
        dev: Examples that are scored after the last epoch.
        options: How to train.
        folder: Where the pipeline and `manifest.json` are written.
        on_progress: Called after each epoch with (epochs done, epochs in total, loss of the epoch).

    Returns:
        The manifest.

    Raises:
        InputError: spaCy is not installed, or has no such language or pipeline, or there are no entities to learn.
        OutputError: A file can't be written.
    """
    spacy = _spacy()
    from thinc.api import fix_random_seed

    from paperscope_lab.ner.scoring import entity_f1
    from paperscope_lab.ner.training_data import described

    labels = sorted({span.label for example in train for span in example.spans})
    if not labels:
        raise InputError("the training data have no entities")
    fix_random_seed(options.seed)
    pipeline = _installed(spacy, options.base) if options.base else _blank(spacy, options.language)
    is_new = "ner" not in pipeline.pipe_names
    recognizer: Any = pipeline.add_pipe("ner") if is_new else pipeline.get_pipe("ner")
    for label in labels:
        recognizer.add_label(label)
    data = list(_training_data(pipeline, train))
    optimizer = pipeline.initialize(lambda: data) if is_new else pipeline.resume_training()
    order, losses = random.Random(options.seed), []  # noqa: S311 - no secret
    for epoch in range(options.epochs):
        order.shuffle(data)
        sums: dict[str, float] = {}
        for start in range(0, len(data), options.batch):
            pipeline.update(data[start : start + options.batch], drop=options.dropout, sgd=optimizer, losses=sums)
        losses.append(round(float(sums["ner"]), 2))
        on_progress(epoch + 1, options.epochs, sums["ner"])
    tagger = SpacyTagger(pipeline, name=folder.name, labels=labels)
    manifest: dict[str, Any] = {
        "options": asdict(options),
        "labels": labels,
        "train": described(train),
        "dev": described(dev),
        "versions": {"spacy": spacy.__version__},
        "losses": losses,
    }
    if dev:
        manifest["dev_f1_strict"] = round(entity_f1(dev, tagger.tag(dev)), 5)
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        pipeline.to_disk(folder / _PIPELINE)
    write_atomically(folder / _SETTINGS, f"{json.dumps({'kind': 'spacy', 'labels': labels})}\n".encode())
    write_atomically(folder / _MANIFEST, f"{json.dumps(manifest, indent=1, ensure_ascii=False)}\n".encode())
    return manifest


def _blank(spacy: Any, language: str) -> "Language":  # noqa: ANN401
    try:
        blank: Language = spacy.blank(language)
    except ImportError as error:
        raise InputError(f"spaCy has no language {language!r}; use one such as en or xx") from error
    return blank


def _installed(spacy: Any, base: str) -> "Language":  # noqa: ANN401
    """Return a pipeline of which only the recognizer is left. Raises InputError."""
    try:
        pipeline: Language = spacy.load(base)
    except (OSError, ValueError) as error:
        raise InputError(
            f"spaCy's pipeline {base} is not installed here; run: python -m spacy download {base}, or name a folder"
        ) from error
    for name in pipeline.pipe_names:
        if name != "ner" and not (name == "tok2vec" and _listens(pipeline)):
            pipeline.remove_pipe(name)
    return pipeline


def _listens(pipeline: "Language") -> bool:
    """Return whether the recognizer reads the vectors of another component."""
    from spacy.pipeline.tok2vec import Tok2VecListener

    recognizer: Any = pipeline.get_pipe("ner") if "ner" in pipeline.pipe_names else None
    return recognizer is not None and any(isinstance(node, Tok2VecListener) for node in recognizer.model.walk())


def _training_data(pipeline: "Language", examples: Sequence[Example]) -> Iterator[Any]:
    from spacy.training import Example as SpacyExample

    for example in examples:
        tokens = _tokens(example)
        tags = ["O"] * len(tokens)
        for span in flat_spans(example.spans):
            inside = [at for at, (start, _) in enumerate(tokens) if span.start <= start < span.end]
            for at in inside:
                part = "U" if len(inside) == 1 else "B" if at == inside[0] else "L" if at == inside[-1] else "I"
                tags[at] = f"{part}-{span.label}"
        if tokens:
            yield SpacyExample.from_dict(_doc(pipeline, example.text, tokens), {"entities": tags})


def _tokens(example: Example) -> tuple[tuple[int, int], ...]:
    return example.tokens or word_tokens(example.text)


def _doc(pipeline: "Language", text: str, tokens: Sequence[tuple[int, int]]) -> "Doc":
    from spacy.tokens import Doc

    following = [*(start for start, _ in tokens[1:]), len(text)][: len(tokens)]
    return Doc(
        pipeline.vocab,
        words=[text[start:end] for start, end in tokens],
        spaces=[end < after for (_, end), after in zip(tokens, following, strict=True)],
    )


def _spacy() -> Any:  # noqa: ANN401 - a module
    try:
        import spacy
    except ImportError as error:
        raise InputError('spaCy is not installed; run: pip install "paperscope-lab[ner]"') from error
    return spacy
