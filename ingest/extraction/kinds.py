"""The closed sets of entity types and relation kinds, and how a name's own words tell its type."""

import re
from collections.abc import Iterable
from typing import Literal, get_args

from paperscope.types import entity_key

__all__ = [
    "ENTITY_TYPES",
    "EntityType",
    "LocalRelationKind",
    "ModelRelationKind",
    "StatedKind",
    "TermType",
    "first_type",
    "type_of_name",
]

TermType = Literal["dataset", "metric", "task", "method", "quantity", "concept"]
EntityType = Literal[
    "table", "figure", "equation", "paper", "dataset", "metric", "task", "method", "quantity", "concept"
]
LocalRelationKind = Literal[
    "result",  # a row's value in a column
    "results",  # a row's values in a group of columns
    "shows",  # a float and what its caption, cells or inner text name
    "depicts",  # a float and what a vision model saw in its picture
    "mentions",  # a float and what is named where the text speaks of it
    "near",  # a float that nothing speaks of and what is named in the nearest sentence
    "stands for",  # an ambiguous short form and one of its meanings
    "co-occurs",  # two terms of one sentence
    "cites",  # the paper itself and a work in its bibliography
    "cited with",  # a term of a sentence and a work that the sentence cites
]
# What a sentence may state of two terms: the first uses the second, is evaluated on it, and so on.
StatedKind = Literal["uses", "evaluated on", "measured by", "compared with", "part of", "kind of"]
ModelRelationKind = Literal[
    "uses", "evaluated on", "measured by", "compared with", "part of", "kind of", "defined as", "causes", "related to"
]

# From the most to the least telling: where sources disagree about an entity, the first of these wins.
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)

_HEADS: dict[TermType, frozenset[str]] = {
    "metric": frozenset(
        "accuracy precision recall f1 f score scores bleu rouge meteor perplexity ppl auc mrr rate prec rec acc em "
        "error errors accuracies rates complexity speed wer cer ndcg iou miou kappa correlation rmse mae mse psnr "
        "ssim fid latency runtime throughput speedup p r measure metric metrics".split()
    ),
    "dataset": frozenset(
        "dataset datasets corpus corpora benchmark benchmarks treebank collection testset devset wikipedia bank".split()
    ),
    "task": frozenset(
        "task tasks recognition tagging classification translation answering detection segmentation parsing generation "
        "identification extraction prediction retrieval summarization comprehension captioning disambiguation "
        "inference linking resolution forecasting clustering labeling labelling regression reasoning problem problems "
        "understanding tracking reconstruction estimation localization alignment completion matching".split()
    ),
    "method": frozenset(
        "model models method methods algorithm algorithms network networks approach approaches framework frameworks "
        "architecture architectures loss losses classifier classifiers encoder encoders decoder decoders mechanism "
        "strategy strategies technique techniques regularization optimizer module modules pipeline system systems "
        "transformer transformers lstm cnn rnn bert crf learning attention pretraining training tuning embedding "
        "embeddings sampling tagger parser baseline baselines agent agents prompting net nets cnns rnns lstms gan gans "
        "convolution convolutions pooling distillation normalization augmentation detector detectors generator "
        "discriminator estimator procedure scheme variant variants search".split()
    ),
    "quantity": frozenset(
        "size sizes number count ratio length width height depth parameters params weight weights dimension dimensions "
        "time hours seconds days epochs steps layers tokens samples rows total average year cost price percentage "
        "threshold temperature".split()
    ),
}
# Components where a word says which ("convolutional layer"), amounts or nothing where none does ("Layers").
_COMPONENTS = frozenset(
    "layer layers function functions filter filters kernel kernels unit units operation operations".split()
)
_WORD = re.compile(r"[^\W_]+")


def type_of_name(name: str) -> TermType:
    """The type that the name's last word tells ("dice loss" is a method, "Penn Treebank" a dataset), or concept."""
    words = _WORD.findall(entity_key(name))
    last = words[-1] if words else ""
    if last in _COMPONENTS and len(words) > 1 and not words[0].isdigit():
        return "method"
    for word in (last, last.rstrip("0123456789")):
        for kind, heads in _HEADS.items():
            if word in heads:
                return kind
    return "concept"


def first_type(types: Iterable[str]) -> str:
    """The most telling of `types`; a type that is not of the set comes last."""
    order: dict[str, int] = {name: rank for rank, name in enumerate(ENTITY_TYPES)}
    return min(types, key=lambda name: (order.get(name, len(order)), name))
