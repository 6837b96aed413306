"""Facts that a program promoted, as the check of a branch sees them."""

from typing import Any

from agentplane.api import Plane
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Store
from tests.guard.branches import Repo


def with_a_fact(repo: Repo) -> tuple[Plane, dict[str, Any], str]:
    """A fact that the policy approved, and the commit with it."""
    (repo.layout.root / "config.toml").write_text("[policy]\nauto_approve_confidence = 0.8\n")
    (repo.folder / "x.md").write_text("x\n")
    plane = repo.plane()
    fact = {
        "id": "a-fact",
        "statement": "The port is 8080.",
        "confidence": 0.9,
        "source_run": plane.write_log({"summary": "x"}),
        "evidence": ["x.md"],
    }
    assert plane.promote_fact(fact).approved
    repo.commit("base")
    return plane, fact, repo.git("rev-parse", "HEAD").strip()


def test_the_guard_accepts_changes_by_a_person_and_by_the_policy(repo: Repo) -> None:
    plane, fact, base = with_a_fact(repo)
    assert plane.promote_fact({**fact, "confidence": 0.95}).approved
    plane.inbox.approve([plane.promote_fact({**fact, "confidence": 0.5}).id])
    repo.commit("changes")
    assert [row for row in repo.check(base) if row.severity != "info"] == []
    path = repo.layout.memory / "facts.md"
    assert "confidence: 0.5" in path.read_text()


def test_the_guard_refuses_a_change_that_the_candidate_does_not_say(repo: Repo) -> None:
    plane, fact, base = with_a_fact(repo)
    id_ = plane.promote_fact({**fact, "confidence": 0.5, "statement": "The port is 9090."}).id
    entry = plane.memory.read().get("FACT-001")
    core = plane.memory.read().snapshot.core(entry.file, entry.id) or b""
    forged = Plane(Store(repo.layout), Origin("Ada", "policy", "bash"))
    forged.inbox.merge(id_, "FACT-001", core.replace(b"8080", b"6666"), entry.digest)
    repo.commit("changes")
    assert [row.severity for row in repo.check(base) if "changes FACT-001 differently" in row.what] == [
        "error"
    ]
