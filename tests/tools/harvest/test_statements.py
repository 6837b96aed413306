"""Statements out of Markdown."""

from pathlib import Path

import pytest

from agentplane.tools.harvest import statements
from tests.conftest import ROOT


INSTRUCTIONS = ROOT.parent / "shared" / "data" / "instructions"


def taken(text: str) -> list[tuple[str, str]]:
    return [(line.kind, line.text) for line in statements.read(text).lines]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("- Use pnpm, never npm.", [("invariant", "Use pnpm, never npm.")]),
        ("- Prefer small functions over classes", [("decision", "Prefer small functions over classes")]),
        ("* The API is versioned by date.", [("fact", "The API is versioned by date.")]),
        ("- **Always** run [the tests](docs/t.md) first", [("invariant", "Always run the tests first")]),
        ("- [x] Amounts must be whole cents", [("invariant", "Amounts must be whole cents")]),
        ("- Important: keep migrations as plain SQL", [("decision", "keep migrations as plain SQL")]),
        ("Never commit to main. It is fun.", [("invariant", "Never commit to main.")]),
        (
            "- one item\n  goes on and must stay whole",
            [("invariant", "one item goes on and must stay whole")],
        ),
        (
            "When writing tests:\n\n- Use real databases",
            [("decision", "When writing tests: use real databases")],
        ),
        ("- Use tabs", [("decision", "Use tabs")]),
        ("- Never `git push`", [("invariant", "Never `git push`")]),
        ("1. Never commit a secret\n2. Names are short", [("invariant", "Never commit a secret")]),
        ("- You must sign every commit", [("invariant", "You must sign every commit")]),
        ("## Don't\n\n- Never use `any` in types", [("invariant", "Never use `any` in types")]),
    ],
)
def test_what_can_stand_alone_is_taken(text: str, wanted: list[tuple[str, str]]) -> None:
    assert taken(text) == wanted


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("```sh\nAlways run this command now\n```", "code"),
        ("    Always run this indented command", "code"),
        ("| a | b |\n| --- | --- |\n| always use | this here |", "table"),
        ("> Always use what was quoted here.", "quote"),
        ("1. Open the door and use the key\n2. Close the door after use", "numbered step"),
        ("- `npm test`", "command or path"),
        ("- `npm test` runs all of the tests", "command or path"),
        ("- `src/app/`: the code that is run", "command or path"),
        ("- Tabs", "too short"),
        ("- Not here either.", "too short"),
        ("- TypeScript, React and Tailwind", "contains no rule, choice or fact"),
        ("- ❌ Use default exports in modules", "negated by its heading"),
        ("## Anti-patterns\n\n- Use default exports in modules", "negated by its heading"),
        (
            "Do not do any of this:\n\n- Use default exports in modules",
            "negated by its heading",
        ),
        ("## No longer valid\n\n- Never use `any` in types", "outdated, according to its heading"),
        ("## Old rules\n\nAlways use tabs here.", "outdated, according to its heading"),
        ("- This must be done for all of them", "depends on the surrounding text"),
        ("You are an expert who must use TypeScript.", "about the file itself or its reader"),
        ("This file provides guidance and must be read.", "about the file itself or its reader"),
        ("## Recent changes\n\n- Use of Redis was replaced by Postgres", "progress report"),
        ("The project began in 2019 as an experiment.", "prose without a rule"),
        ("- " + "Always use the same long words. " * 30, "too long for one entry"),
        ("## Never use global state", "heading"),
        ("- Never skip it.", "depends on the surrounding text"),
        ("<bad-example>\n- Never write tests.\n</bad-example>", "HTML"),
    ],
)
def test_what_cannot_is_left_with_its_line_and_the_reason(text: str, what: str) -> None:
    """Taken alone, an item under `Don't` would say the opposite."""
    found = statements.read(text)
    assert found.lines == ()
    assert what in {piece.why for piece in found.skipped}
    assert all(text.splitlines()[piece.line - 1].strip() for piece in found.skipped)


def test_tags_that_group_rules_hide_none_of_them() -> None:
    found = statements.read("<rules>\n- Never use eval.\n- Names are short words.\n</rules>\n\n- Use tabs.\n")
    assert [(line.text, line.line) for line in found.lines] == [
        ("Never use eval.", 2),
        ("Names are short words.", 3),
        ("Use tabs.", 6),
    ]


def test_more_paragraphs_of_an_item_are_listed() -> None:
    found = statements.read("- Run the linter before a push.\n\n  Fix any failures locally.\n\n- Use tabs.\n")
    assert [line.line for line in found.lines] == [1, 5]
    assert [(piece.text, piece.line, piece.why) for piece in found.skipped] == [
        ("Fix any failures locally.", 3, "continues the item above")
    ]


def test_lines_and_headings_are_those_of_the_text() -> None:
    text = (
        "# Guide\n\n## Code style\n\nText.\n\n- Use tabs for every indent.\n  - Use spaces for every table.\n"
    )
    found = statements.read(text, first=11).lines
    assert sorted((line.line, line.headings[-1]) for line in found) == [
        (17, "Code style"),
        (18, "Code style"),
    ]


def test_each_sentence_of_a_paragraph_has_its_own_line() -> None:
    text = "# Rules\n\nUse tabs in Go files. Run the tests\nbefore each commit. Never log\ncard numbers.\nAvoid globals.\n"
    assert [(one.text, one.line) for one in statements.read(text).lines] == [
        ("Use tabs in Go files.", 3),
        ("Run the tests before each commit.", 3),
        ("Never log card numbers.", 4),
        ("Avoid globals.", 6),
    ]


def test_a_reason_that_follows_belongs_to_the_statement() -> None:
    text = (
        "Use real databases in tests.\n\n**Why:** mocks hid a fault.\n\n**How to apply:** see `conftest`.\n"
    )
    (line,) = statements.read(text).lines
    assert line.why == "mocks hid a fault. see `conftest`."


@pytest.mark.parametrize(
    "text", ["", "\0", "-" * 10_000, "- " * 5_000, "[" * 20_000, "> " * 3_000, "#" * 9_000, "* a\n" * 9_000]
)
def test_odd_texts_are_read(text: str) -> None:
    statements.read(text)


@pytest.mark.skipif(not INSTRUCTIONS.is_dir(), reason="no real instruction files here")
def test_real_instruction_files() -> None:
    """Each statement stands on the line that is named, and can be read in one breath."""
    count = astray = 0
    for path in sorted(INSTRUCTIONS.glob("*.md*")):
        text = Path(path).read_text(errors="replace")
        lines = text.split("\n")
        for line in statements.read(text).lines:
            count += 1
            assert 0 < len(line.text) <= statements.LONGEST
            assert "\n" not in line.text
            here = " ".join(lines[line.line - 1 : line.line + 14]).replace("**", "").lower()
            word = max(line.text.split(": ")[-1].split(), key=len).strip("`*_.,;:()").lower()
            # A word may be cut by a link or another mark that is taken out.
            astray += word not in here
    assert count > 1000
    assert astray < count / 50
