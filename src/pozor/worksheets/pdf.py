"""Worksheets as a PDF, by typst, from the same records as the page; nothing is fetched."""

import json
from collections.abc import Sequence
from pathlib import Path

from pozor.errors import BackendUnavailable
from pozor.worksheets.records import Records

TEMPLATE = Path(__file__).with_name("sheet.typ")


def pdf(sheets: Sequence[Records]) -> bytes:
    """All sheets in one PDF (A4), each followed by its key on pages of its own.

    Raises:
        BackendUnavailable: typst is not in this install.
    """
    try:
        import typst
    except ImportError:
        raise BackendUnavailable(
            "a PDF needs typst, which is not in this install. pip install 'pozor[lessons]', or write .html."
        ) from None
    data = json.dumps([sheet.document() for sheet in sheets], ensure_ascii=False)
    # fonts of the system would make the same sheet look different from one machine to the next
    made = typst.compile(str(TEMPLATE), sys_inputs={"sheets": data}, ignore_system_fonts=True)
    assert isinstance(made, bytes)  # one document, not one file a page
    return made
