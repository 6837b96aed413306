"""Entries that were in no context, although tools got many."""

from collections.abc import Sequence
from typing import Any

import pytest

from agentplane.api import Plane
from agentplane.context.choose import Ask
from tests.curate.shelves import add, ago, found, lines


@pytest.fixture
def used(plane: Plane) -> Plane:
    """DEC-001 and DEC-002 are 100 days old, and DEC-003 is 20 days old. Nothing is in a file."""
    plane.layout.config.write_text("[tools]\ndeliver = false\n[curate]\nunused_contexts = 5\n")
    add(ago(plane, 100), "Reports are CSV files.")
    add(ago(plane, 100), "Webhooks carry a signature.")
    add(ago(plane, 20), "Buttons have round corners.")
    return plane


def give(plane: Plane, days: int, given: Sequence[str], **more: Any) -> None:
    """Log a session that got these entries."""
    receipt = {"kind": "pack", "revision": "0", "given": list(given), "given_in_all": len(given)}
    ago(plane, days).write_log({"tool": "claude-code", "receipts": [receipt | more]})


def test_never_in_a_context(used: Plane) -> None:
    for days in range(10, 15):
        give(used, days, ["DEC-002"])
    (one,) = found(used, "unused")
    assert (one.id, one.severity) == ("DEC-001", "info")
    assert lines(one) == "Tools have received 5 contexts since 2031-01-30, and none of them included it."


def test_too_few_contexts(used: Plane) -> None:
    for days in (*range(10, 14), 150):
        give(used, days, [])
    assert found(used, "unused") == []


def test_once_in_a_context(used: Plane) -> None:
    give(used, 99, ["DEC-001"])
    for days in range(10, 20):
        give(used, days, ["DEC-002"])
    assert found(used, "unused") == []


def test_a_context_before_the_last_change_does_not_count(used: Plane) -> None:
    give(used, 120, ["DEC-001"])
    for days in range(10, 20):
        give(used, days, ["DEC-002"])
    assert [one.id for one in found(used, "unused")] == ["DEC-001"]


def test_a_receipt_that_does_not_name_all_entries_proves_nothing(used: Plane) -> None:
    for days in range(10, 20):
        give(used, days, ["DEC-002"])
    give(used, 21, ["DEC-002"], given_in_all=2)
    assert found(used, "unused") == []


@pytest.mark.parametrize(
    "calls",
    [
        [{"tool": "mcp__agentplane__recall"}],
        [{"tool": "Read", "path": "a"}, {"tool": "mcp__agentplane__context", "times": 2}],
        [{"tool": "mcp__agentplane__show"}, {"more": 3}],
    ],
)
def test_a_tool_that_asked_for_entries_may_have_got_it(used: Plane, calls: list[dict[str, Any]]) -> None:
    for days in range(10, 20):
        give(used, days, ["DEC-002"])
    ago(used, 30).write_log({"tool": "claude-code", "summary": "x", "tool_calls": calls})
    assert found(used, "unused") == []


def test_other_calls_prove_no_use(used: Plane) -> None:
    for days in range(10, 20):
        give(used, days, ["DEC-002"])
    calls = [{"tool": "mcp__agentplane__record"}, {"tool": "Read", "path": "agentplane/recall"}]
    ago(used, 30).write_log({"tool": "claude-code", "summary": "x", "tool_calls": calls})
    assert [one.id for one in found(used, "unused")] == ["DEC-001"]


def test_an_entry_in_the_file_that_tools_read(used: Plane) -> None:
    for days in range(10, 20):
        give(used, days, ["DEC-002"])
    assert [one.id for one in found(used, "unused")] == ["DEC-001"]
    tools = ago(used, 1).tools
    tools.write_pack(tools.pack(Ask()))
    assert found(used, "unused") == []


def test_the_setting_turns_it_off(used: Plane) -> None:
    for days in range(10, 20):
        give(used, days, ["DEC-002"])
    used.layout.config.write_text("[tools]\ndeliver = false\n[curate]\nunused_contexts = 0\n")
    assert found(used, "unused") == []
