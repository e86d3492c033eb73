"""Makes small models with random weights.

Encoders are for a script or a language that no installed encoder knows; a language model is for a trial of training.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from paperscope_core.errors import InputError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models.onnx_bert import BertShape
from paperscope_lab.ner.torch_bert import Bert
from paperscope_lab.ner.torch_network import save_config

__all__ = ["write_encoder", "write_language_model"]

_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
# A piece has to occur twice: what occurs once in training stays unknown, so that training learns what unknown means.
_LEAST = 2
# The hidden values of an attention head.
_HEAD = 32
# The deviation of BERT's first weights.
_DEVIATION = 0.02


def write_encoder(
    folder: Path, texts: Sequence[str], *, pieces: int = 0, hidden: int = 192, layers: int = 3, seed: int = 1
) -> int:
    """Write a small BERT with random weights and a tokenizer that is learned from texts.

    Args:
        folder: Where the encoder is written; `ner train --encoder` reads it.
        texts: The texts to learn the tokenizer from: those of the training data.
        pieces: The most word pieces to learn (WordPiece); 0 for one piece a character.
        hidden: The hidden values of a piece, a multiple of 32.
        layers: The number of layers.
        seed: Seeds the weights.

    Returns:
        The number of pieces.

    Raises:
        InputError: There is no such number of hidden values.
        OutputError: A file can't be written.
    """
    if hidden % _HEAD:
        raise InputError(f"{hidden} hidden values are not a multiple of {_HEAD}")
    tokenizer = _word_pieces(texts, pieces) if pieces else _characters(texts)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(mark, _MARKS.index(mark)) for mark in ("[CLS]", "[SEP]")]
    )
    shape = BertShape(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // _HEAD,
        intermediate_size=4 * hidden,
    )
    torch.manual_seed(seed)
    bert = Bert(shape)
    for weight in bert.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, std=_DEVIATION)
    with output_errors(folder):
        save_config(bert, folder)
    write_atomically(folder / "tokenizer.json", tokenizer.to_str().encode())
    write_atomically(folder / "model.safetensors", save(bert.state_dict()))
    return int(shape.vocab_size)


def write_language_model(folder: Path, *, hidden: int = 32, layers: int = 1, seed: int = 1) -> int:
    """Write a tiny Llama whose pieces are bytes. What it writes is of no worth.

    Args:
        folder: Where it is written; `ner train --kind generative --encoder` reads it.
        hidden: The hidden values of a piece, an even number.
        layers: The number of layers.
        seed: Seeds the weights.

    Returns:
        The number of pieces.

    Raises:
        OutputError: A file can't be written.
    """
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    vocabulary = {piece: number for number, piece in enumerate(["</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        eos_token_id=0,
        pad_token_id=0,
        bos_token_id=None,
    )
    torch.manual_seed(seed)
    disable_progress_bar()
    with output_errors(folder):
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="</s>").save_pretrained(folder)  # noqa: S106 - a piece
        LlamaForCausalLM(config).save_pretrained(folder)
    return len(vocabulary)


def _characters(texts: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))  # noqa: S106 - a piece
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(r"."), "isolated")]
    )
    tokenizer.train_from_iterator(
        texts, trainers.WordLevelTrainer(min_frequency=_LEAST, special_tokens=list(_MARKS), show_progress=False)
    )
    return tokenizer


def _word_pieces(texts: Sequence[str], pieces: int) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106 - a piece
    # Composed letters (NFC) and no lower case: the offsets stay those of the text, and case tells names.
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(
        texts,
        trainers.WordPieceTrainer(
            vocab_size=pieces, min_frequency=_LEAST, special_tokens=list(_MARKS), show_progress=False
        ),
    )
    return tokenizer
