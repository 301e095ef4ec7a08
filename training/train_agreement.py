"""Train the small model that finds a verb's subject, in minutes: python training/train_agreement.py"""

import argparse
import hashlib
import json
import time
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch.nn import functional
from transformer import Transformer, exported

from pozor.lm.agreement import AgreementModel
from pozor.lm.figures import figures, strongest_head
from pozor.lm.sentences import TRAINING_LENGTH, Sentence, generate, vocabulary

DATA = Path(__file__).parent.parent / "src/pozor/lm/data"

MODEL = {
    "d_model": 64,
    "num_layers": 2,
    "num_heads": 4,
    "num_kv_heads": 4,
    "d_feed": 128,
    "context": 64,
    "rope": None,
}
IGNORED = -100


def batch(sentences: list[Sentence], ids: dict[str, int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and the ids that follow them, (sentences, longest - 1), filled up on the right."""
    width = max(len(sentence.tokens) for sentence in sentences) - 1
    given = torch.zeros(len(sentences), width, dtype=torch.long)
    wanted = torch.full_like(given, IGNORED)
    for row, sentence in enumerate(sentences):
        line = torch.tensor([ids[token] for token in sentence.tokens])
        given[row, : len(line) - 1], wanted[row, : len(line) - 1] = line[:-1], line[1:]
    return given, wanted


def some_hidden(ids: torch.Tensor, share: float, generator: torch.Generator) -> torch.Tensor:
    """The causal mask, (batch, 1, tokens, tokens), with a share of the keys shut to all later tokens.

    A model that sometimes cannot see the subject learns to be unsure then, not to trust the next best noun.
    """
    tokens = ids.shape[1]
    shut = torch.rand(ids.shape, generator=generator) < share
    shut[:, 0] = False  # <start> stays in sight: every row has something to attend to
    seen = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    return seen & ~(shut[:, None, None, :] & ~torch.eye(tokens, dtype=torch.bool))


@torch.no_grad()
def accuracy(model: Transformer, sentences: list[Sentence], ids: dict[str, int]) -> float:
    """Share of the last verbs whose right ending is likelier than the other."""
    given, _ = batch(sentences, ids)
    rows = torch.arange(len(sentences))
    logits = model(given)[rows, torch.tensor([sentence.verb for sentence in sentences])]
    feminine = logits[:, ids["la"]] > logits[:, ids["l"]]
    return (feminine == torch.tensor([s.gender == "f" for s in sentences])).float().mean().item()


def train(options: argparse.Namespace) -> None:
    """Train, then write and measure."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    words = vocabulary()
    ids = {word: number for number, word in enumerate(words)}
    config: dict[str, Any] = {"vocabulary": len(words), **MODEL, **json.loads(options.model)}
    data = list(islice(generate(options.seed), options.sentences))
    held = list(islice(generate(options.seed + 1, held_out=True), 1000))
    model = Transformer(config)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.rate, betas=(0.9, 0.98), weight_decay=options.decay
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, options.rate, options.steps, pct_start=0.1)
    generator = torch.Generator().manual_seed(options.seed)
    began, curve = time.time(), []
    for step in range(options.steps):
        rows = torch.randint(len(data), (options.batch,), generator=generator).tolist()
        given, wanted = batch([data[row] for row in rows], ids)
        mask = some_hidden(given, options.hidden, generator)
        logits = model(given, mask).flatten(0, 1)
        loss = functional.cross_entropy(logits, wanted.flatten(), ignore_index=IGNORED)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        if (step + 1) % options.every == 0 or step + 1 == options.steps:
            short = list(islice(generate(options.seed + 2), 500))
            found = (
                accuracy(model, short, ids),
                accuracy(model, held, ids),
                accuracy(model, [s for s in held if s.crossed], ids),
            )
            curve.append([step + 1, round(loss.item(), 4), round(found[1], 4)])
            shares = "  ".join(f"{share:.2%}" for share in found)
            print(
                f"{time.time() - began:4.0f} s  step {step + 1}  short, long, crossed: {shares}", flush=True
            )
    ship(model, words, options, data, {"curve": curve, "seconds": round(time.time() - began)})


def ship(
    model: Transformer, words: list[str], options: argparse.Namespace, data: list[Sentence], run: dict
) -> None:
    """Write the weights in half precision, then measure what was written, as it will be run."""
    record: dict[str, Any] = {
        "seed": options.seed,
        "sentences": len(data),
        "longest": TRAINING_LENGTH,
        "data_sha256": hashlib.sha256("\n".join(s.text for s in data).encode()).hexdigest(),
        **{name: getattr(options, name) for name in ("steps", "batch", "rate", "decay", "hidden")},
        **run,
        "head": None,
    }
    card = {"config": model.config, "words": words, "record": record}
    halves = {name: array.astype(np.float16) for name, array in exported(model).items()}
    shipped = AgreementModel(card, halves)
    record["head"] = strongest_head(shipped)
    record["figures"] = figures(shipped)
    save_file(halves, options.out / "agreement.safetensors")
    (options.out / "agreement.json").write_text(json.dumps(card, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps({name: record[name] for name in ("head", "figures")}, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", default="{}")
    parser.add_argument("--sentences", type=int, default=40000)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--hidden", type=float, default=0.2)
    parser.add_argument("--decay", type=float, default=0.1)
    parser.add_argument("--every", type=int, default=200)
    train(parser.parse_args())
