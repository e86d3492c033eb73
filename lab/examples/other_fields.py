"""Writes the training data of other fields for the recognizer of papers: names that are none of its types.

Usage: python other_fields.py DATA WORDNET OUT, with the folder of JNLPBA and WNUT-17 and WordNet 3.0's file data.noun.
It writes OUT, which `paperscope ner train --preset papers` takes after the files of SciER and TDMSci, and leaves out
the abstracts of JNLPBA's development set.
"""

import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from paperscope_lab.ner.examples import write_examples
from paperscope_lab.ner.gold_tags import flat_spans
from paperscope_lab.ner.importing import import_examples

from ingest.extraction.recognizer.examples import Example, Span
from paperscope_core.text.sentences import split_sentences

# The lexicographer files of things and people, by number. Acts, cognition and communication may be methods and tasks.
_THINGS = {5, 6, 8, 13, 14, 15, 17, 18, 19, 20, 22, 26, 27}
_OUR_FIELD = re.compile(
    r"\((?:grammar|logic)\)|comput|software|program|data|algorithm|statistic|mathemat|language|linguist", re.IGNORECASE
)
_ARTICLE = re.compile(r"(?:a|an|the|any|one)\b")
_OF_A_FILE = 550
# Sentences of JNLPBA, and those whose names are replaced by WordNet's, of a longer list; texts of WNUT-17.
_JNLPBA, _LISTED, _REPLACED, _WNUT = 2750, 5500, 1200, 1700
# Texts that the encoder reads together, as it reads sentences of a paper.
_TOGETHER = 8


def _example(text: str, places: Iterable[tuple[int, int]]) -> Example:
    spans = flat_spans(Span(start=start, end=end, label="Concept") for start, end in places)
    return Example(id="", text=text, tokens=(), spans=tuple(spans), document=None)


def abstracts(data: Path, order: random.Random) -> list[Example]:
    """Return the sentences of JNLPBA's training set, without abstracts of the development set, in random order."""
    held_out = {_folded(one.text) for one in import_examples(data / "jnlpba/devel.tsv").examples}
    documents = []
    for document in import_examples(data / "jnlpba/train_standoff.tar.gz").examples:
        spans, sentences, at = flat_spans(document.spans), [], 0
        for sentence in split_sentences(document.text):
            start = document.text.find(sentence, at)
            if start >= 0:
                at = start + len(sentence)
                inside = [(s.start - start, s.end - start) for s in spans if start <= s.start and s.end <= at]
                sentences.append(_example(sentence, inside))
        if held_out.isdisjoint(_folded(one.text) for one in sentences):
            documents.append(sentences)
    order.shuffle(documents)
    return [one for one in chain.from_iterable(documents) if 20 < len(one.text) < 600]


def _folded(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def definitions(wordnet: Path, order: random.Random) -> tuple[list[Example], list[str]]:
    """Return definitions of nouns, with example sentences, and the nouns."""
    files: dict[int, list[tuple[list[str], str]]] = defaultdict(list)
    for line in wordnet.read_text(encoding="utf-8").splitlines():
        head, _, gloss = line.partition(" | ")
        fields = head.split()
        if not line.startswith("  ") and int(fields[1]) in _THINGS and not _OUR_FIELD.search(gloss):
            words = [fields[4 + 2 * number] for number in range(int(fields[3], 16))]
            nouns = [re.sub(r"\(.*?\)$", "", word).replace("_", " ") for word in words]
            files[int(fields[1])].append((nouns, gloss.strip()))
    texts: list[Example] = []
    names: list[str] = []
    for _, entries in sorted(files.items()):
        order.shuffle(entries)
        for nouns, gloss in entries[:_OF_A_FILE]:
            names += nouns
            texts += _defined(nouns, gloss, one=order.random() < 1 / 2)
    return texts, names


def _defined(nouns: Sequence[str], gloss: str, *, one: bool) -> Iterator[Example]:
    definition, *sentences = (part.strip() for part in gloss.split(";"))
    used = nouns[:1] if one else nouns
    joint = " is " if one and _ARTICLE.match(definition) else ": "
    places, at = [], 0
    for noun in used:
        places.append((at, at + len(noun)))
        at += len(noun) + len(", ")
    yield _example(f"{', '.join(used)}{joint}{definition}.", places)
    for sentence in (part.strip('"') for part in sentences):
        found = [m.span() for noun in nouns for m in re.finditer(rf"\b{re.escape(noun)}\b", sentence, re.IGNORECASE)]
        if found:
            yield _example(f"{sentence}.", found)


def renamed(sentence: Example, names: Sequence[str], order: random.Random) -> Example:
    """Return a sentence with other names in place of its own, a fifth of the short ones in capitals."""
    text, at, places = "", 0, []
    for span in sentence.spans:
        name = order.choice(names)
        name = name.upper() if order.random() >= 4 / 5 and len(name) < 6 else name
        text += sentence.text[at : span.start]
        places.append((len(text), len(text) + len(name)))
        text, at = text + name, span.end
    return _example(text + sentence.text[at:], places)


def main(data: Path, wordnet: Path, out: Path) -> None:
    """Write the texts of all three sources."""
    order = random.Random(1)  # noqa: S311 - no secret
    of_jnlpba = abstracts(data, order)
    of_wordnet, names = definitions(wordnet, order)
    mixed = (renamed(one, names, order) for one in of_jnlpba[_LISTED:] if one.spans)
    wnut = import_examples(data / "wnut17/wnut17train.conll").examples[:_WNUT]
    of_wnut = [_example(one.text, [(span.start, span.end) for span in one.spans]) for one in wnut]
    corpora = {"jnlpba": of_jnlpba[:_JNLPBA], "wnut": of_wnut, "wordnet": of_wordnet[::2]}
    corpora["renamed"] = list(islice(mixed, _REPLACED))
    write_examples(
        out,
        (
            replace(one, id=f"{name}-{number}", document=f"{name}-{number // _TOGETHER}")
            for name, texts in corpora.items()
            for number, one in enumerate(texts)
        ),
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
