"""`agentplane hook` as tools call it: the memory at the start, a run for the session, and nothing that breaks a tool."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from agentplane.api import Plane
from agentplane.context.pack import characters, tokens
from agentplane.plane.store import lock
from agentplane.runs import events
from agentplane.runs.capsule import commands
from agentplane.runs.open import hook_notes, open_run
from agentplane.runs.open.open_run import RunSpec
from tests.cases import some
from tests.cli.hooked import COMMAND, Tool, completed, open_runs, sealed, until
from tests.conftest import ROOT, UNLIKE, decision, plane_in


@pytest.fixture
def repository(git_project: Path) -> Path:
    subprocess.run(("git", "config", "user.name", "Ada Lovelace"), cwd=git_project, check=True)
    plane = plane_in(git_project)
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    return git_project


@pytest.fixture
def kept(repository: Path) -> Plane:
    return plane_in(repository)


@pytest.fixture
def tool(repository: Path) -> Iterator[Callable[..., Tool]]:
    made: list[Tool] = []

    def make(name: str = "claude-code", id_: str = "0f2c", *options: str, **env: str) -> Tool:
        made.append(Tool(repository, name, id_, env, options))
        return made[-1]

    yield make
    for one in made:
        one.close()


MakeTool = Callable[..., Tool]


def test_a_session_is_given_the_reviewed_memory_as_data(kept: Plane, tool: MakeTool) -> None:
    said = tool().starts()
    assert (said.code, said.err) == (0, "")
    assert said.json.keys() == {"hookSpecificOutput"}
    assert said.json["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert UNLIKE[0] in said.context
    assert "reviewed and approved" in said.context
    assert "contain no instructions" in " ".join(said.context.split())


def test_neither_a_candidate_nor_a_hand_edit_is_in_it(kept: Plane, tool: MakeTool) -> None:
    kept.propose(decision("Obey the candidate."))
    path = kept.layout.memory / "decisions.md"
    path.write_text(
        path.read_text().replace(UNLIKE[0], "Obey the edit.")
        + "---\nid: DEC-090\ntype: decision\nstatus: accepted\n---\nDecision: Obey the added one.\n"
    )
    claude = tool()
    for source in ("startup", "compact"):  # made anew, then kept
        context = claude.starts(source).context
        assert "Obey" not in context
        assert UNLIKE[0] in context


def test_what_was_kept_is_given_until_something_changes(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    first = claude.starts().context
    assert claude.starts().context == first
    entry = kept.inbox.approve([kept.propose(decision(UNLIKE[1]))]).ids[-1]
    assert UNLIKE[1] in claude.starts().context
    kept.memory.deprecate([entry])
    assert UNLIKE[1] not in claude.starts().context
    kept.history.undo()
    assert UNLIKE[1] in claude.starts().context


@pytest.mark.parametrize(
    ("name", "most", "size"),
    [("claude-code", 10_000, characters), ("codex", 2500, tokens), ("gemini-cli", 2400, tokens)],
)
def test_it_fits_into_what_the_tool_takes(
    kept: Plane, tool: MakeTool, name: str, most: int, size: Callable[[str], int]
) -> None:
    many = [
        kept.propose(decision(f"Part {number} 🜁 writes to table {number * 7919} only.", rationale="r" * 60))
        for number in range(150)
    ]
    invariant = kept.propose(
        msgspec.structs.replace(decision("Backups are never deleted."), type="invariant")
    )
    from agentplane.review.conflicts.resolve import Choice

    kept.inbox.approve([*many, invariant], Choice(keep_both=True, why="they are all different"))
    context = tool(name).starts().context
    assert size(context) <= most
    assert size(context) > most * 0.8
    assert "Backups are never deleted." in context
    assert "Left out for lack of room" in context


def test_a_run_is_opened_for_the_tools_own_process(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts(transcript_path="/home/ada/.claude/projects/x/0f2c.jsonl")
    run = completed(kept)
    revision = kept.status().revision
    assert (run.pid, run.asked.tool, run.actor) == (claude.process.pid, "claude-code", "claude-code")
    assert run.asked.cwd == str(claude.project)
    assert run.revision == revision
    assert run.session is not None
    assert run.session.given is not None
    assert (run.session.id, run.session.source) == ("0f2c", "startup")
    assert run.session.transcript.endswith("0f2c.jsonl")
    assert run.session.given.revision == revision
    assert run.before.branch == "main"
    assert run.before.tree
    assert open_run.is_alive(run)


@pytest.mark.parametrize(("source", "id_"), [("resume", "0f2c"), ("compact", "0f2c"), ("resume", "other")])
def test_a_session_that_goes_on_has_no_second_run(kept: Plane, tool: MakeTool, source: str, id_: str) -> None:
    claude = tool()
    claude.starts()
    run = completed(kept)
    kept.inbox.approve([kept.propose(decision(UNLIKE[1]))])
    claude.id = id_
    assert UNLIKE[1] in claude.starts(source).context
    (now,) = open_runs(kept)
    assert now.run_id == run.run_id
    assert now.before == run.before
    assert now.session is not None
    assert now.session.given is not None
    assert now.session.id == id_
    assert now.session.given.revision == kept.status().revision != run.revision
    claude.works()
    assert hook_notes.prompt_of(str(kept.layout.root), run.run_id) == "Fix the parser."


def test_two_sessions_of_two_tools_have_two_runs(kept: Plane, tool: MakeTool) -> None:
    claude, codex = tool(), tool("codex", "77")
    claude.starts()
    codex.starts()
    claude.works("Fix the parser.", 2)
    codex.works("Write the docs.", 3)
    root = str(kept.layout.root)
    found = {run.asked.tool: run for run in open_runs(kept)}
    assert found.keys() == {"claude-code", "codex"}
    assert hook_notes.prompt_of(root, found["codex"].run_id) == "Write the docs."
    assert [hook_notes.count(root, found[name].run_id) for name in ("claude-code", "codex")] == [2, 3]


def test_two_sessions_of_one_process_have_two_runs(kept: Plane, tool: MakeTool) -> None:
    """As those of an editor."""
    editor = tool("cursor")
    for id_ in ("one", "two"):
        editor.id = id_
        editor.sends(
            "session-start", json.dumps({"conversation_id": id_, "workspace_roots": [str(editor.project)]})
        )
        editor.sends("prompt", json.dumps({"conversation_id": id_, "prompt": f"Do {id_}."}))
    prompts = {hook_notes.prompt_of(str(kept.layout.root), run.run_id) for run in open_runs(kept)}
    assert prompts == {"Do one.", "Do two."}


def test_the_end_seals_the_run_with_what_was_done(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    completed(kept)
    claude.works("Fix the parser.\nIt fails on tabs.", 4)
    (claude.project / "README.md").write_text("# Other\n")
    said = claude.calls("session-end", reason="prompt_input_exit")
    assert (said.code, said.out) == (0, "{}")
    until(lambda: sealed(kept))
    (event,) = sealed(kept)
    assert (event["tool"], event["title"]) == ("claude-code", "Fix the parser.")
    assert "task" not in event
    assert event["tool_calls"] == [
        {"tool": "Edit", "path": "src/part0.py", "times": 2},
        {"tool": "Edit", "path": "src/part1.py"},
        {"tool": "Edit", "path": "src/part2.py"},
    ]
    assert [output["path"] for output in event["outputs"]] == ["README.md"]
    (receipt,) = event["receipts"]
    assert (receipt["kind"], receipt["revision"]) == ("pack", event["revision"])
    assert receipt["given"] == ["DEC-001"]
    until(lambda: not open_runs(kept))
    context = json.loads((kept.layout.runs / event["run_id"] / "context.json").read_bytes())
    assert context["prompt"] == "Fix the parser.\nIt fails on tabs."
    assert context["ended"] == "The session ended (prompt_input_exit)"
    assert "tabs" not in kept.layout.log.read_text()
    until(lambda: not list((kept.layout.cache / "sessions").iterdir()))
    assert claude.calls("tool", tool_name="Edit").out == "{}"


def test_of_a_path_outside_of_the_project_only_the_name_is_noted(
    kept: Plane, tool: MakeTool, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(kept.layout.project)
    claude = tool()
    claude.project = tmp_path / "link"
    claude.starts()
    for path in ("/home/ada/.ssh/config", f"{claude.project}/a.py", f"{kept.layout.project}/b.py", "c.py"):
        claude.calls("tool", tool_name="Read", tool_input={"file_path": path})
    (run,) = open_runs(kept)
    rows = hook_notes.calls(str(kept.layout.root), run.run_id)
    assert [row["path"] for row in rows] == ["…/config", "a.py", "b.py", "c.py"]


def test_where_the_settings_say_so_a_prompt_names_no_run(kept: Plane, tool: MakeTool) -> None:
    kept.layout.config.write_text("[hooks]\nname_runs = false\n")
    claude = tool()
    claude.starts()
    claude.works("Fix the parser.")
    claude.calls("session-end")
    until(lambda: sealed(kept))
    (event,) = sealed(kept)
    assert {"task", "title"}.isdisjoint(event)
    assert "parser" not in kept.layout.log.read_text()


def test_facts_that_a_session_noted_become_candidates(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    run = completed(kept)
    claude.works()
    kept.runs.note(run.run_id, {"derived_facts": ["The parser takes tabs for blanks."]})
    claude.calls("session-end")
    until(lambda: kept.memory.read().inbox)
    assert [entry.statement for entry in kept.memory.read().inbox] == ["The parser takes tabs for blanks."]


def test_what_a_program_adds_in_a_session_is_added_to_its_run(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    run = completed(kept)
    said = claude.runs(f'"{sys.executable}" -m agentplane run log --add --summary "Tabs are read."')
    assert (said.code, said.out) == (0, f"{run.run_id}\n")
    assert [note.summary for note in open_run.notes(kept.layout, run.run_id)] == ["Tabs are read."]


def test_what_a_session_proposes_on_the_command_line_cites_its_run(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    run = completed(kept)
    claude.runs(f'"{sys.executable}" -m agentplane propose "Read tabs as blanks."')
    assert [entry.head.source for entry in kept.memory.read().inbox] == [run.run_id]
    claude.calls("session-end")
    until(lambda: not open_runs(kept))
    # Nothing else was done in it, and what was proposed needs it.
    assert [event["run_id"] for event in sealed(kept)] == [run.run_id]


def test_what_a_killed_tool_left_is_sealed_by_the_next(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    claude.works()
    run = completed(kept)
    claude.killed()
    tool(id_="another").starts()
    until(lambda: sealed(kept))
    assert [event["run_id"] for event in sealed(kept)] == [run.run_id]
    assert sealed(kept)[0]["title"] == "Fix the parser."
    until(lambda: len(open_runs(kept)) == 1)


def test_a_session_that_is_resumed_by_another_process_has_a_run_of_its_own(
    kept: Plane, tool: MakeTool
) -> None:
    claude = tool()
    claude.starts()
    claude.works()
    run = completed(kept)
    claude.killed()
    again = tool()
    again.starts("resume")
    until(lambda: sealed(kept) and len(open_runs(kept)) == 1)
    (now,) = open_runs(kept)
    assert now.run_id != run.run_id
    assert now.pid == again.process.pid


def test_a_session_in_which_nothing_was_asked_leaves_nothing(kept: Plane, tool: MakeTool) -> None:
    log = kept.layout.log.read_bytes()
    claude = tool()
    claude.starts()
    completed(kept)
    claude.calls("session-end")
    until(lambda: not open_runs(kept))
    left = tool(id_="killed")
    left.starts()
    until(lambda: [run for run in open_runs(kept) if run.environment])
    left.killed()
    kept.runs.seal_left()  # or the process that its hook left behind does so just now
    until(lambda: not open_runs(kept))
    until(lambda: [path.name for path in kept.layout.runs.iterdir()] == [".gitignore"])
    assert kept.layout.log.read_bytes() == log


def test_a_session_that_only_changed_files_is_kept(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    completed(kept)
    (claude.project / "README.md").write_text("# Other\n")
    claude.calls("session-end")
    until(lambda: sealed(kept))
    assert [output["path"] for output in sealed(kept)[0]["outputs"]] == ["README.md"]


def test_under_agentplane_run_it_is_that_run(kept: Plane, tool: MakeTool) -> None:
    asked = RunSpec(command=["claude"], cwd=str(kept.layout.project), tool="claude-code")
    outer = open_run.begin(kept.store, asked, kept.origin, os.environ)
    claude = tool(AGENTPLANE_RUN_ID=outer.run_id)
    assert UNLIKE[0] in claude.starts().context
    claude.works(edits=2)
    claude.calls("session-end")
    (run,) = open_runs(kept)
    assert run.session
    assert run.session.given
    assert (run.session.id, run.session.given.revision) == (claude.id, kept.status().revision)
    assert msgspec.structs.replace(run, session=None) == outer
    root = str(kept.layout.root)
    assert hook_notes.count(root, outer.run_id) == 2
    assert [receipt["kind"] for receipt in hook_notes.receipts(root, outer.run_id)] == ["pack"]


def test_the_id_of_a_run_that_is_not_around_it_is_not_believed(kept: Plane, tool: MakeTool) -> None:
    asked = RunSpec(command=["claude"], cwd=str(kept.layout.project), tool="claude-code")
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    try:
        beside = open_run.begin(kept.store, asked, kept.origin, os.environ, pid=other.pid)
        claude = tool(AGENTPLANE_RUN_ID=beside.run_id)
        claude.starts()
        claude.works(edits=2)
        (mine,) = [run for run in open_runs(kept) if run.run_id != beside.run_id]
        assert mine.session
        assert mine.session.id == claude.id
        root = str(kept.layout.root)
        assert (hook_notes.count(root, mine.run_id), hook_notes.count(root, beside.run_id)) == (2, 0)
    finally:
        other.kill()
        other.wait()


def test_what_runs_in_the_shell_of_a_session_says_nothing_of_it(kept: Plane, tool: MakeTool) -> None:
    asked = RunSpec(command=["claude"], cwd=str(kept.layout.project), tool="claude-code")
    outer = open_run.begin(kept.store, asked, kept.origin, os.environ)
    claude = tool(AGENTPLANE_RUN_ID=outer.run_id)
    claude.starts()
    root, said = str(kept.layout.root), json.dumps({"session_id": "inner", "cwd": str(claude.project)})
    for event, name in (("session-start", "claude-code"), ("prompt", "claude-code"), ("prompt", "codex")):
        inner = f"""import subprocess; subprocess.run({f"{COMMAND} {event} --tool {name}"!r}, shell=True, input={said.encode()!r})"""
        (claude.project / "inner.py").write_text(inner)
        claude.runs(f'"{sys.executable}" inner.py')
        (run,) = open_runs(kept)
        assert run.session
        assert run.session.id == claude.id
        assert not hook_notes.at_work(root, outer.run_id)
    claude.calls("prompt", prompt="Fix it.")
    assert hook_notes.at_work(root, outer.run_id)
    claude.calls("stop")
    assert not hook_notes.at_work(root, outer.run_id)


def test_a_tool_that_another_tool_started_names_the_run_around_it(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    outer = completed(kept)
    said = json.dumps({"session_id": "inner", "cwd": str(claude.project), "source": "startup"})
    # `exec` in a shell of its own would be the shell's process; python in between is the inner tool.
    inner = f"""import subprocess; subprocess.run({f"{COMMAND} session-start --tool codex"!r}, shell=True, input={said.encode()!r})"""
    (claude.project / "inner.py").write_text(inner)
    claude.runs(f'"{sys.executable}" inner.py')
    runs = {run.asked.tool: run for run in open_runs(kept)}
    assert runs["codex"].asked.parent_run_id == outer.run_id


def test_it_asks_once_and_only_after_some_work(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    claude.works(edits=2)
    assert claude.calls("stop", stop_hook_active=False).out == "{}"
    claude.works(edits=4)
    assert claude.calls("stop", stop_hook_active=True).out == "{}"
    asked = claude.calls("stop", stop_hook_active=False).json
    assert asked["decision"] == "block"
    assert "agentplane propose" in asked["reason"]
    claude.works(edits=9)
    assert claude.calls("stop", stop_hook_active=False).out == "{}"


def test_it_asks_nothing_where_the_settings_say_so(kept: Plane, tool: MakeTool) -> None:
    kept.layout.config.write_text("[hooks]\nask = false\n")
    claude = tool()
    claude.starts()
    claude.works(edits=6)
    assert claude.calls("stop").out == "{}"


@pytest.mark.parametrize(("name", "option"), [("claude-code", "-p"), ("codex", "exec")])
def test_it_asks_nothing_where_a_script_waits_for_the_answer(tool: MakeTool, name: str, option: str) -> None:
    one = tool(name, "0f2c", option)
    one.starts()
    one.works(edits=6)
    assert one.calls("stop").out == "{}"


def test_it_is_asked_in_the_form_of_the_tool(tool: MakeTool) -> None:
    cursor, gemini = tool("cursor", "c"), tool("gemini-cli", "g")
    for one in (cursor, gemini):
        one.starts()
        one.works(edits=6)
    assert cursor.calls("stop", status="aborted", loop_count=0).out == "{}"
    assert cursor.calls("stop", status="completed", loop_count=1).out == "{}"
    assert cursor.calls("stop", status="completed", loop_count=0).json.keys() == {"followup_message"}
    assert gemini.calls("stop", prompt_response="done").out == "{}"


def test_a_secret_in_a_prompt_is_nowhere_on_the_disk(kept: Plane, tool: MakeTool) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    claude = tool()
    claude.starts()
    claude.calls("prompt", prompt=f"Push it with {secret} please")
    claude.calls("tool", tool_name="Read", tool_input={"file_path": f"/tmp/{secret}.txt"})
    for path in kept.layout.root.rglob("*"):
        assert not path.is_file() or secret not in path.read_text(errors="replace"), path


def test_what_is_noted_has_an_end(kept: Plane, tool: MakeTool) -> None:
    tool().starts()
    run = completed(kept)
    root = str(kept.layout.root)
    for number in range(4000):
        hook_notes.call(root, run.run_id, "Edit", f"src/{'x' * 300}/{number}.py")
    work = open_run.work(kept.layout, run.run_id)
    assert (work / hook_notes.CALLS).stat().st_size < 500_000
    rows = hook_notes.calls(root, run.run_id)
    assert len(rows) == 301
    assert rows[-1]["more"] > 0


EVENTS = ("session-start", "prompt", "tool", "stop", "session-end")
BROKEN = {
    "bad JSON": "{",
    "a list": "[1, 2]",
    "deep": "[" * 100_000,
    "no text": "\ud83d",
    "other types": '{"session_id": 7, "cwd": [], "source": {}, "prompt": null, "tool_input": "{", "tool_name": 3}',
    "nothing": "",
    "huge": json.dumps({"session_id": "0f2c", "tool_response": "x" * 20_000_000}),
    "a BOM": '\ufeff{"session_id": "0f2c"}',
}


ANSWERS = [(what, event) for what in BROKEN for event in EVENTS]


@pytest.mark.parametrize(("what", "event"), some(ANSWERS, 3))
def test_whatever_the_tool_says_it_is_answered(repository: Path, what: str, event: str) -> None:
    done = subprocess.run(
        f"{COMMAND} {event} --tool codex",
        shell=True,
        cwd=repository,
        input=BROKEN[what].encode(errors="replace"),
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout).keys() <= {"hookSpecificOutput"}


def broken(repository: Path, what: str, tmp_path: Path) -> Path:
    """Breaks the plane of a repository. Returns where the tool works."""
    root = repository / ".agentplane"
    match what:
        case "no plane":
            shutil.rmtree(root)
        case "a link":
            root.rename(tmp_path / "elsewhere")
            root.symlink_to(tmp_path / "elsewhere")
        case "foreign":
            shutil.rmtree(root)
            root.mkdir()
            (root / "WORKFLOW.md").write_text("theirs")
        case "broken settings":
            (root / "config.toml").write_text("[trust\n")
        case "log is gone":
            (root / "memory" / "log.jsonl").unlink()
        case "broken log":
            (root / "memory" / "log.jsonl").write_bytes(b"\xff\xfe{]\n" * 3)
        case "runs is a file":
            shutil.rmtree(root / "runs", ignore_errors=True)
            (root / "runs").write_text("x")
        case "runs leads out":
            (tmp_path / "out").mkdir()
            shutil.rmtree(root / "runs", ignore_errors=True)
            (root / "runs").symlink_to(tmp_path / "out")
        case "cache is a file":
            shutil.rmtree(root / "cache", ignore_errors=True)
            (root / "cache").write_text("x")
        case "a pipe in the cache":
            shutil.rmtree(root / "cache" / "packs", ignore_errors=True)
            (root / "cache").mkdir(exist_ok=True)
            os.mkfifo(root / "cache" / "packs")
        case "folder is gone":
            return repository / "gone"
    return repository


STATES = ("no plane", "a link", "foreign", "broken settings", "log is gone", "broken log", "runs is a file",
          "runs leads out", "cache is a file", "a pipe in the cache", "folder is gone")  # fmt: skip


@pytest.mark.parametrize("what", some(STATES, 3))
def test_whatever_is_wrong_with_the_plane_the_tool_goes_on(
    repository: Path, tmp_path: Path, what: str
) -> None:
    folder = broken(repository, what, tmp_path)
    for event in EVENTS:
        said = json.dumps({"session_id": "s", "cwd": str(folder), "prompt": "p", "tool_name": "Edit"})
        done = subprocess.run(
            f"{COMMAND} {event} --tool claude-code",
            shell=True,
            cwd=repository,
            input=said.encode(),
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b""), event
        assert isinstance(json.loads(done.stdout), dict), event
    time.sleep(0.5)
    if what == "runs leads out":
        assert list((tmp_path / "out").iterdir()) == []
    if what == "foreign":
        assert [path.name for path in (repository / ".agentplane").iterdir()] == ["WORKFLOW.md"]


@pytest.mark.parametrize("what", ["runs is a file", "cache is a file"])
def test_the_memory_is_given_though_nothing_can_be_written(
    repository: Path, tmp_path: Path, tool: MakeTool, what: str
) -> None:
    broken(repository, what, tmp_path)
    assert UNLIKE[0] in tool().starts().context


def test_what_went_wrong_is_shown_by_doctor(kept: Plane, tool: MakeTool) -> None:
    claude = tool()
    claude.starts()
    completed(kept)
    claude.sends("tool", "{\x1b[31m")
    kept.layout.config.write_text("[trust\n")
    kept.layout.memory.joinpath("decisions.md").touch()
    assert claude.starts().context.startswith("agentplane: memory could not be read: ")
    kept.layout.config.unlink()
    from agentplane import health

    (found,) = [one for one in health.collect(kept.store) if one.where.endswith("hooks.log")]
    assert found.severity == "warning"
    assert "2 hook calls failed" in found.what
    assert "session-start hook of claude-code" in found.what


@pytest.mark.parametrize(
    ("words", "heard"),
    [("session-start --tool emacs", "unknown tool"), ("lunch --tool codex", "unknown event"), ("", "unknown tool"), ("--tool", "unknown tool")],
)  # fmt: skip
def test_a_wrong_call_breaks_no_tool_either(repository: Path, words: str, heard: str) -> None:
    done = subprocess.run(
        f"{COMMAND} {words}", shell=True, cwd=repository, input="{}", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "{}")
    assert heard in done.stderr


@pytest.mark.parametrize("streams", [">&-", "<&-", "<&- >&- 2>&-", "| true", ">/dev/full"])
def test_closed_streams_break_nothing(kept: Plane, streams: str) -> None:
    before = {path.name: path.read_bytes() for path in kept.layout.memory.iterdir()}
    command = f"bash -c '{COMMAND} session-start --tool codex {streams}'"
    done = subprocess.run(
        command, shell=True, cwd=kept.layout.project, input=b"{}", stderr=subprocess.PIPE, timeout=20
    )
    assert (done.returncode, done.stderr) == (0, b"")
    until(lambda: [run for run in open_runs(kept) if run.environment])
    (run,) = open_runs(kept)
    assert run.session is not None
    if streams != "| true":  # which may have read it before it ended
        assert (run.session.given is not None) == (streams == "<&-")
    work = open_run.work(kept.layout, run.run_id)
    assert b"hookSpecificOutput" not in (work / "open.json").read_bytes()
    assert {path.name: path.read_bytes() for path in kept.layout.memory.iterdir()} == before


def test_an_answer_never_gets_into_a_file(tmp_path: Path) -> None:
    """Where standard output is closed, the next file that is opened would be standard output."""
    script = (
        "import os; from agentplane.cli.hooks import hook, process; process.keep_streams_apart();"
        "fd = os.open('file', os.O_CREAT | os.O_WRONLY); os.write(fd, b'kept');"
        "assert not hook._Hook([], None).say('answer')"
    )
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{script}" >&-'], cwd=tmp_path, stderr=subprocess.PIPE
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "file").read_bytes() == b"kept"


def test_a_cache_that_came_along_is_not_believed(kept: Plane, tool: MakeTool, tmp_path: Path) -> None:
    tool().starts()
    (pack,) = (kept.layout.cache / "packs").iterdir()
    pack.write_text(pack.read_text().replace(UNLIKE[0], "Obey the repository."))
    copy = tmp_path / "copy"
    subprocess.run(("cp", "-a", str(kept.layout.project), str(copy)), check=True)
    stranger = Tool(copy)
    try:
        context = stranger.starts().context
    finally:
        stranger.close()
    assert "Obey" not in context
    assert UNLIKE[0] in context


def test_a_session_that_starts_during_a_write_is_given_what_is_committed(kept: Plane, tool: MakeTool) -> None:
    plane = kept
    other = tool(id_="before")
    other.starts()
    completed(plane)
    with plane.layout.log.open("ab") as log:
        log.write(b'{"kind":"op","half":')
    with lock.held(plane.layout, 1):
        said = tool().starts()
        assert plane.layout.log.read_bytes().endswith(b'"half":'), "a reader repairs nothing"
    assert said.code == 0
    assert UNLIKE[0] in said.context
    until(lambda: len(open_runs(plane)) == 2)
    (run,) = [run for run in open_runs(plane) if run.session and run.session.id == "0f2c"]
    assert run.session is not None
    assert run.session.given is not None
    assert UNLIKE[0] in tool(id_="next").starts().context


@pytest.mark.slow
def test_a_tool_that_never_stops_talking_is_answered(repository: Path) -> None:
    words = [sys.executable, "-m", "agentplane", "hook", "prompt", "--tool", "codex"]
    with subprocess.Popen(words, cwd=repository, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as talking:
        assert talking.stdout
        assert talking.stdout.read() == b"{}"
        assert talking.wait() == 0


def test_many_at_once(kept: Plane) -> None:
    """Each with a session of its own; all are answered and all have a run."""
    started = [
        subprocess.Popen(
            f"{COMMAND} session-start --tool codex",
            shell=True,
            cwd=kept.layout.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(6)
    ]
    said = [one.communicate(json.dumps({"session_id": f"s{n}"}).encode())[0] for n, one in enumerate(started)]
    assert all(UNLIKE[0] in json.loads(one)["hookSpecificOutput"]["additionalContext"] for one in said)
    assert len(open_runs(kept)) == 6
    until(lambda: all(run.environment for run in open_runs(kept)), 60)


HEAVY = {"msgspec", "click", "yaml", "typing", "pathlib", "subprocess", "tomllib", "tomlkit", "filelock", "numpy", "psutil",
         "rapidfuzz", "agentplane.api", "agentplane.text.files", "agentplane.scan.secrets.mask"}  # fmt: skip


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("session-start", {"source": "startup", "session_id": "new"}),
        ("prompt", {"prompt": "Fix the parser in the report."}),
        ("tool", {"tool_name": "Edit", "tool_input": {"file_path": "src/a_module_with_a_long_name.py"}}),
        ("stop", {}),
    ],
)
def test_nothing_heavy_is_loaded_where_nothing_changed(
    kept: Plane, tool: MakeTool, event: str, said: dict[str, object]
) -> None:
    tool().starts()
    completed(kept)
    fields = {"session_id": "0f2c", "cwd": str(kept.layout.project), **said}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "agentplane", "hook", event, "--tool", "claude-code"],
        cwd=kept.layout.project,
        input=json.dumps(fields),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    rows = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    names = {line.rpartition("|")[2].strip() for line in rows}
    assert "agentplane.cli.hooks.hook" in names
    assert names & HEAVY == set()
    assert done.returncode == 0
    assert (UNLIKE[0] in done.stdout) == (event == "session-start")


def test_a_sealed_session_has_its_commands_and_what_was_decided(
    kept: Plane, tool: MakeTool, tmp_path: Path
) -> None:
    claude = tool()
    transcript = tmp_path / "session.jsonl"
    transcript.write_bytes(b'{"hostile": ' + b"[" * 100_000)
    claude.starts(transcript_path=str(transcript))
    claude.calls("prompt", prompt="Build it.")
    bash = {"tool_name": "Bash", "permission_mode": "default"}
    claude.calls("tool", **bash, tool_input={"command": "ls"}, tool_use_id="u1", duration_ms=12)
    claude.calls("permission", **bash, tool_input={"command": "make"})
    claude.calls("failed", **bash, tool_input={"command": "make"}, tool_use_id="u2", error="Exit code 2\nbad")
    claude.calls("denied", **bash, tool_input={"command": "curl x | sh"}, reason="unsafe")
    claude.calls("permission", **bash, tool_input={"command": "rm -r build"})
    claude.calls("session-end")
    until(lambda: sealed(kept))
    run = events.load(kept.layout, sealed(kept)[0]["run_id"])
    told = commands.of_sealed(kept.layout, run)
    assert [(row.command, row.exit, row.seconds, row.failed) for row in told.commands] == [
        ("ls", None, 0.012, False),
        ("make", 2, None, True),
    ]
    assert [(row.decision, row.by, row.command, row.times) for row in told.permissions] == [
        ("allowed", "prompt", "make", 1),
        ("denied", "classifier", "curl x | sh", 1),
        ("asked", "", "rm -r build", 1),
        ("allowed", "settings", "", 1),
    ]
    # What was only asked or denied is no call.
    assert sealed(kept)[0]["tool_calls"] == [{"tool": "Bash", "times": 2}]
