"""agentplane curate: its output, JSON, exit codes, report, remedies and dismissals."""

import json
import shlex
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentplane.api import Plane
from agentplane.cli.app import run
from agentplane.curate.kinds import KINDS
from tests.cli.conftest import Cli, change_by_hand
from tests.conftest import plane_in
from tests.curate.shelves import add, at


NOW = datetime.now(UTC)


def ago(plane: Plane, days: int) -> Plane:
    return at(plane, NOW - timedelta(days=days))


@pytest.fixture
def stale(git_project: Path) -> Plane:
    """DEC-001 was edited by hand, ASM-001 and ASM-002 are old, and DEC-002 is about no file."""
    plane = plane_in(git_project)
    add(ago(plane, 100), "Reports are CSV files.")
    add(ago(plane, 100), "The API answers in 200 ms.", "assumption")
    add(ago(plane, 100), "Merchants have one currency.", "assumption")
    add(ago(plane, 100), "Handlers are small.", scope=("handlers/**",))
    change_by_hand(plane, "decisions.md", "CSV", "Parquet")
    return plane


def findings(cli: Cli, *words: str) -> list[dict[str, Any]]:
    return cli("curate", "--json", *words).json("curate")["findings"]  # type: ignore[no-any-return]


def test_groups_proofs_and_commands(stale: Plane, cli: Cli) -> None:
    ran = cli("curate")
    assert ran.code == 0
    heads = [line for line in ran.out.splitlines() if line.endswith(")") and line.startswith(("D", "P", "C"))]
    assert heads == ["Decide now (1)", "Probably stale (2)", "Clean up (1)"]
    assert "+Decision: Reports are Parquet files." in ran.out
    assert "Still true: agentplane renew ASM-001" in ran.out
    assert "Health: 25%" in ran.out
    assert ran.err == ""


def test_nothing_to_do(git_project: Path, cli: Cli) -> None:
    add(plane_in(git_project), "Reports are CSV files.")
    ran = cli("curate")
    assert (ran.code, ran.err) == (0, "No findings.\n")
    assert ran.out.startswith("Health: 100%")


def test_json(stale: Plane, cli: Cli) -> None:
    data = cli("curate", "--json").json("curate")
    assert [(one["kind"], one["id"], one["group"]) for one in data["findings"]] == [
        ("manual-edit", "DEC-001", "decide"),
        ("old", "ASM-001", "stale"),
        ("old", "ASM-002", "stale"),
        ("scope-empty", "DEC-002", "tidy"),
    ]
    first = data["findings"][0]
    assert first["proof"]["type"] == "diff"
    assert [one["command"] for one in first["remedies"]] == [
        "agentplane approve --edits DEC-001",
        "agentplane reject --edits DEC-001",
    ]
    (written,) = first["remedies"][1]["preview"]
    assert written["file"] == ".agentplane/memory/decisions.md"
    assert "+Decision: Reports are CSV files." in written["diff"]
    assert data["health"]["percent"] == 25
    assert data["health"]["never_bound"] == 4
    assert (data["dismissed"], data["snoozed"], data["troubles"]) == (0, 0, [])
    assert len(data["checked"]) == 4


EXITS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("--fail-on", "error"), 0),
    (("--fail-on", "warning"), 1),
    (("--fail-on", "info"), 1),
    (("--only", "old", "--fail-on", "warning"), 1),
    (("--only", "unused", "--fail-on", "info"), 0),
    (("DEC-002", "--fail-on", "warning"), 1),
)


def test_exit_codes(stale: Plane, cli: Cli) -> None:
    for words, code in EXITS:
        assert cli("curate", *words).code == code
    assert cli("curate", "--json", "--fail-on", "warning").code == 1


def test_a_check_that_cannot_run_fails_too(stale: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTPLANE_CURATOR_CHECKS", "missing")
    ran = cli("curate", "--fail-on", "error")
    assert ran.code == 1
    assert "No installed package provides" in ran.out


def test_one_entry_has_its_proof_in_full(stale: Plane, cli: Cli) -> None:
    file = stale.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("Parquet files.", "Parquet files.\n\n" + "More.\n" * 20))
    assert "more lines" in cli("curate").out
    assert cli("curate", "DEC-001").out.count("+More.") == 20
    assert cli("curate", "-v").out.count("+More.") == 20
    assert "ASM-001" not in cli("curate", "DEC-001").out


def test_wrong_words(stale: Plane, cli: Cli) -> None:
    cli("curate", "--only", "nonsense").refused(2, "Unknown kind of finding", "Use check-failed")
    cli("curate", "DEC-999").refused(2, "DEC-999")
    cli("curate", "--since", "nowhere").refused(2, "Git revision not found")
    cli("curate", "--why", "x").refused(2, "--why")
    cli("curate", "--until", "1d").refused(2, "--until")
    cli("curate", "--apply", "old", "--dismiss", "0123456789").refused(2, "Use only one")


def test_since_a_revision(stale: Plane, cli: Cli) -> None:
    project = stale.layout.project

    def git(*words: str) -> None:
        subprocess.run(("git", *words), cwd=project, check=True, capture_output=True)

    stale.memory.revert()
    add(ago(stale, 100), "The rate is 19 percent.", "assumption", scope=("app/**",))
    git("add", ".")
    git("commit", "-q", "-m", "memory")
    assert findings(cli, "--since", "HEAD") == []
    (project / "app").mkdir()
    (project / "app/api.py").write_text("x\n")
    assert {one["id"] for one in findings(cli, "--since", "HEAD")} == {"ASM-003"}
    git("add", ".")
    git("commit", "-q", "-m", "code")
    assert {one["id"] for one in findings(cli, "--since", "HEAD~1")} == {"ASM-003"}
    assert findings(cli, "--since", "HEAD") == []
    add(ago(stale, 100), "Deploys wait for the bank.", "assumption", evidence=("app/api.py:1",))
    git("add", ".")
    git("commit", "-q", "-m", "evidence")
    (project / "app/api.py").write_text("y\n")
    assert "ASM-004" in {one["id"] for one in findings(cli, "--since", "HEAD")}
    git("checkout", "-q", ".")
    ago(stale, 95).memory.tag(["ASM-001"], ["speed"])
    assert {one["id"] for one in findings(cli, "--since", "HEAD")} == {"ASM-001"}
    assert len(findings(cli)) == 5


def test_since_needs_git(plane: Plane, cli: Cli) -> None:
    cli("curate", "--since", "HEAD").refused(2, "Git revision not found: HEAD")


def test_the_report(stale: Plane, cli: Cli, tmp_path: Path) -> None:
    file = stale.layout.memory / "decisions.md"
    file.write_text(file.read_text().replace("Parquet", "`Parquet`\n````\n<script>"))
    path = tmp_path / "report.md"
    assert cli("curate", "--report", str(path)).code == 0
    text = path.read_text()
    assert "## Decide now (1)" in text
    assert "### ASM-001: Not checked for a long time" in text
    assert "- Still true: `agentplane renew ASM-001`" in text
    fence = "`````diff\n"
    assert text.partition(fence)[2].partition("\n`````\n")[0].count("+````") == 1


def test_apply_asks_and_is_one_operation(stale: Plane, person: Cli) -> None:
    before = len(stale.history.ops())
    ran = person("curate", "--apply", "old", typing="n\n")
    assert ran.code == 130
    assert "agentplane renew ASM-001" in ran.out
    assert "Apply 2 remedies?" in ran.err
    assert len(stale.history.ops()) == before
    assert person("curate", "--apply", "old", typing="y\n").code == 0
    assert len(stale.history.ops()) == before + 1
    assert findings(person, "--only", "old") == []
    person("undo")
    assert len(findings(person, "--only", "old")) == 2


def test_apply_for_one_entry(stale: Plane, person: Cli) -> None:
    assert person("curate", "ASM-002", "--apply", "old", "--yes").code == 0
    assert [one["id"] for one in findings(person, "--only", "old")] == ["ASM-001"]


def test_only_a_person_may_apply_or_dismiss(stale: Plane, cli: Cli) -> None:
    cli("curate", "--apply", "old", "--yes").refused(3, "Applying remedies requires a person")
    key = findings(cli)[0]["key"]
    cli("curate", "--dismiss", key).refused(3, "Dismissing findings requires a person")
    stale.layout.config.write_text("[trust]\ntools_may_approve = true\n")
    cli("curate", "--apply", "old").refused(2, "Pass --yes")
    assert cli("curate", "--apply", "old", "--yes").code == 0


def test_a_remedy_that_needs_a_choice_is_named(stale: Plane, person: Cli) -> None:
    ran = person("curate", "--apply", "scope-empty", "--yes")
    assert ran.code == 2
    assert "agentplane edit DEC-002 --scope GLOB" in ran.err


def test_dismiss_snooze_and_show(stale: Plane, person: Cli) -> None:
    keys = {one["id"]: one["key"] for one in findings(person)}
    ran = person("curate", "--dismiss", keys["ASM-001"], "--why", "Measured every night.")
    assert ran.code == 0
    assert "Dismissed findings about ASM-001" in ran.err
    assert person("curate", "--snooze", keys["ASM-002"], "--until", "2w").code == 0
    ran = person("curate")
    assert "ASM-001" not in ran.out
    assert "Not listed: 1 dismissed and 1 snoozed." in ran.err
    shown = person("curate", "--show-dismissed").out
    until = (NOW + timedelta(days=14)).date()
    assert "(dismissed)" in shown
    assert f"(snoozed until {until})" in shown
    data = person("curate", "--json", "--show-dismissed").json("curate")
    assert {(one["id"], one["until"]) for one in data["put_aside"]} == {
        ("ASM-001", None),
        ("ASM-002", until.isoformat()),
    }
    assert "Measured every night." in person("history", "ASM-001").out


def test_every_command_of_a_remedy_is_one_that_agentplane_has(stale: Plane, cli: Cli) -> None:
    for one in findings(cli):
        for remedy in one["remedies"]:
            words = shlex.split(remedy["command"])
            assert words[0] == "agentplane"
            assert run([words[1], "--help"]) == 0


def test_status_has_one_line(stale: Plane, cli: Cli) -> None:
    assert "decision" not in cli("status").out
    assert cli("status", "--json").json("status")["findings"] is None
    cli("curate")
    assert "  1 finding needs a decision. Run `agentplane curate`.\n" in cli("status").out
    add(stale, "Logs are kept.")
    assert "As of 20" in cli("status").out
    stale.memory.revert()
    cli("curate")
    assert "decision. Run" not in cli("status").out
    data = cli("status", "--json").json("status")["findings"]
    assert (data["to_decide"], data["total"], data["current"]) == (0, 3, True)


def test_a_hidden_character_is_shown(stale: Plane, cli: Cli) -> None:
    change_by_hand(stale, "decisions.md", "Parquet", "Par\u202equet\x1b[31m")
    ran = cli("curate")
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert json.loads(cli("curate", "--json").out)


def test_every_kind_can_be_asked_for(stale: Plane, cli: Cli) -> None:
    for kind in KINDS:
        assert {one["kind"] for one in findings(cli, "--only", kind)} <= {kind}


@pytest.fixture
def checked(git_project: Path) -> Plane:
    """Two assumptions with the same command, which leaves a trace and fails."""
    plane = plane_in(git_project)
    for statement in ("The API answers in 200 ms.", "Merchants have one currency."):
        add(plane, statement, "assumption", check="run: echo seen >> trace; exit 3")
    return plane


def ran(plane: Plane) -> int:
    path = plane.layout.project / "trace"
    return path.read_text().count("seen") if path.exists() else 0


def test_a_command_runs_only_if_a_person_allows_it_and_asks_for_it(
    checked: Plane, person: Cli, cli: Cli
) -> None:
    for words in ((), ("--run-checks",)):
        assert cli("curate", *words).code == 0
        assert ran(checked) == 0
    assert {one["kind"] for one in findings(cli)} == {"check-unapproved"}
    no = person("curate", "--run-checks", typing="n\n")
    assert "echo seen >> trace; exit 3" in no.err
    assert "ASM-001, ASM-002" in no.err
    assert ran(checked) == 0
    yes = person("curate", "--run-checks", typing="y\n")
    assert ran(checked) == 1
    assert yes.out.count("The check of ASM-") == 2
    person("curate")
    assert ran(checked) == 1, "nobody asked for it"
    cli("curate", "--run-checks")
    assert ran(checked) == 2, "cron may run what a person allowed"


def test_a_tool_cannot_allow_a_command(checked: Plane, person: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert person("curate", "--run-checks", typing="y\n").code == 3
    assert ran(checked) == 0


def test_run_checks_is_for_a_pass(checked: Plane, person: Cli) -> None:
    assert person("curate", "--run-checks", "--apply", "old").code == 2


SECRET = "https://uploader:Kx92mQvT7pLw@files.example.test"


def test_a_secret_reaches_no_tool_and_no_report(
    git_project: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = plane_in(git_project)
    plane.layout.config.write_text("[gate]\nsecret = 'flag'\n")
    add(ago(plane, 100), f"TODO: replace the uploader {SECRET}.", "assumption")
    add(ago(plane, 100), "Reports are CSV files.")
    change_by_hand(plane, "decisions.md", "Reports are CSV files.", f"Reports go to {SECRET}.")
    for words in (("curate",), ("curate", "--json"), ("curate", "-v")):
        assert "Kx92mQvT7pLw" in cli(*words).out, "a person sees it"
    path = tmp_path / "report.md"
    cli("curate", "--report", str(path))
    assert "Kx92mQvT7pLw" not in path.read_text()
    assert "### ASM-001: Not checked for a long time" in path.read_text()
    key = findings(cli, "ASM-001")[0]["key"]
    monkeypatch.setenv("CLAUDECODE", "1")
    for words in (("curate",), ("curate", "--json"), ("curate", "-v"), ("curate", "DEC-001", "--json")):
        ran = cli(*words)
        assert "Kx92mQvT7pLw" not in ran.out + ran.err
        assert "ASM-001" in ran.out or "DEC-001" in ran.out
    assert findings(cli, "ASM-001")[0]["key"] == key
