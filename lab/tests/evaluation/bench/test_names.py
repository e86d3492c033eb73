"""The names of annotated sentences, from which the types of names are fitted."""

from paperscope_lab.evaluation.bench.names import LabelledName, fit, names_in

from ingest.extraction.recognizer.examples import Example, Span


def example(text: str, **labels: str) -> Example:
    spans = tuple(
        Span(start=text.index(name), end=text.index(name) + len(name), label=label) for name, label in labels.items()
    )
    return Example(id="1", text=text, tokens=(), spans=spans)


def test_a_phrase_outside_the_annotations_may_have_any_type_that_the_set_lacks() -> None:
    names = names_in(
        [example("We compare BERT with support vector machines on SQuAD .", BERT="Method", SQuAD="Dataset")]
    )
    assert {one.name: one.types for one in names} == {
        "BERT": {"method"},
        "SQuAD": {"dataset"},
        "support vector machines": {"", "metric", "task"},
    }


def test_a_label_that_is_none_of_our_types_is_no_type() -> None:
    (name,) = names_in([example("Rainfall .", Rainfall="OtherScientificTerm")])
    assert name.types == {""}


def test_a_fitted_model_gives_names_the_types_of_similar_names() -> None:
    kinds = {"parsing": "task", "tagging": "task", "accuracy": "metric", "recall": "metric"}
    names = [LabelledName(name=name, types=frozenset({kind}), weight=1.0) for name, kind in kinds.items()]
    model = fit(names)
    assert model.weights.shape[1] == len(model.bias) == 5
