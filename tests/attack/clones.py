"""Hostile clones, and the ground that they are tried on: a home, neighbouring folders, and a program that must never run."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil

from agentplane.text.log import chain
from tests.conftest import ROOT


RUN = "20260101T000000Z-evil01"
OTHER = "20260101T000000Z-evil02"
ZEROS = "0" * 40
RAN = "CANARY"
_SECONDS = 60.0


class Ground:
    """A folder with the clone in `project`, and around it what no clone may touch."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.folder = folder
        self.home, self.neighbour = folder / "home", folder / "neighbour"
        self.project, self.scratch, self.ran = folder / "project", folder / "scratch", folder / RAN
        for path in (
            self.home / ".bashrc.d",
            self.neighbour / "sessions",
            self.neighbour / "packs",
            self.scratch,
        ):
            path.mkdir(parents=True)
        for path in (self.home / ".bashrc", self.neighbour / "notes.txt", self.neighbour / "sessions/a"):
            path.write_text("mine\n")
        for number in range(50):
            (self.neighbour / "packs" / str(number)).write_text("mine\n")
        self.program = folder / "program"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{self.ran}'\nexit 0\n")
        self.program.chmod(0o755)
        shutil.copytree(template, self.project, symlinks=True)
        self.here = self.project
        """Where the reader of the clone works."""
        self._mark = uuid.uuid4().hex

    @property
    def plane(self) -> Path:
        return self.here / ".agentplane"

    def git(self, *words: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ("git", *words), cwd=cwd or self.project, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def open_run(self, run_id: str, before: dict[str, object], **more: object) -> None:
        """An open run as this program wrote them before they were marked, whose process is gone."""
        asked = {
            "command": ["claude", "--dangerously-skip-permissions"],
            "cwd": str(self.here),
            "tool": "claude-code",
        }
        marker = {"run_id": run_id, "started": "2026-01-01T00:00:00.000Z", "pid": 4_000_000, "born": 1.0, "asked": asked,
                  "actor": "x", "revision": "", "environment": {}, "before": before} | more  # fmt: skip
        work = self.plane / "runs" / run_id / "work"
        work.mkdir(parents=True)
        (work / "open.json").write_text(json.dumps(marker))
        (work / "stdout.start").write_text("said\n")

    def environment(self) -> dict[str, str]:
        dropped = ("XDG_", "HOME", "LOGNAME")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        return kept | {
            "HOME": str(self.home),
            "LOGNAME": "reader",
            "XDG_STATE_HOME": str(self.folder / "state"),
            "EDITOR": "true",
            "PYTHONPATH": str(ROOT),
            "ATTACK": self._mark,
        }

    def runs(
        self, *words: str, said: str = "", module: str = "agentplane"
    ) -> subprocess.CompletedProcess[str]:
        """A command of this program in the clone, and what it goes on doing by itself."""
        done = subprocess.run(
            (sys.executable, "-m", module, *words),
            cwd=self.here,
            env=self.environment(),
            input=said,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
        )
        self.wait()
        return done

    def wait(self) -> None:
        until = time.monotonic() + _SECONDS
        while any(map(self._is_ours, psutil.process_iter())):
            assert time.monotonic() < until, "something goes on"
            time.sleep(0.05)

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("ATTACK") == self._mark and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def state(self) -> dict[str, str]:
        """Everything that a clone may not touch, each file with a hash of what it holds."""
        return {
            str(path.relative_to(self.folder)): _about(path)
            for top in (self.home, self.neighbour)
            for path in sorted(top.rglob("*"))
        }


def _about(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return f"-> {os.readlink(path)}"
    held = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(mode) else ""
    return f"{mode:o} {held}"


# The clones. Each changes the project of the ground, as whoever made the repository would have.


def option_as_tree(ground: Ground) -> None:
    ground.open_run(RUN, {"head": ZEROS, "tree": f"--output={ground.home}/.bashrc"})


def option_as_head(ground: Ground) -> None:
    commit = ground.git("rev-parse", "HEAD")
    ground.open_run(RUN, {"head": f"--output={ground.home}/.bashrc.d/rc", "tree": commit})


def option_in_a_session(ground: Ground) -> None:
    """The run of a session, with a transcript that is not the tool's."""
    told = {"id": "--output=x", "transcript": f"{ground.home}/.bashrc", "source": "resume", "pid": 1}
    ground.open_run(RUN, {"head": ZEROS, "tree": f"--output={ground.home}/.bashrc"}, session=told)
    (ground.plane / "runs" / RUN / "work" / "calls.jsonl").write_text('{"tool": "Edit", "path": "x"}\n')


def a_mark_of_somebody_else(ground: Ground) -> None:
    option_as_tree(ground)
    path = ground.plane / "runs" / RUN / "work" / "open.json"
    path.write_bytes(b'{"mark":"%s","run":%s}\n' % (b"0" * 32, path.read_bytes()))


def runs_that_end_nowhere(ground: Ground) -> None:
    """A session of a tool whose process is that of whoever reads the clone, and what a marker may not be."""
    ground.open_run(RUN, {}, pid=1, ending={"code": 0, "words": "x", "full": {"../../x": [1, "y"]}})
    ground.open_run(OTHER, {})
    path = ground.plane / "runs" / OTHER / "work" / "open.json"
    path.write_bytes(b"[" * 200_000)


def _bare(folder: Path, ground: Ground) -> None:
    """Makes a folder a repository by itself, with settings that start a program at every turn."""
    ground.git("init", "--quiet", "--bare", str(folder), cwd=ground.folder)
    shutil.rmtree(folder / "hooks", ignore_errors=True)
    (folder / "hooks").mkdir()
    _hooks(folder / "hooks", ground)
    _settings(folder / "config", ground, filters=True)
    text = (folder / "config").read_text().replace("bare = true", "bare = false\n\tworktree = .")
    (folder / "config").write_text(text)


def _hooks(folder: Path, ground: Ground) -> None:
    for name in (
        "post-index-change",
        "post-checkout",
        "pre-commit",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        shutil.copy(ground.program, folder / name)


def _settings(config: Path, ground: Ground, *, filters: bool) -> None:
    program = ground.program
    parts = [
        f"[core]\n\tfsmonitor = {program}\n\tpager = {program}\n\thooksPath = {config.parent}/hooks\n",
        f"\teditor = {program}\n\tsshCommand = {program}\n\taskPass = {program}\n\tgitProxy = {program}\n",
        f'[diff]\n\texternal = {program}\n[diff "x"]\n\tcommand = {program}\n\ttextconv = {program}\n',
        f"[gpg]\n\tprogram = {program}\n[log]\n\tshowSignature = true\n[credential]\n\thelper = !{program}\n",
        f"[alias]\n\tstatus = !{program}\n\trev-parse = !{program}\n[pager]\n\tstatus = {program}\n",
        f'[merge "agentplane"]\n\tdriver = {program}\n[interactive]\n\tdiffFilter = {program}\n',
    ]
    if filters:
        parts.append(
            f'[filter "x"]\n\tclean = {program}\n\tsmudge = {program}\n\tprocess = {program}\n\trequired\n'
        )
    with config.open("a") as file:
        file.write("".join(parts))


def embedded_around_the_plane(ground: Ground) -> None:
    """A folder that is a repository without a `.git`: what a clone can carry. Its reader works in there."""
    inner = ground.project / "docs"
    _bare(inner, ground)
    shutil.copytree(ground.project / ".agentplane", inner / ".agentplane")
    (inner / ".gitattributes").write_text("* filter=x diff=x\n")
    (inner / "a.txt").write_text("a\n")
    ground.here = inner
    words = ("--git-dir=.", "--work-tree=.", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
    quiet = ("-c", "filter.x.process=", "-c", "filter.x.clean=cat", "-c", "filter.x.required=false")
    ground.git(*words, *quiet, "add", "a.txt", ".agentplane/memory", cwd=inner)
    ground.git(*words, *quiet, "commit", "-qm", "inner", cwd=inner)
    (inner / "a.txt").write_text("b\n")
    ground.ran.unlink(missing_ok=True)


def embedded_as_the_plane(ground: Ground) -> None:
    """The plane itself is a repository."""
    _bare(ground.plane, ground)


def embedded_by_another_name(ground: Ground) -> None:
    """A folder that names its objects elsewhere, which is a repository for git as well."""
    _bare(ground.project / "store", ground)
    inner = ground.project / "docs"
    inner.mkdir()
    shutil.copytree(ground.project / ".agentplane", inner / ".agentplane")
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "commondir").write_text("../store\n")
    (inner / "gitdir").write_text(f"{inner}/.git\n")
    ground.here = inner


def unpacked_archive(ground: Ground) -> None:
    """No clone, but an archive with its `.git`: what its settings start is not started by us."""
    _hooks(ground.project / ".git/hooks", ground)
    _settings(ground.project / ".git/config", ground, filters=False)
    (ground.project / ".gitattributes").write_text("* diff=x\n")
    (ground.project / "README.md").write_text("changed\n")


def git_file(ground: Ground) -> None:
    """A `.git` that names another repository, as in an archive."""
    inner = ground.project / "docs"
    _bare(ground.project / "store", ground)
    inner.mkdir()
    shutil.copytree(ground.project / ".agentplane", inner / ".agentplane")
    text = (ground.project / "store/config").read_text().replace("worktree = .", f"worktree = {ground.home}")
    text = text.replace("clean = ", "smudge = ").replace("process = ", "smudge = ")
    (ground.project / "store/config").write_text(text)
    (inner / ".git").write_text("gitdir: ../store\n")
    ground.here = inner


def _link(place: str, to: str) -> Callable[[Ground], None]:
    def make(ground: Ground) -> None:
        path = ground.plane / place
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(ground.folder / to)

    return make


def _fifo(place: str) -> Callable[[Ground], None]:
    def make(ground: Ground) -> None:
        path = ground.plane / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    return make


def log_of_lies(ground: Ground) -> None:
    """Runs in the log whose names and files lead out of the plane, or look like options."""
    log = ground.plane / "memory/log.jsonl"
    kept = [{"path": name, "sha256": "0" * 64, "size": 1} for name in ("../../../neighbour/notes.txt",
            f"{ground.neighbour}/notes.txt", "--output=x", "summary.md", "outputs/stdout")]  # fmt: skip
    names = ("../../../neighbour", str(ground.neighbour), f"--output={ground.home}/.bashrc", ".", "", RUN)
    for name in names:
        event = {"kind": "run", "ts": "2026-01-01T00:00:00.000Z", "run_id": name, "tool": "--output=x", "task": "x",
                 "command": ["--output=x"], "outputs": [{"path": "../../neighbour/notes.txt", "sha256": "0" * 64}],
                 "capsule": kept, "made_at": "0" * 12, "next_actions": ["--x"], "revision": "--output=x"}  # fmt: skip
        line = chain.link(event, chain.verify(log).heads[0])
        log.write_bytes(log.read_bytes() + line)
    folder = ground.plane / "runs" / RUN / "work"
    folder.mkdir(parents=True)
    (folder / "x").write_text("x")


def crowded_cache(ground: Ground) -> None:
    """Hints of sessions that lead anywhere, committed with force."""
    folder = ground.plane / "cache/sessions"
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(("../../../neighbour", f"--output={ground.home}/.bashrc", "\0", RUN)):
        (folder / f"claude-code-{number}").write_text(text)
    (ground.plane / "cache/edit").symlink_to(ground.neighbour)


CLONES: dict[str, Callable[[Ground], None]] = {
    "option as tree": option_as_tree,
    "option as head": option_as_head,
    "embedded around the plane": embedded_around_the_plane,
    "embedded as the plane": embedded_as_the_plane,
    "cache is a link": _link("cache", "neighbour"),
    "unpacked archive": unpacked_archive,
    "option in a session": option_in_a_session,
    "a mark of somebody else": a_mark_of_somebody_else,
    "runs that end nowhere": runs_that_end_nowhere,
    "embedded by another name": embedded_by_another_name,
    "git file": git_file,
    "hints are a link": _link("cache/sessions", "neighbour/sessions"),
    "packs are a link": _link("cache/packs", "neighbour/packs"),
    "hook log is a link": _link("cache/hooks.log", "home/.bashrc"),
    "runs are a link": _link("runs", "neighbour"),
    "a capsule is a link": _link(f"runs/{RUN}", "neighbour"),
    "a work folder is a link": _link(f"runs/{RUN}/work", "neighbour"),
    "memory is a link": _link("memory", "neighbour"),
    "ops are a link": _link("ops", "neighbour"),
    "the context is a link": _link("context", "neighbour"),
    "a context file is a link": _link("context/active.md", "home/.bashrc"),
    "the settings are a link": _link("config.toml", "home/.bashrc"),
    "the lock is a link": _link(".lock", "home/.bashrc"),
    "the settings are a pipe": _fifo("config.toml"),
    "the counts are a pipe": _fifo("cache/badge"),
    "an open run is a pipe": _fifo(f"runs/{RUN}/work/open.json"),
    "the log is a pipe": _fifo("memory/log.jsonl"),
    "log of lies": log_of_lies,
    "crowded cache": crowded_cache,
}
QUICK = tuple(CLONES)[:6]
"""Those that are tried in every run of the tests."""
