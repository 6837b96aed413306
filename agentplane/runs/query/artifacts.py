"""The files that runs produced, and whether they changed since then."""

from typing import Literal

import msgspec

from agentplane.errors import AgentplaneError
from agentplane.plane.layout import Layout
from agentplane.plane.ledger.ledger import Ledger
from agentplane.plane.views import views
from agentplane.runs.capsule import capsule
from agentplane.text import files


class Artifact(msgspec.Struct, frozen=True, omit_defaults=True):
    task: str
    path: str
    sha256: str
    run: str
    state: Literal["same", "changed", "gone"] | None = None
    """Comparison with the current file, or None if it was not compared."""


def listed(ledger: Ledger, task: str | None = None) -> list[Artifact]:
    return [
        Artifact(name, output.path, output.sha256, output.run_id)
        for name, output in views.produced(ledger)
        if task in (None, name)
    ]


def verified(layout: Layout, artifact: Artifact) -> Artifact:
    """Return the artifact with the state of the current file. No file outside of the project is read."""
    path = layout.project / artifact.path
    try:
        files.plain_folder(path.parent, layout.project)
        state = "same" if capsule.produced(path)[0] == artifact.sha256 else "changed"
    except (AgentplaneError, OSError):
        state = "gone"
    return msgspec.structs.replace(artifact, state=state)
