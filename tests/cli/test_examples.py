"""`pozor examples`: the file it writes, and what it says when it may not."""

import os
from pathlib import Path

import pytest

from pozor.cli import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["examples", *arguments])
    return int(stop.value.code or 0)


def test_it_writes_one_small_file_that_asks_for_nothing(tmp_path: Path, capsys) -> None:
    path = tmp_path / "hodina.html"
    assert run("-o", str(path)) == 0
    assert "hodina.html" in capsys.readouterr().out
    page = path.read_text(encoding="utf-8")
    assert len(page.encode()) < 400_000
    assert "default-src 'none'" in page
    for outside in ('src="', "<link", "@import", "url(http", "fetch("):
        assert outside not in page, outside
    assert 'data-lang="auto"' in page


def test_the_numbers_can_be_read_without_scripts(tmp_path: Path) -> None:
    path = tmp_path / "hodina.html"
    run("-o", str(path))
    page = path.read_text(encoding="utf-8")
    still = page[page.index("<noscript>") : page.index("</noscript>")]
    # row 3 of paper, and what vypil gives pan in pub, in both languages
    for number in ("0,309", "0,297", "0,395", "0.309", "0,330", "0.330"):
        assert f"<td>{number}</td>" in still
    assert "style=" not in still


@pytest.mark.parametrize("lang", ["cs", "en"])
def test_the_language_is_written_into_the_file(tmp_path: Path, lang: str) -> None:
    path = tmp_path / "hodina.html"
    assert run("-o", str(path), "--lang", lang) == 0
    start = path.read_text(encoding="utf-8")[:300]
    assert f'<html data-lang="{lang}" lang="{lang}">' in start


@pytest.mark.parametrize(("lang", "said"), [("cs", "otevře se v každém"), ("en", "opens in any browser")])
def test_the_last_line_is_in_the_language_asked_for(tmp_path: Path, capsys, lang: str, said: str) -> None:
    assert run("-o", str(tmp_path / "hodina.html"), "--lang", lang) == 0
    assert said in capsys.readouterr().out


def test_it_never_overwrites_unasked(tmp_path: Path, capsys) -> None:
    path = tmp_path / "hodina.html"
    path.write_text("mine", encoding="utf-8")
    assert run("-o", str(path)) == 2
    assert f"-o {path} is there already. Give another name, or --overwrite." in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine"
    assert run("-o", str(path), "--overwrite") == 0
    assert path.stat().st_size > 10_000


def test_wrong_input_is_one_sentence(tmp_path: Path, capsys) -> None:
    cases = {
        ("-o", str(tmp_path)): f"-o must be a file; {tmp_path} is a folder. Give a name such as hodina.html.",
        ("-o", str(tmp_path / "no" / "a.html")): f"{tmp_path / 'no'} does not. Make it first.",
        ("-o", str(tmp_path / "a.html"), "--lang", "de"): "lang must be cs or en; got 'de'.",
        (): "Missing option '-o'",
    }
    for arguments, sentence in cases.items():
        assert run(*arguments) == 2
        assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_permission_it_says_so(monkeypatch, tmp_path: Path, capsys) -> None:
    from pozor.cli import examples

    shut = tmp_path / "shut"
    shut.mkdir()
    shut.chmod(0o555)
    page, root = examples.template(), os.geteuid() == 0

    def as_nobody() -> str:
        if root:  # root may write anywhere
            os.seteuid(65534)
        return page

    monkeypatch.setattr(examples, "template", as_nobody)
    try:
        assert run("-o", str(shut / "a.html")) == 2
    finally:
        if root:
            os.seteuid(0)
    sentence = f"-o {shut / 'a.html'} may not be written (no permission). Give another folder."
    assert sentence in capsys.readouterr().err


def test_without_the_bundle_it_says_what_to_do(monkeypatch, tmp_path: Path, capsys) -> None:
    from pozor.cli import examples

    monkeypatch.setattr(examples, "__file__", str(tmp_path / "cli" / "examples.py"))
    assert run("-o", str(tmp_path / "a.html")) == 2
    assert "Run: make web" in capsys.readouterr().err
