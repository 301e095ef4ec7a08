"""The same number of threads for everybody who is in this process."""

import sys

import pozor


def set_threads(count: int) -> None:
    """pozor, torch and NumPy's BLAS; onnxruntime and OpenVINO are told when their graphs are made."""
    choose = getattr(pozor, "set_num_threads", None)
    if choose is not None:
        choose(count)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)
    try:
        from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingImports]
    except ImportError:
        return  # NumPy's BLAS keeps its own number
    threadpool_limits(count, user_api="blas")
