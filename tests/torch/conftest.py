"""Keeps transformers from the network and the tests on one thread; leaves no compiled graph behind."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "capture"))  # tiny_models
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Several threads on a busy machine wait for each other longer than they compute."""
    import torch

    torch.set_num_threads(1)
