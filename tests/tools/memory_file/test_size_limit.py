"""What a tool reads only so far gets as much of the memory as there is room for, and it is said what is missing."""

import json
from pathlib import Path

import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.context.choose import Ask
from agentplane.memory.proposing import Proposal
from agentplane.tools import presence
from agentplane.tools.memory_file import sync
from tests.conftest import decision


LIMIT = 32 * 1024


def fill(plane: Plane) -> None:
    """Ten decisions, and an invariant that was approved last."""
    names = ["cache", "queue", "parser", "router", "ledger", "mailer", "editor", "signer", "poller", "banner"]
    texts = [f"The {name} keeps its own {name}s apart from those of any other {name}, as agreed in round {number}." for number, name in enumerate(names)]  # fmt: skip
    for text in texts:
        plane.inbox.approve([plane.propose(decision(text))])
    plane.inbox.approve([plane.propose(Proposal(type="invariant", statement="Never log card numbers."))])


def written(
    plane: Plane, project: Path, outside: int, *names: str, ending: bytes = b""
) -> tuple[str, sync.Synced]:
    """AGENTS.md with so many bytes of others in it, and then the memory."""
    (project / "AGENTS.md").write_bytes(b"x" * (outside - len(ending)) + ending)
    done = plane.tools.sync(presence.named(names), plane.tools.pack(Ask(passing=False)))
    return (project / "AGENTS.md").read_text(), done


def test_beside_a_long_file_the_block_takes_what_is_left(plane: Plane, project: Path) -> None:
    fill(plane)
    text, done = written(plane, project, LIMIT - 1500, "codex")
    assert done.written == ("AGENTS.md",)
    assert len(text.encode()) <= LIMIT
    assert "Never log card numbers." in text
    assert "Left out for lack of room: DEC-" in text
    (standing,) = plane.tools.standings(presence.named(["codex"]), plane.tools.pack(Ask(passing=False)))
    assert standing.state == "current"
    assert standing.cut
    told = json.loads((plane.layout.root / "context" / "files.json").read_text())
    receipt = told["files"]["AGENTS.md"]
    assert {cut["id"] for cut in receipt["cut"]} == set(standing.cut)
    assert plane.tools.sync(presence.named(["codex"]), plane.tools.pack(Ask(passing=False))).written == ()


def test_line_ends_of_windows_count(plane: Plane, project: Path) -> None:
    fill(plane)
    for less in range(1200, 2400, 150):
        written(plane, project, LIMIT - less, "codex", ending=b"\r\n")
        data = (project / "AGENTS.md").read_bytes()
        assert b"agentplane:end -->\r\n" in data
        assert len(data) <= LIMIT


def test_where_there_is_room_nothing_is_cut(plane: Plane, project: Path) -> None:
    fill(plane)
    text, _ = written(plane, project, 100, "codex")
    assert "Left out" not in text
    assert not (plane.layout.root / "context" / "files.json").exists()


def test_a_file_without_room_is_left_and_said(plane: Plane, project: Path) -> None:
    fill(plane)
    text, done = written(plane, project, LIMIT - 300, "codex")
    assert done.written == ()
    assert text == "x" * (LIMIT - 300)
    (standing,) = plane.tools.standings(presence.named(["codex"]), plane.tools.pack(Ask(passing=False)))
    assert standing.state == "blocked"
    assert "Codex CLI reads only the first 32768 bytes" in standing.why


@pytest.mark.parametrize("names", [("codex", "opencode"), ("opencode", "codex"), ("opencode",)])
def test_of_all_readers_the_smallest_limit_counts(
    plane: Plane, project: Path, names: tuple[str, ...]
) -> None:
    fill(plane)
    text, _ = written(plane, project, LIMIT - 1500, *names)
    assert len(text.encode()) <= LIMIT


def test_a_file_without_a_limit_gets_all(plane: Plane, project: Path) -> None:
    fill(plane)
    (project / "QWEN.md").write_text("x" * (LIMIT - 300))
    plane.tools.sync(presence.named(["qwen"]), plane.tools.pack(Ask(passing=False)))
    text = (project / "QWEN.md").read_text()
    assert len(text.encode()) > LIMIT
    assert "Left out" not in text


def test_no_file_is_longer_than_its_readers_read(plane: Plane, project: Path) -> None:
    fill(plane)
    plane.tools.sync(TOOLS, plane.tools.pack(Ask(budget=20_000, passing=False)))
    for tool in TOOLS:
        if tool.limits.file_bytes:
            assert len((project / tool.target.path).read_bytes()) <= tool.limits.file_bytes


def test_the_receipts_go_when_there_is_room_again(plane: Plane, project: Path) -> None:
    fill(plane)
    written(plane, project, LIMIT - 1500, "codex")
    plane.tools.sync(presence.named(["cursor"]), plane.tools.pack(Ask(passing=False)))
    assert (plane.layout.root / "context" / "files.json").exists()
    written(plane, project, 10, "codex")
    assert not (plane.layout.root / "context" / "files.json").exists()


def test_what_others_wrote_into_a_block_is_taken_up_once_where_there_is_no_room_any_more(
    plane: Plane, project: Path
) -> None:
    fill(plane)
    tools = presence.named(["codex"])
    text, _ = written(plane, project, 100, "codex")
    edited = text.replace("Never log card numbers.", "Go files use tabs.") + "x" * LIMIT
    (project / "AGENTS.md").write_text(edited)
    done = plane.tools.sync(tools, plane.tools.pack(Ask(passing=False)))
    assert (done.proposed, done.written) == ((), ())
    assert (project / "AGENTS.md").read_text() == edited
    assert len(plane.tools.unsync(tools).proposed) == 1
    assert "agentplane" not in (project / "AGENTS.md").read_text()
