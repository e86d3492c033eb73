"""A BERT of random weights that trains in milliseconds."""

from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from ingest.extraction.recognizer.examples import Example, Span

__all__ = ["GOLD", "example_of", "write_encoder"]


def example_of(text: str, *names: str, identity: str = "") -> Example:
    """A text of words, in which each name ("Ada:PER") is an entity where it first occurs."""
    spans = []
    for name in names:
        words, label = name.rsplit(":", 1)
        start = text.index(words)
        spans.append(Span(start=start, end=start + len(words), label=label))
    tokens, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        tokens.append((at, at + len(word)))
        at += len(word)
    return Example(id=identity or text, text=text, tokens=tuple(tokens), spans=tuple(spans))


GOLD = [
    example_of("Ada Byron met Bob in Rome .", "Ada Byron:PER", "Bob:PER", "Rome:LOC"),
    example_of("Bob left Rome for Oslo .", "Bob:PER", "Rome:LOC", "Oslo:LOC"),
    example_of("nobody was in Oslo", "Oslo:LOC"),
    example_of("it rained"),
]


def write_encoder(folder: Path, *, seed: int = 0) -> str:
    """Writes an encoder of two layers, whose pieces are letters and a few words; returns its folder."""
    import torch
    from paperscope_lab.ner.torch_bert import Bert
    from paperscope_lab.ner.torch_network import save_config
    from safetensors.torch import save_file

    from paperscope_core.models.onnx_bert import BertShape

    letters = [chr(code) for code in range(33, 127)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters), "Ada", "in"]
    tokenizer = Tokenizer(
        models.WordPiece({piece: number for number, piece in enumerate(vocabulary)}, unk_token="[UNK]")  # noqa: S106
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(seed)
    shape = BertShape(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    bert = Bert(shape)
    save_config(bert, folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(bert.state_dict(), folder / "model.safetensors")
    return str(folder)
