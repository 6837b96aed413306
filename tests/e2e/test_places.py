"""Nothing outside of a plane is ever written, whatever is asked for and whatever lies in the way."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import decision, plane_in
from tests.e2e.conftest import Answered, approved, proposed, started, tree
from tests.e2e.terminal import AGENTPLANE, typed


LONG = "A" * 4000
READS = (
    ["status"], ["badge"], ["inbox"], ["list"], ["show", "dec-1"], ["history", "dec-1"], ["history"], ["doctor"],
)  # fmt: skip
Quick = Callable[..., Answered]


def _hostile_entry(id_: str) -> str:
    return f"\n---\nid: {id_}\ntype: decision\nstatus: accepted\nevidence: [../../../outside]\n---\nDecision: hostile\n"


@pytest.fixture
def world(repository: Path) -> Path:
    """The folder around the project, with things in it that nobody may touch."""
    around = repository.parent
    (around / "outside").mkdir()
    (around / "outside" / "file.md").write_text("theirs")
    (around / "x.md").write_text("theirs")
    return around


def _outside(world: Path) -> dict[str, object]:
    """Everything but the plane, and what `init` tells git."""
    ours = ("project/.agentplane", "project/.git/config", "project/.git/hooks/post-", "project/.git/info/")
    return {name: what for name, what in tree(world).items() if not name.startswith(ours)}


@pytest.mark.parametrize(
    "words",
    [
        ["propose", "x", "--evidence", "../../outside/file.md", "--scope", "../**", "--source", "../x"],
        ["propose", "x", "--supersedes", "../../outside/file"],
        ["propose", "x", "--type", "../../x"],
        ["show", "../../x"],
        ["history", "../../x"],
        ["approve", "../../x"],
        ["reject", "../../x"],
        ["edit", "../../x"],
        ["undo", "../../x"],
        ["approve", LONG],
        ["edit", LONG],
        ["approve", "--edits"],
        ["reject", "--edits"],
        ["deprecate", "../../x"],
        ["doctor", "--fix"],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_paths_in_words_stay_words(world: Path, words: list[str], quick: Quick) -> None:
    repository = world / "project"
    before = _outside(world)
    seen = quick(words, repository, env={"EDITOR": "true"})
    assert "Traceback" not in seen.screen
    assert seen.code in (0, 1, 2, 3)
    assert _outside(world) == before


@pytest.mark.parametrize(
    "id_", ["../../x", "/tmp/x", "..", "a/b", LONG, '"a\\u0000b"', "~root", "C:\\x", "CON"]
)
def test_paths_in_ids_stay_ids(world: Path, id_: str, quick: Quick) -> None:
    repository = world / "project"
    path = repository / ".agentplane" / "memory" / "decisions.md"
    path.write_text(path.read_text() + _hostile_entry(id_))
    before = _outside(world)
    name = id_ if "\\u" not in id_ else "a"

    for words in (
        ["approve", "--edits"],
        ["edit", "--", name],
        ["deprecate", "--", name],
        ["undo"],
        ["reject", "--edits"],
        ["doctor", "--fix"],
    ):
        seen = quick(words, repository, env={"EDITOR": "sed -i s/hostile/edited/"})
        assert "Traceback" not in seen.screen
        assert seen.code in (0, 1, 2, 3), seen.screen

    assert _outside(world) == before
    assert tree(repository / ".agentplane").keys() == _usual(repository)


def _usual(repository: Path) -> set[str]:
    """What may lie in a plane after these commands: nothing with a name of its own."""
    allowed = {
        "memory",
        "ops",
        "runs",
        "cache",
        "context",
        "sessions",
        "config.toml",
        ".gitignore",
        ".gitattributes",
        ".lock",
    }
    names = set(tree(repository / ".agentplane"))
    assert {name.partition("/")[0] for name in names} <= allowed
    assert all(len(name) < 120 for name in names)
    return names


@pytest.mark.parametrize("name", ["memory", "ops", "cache", "runs", "cache/pages", "cache/edit"])
def test_a_linked_folder_in_a_plane_leads_nowhere(world: Path, name: str, quick: Quick) -> None:
    repository = world / "project"
    id_ = proposed(repository)
    folder = repository / ".agentplane" / name
    if folder.exists():
        subprocess.run(("rm", "-r", str(folder)), check=True)
    folder.symlink_to(world / "outside")
    before = _outside(world)

    for words in (
        ["status"],
        ["badge"],
        ["propose", "y"],
        ["approve", id_],
        ["edit", id_],
        ["undo"],
        ["doctor", "--fix"],
        ["init", "--yes"],
    ):
        seen = quick(words, repository, env={"EDITOR": "true"})
        assert "Traceback" not in seen.screen, seen.screen

    assert _outside(world) == before
    assert folder.is_symlink()


@pytest.mark.parametrize(
    "name",
    ["memory/decisions.md", "memory/candidates.md", "memory/log.jsonl", "memory/state.json", "memory/artifacts.json",
     "config.toml", ".lock", "cache/badge", ".gitignore"],
)  # fmt: skip
@pytest.mark.parametrize("dangling", [False, True])
def test_a_linked_file_in_a_plane_leads_nowhere(world: Path, name: str, dangling: bool, quick: Quick) -> None:
    repository = world / "project"
    id_ = proposed(repository)
    path = repository / ".agentplane" / name
    path.unlink(missing_ok=True)
    path.symlink_to(world / "outside" / ("nothing" if dangling else "file.md"))
    before = _outside(world)

    for words in (
        ["status"],
        ["badge"],
        ["propose", "y"],
        ["approve", id_],
        ["doctor", "--fix"],
        ["init", "--yes"],
    ):
        seen = quick(words, repository)
        assert "Traceback" not in seen.screen, seen.screen

    assert _outside(world) == before


def test_a_linked_month_of_ops_leads_nowhere(world: Path, quick: Quick) -> None:
    repository = world / "project"
    proposed(repository)
    (path,) = (repository / ".agentplane" / "ops").iterdir()
    path.rename(world / "outside" / "ops.jsonl")
    path.symlink_to(world / "outside" / "ops.jsonl")
    before = _outside(world)
    for words in (["status"], ["propose", "y"], ["doctor", "--fix"]):
        assert "Traceback" not in quick(words, repository).screen
    assert _outside(world) == before


def test_a_name_of_a_temporary_file_that_is_a_link(world: Path) -> None:
    """Somebody who can write into the folder guesses names: no write goes through what lies there."""
    repository = world / "project"
    memory = repository / ".agentplane" / "memory"
    for name in ("state.json", "candidates.md", "artifacts.json"):
        for guess in (f"{name}.tmp", f".{name}.tmp", f"{name}~"):
            (memory / guess).symlink_to(world / "outside" / "file.md")
    before = _outside(world)
    started(["propose", "y"], repository)
    started(["doctor", "--fix"], repository)
    assert _outside(world) == before


@pytest.mark.slow
def test_a_whole_day_of_work_writes_only_into_the_plane(world: Path) -> None:
    repository = world / "project"
    before = _outside(world)

    id_ = started(["propose", "One."], repository).stdout.strip()
    typed(["approve", id_], repository)
    typed(["edit", "dec-1"], repository, env={"EDITOR": "sed -i s/One/Two/"})
    typed(["deprecate", "dec-1", "--why", "enough"], repository)
    typed(["undo"], repository)
    typed(["redo"], repository)
    for words in READS:
        assert started(words, repository).returncode == 0

    assert _outside(world) == before


def test_reading_writes_nothing_but_the_cache(repository: Path, quick: Quick) -> None:
    approved(repository)
    proposed(repository, "Another.")
    before = tree(repository)
    for words in READS:
        assert quick(words, repository).code == 0
    after = tree(repository)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert all(name.startswith(".agentplane/cache") for name in changed), changed


def test_home_and_the_temporary_folder_stay_as_they_are(
    repository: Path, tmp_path: Path, quick: Quick
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    id_ = proposed(repository)
    places = {
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "XDG_CACHE_HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
    }
    for words in (["propose", "x"], ["approve", id_], ["edit", "dec-1"], ["doctor", "--fix"]):
        quick(words, repository, env={**places, "EDITOR": "sed -i s/Textual/Rich/"})
    assert tree(home) == tree(temporary) == {}


def test_init_leaves_other_repositories_alone(repository: Path) -> None:
    """With GIT_DIR pointing elsewhere, as inside of a git hook."""
    other = repository.parent / "other"
    other.mkdir()
    subprocess.run(("git", "init", "-q"), cwd=other, check=True)

    done = started(
        ["init", "--yes"], other, env={"GIT_DIR": str(repository / ".git"), "GIT_WORK_TREE": str(repository)}
    )

    assert done.returncode == 0
    assert (other / ".agentplane" / "config.toml").is_file()


def test_a_submodule_and_a_worktree_get_their_own(repository: Path) -> None:
    library = repository / "library"
    library.mkdir()
    subprocess.run(("git", "init", "-q"), cwd=library, check=True)
    log = (repository / ".agentplane" / "memory" / "log.jsonl").read_bytes()

    assert started(["status"], library).returncode == 2
    assert started(["init", "--yes"], library).returncode == 0
    assert started(["propose", "x"], library).returncode == 0

    assert (library / ".agentplane" / "memory" / "log.jsonl").is_file()
    assert (repository / ".agentplane" / "memory" / "log.jsonl").read_bytes() == log


def test_a_moved_repository_works_on(repository: Path) -> None:
    id_ = proposed(repository)
    moved = repository.rename(repository.with_name("moved somewhere else"))

    assert typed(["approve", id_], moved).code == 0
    assert typed(["undo"], moved).code == 0
    assert started(["doctor"], moved).returncode == 0
    assert not repository.exists()


def test_names_that_differ_only_in_case_do_not_meet(repository: Path) -> None:
    """On a disk that does not tell cases apart two kinds must not share a file."""
    (repository / ".agentplane" / "config.toml").write_text('[kinds.x]\nprefix = "XX"\nfile = "Facts.md"\n')
    assert started(["status"], repository).returncode == 2


def test_a_project_in_a_folder_with_a_difficult_name(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "näme" $HOME\n*'
    folder.mkdir()
    assert started(["init", "--yes"], folder).returncode == 0
    id_ = started(["propose", "x"], folder).stdout.strip()
    assert typed(["approve", id_], folder).code == 0
    assert typed(["edit", "dec-1"], folder, env={"EDITOR": "sed -i s/x/y/"}).code == 0
    assert started(["doctor"], folder).returncode == 0


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    folder.mkdir()
    for words in (
        ["init", "--yes"],
        ["propose", "x"],
        ["status"],
        ["badge"],
        ["doctor"],
        ["status", "--json"],
    ):
        done = subprocess.run([*AGENTPLANE, *words], cwd=folder, capture_output=True, check=False)
        assert b"Traceback" not in done.stderr, done.stderr
        assert done.returncode == 0, done.stderr


def test_no_git_at_all(project: Path, tmp_path: Path) -> None:
    """A machine without git: only what is asked of git is missing."""
    empty = tmp_path / "bin"
    empty.mkdir()
    env = {"PATH": str(empty), "LOGNAME": "ada"}
    assert started(["init", "--yes"], project, env=env).returncode == 0
    id_ = started(["propose", "x"], project, env=env).stdout.strip()
    assert typed(["approve", id_], project, env=env).code == 0
    entry = plane_in(project).memory.read().get("DEC-001")
    assert (entry.head.approved_by, entry.head.anchor) == ("ada", None)
    assert started(["doctor"], project, env=env).returncode == 0


def test_a_user_without_a_name(project: Path) -> None:
    env = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "")
    plane_in(project).propose(decision("x"))
    assert started(["propose", "y"], project, env=env).returncode == 0
