"""What a document's graph is known to hold, and how mentions become entities."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from paperscope_core.text.words import entity_key

__all__ = ["Cluster", "GoldEntity", "GoldGraph", "GoldRelation", "GoldResult", "GoldSection", "Mention", "entities_of"]


# Types of mentions that name nothing: "the method", "this approach", "it".
_GENERIC = frozenset({"Generic"})
_PRONOUNS = frozenset(
    "it its itself they them their theirs this that these those which who whom whose we us our ours he she him her "
    "one ones both each such former latter".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldSection:
    """A heading ("" for none) and the running text below it."""

    heading: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldEntity:
    """One thing and its spellings, folded by `entity_key`, each once.

    A `generic` one is only spoken of in words that name nothing; `forms` are then those words. `salient` says that the
    document's results are about it.
    """

    forms: tuple[str, ...]
    type: str
    generic: bool = False
    salient: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldRelation:
    """Two entities, by their positions, and what connects them in the gold's own word."""

    source: int
    target: int
    kind: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldResult:
    """An n-ary relation: the positions of its members, and the score as printed ("" where there is none)."""

    members: tuple[int, ...]
    score: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldGraph:
    """A document with its graph: `name` is SET/DOCUMENT. `relations` and `results` are None where the set has none;
    `coreferent` says that the set tells which spellings mean the same."""

    name: str
    sections: tuple[GoldSection, ...]
    entities: tuple[GoldEntity, ...]
    relations: tuple[GoldRelation, ...] | None = None
    results: tuple[GoldResult, ...] | None = None
    coreferent: bool = False

    @property
    def scheme(self) -> str:
        """The set, whose guidelines say what is annotated."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A place (a span of tokens) where an entity is named, the words there and their type."""

    span: tuple[int, int]
    words: str
    type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """Spans that mean the same."""

    spans: tuple[tuple[int, int], ...]
    salient: bool = False


def entities_of(
    mentions: Sequence[Mention], clusters: Sequence[Cluster]
) -> tuple[tuple[GoldEntity, ...], dict[tuple[int, int], int]]:
    """One entity a cluster, one for each other spelling, and each mention's entity by its span.

    A cluster without a mention is none. Its type is that of most of its mentions; those that name nothing give neither
    type nor spelling where others do. A mention outside of all clusters joins the first cluster that spells it so.
    """
    by_span = {mention.span: mention for mention in mentions}
    entities: list[GoldEntity] = []
    place: dict[tuple[int, int], int] = {}
    for cluster in clusters:
        members = [by_span[span] for span in cluster.spans if span in by_span and span not in place]
        if members:
            place.update((mention.span, len(entities)) for mention in members)
            entities.append(_entity(members, salient=cluster.salient))
    spelt = {form: number for number, entity in reversed(list(enumerate(entities))) for form in entity.forms}
    for mention in mentions:
        if mention.span not in place:
            form = entity_key(mention.words)
            if form not in spelt:
                spelt[form] = len(entities)
                entities.append(_entity([mention], salient=False))
            place[mention.span] = spelt[form]
    return tuple(entities), place


def _entity(mentions: Sequence[Mention], *, salient: bool) -> GoldEntity:
    naming = [mention for mention in mentions if _names(mention)]
    types = Counter(mention.type for mention in naming or mentions)
    forms = dict.fromkeys(entity_key(mention.words) for mention in naming or mentions)
    return GoldEntity(forms=tuple(forms), type=types.most_common(1)[0][0], generic=not naming, salient=salient)


def _names(mention: Mention) -> bool:
    return mention.type not in _GENERIC and entity_key(mention.words) not in _PRONOUNS
