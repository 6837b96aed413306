"""Hidden characters are shown as marks, and lines are cut by cells."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentplane.text.visible import Hidden, hidden, one_line, visible


odd = st.sampled_from("\u202e\u200d\ufe0f\x1b\r\n\t👩💻❤1\u20e3e\u0301日 \U000e0041\ud800…")
texts = st.text(odd | st.characters())


@pytest.mark.parametrize(
    "code",
    [
        *(0x00, 0x07, 0x08, 0x0B, 0x0C, 0x1B, 0x1F, 0x7F, 0x80, 0x85, 0x9B, 0x9F),
        *(0xAD, 0x061C, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        *(0xFE00, 0xFE0F, 0xE0001, 0xE0041, 0xE007F, 0xE0100, 0xE01EF),
        *(0xD800, 0xDFFF, 0xE000, 0xF8FF, 0xF0000, 0x10FFFF, 0xFFFE, 0x1FFFF, 0xFDD0, 0x3164, 0x180E),
    ],
)
def test_hidden_characters_are_marked_and_named(code):
    text = f"a{chr(code)}b"
    assert visible(text) == f"a<U+{code:04X}>b"
    (found,) = hidden(text)
    assert (found.offset, found.char) == (1, chr(code))
    assert found.name


@pytest.mark.parametrize(
    "text",
    [
        "plain\n\ttext ~",
        "line\r\nline\r\n",
        "Grüße, 日本語, العربية, e\u0301, ñ, ﷺ",
        "👩‍💻 🏳️‍🌈 ❤️‍🔥 👨🏽‍🚀 ☎︎ ©️ 1️⃣ 🇩🇪 🫨",
        "",
    ],
)
def test_what_a_reader_sees_is_kept(text):
    assert visible(text) == text
    assert hidden(text) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a<U+200D>b"),
        ("👩\u200d", "👩<U+200D>"),
        ("\u200d👩", "<U+200D>👩"),
        ("👩\u200d\u200d💻", "👩<U+200D><U+200D>💻"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f<U+FE0F>"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("a\ufe0f\u200d👩", "a<U+FE0F><U+200D>👩"),
        ("1\ufe0f", "1<U+FE0F>"),
        ("a\rb\r\nc\r", "a<U+000D>b\r\nc<U+000D>"),
        ("\x1b]0;title\x07", "<U+001B>]0;title<U+0007>"),
    ],
)
def test_joiners_and_selectors_only_where_they_make_an_emoji(text, shown):
    assert visible(text) == shown


def test_names():
    assert [found.name for found in hidden("\x1b\u202e\ue000")] == [
        "escape",
        "right-to-left override",
        "private character",
    ]
    assert hidden("ab\u200b") == (Hidden(offset=2, char="\u200b", name="zero width space"),)


@given(texts)
def test_shown_text_holds_nothing_hidden(text):
    """Marks come in the place of what `hidden` names, and of nothing else."""
    shown, at = [], 0
    for found in hidden(text):
        shown += [text[at : found.offset], f"<U+{ord(found.char):04X}>"]
        at = found.offset + 1
    assert visible(text) == "".join([*shown, text[at:]])
    assert hidden(visible(text)) == ()
    visible(text).encode()


@given(texts)
def test_nothing_that_steers_a_terminal_passes(text):
    left = {unicodedata.category(char) for char in visible(text) if char not in "\r\n\t\u200d"}
    assert not left & {"Cc", "Cs", "Co", "Zl", "Zp"}


@given(texts, st.integers(0, 30))
def test_one_line_fits(text, width):
    line = one_line(text, width)
    whole = one_line(text)
    assert not {"\n", "\t"} & set(whole)
    assert "  " not in whole
    assert sum(_cells(char) for char in line) <= width
    assert line in {whole, ""} or (line.endswith("…") and whole.startswith(line[:-1]))


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        (" two\n\twords ", None, "two words"),
        ("two words", 9, "two words"),
        ("two words", 8, "two wor…"),
        ("two words", 5, "two…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("e\u0301" * 4, 4, "e\u0301" * 4),
        ("e\u0301" * 4, 3, "e\u0301" * 2 + "…"),
        ("👩‍💻👩‍💻", 5, "👩‍💻…"),
        ("👩‍💻👩‍💻", 4, "👩…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("a\u202eb", 20, "a<U+202E>b"),
    ],
)
def test_one_line(text, width, line):
    assert one_line(text, width) == line


def _cells(char):
    if char in "\u200d\ufe0f\ufe0e" or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
