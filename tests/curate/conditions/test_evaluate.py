"""Conditions on real files: each form, and files that hide, hang or lie."""

import os
import re
from pathlib import Path

import pytest

from agentplane.curate.conditions import project_files
from agentplane.curate.conditions.project_files import ProjectFiles
from agentplane.curate.conditions.regex_search import Found, Searcher, TooSlow
from agentplane.curate.conditions.result import Fails
from tests.curate.conditions.looks import doubt, failure, holds, result, write
from tests.runs.made import git


def test_file(tmp_path: Path) -> None:
    write(tmp_path, "docs/api.md", "x")
    assert holds(tmp_path, "file: docs/api.md exists")
    assert holds(tmp_path, "file: docs exists")
    assert holds(tmp_path, "file: docs/old.md missing")
    assert failure(tmp_path, "file: docs/api.md missing") == "docs/api.md exists."
    assert failure(tmp_path, "file: docs/old.md exists") == "docs/old.md doesn't exist."


def test_text(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "one\r\nlimit = 3\r\n")
    assert holds(tmp_path, 'text: "limit = 3" in a.py')
    assert holds(tmp_path, r'text: "one\nlimit" in a.py')
    found = result(tmp_path, 'text: "limit = 4" in a.py')
    assert isinstance(found, Fails)
    assert (found.what, found.where) == ("a.py doesn't contain `limit = 4`.", "a.py")
    assert failure(tmp_path, 'text: "x" in b.py') == "b.py doesn't exist."


def test_regex(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "one\r\nlimit = 3\r\n")
    assert holds(tmp_path, r"regex: ^limit = \d$ in a.py")
    assert holds(tmp_path, r"regex: (?<=one\n)limit(?= =) in a.py")
    assert (
        failure(tmp_path, r"regex: ^limit = \d\d$ in a.py")
        == r"a.py doesn't contain a match of `^limit = \d\d$`."
    )


def test_globs(tmp_path: Path) -> None:
    write(tmp_path, "app/a.py", "")
    write(tmp_path, "app/deep/er/b.py", "limit = 3")
    write(tmp_path, "app/[id]/page.tsx", "export")
    for glob in ("**/*.py", "app/**/b.py", "app/**/er/*", "app/deep/??/b.py", "**"):
        assert holds(tmp_path, f'text: "limit" in {glob}'), glob
    for glob in ("*.py", "app/*/b.py", "app/**/c*", "app/deep/?/b.py"):
        assert not holds(tmp_path, f'text: "limit" in {glob}'), glob
    assert holds(tmp_path, 'text: "export" in app/[id]/page.tsx')
    assert holds(tmp_path, 'text: "export" in app/[id]/*.tsx')
    assert failure(tmp_path, 'text: "x" in lib/**') == "No file matches lib/**."
    assert failure(tmp_path, 'text: "z" in app/**') == "None of the 3 files that match app/** contains `z`."


def test_a_glob_leaves_out_what_git_ignores(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", "build/\n")
    write(tmp_path, "build/a.py", "limit")
    assert not holds(tmp_path, 'text: "limit" in **/*.py')
    assert holds(tmp_path, 'text: "limit" in build/a.py')


def test_a_glob_with_many_stars_doesnt_hang(tmp_path: Path) -> None:
    write(tmp_path, "a" * 200, "x")
    assert not holds(tmp_path, f'text: "x" in {"*a" * 30}*b')


def test_too_many_files_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "MOST_MATCHES", 2)
    for name in "abc":
        write(tmp_path, name, "x")
    assert "files match" in doubt(tmp_path, 'text: "y" in *')


@pytest.mark.parametrize(
    ("path", "text", "name", "defined"),
    [
        ("a.py", "class Money:\n    def add(self): ...\nLIMIT = 3\n", "Money.add", True),
        ("a.py", "class Money:\n    def add(self): ...\nLIMIT = 3\n", "LIMIT", True),
        ("a.py", "print(LIMIT)  # def LIMIT\n", "LIMIT", False),
        ("a.ts", "export class A { go(): void {} }\n", "A.go", True),
        ("a.ts", "new A().go()\n", "A", False),
        ("a.go", "package a\nfunc Go() {}\n", "Go", True),
        ("a.rs", "fn main() {}\n", "main", True),
        ("README.md", "# Install\n\ntext\n", "install", True),
        ("README.md", "# Install\n\ntext\n", "usage", False),
    ],
)
def test_symbol(tmp_path: Path, path: str, text: str, name: str, defined: bool) -> None:
    write(tmp_path, path, text)
    assert holds(tmp_path, f"symbol: {path}#{name}") == defined


def test_code_that_cant_be_parsed_proves_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "def other(:\n  )\nclass {{{\n")
    assert re.search(r"can't be parsed at line \d", doubt(tmp_path, "symbol: a.py#Money"))


def test_before(tmp_path: Path) -> None:
    assert holds(tmp_path, "before: 2026-11-21")
    assert failure(tmp_path, "before: 2026-11-20") == "Today is 2026-11-20."


# Files that hide, hang or lie


def test_no_link_leads_out_of_the_project(tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/key", "secret words")
    project = tmp_path / "project"
    project.mkdir()
    (project / "key").symlink_to(outside)
    (project / "folder").symlink_to(outside.parent)
    (project / "up").symlink_to("..")
    for path in ("key", "folder/key", "up/outside/key"):
        assert "outside the project" in doubt(project, f'text: "secret" in {path}')
        assert "outside the project" in doubt(project, f"file: {path} exists")
    assert "outside the project" in doubt(project, 'text: "secret" in *')


def test_a_link_inside_of_the_project_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "real.py", "limit")
    (tmp_path / "link.py").symlink_to("real.py")
    assert holds(tmp_path, 'text: "limit" in link.py')
    (tmp_path / "broken").symlink_to("gone")
    assert "broken link" in doubt(tmp_path, "file: broken exists")


def test_a_pipe_isnt_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "regular file" in doubt(tmp_path, 'text: "a" in pipe')
    (tmp_path / "docs").mkdir()
    assert "folder" in doubt(tmp_path, 'text: "a" in docs')


def test_invalid_bytes(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", b"\x80\x81 limit caf\xe9\n")
    assert holds(tmp_path, 'text: "limit" in a.txt')
    assert holds(tmp_path, "regex: limit in a.txt")
    write(tmp_path, "wide.txt", "limit ü".encode("utf-16"))
    assert holds(tmp_path, 'text: "limit ü" in wide.txt')


def test_binary_files(tmp_path: Path) -> None:
    write(tmp_path, "a.bin", b"\0\1limit\0")
    assert holds(tmp_path, 'text: "limit" in a.bin')
    for text in ('text: "other" in a.bin', "regex: limit in a.bin", "symbol: a.bin#limit"):
        assert "binary" in doubt(tmp_path, text)


def test_a_large_file_isnt_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(100 << 20)
    assert "larger than" in doubt(tmp_path, 'text: "a" in large')
    assert holds(tmp_path, "file: large exists")


def test_what_git_left_out_isnt_missing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py", "x")
    write(tmp_path, "docs/b.md", "x")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@b.test", "commit", "-qm", "a")
    git(tmp_path, "sparse-checkout", "set", "--no-cone", "/a.py")
    assert not (tmp_path / "docs").exists()
    assert "doesn't check it out" in doubt(tmp_path, "file: docs/b.md missing")
    write(tmp_path, ".gitmodules", '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n')
    (tmp_path / "lib").mkdir()
    assert "submodule" in doubt(tmp_path, "file: lib/a.c exists")
    write(tmp_path, "big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    assert "LFS" in doubt(tmp_path, 'text: "a" in big.bin')


CATASTROPHIC = (r"(a+)+$", r"(a|aa)+$", r"(.*a){25}$", r"(?:(?:a*)*)*b", r"^(([a-z])+.)+[A-Z]([a-z])+$")


@pytest.mark.parametrize("pattern", CATASTROPHIC)
def test_no_regular_expression_hangs(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, "a.txt", "a" * 5000 + "!\n")
    found = result(tmp_path, f"regex: {pattern} in a.txt")
    assert not isinstance(found, Fails) or pattern.endswith("b")


def test_a_search_works_after_another_one_was_ended() -> None:
    with Searcher(seconds=0.5) as searcher:
        assert searcher.search("b", "a\nb\n") == Found(2)
        assert searcher.search("(a+)+$", "a" * 5000 + "!") == TooSlow()
        assert searcher.search("b$", "a\nb\n") == Found(2)
        assert searcher.search("c", "a\nb\n") == Found(0)


def test_many_slow_searches_dont_take_long_together(tmp_path: Path) -> None:
    for number in range(60):
        write(tmp_path, f"{number}.txt", "a" * 5000 + "!\n")
    assert "takes too long" in doubt(tmp_path, "regex: (a+)+$ in *.txt")
    with Searcher(seconds=0.5) as searcher:
        assert {searcher.search("(a+)+$", "a" * 5000 + "!") for _ in range(8)} == {TooSlow()}
        assert searcher.search("b", "b") == Found(1)


def test_a_search_that_needs_too_much_memory_is_ended() -> None:
    with Searcher(seconds=20) as searcher:
        assert searcher.search(r"(?:(a)|b|c)*$", "a" * 60_000_000 + "!") == TooSlow()
        assert searcher.search("b", "a\nb\n") == Found(2)


def test_the_files_of_a_project_without_git(tmp_path: Path) -> None:
    write(tmp_path, "a/b.py", "")
    write(tmp_path, ".git/config", "")
    assert list(ProjectFiles(tmp_path).all_files) == ["a/b.py"]
