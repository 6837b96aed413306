"""`plane.recall`, which finds entries by words."""

from agentplane.api.committer import Committer
from agentplane.errors import BadInput
from agentplane.memory.view import Memory
from agentplane.plane.store.snapshot import deliverable
from agentplane.retrieval.recalled import Recalled
from agentplane.retrieval.recalled import find as find_recalled
from agentplane.retrieval.scan import IN_FORCE, Result, Wanted


class Recall:
    """Finds the trusted entries of one plane. `plane.recall("words", limit=5)` is the usual call."""

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    def __call__(self, query: str, *, limit: int = 5, wanted: Wanted = IN_FORCE) -> list[Result]:
        """Return the trusted entries that match a query best. By default, return only accepted entries.

        Entries that look like they contain a secret are withheld. A query that is a task, a run or a path
        also finds its runs, the facts from those runs, and the files that they produced.
        """
        return list(self.find(query, limit=limit, wanted=wanted).results)

    def find(self, query: str, *, limit: int = 5, wanted: Wanted = IN_FORCE) -> Recalled:
        """Return the matching entries, and the IDs of matching entries that are withheld."""
        return self.find_in(self._committer.read_for_tools(), query, limit=limit, wanted=wanted)

    def find_in(self, memory: Memory, query: str, *, limit: int = 5, wanted: Wanted = IN_FORCE) -> Recalled:
        """Return the matches in `memory`. The plane isn't read again."""
        _check_question(query, limit)
        snapshot = deliverable(memory.snapshot)
        memory = memory if snapshot is memory.snapshot else Memory(snapshot)
        return find_recalled(memory, query, limit, wanted, self._committer.today())


def _check_question(query: object, limit: object) -> None:
    if not isinstance(query, str) or not isinstance(limit, int):
        raise BadInput(
            f"expected text and a whole number, but got {type(query).__name__} and {type(limit).__name__}",
            where="recall",
            todo='call it as recall("words", limit=5).',
        )
