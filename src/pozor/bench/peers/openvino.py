"""OpenVINO: the operator scaled_dot_product_attention on the CPU, at the precision of the case."""

from typing import Any

import numpy as np

from pozor.bench.cases import Case
from pozor.bench.peers import Absent, Call, Peer, need


def peers() -> list[Peer]:
    """One operator."""
    return [Peer("OpenVINO", _sdpa, ("prefill", "decode", "length"))]


def _sdpa(case: Case, qkv: tuple[Any, Any, Any], threads: int) -> Call:
    ov = need("openvino")
    if case.heads != case.kv_heads:
        raise Absent("has no grouped queries in this operator")
    if case.window is not None or (case.causal and case.q_offset):
        raise Absent("has no such kernel")
    opset = __import__("openvino.opset13", fromlist=["opset13"])
    kind = {"float32": ov.Type.f32, "float16": ov.Type.f16, "bfloat16": ov.Type.bf16}[case.dtype]
    inputs = [opset.parameter(list(x.shape), kind) for x in qkv]
    made = opset.scaled_dot_product_attention(*inputs, causal=case.causal)
    model = ov.Model([opset.result(made)], inputs, "attention")
    hints = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": kind.to_string() if hasattr(kind, "to_string") else kind.get_type_name(),
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
    }
    try:
        request = ov.Core().compile_model(model, "CPU", hints).create_infer_request()
        for place, array in enumerate(qkv):
            request.set_input_tensor(place, _tensor(ov, np.ascontiguousarray(array), kind))
    except RuntimeError as error:
        raise _refused(error) from None

    def run() -> Any:
        try:
            request.infer()
        except RuntimeError as error:
            raise _refused(error) from None
        return request.get_output_tensor(0)

    return Call(run, lambda out: _read(out, case))


def _refused(error: RuntimeError) -> Absent:
    return Absent(f"does not run this ({' '.join(str(error).split())[:120]})")


def _tensor(ov: Any, array: np.ndarray, kind: Any) -> Any:
    if array.dtype.name != "bfloat16":
        return ov.Tensor(array, shared_memory=True)
    return ov.Tensor(array.view(np.uint16), array.shape, kind)


def _read(out: Any, case: Case) -> np.ndarray:
    data = np.array(out.data)
    if case.dtype == "bfloat16" and data.dtype.name != "bfloat16" and data.dtype.itemsize == 2:
        from pozor.bench.cases import as_dtype

        data = data.view(as_dtype("bfloat16"))
    return data.astype(np.float32)
