"""The Python API of a plane, which the doors and other programs use.

`Plane` carries out commands. Its facades are `inbox`, `memory`, `history`, `recall`, `runs`, `settings` and `tools`, each
in a module of its name. All of them make changes through one `Committer`.
"""

from agentplane.api.listeners import Listeners
from agentplane.api.plane import Plane, Status, open_plane
from agentplane.api.results import Harvested, Logged, Promoted


__all__ = ["Harvested", "Listeners", "Logged", "Plane", "Promoted", "Status", "open_plane"]
