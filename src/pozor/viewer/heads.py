"""What is answered about all heads at once: measures, which of them look here, thumbnails."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pozor.matrix import thumbs
from pozor.viewer.answers import Shown, number
from pozor.viewer.derived import member
from pozor.viewer.documents import HeadLine, HeadsDocument, Reduce, Value, WhichDocument, WhichLine

if TYPE_CHECKING:
    import numpy as np

    from pozor.matrix.measuring import Measuring


def heads_document(measuring: "Measuring") -> HeadsDocument:
    """Every head with what is known of it; asking starts the measuring, whose failure is raised once."""
    making = measuring.making
    failed, making.error = making.error, None
    if failed is not None:
        making.wants_preview = False
        raise failed
    # started once: asking again must not put it before the base maps that were asked for meanwhile
    if not (making.ready or making.wants_preview):
        making.start()
    done = 1.0 if making.ready else min(making.progress, 0.999)
    lines = measuring.lines.copy()
    names = (lines.dtype.names or ())[4:]
    return {"heads": [_head_line(line, names) for line in lines], "done": done}


def _head_line(line: "np.void", names: tuple[str, ...]) -> HeadLine:
    place = {"layer": int(line["layer"]), "kind": str(line["kind"]), "head": int(line["head"])}
    numbers = {name: number(float(line[name])) for name in names}
    return cast(HeadLine, place | {"kv_head": int(line["kv_head"])} | numbers)


def which_document(lines: "np.ndarray", query: int | None, key: int | None) -> WhichDocument:
    """Every head, the one that looks here most first."""
    heads = [
        cast(
            WhichLine,
            {
                "layer": int(line["layer"]),
                "kind": str(line["kind"]),
                "head": int(line["head"]),
                "prob": number(float(line["prob"])),
                "at": int(line["at"]) if line["at"] >= 0 else None,
            },
        )
        for line in lines
    ]
    return {"query": query, "key": key, "heads": heads}


def thumbs_payload(shown: Iterable[Shown], value: str, reduce: str) -> tuple[bytes, bool]:
    """For each head 64 × 64 float32, then for each head 64 × 64 states; and whether any is a preview."""
    made, previews = [], []
    for one in shown:
        whole, head, batch = member(one)
        small, preview = thumbs.thumb(whole, cast(Reduce, reduce), cast(Value, value), head=head, batch=batch)
        made.append(small)
        previews.append(preview)
    return thumbs.payload(made), any(previews)
