"""What the commands print in the shell of a tool: no likely secret of an entry, a candidate, a reason or a rejection."""

from datetime import UTC, datetime, timedelta

import pytest

from agentplane.api import Plane
from agentplane.mcp import handlers, tools
from agentplane.mcp.session import Session
from agentplane.memory.proposing import Proposal
from tests.cli.conftest import Cli, cli, command  # noqa: F401 -- fixtures
from tests.conftest import approve_seen, decision, plane_in


SECRET = "Hq83Zx7" + "Lw2Pm"


@pytest.fixture
def leaky(plane: Plane) -> Plane:
    """An entry with a secret that expires soon, candidates that conflict with it, a changed fact, and a rejection."""
    plane.layout.config.write_text('[gate]\nsecret = "flag"\n')
    (plane.layout.project / "app.py").write_text("x = 1\n")
    soon = str(datetime.now(UTC).date() + timedelta(days=3))
    said = f"Use the database password {SECRET} for staging."
    approve_seen(plane, plane.propose(decision(said, expires_at=soon)))
    approve_seen(plane, plane.propose(_fact(f"The token is password={SECRET}.")))
    plane.propose(_fact("The token is in the vault."))
    plane.propose(decision(f"Never use the database password {SECRET} for staging."))
    plane.propose(decision("Use the database password swordfish22 for staging."))
    plane.inbox.reject([plane.propose(decision("Mail goes out at noon."))], why=f"It has password={SECRET}.")
    return plane


def _fact(statement: str) -> Proposal:
    return Proposal(type="fact", statement=statement, external_id="token", evidence=["app.py"])


def test_no_command_prints_it(leaky: Plane, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("CLAUDECODE", "1")
    ids = [*(entry.id for entry in leaky.memory.read().shelf), *leaky.memory.read().inbox_ids]
    read = [
        ["status"],
        ["inbox"],
        ["list"],
        ["ops"],
        ["timeline"],
        ["doctor"],
        ["recall", "password"],
        ["pack"],
    ]
    read += [[name, id_] for id_ in ids for name in ("show", "history")]
    proposed = ["propose", "Use the database password for staging.", "--type", "decision"]
    for words in (*read, ["history", ids[0], "--texts"], ["pack", "--print"], proposed):
        for more in ([], ["--json"]):
            if (ran := cli(*words, *more)).code in (0, 1):
                assert SECRET not in ran.out + ran.err, words
    assert "DEC-001" in cli("inbox").out


def test_a_server_does_not_tell_what_a_fact_said_before(leaky: Plane) -> None:
    own = plane_in(leaky.layout.project, "codex", "mcp")
    changed = own.propose(_fact("The token is in the new vault."))
    session = Session(own, None, {}, {}, {})
    told = handlers.propose(session, tools.ProposeArguments("fact", "The token is in the new vault."))
    assert told["id"] == changed
    assert any("changes FACT-001" in flag for flag in told["flags"])
    assert SECRET not in str(told)
