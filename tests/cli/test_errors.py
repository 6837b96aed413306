"""What a user can do wrong: one or two lines, an exit code, never a traceback."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.cli import table
from agentplane.cli.app import load
from tests.cli.conftest import Cli, candidate
from tests.conftest import ROOT


HOSTILE = [
    "",
    " ",
    "-",
    "..",
    "../../x",
    "/",
    "*",
    "%s",
    "{0}",
    "a\nb",
    "\x1b[31m",
    "\udcff",
    "\u202e",
    "漢",
    "x" * 4000,
]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["frob"], "frob"),
        (["aprove"], "approve"),
        (["STATUS"], "status"),
        ([""], "--help"),
        (["show"], "ID"),
        (["status", "extra"], "extra"),
        (["status", "--jsno"], "--json"),
        (["propose"], "STATEMENT"),
        (["propose", "two", "words"], "words"),
        (["propose", "--type"], "`agentplane propose --help`"),
        (["propose", "x", "--confidence", "high"], "high"),
        (["history", "-n", "many"], "many"),
        (["history", "-n", "0"], "0"),
        (["completion", "tcsh"], "tcsh"),
        (["completion"], "bash"),
        (["--plane"], "--plane"),
        (["--jsno"], "--jsno"),
        (["--json", "status"], "--json"),
    ],
)
def test_wrong_words_get_two_lines_at_most(plane: Plane, cli: Cli, words: list[str], said: str) -> None:
    assert said in cli(*words).refused(2)


def test_a_near_miss_is_guessed(plane: Plane, cli: Cli) -> None:
    assert "`agentplane approve`" in cli("aprove").err
    assert "Did you mean" not in cli("qqqq").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ls", "Did you mean `agentplane list`?"),
        ("find x", "Did you mean `agentplane search`?"),
        ("version", "Did you mean `agentplane --version`?"),
        ("tools rm codex", "Unknown command: tools rm. Did you mean `agentplane tools disconnect`?"),
        ("tools conect codex", "Unknown command: tools conect. Did you mean `agentplane tools connect`?"),
        ("tools list", "Did you mean `agentplane tools`?"),
        ("status --jsno", "Unknown option: --jsno. Did you mean --json?"),
        ("--json status", "Put --json after the command: `agentplane status --json`."),
        ("status --plane x", "Put --plane before the command: `agentplane --plane … status`."),
        ("tools connect --plane x", "`agentplane --plane … tools connect`."),
        ("propose two words", "Put the statement in quotes"),
        ("approve --all-clean CAND-7F3K2Q", "Use either candidate IDs or --all-clean, not both."),
    ],
)
def test_what_was_probably_meant_is_said(plane: Plane, cli: Cli, words: str, said: str) -> None:
    told = cli(*words.split()).refused(2)
    assert said in told
    assert "--version" not in told or words == "version"


@pytest.mark.parametrize("words", ["", "approve", "tools", "tools connect"])
def test_help_as_a_word(cli: Cli, words: str) -> None:
    asked = cli("help", *words.split())
    assert (asked.code, asked.err) == (0, "")
    assert asked.out == cli(*words.split(), "--help").out
    cli("help", "aprove").refused(2, "Did you mean `agentplane approve`?")


@pytest.mark.parametrize(
    "words",
    [
        *(
            [verb]
            for verb in (
                "show",
                "history",
                "approve",
                "reject",
                "deprecate",
                "edit",
                "undo",
            )
        ),
        *(["list", option] for option in ("--kind", "--status", "--tag")),
        *(
            ["propose", "x", f"--{name}"]
            for name in ("type", "source", "evidence", "supersedes", "expires", "tag")
        ),
        ["propose"],
    ],
    ids=" ".join,
)
def test_hostile_words_are_answered_in_two_lines_at_most(shelf: Plane, person: Cli, words: list[str]) -> None:
    """In this process a traceback is an exception that comes out of `run`."""
    split = ["--"] if len(words) == 1 else []
    wrong = []
    for text in HOSTILE:
        try:
            ran = person(*words, *split, text)
        except Exception as error:
            wrong.append(f"{text[:20]!r}: traceback, {error!r:.80}")
            continue
        told = ran.err.strip("\n").splitlines()
        if ran.code not in (0, 2, 3) or (ran.code and not 1 <= len(told) <= 2) or len(ran.err) > 800:
            wrong.append(f"{text[:20]!r}: exit {ran.code}, {len(told)} lines, {len(ran.err)} characters")
        if "\x1b" in ran.out + ran.err or "\u202e" in ran.out + ran.err:
            wrong.append(f"{text[:20]!r}: sent to the terminal as it is")

    assert wrong == []
    assert all(
        "no entry has this ID" in row["what"] for row in person("doctor", "--json").json("doctor")["findings"]
    )


@pytest.mark.parametrize("folder", ["nowhere", "a/b/c", "..missing", "x" * 4000, "a\nb", "\udcff"])
def test_a_plane_that_is_named_and_not_there_is_never_replaced_by_another(
    plane: Plane, cli: Cli, folder: str
) -> None:
    """A typo in --plane must not end up in the plane that happens to be here."""
    before = plane.layout.log.read_bytes()

    cli("--plane", folder, "propose", "x").refused(2, "agentplane init")
    cli("--plane", folder, "status").refused(2)

    assert plane.layout.log.read_bytes() == before


def test_a_file_for_a_plane(plane: Plane, cli: Cli, project: Path) -> None:
    (project / "file").write_text("x")
    cli("--plane", "file", "status").refused(2, "file")


def test_outside_of_any_plane(cli: Cli, project: Path) -> None:
    for verb in ("status", "inbox", "list", "history", "diff", "doctor", "undo", "badge --json"):
        cli(*verb.split()).refused(2, str(project), "No .agentplane directory found", "agentplane init")
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("verb", ["status", "init --yes", "propose x", "doctor"])
def test_in_a_folder_that_was_deleted(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    gone = project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    ran = cli(*verb.split())

    assert ran.code in (2, 4)
    assert len(ran.err.strip().splitlines()) <= 2


def test_from_a_subfolder(plane: Plane, cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "src" / "deep").mkdir(parents=True)
    top = cli("status").out
    monkeypatch.chdir(project / "src" / "deep")
    assert cli("status").out == top
    id_ = candidate(cli)
    assert plane.memory.read().inbox[0].id == id_


@pytest.mark.parametrize("named", [".agentplane", ".", "src", "src/../.agentplane"])
def test_a_plane_can_be_named_by_itself_or_by_a_folder_in_its_project(
    plane: Plane, cli: Cli, project: Path, named: str
) -> None:
    (project / "src").mkdir()
    assert cli("--plane", named, "status").out == cli("status").out
    assert cli("--plane", str(project / named), "status").code == 0


def test_the_environment_names_a_plane(
    plane: Plane, cli: Cli, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTPLANE_PLANE", str(plane.layout.root))
    monkeypatch.chdir(tmp_path)
    assert str(plane.layout.root) in cli("status").out


def test_a_plane_that_the_environment_names_and_is_not_there(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who set it long ago should not look for the mistake here."""
    (project / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        monkeypatch.setenv("AGENTPLANE_PLANE", folder)
        cli("status").refused(2, folder, "AGENTPLANE_PLANE")
    assert "AGENTPLANE_PLANE" not in cli("--plane", "nowhere", "status").refused(2)


def test_the_screens_in_a_browser_without_what_serves_them(
    plane: Plane, person: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says to type is what docs/guides/browser.md says."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "textual_serve" else find_spec(name)
    )
    told = person("web").refused(2, "not installed")
    for command in re.findall(r"`([^`]*)`", told):
        assert command in (ROOT / "docs" / "guides" / "browser.md").read_text()
    assert "pip install '.[web]'" in told


CONFIGS = [
    (b'[trust]\nhand_editz = "review"\n', ":2:", "hand_edits"),
    (b"[trust]\nhand_edits = 3\n", ":2:", "hand_edits"),
    (b'[trust]\n\nhand_edits = "banana"\n', ":3:", "banana"),
    (b"[trust]\ntools_may_approve = 1\n", ":2:", "tools_may_approve"),
    (b"[trust\n", ":1:", "]"),
    (b"x = 1\nx = 2\n", ":2:", "overwrite"),
    (b"[trust]\n\xff\n", ":2:", "UTF-8"),
    (b"trust = 3\n", ":1:", "trust"),
    (b"[surprise]\n", ":1:", "surprise"),
    (b"[write]\nlock_timeout = -1\n", ":2:", "lock_timeout"),
    (b"[policy]\nauto_approve_confidence = 7\n", ":2:", "auto_approve_confidence"),
    (b'[kinds.decision]\nprefix = "XX"\nfile = "x.md"\n', ".agentplane/config.toml:1:", "decision"),
    (b'[kinds.pref]\nprefix = "CAND"\nfile = "x.md"\n', ".agentplane/config.toml:", "CAND"),
    (b'[kinds.pref]\nprefix = "PREF"\nfile = "facts.md"\n', ".agentplane/config.toml:", "facts.md"),
    (b'[kinds.pref]\nprefix = "PREF"\nfile = "../x.md"\n', ":3:", "kinds.pref.file"),
    (b'[kinds.pref]\nprefix = "p"\nfile = "x.md"\n', ":2:", "kinds.pref.prefix"),
    (b'[kinds.pref]\nfile = "x.md"\n', ":1:", "prefix"),
    (b'[kinds."a b"]\nprefix = "AB"\nfile = "x.md"\n', ":1:", "a b"),
]


@pytest.mark.parametrize(("config", "where", "said"), CONFIGS)
def test_a_broken_config_is_named_with_its_line(
    plane: Plane, cli: Cli, config: bytes, where: str, said: str
) -> None:
    plane.layout.config.write_bytes(config)
    before = plane.layout.log.read_bytes()

    for verb in ("status", "propose x"):
        cli(*verb.split()).refused(2, ".agentplane/config.toml", where, said)
    ran = cli("doctor")

    assert ran.code == 1
    assert where in ran.out
    assert plane.layout.log.read_bytes() == before


def test_every_key_of_the_settings_can_be_set(plane: Plane, cli: Cli) -> None:
    plane.layout.config.write_text(
        '[trust]\nhand_edits = "accept"\ntools_may_approve = true\n[policy]\nauto_approve_confidence = 0.9\n'
        '[write]\nlock_timeout = 3\n[kinds.preference]\nprefix = "PREF"\nfile = "preferences.md"\nlabel = "We like"\n'
    )
    id_ = candidate(cli, "Short names.", "--type", "preference")
    assert cli("approve", id_).out == f"{id_} -> PREF-001\n"
    assert "We like: Short names." in (plane.layout.memory / "preferences.md").read_text()
    assert cli("list", "--kind", "preference").out.split()[0] == "PREF-001"
    assert cli("doctor").code == 0


def test_the_config_that_init_writes_says_what_the_defaults_are(plane: Plane, cli: Cli) -> None:
    """Taking away every `# ` before a key leaves settings that are read."""
    lines = plane.layout.config.read_text().splitlines()
    keys = [line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in lines]
    plane.layout.config.write_text("\n".join(keys))
    assert cli("status").code == 0


@pytest.mark.parametrize("row", table.documented(), ids=lambda row: row.name)
def test_each_command_has_a_help_text_that_fits(
    cli: Cli, row: table.Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = cli(*row.name.split(), "--help")

    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith(f"Usage: agentplane {row.name} ")
    assert lines[2].split()[0].rstrip(",.") == row.summary.split()[0].rstrip(",")
    assert max(map(len, lines)) <= 80
    examples = ran.out.partition("\nExamples:\n")[2].splitlines()
    assert examples
    assert all(line.startswith("  agentplane ") for line in examples)
    for part in table.parts_of(row.name):
        assert f"\n  {part.name.split()[1]} " in ran.out.partition("\nCommands:")[2]


@pytest.mark.parametrize("row", table.documented(), ids=lambda row: row.name)
def test_each_example_is_a_command_line(row: table.Row) -> None:
    """Its command and its options exist. Nothing is run."""
    for example in load(row).examples:
        words = [word for word in shlex.split(example.partition(" <")[0].partition(" >")[0]) if word != "-h"]
        called = table.called(words)
        assert called is not None
        assert called.old is None
        assert called.row.target == row.target or called.row.name.startswith(row.name)
        if "--" not in words:
            load(called.row).make_context(called.row.name, [*called.rest])


PRINT_DATA = ["status", "inbox", "list", "show", "history", "diff", "propose", "doctor", "badge"]


@pytest.mark.parametrize("name", PRINT_DATA)
def test_what_prints_data_has_json(cli: Cli, name: str) -> None:
    assert "--json" in cli(name, "--help").out


def test_help_lists_the_commands_in_groups_on_one_screen(cli: Cli) -> None:
    out = cli("--help").out
    lines = out.splitlines()
    for row in table.ROWS:
        assert sum(line.split()[:1] == [row.name] for line in lines) == (row.group is not None), row.name
    assert all(f"{group}:" in lines for group in table.GROUPS)
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert cli("-h").out == out


OLD = [(old, " ".join((row.name, *added))) for row in table.ROWS for old, added in row.old.items()]


@pytest.mark.parametrize(("old", "new"), OLD)
def test_an_old_name_works_and_says_the_new_one(shelf: Plane, person: Cli, old: str, new: str) -> None:
    ran, now = person(*old.split(), "--help"), person(*new.split(), "--help")
    assert ran.out == now.out
    assert ran.err == f"`agentplane {old}` is now `agentplane {new}`.\n"
    assert old not in person("--help").out.split()


def test_an_old_name_says_nothing_to_programs(shelf: Plane, cli: Cli) -> None:
    assert cli("ops", "--json").err == ""
    assert cli("settle", "--quiet").err == ""
    assert cli("recall", "textual").err == ""
    assert cli("recall", "textual").out == cli("search", "textual").out


def test_the_old_diff_compares_runs(shelf: Plane, cli: Cli) -> None:
    run = cli("run", "log", "--summary", "x").out.strip()
    told = cli("diff", "--run", run, "--against", run)
    assert told.err == "`agentplane diff --run` is now `agentplane run diff --run`.\n"
    assert told.out == cli("run", "diff", "--run", run, "--against", run).out


def test_a_program_that_has_the_name_of_a_subcommand(plane: Plane, cli: Cli, project: Path) -> None:
    (project / "a").write_text("a\n")
    (project / "b").write_text("b\n")
    assert cli("run", "--quiet", "--", "diff", "a", "b").code == 1
    cli("run", "diff", "a", "b").refused(2, "agentplane run diff --help")


def test_version(cli: Cli) -> None:
    from agentplane import __version__

    assert __version__ in cli("--version").out


@pytest.mark.parametrize(
    "words", [["show", "FACT-001"], ["list"], ["inbox"], ["status"], ["doctor"], ["history"]]
)
def test_json_comes_alone_and_data_never_goes_to_stderr(shelf: Plane, cli: Cli, words: list[str]) -> None:
    candidate(cli)
    ran = cli(*words, "--json")
    assert ran.err == ""
    assert ran.out.startswith("{")
    assert ran.out.endswith("}\n")
