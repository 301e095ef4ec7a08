"""The documents keep their word: links lead somewhere, the Python runs, no machine is named."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    p for p in ROOT.rglob("*.md") if not {".venv", "node_modules", "dist", "build", "static"} & set(p.parts)
)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:", "#")):
            continue
        assert (page.parent / target.split("#")[0]).exists(), f"{page.name}: {target}"


def test_python_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.S)
    assert blocks, "the README shows five lines of Python"
    for block in blocks:
        if "# needs a model" in block:
            continue
        exec(compile(block, "README.md", "exec"), {})


def test_readme_is_one_screen() -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 90


def test_no_path_of_a_machine_in_the_sources() -> None:
    words = ("/work" + "/", "/root" + "/", "/tmp/" + "pozor")
    for path in ROOT.rglob("*"):
        if path.suffix not in {".py", ".ts", ".svelte", ".md", ".toml", ".json", ".sh", ".css", ".html"}:
            continue
        if {".venv", "node_modules", "static", ".git", "dist", "build", ".cache", ".hypothesis"} & set(
            path.parts
        ):
            continue
        text = path.read_text(encoding="utf-8")
        assert not [w for w in words if w in text], path
