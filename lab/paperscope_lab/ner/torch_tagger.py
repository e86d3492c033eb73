"""A tagger on PyTorch: what training writes, and what runs on a GPU or over other encoders than a BERT."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Self

from safetensors import SafetensorError
from safetensors.torch import load_file, save

from ingest.extraction.recognizer.encoder_tagger import SETTINGS, TOKENIZER, EncoderTagger
from ingest.extraction.recognizer.network import CONFIG, WEIGHTS, NetworkOptions
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models.weights import find_weights
from paperscope_lab.ner.torch_bert import Bert
from paperscope_lab.ner.torch_network import TaggerNetwork, encoder_of_config, load_encoder, save_config

__all__ = ["TorchTagger"]


class TorchTagger(EncoderTagger):
    """A tagger whose network PyTorch trains and runs."""

    network: TaggerNetwork

    def save(self, folder: Path) -> None:
        """Write the tagger; the weights of a frozen encoder are not among its files.

        Raises:
            OutputError: A file can't be written.
        """
        options, network = self.network.options, self.network
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if options.encoder:
                save_config(network.encoder, folder / CONFIG)
        if options.encoder:
            write_atomically(folder / TOKENIZER, self.splitter.tokenizer.to_str().encode())
        weights = {name: weight.contiguous().cpu() for name, weight in network.trained_weights().items()}
        write_atomically(folder / WEIGHTS, save(weights))
        settings = {
            # What the product itself loads is "encoder".
            "kind": "encoder" if isinstance(network.encoder, Bert) else "torch",
            "labels": self.tags.labels,
            "network": asdict(options),
            "temperature": self.temperature,
            "characters": self.characters,
            "tokenizer": self.splitter.digest,
            "frozen": find_weights(options.encoder).name if options.frozen else "",
        }
        write_atomically(folder / SETTINGS, f"{json.dumps(settings, indent=1, ensure_ascii=False)}\n".encode())

    @classmethod
    def read(cls, folder: Path, *, device: str = "cpu") -> Self:
        """Load what `save` wrote. Raise what `load` raises."""

        def read_network(folder: Path, options: NetworkOptions) -> TaggerNetwork:
            if options.frozen or not options.encoder:
                encoder = load_encoder(options.encoder)
            else:
                encoder = encoder_of_config(folder / CONFIG)
            network = TaggerNetwork(replace(options, dropout=0.0), encoder)
            try:
                network.load_trained(load_file(folder / WEIGHTS))
            except SafetensorError as error:
                raise ValueError(str(error)) from error
            network.merge_adapters()
            return network.to(device).eval()  # type: ignore[no-any-return]

        return cls.load(folder, read=read_network)
