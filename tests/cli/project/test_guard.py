"""check: what it prints, its exit codes, and what it says where it cannot compare."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.cli.annotations import annotation
from agentplane.findings import Finding, Instruction
from agentplane.tools.memory_file import block
from tests.cli.conftest import Cli, candidate
from tests.conftest import clean_environment, decision
from tests.guard.branches import LOG, MEMORY, Repo, append_event, append_op, forged, made, swap, write_entry


@pytest.fixture
def repo(project: Path) -> Repo:
    project.rmdir()
    return made(project)


def test_a_good_branch(repo: Repo, cli: Cli) -> None:
    repo.approved("Deploys wait for the bank.")
    ran = cli("check", "--base", "main")
    assert (ran.code, ran.out) == (0, "")
    assert "No problems found" in ran.err
    data = cli("check", "--base", "main", "--json").json("check")
    assert data["findings"] == []
    assert data["base"] == repo.git("rev-parse", "main").strip()


def test_a_bad_branch(repo: Repo, cli: Cli) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    where = repo.entry_at("decisions.md", "DEC-009")
    ran = cli("check", "--base", "main")
    assert ran.code == 1
    first, second = ran.out.splitlines()
    assert first == f"x {where}: DEC-009 was added manually: no operation in the log added it"
    assert "agentplane approve DEC-009" in second
    (row,) = cli("check", "--base", "main", "--json").json("check")["findings"]
    assert row.keys() >= {"severity", "where", "what", "remedy"}
    assert (row["severity"], row["where"]) == ("error", where)
    assert cli("check", "--base", "main", "--json").code == 1


def test_weaker_settings_are_a_warning_and_fail(repo: Repo, cli: Cli) -> None:
    (repo.layout.root / "config.toml").write_text("[trust]\ntools_may_approve = true\n")
    ran = cli("check", "--base", "main")
    assert (ran.code, ran.out[:36]) == (1, "! .agentplane/config.toml:2: `trust.")


def test_an_entry_of_the_base_in_other_words_is_told_and_passes(repo: Repo, cli: Cli) -> None:
    plane = repo.plane()
    entry = plane.memory.read().get("DEC-001")
    text = plane.memory.read().snapshot.core(entry.file, entry.id) or b""
    plane.memory.edit("DEC-001", text.replace(b"Use Textual", b"Use Rich"), entry.digest)
    ran = cli("check", "--base", "main")
    assert ran.code == 0
    assert "DEC-001 was rewritten by Ada (edit through terminal)" in ran.out
    assert ran.out[:2] == "- "
    assert "No problems found" in ran.err


def test_files_of_tools_are_looked_at(repo: Repo, cli: Cli) -> None:
    content = "# Project memory, revision 0\n\n- DEC-001: Skip the tests.\n"
    repo.path("AGENTS.md").write_bytes(block.put(None, content, "0"))
    repo.commit()
    ran = cli("check", "--base", "main")
    assert ran.code == 1
    assert "x AGENTS.md:4: this line of DEC-001 has text that nobody approved on this branch" in ran.out


def test_a_move_is_told_and_passes(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo.folder / "sub").mkdir()
    repo.layout.root.rename(repo.folder / "sub" / ".agentplane")
    monkeypatch.chdir(repo.folder / "sub")
    ran = cli("check", "--base", "main")
    assert (ran.code, ran.out[:17]) == (0, "- sub/.agentplane")


def test_the_plane_that_is_named_is_checked(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    monkeypatch.chdir("/")
    assert cli("--plane", str(repo.layout.root), "check", "--base", "main").code == 1


def test_it_wants_a_base(repo: Repo, cli: Cli) -> None:
    cli("check").refused(2, "--base")


@pytest.mark.parametrize(
    "rev", ["nowhere", "", "--all", "-", "main:README.md", "a" * 40, "\x1b[31m", "main\nmain"]
)
def test_a_base_that_is_none(repo: Repo, cli: Cli, rev: str) -> None:
    said = cli("check", f"--base={rev}").refused(2, "Commit not found: `", "Check the name")
    assert "\x1b" not in said


def test_a_base_that_shares_no_history(repo: Repo, cli: Cli) -> None:
    repo.git("checkout", "-q", "--orphan", "island")
    repo.commit("alone")
    cli("check", "--base", "main").refused(2, "no commit in common with `main`")


def test_without_git(plane: Plane, cli: Cli) -> None:
    cli("check", "--base", "main").refused(2, "isn't in a Git repository")


def test_without_a_git_command(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    cli("check", "--base", "main").refused(2, "isn't in a Git repository")


def test_without_a_plane(git_project: Path, cli: Cli) -> None:
    cli("check", "--base", "main").refused(2, "No .agentplane directory found")


@pytest.fixture
def shallow(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone as CI makes it: one commit of the branch, and no history."""
    repo.approved("Deploys wait for the bank.")
    repo.commit()
    repo.commit()
    repo.git("clone", "-q", "--depth", "1", "-b", "work", f"file://{repo.folder}", str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")
    return tmp_path / "shallow"


def test_a_shallow_clone_without_the_base(repo: Repo, cli: Cli, shallow: Path) -> None:
    base = repo.git("rev-parse", "main").strip()
    for rev in (base, "origin/main"):
        cli("check", "--base", rev).refused(
            2, "Commit not found: `", "fetch-depth: 0", "git fetch --unshallow"
        )


def test_a_shallow_clone_with_the_base_but_not_what_is_between(repo: Repo, cli: Cli, shallow: Path) -> None:
    clone = Repo(shallow)
    clone.git("fetch", "-q", "--depth", "1", "origin", "main:main")
    cli("check", "--base", "main").refused(2, "no commit in common", "fetch-depth: 0")
    clone.git("fetch", "-q", "--unshallow", "origin")
    assert cli("check", "--base", "main").code == 0


def test_a_clone_without_the_files_of_the_base(repo: Repo, cli: Cli) -> None:
    """A commit whose files git cannot read is never taken for one that had no plane."""
    repo.approved("Deploys wait for the bank.")
    repo.commit()
    blob = repo.git("rev-parse", f"main:{LOG}").strip()
    (repo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    cli("check", "--base", "main").refused(2, "Git can't read .agentplane/memory/log.jsonl", "Fetch")
    tree = repo.git("rev-parse", "main:.agentplane").strip()
    (repo.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    cli("check", "--base", "main").refused(2, "Git can't read .agentplane/ at")


def test_inside_a_git_hook(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git tells its hooks where it works, and that may be another repository."""
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert cli("check", "--base", "main").code == 0


def test_annotations_for_github(repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    line = repo.entry_at("decisions.md", "DEC-009").rpartition(":")[2]
    assert "::error" not in cli("check", "--base", "main").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repo.folder))
    ran = cli("check", "--base", "main", "--json")
    assert ran.code == 1
    assert len(ran.json("check")["findings"]) == 1
    assert ran.err.startswith(f"::error file={MEMORY}/decisions.md,line={line}::DEC-009 was added manually: ")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(repo.folder.parent))
    assert f"::error file=project/{MEMORY}/decisions.md," in cli("check", "--base", "main").err


@pytest.mark.parametrize(
    ("finding", "command"),
    [
        (
            Finding("odd", "error", "a.md:7", "what", (Instruction("do."),)),
            "::error file=a.md,line=7::what. do.",
        ),
        (
            Finding("odd", "warning", "a.md", "what", (Instruction("do."),)),
            "::warning file=a.md,line=1::what. do.",
        ),
        (
            Finding("odd", "info", "b,c:d.md:1", "50%\r\nof it", (Instruction("do."),)),
            "::notice file=b%2Cc%3Ad.md,line=1::50%25%0D%0Aof it. do.",
        ),
    ],
)
def test_an_annotation_is_escaped(finding: Finding, command: str) -> None:
    assert annotation(finding) == command


HOSTILE = "\\e]0;owned\\a\\e[2J\\u202e ::error file=x::y ##[add-mask]z `rm -rf ~` \\n::set-env name=A::b"


def test_ids_of_a_hostile_branch_are_made_harmless(
    repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a terminal nor the log of a CI run is steered by what a branch writes."""
    with (repo.layout.memory / "decisions.md").open("a") as page:
        for quoted in (HOSTILE, "##[error]x", "::error::x", "A" * 5000, "\\n::error::x"):
            page.write(f'\n---\nid: "{quoted}"\ntype: decision\nstatus: accepted\n---\nDecision: x\n')
    (repo.layout.memory / "##[group]\n::error::x\x1b[31m.md").write_text(
        "---\nid: DEC-099\ntype: [\n---\nx\n"
    )
    (repo.layout.memory / "x\udcff.md").write_text("---\nid: DEC-098\ntype: [\n---\nx\n")
    record, texts = forged(repo, "memory/decisions.md", "##[error]x", channel="##[x]\x1b[2J\n::y")
    append_op(repo, record, texts)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    ran = cli("check", "--base", "main")
    assert ran.code == 1
    for line in (*ran.out.split("\n"), *ran.err.split("\n")):
        assert "##[" not in line
        assert not any(ord(char) < 32 or char == "\u202e" for char in line), line
        assert "::" not in line.lstrip()[:2] or line.startswith("::error file=")
        assert len(line) < 1200
    assert "rm -rf" not in "".join(line for line in ran.out.split("\n") if line.startswith("    "))
    assert len(cli("check", "--base", "main", "--json").json("check")["findings"]) >= 7


def huge(repo: Repo) -> None:
    path = repo.layout.memory / "decisions.md"
    with path.open("r+b") as file:
        file.truncate(3 << 30)


def binary(repo: Repo) -> None:
    for path in (*repo.layout.memory.iterdir(), *repo.layout.ops.iterdir(), repo.layout.config):
        path.write_bytes(bytes(range(256)) * 50)


def emptied(repo: Repo) -> None:
    for path in (*repo.layout.memory.iterdir(), *repo.layout.ops.iterdir(), repo.layout.config):
        path.write_bytes(b"")


def nested(repo: Repo) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    (repo.layout.memory / "decisions.md").write_text(f"---\nid: DEC-001\ntags: {deep}\n---\nx\n")
    for path in (repo.layout.log, repo.op_file()):
        with path.open("a") as file:
            file.write(f'{{"kind":"op","record":{{"op":{deep}}},"texts":{{"a":{deep}}}}}\n')
            file.write(f'{{"record":{{"op":"x"}},"texts":{{"a":{deep}}}}}\n')
    repo.layout.state.write_text(deep)
    repo.layout.config.write_text(f"a = {deep}\n")


def odd_json(repo: Repo) -> None:
    append_event(repo, {"kind": "op", "op": ["x"], "ids": 7})
    append_event(repo, {"kind": "run", "run_id": {"a": 1}, "outputs": [{"path": 1}]})
    for number, value in enumerate(
        ("null", "[]", "7", '"x"', '{"record":1,"texts":{}}', '{"kind":"op","op":7}')
    ):
        with repo.layout.log.open("a") as log:
            log.write(value + "\n")
        with repo.op_file().open("a") as file:
            file.write(f'{{"record":{value},"texts":{{"{number}":{{"base64":7}}}}}}\n')


def odd_texts(repo: Repo) -> None:
    write_entry(repo, "decisions.md", "DEC-009")
    record, texts = forged(repo, "memory/decisions.md", "DEC-009")
    odd = {"base64": 7}, {"base64": "!"}, 7, [], {"x": 1}
    append_op(repo, record, {**texts, **{str(n): value for n, value in enumerate(odd)}})


def many_lines(repo: Repo) -> None:
    (repo.layout.memory / "decisions.md").write_text("---\nid: [\n---\n" * 20_000)


def pipes(repo: Repo) -> None:
    import os

    (repo.layout.memory / "facts.md").unlink()
    os.mkfifo(repo.layout.memory / "facts.md")
    repo.op_file().unlink()
    (repo.layout.ops / "2026-01.jsonl").mkdir()


@pytest.mark.parametrize(
    "spoil",
    [huge, binary, emptied, nested, odd_json, odd_texts, many_lines, pipes],
    ids=lambda spoil: spoil.__name__,
)
def test_files_of_a_hostile_branch_are_refused_and_break_nothing(
    repo: Repo, cli: Cli, spoil: Callable[[Repo], None]
) -> None:
    spoil(repo)
    ran = cli("check", "--base", "main")
    assert ran.code == 1, ran
    assert "Traceback" not in ran.err
    assert len(ran.out) < 60_000


def test_a_decision_with_something_piped_in_is_made_in_a_terminal(
    repo: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with xargs: standard input is no terminal, and yet a person sits there."""
    id_ = candidate(cli, "Deploys wait for the bank.")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli("approve", id_).code == 0
    assert repo.plane().history.ops(1)[0].channel == "terminal"
    assert cli("check", "--base", "main").code == 0


def test_from_the_command_line(repo: Repo) -> None:
    """As CI runs it: a process of its own."""
    swap(repo, f"{MEMORY}/decisions.md", "Use Textual", "Use Rich")
    repo.commit()
    done = subprocess.run(
        (sys.executable, "-m", "agentplane", "check", "--base", "main", "--json"),
        cwd=repo.folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (1, "")
    (row,) = json.loads(done.stdout)["findings"]
    assert row["where"] == repo.entry_at("decisions.md", "DEC-001")


def test_through_the_api(repo: Repo) -> None:
    repo.plane().propose(decision("Deploys wait for the bank."))
    assert repo.plane().check("main").passes
