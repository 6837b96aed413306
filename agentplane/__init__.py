"""Memory for coding agents that people can trust.

    plane = agentplane.open_plane(".")
    plane.propose(agentplane.Proposal(type="decision", statement="Use Textual for the TUI."))

Every name here is loaded when it is first used, so importing the package costs nothing.
"""

# Not imported from typing, which takes longer than everything else in `agentplane badge`.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentplane.api import Plane, Promoted, open_plane
    from agentplane.errors import AgentplaneError
    from agentplane.memory.proposing import Proposal
    from agentplane.retrieval.scan import Result

__version__ = "0.1.0"

__all__ = [
    "AgentplaneError",
    "Plane",
    "Promoted",
    "Proposal",
    "Result",
    "open_plane",
    "promote_fact",
    "recall",
    "write_log",
]

_HOMES = {
    "AgentplaneError": "agentplane.errors",
    "Plane": "agentplane.api",
    "Promoted": "agentplane.api",
    "Proposal": "agentplane.memory.proposing",
    "Result": "agentplane.retrieval.scan",
    "open_plane": "agentplane.api",
}


def __getattr__(name: str) -> "Any":
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def write_log(event: "Mapping[str, Any]") -> str:
    """Add a run to the log of the project in the current directory. Return its run id."""
    from agentplane.api import open_plane as open_here

    return open_here().write_log(event)


def promote_fact(fact: "Mapping[str, Any] | str") -> "Promoted":
    """Propose a fact in the project of the current directory. Approve it only if the policy allows that."""
    from agentplane.api import open_plane as open_here

    return open_here().promote_fact(fact)


def recall(query: str, *, limit: int = 5) -> "list[Result]":
    """Return the entries nearest to a query, in the project of the current directory."""
    from agentplane.api import open_plane as open_here

    return open_here().recall(query, limit=limit)
