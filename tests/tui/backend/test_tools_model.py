"""The tools as the screens show them: what a person has to add, without a screen."""

from pathlib import Path

from agentplane.api import Plane
from agentplane.tools import presence
from agentplane.tui.backend import tools_model


def test_hooks_and_server_of_one_file_are_both_to_be_added(plane: Plane, project: Path) -> None:
    path = project / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text("{broken")
    (gemini,) = presence.named(["gemini"])
    planned = tools_model.planned(plane, "wire", ["gemini"])
    views = tools_model.views(plane, plane.memory.read(), plane.today())
    view = next(view for view in views if view.tool is gemini)
    wired = plane.tools.wire([gemini])
    assert all(key in wired.by_hand[".gemini/settings.json"] for key in ('"hooks"', '"mcpServers"'))
    assert planned.by_hand == view.by_hand == wired.by_hand
    assert planned.blocked == wired.blocked
