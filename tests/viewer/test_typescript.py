"""The page's types are those of documents.py."""

from pathlib import Path

import pytest

from pozor.errors import OptionError
from pozor.viewer import typescript


def test_the_generated_file_is_fresh() -> None:
    assert typescript.main(["--check"]) == 0


def test_check_fails_when_it_is_stale_or_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "new" / "documents.ts"
    assert typescript.main(["--check", str(target)]) == 1
    assert "is out of date; run python -m pozor.viewer.typescript." in capsys.readouterr().err
    assert typescript.main([str(target)]) == 0
    assert typescript.main(["--check", str(target)]) == 0
    target.write_text(target.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert typescript.main(["--check", str(target)]) == 1


def test_every_type_that_documents_may_hold() -> None:
    source = '''"""Head."""
from typing import Literal, TypedDict
Side = Literal["left", "right"]
One = Literal["one"]
class Inner(TypedDict):
    """Holds */ nothing."""
    a: int  # in tokens; None where */ hidden
    b: str
class Outer(TypedDict):
    side: Side
    inner: list[Inner]
    maybe: list[float | None]
    flag: bool | None
    word: Literal["x", "y"]
'''
    assert (
        typescript.generate(source).split("\n", 1)[1]
        == """
export type Side = "left" | "right";

export type One = "one";

/** Holds * / nothing. */
export interface Inner {
  /** in tokens; null where * / hidden */
  a: number;
  b: string;
}

export interface Outer {
  side: Side;
  inner: Inner[];
  maybe: (number | null)[];
  flag: boolean | null;
  word: "x" | "y";
}
"""
    )


@pytest.mark.parametrize(
    "source",
    [
        "class A(TypedDict):\n    x: dict[str, int]\n",
        "class A(TypedDict):\n    def f(self): ...\n",
        "x = f()\n",
        "A = Literal[1]\n",
        "def f(): ...\n",
    ],
)
def test_what_has_no_type_there_is_refused(source: str) -> None:
    with pytest.raises(
        OptionError, match=r"documents\.py may hold TypedDicts of str, int, float, bool, list"
    ):
        typescript.generate(source)
