"""What becomes of evidence after each kind of change, in five languages, on real repositories."""

from pathlib import Path

import pytest

from agentplane.curate.anchors.states import Changed, Gone, Moved
from tests.curate.anchors.repo import Repo
from tests.curate.anchors.samples import CHANGES, SAMPLES


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("language", SAMPLES)
def test_the_state_of_a_function_names_the_change(repo: Repo, language: str, change: str) -> None:
    """Before and after the commit, and the same if nothing was recorded at the approval."""
    sample = SAMPLES[language]
    repo.write(sample.path, sample.text)
    repo.write(sample.other_path, sample.other_text)
    first = repo.commit("first")
    evidence = f"{sample.path}#{sample.function}"
    recorded, before = repo.observed(evidence), repo.approved_before()
    kind, make = CHANGES[change]
    make(repo, sample)
    uncommitted = repo.state(recorded)
    last = repo.commit("the change")
    state = repo.state(recorded)
    assert [uncommitted.kind, state.kind, repo.state(before, evidence).kind] == [kind] * 3
    assert state.evidence == evidence
    if isinstance(state, Changed | Gone):
        assert state.change.commit == last != first
        assert state.change.author == "Test Person"
        assert state.change.date
        assert "-" in state.change.diff
    if isinstance(state, Moved):
        assert repo.state(repo.observed(state.now)).kind == "unchanged"


@pytest.mark.parametrize("language", SAMPLES)
def test_a_constant_is_a_definition(repo: Repo, language: str) -> None:
    sample = SAMPLES[language]
    repo.write(sample.path, sample.text)
    repo.commit()
    recorded = repo.observed(f"{sample.path}#{sample.constant}")
    repo.replace(sample.path, *sample.body)
    assert repo.state(recorded).kind == "unchanged"
    repo.replace(sample.path, *sample.value)
    last = repo.commit("more")
    state = repo.state(recorded)
    assert isinstance(state, Changed)
    assert state.change.commit == last
    old, new = sample.value
    lines = state.change.diff.splitlines()[3:]
    assert [line[0] for line in lines] == ["-", "+"]
    assert old in lines[0]
    assert new in lines[1]
