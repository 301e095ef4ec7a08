"""Converts SmolLM2's GGUF once: a GGUF takes 15 s to load, safetensors a fraction of a second."""

import shutil
import tempfile
from pathlib import Path


def converted(folder: Path) -> Path:
    """The folder with config, safetensors and tokenizer; made if it is not there."""
    if (folder / "config.json").is_file():
        return folder
    from transformers import LlamaConfig, LlamaForCausalLM

    from pozor.capture import loading

    folder.parent.mkdir(parents=True, exist_ok=True)
    loaded = loading.load(loading.find(loading.SMOLLM2), dtype="float32", device="cpu")
    config = loaded.model.config.to_dict()
    config.pop("quantization_config", None)  # with it the model refuses to be saved
    with tempfile.TemporaryDirectory(dir=folder.parent) as work, loading.quiet():
        plain = LlamaForCausalLM(LlamaConfig(**config))
        plain.load_state_dict(loaded.model.state_dict())
        plain.tie_weights()
        made = Path(work) / "model"
        plain.save_pretrained(made)
        loaded.tokenizer.save_pretrained(made)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    return folder
