"""Entity extractors: data of many formats, training, prediction, scores and comparisons."""

from ner.examples import Example, Span, read_examples, write_examples

__all__ = ["Example", "Span", "read_examples", "write_examples"]
