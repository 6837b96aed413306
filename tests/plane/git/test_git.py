"""Git is started in one place, with values only where git cannot read them as options, and starts nothing by itself."""

import ast
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import agentplane
from agentplane.plane.git import code_history, git, merge_file, object_reader, own_index, process
from agentplane.plane.git.git import ObjectId
from agentplane.plane.git.own_index import OwnIndex
from agentplane.plane.git.process import Values
from agentplane.review.gate import evidence_lookup
from agentplane.runs.open import git_state


PACKAGE = Path(agentplane.__file__).parent
STARTER = PACKAGE / "plane/git/process.py"
ASKERS = [
    PACKAGE / "plane/git" / f"{name}.py"
    for name in ("git", "merge_file", "own_index", "code_history", "object_reader")
]
UNKNOWN = "12345abcde" * 4
ONE = ObjectId("a" * 40)


def run(folder: Path, *words: str) -> str:
    return subprocess.run(
        ("git", *words), cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


# Who starts git


def parsed() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def test_only_one_module_starts_git() -> None:
    def starts(node: ast.AST) -> bool:
        first = (
            node.elts[:1]
            if isinstance(node, ast.List | ast.Tuple)
            else node.args[:1]
            if isinstance(node, ast.Call)
            else []
        )
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Attribute) and node.func.attr in (
            "run", "Popen", "call", "check_call", "check_output", "system", "popen", "execvp", "execvpe", "execlp", "which",
        )):  # fmt: skip
            return False
        return any(
            isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.split(" ")[0] == "git"
            for one in first
        )

    found = {path for path, tree in parsed() if any(map(starts, _without_advice(tree)))}
    assert found == {STARTER}


def _without_advice(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a module, except the commands that a finding names for a person to run."""
    named = {
        node.args[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Shell" and node.args
    }
    return (node for node in ast.walk(tree) if node not in named)


def test_only_the_modules_of_queries_know_the_one_that_starts_it() -> None:
    def imports(node: ast.AST) -> bool:
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        home = getattr(node, "module", None)
        full = [f"{home}.{name}" if home else name for name in named]
        return "agentplane.plane.git.process" in [home, *full]

    assert {path for path, tree in parsed() if any(map(imports, ast.walk(tree)))} == {*ASKERS}


def test_only_that_one_calls_a_text_the_name_of_an_object() -> None:
    def makes(node: ast.AST) -> bool:
        name = node.func if isinstance(node, ast.Call) else None
        return (isinstance(name, ast.Name) and name.id == "ObjectId") or (
            isinstance(name, ast.Attribute) and name.attr == "ObjectId"
        )

    assert {path for path, tree in parsed() if any(map(makes, ast.walk(tree)))} == {ASKERS[0]}


@pytest.mark.parametrize("asker", ASKERS, ids=lambda path: path.stem)
def test_free_words_are_constants(asker: Path) -> None:
    """What is no constant goes by a named argument, which says where git reads it."""
    module = ast.parse(asker.read_text())
    tuples = {
        target.id: node.value
        for node in (*ast.parse(STARTER.read_text()).body, *module.body)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = 0
    for function in [node for node in module.body if isinstance(node, ast.FunctionDef)]:
        local = tuples | dict(_assigned(function))
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("process."):
                calls += 1
                for word in call.args[1:]:
                    assert _is_constant(word, local), f"line {word.lineno}: {ast.unparse(word)}"
                for named in call.keywords:
                    assert named.arg, f"line {call.lineno}: a mapping of arguments"
    assert calls > (30 if asker == ASKERS[0] else 1)


def _assigned(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from (
                    (one.id, value)
                    for one, value in zip(target.elts, node.value.elts, strict=True)
                    if isinstance(one, ast.Name)
                )


def _is_constant(word: ast.expr, known: dict[str, ast.expr]) -> bool:
    if isinstance(word, ast.Starred):
        value = known.get(word.value.id) if isinstance(word.value, ast.Name) else word.value
        return isinstance(value, ast.Tuple) and all(_is_constant(one, known) for one in value.elts)
    return isinstance(word, ast.Constant) and isinstance(word.value, str)


# What values can do


@pytest.mark.parametrize(
    "hostile", ["--output=x", "-x", "", "a" * 39 + "g", "A" * 40, "abc", "a" * 40 + "\n", "HEAD", "a" * 65]
)
def test_no_value_is_an_option_in_the_place_of_an_object(git_project: Path, hostile: str) -> None:
    assert Values(hexes=(hostile,)).command(("cat-file", "-t")) is None
    assert git.object_id(hostile) is None
    bad = ObjectId(hostile)
    own = OwnIndex(git_project / "index", git_project / "objects")
    assert git.tree_of(git_project, bad) is None
    assert own_index.compared(git_project, own, bad, bad, "x", 5) == b""
    assert list(own_index.patch(git_project, own, bad, ONE, "x")) == []
    assert git.blob(git_project, bad) is None
    assert sorted(path.name for path in git_project.iterdir()) == [".git", "README.md"]


@pytest.mark.parametrize("hostile", ["--output=x", "-h", "--help", "\0", "", "HEAD\0", "@{-99}"])
def test_no_revision_of_a_person_is_an_option(git_project: Path, hostile: str) -> None:
    assert git.commit(git_project, hostile) is None


def test_a_revision_of_a_person_is_found(git_project: Path) -> None:
    wanted = run(git_project, "rev-parse", "HEAD")
    for name in ("HEAD", "main", wanted, wanted[:8], "@", "HEAD~0"):
        assert git.commit(git_project, name) == wanted


@pytest.mark.parametrize("name", ["--output=x", ":(top)", ":!x", "*.md", "a b", ":(exclude)x", "x\n"])
def test_a_path_is_a_path(git_project: Path, name: str) -> None:
    (git_project / name).write_text("x")
    (git_project / "other.md").write_text("x")
    assert git.add(git_project, [name])
    assert git.tracked(git_project, [name]) == {name}
    assert git.tracked(git_project, ["other.md"]) == set()


# What every call has


def every_call(folder: Path) -> dict[str, Callable[[], object]]:
    own = OwnIndex(folder / "index", folder / "objects")
    return {
        "head": lambda: git.head(folder),
        "branch": lambda: git.branch(folder),
        "is_here": lambda: git.is_here(folder),
        "top": lambda: git.top(folder),
        "prefix": lambda: git.prefix(folder),
        "inside": lambda: git.inside(folder, "index"),
        "hooks": lambda: git.hooks(folder),
        "unfinished_operations": lambda: git.unfinished_operations(folder),
        "user_name": lambda: git.user_name(folder),
        "driver": lambda: git.driver(folder, "driver"),
        "set_driver": lambda: git.set_driver(folder, "name", "x"),
        "forget_drivers": lambda: git.forget_drivers(folder),
        "attributes_file": lambda: git.attributes_file(folder),
        "merge_attributes": lambda: git.merge_attributes(folder, ("x",), folder),
        "conflict_style": lambda: merge_file.conflict_style(folder),
        "will_unstash": lambda: git.will_unstash(folder),
        "sequencer": lambda: git.sequencer(folder),
        "leave_out": lambda: git.leave_out(folder, ("x",)),
        "not_checked_out": lambda: git.not_checked_out(folder),
        "commit": lambda: git.commit(folder, "x"),
        "is_shallow": lambda: git.is_shallow(folder),
        "has_history": lambda: git.has_history(folder),
        "knows": lambda: git.knows(folder, UNKNOWN),
        "parents": lambda: git.parents(folder),
        "merging": lambda: git.merging(folder),
        "merge_bases": lambda: git.merge_bases(folder, ONE, ONE),
        "usual_bases": lambda: list(git.usual_bases(folder)),
        "not_in_history": lambda: git.not_in_history(folder, [ONE]),
        "of_history": lambda: git.of_history(folder, "x", 3),
        "changes": lambda: git.changes(folder, "x", 3),
        "with_text": lambda: git.with_text(folder, "--output=x", "x", 3),
        "tree": lambda: git.tree(folder, ONE, "x"),
        "paths": lambda: git.paths(folder, ONE),
        "tree_of": lambda: git.tree_of(folder, None),
        "prefix_and_tree": lambda: git.prefix_and_tree(folder, ONE),
        "blob": lambda: git.blob(folder, ONE),
        "blob_at": lambda: git.blob_at(folder, ONE, "x"),
        "contents": lambda: git.contents(folder, [ONE]),
        "status": lambda: git.status(folder, "x", 5),
        "signing": lambda: git.signing(folder),
        "in_index": lambda: git.in_index(folder, "x"),
        "tracked": lambda: git.tracked(folder, ("x",)),
        "untracked": lambda: git.untracked(folder),
        "unstaged": lambda: git.unstaged(folder),
        "uncommitted": lambda: git.uncommitted(folder),
        "changed_since": lambda: git.changed_since(folder, ONE),
        "stages": lambda: git.stages(folder),
        "add": lambda: git.add(folder, ("x",)),
        "add_changed": lambda: own_index.add_changed(folder, own, "x", 5),
        "write_tree": lambda: own_index.write_tree(folder, own, 5),
        "compared": lambda: own_index.compared(folder, own, ONE, ONE, "x", 5),
        "patch": lambda: list(own_index.patch(folder, own, ONE, ONE, "x")),
        "merge": lambda: merge_file.merge(folder, union=True),
        "ignored": lambda: git.ignored(folder, ("x",)),
        "project_files": lambda: git.project_files(folder),
        "steps": lambda: code_history.steps(folder, ["x"], ONE, 3),
        "deleted_below": lambda: code_history.deleted_below(folder, "x", ONE),
        "renames": lambda: code_history.renames(folder, ONE),
        "uncommitted_renames": lambda: code_history.uncommitted_renames(folder),
        "files": lambda: code_history.files(folder, ONE),
        "naming": lambda: code_history.naming(folder, ["--output=x"]),
        "naming_in": lambda: code_history.naming_in(folder, ONE, ["--output=x"]),
        "authors": lambda: code_history.authors(folder, 3),
        "author_of": lambda: code_history.author_of(folder, ONE),
        "oldest": lambda: code_history.oldest(folder, [ONE]),
        "patch_ids": lambda: code_history.patch_ids(folder, ONE, 3),
        "find_objects": lambda: ended(object_reader.find_objects(folder)),
        "read_objects": lambda: ended(object_reader.read_objects(folder)),
        "make_example": lambda: git.make_example(folder),
        "commit_example": lambda: git.commit_example(folder),
    }


def ended(started: "subprocess.Popen[bytes] | None") -> None:
    if started is not None:
        started.communicate(timeout=60)


def test_every_call_switches_off_what_a_repository_could_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, here = tmp_path / "told", tmp_path / "here"
    here.mkdir()
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin/git"
    shim.write_text(f"#!/bin/sh\n(echo \"$@\"; env) >> '{told}'\nexit 1\n")
    shim.chmod(0o755)
    calls = every_call(here)
    public = {
        name
        for module in (git, merge_file, own_index, code_history, object_reader)
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    }
    known = {name for name in public if name[0].islower() and name != "object_id"}
    assert set(calls) == known
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    for name in (
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_LITERAL_PATHSPECS",
        "GIT_SSH_COMMAND",
        "GIT_OBJECT_DIRECTORY",
    ):
        monkeypatch.setenv(name, "hostile")
    for name, call in calls.items():
        told.unlink(missing_ok=True)
        call()
        text = told.read_text()
        for option in (
            "safe.bareRepository=explicit",
            "core.fsmonitor=false",
            "protocol.allow=never",
            "--no-pager",
        ):
            assert option in text, name
        for setting in (
            "GIT_TERMINAL_PROMPT=0",
            "GIT_NO_LAZY_FETCH=1",
            "GIT_ALLOW_PROTOCOL=none",
            "GIT_OPTIONAL_LOCKS=0",
        ):
            assert f"\n{setting}\n" in text, name
        assert "hostile" not in text, name
        assert name == "hooks" or f"core.hooksPath={os.devnull}" in text, name


@pytest.mark.parametrize("more", [("objects", "refs"), ("commondir",)])
def test_a_repository_without_a_dot_git_is_none(git_project: Path, more: tuple[str, ...]) -> None:
    """Also for a git that has no setting for that."""
    inner = git_project / "docs/deep"
    inner.mkdir(parents=True)
    assert git.is_here(inner)
    (inner.parent / "HEAD").write_text("ref: refs/heads/main\n")
    for name in more:
        (inner.parent / name).mkdir()
    assert not git.is_here(inner)
    assert git.is_here(git_project)
    link = git_project / "link"
    link.symlink_to(inner)
    assert not git.is_here(link)


def test_a_work_tree_elsewhere_is_none_of_ours(git_project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(git_project, "config", "core.worktree", str(elsewhere))
    assert git.top(git_project) is None


# What is not fetched


@pytest.fixture
def partial(git_project: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A clone that lacks blobs, and the file in which its remote writes down who asks."""
    (git_project / "README.md").write_text("# Second\n")
    run(git_project, "commit", "-qam", "second")
    run(git_project, "config", "uploadpack.allowFilter", "true")
    run(git_project, "config", "uploadpack.allowAnySHA1InWant", "true")
    asked, program = tmp_path / "asked", tmp_path / "upload"
    clone = tmp_path / "partial"
    run(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", git_project.as_uri(), str(clone))
    program.write_text(f"#!/bin/sh\necho asked >> '{asked}'\nexec git-upload-pack \"$@\"\n")
    program.chmod(0o755)
    run(clone, "config", "remote.origin.uploadpack", str(program))
    return clone, asked


def test_the_clone_would_fetch_what_it_lacks(partial: tuple[Path, Path]) -> None:
    clone, asked = partial
    subprocess.run(("git", "cat-file", "-t", UNKNOWN), cwd=clone, capture_output=True, check=False)
    assert asked.exists()


@pytest.mark.parametrize("old", [False, True])
def test_evidence_that_names_an_unknown_commit_starts_no_fetch(
    partial: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, old: bool
) -> None:
    """Nor does an old git that knows no setting against it begin one."""
    clone, asked = partial
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    if old:
        monkeypatch.delitem(process._SET, "GIT_NO_LAZY_FETCH")
        monkeypatch.delitem(process._SET, "GIT_ALLOW_PROTOCOL")
    known = run(clone, "rev-parse", "HEAD")
    pieces = [UNKNOWN, known, f"commit:{known[:9]}", UNKNOWN[:12], f"git:{known.upper()}"]
    if old:
        assert git.knows(clone, UNKNOWN) is None
    lacks = evidence_lookup.lacks(pieces, clone)
    assert [lack.place for lack in lacks] == [0, 3]
    assert not asked.exists()
    assert "fetch" not in trace.read_text()


@pytest.mark.parametrize("old", [False, True])
def test_nothing_that_is_asked_of_git_fetches(
    partial: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, *, old: bool
) -> None:
    clone, asked = partial
    if old:
        monkeypatch.delitem(process._SET, "GIT_NO_LAZY_FETCH")
    calls = every_call(clone)
    for name in calls.keys() - {"make_example", "commit_example", "set_driver"}:
        calls[name]()
    head = git.commit(clone, "HEAD")
    assert head
    assert git.blob_at(clone, head, "README.md") is None
    assert git.paths(clone, head) == ["README.md"]
    assert git.tree(clone, head, "") is None  # their sizes are not here
    assert git.changes(clone, "README.md", 3) == b""
    assert not asked.exists()


# What goes on working


def test_filters_that_a_person_has_set_up_count(git_project: Path, tmp_path: Path) -> None:
    """As those of git-lfs or git-crypt: without them each of their files would be another one than git has."""
    run(git_project, "config", "filter.upper.clean", "tr a-z A-Z")
    (git_project / ".gitattributes").write_text("*.up filter=upper\n")
    (git_project / "a.up").write_text("small\n")
    run(git_project, "add", ".")
    run(git_project, "commit", "-qm", "filtered")
    work = tmp_path / "work"
    work.mkdir()
    seen = git_state.look(git_project, work, ".agentplane")
    assert (seen.dirty, seen.tree) == ([], run(git_project, "rev-parse", "HEAD^{tree}"))
    (git_project / "a.up").write_text("other\n")
    seen = git_state.look(git_project, work, ".agentplane")
    assert seen.tree is not None
    head = git.tree_of(git_project, seen.head)
    assert head is not None
    patch = git_state.patch(git_project, work, ".agentplane", head, seen.tree, 1 << 20)
    assert b"+OTHER" in patch.data
    assert git.add(git_project, ["a.up"])
    assert run(git_project, "show", ":a.up") == "OTHER"


def test_a_work_tree_and_a_submodule_are_repositories_like_others(git_project: Path, tmp_path: Path) -> None:
    run(git_project, "worktree", "add", "-q", str(tmp_path / "beside"))
    outer = tmp_path / "outer"
    run(tmp_path, "init", "-q", str(outer))
    run(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(git_project), "inner")
    for folder in (tmp_path / "beside", outer / "inner"):
        (folder / "new.txt").write_text("new\n")
        assert git.add(folder, ["new.txt"])
        assert git.tracked(folder, ["new.txt"]) == {"new.txt"}
        assert git.top(folder) == folder
        assert git.commit(folder, "HEAD")
    work = tmp_path / "work"
    work.mkdir()
    seen = git_state.look(outer, work, ".agentplane")
    assert [line for line in seen.dirty if "inner" in line] == ["A  inner"]


def test_the_example_is_made_without_a_persons_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran, template, folder = tmp_path / "ran", tmp_path / "template/hooks", tmp_path / "example"
    template.mkdir(parents=True)
    for name in ("pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "post-index-change"):
        (template / name).write_text(f"#!/bin/sh\necho {name} >> '{ran}'\nexit 1\n")
        (template / name).chmod(0o755)
    config = tmp_path / "config"
    config.write_text(
        f"[init]\n\ttemplateDir = {template.parent}\n[core]\n\thooksPath = {template}\n[commit]\n\tgpgSign = true\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "another"))
    folder.mkdir()
    (folder / "a").write_text("a")
    assert git.make_example(folder)
    assert git.commit_example(folder)
    monkeypatch.delenv("GIT_DIR")
    assert run(folder, "log", "--format=%s") == "The example"
    assert not ran.exists()
    assert not (folder / ".git/hooks").exists()
