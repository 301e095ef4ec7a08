"""The door: every wrong input has one sentence: argument, rule, what came, what to do."""

import ml_dtypes
import numpy as np
import pytest
import torch

import pozor
from pozor import inputs

X = np.ones((1, 2, 4, 8), np.float32)


def call(q=X, k=X, v=X, **options):
    return pozor.attention(q, k, v, **options)


WRONG = [
    # axes
    ({"q": np.ones(3, np.float32)}, pozor.ShapeError, r"q must have 2, 3 or 4 axes: .*; got 1 in \(3,\)"),
    ({"k": np.ones((1, 1, 1, 2, 3), np.float32)}, pozor.ShapeError, "k must have 2, 3 or 4 axes.*got 5"),
    (
        {"k": X[..., :5]},
        pozor.ShapeError,
        r"k must share head_dim with q; got 8 in q \(1, 2, 4, 8\) and 5 in k \(1, 2, 4, 5\)",
    ),
    ({"v": X[:, :, :3]}, pozor.ShapeError, "v must share kv_len with k; got 4 in k .* and 3 in v"),
    ({"v": X[:, :1]}, pozor.ShapeError, "v must share num_kv_heads with k; got 2 in k .* and 1 in v"),
    (
        {"k": np.ones((1, 3, 4, 8), np.float32), "v": np.ones((1, 3, 4, 8), np.float32)},
        pozor.ShapeError,
        r"num_heads must be a multiple of num_kv_heads; got 2 \(q\) and 3 \(k\)",
    ),
    (
        {"q": np.ones((3, 2, 4, 8), np.float32), "k": np.ones((2, 2, 4, 8), np.float32)},
        pozor.ShapeError,
        r"batch axes of q, k and v must be equal or 1; got 3 \(q\), 2 \(k\), 1 \(v\)",
    ),
    ({"q": X[..., :0], "k": X[..., :0]}, pozor.ShapeError, "head_dim must be 1 or more; got 0 in q"),
    ({"v": X[..., :0]}, pozor.ShapeError, "v_head_dim must be 1 or more; got 0 in v"),
    ({"q": X[:, :0]}, pozor.ShapeError, "num_heads must be 1 or more; got 0 in q"),
    ({"k": X[:, :0], "v": X[:, :0]}, pozor.ShapeError, "num_kv_heads must be 1 or more; got 0 in k"),
    # types
    (
        {"q": [[1.0]]},
        pozor.DtypeError,
        r"q must be a NumPy array or a torch tensor; got list. Use np.asarray\(q",
    ),
    ({"v": None}, pozor.DtypeError, "v must be a NumPy array or a torch tensor; got None"),
    ({"q": X.astype(int)}, pozor.DtypeError, "q must be float64, float32, float16 or bfloat16; got int64"),
    ({"q": X.astype(complex)}, pozor.DtypeError, "q must be .*; got complex128"),
    (
        {"q": X.astype(np.float64)},
        pozor.DtypeError,
        r"q, k and v must share one dtype; got float64 \(q\), float32 \(k\), float32 \(v\)",
    ),
    (
        {"k": torch.ones(1, 2, 4, 8)},
        pozor.DtypeError,
        r"q, k and v must share one kind of array; got numpy \(q\), torch \(k\), numpy \(v\)",
    ),
    # masks
    (
        {"mask": np.zeros((4, 4), np.float32)},
        pozor.DtypeError,
        r"mask must be boolean \(True = may attend\); got float32. Pass additive values as bias=.",
    ),
    (
        {"mask": torch.zeros((4, 4), dtype=torch.bfloat16)},
        pozor.DtypeError,
        r"mask must be boolean \(True = may attend\); got bfloat16. Pass additive values as bias=.",
    ),
    (
        {"mask": np.zeros((4, 4), int)},
        pozor.DtypeError,
        r"mask must be boolean \(True = may attend\); got int64. Use mask != 0",
    ),
    (
        {"mask": np.ones((3, 4), bool)},
        pozor.ShapeError,
        r"mask must broadcast to \(batch, num_heads, q_len, kv_len\) = \(1, 2, 4, 4\); got \(3, 4\)",
    ),
    ({"mask": np.ones((1, 1, 1, 4, 4), bool)}, pozor.ShapeError, "mask must broadcast to"),
    ({"mask": np.ones((2, 1, 1, 1), bool)}, pozor.ShapeError, "mask must broadcast to"),
    (
        {"mask": [True]},
        pozor.DtypeError,
        "mask must be a boolean array, a mask object or a callable; got list",
    ),
    (
        {"mask": lambda b, h, i, j: (i >= j) * 1.0},
        pozor.DtypeError,
        "mask must return boolean .* got float64 from the callable",
    ),
    (
        {"mask": lambda b, h, i, j: np.ones((7, 7), bool)},
        pozor.ShapeError,
        r"mask must return a block that broadcasts to .*; got shape \(7, 7\)",
    ),
    ({"mask": pozor.Causal}, pozor.DtypeError, r"got the class Causal. Call it: Causal\(…\)"),
    (
        {"mask": lambda q, k: q >= k},
        pozor.DtypeError,
        r"mask must be callable as mask_mod\(b, h, q_idx, kv_idx\); too many .* arguments in <lambda>",
    ),
    # bias
    (
        {"bias": np.ones((4, 4), bool)},
        pozor.DtypeError,
        "bias must be floating; got bool. Pass booleans as mask=.",
    ),
    ({"bias": np.ones((4, 4), int)}, pozor.DtypeError, "bias must be floating; got int64"),
    (
        {"bias": torch.ones(4, 4)},
        pozor.DtypeError,
        "bias must be the kind of array that q is, numpy; got torch",
    ),
    ({"bias": 1.0}, pozor.DtypeError, "bias must be the kind of array that q is, numpy; got float"),
    ({"bias": np.ones(3)}, pozor.ShapeError, r"bias must broadcast to .*; got \(3,\)"),
    # positions
    ({"causal": 1}, pozor.DtypeError, "causal must be True or False; got 1"),
    (
        {"q_offset": 1.5},
        pozor.DtypeError,
        r"q_offset must be an integer or an integer array \(batch,\).*float64",
    ),
    ({"q_offset": True}, pozor.DtypeError, "q_offset must be an integer.*bool"),
    (
        {"q_offset": [1, 2]},
        pozor.ShapeError,
        r"q_offset must be one integer or \(batch,\) = \(1,\); got shape \(2,\)",
    ),
    ({"q_offset": [1, [2]]}, pozor.DtypeError, "q_offset must be an integer.*; got list"),
    ({"q_offset": 10**30}, pozor.OptionError, "q_offset must be from -2.*60 to 2.*60 tokens; got 10000"),
    ({"q_offset": -(2**63)}, pozor.OptionError, "q_offset must be from -2.*60 to 2.*60 tokens; got -92"),
    ({"q_offset": np.uint64(2**64 - 1)}, pozor.OptionError, "q_offset must be from -2.*60 to 2.*60 tokens"),
    (
        {"window": 4},
        pozor.OptionError,
        r"window must be a pair \(left, right\) in tokens, None = open; got 4",
    ),
    ({"window": (1, 2, 3)}, pozor.OptionError, "window must be a pair"),
    ({"window": (-1, 0)}, pozor.OptionError, r"window=\(-1, 0\): left must be 0 tokens or more; got -1"),
    (
        {"window": (0, 1.5)},
        pozor.DtypeError,
        r"window=\(0, 1.5\): right must be a whole number of tokens or None",
    ),
    # numbers
    ({"scale": np.inf}, pozor.OptionError, "scale must be finite; got inf"),
    ({"scale": "big"}, pozor.DtypeError, "scale must be a number; got str"),
    ({"scale": "2"}, pozor.DtypeError, "scale must be a number; got str"),
    ({"scale": True}, pozor.DtypeError, "scale must be a number; got bool"),
    ({"scale": 10**400}, pozor.OptionError, "scale must be finite; got inf"),
    (
        {"scale": torch.ones((), requires_grad=True)},
        pozor.DtypeError,
        "scale must be a number, without a gradient; got a tensor that requires one",
    ),
    ({"softcap": 0}, pozor.OptionError, "softcap must be greater than 0; got 0. Leave it out for no cap"),
    ({"softcap": -3}, pozor.OptionError, "softcap must be greater than 0; got -3"),
    ({"sink": 0.5}, pozor.DtypeError, r"sink must be an array \(num_heads,\), one logit a head; got float"),
    ({"sink": np.zeros(3)}, pozor.ShapeError, r"sink must be \(num_heads,\) = \(2,\); got \(3,\)"),
    ({"sink": np.zeros(2, int)}, pozor.DtypeError, "sink must be floating; got int64"),
    (
        {"sink": torch.zeros(2)},
        pozor.DtypeError,
        "sink must be the kind of array that q is, numpy; got torch",
    ),
    # backend
    (
        {"backend": "fast"},
        pozor.OptionError,
        "backend must be auto, reference, blocked, torch or native; got 'fast'",
    ),
]


@pytest.mark.parametrize(("options", "kind", "words"), WRONG, ids=[words[:40] for _, _, words in WRONG])
def test_wrong_input_has_one_clear_sentence(options, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call(**options)
    assert isinstance(caught.value, pozor.PozorError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({"causal": True}, "causal=True"),
        ({"window": (2, 0)}, r"window=\(2, 0\)"),
        ({"mask": pozor.Causal()}, r"mask=Causal\(\)"),
        ({"mask": pozor.Prefix(2) | pozor.Window(1, 0)}, r"mask=\(Prefix\(2\) \| Window\(1, 0\)\)"),
    ],
)
def test_positions_are_asked_for_where_the_lengths_differ(options, written):
    with pytest.raises(
        pozor.OptionError, match=written + r" is ambiguous for q_len=1, kv_len=4. Give q_offset: 3 "
    ):
        call(q=X[:, :, :1], **options)
    call(q=X[:, :, :1], q_offset=3, **options)


def test_positions_are_not_asked_for_where_nothing_depends_on_them():
    for options in (
        {},
        {"mask": pozor.Padding([3])},
        {"mask": pozor.Sinks(2)},
        {"mask": pozor.Documents([0], [0] * 4)},
    ):
        call(q=X[:, :, :1], **options)


def test_distance_asks_for_positions_too():
    with pytest.raises(
        pozor.OptionError, match=r"want=Want\(distance=True\) is ambiguous for q_len=1, kv_len=4"
    ):
        pozor.observe(X[:, :, :1], X, X, want=pozor.Want(distance=True))


@pytest.mark.parametrize(
    ("want", "kind", "words"),
    [
        ({"entropy": 1}, pozor.DtypeError, r"Want\(entropy\) must be True or False; got 1"),
        ({"top_k": np.ones(3, int)}, pozor.DtypeError, r"Want\(top_k\) must be a whole number; got array"),
        ({"top_k": 1.5}, pozor.DtypeError, r"Want\(top_k\) must be a whole number; got 1.5"),
        ({"top_k": True}, pozor.DtypeError, r"Want\(top_k\) must be a whole number; got True"),
        ({"top_k": -1}, pozor.OptionError, r"Want\(top_k\) must be 0 \(not wanted\) or more; got -1"),
        ({"pooled": -16}, pozor.OptionError, r"Want\(pooled\) must be 0 \(not wanted\) or more; got -16"),
    ],
)
def test_wrong_wants(want, kind, words):
    with pytest.raises(kind, match=words):
        pozor.Want(**want)


@pytest.mark.parametrize("name", ["bias", "sink"])
def test_bias_and_sink_lie_where_q_does(name):
    x = torch.ones(2, 2)
    with pytest.raises(pozor.DtypeError, match=f"{name} must be on the device of q, cpu; got meta"):
        pozor.attention(x, x, x, **{name: torch.ones(1, device="meta")})


def test_wants_in_numbers_of_numpy():
    want = pozor.Want(entropy=np.True_, top_k=np.int64(2))
    assert want == pozor.Want(entropy=True, top_k=2)
    assert isinstance(want.top_k, int)


def test_the_farthest_positions_stay_whole_numbers():
    for q_offset, seen in ((2**60, [[1.5]] * 2), (-(2**60), [[0.0]] * 2)):
        x, v = np.zeros((2, 1)), np.array([[1.0], [2.0]])
        for window in (None, (2**62, 2**62)):
            for name in ("reference", "blocked", "torch"):
                out = pozor.attention(x, x, v, causal=True, window=window, q_offset=q_offset, backend=name)
                assert out.tolist() == seen
        far = pozor.observe(x, x, v, q_offset=q_offset, want=pozor.Want(distance=True))
        assert far.distance.sum(axis=-1).tolist() == [1, 1]


def test_want_must_be_a_want():
    with pytest.raises(pozor.DtypeError, match=r"want must be a pozor.Want; got dict"):
        pozor.observe(X, X, X, want={"entropy": True})


def test_a_kernel_that_is_not_here_is_refused():
    if "native" in pozor.available_backends():
        assert call(backend="native").shape == X.shape
    else:
        with pytest.raises(pozor.BackendUnavailable, match="backend='native' is not in this install"):
            call(backend="native")


@pytest.mark.parametrize("name", ["reference", "blocked"])
def test_a_backend_without_gradients_says_so(name):
    q = torch.ones(1, 1, 2, 2, requires_grad=True)
    with pytest.raises(pozor.BackendUnavailable, match=f"backend='{name}' gives no gradients"):
        pozor.attention(q, q, q, backend=name)
    with torch.no_grad():
        assert not pozor.attention(q, q, q, backend=name).requires_grad


def test_merge_refuses_what_it_cannot_join():
    out, lse = np.zeros((2, 3)), np.zeros(2)
    with pytest.raises(pozor.OptionError, match="parts must hold one"):
        pozor.merge([])
    with pytest.raises(pozor.DtypeError, match=r"parts must be pairs \(out, lse\) .*; part 1 is not"):
        pozor.merge([(out, lse), (out, torch.zeros(2))])
    with pytest.raises(pozor.ShapeError, match=r"got \(2, 3\) and \(3,\) in part 1"):
        pozor.merge([(out, lse), (out, np.zeros(3))])
    with pytest.raises(pozor.ShapeError, match=r"got \(2, 3\) and \(3,\) in part 0\.$"):
        pozor.merge([(out, np.zeros(3))])
    with pytest.raises(pozor.DtypeError, match="parts must be floating; got int64 as lse of part 0"):
        pozor.merge([(out, np.zeros(2, int))])
    for wrong, came in ((3, "int"), ((out, lse), "ndarray")):
        with pytest.raises(pozor.DtypeError, match=f"parts must be a list of pairs .*; got {came} in it"):
            pozor.merge(wrong)


@pytest.mark.parametrize("name", inputs.FLOATS)
def test_tensors_and_arrays_share_memory(name):
    tensor = torch.arange(6).reshape(2, 3).to(getattr(torch, name))
    array = inputs.to_numpy(tensor)
    assert array.dtype.name == name
    assert array.ctypes.data == tensor.data_ptr()
    back = inputs.to_torch(array)
    assert back.data_ptr() == tensor.data_ptr()
    assert back.dtype == tensor.dtype
    assert array.astype(float).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", ["auto", "reference", "blocked", "torch"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tensors_come_back_as_tensors(name, dtype):
    x = torch.tensor([[1.0], [2.0]], dtype=dtype)
    seen = pozor.observe(x, x, x, want=pozor.Want(True, True, 1, True, True, 1), backend=name)
    assert seen.out.dtype == dtype
    for value in (seen.lse, seen.entropy, seen.top_keys, seen.received, seen.distance, seen.pooled.mean):
        assert isinstance(value, torch.Tensor)
    assert seen.lse.dtype in (torch.float32, torch.float64)
    assert seen.backend == ("blocked" if name == "auto" else name)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (5, 2, 3, 4)])
@pytest.mark.parametrize("name", ["reference", "blocked", "torch"])
def test_the_axes_are_the_callers(name, shape):
    x = np.ones(shape, np.float32)
    seen = pozor.observe(x, x, x, want=pozor.Want(True, True, 2, True, True, 2), backend=name)
    lead = shape[:-2]
    assert seen.out.shape == shape
    assert seen.lse.shape == seen.row_max.shape == seen.entropy.shape == (*lead, 3)
    assert seen.top_probs.shape == seen.top_keys.shape == (*lead, 3, 2)
    assert seen.received.shape == (*lead, 3)
    assert seen.distance.shape == (*lead, 3, len(seen.distance_edges) - 1)
    assert seen.pooled.max.shape == seen.pooled.share.shape == (*lead, 2, 2)


def test_bfloat16_needs_nothing_but_its_name():
    x = np.ones((2, 2), ml_dtypes.bfloat16)
    assert inputs.dtype_name(x) == "bfloat16"
    assert pozor.attention(x, x, x).dtype == x.dtype


def test_without_values_there_is_everything_but_out():
    seen = pozor.observe(X, X, None, want=pozor.Want(row_max=True))
    assert seen.out is None
    assert np.array_equal(seen.lse, pozor.observe(X, X, X).lse)
