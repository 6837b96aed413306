"""The forms of evidence, read from its text. What exists decides what a word means."""

from pathlib import Path

import pytest

from agentplane.memory import evidence
from agentplane.memory.evidence import (
    Commit,
    EntryId,
    File,
    Heading,
    Lines,
    Other,
    Outside,
    Reference,
    Symbol,
    Url,
)


THERE = {"src", "src/pay.py", "docs", "docs/a#b.md", "abcdef1", "Makefile", "odd:12", "DEC-7"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("src/pay.py", File("src/pay.py")),
        ("`src/pay.py`", File("src/pay.py")),
        ("src", File("src")),
        ("Makefile", File("Makefile")),
        ("gone.py", File("gone.py")),
        ("src/gone", File("src/gone")),
        ("docs/a#b.md", File("docs/a#b.md")),
        ("odd:12", File("odd:12")),
        ("src/pay.py:12", Lines("src/pay.py", 12, 12)),
        ("src/pay.py:L12", Lines("src/pay.py", 12, 12)),
        ("src/pay.py:12-20", Lines("src/pay.py", 12, 20)),
        ("src/pay.py:12-L20", Lines("src/pay.py", 12, 20)),
        ("src/pay.py:20-12", Lines("src/pay.py", 20, 20)),
        ("src/pay.py:12:5", Lines("src/pay.py", 12, 12)),
        ("src/pay.py#L12", Lines("src/pay.py", 12, 12)),
        ("src/pay.py#L12-L20", Lines("src/pay.py", 12, 20)),
        ("src/pay.py#L12C3-L20C4", Lines("src/pay.py", 12, 20)),
        ("src/pay.py#charge", Symbol("src/pay.py", "charge")),
        ("src/pay.py#Ledger.post", Symbol("src/pay.py", "Ledger.post")),
        ("src/pay.py::Ledger::post", Symbol("src/pay.py", "Ledger::post")),
        ("src/pay.py:12#charge", Symbol("src/pay.py", "charge", 12)),
        ("src/pay.py#", File("src/pay.py")),
        ("README.md#usage", Heading("README.md", "usage")),
        ("README.md#L3", Lines("README.md", 3, 3)),
        ("commit: 0123abcd", Commit("0123abcd")),
        ("git:0123abcdef", Commit("0123abcdef")),
        ("0123abcd", Commit("0123abcd")),
        ("abcdef1", File("abcdef1")),
        ("1234567", Other("1234567")),
        ("https://example.test/a", Url("https://example.test/a")),
        ("https://", Other("https://")),
        ("mailto:a@example.test", Url("mailto:a@example.test")),
        ("DEC-12", EntryId("DEC-12")),
        ("DEC-7", File("DEC-7")),
        ("/etc/hosts", Outside("/etc/hosts", is_relative=False)),
        ("~/notes.md", Outside("~/notes.md", is_relative=False)),
        ("C:\\a.txt", Outside("C:\\a.txt", is_relative=False)),
        ("src/../../a.py", Outside("src/../../a.py", is_relative=True)),
        ("owner/repo#12", Other("owner/repo#12")),
        ("a talk with Ada", Other("a talk with Ada")),
        ("and/or", Other("and/or")),
        ("", Other("")),
        ("a\0.py", Other("a\0.py")),
    ],
)
def test_each_form_is_recognized(text: str, found: Reference) -> None:
    assert evidence.parse(text, THERE.__contains__) == found


def test_what_was_a_path_stays_one_when_its_folder_is_gone() -> None:
    assert evidence.parse("lib/Rakefile", THERE.__contains__) == Other("lib/Rakefile")
    assert evidence.parse("lib/Rakefile", THERE.__contains__, was_path=True) == File("lib/Rakefile")


def test_a_broken_link_exists(tmp_path: Path) -> None:
    (tmp_path / "Rakefile").symlink_to("nowhere")
    exists = evidence.exists_in(tmp_path)
    assert exists("Rakefile")
    assert not exists("Makefile")


@pytest.mark.parametrize(
    "text", ["src/pay.py", "src/pay.py:12", "src/pay.py:12-20", "src/pay.py#Ledger.post"]
)
def test_a_place_in_another_file_is_written_the_same_way(text: str) -> None:
    place = evidence.parse(text, THERE.__contains__)
    assert isinstance(place, evidence.Place)
    assert evidence.shown(place, "lib/x.py") == text.replace("src/pay.py", "lib/x.py")
