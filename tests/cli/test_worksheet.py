"""`pozor worksheet` as a teacher types it."""

import json
from pathlib import Path

import pytest

from pozor.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, what was printed, what was complained of."""
    with pytest.raises(SystemExit) as ended:
        main(["worksheet", *arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_a_pdf_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("list.pdf", "list.html"):
        code, out, _ = run(capsys, "--seed", "7", "--lang", "cs", "-o", str(tmp_path / name))
        assert code == 0
        assert "list 7-3-4-1" in out
    assert (tmp_path / "list.pdf").read_bytes().startswith(b"%PDF")
    assert "Pozornost na papíře" in (tmp_path / "list.html").read_text(encoding="utf-8")


def test_a_class_its_template_and_its_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "answers.csv"
    code, out, _ = run(
        *(capsys, "--count", "3", "--lang", "en", "-o", str(tmp_path / "c.html"), "--template", str(answers))
    )
    assert code == 0
    assert "3 sheets, seeds 1 to 3" in out
    lines = answers.read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 4
    code, out, _ = run(capsys, "--check", str(answers), "--lang", "en")
    assert code == 0
    assert "0 / 87" in out
    code, _, _ = run(capsys, "--check", str(answers), "-o", str(tmp_path / "marks.json"))
    assert code == 0
    assert [entry["most"] for entry in json.loads((tmp_path / "marks.json").read_text())] == [87, 87, 87]
    code, _, _ = run(capsys, "--check", str(answers), "-o", str(tmp_path / "marks.csv"))
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "-o must name the file, such as -o sheet.pdf"),
        (("-o", "a.txt"), "-o must end in .pdf or .html; got a.txt."),
        (("-o", "a.pdf", "--count", "0"), "--count must be from 1 to 200; got 0."),
        (("-o", "a.pdf", "--tokens", "9"), "--tokens must be from 2 to 5 on a worksheet; got 9."),
        (("--template", "a.txt"), "--template must end in .csv; got a.txt."),
        (("--check", "nothing.csv"), "--check nothing.csv cannot be read"),
        (("--check", "nothing.csv", "--template", "a.csv"), "Give one of them."),
    ],
)
def test_wrong_options_are_one_sentence(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert not any(tmp_path.iterdir())


def test_a_file_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.html"
    path.write_text("mine")
    code, _, err = run(capsys, "-o", str(path))
    assert code == 2
    assert "--overwrite" in err
    assert path.read_text() == "mine"


def test_marks_for_a_spreadsheet_hold_no_formula(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "a.csv"
    answers.write_text("name,sheet,q.1.1\n=1+1,7-3-4-1,2\n", encoding="utf-8")
    code, _, _ = run(capsys, "--check", str(answers), "-o", str(tmp_path / "m.csv"))
    assert code == 0
    assert "\n'=1+1," in (tmp_path / "m.csv").read_text(encoding="utf-8-sig")
