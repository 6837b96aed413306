"""The merge drivers for files outside of the plane, in agentplane's lines of `.git/info/attributes`.

The file belongs to one clone with all its work trees. It is never committed, so no project file changes. It
overrides `.gitattributes`. For this reason, paths with a person's own `merge` attribute are left out.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agentplane.plane.git import git
from agentplane.plane.layout import Layout
from agentplane.text import files


TOOLS_DRIVER = "agentplane-tools"
MEMORY_DRIVER = "agentplane"
_GLOB = str.maketrans({char: f"\\{char}" for char in "*?[\\"})
_QUOTED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"})


class _AttributesFile(msgspec.Struct, frozen=True):
    """The attributes file, and agentplane's lines for one plane in it."""

    path: Path
    above: str
    """The project's folder, relative to the top of the repository."""
    data: bytes | None
    """The whole file, or None if it doesn't exist."""
    before: str
    after: str
    """`before` and `after` are the rest of the file."""
    begin: str
    end: str

    @property
    def text(self) -> str:
        return _decoded(self.data)

    @property
    def others(self) -> str:
        """The file without those lines."""
        return self.before + self.after

    def with_lines(self, lines: Sequence[str]) -> str:
        if not lines:
            return self.others
        gap = "\n" if self.before and not self.before.endswith("\n") else ""
        return "\n".join([f"{self.before}{gap}{self.begin}", *lines, self.end, self.after])


def put(layout: Layout, paths: Sequence[str]) -> bool:
    """Write the lines of a plane. Return True if anything changed.

    `paths` are tools' files, relative to the project.
    """
    file = _find(layout)
    return file is not None and _write(file, file.with_lines(_lines(layout, file, paths)))


def drop(layout: Layout) -> bool:
    """Remove the lines of a plane. Return True if there were any."""
    file = _find(layout)
    return file is not None and _write(file, file.others)


def is_current(layout: Layout, paths: Sequence[str]) -> bool:
    """True if the lines are as `put` writes them, or if there is no Git work tree."""
    file = _find(layout)
    return file is None or file.with_lines(_lines(layout, file, paths)) == file.text


def set_by_others(layout: Layout, paths: Sequence[str]) -> dict[str, str]:
    """Return the paths for which a person chose a merge driver, each with the person's value."""
    file = _find(layout)
    return {} if file is None else _set_by_others(layout, file, _real(layout, paths))


def _find(layout: Layout) -> _AttributesFile | None:
    path, above = git.attributes_file(layout.project), git.prefix(layout.project)
    if path is None or above is None:
        return None
    data = files.read_if(path)
    text = _decoded(data)
    name = f"{above}{layout.root.name}".translate(_QUOTED)
    begin, end = f"# agentplane: begin {name} (written by `agentplane init`)", f"# agentplane: end {name}"
    before, first, rest = text.partition(f"{begin}\n")
    _, last, after = rest.partition(f"{end}\n")
    if not (first and last):
        before, after = text, ""
    return _AttributesFile(path, above, data, before, after, begin, end)


def _write(file: _AttributesFile, text: str) -> bool:
    if text == file.text:
        return False
    if not text:
        files.remove(file.path)
        return True
    files.make_folder(file.path.parent)
    return files.replace(file.path, file.data, text.encode(errors="surrogateescape"))


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode(errors="surrogateescape")


def _lines(layout: Layout, file: _AttributesFile, paths: Sequence[str]) -> list[str]:
    real = _real(layout, paths)
    chosen = _set_by_others(layout, file, real)
    lines = [f"{_pattern(file.above + path)} merge={TOOLS_DRIVER}" for path in real if path not in chosen]
    context = _pattern(f"{file.above}{layout.root.name}/context/", glob="**")
    return [*lines, f"{context} merge={MEMORY_DRIVER}"]


def _real(layout: Layout, paths: Sequence[str]) -> list[str]:
    """Return the paths. If a path is a link, also return the file in the project that it leads to."""
    project = os.path.realpath(layout.project)
    real = [os.path.relpath(os.path.realpath(os.path.join(project, path)), project) for path in paths]
    return list(dict.fromkeys([*paths, *(path for path in real if not path.startswith(".."))]))


def _pattern(path: str, glob: str = "") -> str:
    """Return a path of the repository in the notation of attributes."""
    text = f"/{path.translate(_GLOB)}{glob}"
    return f'"{text.translate(_QUOTED)}"' if any(char in text for char in ' "\\\n\t\r') else text


def _set_by_others(layout: Layout, file: _AttributesFile, paths: Sequence[str]) -> dict[str, str]:
    """Query Git in a folder that has the repository's attributes without agentplane's lines."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("objects", "refs", "info"):
            (folder / part).mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        (folder / "info/attributes").write_text(file.others, errors="surrogateescape")
        return git.merge_attributes(layout.project, paths, folder)
