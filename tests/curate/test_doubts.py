"""The doubts of the curator in everything that tools are given, and their end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from agentplane.agents.catalog import BY_NAME
from agentplane.api import Plane
from agentplane.commands import Propose, Renew
from agentplane.context.choose import Ask
from agentplane.errors import BadInput
from agentplane.mcp import handlers, resources, tools
from agentplane.mcp.session import Session
from agentplane.tools.hooks import start_context
from tests.conftest import decision
from tests.plane.branches import Repository


STATEMENT = "The rate is 19 percent."


@pytest.fixture
def repo(git_project: Path) -> Repository:
    (git_project / "rates.py").write_text("RATE = 19\n")
    found = Repository(git_project)
    plane = found.plane
    plane.inbox.approve([plane.propose(decision(STATEMENT, evidence=["rates.py#RATE"]))])
    plane.inbox.approve([plane.propose(decision("Webhooks carry a signature."))])
    found.commit("the code")
    return found


def change(repo: Repository) -> Plane:
    (repo.folder / "rates.py").write_text("RATE = 21\n")
    repo.commit("another rate")
    plane = repo.plane
    plane.curator.collect()
    return plane


def remove(repo: Repository) -> Plane:
    (repo.folder / "rates.py").unlink()
    repo.commit("no rates")
    plane = repo.plane
    plane.curator.collect()
    return plane


def pack(plane: Plane) -> str:
    return plane.tools.pack(Ask()).text


def recalled(plane: Plane) -> dict[str, object]:
    return handlers.recall(Session(plane, None, {}, {}, {}), tools.RecallArguments(query="rate percent"))


def hook(plane: Plane) -> str:
    cached = start_context.cached(str(plane.layout.root), BY_NAME["codex"], None)
    made = cached or start_context.make(plane.store, plane.origin, BY_NAME["codex"], None)
    return made.text


def searched(plane: Plane) -> str:
    return str(plane.recall.find("rate percent"))


def entry(plane: Plane) -> str:
    return resources.read(plane, "agentplane://entry/DEC-001").text


DOORS: tuple[Callable[[Plane], object], ...] = (pack, recalled, hook, searched, entry)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_changed_evidence_is_marked_until_a_person_renews_the_entry(
    repo: Repository, door: Callable[[Plane], object]
) -> None:
    plane = repo.plane
    plane.curator.collect()
    assert "nconfirmed" not in str(door(plane))
    plane = change(repo)
    text = str(door(plane))
    assert f"nconfirmed since {plane.today()}: its evidence changed" in text
    assert STATEMENT in text
    plane.do(Renew(("DEC-001",), "Looked it up"))
    assert "nconfirmed" not in str(door(repo.plane))


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_dismissed_finding_is_no_doubt(repo: Repository, door: Callable[[Plane], object]) -> None:
    plane = change(repo)
    (finding,) = plane.curator.marks()
    plane.curator.dismiss([finding.key], "Known")
    assert "nconfirmed" not in str(door(plane))


def test_a_doubt_ends_with_a_renewal_in_another_clone(repo: Repository, tmp_path: Path) -> None:
    change(repo)
    repo.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    clone.plane.do(Renew(("DEC-001",)))
    clone.commit("renewed")
    assert "nconfirmed" in pack(repo.plane)
    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "derived files")
    repo.git("pull", "-q", "--no-rebase", str(clone.folder), "main")
    assert "nconfirmed" not in pack(repo.plane)


def test_files_in_git_have_no_doubts(repo: Repository) -> None:
    """They would differ from clone to clone, because each has its own last pass."""
    plane = change(repo)
    assert plane.tools.pack(Ask(passing=False)).text == repo.plane.tools.pack(Ask(passing=False)).text
    assert "nconfirmed" not in plane.tools.pack(Ask(passing=False)).text


@pytest.mark.parametrize("door", [pack, recalled, hook, searched], ids=lambda door: door.__name__)
def test_what_is_withheld_is_named_and_not_told(repo: Repository, door: Callable[[Plane], object]) -> None:
    plane = remove(repo)
    assert STATEMENT in str(door(plane))
    plane.layout.config.write_text('[curate]\nwithhold = "error"\n')
    plane = repo.plane
    text = str(door(plane))
    assert "19 percent" not in text
    assert "DEC-001" in text
    assert "Webhooks" in pack(plane)


def test_no_resource_and_no_conflict_tells_what_is_withheld(repo: Repository) -> None:
    plane = remove(repo)
    plane.layout.config.write_text('[curate]\nwithhold = "error"\n')
    plane = repo.plane
    with pytest.raises(BadInput, match="may no longer be true"):
        entry(plane)
    rows, _ = resources.listed(plane, 0)
    assert "DEC-001" not in str(rows)
    session = Session(plane, None, {}, {}, {})
    asked = tools.ProposeArguments(type="decision", statement="The rate is 21 percent.")
    assert "19" not in str(handlers.propose(session, asked))


def test_a_warning_is_not_withheld(repo: Repository) -> None:
    plane = change(repo)
    plane.layout.config.write_text('[curate]\nwithhold = "error"\n')
    assert STATEMENT in pack(repo.plane)
    assert plane.do(Propose(decision("Logs go to standard error.")))
