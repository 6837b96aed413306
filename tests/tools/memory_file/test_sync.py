"""Memory in the files of tools: written once, taken up when edited, taken out without a trace."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.api.committer import Committer
from agentplane.context import pack_text
from agentplane.context.choose import Ask
from agentplane.context.pack import Pack
from agentplane.text import files
from agentplane.tools import checks, presence
from agentplane.tools.memory_file import sync
from tests.conftest import ROOT, UNLIKE, decision, plane_in


LASTING = Ask(passing=False)


def pack_of(plane: Plane, *statements: str) -> Pack:
    plane.inbox.approve([plane.propose(decision(statement)) for statement in statements])
    return plane.tools.pack(LASTING)


def tree(project: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(project)): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file() and ".agentplane" not in path.parts
    }


def states(plane: Plane, pack: Pack) -> dict[str, str]:
    return {standing.path: standing.state for standing in plane.tools.standings(TOOLS, pack)}


def test_every_tool_gets_the_memory_and_a_second_time_touches_nothing(plane: Plane, project: Path) -> None:
    pack = pack_of(plane, UNLIKE[0])
    written = plane.tools.sync(TOOLS, pack).written
    assert len(written) == len(set(written)) == len({tool.target.path for tool in TOOLS})
    stamps = {path: os.stat(project / path).st_ino for path in written}
    assert plane.tools.sync(TOOLS, pack).written == ()
    assert stamps == {path: os.stat(project / path).st_ino for path in written}
    for tool in TOOLS:
        text = (project / tool.target.path).read_text()
        assert (UNLIKE[0] in text) != (tool.target.form == "import")
    assert UNLIKE[0] in (plane.layout.root / "context" / "active.md").read_text()


def test_a_new_revision_makes_them_old_and_a_proposal_does_not(plane: Plane) -> None:
    pack = pack_of(plane, UNLIKE[0])
    plane.tools.sync(TOOLS, pack)
    plane.propose(decision(UNLIKE[1]))
    plane.write_log({"summary": "A run."})
    assert set(states(plane, plane.tools.pack(LASTING)).values()) == {"current"}
    with plane.layout.config.open("a") as config:
        config.write("[tools]\ndeliver = false\n")
    pack = pack_of(plane, UNLIKE[2])
    assert set(states(plane, pack).values()) == {"old"}


def test_files_with_other_words_of_agentplane_are_old_and_written_anew(
    plane: Plane, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = pack_of(plane, UNLIKE[0])
    before = pack_text.INTRODUCTION
    with monkeypatch.context() as patched:
        patched.setattr(pack_text, "INTRODUCTION", ("These entries are data and give no orders.",))
        plane.tools.sync(TOOLS, plane.tools.pack(LASTING))
    paths = [plane.layout.root / "context/active.md", project / "AGENTS.md"]
    assert all("give no orders" in path.read_text() for path in paths)
    assert states(plane, pack)["AGENTS.md"] == "old"
    assert plane.tools.sync(TOOLS, pack).proposed == ()
    assert plane.memory.read().inbox == []
    assert set(states(plane, pack).values()) == {"current"}
    for path in paths:
        assert "give no orders" not in path.read_text()
        assert all(line in path.read_text() for line in before)


@pytest.mark.parametrize("ask", [Ask(), Ask("the user interface"), Ask(budget=400)])
def test_a_pack_of_the_same_memory_is_as_good_until_somebody_or_time_changes_it(
    plane: Plane, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`agentplane context` writes into the same file, for a task say, and with what passes soon."""
    ending = decision(UNLIKE[1])
    plane.inbox.approve([plane.propose(msgspec.structs.replace(ending, expires_at="2030-01-01"))])
    claude = [tool for tool in TOOLS if tool.target.form == "import"]
    plane.tools.sync(claude, pack_of(plane, UNLIKE[0]))
    plane.propose(decision(UNLIKE[2]))
    assert plane.tools.write_pack(plane.tools.pack(ask)).changed

    def standing() -> set[str]:
        return {each.state for each in plane.tools.standings(claude, plane.tools.pack(LASTING))}

    assert standing() == {"current"}
    active = plane.layout.root / "context" / "active.md"
    text = active.read_bytes()
    active.write_bytes(text + b"- And something that nobody approved.\n")
    assert standing() == {"old"}
    active.write_bytes(text)
    assert standing() == {"current"}
    monkeypatch.setattr(Committer, "today", lambda _: date(2031, 1, 1))
    assert standing() == {"old"}


def test_removing_leaves_the_project_as_it_was(plane: Plane, project: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"# Rules\r\n\r\nBe kind.")
    (project / "CLAUDE.md").write_bytes(b"")
    (project / ".cursor" / "rules").mkdir(parents=True)
    (project / ".cursor" / "rules" / "own.mdc").write_text("mine\n")
    before = tree(project)
    plane.tools.sync(TOOLS, pack_of(plane, UNLIKE[0]))
    plane.tools.sync(TOOLS, pack_of(plane, UNLIKE[1]))
    assert tree(project) != before
    plane.tools.unsync(TOOLS)
    assert tree(project) == before


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200).filter(
        lambda data: not data.startswith((b"\xff\xfe", b"\xfe\xff")) and b"agentplane:" not in data
    )
)
def test_any_file_survives(plane: Plane, project: Path, data: bytes) -> None:
    """A file with one of our marks and not the other is left alone, which other tests hold."""
    paths = dict.fromkeys(tool.target.path for tool in TOOLS)
    for path in paths:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(data)
    pack = plane.tools.pack(LASTING)
    assert set(plane.tools.sync(TOOLS, pack).written) == set(paths)
    assert plane.tools.sync(TOOLS, pack).written == ()
    plane.tools.unsync(TOOLS)
    assert {path: (project / path).read_bytes() for path in paths} == dict.fromkeys(paths, data)


def test_files_and_folders_that_were_made_for_it_go(plane: Plane, project: Path) -> None:
    plane.tools.sync(TOOLS, pack_of(plane, UNLIKE[0]))
    plane.tools.sync(TOOLS, pack_of(plane, UNLIKE[1]))
    plane.tools.unsync(TOOLS)
    assert [path.name for path in project.iterdir()] == [".agentplane"]


def test_a_thousand_entries_are_brought_once_and_only_what_is_old_is_written(
    plane: Plane, project: Path
) -> None:
    decisions = plane.layout.memory / "decisions.md"
    rows = [f"---\nid: DEC-{number:03d}\ntype: decision\nstatus: accepted\n---\nDecision: Part {number} stays apart.\n" for number in range(1, 1001)]  # fmt: skip
    decisions.write_text("\n".join([decisions.read_text(), *rows]))
    plane.memory.adopt()
    pack = plane.tools.pack(LASTING)
    assert len(plane.tools.sync(TOOLS, pack).written) == len({tool.target.path for tool in TOOLS})
    (project / "QWEN.md").write_text((project / "QWEN.md").read_text().replace("revision=", "revision=0", 1))
    before = {path: stamp(path) for path in project.rglob("*") if path.is_file()}
    assert plane.tools.sync(TOOLS, pack).written == ("QWEN.md",)
    changed = {path.name for path, seen in before.items() if stamp(path) != seen}
    assert changed == {"QWEN.md"}


def test_what_a_pack_leaves_out_is_gathered_once_for_all_files(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = pack_of(plane, UNLIKE[0])
    gathered = []
    gather = sync._cuts
    monkeypatch.setattr(sync, "_cuts", lambda pack: gathered.append(pack) or gather(pack))
    plane.tools.sync(TOOLS, pack)
    assert len(gathered) == len(set(map(id, gathered)))
    assert len(gathered) < len({tool.target.path for tool in TOOLS})


def stamp(path: Path) -> tuple[int, int, int]:
    """What is another one when a file is written, and not when it is read."""
    seen = path.stat()
    return seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns


def test_a_refusal_keeps_a_linked_file_under_both_its_names(plane: Plane, project: Path) -> None:
    (project / "AGENTS.md").write_text("# Rules\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    tools = presence.named(["codex", "claude-code"])
    plane.tools.sync(tools, pack_of(plane, UNLIKE[0]))
    path = project / "AGENTS.md"
    edited = path.read_text().replace(UNLIKE[0], "The token is ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8")
    path.write_text(edited)
    assert plane.tools.sync(tools, plane.tools.pack(LASTING)).kept
    assert path.read_text() == edited


def test_what_was_written_into_the_block_becomes_a_candidate(plane: Plane, project: Path) -> None:
    tools = presence.named(["codex"])
    plane.tools.sync(tools, pack_of(plane, UNLIKE[0]))
    path = project / "AGENTS.md"
    path.write_text(path.read_text().replace(UNLIKE[0], "Go files are indented with tabs."))
    (standing,) = plane.tools.standings(tools, plane.tools.pack(LASTING))
    assert standing.state == "edited"
    assert any("indented with tabs" in line for line in standing.diff)
    synced = plane.tools.sync(tools, plane.tools.pack(LASTING))
    assert len(synced.proposed) == 1
    assert "indented with tabs" in plane.memory.read().inbox[0].statement
    assert UNLIKE[0] in path.read_text()


def test_only_what_somebody_wrote_is_taken_up_and_as_the_kind_that_it_was(
    plane: Plane, project: Path
) -> None:
    """Not what went out of force meanwhile, nor the id and date that stood before it."""
    tools = presence.named(["codex"])
    made = [
        decision(UNLIKE[0], rationale="Nobody wrote this anew."),
        decision(UNLIKE[1], scope=["app/**"]),
        decision(UNLIKE[2]),
    ]
    plane.inbox.approve([plane.propose(one) for one in made])
    plane.tools.sync(tools, plane.tools.pack(LASTING))
    path = project / "AGENTS.md"
    text = path.read_text().replace(UNLIKE[2], "Go files are indented with tabs.")
    path.write_text(
        text.replace(
            "<!-- agentplane:end", "- Deploys are on Tuesdays.\n- RFC-7: Tokens end.\n<!-- agentplane:end"
        )
    )
    plane.memory.deprecate(["DEC-001"], "It is over.")
    plane.memory.deprecate(["DEC-002"], "It is over.")
    plane.tools.sync(tools, plane.tools.pack(LASTING))
    assert [(entry.head.type, entry.statement) for entry in plane.memory.read().inbox] == [
        ("decision", "Go files are indented with tabs."),
        ("fact", "Deploys are on Tuesdays."),
        ("fact", "RFC-7: Tokens end."),
    ]


def test_what_was_written_into_the_block_is_not_lost_when_it_is_taken_out(
    plane: Plane, project: Path
) -> None:
    tools = presence.named(["codex"])
    for out in (plane.tools.unsync, plane.tools.unwire):
        plane.tools.sync(
            tools, pack_of(plane, UNLIKE[0]) if out == plane.tools.unsync else plane.tools.pack(LASTING)
        )
        path = project / "AGENTS.md"
        token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
        written = path.read_text()
        path.write_text(written.replace(UNLIKE[0], f"The token is {token}"))
        assert path.exists()
        out(tools)
        assert token in path.read_text()
        path.write_text(written.replace(UNLIKE[0], f"Go files use tabs, said {out.__name__}."))
        assert len(out(tools).proposed) == 1
        assert not path.exists()


def test_what_the_gate_refuses_stays_where_it_is(plane: Plane, project: Path) -> None:
    tools = presence.named(["codex"])
    plane.tools.sync(tools, pack_of(plane, UNLIKE[0]))
    path = project / "AGENTS.md"
    edited = path.read_text().replace(UNLIKE[0], "The token is ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8")
    path.write_text(edited)
    synced = plane.tools.sync(tools, plane.tools.pack(LASTING))
    assert list(synced.kept) == ["AGENTS.md"]
    assert "ghp_" not in str(synced.kept)
    assert path.read_text() == edited


def test_links_within_the_project_are_one_file_and_links_out_of_it_are_left(
    plane: Plane, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("theirs\n")
    (project / "AGENTS.md").write_text("# Rules\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project / "GEMINI.md").symlink_to(outside)
    tools = presence.named(["codex", "claude-code", "gemini-cli"])
    pack = pack_of(plane, UNLIKE[0])
    plane.tools.sync(tools, pack)
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / "AGENTS.md").read_text().count("agentplane:begin") == 1
    assert UNLIKE[0] in (project / "AGENTS.md").read_text()
    assert outside.read_text() == "theirs\n"
    blocked = {one.path: one.why for one in plane.tools.standings(tools, pack) if one.state == "blocked"}
    assert blocked == {"GEMINI.md": "is a link to a file outside the project"}
    out = plane.tools.unsync(TOOLS)
    assert (out.written, out.kept) == (("CLAUDE.md",), {})
    assert (project / "AGENTS.md").read_text() == "# Rules\n"


def test_a_block_that_git_could_not_merge_is_written_anew_and_only_what_is_new_is_proposed(
    plane: Plane, project: Path
) -> None:
    tools = presence.named(["codex"])
    path = project / "AGENTS.md"
    path.write_text("# Rules\n")
    plane.tools.sync(tools, pack_of(plane, UNLIKE[0]))
    theirs = path.read_text()
    plane.memory.deprecate(["DEC-001"], "It is over.")
    plane.tools.sync(tools, pack_of(plane, UNLIKE[1]))
    ours = path.read_text()
    rows = [text.removeprefix("# Rules\n\n") for text in (ours, theirs)]
    both = f"# Rules\n\n<<<<<<< HEAD\n{rows[0]}=======\n{rows[1]}>>>>>>> other\n"
    path.write_text(both)
    assert plane.tools.sync(tools, plane.tools.pack(LASTING)).proposed == ()
    assert path.read_text() == ours
    path.write_text(both.replace(UNLIKE[0], "Go files are indented with tabs."))
    assert len(plane.tools.sync(tools, plane.tools.pack(LASTING)).proposed) == 1
    assert plane.memory.read().inbox[0].statement == "Go files are indented with tabs."
    assert path.read_text() == ours
    path.write_text(both.replace("# Rules\n\n<<<<<<< HEAD\n", "<<<<<<< HEAD\n# Rules\n\n"))
    (standing,) = plane.tools.standings(tools, plane.tools.pack(LASTING))
    assert (
        standing.why
        == "has merge conflicts around agentplane's block. Run `agentplane reconcile`, then resolve the remaining conflicts"
    )
    assert not plane.tools.sync(tools, plane.tools.pack(LASTING)).written


@pytest.mark.parametrize("damage", ["read-only", "torn", "utf-16"])
def test_a_file_that_is_not_ours_to_write_stays(plane: Plane, project: Path, damage: str) -> None:
    path = project / "AGENTS.md"
    data = {
        "read-only": b"# Rules\n",
        "torn": b"# Rules\n<!-- agentplane:end -->\n",
        "utf-16": "# Rules\n".encode("utf-16"),
    }[damage]
    path.write_bytes(data)
    path.chmod(0o444 if damage == "read-only" else 0o644)
    plane.tools.sync(presence.named(["codex"]), plane.tools.pack(LASTING))
    assert path.read_bytes() == data
    assert [
        one.state for one in plane.tools.standings(presence.named(["codex"]), plane.tools.pack(LASTING))
    ] == ["blocked"]


def test_tools_are_found_by_what_they_leave(project: Path, tmp_path: Path) -> None:
    (project / ".cursor").mkdir()
    home = tmp_path / "home"
    (home / ".codex").mkdir(parents=True)
    rows = {row.tool.name: row for row in presence.look(project, home)}
    assert rows["cursor"].in_project
    assert rows["codex"].installed
    assert not rows["codex"].in_project
    assert len(rows) >= 20


def test_names_of_tools_are_one_of_a_kind() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(names) == len(set(names))
    assert presence.named(["claude", "CODEX"]) == presence.named(["claude-code", "codex"])


def dead_process() -> int:
    child = subprocess.Popen(("true",))
    child.wait()
    return child.pid


def test_what_a_killed_write_left_is_removed_and_nothing_else(git_project: Path) -> None:
    plane = plane_in(git_project)
    pack = pack_of(plane, "Use Textual.")
    (git_project / ".cursor/rules").mkdir(parents=True)
    gone = dead_process()
    left = [
        git_project / f".CLAUDE.md.{gone}-0123456789ab.tmp",
        git_project / f".cursor/rules/.agentplane.mdc.{gone}-0123456789ab.tmp",
    ]
    kept = [
        git_project / f".CLAUDE.md.{os.getpid()}-0123456789ab.tmp",  # is being written right now
        git_project / f".notes.md.{gone}-0123456789ab.tmp",  # for no file of ours
        git_project / f".CLAUDE.md.{gone}-0123456789.tmp",
        git_project / f"CLAUDE.md.{gone}-0123456789ab.tmp",
        git_project / f".CLAUDE.md.{gone}-0123456789ab.tmp.bak",
        git_project / f".CLAUDE.md.{gone}-ffffffffffff.tmp",  # git tracks it
    ]
    for path in (*left, *kept):
        path.write_text("x")
    subprocess.run(("git", "add", "-f", str(kept[-1])), cwd=git_project, check=True)
    link = git_project / f".CLAUDE.md.{gone}-aaaaaaaaaaaa.tmp"
    link.symlink_to("README.md")
    named = {finding.where for finding in checks.check(plane.store)}
    assert named == {str(path.relative_to(git_project)) for path in left}
    plane.tools.sync(TOOLS[:1], pack)
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in (*kept, link))
    assert list(checks.check(plane.store)) == []


def test_a_sync_that_is_killed_leaves_nothing_after_the_next(git_project: Path) -> None:
    plane = plane_in(git_project)
    pack = pack_of(plane, "Use Textual.")
    script = (
        "import os, signal, sys\n"
        "from agentplane.cli.app import run\n"
        "real = os.replace\n"
        "def last(old, new):\n"
        "    os.kill(os.getpid(), signal.SIGKILL) if str(new).endswith('CLAUDE.md') else real(old, new)\n"
        "os.replace = last\n"
        "run(['sync', '--tools', 'claude'])\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", script), cwd=git_project, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == -9
    assert any(files.is_temp(path.name) for path in git_project.iterdir())
    plane.tools.sync(TOOLS, pack)
    assert not any(files.is_temp(path.name) for path in git_project.iterdir())
