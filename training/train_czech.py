"""Train pozor's small Czech language model: torchrun --nproc-per-node 2 training/train_czech.py TEXT

The last 5 % of the text's characters are held out: neither the tokenizer nor the model sees them. The result
is a checkpoint, which `ship_czech.py` turns into the files of the package.
"""

import argparse
import hashlib
import json
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from muon import Muon
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
from torch import distributed
from torch.nn import functional
from transformer import Transformer

from pozor.lm.loss import as_read, split

WORDS = r" ?\w{1,32}| ?[^\w\s]{1,32}|\s"  # as pozor.lm.bpe cuts
STRIDE = 128
MODEL = {
    "vocabulary": 1024,
    "d_model": 128,
    "num_layers": 6,
    "num_heads": 4,
    "num_kv_heads": 2,
    "d_feed": 320,
    "context": 256,
    "rope": {"base": 1000.0, "rotary_dim": 32},
}

# the other options; merges are left out by bpe_dropout in every second step of the first part, noisy_until
NUMBERS = {
    "seed": 1,
    "threads": 1,
    "steps": 3000,
    "batch": 8,
    "every": 200,
    "warmup": 100,
    "rate": 5e-3,
    "decay": 0.2,
    "dropout": 0.1,
    "bpe_dropout": 0.1,
    "noisy_until": 0.75,
    "resegment": 60,
}
PRIVATE = ("text", "out", "resume", "model", "threads", "every")  # not part of the record


def trained_tokenizer(text: str, vocabulary: int) -> Tokenizer:
    """Byte-level BPE: 256 bytes, then the merges that shorten `text` most."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def segmented(tokenizer: Tokenizer, text: str, dropout: float | None) -> torch.Tensor:
    """Ids of the text; with `dropout`, that share of the merges is left out at random."""
    tokenizer.model.dropout = dropout
    ids = torch.tensor(tokenizer.encode(text).ids)
    tokenizer.model.dropout = None
    return ids


def windows(ids: torch.Tensor, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
    """`count` stretches of length + 1 ids from anywhere in the text."""
    starts = torch.randint(len(ids) - length, (count, 1), generator=generator)
    return ids[starts + torch.arange(length + 1)]


@torch.no_grad()
def bits(model: torch.nn.Module, ids: torch.Tensor, context: int, stride: int) -> float:
    """Bits that the model needs for ids[1:], each token seen with at least context − stride before it."""
    total = 0.0
    starts = range(0, len(ids) - 1, stride)
    spans = [(max(0, start + stride - context), start, min(start + stride, len(ids) - 1)) for start in starts]
    full = [span for span in spans if span[2] - span[0] == context]
    groups = [full[i : i + 32] for i in range(0, len(full), 32)] + [[s] for s in spans if s not in full]
    for group in groups:
        rows = torch.stack([ids[first : stop + 1] for first, _, stop in group])
        logits = model(rows[:, :-1])
        losses = functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none")
        losses = losses.view(len(group), -1)
        total += sum(losses[i, start - first :].sum().item() for i, (first, start, _) in enumerate(group))
    return total / math.log(2)


def optimizers(model: torch.nn.Module, rate: float, decay: float) -> list[torch.optim.Optimizer]:
    """Muon for the matrices inside, AdamW for the embedding and the gains."""
    inside = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    embed = [p for name, p in model.named_parameters() if "embed" in name]
    gains = [p for p in model.parameters() if p.ndim == 1]
    adam = [{"params": embed, "weight_decay": decay}, {"params": gains, "weight_decay": 0.0}]
    return [
        Muon(inside, lr=rate, weight_decay=decay),
        torch.optim.AdamW(adam, lr=rate, betas=(0.9, 0.98)),
    ]


def rate_at(step: int, steps: int, warmup: int) -> float:
    """Share of the full learning rate: up over `warmup` steps, then down to nothing along a cosine."""
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def averaged(model: torch.nn.Module, workers: int) -> None:
    """Gradients averaged over the processes, in one message."""
    parts = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch.cat([part.flatten() for part in parts])
    distributed.all_reduce(flat)
    for part, new in zip(parts, flat.div_(workers).split([part.numel() for part in parts])):
        part.copy_(new.view_as(part))


class Run:
    """One training, in one process or in several that share the gradients."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.workers, self.rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
        if self.workers > 1:
            distributed.init_process_group("gloo")
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        self.raw = Path(options.text).read_bytes()
        self.text, held_out = split(as_read(self.raw))
        self.characters = len(held_out)
        before = torch.load(options.resume, weights_only=False) if options.resume else {}
        self.config: dict[str, Any] = before.get("config", {**MODEL, **json.loads(options.model)})
        if before:
            self.tokenizer = Tokenizer.from_file(str(Path(options.resume).with_suffix(".tokenizer.json")))
        else:
            self.tokenizer = trained_tokenizer(self.text, self.config["vocabulary"])
        newline = torch.tensor([self.tokenizer.token_to_id("Ċ")])
        self.clean = segmented(self.tokenizer, self.text, None)
        self.held = torch.cat((newline, segmented(self.tokenizer, held_out, None)))
        self.model = Transformer(self.config, options.dropout)
        if before:
            self.model.load_state_dict(before["model"])
        self.curve, self.stages = before.get("curve", []), before.get("stages", [])
        self.seconds = before.get("seconds", 0)
        self.first = self.curve[-1][0] if self.curve else 0
        torch.manual_seed(options.seed + 1000 * self.rank)  # workers start alike, then draw differently
        self.generator = torch.Generator().manual_seed(options.seed + 1000 * self.rank + self.first)
        self.optimizers = optimizers(self.model, options.rate, options.decay)

    def train(self) -> None:
        """All steps; a checkpoint after every `every` of them."""
        options, began, recent, other = self.options, time.time(), [], self.clean
        size = sum(p.numel() for p in self.model.parameters())
        print(f"{size:,} parameters, {len(self.clean):,} tokens, {len(self.held) - 1:,} held out", flush=True)
        for step in range(options.steps):
            noisy = step < options.steps * options.noisy_until and options.bpe_dropout > 0
            if noisy and step % options.resegment == 0:
                other = segmented(self.tokenizer, self.text, options.bpe_dropout)
            rate = options.rate * rate_at(step, options.steps, options.warmup)
            recent.append(self.step(other if noisy and step % 2 else self.clean, rate))
            last = step + 1 == options.steps
            if self.rank == 0 and ((step + 1) % options.every == 0 or last):
                self.note(step + 1, float(np.mean(recent)), round(time.time() - began))
                recent = []

    def step(self, ids: torch.Tensor, rate: float) -> float:
        """One update of the weights; gives the loss in nats a token."""
        rows = windows(ids, self.options.batch, self.config["context"], self.generator)
        logits = self.model(rows[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        loss.backward()
        if self.workers > 1:
            averaged(self.model, self.workers)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return loss.item()

    def note(self, step: int, loss: float, seconds: int) -> None:
        """Measure on the held-out end, print, and keep the state."""
        self.model.eval()
        held_out = bits(self.model, self.held, self.config["context"], STRIDE) / self.characters
        self.model.train()
        step += self.first
        self.curve.append([step, round(loss, 4), round(held_out, 4)])
        print(f"{seconds:6} s  step {step}  loss {loss:.4f}  held out {held_out:.4f} bits/char", flush=True)
        kept = {name: value for name, value in vars(self.options).items() if name not in PRIVATE}
        state = {
            "model": self.model.state_dict(),
            "config": self.config,
            "curve": self.curve,
            "stages": [*self.stages, {**kept, "workers": self.workers, "until": step}],
            "seconds": self.seconds + seconds,
            "text_sha256": hashlib.sha256(self.raw).hexdigest(),
        }
        torch.save(state, self.options.out + ".pt")
        self.tokenizer.save(self.options.out + ".tokenizer.json")


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("--out", default="czech", help="where the checkpoint goes, without .pt")
    parser.add_argument("--resume", help="a checkpoint to go on from, with a fresh schedule of --steps")
    parser.add_argument("--model", default="{}", help="JSON that overrides parts of the configuration")
    for name, default in NUMBERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()


if __name__ == "__main__":
    Run(arguments()).train()
