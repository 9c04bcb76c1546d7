"""Text of strangers is made safe to print by one function: nothing commands, forges, reverses or hides."""

import ast
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docrail.cli.lake_answer import safe_cell
from docrail.dag.values.printable import escaped_in_json, printable

ROOT = Path(__file__).parents[2]
HARMFUL = {"Cc", "Cf", "Cs", "Zl", "Zp"}
SIGNS = (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13460))
VISIBLE_FORMATS = {*map(chr, SIGNS)}
"""Signs of Arabic, Syriac, Kaithi and hieroglyphs that are drawn, though Unicode counts them among the formats."""

READABLE = [
    "Müller & Söhne GmbH, Straße 5",
    "שלום עולם בע״מ",
    "شركة المثال للتجارة ١٢٣",
    "می‌خواهم",  # Persian: a zero width non-joiner between letters
    "क्‍षत्रिय",  # Hindi: a zero width joiner
    "ශ්‍රී ලංකා",  # Sinhala
    "ไทย ភាសាខ្មែរ 日本語 한국어 ᠮᠣᠩᠭᠣᠯ",
    "葛󠄀城市",  # a variant of a Han character
    "👩‍👩‍👧‍👦 👩🏽‍💻 ❤️‍🔥 1️⃣ 🇩🇪",
    "12 345,00 €　全角",  # a narrow no-break space, an ideographic one
    "a\\x1b as its author typed it",
]


@pytest.mark.parametrize("text", READABLE, ids=ascii)
def test_text_of_every_language_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x1b]8;;http://evil.example\x07pay\x1b]8;;\x07", "\\x1b]8;;http://evil.example\\x07pay\\x1b]8;;\\x07"),
        ("\x1b]52;c;cm0gLXJm\x1b\\", "\\x1b]52;c;cm0gLXJm\\x1b\\"),
        ("\x9b31m", "\\x9b31m"),
        ("approved\rrejected\x08\x7f", "approved\\rrejected\\x08\\x7f"),
        ("one\ntwo\tthree", "one\\ntwo\\tthree"),
        ("one\u2028two\u2029\x85", "one\\u2028two\\u2029\\x85"),
        ("invoice\u202efdp.exe", "invoice\\u202efdp.exe"),
        ("\u2066a\u2069\u200e\u200f\u061c", "\\u2066a\\u2069\\u200e\\u200f\\u061c"),
        ("pay\u200bpal\u200c\u200d\u2060\ufeff\u00ad", "pay\\u200bpal\\u200c\\u200d\\u2060\\ufeff\\xad"),
        ("می‌‌خ", "می\\u200c\\u200cخ"),  # two joiners in a row change nothing: they hide something
        ("a\u3164\uffa0\u115f", "a\\u3164\\uffa0\\u115f"),
        ("a\ufe0f\U000e0100", "a\\ufe0f\\U000e0100"),
        ("🏴\U000e0067\U000e007f", "🏴\\U000e0067\\U000e007f"),
        ("\udc80\ufffe", "\\udc80\\ufffe"),
    ],
    ids=ascii,
)
def test_what_commands_forges_reverses_or_hides_is_shown_by_its_number(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_and_tabs_stay_where_lines_are_printed() -> None:
    assert printable("one\n\ttwo\r", lines=True) == "one\n\ttwo\\r"


def test_no_harmful_character_of_unicode_is_printed_alone() -> None:
    """Each one but those that are drawn, also after a letter."""
    harmful = [chr(number) for number in range(0x110000) if unicodedata.category(chr(number)) in HARMFUL]
    assert [c for c in harmful if c not in VISIBLE_FORMATS and printable(f"a{c}") == f"a{c}"] == []


@given(st.text(st.characters()))
def test_what_was_made_safe_is_safe_and_stays(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    assert not {c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_value(text: str) -> None:
    written = printable(json.dumps({text: text}, ensure_ascii=False, indent=1), lines=True, write=escaped_in_json)
    assert json.loads(written) == {text: text}
    assert printable(written, lines=True) == written


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ('=HYPERLINK("http://evil.example")', '\'=HYPERLINK("http://evil.example")'),
        ("+49 30 1234", "'+49 30 1234"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("@SUM(1)", "'@SUM(1)"),
        (" \t=1+1", "' \t=1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\r=1+1", "\\r=1+1"),
        ("\u200b=1+1", "\\u200b=1+1"),
        ("-119.00", "-119.00"),
        ("+5", "+5"),
        (-12.5, "-12.5"),
        (None, ""),
        (["=1"], '["=1"]'),
        ("Muster GmbH\u202e", "Muster GmbH\\u202e"),
    ],
    ids=ascii,
)
def test_a_cell_of_csv_is_no_formula_and_commands_nothing(value: object, cell: str) -> None:
    assert safe_cell(value) == cell


def test_commands_print_through_the_one_function_only() -> None:
    """`print` and streams are used where the text is JSON, CSV or made safe on the spot."""
    allowed = {"terminal.py": 3, "extract.py": 2, "lake_answer.py": 3, "gold.py": 1, "main.py": 0}
    found = {file.name: _writes(file) for file in (ROOT / "cli").glob("*.py")}
    assert {name: count for name, count in found.items() if count > allowed.get(name, 0)} == {}


def _writes(file: Path) -> int:
    calls = (node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
    return sum(
        (isinstance(call, ast.Name) and call.id == "print")
        or (isinstance(call, ast.Attribute) and call.attr in ("write", "writelines") and "std" in ast.unparse(call))
        for call in calls
    )
