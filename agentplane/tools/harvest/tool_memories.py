"""The memories that tools collected on their own, in the person's home folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from agentplane.agents.model import Tool
from agentplane.agents.plugin import MemoryFile, Note, Places, Remark, Skipped, home_of, plugin_of
from agentplane.tools.harvest import statements
from agentplane.tools.harvest.haul import Haul, Statement
from agentplane.tools.harvest.project_files import bare, read_text, tags_of


def read(tool: Tool, project: Path, home: Path, environ: Mapping[str, str]) -> Haul:
    """Return the memories of one tool, as its module finds them."""
    haul = Haul(tool.name)
    find = plugin_of(tool).memories
    places = Places(
        project, home_of(tool, home, environ), lambda path, place: read_text(str(path), place, haul)
    )
    for found in find(places) if find else ():
        match found:
            case MemoryFile():
                haul.places.append(found.place)
            case Skipped():
                haul.skipped.append(found)
            case Remark():
                haul.notes.append(found.text)
            case Note():
                haul.statements += _statements(found, tool, haul)
    return haul


def _statements(note: Note, tool: Tool, haul: Haul) -> Iterator[Statement]:
    found = statements.read(bare(note.text), note.first)
    for piece in found.skipped:
        haul.skip(f"{note.place}:{piece.line}", piece.why, piece.text)
    for line in found.lines:
        place = f"{note.place}:{line.line}"
        yield Statement(line.kind, line.text, place, tool.name, why=line.why, tags=tags_of(line))
