"""A megabyte of brackets in every file of a plane, for every command: words for a person, and never a traceback."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentplane.cli import app
from tests.conftest import decision, plane_in


DEEP = b"[" * 500_000 + b"]" * 500_000
OBJECTS = b'{"a":' * 150_000 + b"1" + b"}" * 150_000
HASH = b"0" * 64

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("status",), ("status", "--json"), ("badge", "--json"), ("inbox",), ("list",), ("show", "DEC-001"), ("history", "DEC-001"),
    ("history",), ("search", "textual"), ("context", "--print"), ("timeline",), ("run", "artifacts"), ("diff",), ("run", "log", "--summary", "x"),
    ("doctor",), ("doctor", "--fix"), ("reconcile",), ("check", "HEAD"), ("tools",), ("sync",), ("import", "--dry-run"), ("restart",),
    ("propose", "--type", "decision", "Something new."), ("approve", "CAND"), ("undo",), ("redo",), ("run", "--", "true"),
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose plane has all files that a plane can have, committed."""
    folder = tmp_path_factory.mktemp("whole") / "project"
    folder.mkdir()
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@b.test")
    subprocess.run((*git, "init", "-q", "-b", "main"), cwd=folder, check=True)
    made = plane_in(folder)
    made.inbox.approve([made.propose(decision("Use Textual."))])
    made.propose(decision("Webhooks carry a signature."))
    made.inbox.badge()
    made.status()
    run_id = made.write_log({"tool": "codex", "summary": "Did it."})
    assert run_id
    for words in (("add", "-A"), ("commit", "-q", "-m", "x")):
        subprocess.run((*git, *words), cwd=folder, check=True)
    return folder


FILES = (
    "config.toml", "memory/decisions.md", "memory/candidates.md", "memory/log.jsonl", "memory/state.json", "memory/artifacts.json",
    "ops/*.jsonl", "context/active.json", "context/receipts.json", "context/receipt.json",
    "runs/20260101T000000Z-aaaaaa/meta.json", "runs/20260101T000000Z-aaaaaa/events.jsonl", "runs/20260101T000000Z-aaaaaa/context.json",
    "runs/20260101T000000Z-aaaaaa/work/open.json", "runs/20260101T000000Z-aaaaaa/work/events.jsonl",
    "cache/ledger.mp", "cache/contested", "cache/badge", "cache/glimpse", "cache/suppressed.jsonl", "cache/pages/decisions.mp", "cache/tombstones.mp",
)  # fmt: skip

FORMS = {
    "alone": lambda old: DEEP + b"\n",
    "objects": lambda old: OBJECTS + b"\n",
    "behind": lambda old: old + DEEP + b"\n",
    "as an op": lambda old: (
        old + b'{"kind":"op","x":%b,"hash_prev":"%b","hash_self":"%b"}\n' % (DEEP, HASH, HASH)
    ),
    "as a run": lambda old: (
        old + b'{"kind":"run","outputs":[{"x":%b}],"hash_prev":"%b","hash_self":"%b"}\n' % (DEEP, HASH, HASH)
    ),
    "as a record": lambda old: old + b'{"record":{"op":"x","y":' + DEEP + b'},"texts":{"a":' + DEEP + b"}}\n",
    "packed": lambda old: b"\x91" * 1_000_000 + b"\xc0",
}
QUICK = {("ops/*.jsonl", "alone"), ("memory/log.jsonl", "as an op"), ("ops/*.jsonl", "as a record")}


def cases() -> Iterator[object]:
    for file in FILES:
        for form in FORMS:
            marks = () if (file, form) in QUICK else (pytest.mark.full,)
            yield pytest.param(file, form, marks=marks, id=f"{file}-{form}")


@pytest.mark.parametrize(("file", "form"), list(cases()))
def test_brackets_in_a_file(
    whole: Path, tmp_path: Path, file: str, form: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    folder = tmp_path / "project"
    shutil.copytree(whole, folder)
    root = folder / ".agentplane"
    path = next(root.glob(file), root / file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(FORMS[form](path.read_bytes() if path.exists() else b""))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    for words in COMMANDS:
        code = app.run(list(words))
        assert isinstance(code, int), words
        told = capfd.readouterr()
        assert "Traceback" not in told.err, words
        assert len(told.err) < 100_000, words
        if "--json" in words and code == 0:
            json.loads(told.out)


SOURCES = (
    "AGENTS.md", "CLAUDE.md", ".cursorrules", ".cursor/rules/x.mdc", "docs/adr/0001-x.md", "home/.codex/memories/MEMORY.md",
    "home/.gemini/GEMINI.md", "home/.claude/projects/SLUG/memory/MEMORY.md", "home/.claude/projects/SLUG/memory/topic.md",
    "home/.claude/projects/SLUG/x.jsonl",
)  # fmt: skip
TINY = [
    b"", b"a", b"-", b"#", b"*", b"\n", b" ", b"\0", b"\xff", b"---", b"---\n", b"---\n---", b"---\n---\n", b"---\na\n---\nb", b"---\n- a\n---\n", b"---\nx: [\n---\n",
    b"---\n{}\n---\n# x", b"# Task Group:", b"# Task Group:\n", b"# Task Group: x\napplies_to:\n", b"# Task Group: x\napplies_to: cwd=\n", b"## Gemini Added Memories", b"## Gemini Added Memories\n",
    b"\xef\xbb\xbf", b"\xef\xbb\xbf---\n", b"\r", b"\r\n---\r\n", b"```", b"| a |", b"- [x](y)", b"<!--", b"@x", b"1.", b">", DEEP, b"- " * 50_000, b"> " * 5_000 + b"x",
    b"---\nmetadata: x\ntype: [a]\n---\nUse A.", b"---\nstatus: {a: b}\ntitle: [x]\n---\n# \n", b'{"cwd":"\\ud800"}\n', b'{"cwd":"/"}\n', b'{"cwd":' + DEEP,
    b"---\nglobs: {a: 1}\npaths: 5\napplyTo: null\n---\n- Always use A for B.\n",
]  # fmt: skip


@pytest.mark.parametrize("place", SOURCES)
def test_odd_files_of_other_tools(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from agentplane.agents.claude_code import slug

    folder = tmp_path / "project"
    folder.mkdir()
    plane_in(folder)
    home = folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(folder)
    path = folder / place.replace("SLUG", slug(os.path.realpath(folder)))
    path.parent.mkdir(parents=True, exist_ok=True)
    (folder / place.partition("SLUG")[0].rstrip("/")).mkdir(
        parents=True, exist_ok=True
    ) if "SLUG" in place else None
    if "SLUG" in place:
        (path.parent / "memory").mkdir(exist_ok=True)
    for data in TINY:
        path.write_bytes(data)
        assert app.run(["import", "--dry-run"]) == 0, data[:40]
    assert "Traceback" not in capfd.readouterr().err
