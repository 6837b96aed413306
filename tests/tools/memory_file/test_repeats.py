"""What the own files of a tool say already is not written into them again."""

import json
import os
from pathlib import Path

import pytest

from agentplane.agents.catalog import BY_NAME
from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.health import collect
from agentplane.tools import presence
from agentplane.tools.harvest import harvest
from agentplane.tools.hooks import start_context
from agentplane.tools.memory_file import repeats
from tests.conftest import decision, plane_in


LASTING = Ask(passing=False)
AGENTS = """# Rules

## Code

- **Use pnpm**, never npm.
- Logs must go to standard error.
- Never commit
  secrets to the repository.
- Use tabs.

Prefer composition over inheritance. Small functions should be tested alone.
"""
CLAUDE = "# Claude\n\n- Logs must go to `standard error`\n- Always run the linter before you commit.\n"


@pytest.fixture
def rules(project: Path) -> Path:
    (project / "AGENTS.md").write_text(AGENTS)
    (project / "CLAUDE.md").write_text(CLAUDE)
    return project


def imported(project: Path) -> Plane:
    """The rules of the project, imported, approved and brought to Codex and Claude Code."""
    plane = plane_in(project)
    plane.tools.take_in(plane.tools.harvest(list(harvest.SOURCES), project.parent))
    plane.inbox.approve(plane.memory.read().inbox_ids)
    sync(plane)
    return plane


def sync(plane: Plane, *names: str) -> None:
    plane.tools.sync(presence.named(names or ("codex", "claude-code")), plane.tools.pack(LASTING))


def states(plane: Plane, *names: str) -> dict[str, str]:
    stands = plane.tools.standings(
        presence.named(names or ("codex", "claude-code")), plane.tools.pack(LASTING)
    )
    return {one.path: one.state for one in stands}


def in_active(plane: Plane) -> str:
    return (plane.layout.root / "context/active.md").read_text()


def test_no_file_says_a_rule_twice(rules: Path) -> None:
    """The first hour: import, approve everything, sync."""
    plane = imported(rules)
    text = (rules / "AGENTS.md").read_text()
    assert text.startswith(AGENTS)
    block = text.removeprefix(AGENTS)
    for rule in ("pnpm", "standard error", "secrets", "tabs", "composition", "Small functions"):
        assert rule not in block
    assert "Always run the linter before you commit." in block
    active = in_active(plane)
    for rule in ("pnpm", "secrets", "tabs", "composition", "Small functions"):
        assert rule in active
    assert "standard error" not in active
    assert "linter" not in active
    assert "Rationale" not in block + active
    assert set(states(plane).values()) == {"current"}


@pytest.mark.parametrize("link", ["CLAUDE.md", "AGENTS.md"])
def test_a_file_that_is_a_link_to_another_says_no_rule_twice(project: Path, link: str) -> None:
    target = {"CLAUDE.md": "AGENTS.md", "AGENTS.md": "CLAUDE.md"}[link]
    (project / target).write_text(AGENTS)
    (project / link).symlink_to(target)
    plane = imported(project)
    text = (project / target).read_text()
    block = text.removeprefix(AGENTS)
    for rule in ("pnpm", "standard error", "secrets", "tabs", "composition", "Small functions"):
        assert rule not in block
    assert (project / link).is_symlink()
    assert set(states(plane).values()) == {"current"}
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents."))])
    assert "Amounts are whole cents." in (project / target).read_text()


def test_the_receipts_say_where_it_stands(rules: Path) -> None:
    plane = imported(rules)
    root = plane.layout.root
    of_active = json.loads((root / "context/receipt.json").read_text())["cut"]
    assert sorted(cut["why"] for cut in of_active) == [
        "CLAUDE.md:3 already says the same",
        "CLAUDE.md:4 already says the same",
    ]
    told = json.loads((root / "context/files.json").read_text())["files"]["AGENTS.md"]
    assert sorted(cut["at"] for cut in told["cut"]) == [
        "AGENTS.md:11", "AGENTS.md:11", "AGENTS.md:5", "AGENTS.md:6", "AGENTS.md:7", "AGENTS.md:9",
    ]  # fmt: skip
    assert {cut["kind"] for cut in told["cut"]} == {"said"}
    (standing,) = plane.tools.standings(presence.named(["codex"]), plane.tools.pack(LASTING))
    assert "AGENTS.md:6 already says the same" in standing.repeated.values()
    assert standing.cut == ()


def test_a_line_that_a_person_deletes_comes_back_in_our_block(rules: Path) -> None:
    plane = imported(rules)
    for name, rule in (
        ("AGENTS.md", "- Use tabs.\n"),
        ("CLAUDE.md", "- Always run the linter before you commit.\n"),
    ):
        path = rules / name
        path.write_text(path.read_text().replace(rule, "", 1))
    assert states(plane) == {"AGENTS.md": "old", "CLAUDE.md": "old"}
    assert {one.where for one in collect(plane.store) if "`agentplane sync`" in one.remedy} == {
        "AGENTS.md",
        "CLAUDE.md",
    }
    sync(plane)
    assert "Use tabs." in (rules / "AGENTS.md").read_text()
    assert "Always run the linter before you commit." in in_active(plane)
    assert set(states(plane).values()) == {"current"}
    assert collect(plane.store) == []
    (rules / "AGENTS.md").write_text("- use TABS\n" + (rules / "AGENTS.md").read_text())
    assert states(plane)["AGENTS.md"] == "old"
    sync(plane)
    assert "Use tabs." not in (rules / "AGENTS.md").read_text()


def test_a_rule_that_one_of_two_importing_files_lacks_is_given(rules: Path) -> None:
    (rules / "GEMINI.md").write_text("- Logs must go to standard error.\n")
    plane = imported(rules)
    sync(plane, "codex", "claude-code", "gemini-cli")
    active = in_active(plane)
    assert "linter" in active
    assert "standard error" not in active


def test_what_a_file_imports_counts_for_tools_that_follow_imports(rules: Path) -> None:
    (rules / "CLAUDE.md").write_text("@AGENTS.md\n\nSee @docs/more.md.\n")
    (rules / "docs").mkdir()
    (rules / "docs/more.md").write_text("- Amounts must be whole cents.\n")
    plane = imported(rules)
    done = plane.propose(decision("Amounts must be whole cents."))
    plane.inbox.approve([done])
    sync(plane)
    assert "- DEC" not in in_active(plane)
    assert "- INV" not in in_active(plane)
    assert "Amounts must be whole cents." in (rules / "AGENTS.md").read_text()


def test_an_import_of_a_file_with_our_block_gives_each_entry_once(rules: Path) -> None:
    (rules / "CLAUDE.md").write_text("@AGENTS.md\n\n- Never touch the schema.\n")
    plane = imported(rules)
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents.", rationale="Floats drift."))])
    assert "Amounts are whole cents." in (rules / "AGENTS.md").read_text()
    assert "- DEC" not in in_active(plane)
    assert "- INV" not in in_active(plane)
    assert set(states(plane).values()) == {"current"}
    assert [one for one in collect(plane.store) if one.where in ("CLAUDE.md", "AGENTS.md")] == []
    plane.tools.unsync(presence.named(["codex"]))
    assert "Amounts are whole cents." not in (rules / "AGENTS.md").read_text()
    assert "Amounts are whole cents." in in_active(plane)


def test_a_block_that_gives_an_entry_otherwise_keeps_it_in_the_context(rules: Path) -> None:
    (rules / "CLAUDE.md").write_text("@AGENTS.md\n")
    plane = imported(rules)
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents."))])
    text = (rules / "AGENTS.md").read_text()
    (rules / "AGENTS.md").write_text(text.replace("Amounts are whole cents.", "Amounts are floats."))
    plane.inbox.approve([plane.propose(decision("Reports are CSV."))])
    assert "Amounts are whole cents." in in_active(plane)


def test_a_session_is_not_told_what_its_tool_reads_anyway(rules: Path) -> None:
    plane = imported(rules)

    def told(name: str) -> str:
        tool = BY_NAME[name]
        root = str(plane.layout.root)
        kept = start_context.cached(root, tool, None)
        if kept is None:
            start_context.make(plane.store, plane.origin, tool, None)
            kept = start_context.cached(root, tool, None)
        assert kept
        return kept.text

    assert "tabs" not in told("codex")
    assert "linter" in told("codex")
    assert "tabs" in told("claude-code")
    assert "linter" not in told("claude-code")
    assert list(start_context.wrong(plane.store)) == []
    path = rules / "AGENTS.md"
    path.write_text(path.read_text().replace("- Use tabs.\n", ""))
    assert start_context.cached(str(plane.layout.root), BY_NAME["codex"], None) is None
    assert "Use tabs." in told("codex")


def test_the_candidates_of_an_import_are_no_repeats_of_their_file(project: Path) -> None:
    (project / "CLAUDE.md").write_text(f"- Use tabs in Go files.\n\n{CLAUDE}")
    os.symlink("CLAUDE.md", project / "AGENTS.md")
    (project / "api").mkdir()
    (project / "api/AGENTS.md").write_text("- Always run the linter before you commit\n- Use tabs in Go\n")
    plane = plane_in(project)
    plane.tools.take_in(plane.tools.harvest(["instructions"], project.parent))
    found_ = plane.inbox.review()
    assert len(found_) == 4
    assert [one.flags for one in found_] == [()] * 4


ENTRY = "Use tabs in Go files."


@pytest.mark.parametrize(
    "text",
    [
        "- Use tabs in Go files",
        "* use TABS in Go files.",
        "1. **Use tabs** in *Go* files!",
        "- [x] Use tabs\n  in Go\n  files",
        "Decision: use tabs in `Go` files",
        "**Rule:** Use tabs in [Go](go.md) files.",
        "We like it. Use tabs in Go files. It is fine.",
        "> note\n\n- “Use tabs in Go files.”",
    ],
)
def test_lines_that_mean_the_same(project: Path, text: str) -> None:
    assert is_said(project, text, ENTRY)


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("- Never use tabs in Go files", ENTRY),
        ("- Use tabs in Go files only in tests", ENTRY),
        ("## Don't\n\n- Use tabs in Go files", ENTRY),
        ("## Rules that no longer apply\n\n- Use tabs in Go files", ENTRY),
        ("## Changelog\n\n- Use tabs in Go files", ENTRY),
        ("```\nUse tabs in Go files.\n```", ENTRY),
        ("> Use tabs in Go files.", ENTRY),
        ("- ~~Use tabs in Go files.~~", ENTRY),
        ("<!-- Use tabs in Go files. -->", ENTRY),
        ("- Use C for the parser", "Use C++ for the parser"),
        ("- Pass `no-color` to it", "Pass `--no-color` to it"),
        ("- Keep x >= 3 always", "Keep x <= 3 always"),
        ("- Docs: use vitest here", "Tests: use vitest here"),
        ("- ❌ Use tabs in Go files.", ENTRY),
    ],
)
def test_lines_that_mean_something_else(project: Path, text: str, entry: str) -> None:
    assert not is_said(project, text, entry)


def is_said(project: Path, text: str, entry: str) -> bool:
    (project / "AGENTS.md").write_text(f"# Rules\n\n{text}\n")
    plane = plane_in(project)
    if not plane.memory.read().shelf:
        plane.inbox.approve([plane.propose(decision(entry), again=True)])
    return bool(repeats.read(project, presence.named(["codex"])).of(plane.memory.read().shelf))


def test_a_reason_that_the_file_lacks_keeps_an_entry(project: Path) -> None:
    """Leaving it out would lose the reason."""
    (project / "AGENTS.md").write_text("- Use tabs in Go files.\n")
    plane = plane_in(project)
    plane.inbox.approve([plane.propose(decision(ENTRY, rationale="gofmt writes them."))])
    sync(plane, "codex")
    assert "gofmt writes them." in (project / "AGENTS.md").read_text()
    (project / "AGENTS.md").write_text("- Use tabs in Go files.\n\nWhy: gofmt writes them.\n")
    sync(plane, "codex")
    assert (project / "AGENTS.md").read_text().count("gofmt") == 1


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        (".claude/rules/go.md", "- Use tabs in Go files.\n", True),
        (".claude/rules/go.md", "---\npaths: ['**/*.go']\n---\n- Use tabs in Go files.\n", False),
        (".claude/CLAUDE.md", "- Use tabs in Go files.\n", True),
        ("docs/CLAUDE.md", "- Use tabs in Go files.\n", False),
    ],
)
def test_other_files_that_a_tool_reads_on_its_own(project: Path, name: str, text: str, counts: bool) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)
    plane = plane_in(project)
    plane.inbox.approve([plane.propose(decision(ENTRY))])
    sync(plane, "claude-code")
    assert ("Use tabs" not in in_active(plane)) == counts


def test_a_rule_for_some_paths_says_the_entry_for_these_paths(project: Path) -> None:
    (project / ".cursor/rules").mkdir(parents=True)
    rule = "---\nglobs: src/*.py\nalwaysApply: false\n---\n- Use type hints in every function.\n"
    (project / ".cursor/rules/types.mdc").write_text(rule)
    plane = plane_in(project)
    plane.tools.take_in(plane.tools.harvest(["instructions"], project.parent))
    plane.inbox.approve(plane.memory.read().inbox_ids)
    plane.inbox.approve([plane.propose(decision("Use type hints in every function of the tests."))])
    sync(plane, "cursor", "codex")
    text = (project / ".cursor/rules/agentplane.mdc").read_text()
    assert "type hints in every function of the tests" in text
    assert "type hints in every function." not in text
    assert "type hints in every function. (only for src/*.py)" in (project / "AGENTS.md").read_text()


@pytest.mark.parametrize(
    "text", ["", "\0", "@" * 9_000, "*a" * 9_000, "`" * 9_000, "@./a" * 4_000, "x: " * 9_000]
)
def test_odd_files_are_read(project: Path, text: str) -> None:
    (project / "CLAUDE.md").write_text(text)
    repeats.read(project, presence.named(["claude-code"]))


def test_files_that_import_each_other_are_read_once(project: Path) -> None:
    (project / "CLAUDE.md").write_text("@a.md @../outside.md @/etc/passwd\n")
    (project / "a.md").write_text("@CLAUDE.md and @a.md\n- Use tabs in Go files.\n")
    (project.parent / "outside.md").write_text("- Use spaces.\n")
    read = repeats.read(project, presence.named(["claude-code"]))
    assert read.read[:2] == ("CLAUDE.md", "a.md")
    assert read.places == {**read.places, "use tabs in go files": "a.md:2"}
    assert not any("spaces" in key for key in read.places)
