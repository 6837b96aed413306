"""Saved filters, in a file of the user."""

from pathlib import Path

import pytest

from agentplane.errors import BadInput
from agentplane.tui.backend import saved_filters
from agentplane.tui.backend.saved_filters import Filters, SavedFilter


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


CONFLICTS = SavedFilter("conflicts", "is:conflict")
OLD = SavedFilter("old", "older:7d")


def test_filters_are_kept_by_list_in_their_order() -> None:
    assert saved_filters.load("inbox").readable == ()
    saved_filters.add("inbox", OLD)
    saved_filters.add("memory", OLD)
    assert saved_filters.add("inbox", CONFLICTS).readable == (OLD, CONFLICTS)
    assert saved_filters.load("inbox").readable == (OLD, CONFLICTS)
    assert saved_filters.remove("inbox", OLD.query).readable == (CONFLICTS,)
    assert saved_filters.load("inbox").readable == (CONFLICTS,)
    assert saved_filters.load("memory").readable == (OLD,)


def test_a_name_is_kept_once() -> None:
    saved_filters.add("inbox", CONFLICTS)
    again = SavedFilter("conflicts", "is:conflict tool:codex")
    assert saved_filters.add("inbox", again).readable == (again,)


def test_the_file_belongs_to_the_user_and_not_to_a_project(tmp_path: Path) -> None:
    saved_filters.add("inbox", OLD)
    assert saved_filters.path() == tmp_path / "state" / "agentplane" / "filters.json"
    assert saved_filters.path().parent.stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_read_is_left_alone() -> None:
    saved_filters.add("inbox", OLD)
    saved_filters.path().write_text("{oops")
    assert saved_filters.load("inbox").readable == ()
    with pytest.raises(BadInput, match="Can't read your saved-filters file"):
        saved_filters.add("inbox", CONFLICTS)
    assert saved_filters.path().read_text() == "{oops"


def test_the_number_of_tabs_is_limited() -> None:
    for number in range(saved_filters.MOST):
        saved_filters.add("runs", SavedFilter(str(number), f"task:{number}"))
    with pytest.raises(BadInput, match="can't save more than"):
        saved_filters.add("runs", OLD)
    assert len(saved_filters.load("runs").readable) == saved_filters.MOST


def test_a_filter_that_cannot_be_read_stays_in_the_file() -> None:
    odd = SavedFilter("odd", "colour:red")
    saved_filters.add("inbox", OLD)
    saved_filters.add("inbox", odd)
    assert saved_filters.load("inbox") == Filters((OLD,), (odd,))
    assert saved_filters.add("inbox", CONFLICTS) == Filters((OLD, CONFLICTS), (odd,))
    assert saved_filters.remove("inbox", OLD.query) == Filters((CONFLICTS,), (odd,))
    readable = SavedFilter("odd", "kind:fact")
    assert saved_filters.add("inbox", readable) == Filters((CONFLICTS, readable))


def test_a_filter_that_cannot_be_read_takes_no_place() -> None:
    for number in range(saved_filters.MOST):
        saved_filters.add("runs", SavedFilter(str(number), f"colour:{number}"))
    assert saved_filters.add("runs", OLD).readable == (OLD,)
