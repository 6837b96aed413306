"""What the doors and other programs use: one object per plane, over the rooms.

It is put together in layers, each of which uses those before it: how a plane is changed (`changes`), what is decided
(`review`), what runs leave (`runs`), what tools are given (`tools`), and the whole (`plane`).
"""

from agentplane.api.plane import Plane, Status, open_plane
from agentplane.api.review import Promoted
from agentplane.api.runs import Logged
from agentplane.api.tools import Harvested


__all__ = ["Harvested", "Logged", "Plane", "Promoted", "Status", "open_plane"]
