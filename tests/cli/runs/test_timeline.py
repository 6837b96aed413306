"""timeline: what it lists, for programs and for people, and how it fits on a screen."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.text.visible import cells
from tests.cli.conftest import Cli
from tests.e2e.terminal import typed


KEYS = {"ts", "kind", "run_id", "task", "exit_status", "summary"}
HOSTILE = "a\x1b[31mred\x1b]0;title\x07\u202eb\rc\nd"


def logged(plane: Plane, **event: object) -> str:
    return plane.write_log(event)


def events(cli: Cli, *words: str) -> list[dict]:
    return cli("timeline", "--json", *words).json("timeline")["events"]


def ids(cli: Cli, *words: str) -> list[str]:
    return [row["run_id"] for row in events(cli, *words) if row["kind"] == "run"]


def test_json_has_runs_and_ops_newest_first(shelf: Plane, cli: Cli) -> None:
    run = logged(shelf, task="T1", summary="Did it.", exit_status=3)

    rows = events(cli)

    assert all(row.keys() >= KEYS for row in rows)
    assert [row["kind"] for row in rows] == ["run", "op", "op", "op", "op"]
    assert {key: rows[0][key] for key in KEYS - {"ts"}} == {
        "kind": "run",
        "run_id": run,
        "task": "T1",
        "exit_status": 3,
        "summary": "Did it.",
    }
    assert (rows[1]["verb"], rows[1]["ids"][1:]) == ("approve", ["DEC-001", rows[1]["ids"][2], "FACT-001"])
    assert rows[1]["run_id"] is rows[1]["task"] is rows[1]["exit_status"] is rows[1]["summary"] is None


def test_text_in_a_pipe_has_whole_times_and_ids(plane: Plane, cli: Cli) -> None:
    run = logged(plane, task="T1", tool="codex", summary="Did it.", exit_status=2, seconds=75.0)

    first = cli("timeline").out.splitlines()[0]

    assert [word for word in ("exit 2", "1 min", "codex", run, "T1", "Did it.") if word not in first] == []
    assert first.startswith(events(cli)[0]["ts"])


def test_how_it_ended_is_said_in_words(plane: Plane, cli: Cli) -> None:
    logged(plane, summary="fine", exit_status=0)
    logged(plane, summary="bad", exit_status=130)
    logged(plane, summary="who knows")

    outcomes = {
        line.split("  ")[-1].strip(): line for line in cli("timeline", "--limit", "3").out.splitlines()
    }

    assert "  ok  " in outcomes["fine"]
    assert "  exit 130  " in outcomes["bad"]
    assert "  -  " in outcomes["who knows"]


def test_a_session_is_named_by_its_title_and_an_import_is_said_to_be_one(plane: Plane, cli: Cli) -> None:
    logged(plane, title="Fix the parser.", tool="codex")
    logged(plane, activity="import", summary="Imported 2 candidates.")
    logged(plane, task="Rewrite the importer so that every statement is offered once", summary="Old.")
    old, imported, session = cli("timeline", "--limit", "3").out.splitlines()
    assert session.endswith("Fix the parser.")
    assert "  import  " in imported
    assert "Rewrite the imp…" in old
    rows = events(cli, "--limit", "3")
    assert [row["activity"] for row in rows] == [None, "import", None]
    assert (rows[2]["title"], rows[2]["task"]) == ("Fix the parser.", None)


def test_filters(plane: Plane, cli: Cli) -> None:
    one = logged(plane, task="T1", tool="codex", summary="a")
    two = logged(plane, task="T2", tool="codex", summary="T1 is only named here")
    three = logged(plane, task="T1", tool="gemini-cli", summary="c")

    assert ids(cli) == [three, two, one]
    assert ids(cli, "--task", "T1") == [three, one]
    assert ids(cli, "--tool", "codex") == [two, one]
    assert ids(cli, "--task", "T1", "--tool", "codex") == [one]
    assert ids(cli, "--tool", "gemini") == [three]
    assert ids(cli, "--task", "T") == []
    assert [row["verb"] for row in events(cli, "--tool", events(cli)[-1]["actor"])] == ["init"]


@pytest.mark.parametrize("task", ["mit Ümlaut 支払い", 'quote " and \\ slash', HOSTILE, "\U0001f600"])
def test_a_task_is_found_by_any_name(plane: Plane, cli: Cli, task: str) -> None:
    run = logged(plane, task=task, summary="x")
    assert ids(cli, "--task", task) == [run]


def test_limit(plane: Plane, cli: Cli) -> None:
    runs = [logged(plane, summary=str(number)) for number in range(35)]

    assert ids(cli, "--limit", "2") == runs[:-3:-1]
    assert len(events(cli)) == 36
    page = cli("timeline")
    assert len(page.out.splitlines()) == 30
    assert "--limit" in page.err
    assert cli("timeline", "--limit", "36").err == ""
    cli("timeline", "--limit", "0").refused(2, "--limit")


def test_since(plane: Plane, cli: Cli) -> None:
    now = datetime.now(UTC)
    old = logged(plane, ts=(now - timedelta(days=3)).isoformat(), summary="old")
    new = logged(plane, ts=(now - timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ"), summary="new")

    assert ids(cli, "--since", "2d") == [new]
    assert ids(cli, "--since", "1w") == [new, old]
    assert ids(cli, "--since", "4h") == []
    assert ids(cli, "--since", "301min") == [new]
    assert ids(cli, "--since", (now - timedelta(days=4)).date().isoformat()) == [new, old]
    assert ids(cli, "--since", (now - timedelta(hours=6)).isoformat()) == [new]


def test_since_goes_by_the_moment_and_not_by_how_it_is_written(plane: Plane, cli: Cli) -> None:
    """A program may log a time in another zone."""
    run = logged(plane, ts="2026-09-01T01:00:00+05:00", summary="x")
    assert ids(cli, "--since", "2026-08-31T19:59:00Z") == [run]
    assert ids(cli, "--since", "2026-08-31T20:01:00Z") == []


@pytest.mark.parametrize(
    "text",
    ["yesterday", "", " ", "2x", "-2d", "2026-13-01", "999999w", "\x1b[31m"],
)
def test_a_time_that_is_none_is_refused(plane: Plane, cli: Cli, text: str) -> None:
    error = cli("timeline", "--since", text).refused(2, "--since", "7d or 2w")
    assert "\x1b" not in error


def test_nothing_that_fits_is_said_beside_the_data(plane: Plane, cli: Cli) -> None:
    ran = cli("timeline", "--task", "none", "--since", "1h")
    assert (ran.code, ran.out, ran.err) == (0, "", "No runs or changes match --task and --since.\n")
    assert events(cli, "--task", "none") == []


def test_hostile_text_is_shown_and_not_sent(plane: Plane, cli: Cli) -> None:
    logged(plane, task=HOSTILE, tool=HOSTILE, summary=HOSTILE, command=[HOSTILE])

    text = cli("timeline").out

    assert len(text.splitlines()) == 2
    assert not set("\x1b\x07\r\u202e") & set(text)
    assert "<U+202E>" in text


def test_a_damaged_line_is_passed_over(plane: Plane, cli: Cli) -> None:
    run = logged(plane, summary="x")
    log = plane.layout.log
    first, *rest = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first.replace(b'"kind":"op"', b'"kind":7777') + b"".join(rest))
    assert ids(cli) == [run]


# On a terminal.

RUNS: tuple[dict, ...] = (
    {"task": "ledger", "tool": "claude-code", "summary": "Wrote the posting table. " * 8, "exit_status": 0},
    {
        "task": "支払い" * 10,
        "tool": "codex",
        "summary": "支払いを直した。" * 10,
        "exit_status": 1,
        "seconds": 3700,
    },
    {"task": HOSTILE, "tool": "a-tool-with-a-very-long-name", "summary": HOSTILE, "command": ["x" * 300]},
    {"command": ["pytest", "-x"], "exit_status": 130},
)


@pytest.mark.parametrize("columns", [120, 100, 80, 60, 40, 20])
def test_every_line_fits_its_screen(plane: Plane, project: Path, columns: int) -> None:
    for event in RUNS:
        plane.write_log(event)

    screen = typed(["timeline"], project, columns=columns, env={"NO_COLOR": "1"}).screen

    lines = screen.splitlines()
    assert len(lines) == 5
    assert max(map(cells, lines)) <= max(columns, 26)
    assert "\x1b" not in screen


def test_columns_stand_under_each_other(plane: Plane, project: Path) -> None:
    for event in RUNS:
        plane.write_log({**event, "summary": "HERE"})

    lines = typed(["timeline"], project, columns=120, env={"NO_COLOR": "1"}).screen.splitlines()[:4]

    assert len({cells(line.partition("HERE")[0]) for line in lines}) == 1


def test_a_terminal_gets_ages_and_the_end_of_an_id_that_diff_takes(
    plane: Plane, project: Path, cli: Cli
) -> None:
    run = logged(plane, summary="Did it.", exit_status=1)
    first = typed(["timeline"], project, env={"NO_COLOR": "1"}).screen.splitlines()[0]
    assert first.split() == ["now", "exit", "1", run[-6:], "Did", "it."]
    assert cli("run", "diff", "--run", run[-6:], "--json").json("diff")["a"] == run


def test_colour_only_stresses_what_words_say(plane: Plane, project: Path) -> None:
    logged(plane, summary="Did it.", exit_status=1)
    coloured = typed(["timeline"], project).screen
    assert "\x1b[31mexit 1" in coloured
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in typed(["timeline"], project, env=env).screen
    assert "\x1b" not in typed(["timeline"], project, pipe_stdout=True).piped


def test_a_reader_that_goes_away_is_no_error(plane: Plane, project: Path) -> None:
    for number in range(40):
        logged(plane, summary=f"{number} " + "x" * 3000)
    words = f"'{sys.executable}' -m agentplane timeline --limit 41 | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", words], cwd=project, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    words = f"'{sys.executable}' -m agentplane timeline >&-"
    done = subprocess.run(["bash", "-c", words], cwd=project, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
