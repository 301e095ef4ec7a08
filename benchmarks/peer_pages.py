"""One head as the page of a viewer; run by the Python that has this viewer.

    python peer_pages.py bertviz|inspectus|circuitsvis PROBS.npy TOKENS.json PAGE.html
    python peer_pages.py pozor RECORDING.pozor "" PAGE.html

Prints one JSON line: version, seconds, peak memory of the process. Nothing is fetched.
"""

import importlib
import json
import resource
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title><body>{body}</body></html>'


def bertviz(probs: np.ndarray, tokens: list[str]) -> str:
    """Its head view; its scripts come from cdnjs, which the benchmark answers."""
    import torch
    from bertviz import head_view

    shown: Any = head_view((torch.from_numpy(probs)[None, None],), tokens, html_action="return")
    return shown.data


def inspectus(probs: np.ndarray, tokens: list[str]) -> str:
    """Its default charts, which it hands to the notebook's display."""
    import inspectus as viewer
    import IPython.display

    shown: list[Any] = []
    IPython.display.display = shown.append
    viewer.attention(probs, tokens)
    return "".join(part.data for part in shown)


def circuitsvis(probs: np.ndarray, tokens: list[str]) -> str:
    """Its attention pattern with its scripts inside, as where it finds no network."""
    import circuitsvis.utils.render as render
    from circuitsvis.attention import attention_pattern

    render.internet_on = lambda: False  # else it calls a host at each display
    shown = attention_pattern(tokens, probs, min_value=0.0, max_value=1.0, mask_upper_tri=True)
    return shown._repr_html_()


MAKERS = {  # what each imports: loading is not counted
    "bertviz": (bertviz, ("torch", "bertviz")),
    "inspectus": (inspectus, ("IPython.display", "inspectus")),
    "circuitsvis": (circuitsvis, ("torch", "circuitsvis")),
}


def main() -> None:
    """Make the page."""
    name, source, tokens, path = sys.argv[1:]
    if name == "pozor":
        import pozor

        started = time.perf_counter()
        pozor.open(source)[0, 0].to_html(path, overwrite=True)
    else:
        make, modules = MAKERS[name]
        given = np.load(source), json.loads(Path(tokens).read_text(encoding="utf-8"))
        for module in modules:
            importlib.import_module(module)
        started = time.perf_counter()
        Path(path).write_text(PAGE.format(name=name, body=make(*given)), encoding="utf-8")
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"version": metadata.version(name), "seconds": seconds, "peak_bytes": peak}))


if __name__ == "__main__":
    main()
