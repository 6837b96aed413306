"""The session that a call belongs to: what is proposed and recorded names it as its run."""

from pathlib import Path
from typing import Any

from agentplane.api import Logged, Plane
from agentplane.mcp import resources
from agentplane.runs.open.open_run import OpenRun


_SUMMARY = "Proposed over MCP, outside of a run."


class Session:
    """The open run that the server is part of; where there is none, a run of the log that stands for it."""

    def __init__(self, plane: Plane, run: OpenRun | None, own: dict[tuple[Path, str], str]) -> None:
        """`own`: the runs of this server that have no capsule, by plane and tool."""
        self.plane = plane
        self.run = run
        self._own = own
        self._key = (plane.layout.root, plane.origin.actor)

    def listed(self, start: int) -> tuple[list[resources.Listed], int | None]:
        return resources.listed(self.plane, start)

    def read(self, uri: str) -> resources.Content:
        return resources.read(self.plane, uri)

    def source(self) -> str:
        """The run that a proposal cites. It has to be in the log, so one is logged where there is none."""
        if self.run is not None:
            return self.run.run_id
        if self._key not in self._own:
            self.log({"summary": _SUMMARY})
        return self._own[self._key]

    def log(self, event: dict[str, Any]) -> Logged:
        """A run of its own; the first one of this session stands for it from then on."""
        first = self._own.get(self._key)
        parent = {"parent_run_id": first} if first else {}
        logged = self.plane.runs.log({**event, "tool": self.plane.origin.actor, **parent})
        self._own.setdefault(self._key, logged.run_id)
        return logged
