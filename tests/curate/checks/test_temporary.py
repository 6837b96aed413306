"""Statements that are tasks or report a temporary state, and the many that only look like it."""

import pytest

from agentplane.api import Plane
from agentplane.curate.checks import temporary
from tests.curate.shelves import add, ago, found, lines


TASKS = (
    "TODO: migrate the users table to Postgres.",
    "todo(ada): remove the old client",
    "FIXME - the retry loop never ends",
    "The old endpoint will be removed next week.",
    "The migration has to be finished by the end of the sprint.",
    "We will move the jobs to the new queue next sprint.",
    "We need to rotate the signing key by tomorrow.",
    "Follow-up: ask legal about the license.",
)
STATES = (
    "Tests are failing today.",
    "We are currently working on the new importer.",
    "The build is currently broken.",
    "PR #482 is waiting for review.",
    "All 212 tests pass now.",
)
LASTING = (
    "Use Postgres.",
    "Reports are sent every week.",
    "Each release is tagged on the last day of the month.",
    "Backups are kept until the end of the quarter, then deleted if nobody needs them.",
    "The TODO list is stored in SQLite.",
    "Comments with TODO must name an issue.",
    "Jobs that failed yesterday are retried whenever the queue is empty.",
    "If tests are failing, the deploy stops.",
    "Todo items belong to one list.",
    "We will use event sourcing for orders.",
    "The API must be versioned.",
    "Currently selected rows are highlighted.",
    "The next release must be backwards compatible.",
    "Invoices for the next month are created on the 25th.",
    "Never merge a pull request while CI is failing.",
    "Tokens expire by the end of the month when billing closes.",
)


@pytest.mark.parametrize("statement", TASKS)
def test_tasks(statement: str) -> None:
    assert temporary.shape_of(statement) == "task"


@pytest.mark.parametrize("statement", STATES)
def test_states(statement: str) -> None:
    assert temporary.shape_of(statement) == "state"


@pytest.mark.parametrize("statement", LASTING)
def test_what_lasts(statement: str) -> None:
    assert temporary.shape_of(statement) is None


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("Use Postgres.\n\nTODO: decide about backups.\n", "TODO: decide about backups."),
        ("Use Postgres.\n\n> - TODO(ada): decide.\n", "> - TODO(ada): decide."),
        ("Use Postgres.\n\n```\nTODO: not ours\n```\n", None),
        ("Use Postgres.\n\nThe TODO: in the code stays.\n", None),
        ("Use Postgres.\n\nTODO:\n", None),
        ("Use Postgres.\n\ntodo!() panics.\n", None),
    ],
)
def test_open_tasks_in_the_text(body: str, line: str | None) -> None:
    assert temporary.open_task(body) == line


def test_the_finding_quotes_the_text(plane: Plane) -> None:
    add(ago(plane, 3), "TODO: migrate the users table to Postgres.")
    add(
        ago(plane, 3),
        "Reports are CSV files.",
        rationale="People open them.\n\nTODO: decide about encodings.",
    )
    add(ago(plane, 3), "Webhooks carry a signature.")
    first, second = found(plane, "temporary")
    assert (first.id, lines(first)) == ("DEC-001", "TODO: migrate the users table to Postgres.")
    assert (second.id, lines(second)) == ("DEC-002", "TODO: decide about encodings.")
