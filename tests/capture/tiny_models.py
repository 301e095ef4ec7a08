"""Tiny models with random weights, one of each kind of attention; nothing is loaded."""

from typing import Any

import torch
import transformers

SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "vocab_size": 64,
    "max_position_embeddings": 128,
}
DECODER = SMALL | {"num_key_value_heads": 2}
PAIR = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "vocab_size": 64,
}
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 4, "vocab_size": 64}
MLA = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 2,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
    "n_shared_experts": 1,
}
WHISPER = PAIR | {"num_mel_bins": 8, "max_source_positions": 20, "decoder_start_token_id": 1}
# name -> class, config class, options
KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", DECODER),
    "mistral": ("MistralForCausalLM", "MistralConfig", DECODER | {"sliding_window": 4}),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", DECODER | {"head_dim": 16}),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", DECODER | {"head_dim": 16}),
    "gemma3": (
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        DECODER | {"sliding_window": 3, "num_hidden_layers": 6},
    ),
    "gpt_oss": (
        "GptOssForCausalLM",
        "GptOssConfig",
        DECODER | {"head_dim": 16, "num_local_experts": 2, "num_experts_per_tok": 2},
    ),
    "gpt2": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 64, "n_positions": 128},
    ),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SMALL),
    "llama4": (
        "Llama4ForCausalLM",
        "Llama4TextConfig",
        DECODER
        | {"head_dim": 8, "attention_chunk_size": 4, "num_local_experts": 2, "num_hidden_layers": 4}
        | {"intermediate_size_mlp": 32},
    ),
    "deepseek": ("DeepseekV3ForCausalLM", "DeepseekV3Config", SMALL | MLA),
    "bert": ("BertModel", "BertConfig", SMALL),
    "albert": ("AlbertModel", "AlbertConfig", SMALL | {"embedding_size": 16, "num_hidden_layers": 3}),
    "modernbert": (
        "ModernBertModel",
        "ModernBertConfig",
        SMALL | {"local_attention": 6, "pad_token_id": 0, "global_attn_every_n_layers": 2},
    ),
    "bert_decoder": (
        "BertLMHeadModel",
        "BertConfig",
        SMALL | {"is_decoder": True, "add_cross_attention": True},
    ),
    "t5_encoder": ("T5EncoderModel", "T5Config", T5),
    "t5": ("T5ForConditionalGeneration", "T5Config", T5),
    "bart": ("BartModel", "BartConfig", PAIR),
    "whisper": ("WhisperModel", "WhisperConfig", WHISPER | {"pad_token_id": 0, "eos_token_id": 2}),
    "vit": (
        "ViTModel",
        "ViTConfig",
        {
            k: SMALL[k]
            for k in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
        }
        | {"image_size": 32, "patch_size": 8},
    ),
    "falcon": ("FalconForCausalLM", "FalconConfig", SMALL),
}


def tiny(kind: str, implementation: str = "sdpa", **changes: Any) -> Any:
    """A model of that kind in evaluation mode; the same weights each time."""
    torch.manual_seed(0)
    name, config, options = KINDS[kind]
    made = getattr(transformers, config)(**(options | changes))
    made._attn_implementation = implementation
    return getattr(transformers, name)(made).eval()


def ids(*rows: int, start: int = 3) -> torch.Tensor:
    """Token ids (len(rows), rows[0]); each row a run of different numbers."""
    return torch.stack([torch.arange(start + n, start + n + rows[0]) for n in range(len(rows))])


def padded(*lengths: int, left: bool = False) -> dict[str, torch.Tensor]:
    """A batch of sequences of these lengths, padded on one side."""
    longest = max(lengths)
    mask = torch.zeros(len(lengths), longest, dtype=torch.long)
    for row, length in enumerate(lengths):
        mask[row, slice(longest - length, None) if left else slice(0, length)] = 1
    return {"input_ids": ids(*[longest] * len(lengths)) * mask, "attention_mask": mask}
