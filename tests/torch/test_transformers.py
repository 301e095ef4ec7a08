"""The attention `pozor` of transformers against its sdpa and eager: tiny models of many kinds; SmolLM2."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from tiny_models import ids, padded, tiny
from transformers import DynamicCache

import pozor
import pozor.torch
from pozor import Causal, OptionError, Padding, Window
from pozor.torch.seen_mask import options_of
from pozor.torch.transformers import attention_forward
from support import assert_close

DECODERS = [
    "llama",
    "mistral",
    "qwen3",
    "gemma2",
    "gemma3",
    "gpt_oss",
    "gpt2",
    "gpt_neox",
    "llama4",
    "deepseek",
]
ENCODERS = ["bert", "albert", "modernbert"]


def states(model, **inputs):
    with torch.no_grad():
        return model(**inputs, output_hidden_states=True).hidden_states[-1]


def pair(kind, other="eager"):
    """The same model twice: with attention `pozor`, and with one of transformers' own."""
    return tiny(kind, "pozor"), tiny(kind, other)


@pytest.mark.parametrize("kind", DECODERS)
def test_a_whole_text(kind):
    ours, theirs = pair(kind)
    assert ours.config._attn_implementation == "pozor"
    assert_close(states(ours, input_ids=ids(40)), states(theirs, input_ids=ids(40)), atol=2e-6)


@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma2", "gemma3", "gpt_oss", "deepseek"])
def test_decoding_with_a_cache_is_the_whole_text(kind):
    ours, theirs = pair(kind)
    text = ids(12, 12)
    cache = DynamicCache(config=ours.config)
    steps = ((0, 7), (7, 8), (8, 10), (10, 11), (11, 12))  # one query at a time, and two at once
    with torch.no_grad():
        want = theirs(text).logits
        got = [ours(text[:, start:stop], cache=cache, use_cache=True).logits for start, stop in steps]
    assert_close(torch.cat(got, 1), want, atol=5e-6)


@pytest.mark.parametrize("left", [False, True], ids=["right", "left"])
@pytest.mark.parametrize("kind", ["llama", "mistral", "gemma2", "gpt_oss", *ENCODERS])
@pytest.mark.parametrize("longest", [9, 40])
def test_padding(kind, left, longest):
    ours, theirs = pair(kind)
    batch = padded(5, longest, longest - 2, left=left)
    got, want = states(ours, **batch), states(theirs, **batch)
    shown = batch["attention_mask"].bool()  # what the model computes at padding nobody uses
    assert_close(got[shown], want[shown], atol=3e-6)


@pytest.mark.parametrize("kind", ["bart", "t5", "whisper"])
def test_encoder_and_decoder(kind):
    ours, theirs = pair(kind)
    with torch.no_grad():
        if kind == "whisper":
            sound = torch.randn(1, 8, 40, generator=torch.Generator().manual_seed(0))
            inputs = {"input_features": sound, "decoder_input_ids": ids(6)}
        else:
            batch = padded(5, 9)
            inputs = batch | {"decoder_input_ids": ids(6, 6)}
        assert_close(ours(**inputs)[0], theirs(**inputs)[0], atol=5e-6)


def test_a_static_cache_generates_the_same():
    ours, theirs = pair("llama", "sdpa")
    options = {"max_new_tokens": 6, "do_sample": False, "cache_implementation": "static", "pad_token_id": 0}
    options["disable_compile"] = True
    assert torch.equal(ours.generate(ids(5, 5), **options), theirs.generate(ids(5, 5), **options))


def test_left_padding_generates_the_same():
    ours, theirs = pair("mistral")
    batch = padded(3, 9, left=True)
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0}
    assert torch.equal(ours.generate(**batch, **options), theirs.generate(**batch, **options))


def test_it_can_be_chosen_later():
    model = tiny("llama", "sdpa")
    want = states(model, input_ids=ids(9))
    model.set_attn_implementation("pozor")
    assert_close(states(model, input_ids=ids(9)), want, atol=2e-6)


def test_a_custom_mask_is_added():
    ours, theirs = pair("llama")
    bias = torch.zeros(1, 1, 9, 9).masked_fill(
        torch.ones(9, 9).triu(1).bool(), torch.finfo(torch.float32).min
    )
    bias[..., 3] -= 1.5
    got, want = (states(m, input_ids=ids(9), attention_mask=bias) for m in (ours, theirs))
    assert_close(got, want, atol=2e-6)


def test_gradients_are_sdpas():
    found = []
    for model in pair("llama", "sdpa"):
        model.train()
        model(ids(9), labels=ids(9)).loss.backward()
        found.append(model.model.layers[0].self_attn.q_proj.weight.grad)
    assert_close(*found, atol=1e-6)


def test_a_model_in_one_graph():
    torch.compiler.reset()
    ours, theirs = pair("mistral")
    graph = torch.compile(ours, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        assert_close(graph(ids(9), use_cache=False).logits, theirs(ids(9)).logits, atol=2e-6)


def test_a_recording_of_such_a_model(tmp_path):
    model = tiny("mistral", "pozor")
    with pozor.record(model, tmp_path / "it.pozor"), torch.no_grad():
        model(ids(12))
    assert pozor.open(tmp_path / "it.pozor").fidelity < 1e-5


@pytest.mark.model
def test_smollm2(smollm2_folder):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(smollm2_folder)
    texts = ["The river rose in the night, and", "A short one"]
    batch = tokenizer(texts[0], return_tensors="pt")
    model = AutoModelForCausalLM.from_pretrained(smollm2_folder, attn_implementation="sdpa").eval()
    options = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0}
    found = {}
    for name in ("sdpa", "pozor"):
        model.set_attn_implementation(name)
        with torch.no_grad():
            found[name] = model(**batch).logits, model.generate(**batch, **options)
    assert_close(found["pozor"][0], found["sdpa"][0], atol=2e-4)
    assert torch.equal(found["pozor"][1], found["sdpa"][1])


# ---- the call itself -------------------------------------------------------------------------------------


def call(**options):
    q = torch.randn(1, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    mask = options.pop("attention_mask", None)
    return attention_forward(SimpleNamespace(is_causal=True), q, q, q, mask, **options)[0].transpose(1, 2), q


def test_softcap_sinks_and_a_window_without_a_mask_are_computed():
    sink = torch.tensor([0.5, -1.0])
    got, q = call(softcap=3.0, s_aux=sink, sliding_window=2, scaling=0.7)
    want = pozor.attention(q, q, q, causal=True, softcap=3.0, sink=sink, window=(1, 0), scale=0.7)
    assert_close(got, want, atol=1e-6)


def test_a_position_bias_goes_with_every_mask():
    bias = torch.randn(1, 2, 5, 5, generator=torch.Generator().manual_seed(1))
    shown = torch.ones(5, 5).tril().bool()[None, None]
    causal, q = call(position_bias=bias)
    boolean, _ = call(position_bias=bias, attention_mask=shown)
    floats, _ = call(position_bias=bias, attention_mask=torch.where(shown, 0.0, -torch.inf))
    want = pozor.attention(q, q, q, causal=True, bias=bias)
    for got in (causal, boolean, floats):
        assert_close(got, want, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dropout": 0.1}, r"SimpleNamespace runs with dropout=0\.1; pozor drops nothing"),
        ({"output_attentions": True}, r"uses output_attentions \(weights are never held"),
        ({"cu_seq_lens_q": torch.tensor([0, 5])}, r"uses cu_seq_lens_q, which attention 'pozor' does not"),
        ({"attention_mask": torch.ones(1, 5)}, r"attention_mask must have 4 axes .* got \(1, 5\)"),
    ],
)
def test_what_it_cannot_is_refused_by_name(options, words):
    with pytest.raises(OptionError, match=words):
        call(**options)


def test_what_says_nothing_of_the_numbers_is_let_through():
    call(position_ids=torch.arange(5), use_cache=True, output_attentions=False, cu_seq_lens_q=None)


def test_registered_whichever_is_imported_first():
    look = (
        "from transformers import AttentionInterface; from transformers.masking_utils import "
        "AttentionMaskInterface as M; print('pozor' in AttentionInterface(), 'pozor' in M())"
    )
    for first in ("import pozor.torch, transformers", "import transformers.modeling_utils, pozor.torch"):
        code = f"import warnings; warnings.simplefilter('ignore'); {first}; {look}"
        assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["True", "True"]


# ---- masks seen through ----------------------------------------------------------------------------------


def visible(options, shape):
    """The cells that the options let be seen."""
    batch, _, q_len, kv_len = shape
    q, k = torch.zeros(batch, 1, q_len, 1), torch.zeros(batch, 1, kv_len, 1)
    v = torch.eye(kv_len, dtype=torch.float64)[None, None].expand(batch, 1, -1, -1)
    return pozor.attention(q.double(), k.double(), v, **options) > 0


def grid(q_len, kv_len):
    return torch.arange(q_len)[:, None], torch.arange(kv_len)[None]


ROW, KEY = grid(40, 50)
SHOWN = torch.ones(3, 1, 1, 50, dtype=torch.bool)
SHOWN[0, ..., :7] = False
SHOWN[2, ..., 41:] = False
SEEN = {
    "causal": (KEY <= ROW + 10, Causal),
    "top left": (KEY <= ROW, Causal),
    "window": ((KEY <= ROW + 10) & (KEY > ROW + 10 - 5), Window),
    "two-sided": ((ROW - KEY).abs() <= 4, Window),
    "padding": (SHOWN, Padding),
}


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("padded_too", [False, True], ids=["", "padded"])
def test_a_known_form_is_seen_through(name, padded_too):
    cells, kind = SEEN[name]
    mask = cells.expand(3, 1, 40, 50) & (SHOWN if padded_too else True)
    options = options_of(mask)
    assert "Tensor" not in type(options["mask"]).__name__
    assert kind.__name__ in repr(options["mask"])
    assert torch.equal(visible(options, mask.shape), mask)
    assert options_of(mask) is options or options_of(mask) == options


@pytest.mark.parametrize("name", ["one cell", "documents", "random"])
def test_another_form_stays_an_array(name):
    mask = (KEY <= ROW + 10).expand(2, 1, 40, 50).clone()
    if name == "one cell":
        mask[1, 0, 20, 3] = False
    elif name == "documents":
        mask &= (ROW + 10) // 13 == KEY // 13
    else:
        mask &= torch.rand(mask.shape, generator=torch.Generator().manual_seed(0)) > 0.5
    assert options_of(mask)["mask"] is mask


def test_a_mask_that_changed_is_looked_at_again():
    mask = (KEY <= ROW + 10).expand(1, 1, 40, 50).clone()
    assert isinstance(options_of(mask)["mask"], Causal)
    mask[0, 0, 5, 2] = False
    assert options_of(mask)["mask"] is mask
