"""The documentation says what the program does."""

import os
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest

from agentplane.agents.catalog import TOOLS
from agentplane.api import Plane
from agentplane.cli.app import run
from agentplane.cli.table import documented
from agentplane.curate.kinds import KINDS
from agentplane.memory.entry import Header
from agentplane.memory.kinds import BUILT_IN
from agentplane.plane import settings, settings_read, settings_table
from agentplane.plane.settings_table import SETTINGS, VARIABLES, Setting, Variable
from tests.conftest import ROOT, decision
from tests.docs import generate
from tests.docs.sessions import Session, Step, steps


DOCS = ROOT / "docs"
EXAMPLE = ROOT / ".agentplane-example"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
FIRST_RUN = "20260127T101502Z-k3f9qa"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def names(pages: list[Path]) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


def outside_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """The rows of the table whose first heading this is, by their first cell."""
    found: dict[str, list[str]] = {}
    for table in re.findall(rf"^\| {heading} \|.*\n\| ---.*\n((?:\|.*\n)+)", page, re.MULTILINE):
        for line in table.splitlines():
            first, *rest = (cell.strip() for cell in line.strip("|").split(" | "))
            found[first] = rest
    return found


def anchors(page: Path) -> set[str]:
    return set(map(generate.anchor_of, generate.headings_of(page.read_text())))


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_relative_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(outside_code(page.read_text())):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), link
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_every_page_can_be_reached_from_the_readme(page: Path) -> None:
    seen, todo = set[Path](), [ROOT / "README.md"]
    while todo:
        here = todo.pop()
        if here in seen or here.suffix != ".md":
            continue
        seen.add(here)
        links = (link.partition("#")[0] for link in LINK.findall(outside_code(here.read_text())))
        todo += [(here.parent / link).resolve() for link in links if link and "://" not in link]
    assert page in seen


def test_every_command_is_in_the_reference() -> None:
    text = (DOCS / "reference/commands.md").read_text()
    assert [row.name for row in documented() if f"\n## agentplane {row.name}\n" not in text] == []


def test_what_is_generated_is_up_to_date() -> None:
    made = generate.generated()
    stale = {path.name: generate.changed_lines(path, made[path]) for path in generate.stale(made)}
    assert stale == {}, "run: python -m tests.docs.generate"


def test_generated_help_has_no_styles_even_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" not in generate.commands()


def test_the_picture_is_svg_and_shows_what_the_program_prints() -> None:
    tree = ET.fromstring(generate.PICTURE.read_text())
    text = "".join(tree.itertext())
    assert "agentplane inbox" in text
    assert "agentplane approve CAND-" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["status"], "status"),
        (["badge"], "badge"),
        (["inbox"], "inbox"),
        (["list"], "list"),
        (["show", "DEC-1"], "show"),
        (["history", "DEC-1"], "history"),
        (["propose", "Another."], "propose"),
        (["history"], "ops"),
        (["timeline"], "timeline"),
        (["run", "log", "--fact", "The port is 1.", "--fact", "a-fact-without-statement"], "log"),
        (["run", "diff", "--run", FIRST_RUN], "diff"),
        (["run", "artifacts", "--verify"], "artifacts"),
        (["doctor"], "doctor"),
        (["curate"], "curate"),
        (["check", "--base", "HEAD"], "check"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_json_keys_are_documented(
    words: list[str],
    name: str,
    plane: Plane,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ids = [plane.propose(decision("One.")), plane.propose(decision("Two."))]
    run_with_all_fields(plane)
    plane.inbox.approve(ids[:1])
    decisions = plane.layout.memory / "decisions.md"
    decisions.write_text(decisions.read_text() + "By hand.\n")
    monkeypatch.chdir(plane.layout.project)
    subprocess.run(("git", "init", "-q"), check=True)
    run([*words, "--json"])
    data = msgspec.json.decode(capsys.readouterr().out)
    assert data.pop("schema") == f"agentplane/{name}@1"
    page = (DOCS / "reference/commands.md").read_text()
    told = [cells[1] for cells in rows(page, "command").values() if f"`{name}`" in cells[0]]
    told += [cells[0] for names, cells in rows(page, "object").items() if f"`{name}." in names]
    documented = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", " ".join(told))))) - {"refused"}
    used = set(data)
    for value in data.values():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            used |= set(value[0])
    assert used - documented == set()
    # Keys without data here: of an empty list, and of an object in an object.
    empty = {
        "doctor": {"fixed"},
        "log": {"refused"},
        "inbox": {"state", "day", "days_left", "reason", "until"},
        "curate": CURATE_EMPTY,
        "status": {"current", "behind", "missing", "at", "to_decide", "total"},
        # One row of the table has both: `history` with an ID, and without one.
        "history": {"ops"},
        "ops": {"id", "steps"},
    }.get(name, set())
    assert documented - used <= empty


CURATE_EMPTY = {
    *(
        "type",
        "lines",
        "text",
        "diff",
        "commit",
        "author",
        "date",
        "pair",
        "one",
        "other",
        "one_text",
        "other_text",
    ),
    *(
        "reason",
        "output",
        "command",
        "exit_code",
        "name",
        "title",
        "preview",
        "file",
        "percent",
        "entries",
        "sound",
    ),
    *(
        "found",
        "bound",
        "unchanged",
        "never_bound",
        "until",
        "code",
        "remedy",
        "fixable",
        "op",
        "verb",
        "null",
    ),
}
"""The keys of objects in the findings of `curate`, and those without data."""


def run_with_all_fields(plane: Plane) -> None:
    """Two runs that differ in everything that `diff` looks at."""
    (plane.layout.project / "a").write_text("1\n")
    plane.write_log({"run_id": FIRST_RUN, "derived_facts": ["One port is 7000."], "outputs": [{"path": "a"}]})
    plane.inbox.approve([plane.propose(decision("Amounts are whole cents."))])
    plane.write_log({"derived_facts": ["It rains in May.", "a-fact-that-waits"]})


def test_every_setting_is_documented_with_its_default() -> None:
    table = rows((DOCS / "reference/settings.md").read_text(), "key")
    kind = list(settings_table.rows(settings.KindRow, "kinds.NAME."))
    assert sorted(name.strip("`") for name in table) == sorted(one.name for one in (*SETTINGS, *kind))
    for one in SETTINGS:
        default, effect = table[f"`{one.name}`"]
        assert one.what in effect
        if one.default is None:
            assert default == "not set"
        else:
            shown = tomllib.loads(f"key = {default.strip('`')}")["key"]
            assert (tuple(shown) if isinstance(shown, list) else shown) == one.default
    for one in kind:
        assert (table[f"`{one.name}`"][0] == "required") == (one.default is msgspec.NODEFAULT)


@pytest.mark.parametrize("row", [*SETTINGS, *VARIABLES], ids=lambda row: row.name)
def test_the_page_of_a_setting_explains_it(row: Setting | Variable) -> None:
    path, _, anchor = row.page.partition("#")
    assert (DOCS / path).is_file()
    assert not anchor or anchor in anchors(DOCS / path)
    text = (DOCS / path).read_text()
    known = (DOCS / "reference/settings.md").read_text()
    assert row.name.rpartition(".")[2] in text or f"]({_from_settings(row.page)})" in known


def _from_settings(page: str) -> str:
    """A page as the page of settings links to it."""
    return os.path.relpath(page, "reference").removeprefix("settings.md")


def test_every_sentence_about_a_setting_is_one() -> None:
    for row in (*SETTINGS, *VARIABLES):
        assert row.what.endswith((".", ".`")), row.name
        assert row.what[:1].isupper() or row.what.startswith("`"), row.name


def test_settings_in_the_page_are_accepted() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (DOCS / "reference/settings.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        settings_read.parse(block.encode(), "settings.md")


def test_every_header_key_is_documented_and_no_other() -> None:
    text = (DOCS / "reference/formats.md").read_text()
    section = text.partition("### Header keys")[2].partition("###")[0]
    assert {name.strip("`") for name in rows(section, "key")} == set(Header.__struct_fields__)


def test_every_kind_of_finding_has_a_section() -> None:
    headings = generate.headings_of((DOCS / "guides/curator.md").read_text())
    assert [row.title for row in KINDS.values() if row.title not in headings] == []


def test_the_kinds_are_documented() -> None:
    table = rows((DOCS / "concepts/glossary.md").read_text(), "kind")
    assert {name: cells[:2] for name, cells in table.items()} == {
        kind.name: [f"`{kind.prefix}`", f"`{kind.file}`"] for kind in BUILT_IN
    }


def test_the_variables_of_tools_are_documented() -> None:
    text = (DOCS / "concepts/safety.md").read_text()
    assert [name for tool in TOOLS for name in tool.variables if f"`{name}`" not in text] == []


def test_what_only_a_person_may_do_is_listed(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that refuses where there is no terminal, and no other."""
    section = (DOCS / "concepts/safety.md").read_text().partition("## Only people approve\n")[2]
    listed = set(re.findall(r"`([\w-]+)[^`]*`", section.partition("refuse")[0]))
    monkeypatch.chdir(plane.layout.project)
    words = {
        "send-back": ["x", "-m", "x"],
        "run": ["--", "true"],
        "check": ["--base", "HEAD"],
        "restart": ["--all"],
        "settings": ["tools.restart", "auto"],
        "supersede": ["x", "--by", "y"],
    }
    left_out = {"badge", "completion", "demo", "hook", "mcp", "search", "run", "init", "merge-file"}
    names = {row.name for row in documented() if not row.is_part}
    for name in names - left_out:
        takes_id = name in (
            "approve",
            "reject",
            "send-back",
            "snooze",
            "edit",
            "merge",
            "split",
            "renew",
            "deprecate",
            "pin",
            "show",
            "history",
            "propose",
        )
        code = run([name, *words.get(name, ["x"] if takes_id else [])])
        assert (code == 3) == (name in listed) or name == "propose", name
    assert run(["propose", "x", "--again"]) == 3
    capsys.readouterr()


def check_log(log: Path) -> subprocess.CompletedProcess[str]:
    """Runs the snippet of the page on formats over a log."""
    found = re.search(
        r"is run by tests.*?```python\n(.*?)```", (DOCS / "reference/formats.md").read_text(), re.DOTALL
    )
    assert found
    return subprocess.run(
        [sys.executable, "-c", found[1], str(log)], capture_output=True, text=True, timeout=60, check=False
    )


def test_the_snippet_verifies_the_log_of_the_example() -> None:
    done = check_log(EXAMPLE / "memory" / "log.jsonl")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_snippet_finds_a_changed_line(tmp_path: Path) -> None:
    lines = (EXAMPLE / "memory" / "log.jsonl").read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b'"channel":"mcp"' in line)
    lines[at] = lines[at].replace(b'"channel":"mcp"', b'"channel":"tui"')
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"".join(lines))
    done = check_log(log)
    assert done.returncode == 1
    assert f"line {at + 1} was changed" in done.stderr


def test_the_house_is_drawn_as_the_import_rules_have_it() -> None:
    drawn = re.findall(r"^(\w+)/ ", (DOCS / "architecture.md").read_text(), re.MULTILINE)
    assert drawn == generate.rooms()


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert targets
    for page in PAGES:
        named = re.findall(r"(?:^|`)make (\w+)(?= +#|`|$)", page.read_text(), re.MULTILINE)
        assert set(named) <= targets, page


def test_the_python_example_runs(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r"```python\n(.*?)```", (DOCS / "reference/python.md").read_text(), re.DOTALL)
    assert found
    monkeypatch.chdir(plane.layout.project)
    exec(found[1], {})
    assert [entry.statement for entry in plane.memory.read().inbox] == ["Use Textual for the TUI."]


# The README's session has a test of its own.
SESSIONS = [page for page in PAGES[1:] if any(steps(page.read_text()))]


@pytest.mark.slow
@pytest.mark.parametrize("page", SESSIONS, ids=names(SESSIONS))
def test_sessions_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    session = Session(home)
    for step in steps(page.read_text()):
        session.run(step)


@pytest.mark.slow
def test_the_five_minutes_end_where_they_say(tmp_path: Path) -> None:
    """What they show, and what is on disk afterwards."""
    home = tmp_path / "home"
    home.mkdir()
    session = Session(home)
    for step in steps((ROOT / "README.md").read_text()):
        session.run(step)
    memory = home / ".agentplane" / "memory"
    assert "Keep amounts as whole minor units." in (memory / "decisions.md").read_text()
    assert "Keep amounts as whole minor units." in (home / "AGENTS.md").read_text()
    assert "CAND-" not in (memory / "candidates.md").read_text()
    assert check_log(memory / "log.jsonl").returncode == 0


def test_progress_that_a_slow_machine_shows_is_not_compared(tmp_path: Path) -> None:
    home = tmp_path / "ada"
    home.mkdir()
    slow = "printf '\\r\\033[KChecked 5 of 7\\r\\033[KChecked 6 of 7\\r\\033[Kdone\\n'"
    Session(home).run(Step(slow, "done"))


def test_a_session_that_prints_something_else_fails(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    session = Session(home)
    session.run(Step("echo one; echo two", "one\ntwo"))
    session.run(Step("echo one; echo two", "...\ntwo"))
    session.run(Step("echo CAND-ABCDEF CAND-ABCDEF", "CAND-111111 CAND-111111"))
    session.run(Step("echo CAND-111111", "CAND-111111"))
    for command, shown in (
        ("echo one", "two"),
        ("echo CAND-AAAAAA", "CAND-111111"),
        ("echo one; echo two", "one"),
    ):
        with pytest.raises(AssertionError, match="the page shows"):
            session.run(Step(command, shown))
