"""The session of a call, whose run is the source of proposals and records."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentplane import extensions
from agentplane.api import Logged, Plane
from agentplane.extensions import ExtensionError
from agentplane.mcp import resources
from agentplane.runs.open.open_run import OpenRun


if TYPE_CHECKING:
    from agentplane.memory.view import Memory
    from agentplane.review.feedback import Feedback

Key = tuple[Path, str]
"""A plane and a tool."""

_SUMMARY = "Proposed over MCP, outside of a run."


class Session:
    """The open run that the server belongs to. Without one, a logged run represents the session."""

    def __init__(
        self,
        plane: Plane,
        run: OpenRun | None,
        own: dict[Key, str],
        seen_failures: dict[Key, set[str]],
        reported: "dict[Key, tuple[Feedback, ...]]",
    ) -> None:
        """`own` has the runs of this server without a capsule, by plane and tool.

        `seen_failures` has the extensions whose failure a tool was told. `reported` has the sent-back candidates that
        a tool was told.
        """
        self.plane = plane
        self.run = run
        self._own = own
        self._reported = reported
        self._key = (plane.layout.root, plane.origin.actor)
        self._seen_failures = seen_failures.setdefault(self._key, set())

    def listed(self, start: int) -> tuple[list[resources.Listed], int | None]:
        return resources.listed(self.plane, start)

    def read(self, uri: str) -> resources.Content:
        return resources.read(self.plane, uri)

    def sent_back(self, memory: "Memory") -> dict[str, Any]:
        """Return a field with the candidates that were sent back to this tool, if they aren't reported yet."""
        from agentplane.review import feedback

        found = feedback.given_to(memory, self.plane.origin.actor)
        if found == self._reported.get(self._key, ()):
            return {}
        self._reported[self._key] = found
        return {"sent_back": msgspec.to_builtins(found)} if found else {}

    def new_failures(self) -> list[ExtensionError]:
        """Return the failures of extensions that this tool was not told yet."""
        return extensions.unseen(self._seen_failures)

    def source(self) -> str:
        """Return the run that a proposal cites.

        If there is none, log one, because the run must be in the log.
        """
        if self.run is not None:
            return self.run.run_id
        if self._key not in self._own:
            self.log({"summary": _SUMMARY})
        return self._own[self._key]

    def log(self, event: dict[str, Any]) -> Logged:
        """Log a separate run. The first of these runs represents the session from then on."""
        first = self._own.get(self._key)
        parent = {"parent_run_id": first} if first else {}
        logged = self.plane.runs.log({**event, "tool": self.plane.origin.actor, **parent})
        self._own.setdefault(self._key, logged.run_id)
        return logged
