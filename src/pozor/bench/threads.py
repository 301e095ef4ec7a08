"""The same number of threads for everybody who is in this process, while something is measured."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pozor import threads


@contextmanager
def same_threads(count: int) -> Iterator[None]:
    """pozor, torch and NumPy's BLAS; onnxruntime and OpenVINO are told when their graphs are made."""
    with ExitStack() as stack:
        stack.enter_context(threads.using(count))
        try:
            import torch
        except ImportError:
            pass  # then nobody here counts by it
        else:
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(count)
        try:
            from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingImports]
        except ImportError:
            pass  # NumPy's BLAS keeps its own number
        else:
            stack.enter_context(threadpool_limits(count, user_api="blas"))
        yield
