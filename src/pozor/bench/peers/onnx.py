"""onnxruntime: MultiHeadAttention and GroupQueryAttention of com.microsoft, on the CPU."""

from typing import Any

import numpy as np

from pozor.bench.cases import Case
from pozor.bench.peers import Absent, Call, Peer, need

_LONGEST_HALF = 1024  # tokens: it has no float16 arithmetic here, and takes seconds
_GROUPS = ("prefill", "decode", "window", "length")


def peers() -> list[Peer]:
    """Both operators."""
    return [
        Peer("onnxruntime MHA", _multi_head, _GROUPS),
        Peer("onnxruntime GQA", _group_query, _GROUPS),
    ]


def _multi_head(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
    onnx, ort = need("onnx"), need("onnxruntime")
    if case.dtype != "float32":
        raise Absent(f"has no {case.dtype} kernel on the CPU")
    if case.heads != case.kv_heads or case.window is not None or (case.causal and case.q_offset):
        raise Absent("has no such kernel")
    q, k, v = (_joined(x) for x in qkv)
    options = {"num_heads": case.heads, "unidirectional": int(case.causal)}
    node = onnx.helper.make_node(
        "MultiHeadAttention", ["q", "k", "v"], ["out"], domain="com.microsoft", **options
    )
    session = _session(onnx, ort, case, node, {"q": q, "k": k, "v": v}, ["out"], threads)
    return _bound(ort, session, case, {"q": q, "k": k, "v": v}, {"out": q})


def _group_query(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
    onnx, ort = need("onnx"), need("onnxruntime")
    if case.dtype not in ("float32", "float16"):
        raise Absent(f"has no {case.dtype} kernel on the CPU")
    if not case.causal and case.q_len != 1:
        raise Absent("is always causal")
    if case.dtype == "float16" and case.kv_len > _LONGEST_HALF and case.q_len > 1:
        raise Absent(f"shown up to T = {_LONGEST_HALF} in float16")
    q, k, v = qkv
    options = {"num_heads": case.heads, "kv_num_heads": case.kv_heads}
    if case.window is not None:
        options["local_window_size"] = case.window[0] + 1
    # decoding: the cache is a buffer of full length that holds all keys but the last, and grows in place
    held = case.kv_len - case.q_len
    room = case.kv_len if held else 0
    past = [np.zeros((case.batch, case.kv_heads, room, case.head_dim), q.dtype) for _ in range(2)]
    for cache, array in zip(past, (k, v)):
        cache[:, :, :held] = array[:, :, :held]
    feeds = {"q": _joined(q), "k": _joined(k[:, :, held:]), "v": _joined(v[:, :, held:])}
    feeds |= {"past_k": past[0], "past_v": past[1]}
    feeds |= {
        "lengths": np.full(case.batch, case.kv_len - 1, np.int32),
        "total": np.array([case.kv_len], np.int32),
    }
    names = ["out", "now_k", "now_v"]
    node = onnx.helper.make_node("GroupQueryAttention", list(feeds), names, domain="com.microsoft", **options)
    whole = np.zeros((case.batch, case.kv_heads, case.kv_len, case.head_dim), q.dtype)
    session = _session(onnx, ort, case, node, feeds, names, threads)
    results = {"out": feeds["q"], "now_k": whole, "now_v": whole}
    return _bound(ort, session, case, feeds, results, {"now_k": "past_k", "now_v": "past_v"} if held else {})


def _joined(x: Any) -> np.ndarray:
    """(batch, heads, tokens, dim) as (batch, tokens, heads · dim): the operators' layout."""
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1)


def _session(onnx: Any, ort: Any, case: Case, node: Any, feeds: Any, outputs: Any, threads: int) -> Any:
    helper, kinds = onnx.helper, onnx.TensorProto
    of = {"float32": kinds.FLOAT, "float16": kinds.FLOAT16, "int32": kinds.INT32}
    given = [helper.make_tensor_value_info(n, of[x.dtype.name], x.shape) for n, x in feeds.items()]
    made = [helper.make_tensor_value_info(n, of[case.dtype], None) for n in outputs]
    graph = helper.make_graph([node], "attention", given, made)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.enable_cpu_mem_arena = False  # so that its memory can be seen
    options.log_severity_level = 4
    try:
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no public class
        raise Absent(f"has no such kernel ({_first(error)})") from None


def _bound(
    ort: Any, session: Any, case: Case, feeds: Any, results: Any, shared: dict[str, str] | None = None
) -> Call:
    """A call on memory that is bound once; `shared` names results that lie where an input lies."""
    binding = session.io_binding()
    values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    made = {n: ort.OrtValue.ortvalue_from_numpy(np.zeros_like(x)) for n, x in results.items()}
    made |= {name: values[other] for name, other in (shared or {}).items()}
    for name, value in made.items():
        binding.bind_ortvalue_output(name, value)

    def run() -> Any:
        try:
            session.run_with_iobinding(binding)
        except Exception as error:  # a kernel that is missing shows only now
            raise Absent(f"does not run this ({_first(error)})") from None
        return made["out"]

    shape = (case.batch, case.q_len, case.heads, case.head_dim)
    return Call(run, lambda out: out.numpy().reshape(shape).transpose(0, 2, 1, 3))


def _first(error: Exception) -> str:
    return " ".join(str(error).split())[:120]
