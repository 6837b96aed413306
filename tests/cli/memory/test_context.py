"""pack: what a tool is given, written and printed."""

import json

from agentplane.api import Plane
from tests.cli.conftest import Cli
from tests.conftest import UNLIKE, decision


def test_pack_writes_the_file_and_its_receipt(plane: Plane, cli: Cli) -> None:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    ran = cli("context")
    assert ran.code == 0
    assert "1 entry included" in ran.err
    folder = plane.layout.root / "context"
    assert UNLIKE[0] in (folder / "active.md").read_text()
    receipt = json.loads((folder / "receipt.json").read_bytes())
    assert receipt["revision"] == plane.status().revision
    assert "Already up to date" in cli("context").err


def test_pack_print_writes_nothing(plane: Plane, cli: Cli) -> None:
    plane.inbox.approve([plane.propose(decision(UNLIKE[0]))])
    ran = cli("context", "--print", "--task", "reports")
    assert UNLIKE[0] in ran.out
    assert not (plane.layout.root / "context").exists()


def test_pack_json(plane: Plane, cli: Cli) -> None:
    (id_,) = plane.inbox.approve([plane.propose(decision(UNLIKE[0], scope=["app/**"]))]).renamed.values()
    data = cli("context", "--json", "--print", "--path", "docs/a.md", "--budget", "500").json("pack")
    assert data["receipt"]["cut"] == [
        {
            "id": id_,
            "why": "its scope doesn't match the given paths",
            "pinned": False,
            "kind": "scope",
            "at": "",
        }
    ]
    assert data["receipt"]["budget"] == 500
    assert data["text"].startswith("# Project memory")


def test_pack_json_says_what_is_pinned(plane: Plane, cli: Cli) -> None:
    ids = plane.inbox.approve([plane.propose(decision(words)) for words in UNLIKE[:2]]).renamed.values()
    first, second = ids
    plane.memory.pin([second])
    data = cli("context", "--json").json("pack")
    given = data["receipt"]["given"]
    assert [(one["id"], one["pinned"]) for one in given] == [(second, True), (first, False)]
    assert "## Pinned" in data["text"]
    receipt = json.loads((plane.layout.root / "context" / "receipt.json").read_bytes())
    assert [one["pinned"] for one in receipt["given"]] == [True, False]


def test_a_budget_without_room_is_refused(plane: Plane, cli: Cli) -> None:
    cli("context", "--budget", "10").refused(2, "budget")
