"""The example project that shows what agentplane does."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import open_plane
from agentplane.demo import example
from agentplane.health import collect
from tests.cli.conftest import Cli
from tests.cli.project.test_setup import tree


def test_it_has_something_of_everything(cli: Cli, project: Path) -> None:
    ran = cli("demo", "--into", "here")

    assert ran.code == 0
    folder = project / "here" / "payments-api"
    assert "CAND-" in ran.out
    assert "here/payments-api" in ran.err
    assert cli("--plane", str(folder), "status", "--json").json("status")["waiting"] >= 8
    assert len(cli("--plane", str(folder), "list", "--status", "all", "--json").json("list")["entries"]) >= 25
    rows = cli("--plane", str(folder), "doctor", "--json").json("doctor")["findings"]
    assert not [row for row in rows if row["severity"] == "error"]


def test_its_story_ends_now_and_is_committed(cli: Cli, project: Path) -> None:
    assert cli("demo", "--into", "here").code == 0
    folder = project / "here" / "payments-api"
    times = [
        json.loads(line)["ts"] for line in (folder / ".agentplane/memory/log.jsonl").read_text().splitlines()
    ]
    now = datetime.now(UTC)
    assert all(datetime.fromisoformat(time) <= now for time in times)
    assert now - datetime.fromisoformat(max(times)) < timedelta(days=1)
    status = subprocess.run(
        ("git", "status", "--short"), cwd=folder, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""


def test_a_story_at_any_time_is_a_sound_memory(project: Path) -> None:
    (project / "app").mkdir()
    (project / "app" / "webhooks.py").write_text("min(3600.0, 2)")
    world = example.create_memory(project, datetime(2028, 2, 20, 23, 59, 50, tzinfo=UTC))
    assert timedelta() < world.start + example.DURATION - world.now < timedelta(days=1)
    assert not [one for one in collect(open_plane(project).store) if one.severity == "error"]


def test_it_writes_over_nothing(cli: Cli, project: Path) -> None:
    (project / "payments-api").mkdir()
    (project / "payments-api" / "mine").write_text("mine")
    cli("demo", "--into", ".").refused(2, "payments-api", "--into")
    assert tree(project / "payments-api") == {"mine": b"mine"}


@pytest.mark.parametrize("on_path", [True, False])
def test_it_names_the_command_that_opens_the_screens_again(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch, on_path: bool
) -> None:
    program = project / "my venv" / "agentplane"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setattr("sys.argv", ["my venv/agentplane", "demo"])
    path = f"{program.parent}:/usr/bin" if on_path else "/usr/bin"
    monkeypatch.setenv("PATH", path)

    err = cli("demo", "--into", "a folder").err

    assert "`cd 'a folder/payments-api'`" in err
    assert f"`{'agentplane' if on_path else repr(str(program))}`" in err


def test_it_refuses_a_file_as_a_folder(cli: Cli, project: Path) -> None:
    (project / "file").write_text("mine")
    cli("demo", "--into", "file").refused(2, "file")
