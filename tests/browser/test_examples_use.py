"""Using the worked examples in Chromium: pointing, keyboard, undo, sharing, languages, hostile input."""

import json
import re
from pathlib import Path

import pytest
from examples_page import cell, numbers, opened, shown, write
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

HAIRLINES = "svg.hairlines path"
NBSP = "\xa0"


# --- pointing


def test_pointing_at_a_number_shows_what_it_is_made_of(on_paper: Page) -> None:
    page = on_paper
    sum_bar = page.locator("#sum-text")
    cell(page, "scores", 2, 0).hover()
    # four numbers of q3 and four of k1
    expect(page.locator(HAIRLINES)).to_have_count(8)
    terms = "= 0,9 · 0,9 + 0,8 · 0,1 + 0,2 · 0,4 + 0,1 · 0 = 0,81 + 0,08 + 0,08 + 0 = 0,97"
    expect(sum_bar).to_have_text(f"score[3,1] = q[3] · k[1] {terms}")
    assert page.locator("#sum-formula math").count() > 5
    page.locator("h1").hover()
    expect(page.locator(HAIRLINES)).to_have_count(0)
    # a click pins it, also when the pointer and the focus have gone; Escape lets go
    cell(page, "probs", 2, 1).click()
    page.get_by_role("button", name="Sdílet").focus()
    page.locator("h1").hover()
    expect(sum_bar).to_have_text("p[3,2] = exp[3,2] / sum[3] ≐ 1,560 / 5,260 ≐ 0,297")
    expect(page.locator(HAIRLINES)).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.locator(HAIRLINES)).to_have_count(0)


def test_a_row_of_the_map_is_chosen_with_mouse_and_keyboard(on_paper: Page) -> None:
    page = on_paper
    sentence = page.locator('[data-as="sentence"]')
    expect(sentence).to_have_text(
        f"Slovo venku dává 31{NBSP}% své pozornosti slovu kočka, 30{NBSP}% slovu spí a 39{NBSP}% samo sobě."
    )
    page.locator("svg text.word", has_text="spí").last.click()
    expect(sentence).to_have_text(
        f"Slovo spí dává 29{NBSP}% své pozornosti slovu kočka a 71{NBSP}% samo sobě."
    )
    page.locator('[data-cell="0,0"]').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(cell(page, "probs", 2, 0)).to_have_attribute("aria-current", "true")


# --- keyboard alone


def test_the_keyboard_is_enough(on_paper: Page) -> None:
    page = on_paper
    cell(page, "x", 0, 0).focus()
    page.keyboard.press("Tab")
    expect(cell(page, "x", 0, 1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Alt+ArrowDown")
    assert shown(page, "x", 0)[1] == "1,19"
    page.keyboard.press("Control+ArrowDown")
    expect(cell(page, "x", 1, 1)).to_be_focused()
    page.keyboard.press("Control+z")  # four presses within a second are one step
    assert shown(page, "x", 0)[1] == "0"
    page.keyboard.press("Control+y")
    assert shown(page, "x", 0)[1] == "1,19"
    page.keyboard.press("Enter")
    expect(cell(page, "x", 1, 1)).to_have_attribute("aria-current", "true")
    page.keyboard.type("7")
    page.keyboard.press("Escape")  # takes back what was typed
    assert shown(page, "x", 1)[1] == "1"
    for name in ("÷ √d", "nedělit", "× 10"):
        expect(page.get_by_role("radio", name=name)).to_have_attribute(
            "aria-checked", str(name == "÷ √d").lower()
        )
    page.get_by_role("radio", name="÷ √d").press("ArrowRight")
    expect(page.get_by_role("radio", name="nedělit")).to_be_focused()
    expect(page.get_by_role("radio", name="nedělit")).to_have_attribute("aria-checked", "true")
    page.get_by_role("switch", name="Kauzální maska").press("Space")
    expect(page.get_by_role("switch")).to_have_attribute("aria-checked", "false")


def test_every_number_and_control_has_a_name(in_pub: Page) -> None:
    nameless = in_pub.eval_on_selector_all(
        "input, button, select, [tabindex='0']",
        """found => found.filter(e => !(e.getAttribute('aria-label') || e.textContent.trim()
            || e.labels?.length)).map(e => e.outerHTML)""",
    )
    assert nameless == ["<pre>"] or nameless == []
    expect(cell(in_pub, "scores", 2, 0)).to_have_accessible_name("scores, řádek vypil, sloupec pan")


# --- wrong input, undo, reset


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kočka", "Tohle není číslo"),
        ("", "Tady musí být číslo"),
        ("1;2", "jedno číslo"),
        ("1e400", "Tohle není číslo"),
        ("99999999", "mezi −1 000 000 a 1 000 000"),
        ("0,1234567890123", "nejvýš 12 desetinných míst"),
        ("<img src=x onerror=alert(1)>", "Tohle není číslo"),
    ],
)
def test_a_wrong_number_gets_a_sentence_and_changes_nothing(on_paper: Page, text: str, sentence: str) -> None:
    before = numbers(on_paper, "result").tolist()
    write(on_paper, cell(on_paper, "x", 0, 0), text)
    expect(on_paper.get_by_role("status").filter(has_text=sentence)).to_be_visible()
    assert shown(on_paper, "x", 0)[0] == "1"
    assert numbers(on_paper, "result").tolist() == before


def test_undo_redo_and_reset(on_paper: Page) -> None:
    page = on_paper
    undo, redo = page.get_by_role("button", name="Zpět"), page.get_by_role("button", name="Znovu", exact=True)
    expect(undo).to_be_disabled()
    write(page, cell(page, "x", 0, 0), "5")
    page.get_by_role("radio", name="2 hlavy").click()
    undo.click()
    expect(page.get_by_role("radio", name="1 hlava")).to_have_attribute("aria-checked", "true")
    undo.click()
    assert shown(page, "x", 0)[0] == "1"
    redo.click()
    assert shown(page, "x", 0)[0] == "5"
    page.get_by_role("button", name="Obnovit původní").click()
    assert shown(page, "x", 0)[0] == "1"
    undo.click()
    assert shown(page, "x", 0)[0] == "5"


# --- sharing


def test_a_link_carries_the_state(chromium: Browser, lesson: str, on_paper: Page) -> None:
    write(on_paper, on_paper.get_by_role("textbox", name="slovo 3"), "a*b\\")
    write(on_paper, cell(on_paper, "scores", 2, 0), "2")
    on_paper.get_by_role("switch", name="Kauzální maska").click()
    want = numbers(on_paper, "result").tolist()
    on_paper.get_by_role("button", name="Sdílet").click()
    fragment = "#" + on_paper.get_by_label("Odkaz na tento stav").input_value().partition("#")[2]
    assert len(fragment) < 120
    on_paper.wait_for_function("wanted => location.hash === wanted", arg=fragment)  # the address keeps it too
    with opened(chromium, lesson, fragment) as other:
        assert numbers(other, "result").tolist() == want
        expect(other.locator('figure[data-stage="scores"] tbody th').last).to_have_text("a*b\\")
        # a link pasted over an open page is read too
        other.evaluate("location.hash = '#/paper?heads=4'")
        expect(other.get_by_role("radio", name="4 hlavy")).to_have_attribute("aria-checked", "true")


def test_a_copied_link_says_that_it_leads_to_this_file(on_paper: Page) -> None:
    on_paper.get_by_role("button", name="Sdílet").click()
    on_paper.locator(".share").get_by_role("button", name="Kopírovat").click()
    told = on_paper.get_by_role("status").filter(has_text="Odkaz vede k tomuto souboru na tomto počítači.")
    expect(told).to_be_visible()
    on_paper.get_by_role("button", name="en", exact=True).click()
    expect(on_paper.get_by_text("The link leads to this file on this computer.")).to_be_visible()


def test_a_json_file_carries_the_state(in_pub: Page, tmp_path: Path) -> None:
    page = in_pub
    write(page, cell(page, "k", 5, 0), "1,5")
    want = numbers(page, "probs").tolist()
    page.get_by_role("button", name="Sdílet").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Uložit jako JSON").click()
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    page.get_by_role("button", name="Obnovit původní").click()
    page.get_by_role("link", name="Na papíře").click()
    page.get_by_role("button", name="Sdílet").click()
    page.locator('input[type="file"]').set_input_files(path)  # its own page takes it over
    expect(page.get_by_text(f"Otevřeno: {path.name}.")).to_be_visible()
    assert numbers(page, "probs").tolist() == want


HOSTILE = {
    "no JSON": ("<script>alert(1)</script>", "soubor není JSON"),
    "a list": ("[1, 2]", "není příklad uložený touto stránkou"),
    "another program's": ('{"kind": "paper"}', "není příklad uložený touto stránkou"),
    "newer": ('{"pozor": "example", "version": 2, "kind": "paper"}', "version musí být 1"),
    "no kind": ('{"pozor": "example", "version": 1, "kind": "__proto__"}', "kind musí být"),
    "a stray key": ('{"pozor":"example","version":1,"kind":"paper","__proto__":{"x":1}}', "__proto__"),
    "too many heads": ('{"pozor":"example","version":1,"kind":"paper","heads":1e9}', "počtem hlav"),
    "too few words": ('{"pozor":"example","version":1,"kind":"paper","words":[]}', "slov musí být 2 až 8"),
    "a huge number": (
        '{"pozor":"example","version":1,"kind":"pub","given":{"q":' + json.dumps([["1e999"] * 4] * 6) + "}}",
        "q[0][0] musí být číslo",
    ),
    "a ragged table": (
        '{"pozor":"example","version":1,"kind":"paper","given":{"w_q":[[1,2],[3]]}}',
        "w_q musí být tabulka 4 × 4 čísel",
    ),
    "an edit of nothing": (
        '{"pozor":"example","version":1,"kind":"paper","edits":{"x.0.0.0":"1"}}',
        "není číslo, které by šlo přepsat",
    ),
    "too long": ('"' + "a" * 200_000 + '"', "moc dlouhé"),
    "deep": ("[" * 50_000 + "]" * 50_000, "není"),
}


def test_a_hostile_file_is_refused_with_a_sentence(on_paper: Page, tmp_path: Path) -> None:
    page = on_paper
    write(page, cell(page, "x", 0, 0), "5")
    want = numbers(page, "result").tolist()
    page.get_by_role("button", name="Sdílet").click()
    for name, (text, sentence) in HOSTILE.items():
        path = tmp_path / "hostile.json"
        path.write_text(text, encoding="utf-8")
        page.locator('input[type="file"]').set_input_files(path)
        status = page.locator(".message.wrong")
        expect(status, name).to_contain_text("Neotevřeno:")
        expect(status, name).to_contain_text(sentence)
        assert numbers(page, "result").tolist() == want, name


@pytest.mark.parametrize(
    "query",
    [
        "heads=3",
        "x=1_2",
        "scores.9.9.9=1",
        "words=a",
        "scale=9",
        "causal=yes",
        "constructor=1",
        "x=<b>,1,1,1",
    ],
)
def test_a_hostile_link_is_refused_with_a_sentence(chromium: Browser, lesson: str, query: str) -> None:
    with opened(chromium, lesson, f"#/paper?{query}") as page:
        expect(page.locator(".message.wrong")).to_contain_text("Neotevřeno:")
        assert shown(page, "x", 0) == ["1", "0", "1", "0"]


def test_a_word_that_looks_like_html_is_text(on_paper: Page) -> None:
    page = on_paper
    words = ["<b onclick=hit()>&amp;", "</script>", "\"'>\u202e\u05e9\u05dc"]
    for i, word in enumerate(words):
        write(page, page.get_by_role("textbox", name=f"slovo {i + 1}"), word)
    rows = page.locator('figure[data-stage="scores"] tbody th')
    assert rows.all_text_contents() == words
    assert page.locator("main b").count() == 0
    expect(page).to_have_url(re.compile("%D7%A9"))  # the Hebrew letter; no eval, which the page forbids
    page.reload()  # and through the address
    assert rows.all_text_contents() == words


# --- what a learner stumbles over


def test_the_traps_are_explained_where_they_occur(on_paper: Page) -> None:
    page = on_paper
    # for the chosen row it is said without pointing
    expect(page.locator('[data-note="sumOfRounded"]')).to_contain_text("dá dohromady 1,001")
    notes = page.locator("#sum-formula .note")
    cell(page, "probs", 2, 2).hover()
    expect(notes.first).to_contain_text("0,309 + 0,297 + 0,395 dá dohromady 1,001")
    cell(page, "exps", 2, 1).hover()
    expect(notes.first).to_contain_text("1,560490, tedy na tři místa 1,560; 1,561")
    cell(page, "probs", 0, 0).hover()
    expect(notes.first).to_contain_text("přesně 1 a pak nuly, ať je logit jakýkoli. Tady je 0,55")
    cell(page, "logits", 0, 1).hover()
    expect(notes.first).to_contain_text("Slovo spí přijde až po slově kočka")
    page.get_by_text("Maska v kódu: dvojí čtení slova True").click()
    expect(page.get_by_text("masked_fill zakryje místa, kde je v masce True")).to_be_visible()
    page.get_by_label("Desetinná místa").select_option("binary")
    assert shown(page, "v", 1)[2] == "0,30000000000000004"
    assert shown(page, "scores", 2)[2] == "1,4600000000000002"
    cell(page, "scores", 2, 2).hover()
    expect(notes.first).to_contain_text("Program, který počítá ve float64, vypíše 1,4600000000000002")
    page.get_by_label("Desetinná místa").select_option("all")
    assert shown(page, "v", 1)[2] == "0,3"
    assert shown(page, "scores", 2)[2] == "1,46"


# --- languages, appearance, motion, screens


def test_both_languages(chromium: Browser, lesson: str) -> None:
    with opened(chromium, lesson, "#/pub", locale="en-GB") as page:
        expect(page.locator("h1")).to_have_text("Six words in a pub")
        assert page.locator('[data-readout="2"]').inner_text().startswith("looks mainly at pan 33")
        assert shown(page, "probs", 2)[0] == "0.330"
        # the words stay Czech, with their glosses
        expect(page.get_by_role("textbox", name="word 3")).to_have_value("vypil")
        expect(page.get_by_text("drank", exact=True)).to_be_visible()
        page.get_by_role("button", name="cs", exact=True).click()
        expect(page.locator("h1")).to_have_text("Šest slov v hospodě")
        assert page.evaluate("document.documentElement.lang") == "cs"
        assert shown(page, "probs", 2)[0] == "0,330"


def test_dark_and_light(chromium: Browser, lesson: str) -> None:
    for scheme, paper, legend in (
        ("light", "rgb(251, 250, 247)", "tmavší"),
        ("dark", "rgb(20, 22, 26)", "světlejší"),
    ):
        with opened(chromium, lesson, "#/paper", color_scheme=scheme) as page:
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
            expect(page.get_by_text(f"{legend} = víc")).to_be_visible()


CONTRAST = """() => {
  const linear = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = numbers(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const own = e => e.tagName === 'INPUT' || [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  return [...document.querySelectorAll('body *:not(svg *):not(option):not(script):not(noscript)')]
    .filter(e => own(e) && !e.disabled && e.getClientRects().length)
    .map(e => {
      const [a, b] = [light(numbers(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
      return [Math.round((a + 0.05) / (b + 0.05) * 100) / 100, e.outerHTML.slice(0, 160)];
    })
    .filter(([ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_of_wcag_aa(chromium: Browser, lesson: str, scheme: str) -> None:
    states = (
        "#/paper?heads=2&scale=times10&scores.0.2.0=2&at=scores.0.2.0",
        "#/pub?causal=1",
        "#/pub?heads=9",
    )
    for fragment in states:
        with opened(chromium, lesson, fragment, color_scheme=scheme) as page:
            page.get_by_role("button", name="Sdílet").click()
            assert page.evaluate(CONTRAST) == []


# each veil names the numbers that it lights up; when the motion is over the veils are gone
FLASHED = "[...document.querySelectorAll('.flash')].flatMap(veil => veil.dataset.cells.split(' '))"


@pytest.mark.parametrize(("motion", "moves"), [("no-preference", True), ("reduce", False)])
def test_what_changed_flashes_once_unless_motion_is_unwanted(
    chromium: Browser, lesson: str, motion: str, moves: bool
) -> None:
    with opened(chromium, lesson, "#/paper", reduced_motion=motion) as page:
        page.evaluate(
            f"""() => {{ window.seen = [];
            new MutationObserver(() => window.seen.push(...{FLASHED}))
                .observe(document.body, {{ childList: true, subtree: true }}); }}"""
        )
        cell(page, "x", 2, 0).focus()
        page.keyboard.press("ArrowUp")
        expect(cell(page, "x", 2, 0)).to_have_value("1,1")
        if moves:
            page.wait_for_function("window.seen.length > 10")
            expect(page.locator(".flash")).to_have_count(0)  # once, then it is over
        # v3 follows from x3, k1 does not: nothing left of or beside the edit lights up
        seen = set(page.evaluate("window.seen"))
        assert ("v.0.2.1" in seen) is moves
        assert "k.0.0.0" not in seen


@pytest.mark.parametrize("width", [1024, 1280])
def test_what_does_not_fit_goes_on_in_the_next_line(chromium: Browser, lesson: str, width: int) -> None:
    beyond = """[...document.querySelectorAll('[data-line] figure')]
        .filter(matrix => matrix.getBoundingClientRect().right > window.innerWidth).length"""
    scrolls = "(line => line.scrollWidth > line.clientWidth)(document.querySelector('[data-line]'))"
    with opened(chromium, lesson, "#/paper", viewport={"width": width, "height": 800}) as page:
        write(page, cell(page, "x", 0, 0), "7,5")  # exp(21.8) is 3.047·10⁹: a wide column
        assert (page.evaluate(beyond), page.evaluate(scrolls)) == (0, False)
        page.get_by_role("button", name="přidat slovo").click()
        expect(cell(page, "x", 3, 0)).to_be_visible()
        assert (page.evaluate(beyond), page.evaluate(scrolls)) == (0, False)


def test_the_map_prints_what_the_note_below_it_adds_up(on_paper: Page) -> None:
    page = on_paper
    note = page.locator("[data-note=sumOfRounded]")
    cells = "cells => cells.map(cell => cell.textContent.trim())"
    assert page.eval_on_selector_all('[data-cell^="2,"]', cells) == ["0,309", "0,297", "0,395"]
    expect(note).to_contain_text("0,309 + 0,297 + 0,395")
    page.get_by_role("combobox", name="Desetinná místa").select_option("4")
    assert page.eval_on_selector_all('[data-cell^="2,"]', cells) == shown(page, "probs", 2)
    # sixteen digits make no small map: two of them, and no sum of other digits below
    page.get_by_role("combobox", name="Desetinná místa").select_option(label="float64")
    assert page.eval_on_selector_all('[data-cell^="2,"]', cells) == ["0,31", "0,30", "0,39"]
    expect(note).to_have_count(0)


def test_on_a_phone_the_page_fits_and_the_line_scrolls_inside(chromium: Browser, lesson: str) -> None:
    size = {"width": 390, "height": 844}
    with opened(chromium, lesson, "#/paper", viewport=size, has_touch=True, is_mobile=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("(l => l.scrollWidth > l.clientWidth)(document.querySelector('[data-line]'))")
        # a touch points and calls up no keyboard; the next one edits
        assert not cell(page, "probs", 2, 0).is_editable()
        cell(page, "probs", 2, 0).tap()
        assert cell(page, "probs", 2, 0).is_editable()
        expect(page.locator("#sum-text")).to_contain_text("0,309")
        expect(page.locator("[data-readout='2']")).to_be_visible()


def test_two_tabs_do_not_disturb_each_other(chromium: Browser, lesson: str) -> None:
    with opened(chromium, lesson, "#/paper") as first:
        second = first.context.new_page()
        second.goto(f"file://{lesson}#/paper")
        first.bring_to_front()
        write(first, cell(first, "x", 0, 0), "5")
        second.bring_to_front()
        write(second, cell(second, "x", 0, 0), "7")
        assert (shown(first, "x", 0)[0], shown(second, "x", 0)[0]) == ("5", "7")


def test_without_scripts_the_numbers_can_still_be_read(chromium: Browser, lesson: str) -> None:
    with opened(chromium, lesson, "", java_script_enabled=False) as page:
        text = page.locator("body").inner_text()
        for number in ("0,309", "0,395", "0.330", "1.154"):
            assert number in text


def test_nothing_on_the_page_can_reach_the_network(chromium: Browser, lesson: str) -> None:
    # the policy of the file itself forbids it, not only the cable that was pulled
    attempt = "fetch('https://example.org').then(() => 'sent', () => 'refused')"
    with opened(chromium, lesson, expected="https://example.org") as page:
        assert page.evaluate(attempt) == "refused"
        policy = page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content") or ""
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
