"""Fine-tunes a language model to write entities (LoRA; extra `ner`), and recognizes entities with the result.

The default recipe is that of Zhan et al. (2026) for CoNLL-2003 and a 7B model: all linear layers, rank 256,
alpha 512, two epochs, 2e-5 with a cosine and a tenth of warm-up, eight examples a step. A 7B model needs a GPU.
"""

import asyncio
import json
import math
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import InputError, ModelError
from paperscope_core.files import output_errors, write_atomically
from paperscope_lab.ner.formats import FormatName, alpaca_records, instruction_of, one_line, reply_format
from paperscope_lab.ner.language_model import joined, text_windows

__all__ = ["GenerativeOptions", "GenerativeRecognizer", "train_generative"]

_SETTINGS, _MANIFEST = "recognizer.json", "manifest.json"
_IGNORED = -100
_TEMPLATE = "### Instruction:\n{instruction}\n\n### Input:\n{input}\n\n### Response:\n"
"""The template of Alpaca (Taori et al. 2023)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerativeOptions:
    """How a language model is fine-tuned.

    Attributes:
        model: A folder or a Hugging Face name of a causal language model.
        form: The format of its output.
        rank: The rank of the adapters of all linear layers.
        alpha: Their scale times the rank; twice the rank unless given.
        epochs: The number of epochs.
        rate: The highest learning rate; it follows a cosine.
        accumulate: The examples of a step.
        longest: Longer examples are cut, in pieces.
        seed: Seeds adapters and order.
        instruction: What the model is told, in place of our own words.
        dtype: The type of the weights.
        device: "cuda" or "cpu".
    """

    model: str
    form: FormatName = "bracketed"
    rank: int = 256
    alpha: int | None = None
    epochs: int = 2
    rate: float = 2e-5
    accumulate: int = 8
    longest: int = 2048
    seed: int = 1
    instruction: str = ""
    dtype: str = "bfloat16"
    device: str = "cuda"


def train_generative(
    train: Sequence[Example],
    labels: Mapping[str, str],
    options: GenerativeOptions,
    folder: Path,
    *,
    on_progress: Callable[[int, int, float], None] = lambda *_: None,
) -> dict[str, Any]:
    """Train adapters on the outputs alone, and write them.

    Args:
        train: The examples to learn.
        labels: What each label means.
        options: How to train.
        folder: Where the adapters and `manifest.json` are written.
        on_progress: Called after each step with (steps done, steps in total, loss).

    Returns:
        The manifest.

    Raises:
        InputError: peft is not installed, or a label of the data has no entry in `labels`.
        ModelError: The model can't be loaded.
        OutputError: A file can't be written.
    """
    peft = _peft()
    import torch

    from paperscope_lab.ner.training_data import described

    if missing := sorted({span.label for one in train for span in one.spans} - labels.keys()):
        raise InputError(f"labels without a meaning: {', '.join(missing)}")
    torch.manual_seed(options.seed)
    model, tokenizer = _load(options.model, options.dtype, options.device)
    alpha = 2 * options.rank if options.alpha is None else options.alpha
    config = peft.LoraConfig(r=options.rank, lora_alpha=alpha, target_modules="all-linear", task_type="CAUSAL_LM")
    with _quiet():
        model = peft.get_peft_model(model, config)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=options.rate)
    instruction = options.instruction or instruction_of(options.form, labels)
    records = alpaca_records(train, options.form, labels, instruction)
    rows = [_row(record, tokenizer, options.longest) for record in records]
    steps = math.ceil(len(rows) / options.accumulate) * options.epochs
    order, losses, done = random.Random(options.seed), [], 0  # noqa: S311 - no secret
    model.train()
    for _ in range(options.epochs):
        order.shuffle(rows)
        for start in range(0, len(rows), options.accumulate):
            batch = rows[start : start + options.accumulate]
            total = 0.0
            for ids, targets in batch:
                tensors = (torch.tensor([ids], device=options.device), torch.tensor([targets], device=options.device))
                loss = model(input_ids=tensors[0], labels=tensors[1]).loss / len(batch)
                loss.backward()
                total += float(loss.detach())
            for group in optimizer.param_groups:
                group["lr"] = options.rate * _cosine(done, steps)
            optimizer.step()
            optimizer.zero_grad()
            done += 1
            losses.append(round(total, 5))
            on_progress(done, steps, total)
    manifest = {"options": asdict(options), "labels": dict(labels), "train": described(train), "losses": losses}
    with output_errors(folder):
        model.save_pretrained(folder)
    settings = {"kind": "generative", "model": options.model, "form": options.form, "labels": dict(labels)}
    settings["instruction"] = instruction
    write_atomically(folder / _SETTINGS, f"{json.dumps(settings, indent=1, ensure_ascii=False)}\n".encode())
    write_atomically(folder / _MANIFEST, f"{json.dumps(manifest, indent=1, ensure_ascii=False)}\n".encode())
    return manifest


def _cosine(done: int, steps: int, *, warm_up: float = 0.1) -> float:
    share = (done + 1) / steps
    return share / warm_up if share < warm_up else 0.5 * (1 + math.cos(math.pi * (share - warm_up) / (1 - warm_up)))


def _row(record: Mapping[str, str], tokenizer: Any, longest: int) -> tuple[list[int], list[int]]:  # noqa: ANN401
    """Return the pieces of an example, and the targets: the output and its end alone."""
    prompt = tokenizer(_prompt(record["instruction"], record["input"]))["input_ids"]
    output = tokenizer(record["output"] + "\n", add_special_tokens=False)["input_ids"]
    return (prompt + output)[:longest], ([_IGNORED] * len(prompt) + output)[:longest]


def _prompt(instruction: str, text: str) -> str:
    return _TEMPLATE.format(instruction=instruction, input=text)


class GenerativeRecognizer:
    """Recognizes entities by a fine-tuned language model that runs here.

    Args:
        model: A causal language model of transformers.
        tokenizer: Its tokenizer.
        form: The format of its output.
        labels: The labels.
        instruction: What it was told in training.
        name: Its name in reports.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - transformers has no types
        tokenizer: Any,  # noqa: ANN401
        *,
        form: FormatName,
        labels: Sequence[str],
        instruction: str,
        name: str = "generative",
    ) -> None:
        self.name = name
        self.outcomes = Counter[str]()
        self._model, self._tokenizer = model, tokenizer
        self._format = reply_format(form, tuple(labels))
        self._instruction = instruction

    @classmethod
    def load(cls, folder: Path, *, device: str = "cpu") -> Self:
        """Read what `train_generative` wrote; the model itself is loaded from where it was.

        Raises:
            InputError: peft is not installed.
            ModelError: The model or the adapters can't be loaded.
        """
        peft = _peft()
        try:
            settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
            model, tokenizer = _load(settings["model"], "float32" if device == "cpu" else "bfloat16", device)
            with _quiet():
                adapted = peft.PeftModel.from_pretrained(model, folder)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"no adapters can be loaded ({error}); train them again", where=folder) from error
        form, labels = settings["form"], settings["labels"]
        told = settings.get("instruction") or instruction_of(form, labels)
        return cls(adapted.eval(), tokenizer, form=form, labels=tuple(labels), instruction=told, name=folder.name)

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts in a thread. See `Recognizer.recognize`."""
        return await asyncio.to_thread(lambda: [self._recognize(example) for example in examples])

    def _recognize(self, example: Example) -> Example:
        windows = list(text_windows(example.text))
        texts = [example.text[start:end] for start, end in windows]
        replies = [self._format.parse(text, self._generate(one_line(text))) for text in texts]
        for reply in replies:
            self.outcomes.update(reply.outcomes if reply.failure is None else {"failed replies": 1})
        return joined(example, windows, replies)

    def _generate(self, text: str) -> str:
        import torch

        inputs = self._tokenizer(_prompt(self._instruction, text), return_tensors="pt").to(self._model.device)
        length = inputs["input_ids"].shape[1]
        # A reply repeats the text and adds marks; twice its length is enough for a mark at every word.
        most = 2 * len(self._tokenizer(text)["input_ids"]) + 64
        with torch.inference_mode():
            ids = self._model.generate(**inputs, max_new_tokens=most, do_sample=False)
        reply: str = self._tokenizer.decode(ids[0, length:], skip_special_tokens=True)
        return reply


def _load(model: str, dtype: str, device: str) -> tuple[Any, Any]:
    """Return a causal language model and its tokenizer. Raises ModelError."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from paperscope_core.models.weights import find_weights, load_weights

    def load(folder: str) -> tuple[Any, Any]:
        loaded, about = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), output_loading_info=True
        )
        if missing := sorted(about["missing_keys"]):
            raise ValueError(f"no language model: it has no weights {', '.join(missing[:3])}")
        return loaded.to(device), AutoTokenizer.from_pretrained(folder)

    return load_weights(find_weights(model), load)


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the warning of transformers about what peft reads of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`", category=FutureWarning)
        yield


def _peft() -> Any:  # noqa: ANN401 - a module
    try:
        import peft
    except ImportError as error:
        raise InputError('peft is not installed; run: pip install "paperscope-lab[ner]"') from error
    return peft
