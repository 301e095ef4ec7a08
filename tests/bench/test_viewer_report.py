"""benchmarks/viewer_report.py: the page in docs is what its JSON lines give."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report() -> ModuleType:
    spec = importlib.util.spec_from_file_location("viewer_report", ROOT / "benchmarks" / "viewer_report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_of_the_lines(report: ModuleType) -> None:
    assert report.page() == (ROOT / "docs" / "viewer_benchmarks.md").read_text(encoding="utf-8")


def test_a_bar_holds_only_on_its_side(report: ModuleType) -> None:
    def row(part: str, **line: float) -> str:
        return next(row for row in report.bars({(part,): line})[2:] if not row.endswith("not measured |"))

    assert row("base", base_s=11.9, preview_s=1.0).endswith("| ≤ 12 s | 11.9 s | yes |")
    assert row("base", base_s=12.1, preview_s=1.0).endswith("| ≤ 12 s | 12.1 s | **no** |")
    assert row("pan", frames_per_s=31.0).endswith("| ≥ 30 frames/s | 31 frames/s | yes |")
    assert row("pan", frames_per_s=29.0).endswith("| **no** |")


def test_who_has_no_picture_is_extrapolated_with_the_square_of_the_tokens(report: ModuleType) -> None:
    found = {("bertviz", n): {"page_bytes": 1000 + 2 * n * n} for n in (128, 512)}
    found |= {("bertviz", 2048): {"failed": "the browser passed 2 GB"}}
    shown = report.cell(found, "bertviz", 2048, "page_bytes", lambda value: f"{value:.0f}")
    assert shown == f"({1000 + 2 * 2048 * 2048})"  # and in brackets
    assert report.cell(found, "bertviz", 512, "page_bytes", str) == str(1000 + 2 * 512 * 512)
    assert report.cell(found, "bertviz", 8192, "page_bytes", str) == "not measured"
    assert report.failures(found) == ["- BertViz, 2,048 tokens: the browser passed 2 GB."]
