"""diff: two runs side by side, for programs and for people."""

from pathlib import Path

from agentplane.api import Plane
from tests.cli.conftest import Cli
from tests.e2e.terminal import typed


HOSTILE = "a\x1b[31mred\x07\u202eb\rc"
KEYS = {"schema", "a", "b", "same", "fields", "seconds", "files", "facts", "entries", "output", "missing"}


def two(plane: Plane, cli: Cli) -> tuple[str, str]:
    """The ids of two runs that printed different things."""
    assert cli("run", "--task", "T1", "--", "echo", "one").code == 0
    assert cli("run", "--task", "T1", "--", "sh", "-c", "echo two; exit 3").code == 3
    events = cli("timeline", "--json").json("timeline")["events"]
    return events[1]["run_id"], events[0]["run_id"]


def test_json(plane: Plane, cli: Cli) -> None:
    a, b = two(plane, cli)
    data = cli("run", "diff", "--run", a, "--json").json("diff")
    assert data.keys() == KEYS
    assert (data["a"], data["b"], data["same"]) == (a, b, False)
    assert [field["name"] for field in data["fields"]] == ["command", "exit_status"]
    assert data["output"][-2:] == ["-one", "+two"]
    assert cli("run", "diff", "--run", b, "--against", b, "--json").json("diff")["same"] is True


def test_the_last_run_is_compared_with_the_one_before(plane: Plane, cli: Cli) -> None:
    a, b = two(plane, cli)
    last = cli("run", "diff", "--run", b, "--json").json("diff")
    assert (last["a"], last["b"], last["same"]) == (a, b, False)


def test_a_lone_run_is_the_same_as_itself(plane: Plane, cli: Cli) -> None:
    run = cli("run", "log", "--summary", "x").out.strip()
    data = cli("run", "diff", "--run", run, "--json").json("diff")
    assert (data["a"], data["b"], data["same"]) == (run, run, True)


def test_text(plane: Plane, cli: Cli) -> None:
    a, b = two(plane, cli)
    ran = cli("run", "diff", "--run", a, "--against", b)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == f"{a} → {b}"
    assert lines[1:3] == ["  command: echo one → sh -c echo two; exit 3", "  exit_status: 0 → 3"]
    assert lines[-2:] == ["    -one", "    +two"]
    assert "No differences" in cli("run", "diff", "--run", a, "--against", a).out


def test_entries_are_shown_with_what_they_say(shelf: Plane, person: Cli) -> None:
    a = shelf.write_log({"summary": "x"})
    shelf.inbox.approve([shelf.propose(proposal("Amounts are whole cents."))])
    person("deprecate", "DEC-001")
    shelf.write_log({"summary": "x"})
    out = person("run", "diff", "--run", a).out
    assert "    + DEC-002  Decision: Amounts are whole cents.\n" in out
    assert "    ~ DEC-001\n" in out
    assert "        -status: accepted\n        +status: deprecated\n" in out


def proposal(statement: str):
    from tests.conftest import decision

    return decision(statement)


def test_it_needs_a_run_that_there_is(plane: Plane, cli: Cli) -> None:
    cli("run", "diff").refused(2, "--run")
    cli("run", "diff", "--run", "latest").refused(2, "The log has no runs", "agentplane run")
    cli("run", "diff", "--run", "20260101T000000Z-abcdef").refused(
        2, "20260101T000000Z-abcdef", "agentplane timeline"
    )
    assert "\x1b" not in cli("run", "diff", "--run", "\x1b[31m").refused(2, "Run not found")
    cli("run", "log", "--summary", "x")
    cli("run", "diff", "--run", "\udcff").refused(2, "Run not found")


def test_hostile_text_is_shown_and_not_sent(plane: Plane, cli: Cli, project: Path) -> None:
    output = {"path": HOSTILE, "sha256": "0" * 64}
    event = {"task": HOSTILE, "summary": HOSTILE, "command": [HOSTILE], "outputs": [output]}
    plane.write_log({"summary": "x"})
    a = plane.write_log({**event, "derived_facts": [HOSTILE]})
    cli("run", "--", "printf", r"\033]0;title\007\033[2J\n")
    for words in (["diff", "--run", a], ["diff", "--run", "latest", "--against", a]):
        text = cli(*words).out
        assert not set("\x1b\x07\u202e\r") & set(text)
        assert "<U+001B>" in text
    assert "\x1b" not in typed(["run", "diff", "--run", a], project, env={"NO_COLOR": "1"}, columns=40).screen
    coloured = typed(["run", "diff", "--run", a], project).screen
    assert "\x1b[2J" not in coloured
    assert "\x1b]" not in coloured


def test_a_long_difference_is_cut_and_it_is_said(plane: Plane, cli: Cli) -> None:
    cli("run", "--", "true")
    cli("run", "--", "seq", "1000")
    events = cli("timeline", "--json").json("timeline")["events"]
    ran = cli("run", "diff", "--run", events[1]["run_id"])
    assert len(ran.out.splitlines()) < 220
    assert "--json" in ran.err
    assert len(cli("run", "diff", "--run", events[1]["run_id"], "--json").json("diff")["output"]) > 1000
