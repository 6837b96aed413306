"""Signed approvals on the command line."""

from pathlib import Path

import pytest

from agentplane.api import Plane
from tests.cli.conftest import Cli, candidate
from tests.guard import signed


pytestmark = signed.needs_ssh_keygen


@pytest.fixture
def key(plane: Plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    key = signed.make_key(tmp_path, "ada")
    config = tmp_path / "gitconfig"
    config.write_text(f"[agentplane]\nsigningKey = {key}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    (plane.layout.root / "config.toml").write_text(signed.settings(signed.signer(key)))
    return key


@pytest.mark.usefixtures("key")
def test_ops_and_history_say_who_signed(person: Cli) -> None:
    id_ = candidate(person)
    assert person("approve", id_).code == 0
    assert person("history").out.count("signed by ada@example.test") == 1
    assert person("history", "DEC-001").out.count("signed by ada@example.test") == 1
    approve, propose, *_ = person("history", "--json").json("ops")["ops"]
    assert (approve["signed_by"], approve["signature"]) == ("ada@example.test", "valid")
    assert (propose["signed_by"], propose["signature"]) == (None, None)
    assert (
        person("history", "DEC-001", "--json").json("history")["steps"][-1]["signed_by"] == "ada@example.test"
    )


def test_a_signature_that_proves_nothing_is_shown_as_that(plane: Plane, key: Path, person: Cli) -> None:
    id_ = candidate(person)
    assert person("approve", id_).code == 0
    other = signed.make_key(key.parent, "grace")
    (plane.layout.root / "config.toml").write_text(signed.settings(signed.signer(other)))
    assert "INVALID SIGNATURE" in person("history").out
    assert "INVALID SIGNATURE" in person("history", "DEC-001").out
    newest, *_ = person("history", "--json").json("ops")["ops"]
    assert newest["signed_by"] is None
    assert "doesn't allow" in newest["signature"]


def test_without_a_key_the_next_step_is_said(plane: Plane, key: Path, person: Cli) -> None:
    (key.parent / "gitconfig").write_text("")
    id_ = candidate(person)
    person("approve", id_).refused(3, "Nothing was written", "git config --global agentplane.signingKey")
    assert plane.memory.read().inbox_ids


@pytest.mark.usefixtures("key")
def test_bulk_approval_signs_one_op(plane: Plane, person: Cli) -> None:
    for text in ("Logs go to standard error.", "Amounts are whole cents.", "Buttons have round corners."):
        candidate(person, text)
    assert person("approve", "--all-clean").code == 0
    assert plane.layout.log.read_bytes().count(b'"signature":"') == 1


@pytest.mark.usefixtures("key")
def test_doctor_fails_until_history_is_accepted(plane: Plane, person: Cli) -> None:
    config = plane.layout.root / "config.toml"
    required = config.read_text()
    config.write_text("")
    person("approve", candidate(person))
    config.write_text(required)
    done = person("doctor")
    assert done.code == 1
    wanted = done.out.split("set `")[1].split("`")[0]
    config.write_text(f"{required}{wanted}\n")
    assert "not signed" not in person("doctor").out
