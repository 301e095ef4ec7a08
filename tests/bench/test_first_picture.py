"""benchmarks/first_picture.py: a time counts when a picture is on the screen; a blank page never has one."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from first_picture import first_picture, is_picture, processes, watch

TEXT = "data:text/html,<p>Only%20words</p><div id=map style='width:300px;height:200px'></div>"
PICTURE = (
    "data:text/html,<p>Words%20above</p>"
    "<div id=map style='width:300px;height:200px;background:linear-gradient(90deg,purple,teal,yellow)'></div>"
)


def shown(chromium: Browser, address: str) -> bytes:
    page = chromium.new_page()
    page.goto(address)
    try:
        return page.screenshot()
    finally:
        page.close()


@pytest.mark.browser
def test_words_are_no_picture(chromium: Browser) -> None:
    assert not is_picture(shown(chromium, TEXT))
    assert is_picture(shown(chromium, PICTURE))


@pytest.mark.browser
def test_a_page_that_says_it_has_drawn_but_shows_nothing_is_no_result(chromium: Browser) -> None:
    page = chromium.new_page()
    watch(page, "document.querySelector('#map')")
    with pytest.raises(TimeoutError, match="the screen does not show it"):
        first_picture(page, TEXT, patience=1.0, within="#map")
    page.close()


@pytest.mark.browser
def test_the_picture_must_be_within_the_element(chromium: Browser) -> None:
    page = chromium.new_page()
    watch(page, "document.querySelector('#map')")
    assert 0 < first_picture(page, PICTURE, patience=5.0, within="#map") < 5
    with pytest.raises(TimeoutError):
        first_picture(page, PICTURE, patience=1.0, within="p")
    page.close()


def test_memory_counts_own_children_only() -> None:
    assert not processes("no such name")
