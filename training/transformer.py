"""The torch side of pozor's small models: a decoder-only transformer to train, never needed to run them.

RMSNorm before each part, rotary positions or none, grouped queries, SwiGLU, embeddings tied to the output.
`pozor.lm.decoder` runs the same sums in NumPy from the arrays that `exported` gives.
"""

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """x + attention(norm x), then that + SwiGLU(norm of it)."""

    def __init__(self, config: dict[str, Any], dropout: float):
        super().__init__()
        width, head_dim = config["d_model"], config["d_model"] // config["num_heads"]
        kv = config["num_kv_heads"] * head_dim
        self.heads, self.kv_heads, self.head_dim = config["num_heads"], config["num_kv_heads"], head_dim
        self.attend_norm, self.feed_norm = nn.RMSNorm(width, eps=1e-6), nn.RMSNorm(width, eps=1e-6)
        self.q, self.k, self.v = (nn.Linear(width, out, bias=False) for out in (width, kv, kv))
        self.o = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, config["d_feed"], bias=False) for _ in range(2))
        self.down = nn.Linear(config["d_feed"], width, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor] | None, mask: Any = None):
        """x (batch, tokens, d_model); `turn` holds cosines and sines (tokens, rotary_dim / 2), or None."""
        batch, tokens, width = x.shape
        normed = self.attend_norm(x)
        q = self.q(normed).view(batch, tokens, self.heads, self.head_dim).transpose(1, 2)
        k = self.k(normed).view(batch, tokens, self.kv_heads, self.head_dim).transpose(1, 2)
        v = self.v(normed).view(batch, tokens, self.kv_heads, self.head_dim).transpose(1, 2)
        if turn is not None:
            q, k = rotated(q, *turn), rotated(k, *turn)
        group = self.heads // self.kv_heads
        if group > 1:
            k, v = (part.repeat_interleave(group, dim=1) for part in (k, v))
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        x = x + self.dropout(self.o(out.transpose(1, 2).reshape(batch, tokens, width)))
        normed = self.feed_norm(x)
        return x + self.dropout(self.down(functional.silu(self.gate(normed)) * self.up(normed)))


class Transformer(nn.Module):
    """Logits of the next token, (batch, tokens, vocabulary), for ids (batch, tokens).

    Args:
        config: vocabulary, d_model, num_layers, num_heads, num_kv_heads, d_feed, context, and rope: None, or
            base and rotary_dim (channels i and i + rotary_dim / 2 turn together).
        dropout: Share of the embedding and of both parts of a block that is dropped in training.
    """

    def __init__(self, config: dict[str, Any], dropout: float = 0.0):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config["vocabulary"], config["d_model"])
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(config, dropout) for _ in range(config["num_layers"]))
        self.norm = nn.RMSNorm(config["d_model"], eps=1e-6)
        nn.init.normal_(self.embed.weight, std=0.02)
        for name, weight in self.named_parameters():
            if weight.ndim == 2 and "embed" not in name:
                shrink = (
                    math.sqrt(2 * config["num_layers"]) if name.endswith(("o.weight", "down.weight")) else 1
                )
                nn.init.normal_(weight, std=weight.shape[1] ** -0.5 / shrink)
        cos, sin = angles(config)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """`mask`, bool (tokens, tokens) or (batch, 1, tokens, tokens), replaces the causal one."""
        tokens = ids.shape[1]
        turn = None if self.config["rope"] is None else (self.cos[:tokens], self.sin[:tokens])
        x = self.dropout(self.embed(ids) * self.config["d_model"] ** 0.5)
        for block in self.blocks:
            x = block(x, turn, mask)
        return self.norm(x) @ self.embed.weight.T


def angles(config: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of the rotary angles, (context, rotary_dim / 2)."""
    if config["rope"] is None:
        return torch.empty(0), torch.empty(0)
    dim = config["rope"]["rotary_dim"]
    powers = torch.tensor(float(config["rope"]["base"])).double() ** (-torch.arange(0, dim, 2).double() / dim)
    phase = torch.arange(config["context"]).double()[:, None] * powers
    return phase.cos().float(), phase.sin().float()


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """The first 2 · cos.shape[1] channels of x turned in pairs (i, i + half); the rest as they are."""
    half = cos.shape[1]
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat((a * cos - b * sin, a * sin + b * cos, rest), dim=-1)


def exported(model: Transformer) -> dict[str, Any]:
    """The weights as NumPy arrays under pozor's names, (in, out) for x @ w."""
    arrays = {"embed": model.embed.weight, "norm": model.norm.weight}
    for index, block in enumerate(model.blocks):
        arrays |= {
            f"{index}.attend_norm": block.attend_norm.weight,
            f"{index}.feed_norm": block.feed_norm.weight,
        }
        for name in ("q", "k", "v", "o", "gate", "up", "down"):
            arrays[f"{index}.w_{name}"] = getattr(block, name).weight.T
    return {name: array.detach().cpu().numpy().copy() for name, array in arrays.items()}
