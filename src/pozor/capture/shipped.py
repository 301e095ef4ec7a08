"""Makes the recording that the package ships: `python -m pozor.capture.shipped [FOLDER]`.

64 tokens of a story written for it: names, pronouns that need them, and one phrase three times.
"""

import sys
from pathlib import Path

from pozor.capture import loading, tokenizing
from pozor.capture.choices import Choices
from pozor.capture.session import Session

NAME = "red-ball.pozor"
MODEL = "SmolLM2-135M-Instruct (Q4_1)"
TEXT = (
    "Anna gave the red ball to Peter because he had asked her for it. Peter threw the red ball far over the "
    "garden wall, and the dog next door ran after it. When the dog came back, it did not give the red ball "
    "to Peter. It carried the red ball to Anna, and then she laughed."
)
TOKENS = 64


def make(folder: Path) -> Path:
    """Record the story with all layers and heads in bfloat16; returns the path."""
    import torch

    loading.must_have_torch()
    torch.manual_seed(0)
    loaded = loading.load(loading.find(loading.SMOLLM2), dtype="bfloat16", device="cpu")
    story = tokenizing.of_text(loaded.tokenizer, TEXT, "The red ball")
    if len(story) != TOKENS:
        raise ValueError(f"the story must have {TOKENS} tokens; got {len(story)}.")
    path = folder / NAME
    ids = torch.from_numpy(story.token_ids)[None]
    session = Session(loaded.model, path, Choices(), items=[story], name=MODEL, overwrite=True)
    with torch.no_grad(), session:
        loaded.model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False)
    return path


if __name__ == "__main__":
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "data")
    print(made, sum(file.stat().st_size for file in made.rglob("*") if file.is_file()), "bytes")
