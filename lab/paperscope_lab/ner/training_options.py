"""How a tagger is trained."""

from dataclasses import dataclass

__all__ = ["PAPERS", "TrainingOptions"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingOptions:
    """How a tagger is trained.

    Attributes:
        encoder: "" for the bundled MiniLM, a folder, or a Hugging Face name.
        case: Whether an embedding of case is added.
        context: Whether the encoder sees a text with its neighbours in its document.
        table: Whether only a table of soft labels is trained, over a frozen encoder.
        rank: The rank of an adapter; 0 to train the whole encoder.
        dropout: The share of values that is set to zero.
        epochs: The number of epochs.
        batch: The number of texts of a step, about.
        rate: The highest learning rate of the encoder, or of its adapter.
        new_rate: That of the head and the embedding of case, which start from nothing.
        freeze: Whether the encoder stays as it is.
        weight_decay: That of AdamW.
        clip: The largest norm of the gradients of a step.
        warm_up: The steps in which the rate rises, or below 1 their share.
        patience: Training stops after so many epochs without a better F1 on dev, and the best epoch is the result; 0
            for all epochs and the last one.
        outweight: The weight of tokens outside of entities in the loss.
        class_weights: Whether each tag weighs the same in the loss, however frequent it is.
        temperature: Divides the scores in the loss.
        keep_epochs: The epochs after which the tagger is also written, as `epoch-N`.
        swa: Whether the result is the average of weights along the way.
        seed: Seeds the new layers, the order of examples, and dropout.
        threads: Results are equal to the bit only for the same number of threads.
        dtype: "float32" or "bfloat16" (autocast).
        device: "cpu" or "cuda".
    """

    encoder: str = ""
    case: bool = True
    context: bool = True
    table: bool = False
    rank: int = 0
    dropout: float = 0.1
    epochs: int = 4
    batch: int = 32
    rate: float = 2e-4
    new_rate: float = 1e-3
    freeze: bool = False
    weight_decay: float = 0.01
    clip: float = 1.0
    warm_up: float = 0.1
    patience: int = 0
    outweight: float = 1.0
    class_weights: bool = False
    temperature: float = 1.0
    keep_epochs: tuple[int, ...] = ()
    swa: bool = False
    seed: int = 1
    threads: int = 1
    dtype: str = "float32"
    device: str = "cpu"


PAPERS = TrainingOptions(rank=16, epochs=3, batch=16, rate=2e-3, dropout=0.05)
"""The adapter of the local extractor."""
