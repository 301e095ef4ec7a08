"""Two small models that run in NumPy on pozor's own attention: one that agrees, one that writes Czech.

`load("agreement")` finds the subject of a verb, `load("czech")` goes on with a Czech text.
"""

from typing import Any, Literal, overload

from pozor.errors import OptionError
from pozor.lm import weights
from pozor.lm.agreement import AgreementModel, Bigram
from pozor.lm.czech import CzechModel

__all__ = ["AgreementModel", "Bigram", "CzechModel", "load"]

_MODELS = {"agreement": AgreementModel, "czech": CzechModel}


@overload
def load(name: Literal["agreement"], *, dtype: Any = ...) -> AgreementModel: ...
@overload
def load(name: Literal["czech"], *, dtype: Any = ...) -> CzechModel: ...
def load(name: str, *, dtype: Any = "float32") -> Any:
    """A model with the weights that this package ships.

    Args:
        name: "agreement" or "czech".
        dtype: What it computes in: float32, or float64 for reference.

    Raises:
        OptionError: No such model, or no such dtype.

    Example:
        >>> model = load("agreement")
        >>> model.predict(model.cut("Sestra, když otec spal, čet")).gender
        'f'
    """
    if name not in _MODELS:
        raise OptionError(f"name must be one of {', '.join(_MODELS)}; got {name!r}.")
    if str(dtype) not in ("float32", "float64"):
        raise OptionError(f"dtype must be 'float32' or 'float64'; got {dtype!r}.")
    return _MODELS[name](weights.document(name), weights.read(name), dtype)
