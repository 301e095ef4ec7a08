"""q, k, v out of real models. One adapter, one file: `interface.py` is transformers' attention interface."""

from pozor.capture.session import record

__all__ = ["record"]
