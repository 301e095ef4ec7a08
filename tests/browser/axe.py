"""What axe-core calls serious or critical on a page."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def findings(page: Page) -> list[Any]:
    """Rule, its help, and where."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [
        (one["id"], one["help"], [node["html"][:160] for node in one["nodes"]][:4])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
