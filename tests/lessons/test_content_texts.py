"""The prose of lessons 2 to 5: one structure in both languages, no typed number, nothing unused."""

import re

import pytest
from content_pages import LANGUAGES, NAMES, lesson, source

from pozor.lessons import prose

CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
FIELD = re.compile(r"\{[a-z_0-9]+\}")


def sections(name: str, lang: str) -> dict[str, str]:
    return prose.read(lesson(name).prose(lang))


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_sections_and_fields(name: str) -> None:
    czech, english = (sections(name, lang) for lang in LANGUAGES)
    assert list(czech) == list(english)
    for key in czech:
        assert prose.fields(czech[key]) == prose.fields(english[key]), key
        assert czech[key].count("\n- ") == english[key].count("\n- "), key
        assert len(re.findall(r"^-{3,}$", czech[key], re.MULTILINE)) == len(
            re.findall(r"^-{3,}$", english[key], re.MULTILINE)
        ), key


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_no_number_is_typed(name: str, lang: str) -> None:
    for key, text in sections(name, lang).items():
        found = re.findall(r"\d+", FIELD.sub("", CODE.sub("", text)))
        assert not found, f"{key}: {found}"


@pytest.mark.parametrize("name", NAMES)
def test_every_section_is_used_and_every_one_used_is_there(name: str) -> None:
    code = source(name)
    known = sections(name, "cs")
    prefixes = tuple(re.findall(r'f"(\w+_)\{', code))
    unused = [key for key in known if f'"{key}"' not in code and not key.startswith(prefixes)]
    assert not unused
    for key in re.findall(r'(?:lesson|page)\.(?:text|word|markdown)\(\s*"(\w+)"', code):
        assert key in known


@pytest.mark.parametrize("name", NAMES)
def test_czech_is_written_with_its_own_marks(name: str) -> None:
    for key, text in sections(name, "cs").items():
        bare = CODE.sub("", text)
        assert not re.search(r'["”]| - |\.\.\.', bare), key
        assert bare.count("„") == bare.count("“"), key


@pytest.mark.parametrize("name", NAMES)
def test_english_is_written_with_its_own_marks(name: str) -> None:
    for key, text in sections(name, "en").items():
        bare = CODE.sub("", text)
        assert not re.search(r'["„]| - |\.\.\.', bare), key
        assert bare.count("“") == bare.count("”"), key
