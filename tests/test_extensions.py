"""Extensions of other packages are found, chosen by the user, and stopped when they fail."""

import subprocess
import sys
from pathlib import Path

import pytest

from agentplane import extensions
from agentplane.api import Plane
from agentplane.cli.app import run
from agentplane.extensions import (
    CHECKS,
    CURATOR_CHECKS,
    EMBEDDERS,
    POINTS,
    RETRIEVERS,
    TRANSCRIPT_READERS,
    VECTOR_STORES,
    ExtensionError,
    Point,
)
from agentplane.health import collect
from tests.conftest import ROOT, UNLIKE, decision
from tests.extension_packages import Installed, Python, install


def failure(name: str) -> ExtensionError:
    with pytest.raises(ExtensionError) as raised:
        extensions.get(RETRIEVERS, name).made()
    return raised.value


def test_nothing_is_looked_up_unless_the_user_chose_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "_installed", lambda *_: pytest.fail("looked up"))
    assert [extensions.chosen(point) for point in POINTS if point.use != "all"] == [None] * 4
    assert extensions.release(EMBEDDERS) == ""
    for point in POINTS:
        monkeypatch.setenv(point.variable, "")
        assert extensions.names(point) == ()


def test_an_installed_extension_is_used_only_if_the_user_chose_it(installed: Installed) -> None:
    installed.add(RETRIEVERS, "acme", "extension = dict")
    assert extensions.chosen(RETRIEVERS) is None
    installed.choose(RETRIEVERS, " acme ")
    assert extensions.chosen(RETRIEVERS) == "acme"
    found = extensions.get(RETRIEVERS, "acme")
    assert found.made() is found.made() == {}
    assert extensions.get(RETRIEVERS, "acme") is found


def test_the_settings_of_a_project_choose_nothing(
    plane: Plane, installed: Installed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed.add(RETRIEVERS, "acme", "raise SystemExit('loaded')")
    monkeypatch.chdir(plane.layout.project)
    plane.layout.config.write_text('[extensions]\nretriever = "acme"\n')
    assert run(["recall", "csv"]) == 2
    assert "loaded" not in capsys.readouterr().err


def test_only_site_packages_count(
    tmp_path: Path, project: Path, installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone that is on the path of this Python, for example because it is installed for development."""
    for folder in (project, project / "src", tmp_path / "elsewhere"):
        module = install(folder, RETRIEVERS, "acme", "raise SystemExit('loaded')")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.chdir(folder)
    installed.choose(RETRIEVERS, "acme")
    assert dict(extensions.installed(RETRIEVERS)) == {}
    assert failure("acme").what == "No installed package provides the retriever `acme`."
    assert module not in sys.modules


def test_broken_metadata_of_another_package_is_no_obstacle(installed: Installed) -> None:
    (installed.folder / "broken-1.dist-info").mkdir()
    (installed.folder / "broken-1.dist-info" / "entry_points.txt").write_text(
        "[agentplane.retrievers]\n= =\n\0"
    )
    (installed.folder / "odd-1.dist-info").mkdir()
    (installed.folder / "odd-1.dist-info" / "METADATA").write_bytes(b"\xff\xfe")
    installed.add(RETRIEVERS, "acme", "extension = dict")
    assert "acme" in extensions.installed(RETRIEVERS)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module_of_acme", "ModuleNotFoundError: No module named 'no_such_module_of_acme'."),
        ("raise SystemExit(3)", "SystemExit: 3."),
        ("raise ValueError('two\\nlines')", "ValueError: two lines."),
        ("other = 1", "AttributeError: module"),
        ("extension = 3", "TypeError: 'int' object is not callable."),
        ("def extension(): raise KeyboardInterrupt", "KeyboardInterrupt:"),
        ("def extension(: pass", "SyntaxError:"),
    ],
)
def test_one_that_fails_is_named_in_one_line(installed: Installed, code: str, said: str) -> None:
    module = installed.use(RETRIEVERS, "acme", code)
    error = failure("acme")
    assert error.what.startswith(f"The retriever `acme` from {module} 1.2 failed: ")
    assert said in error.what
    assert "\n" not in error.what
    assert error.where == "AGENTPLANE_RETRIEVER=acme"
    assert (
        error.todo
        == "Fix the extension, or unset AGENTPLANE_RETRIEVER to use agentplane's built-in retriever."
    )


@pytest.mark.parametrize("code", ["{wait}", "def extension(): {wait}"], ids=["import", "call"])
def test_one_that_hangs_is_stopped(installed: Installed, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(extensions, "SECONDS", 0.2)
    installed.use(RETRIEVERS, "acme", code.format(wait="import threading; threading.Event().wait()"))
    assert failure("acme").what.endswith(" took more than 0.2 seconds.")
    monkeypatch.setattr(extensions, "SECONDS", 1e6)
    assert failure("acme").what.endswith(" took more than 0.2 seconds.")  # it isn't called again


def test_a_missing_one_is_named_with_those_that_are_installed(installed: Installed) -> None:
    installed.add(RETRIEVERS, "acme", "extension = dict")
    error = failure("acne")
    assert error.what == "No installed package provides the retriever `acne`."
    assert error.todo == (
        "Install a package that provides it, or unset AGENTPLANE_RETRIEVER to use agentplane's built-in retriever. Other installed retrievers: `acme`."
    )


def test_one_thread_makes_all_calls(installed: Installed) -> None:
    installed.use(
        RETRIEVERS,
        "acme",
        """
        import sqlite3

        class extension:
            def __init__(self):
                self.base = sqlite3.connect(":memory:")

            def count(self):
                return self.base.execute("select 1").fetchone()[0]
        """,
    )
    found = extensions.get(RETRIEVERS, "acme")
    assert found.call(found.made().count) == 1


FINDING = "from agentplane.findings import Finding\n"
CHECK = """
from agentplane.findings import Finding, Shell
from agentplane.memory.view import Memory

def extension(store):
    memory = Memory(store.snapshot())
    for entry in memory.shelf:
        if "CSV" in entry.statement:
            remedy = Shell(("agentplane", "edit", entry.id))
            yield Finding("csv", "warning", entry.file, "mentions CSV", (remedy,), entry.id)
"""


def test_an_installed_check_is_a_part_of_doctor(
    plane: Plane, installed: Installed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    before = collect(plane.store)
    installed.add(CHECKS, "acme", CHECK)
    new = [one for one in collect(plane.store) if one not in before]
    assert [(one.code, one.subject) for one in new] == [("acme:csv", "DEC-001")]

    monkeypatch.chdir(plane.layout.project)
    assert run(["doctor"]) == 1
    assert "! memory/decisions.md: mentions CSV\n" in capsys.readouterr().out

    installed.choose(CHECKS, "")
    assert collect(plane.store) == before


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise OSError('no')", "failed: OSError: no."),
        ("def extension(store): raise OSError('no')", "failed: OSError: no."),
        ("def extension(store): return None", "failed: TypeError: 'NoneType' object is not iterable."),
        ("def extension(store): return ['nonsense']", "returned something other than findings."),
        (
            f"{FINDING}def extension(store): return [Finding('a', 'bad', 'b', 'c', ())]",
            "returned something other than findings.",
        ),
        (
            f"{FINDING}def extension(store): return [Finding('a', 'info', None, 'c', ())]",
            "returned something other than findings.",
        ),
    ],
)
def test_a_check_that_fails_is_a_finding_and_the_others_run(
    plane: Plane, installed: Installed, code: str, said: str
) -> None:
    (plane.layout.memory / "decisions.md").write_text("not an entry\n---\nid: DEC-1\n")
    before = collect(plane.store)
    installed.add(CHECKS, "acme", code)
    installed.add(CHECKS, "zebra", CHECK.replace("memory.shelf", "()"))
    new = [one for one in collect(plane.store) if one not in before]
    assert [(one.code, one.severity, one.where) for one in new] == [
        ("extension-failed", "warning", "AGENTPLANE_CHECKS=acme")
    ]
    assert new[0].what.endswith(said)
    assert (
        new[0].remedy
        == "Fix the extension, or set AGENTPLANE_CHECKS to a list of names that doesn't include it. Other installed checks: `zebra`."
    )
    assert [one for one in collect(plane.store) if one not in new] == before


def test_a_check_without_an_end_is_cut(plane: Plane, installed: Installed) -> None:
    code = """
    from itertools import repeat
    from agentplane.findings import Finding

    def extension(store):
        return repeat(Finding("again", "info", "here", "again", ()))
    """
    installed.add(CHECKS, "acme", code)
    found = list(extensions.findings(CHECKS, plane.store))
    assert len(found) == extensions.MOST_FINDINGS


def test_doctor_names_a_chosen_extension_that_cannot_be_loaded(plane: Plane, installed: Installed) -> None:
    before = collect(plane.store)
    for point in POINTS:
        installed.choose(point, "acme")
    new = [one for one in collect(plane.store) if one not in before]
    assert {one.where for one in new} == {f"{point.variable}=acme" for point in POINTS}


FAILING = {
    EMBEDDERS: """
        from agentplane.match.embedder import Model

        class extension:
            model = Model("acme", "1", 4)

            def embed(self, texts):
                raise OSError("no")
        """,
    VECTOR_STORES: """
        class extension:
            def __init__(self, place):
                pass

            def put(self, vectors):
                raise OSError("no")
        """,
    RETRIEVERS: """
        class extension:
            def find(self, question):
                raise OSError("no")
        """,
    TRANSCRIPT_READERS: """
        class extension:
            def __init__(self):
                raise OSError("no")
        """,
    CURATOR_CHECKS: """
        def extension(subject):
            raise OSError("no")
        """,
}


@pytest.mark.parametrize("point", FAILING, ids=lambda point: point.title)
def test_doctor_tries_each_chosen_extension_without_any_entry(
    plane: Plane, installed: Installed, point: Point
) -> None:
    before = collect(plane.store)
    installed.use(point, "acme", FAILING[point])
    (new,) = [one for one in collect(plane.store) if one not in before]
    assert (new.code, new.where) == ("extension-failed", f"{point.variable}=acme")
    assert new.what.endswith("failed: OSError: no.")


def test_each_kind_of_extension_is_tried_or_run() -> None:
    assert {CHECKS, *FAILING} == set(POINTS)


def test_a_command_uses_what_is_installed_beside_it(plane: Plane, tmp_path: Path) -> None:
    """From the package on the disk to the output of the command, in another Python."""
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    python, project = Python(tmp_path / "python"), plane.layout.project
    install(python.folder, CHECKS, "acme", CHECK)
    install(project, CHECKS, "trap", "raise SystemExit('the clone ran')")
    (python.folder / "project.pth").write_text(f"{project}\n")
    done = python(project, "doctor")
    assert "mentions CSV" in done.stdout, done.stderr
    assert "trap" not in done.stdout
    assert "mentions CSV" not in python(project, "doctor", AGENTPLANE_CHECKS="").stdout


def test_a_hanging_extension_does_not_keep_a_command_from_ending(tmp_path: Path) -> None:
    install(tmp_path, RETRIEVERS, "acme", "while True: pass")
    code = (
        "import site, sys; from agentplane import extensions as e; sys.path.append(sys.argv[1]);"
        "site.getsitepackages = lambda: [sys.argv[1]]; e.SECONDS = 0.2\n"
        "try: e.get(e.RETRIEVERS, 'acme')\n"
        "except e.ExtensionError as error: print(error.what)"
    )
    done = subprocess.run(
        (sys.executable, "-c", code, str(tmp_path)), cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert "took more than 0.2 seconds" in done.stdout, done.stderr
    assert done.returncode == 0
