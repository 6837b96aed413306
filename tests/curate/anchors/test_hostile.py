"""Files, repositories and texts that were made to mislead, to hang or to break something. The answer is true, or
`can't tell` with the reason.
"""

import os
import time
from pathlib import Path

import pytest

from agentplane.curate.anchors import line_map
from agentplane.curate.anchors.observe import observe
from agentplane.curate.anchors.parts import Text, between, named
from agentplane.curate.anchors.reasons import REASONS
from agentplane.curate.anchors.source import digest
from agentplane.curate.anchors.states import CantTell, Changed, Gone, Moved
from agentplane.curate.anchors.tree import Absent, WorkTree
from tests.curate.anchors.repo import Repo


CODE = "def charge(amount):\n    total = amount + 2\n    return total\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    folder = tmp_path / "project"
    folder.mkdir()
    repo = Repo(folder)
    repo.write("src/pay.py", CODE)
    repo.commit("first")
    return repo


def why(state: object) -> str:
    assert isinstance(state, CantTell), state
    return state.why


# Files


def test_a_link_out_of_the_project_is_never_read(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text(CODE)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/pay.py").write_text(CODE)
    os.symlink(tmp_path / "secret.py", repo.folder / "link.py")
    os.symlink(tmp_path / "folder", repo.folder / "linked")
    for text in ("link.py", "link.py#charge", "linked/pay.py:1", "linked/pay.py"):
        (one,) = observe([text], WorkTree(repo.folder))
        assert (one.content, one.file, one.problem) == (None, None, "outside")
        assert why(repo.state(repo.observed(text))) == REASONS["outside"]


def test_a_file_that_became_a_link_out_of_the_project_is_not_followed(repo: Repo, tmp_path: Path) -> None:
    observed = repo.observed("src/pay.py#charge")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/pay.py").write_text(CODE)
    (repo.folder / "src/pay.py").unlink()
    (repo.folder / "src").rmdir()
    os.symlink(tmp_path / "src", repo.folder / "src")
    assert why(repo.state(observed)) == REASONS["outside"]


def test_a_link_inside_the_project_is_followed(repo: Repo) -> None:
    os.symlink("pay.py", repo.folder / "src/link.py")
    commit = repo.commit("link")
    observed, before = repo.observed("src/link.py#charge"), repo.approved_before(commit)
    assert repo.state(observed).kind == repo.state(before, "src/link.py#charge").kind == "unchanged"
    repo.replace("src/pay.py", "+ 2", "+ 3")
    repo.commit()
    assert repo.state(observed).kind == repo.state(before, "src/link.py#charge").kind == "changed"


@pytest.mark.parametrize("kind", ["fifo", "folder", "broken link", "unreadable"])
def test_what_is_no_file_is_not_opened(repo: Repo, kind: str) -> None:
    observed = repo.observed("src/pay.py#charge")
    path = repo.folder / "src/pay.py"
    path.unlink()
    before = time.monotonic()
    match kind:
        case "fifo":
            os.mkfifo(path)
            assert why(repo.state(observed)) == REASONS["special"]
        case "folder":
            path.mkdir()
            assert repo.state(observed).kind == "gone"
        case "broken link":
            os.symlink("nothing", path)
            assert repo.state(observed).kind == "gone"
        case _:
            os.symlink("pay.py", path)  # a loop
            assert repo.state(observed).kind in ("gone", "cant-tell")
    assert time.monotonic() - before < 30


def test_a_large_file_is_compared_by_its_bytes(repo: Repo) -> None:
    with (repo.folder / "big.bin").open("wb") as file:
        file.truncate(100 << 20)
    (repo.folder / "big.py").write_bytes(b"# x\n" * (3 << 20) + CODE.encode())
    whole, part = repo.observed("big.bin"), repo.observed("big.py#charge")
    assert repo.state(whole).kind == "unchanged"
    assert why(repo.state(part)) == REASONS["too-large"]
    with (repo.folder / "big.bin").open("r+b") as file:
        file.seek(50 << 20)
        file.write(b"x")
    assert repo.state(whole).kind == "changed"


def test_a_binary_file_is_equal_or_changed(repo: Repo) -> None:
    repo.write("logo.png", b"\x89PNG\0\1\2" * 100)
    repo.commit()
    observed = repo.observed("logo.png")
    before = repo.approved_before()
    assert repo.state(observed).kind == "unchanged"
    repo.write("logo.png", b"\x89PNG\0\1\3" * 100)
    commit = repo.commit()
    for state in (repo.state(observed), repo.state(before, "logo.png")):
        assert isinstance(state, Changed)
        assert (state.change.commit, state.change.diff) == (commit, "")
    repo.move("logo.png", "art/logo.png")
    repo.commit()
    observed = repo.observed("art/logo.png")
    repo.move("art/logo.png", "logo.png")
    repo.commit()
    assert (repo.state(observed).kind, repo.state(observed).now) == ("moved", "logo.png")


def test_a_definition_in_a_file_that_became_binary_cant_be_compared(repo: Repo) -> None:
    observed = repo.observed("src/pay.py#charge")
    repo.write("src/pay.py", b"\0" * 100)
    assert why(repo.state(observed)) == REASONS["binary"]


@pytest.mark.parametrize(
    "name", ["a b.py", "ümläut.py", "a#b.py", "-x.py", ":x.py", "a:12", "[x]*.py", "'q'.py"]
)
def test_names_of_files_are_taken_as_they_are(repo: Repo, name: str) -> None:
    path = f"odd/{name}"
    repo.write(path, CODE)
    repo.commit()
    observed, before = repo.observed(path), repo.approved_before()
    assert observed.evidence is not None
    assert observed.evidence[0].content is not None
    assert repo.state(observed).kind == "unchanged"
    repo.write(path, CODE.replace("2", "3"))
    commit = repo.commit()
    for state in (repo.state(observed), repo.state(before, path)):
        assert isinstance(state, Changed)
        assert state.change.commit == commit
    (repo.folder / path).unlink()
    commit = repo.commit()
    state = repo.state(observed)
    assert isinstance(state, Gone)
    assert state.change.commit == commit


def test_a_name_that_is_not_utf8(repo: Repo) -> None:
    path = os.fsdecode(b"caf\xe9.txt")
    (repo.folder / path).write_text("x\n")
    repo.commit()
    assert isinstance(WorkTree(repo.folder).look("gone.txt"), Absent)
    observed = repo.observed("src/pay.py")
    repo.move("src/pay.py", os.fsdecode(b"src/p\xe9.py"))
    repo.commit()
    assert repo.state(observed).kind == "moved"


# Code


@pytest.mark.parametrize(
    "code",
    [
        "(" * 5_000,
        "x = " + "[" * 900 + "]" * 900,
        "x = " + "-" * 50_000 + "1",
        "x = " + "+".join(["1"] * 20_000),
        "x = " + "a." * 20_000 + "b",
        "def f():\n" + "".join(" " * (i + 1) + "if x:\n" for i in range(99)) + " " * 100 + "pass\n",
        "x = " + "9" * 100_000,
        "x = 0x" + "f" * 100_000,
        "x = '\\d \\ud800'\ndef charge():\n    '''\\w'''\n",
        "# -*- coding: nonsense -*-\nx = 1\n",
        "\0",
        "def charge(:\n",
        "lambda: " * 3_000 + "0",
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["py", "ts", "go", "rs", "java", "c", "cpp", "cs", "rb", "md", "toml"])
def test_odd_code_never_hangs_or_crashes(repo: Repo, code: str, ending: str) -> None:
    path = f"odd.{ending}"
    repo.write(path, code)
    begin = time.monotonic()
    observed = repo.observed(path, f"{path}#charge", f"{path}:1")
    assert {one.kind for one in repo.states(observed)} <= {"unchanged", "unbound", "cant-tell"}
    repo.write(path, f"{code}\nx = 2\n")
    states = repo.states(observed)
    assert states[0].kind in ("changed", "cant-tell")
    assert time.monotonic() - begin < 60


def test_a_syntax_error_is_neither_unchanged_nor_gone(repo: Repo) -> None:
    observed = repo.observed("src/pay.py#charge")
    repo.write("src/pay.py", CODE + "\n\ndef broken(:\n    pass\n")
    assert repo.state(observed).kind == "unchanged"  # the text of the function is still there
    repo.write("src/pay.py", "def charge(amount:\n    total = amount + 2\n    return total\n")
    assert why(repo.state(observed)) == REASONS["syntax"]
    repo.write("src/pay.py", "def other(:\n")
    assert repo.state(observed).kind == "gone"  # no word of the file is its name


def test_code_of_a_later_python_is_compared(repo: Repo) -> None:
    """`ast` of this version can't parse it, but a grammar can."""
    text = f"type Amount[T] = list[T]\n\n\n{CODE}\n\nx = f'{{'a' + f'{{1}}'}}'\n"
    repo.write("src/new.py", text)
    repo.commit()
    observed = repo.observed("src/new.py#charge")
    repo.write("src/new.py", text.replace("    total", "    # more\n    total"))
    assert repo.state(observed).kind in ("reformatted", "unchanged")
    repo.write("src/new.py", text.replace("+ 2", "+ 3"))
    assert repo.state(observed).kind == "changed"


def test_a_text_in_another_encoding(repo: Repo) -> None:
    repo.write("notes.txt", "Größe und Preis\nzwei\n".encode("latin-1"))
    repo.commit()
    observed = repo.observed("notes.txt", "notes.txt:1")
    repo.write("notes.txt", "Größe und Preis\nzwei\n")
    repo.commit()
    assert [state.kind for state in repo.states(observed)] == ["reformatted", "reformatted"]
    repo.write("notes.txt", "Grösse und Preis\nzwei\n".encode("utf-16"))
    repo.commit()
    assert [state.kind for state in repo.states(observed)] == ["changed", "changed"]


# Repositories


def test_without_git_recorded_evidence_is_compared(tmp_path: Path) -> None:
    repo = Repo(tmp_path, is_git=False)
    repo.write("src/pay.py", CODE)
    observed, before = repo.observed("src/pay.py#charge"), repo.approved_before()
    assert repo.state(observed).kind == "unchanged"
    assert why(repo.state(before, "src/pay.py#charge")) == REASONS["no-git"]
    repo.replace("src/pay.py", "    total", "    # fee\n    total")
    assert repo.state(observed).kind == "reformatted"
    repo.replace("src/pay.py", "+ 2", "+ 3")
    state = repo.state(observed)
    assert isinstance(state, Changed)
    assert state.change.commit is None
    repo.write("src/pay.py", "x = 1\n")
    assert repo.state(observed).kind == "gone"


def test_a_repository_without_commits(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.write("src/pay.py", CODE)
    repo.is_git = False  # for the commit that is recorded
    observed = repo.observed("src/pay.py#charge")
    assert repo.state(observed).kind == "unchanged"
    repo.replace("src/pay.py", "+ 2", "+ 3")
    assert repo.state(observed).kind == "changed"


def test_a_shallow_clone_doesnt_guess(repo: Repo, tmp_path: Path) -> None:
    observed, before = repo.observed("src/pay.py#charge"), repo.approved_before()
    repo.replace("src/pay.py", "+ 2", "+ 3")
    repo.move("src/pay.py", "src/payments.py")
    repo.replace("src/payments.py", "charge", "bill")
    repo.commit("all at once")
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.folder}", str(clone))
    shallow = Repo.__new__(Repo)
    shallow.folder, shallow.is_git = clone, True
    assert why(shallow.state(observed)) == REASONS["shallow"]
    assert why(shallow.state(before, "src/pay.py#charge")) == REASONS["no-commit"]


def test_rewritten_history(repo: Repo) -> None:
    """The commit of the approval is gone, but its state was recorded."""
    observed = repo.observed("src/pay.py#charge")
    repo.git("commit", "-q", "--amend", "-m", "other words")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert repo.state(observed).kind == "unchanged"
    assert why(repo.state(Repo.approved_before(repo, observed.commit), "src/pay.py")) == REASONS["no-commit"]
    repo.replace("src/pay.py", "+ 2", "+ 3")
    commit = repo.commit()
    state = repo.state(observed)
    assert isinstance(state, Changed)
    assert state.change.commit == commit
    assert "+ 3" in state.change.diff


def test_evidence_in_a_submodule(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    inner = Repo(tmp_path / "lib")
    inner.write("lib.py", CODE)
    inner.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.folder), "vendor/lib")
    repo.commit("submodule")
    observed = repo.observed("vendor/lib/lib.py#charge", "vendor/lib")
    assert [state.kind for state in repo.states(observed)] == ["unchanged", "unchanged"]
    repo.write("vendor/lib/lib.py", CODE.replace("2", "3"))
    assert repo.states(observed)[0].kind == "changed"
    repo.git("submodule", "deinit", "-q", "-f", "vendor/lib")
    assert why(repo.states(observed)[0]) == REASONS["submodule"]


def test_files_that_git_leaves_out_of_the_work_tree(repo: Repo) -> None:
    repo.write("other/x.py", "x = 1\n")
    repo.commit()
    observed = repo.observed("src/pay.py#charge")
    repo.git("sparse-checkout", "set", "other")
    assert not (repo.folder / "src/pay.py").exists()
    assert repo.state(observed).kind == "unchanged"


def test_a_file_that_git_ignores_can_be_on_another_machine(repo: Repo) -> None:
    repo.write(".gitignore", "build/\n")
    repo.commit()
    repo.write("build/out.py", CODE)
    observed = repo.observed("build/out.py#charge")
    assert repo.state(observed).kind == "unchanged"
    (repo.folder / "build/out.py").unlink()
    assert why(repo.state(observed)) == REASONS["untracked"]


def test_a_project_below_the_top_of_its_repository(tmp_path: Path) -> None:
    top = Repo(tmp_path)
    top.write("apps/shop/src/pay.py", CODE)
    top.write("src/pay.py", "x = 1\n")
    top.commit()
    shop = Repo.__new__(Repo)
    shop.folder, shop.is_git = tmp_path / "apps/shop", True
    observed, before = shop.observed("src/pay.py#charge"), shop.approved_before()
    assert shop.state(before, "src/pay.py#charge").kind == "unchanged"
    shop.replace("src/pay.py", "+ 2", "+ 3")
    commit = shop.commit()
    for state in (shop.state(observed), shop.state(before, "src/pay.py#charge")):
        assert isinstance(state, Changed)
        assert state.change.commit == commit
    shop.move("src/pay.py", "src/payments.py")
    shop.commit()
    assert shop.state(observed).now == "src/payments.py#charge"
    shop.replace("src/payments.py", "+ 3", "+ 2")
    shop.commit()
    state = shop.state(observed)
    assert isinstance(state, Moved)


def test_a_commit_that_was_rewritten_moved(repo: Repo) -> None:
    repo.write("a.txt", "a\n")
    kept = repo.commit("kept")
    repo.write("b.txt", "b\n")
    lost = repo.commit("lost")
    repo.git("reset", "-q", "--hard", "HEAD^")
    repo.write("c.txt", "c\n")
    repo.commit("between")
    repo.git("cherry-pick", lost)
    new = repo.head
    assert repo.state(repo.observed(kept)).kind == "unbound"
    state = repo.state(repo.observed(lost))
    assert isinstance(state, Moved)
    assert new is not None
    assert new.startswith(state.now)
    assert repo.state(repo.observed("12345abcde" * 4)).kind == "gone"


def test_attributes_start_no_program(repo: Repo, tmp_path: Path) -> None:
    """A repository can name programs for differences. None of them runs."""
    marker = tmp_path / "ran"
    repo.write(".gitattributes", "*.py diff=evil\n")
    repo.git("config", "diff.evil.command", f"touch {marker}")
    repo.git("config", "diff.evil.textconv", f"touch {marker};cat")
    repo.git("config", "core.fsmonitor", f"touch {marker}")
    observed = repo.observed("src/pay.py#charge")
    repo.replace("src/pay.py", "+ 2", "+ 3")
    repo.commit()
    marker.unlink(missing_ok=True)
    assert repo.state(observed).kind == "changed"
    repo.move("src/pay.py", "src/b.py")
    assert repo.state(observed).kind == "changed"
    assert not marker.exists()


@pytest.mark.parametrize(
    "ending", ["py", "ts", "go", "rs", "java", "c", "cs", "rb", "md", "rst", "toml", "yaml", "txt"]
)
@pytest.mark.parametrize(
    "line",
    ["(" * 40_000, "# " + "a " * 20_000, "[" + " " * 40_000, "[" * 40_000, "`" * 40_000, "x " * 20_000 + "{#"],
)  # fmt: skip
def test_long_lines_take_no_long_time(ending: str, line: str) -> None:
    text = Text(f"a.{ending}", f"{line}\n{line}\n".encode())
    begin = time.process_time()
    named(text, "charge")
    named(text, "a.b.c")
    assert time.process_time() - begin < 10
    part = between(text, 1, 1)
    assert part is not None
    assert part.content == digest(f"{line}\n".encode())
    assert part.lines == 1


def test_texts_that_are_hard_to_compare_take_no_long_time() -> None:
    begin = time.process_time()
    old = [f"line {number % 7}" for number in range(60_000)]
    new = [f"line {number % 5}" for number in range(60_000)]
    assert line_map.matches(old, new)[0] == 0
    assert line_map.unified(old, new, "a", "b", (1, 1)).count("\n") < 1_000
    assert time.process_time() - begin < 20
