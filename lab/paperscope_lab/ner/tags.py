"""Tags of tokens (IOB1, IOB2, BIOES) and the entities that they mean.

`decode` reads tags as conlleval and seqeval's default do: an `I-` or `E-` that continues nothing opens an entity. It
reads every scheme, because under this reading IOB1, IOB2 and BIOES differ only in what they forbid. `decode_strict`
drops entities that break the scheme, as seqeval's strict mode does.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, get_args

__all__ = [
    "SCHEMES",
    "Entity",
    "Scheme",
    "decode",
    "decode_strict",
    "detect_scheme",
    "encode",
    "split_tag",
    "violations",
]

Scheme = Literal["IOB1", "IOB2", "BIOES"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
Entity = tuple[int, int, str]
"""The tokens [start, end) and the label of an entity."""

_OUTSIDE = ("O", "")
# BILOU and BMES are BIOES with other letters.
_SYNONYMS = {"L": "E", "U": "S", "M": "I"}
_PREFIXES = frozenset("BIESLUM")


@lru_cache(maxsize=4096)
def split_tag(tag: str) -> tuple[str, str]:
    """Return the prefix (O, B, I, E or S) and the label of a tag.

    Raises:
        ValueError: This is no tag of any of the schemes.
    """
    prefix, hyphen, label = tag.partition("-")
    if tag == "O":
        return _OUTSIDE
    if prefix not in _PREFIXES or not hyphen:
        raise ValueError(f"{tag!r} is no tag; tags are O, B-LABEL and I-LABEL, with E- and S- in BIOES")
    if not label.strip():
        raise ValueError(f"tag {tag!r} has no label")
    return _SYNONYMS.get(prefix, prefix), label


def decode(tags: Iterable[str]) -> list[Entity]:
    """Return the entities of one sentence, with what continues nothing as the start of an entity.

    Raises:
        ValueError: A tag is of none of the schemes.
    """
    entities: list[Entity] = []
    begin, prefix, label = 0, "O", ""
    position = 0
    for position, tag in enumerate([*tags, "O"]):
        next_prefix, next_label = split_tag(tag)
        continues = prefix in "BI" and next_prefix in "IE" and next_label == label
        if not continues:
            if prefix != "O":
                entities.append((begin, position, label))
            begin = position
        prefix, label = next_prefix, next_label
    return entities


def decode_strict(tags: Sequence[str], scheme: Scheme) -> list[Entity]:
    """Return the entities of one sentence that keep to the scheme.

    In IOB2 an entity starts with B; in IOB1 with I, or with B after a tag of the same label; in BIOES it is one S, or
    a B, any number of I and an E.

    Raises:
        ValueError: A tag is of none of the schemes.
    """
    pairs = [split_tag(tag) for tag in tags]
    if scheme == "BIOES":
        return [entity for entity in decode(tags) if _is_whole(pairs[entity[0] : entity[1]])]
    return [
        (start, end, label)
        for start, end, label in decode(tags)
        if (pairs[start][0] == "B") == (scheme == "IOB2" or (start > 0 and pairs[start - 1][1] == label))
        and all(prefix in "BI" for prefix, _ in pairs[start:end])
    ]


def _is_whole(pairs: Sequence[tuple[str, str]]) -> bool:
    prefixes = "".join(prefix for prefix, _ in pairs)
    return prefixes == "S" or (len(prefixes) > 1 and prefixes == "B" + "I" * (len(prefixes) - 2) + "E")


def encode(length: int, entities: Iterable[Entity], scheme: Scheme = "IOB2") -> list[str]:
    """Return the tags of a sentence of `length` tokens.

    Raises:
        ValueError: Two entities overlap; one tag a token can't say this.
    """
    tags = ["O"] * length
    last: Entity | None = None
    for start, end, label in sorted(entities):
        if last and start < last[1]:
            raise ValueError(f"entities {last} and {(start, end, label)} overlap")
        tags[start:end] = [f"I-{label}"] * (end - start)
        if scheme != "IOB1" or (last and (last[1], last[2]) == (start, label)):
            tags[start] = f"B-{label}"
        if scheme == "BIOES":
            tags[end - 1] = f"E-{label}" if end - start > 1 else f"S-{label}"
        last = (start, end, label)
    return tags


def violations(tags: Sequence[str], scheme: Scheme) -> list[int]:
    """Return the positions of the tags that the scheme forbids where they stand.

    Raises:
        ValueError: A tag is of none of the schemes.
    """
    entities = decode(tags)
    return [
        position
        for position, (tag, due) in enumerate(zip(tags, encode(len(tags), entities, scheme), strict=True))
        if split_tag(tag) != split_tag(due)
    ]


def detect_scheme(sentences: Iterable[Sequence[str]]) -> Scheme:
    """Return the scheme that the fewest tags break; IOB2 if several fit, as in sentences without entities.

    Raises:
        ValueError: A tag is of none of the schemes.
    """
    found = list(sentences)
    order: tuple[Scheme, ...] = ("IOB2", "IOB1", "BIOES")
    return min(order, key=lambda scheme: sum(len(violations(tags, scheme)) for tags in found))
