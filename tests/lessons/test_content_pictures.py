"""The pictures of lessons 2 to 5: each says in words what it shows, and is well-formed."""

from xml.etree import ElementTree

import pytest

from pozor.lessons.pictures.blocks import blocks
from pozor.lessons.pictures.clocks import clocks
from pozor.lessons.pictures.lit import lit
from pozor.lessons.pictures.pub import pub
from pozor.lessons.pictures.table import table
from pozor.lessons.pictures.turned import turned

PICTURES = {
    "pub": pub(["a", "b & c"], [0.25, 0.75], ["25 %", "75 %"], "said <so>"),
    "clocks": clocks([0.0, 1.0], ["0°", "57°"], "said <so>"),
    "turned": turned((2, 0.5), (1.5, 1), (1, 2), (0, 1.8), ("q", "k"), "said <so>"),
    "blocks": blocks([0.1, 1, 0.5, 2], ["a", "b", "c", "d"], ["1", "2", "3", "4"], 2, 2, "said <so>"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_its_words(name: str) -> None:
    figure = ElementTree.fromstring(PICTURES[name])
    drawn = figure[0]
    assert drawn.get("role") == "img"
    assert drawn.get("aria-label") == "said <so>"
    assert "nan" not in PICTURES[name]


def test_the_table_heard_most_is_marked() -> None:
    heard = pub(["x", "y"], [0.2, 0.8], ["20", "80"], "")
    assert heard.count('font-weight="600"') == 2  # its share and its topic
    assert pub(["x", "y"], [0.5, 0.5], ["50", "50"], "").count('font-weight="600"') == 0


def test_lit_text_is_as_strong_as_the_share() -> None:
    shown = lit(["She", " saw", " it", "."], [0.0, 0.5, 1.0, 0.0], 0, ["", "50 %", "100 %", ""], "said")
    root = ElementTree.fromstring(shown)
    grounds = [span.get("style", "") for span in root.iter("span")]
    assert [" 0%" in grounds[0], " 35%" in grounds[1], " 70%" in grounds[2]] == [True] * 3
    assert ["outline" in ground for ground in grounds] == [True, False, False, False]
    assert "".join(root.itertext()) == "She saw50 % it100 %."
    assert all("margin:0 0.3em 0 1px" in (note.get("style") or "") for note in root.iter("sub"))  # 100 % .


def test_a_table_names_rows_and_columns() -> None:
    root = ElementTree.fromstring(table(["a", "b"], [["x", "1"], ["<y>", "2"]], caption="c", hidden=[(1, 0)]))
    assert [cell.get("scope") for cell in root.iter("th")] == ["col", "col", "row", "row"]
    assert [cell.get("class") for cell in root.iter("td")] == ["w-num", "w-num w-hidden"]
    assert root.findtext("caption") == "c"
