"""Small packages with extensions, installed as pip would install them: modules, metadata and entry points."""

import os
import site
import subprocess
import textwrap
import venv
from itertools import count
from pathlib import Path

import pytest

from agentplane import extensions
from agentplane.extensions import Point


ROOT = Path(__file__).parents[1]
_numbers = count(1)


def install(folder: Path, point: Point, name: str, code: str, *, attribute: str = "extension") -> str:
    """Install a package with one extension into a folder. Return the name of its module."""
    module = f"acme_{point.group.rpartition('.')[2]}_{next(_numbers)}"
    about = folder / f"{module}-1.2.dist-info"
    about.mkdir(parents=True)
    (folder / f"{module}.py").write_text(textwrap.dedent(code))
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(f"[{point.group}]\n{name} = {module}:{attribute}\n")
    return module


class Installed:
    """The `site-packages` of this process, as far as agentplane looks for extensions there."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._patch = patch
        folder.mkdir()
        patch.setattr(site, "getsitepackages", lambda: [str(folder)])
        patch.setattr(extensions, "_loaded", {})
        patch.setattr(extensions, "_failures", {})
        patch.syspath_prepend(folder)

    def add(self, point: Point, name: str, code: str, *, attribute: str = "extension") -> str:
        """Install a package, and return the name of its module."""
        extensions._installed.cache_clear()
        return install(self.folder, point, name, code, attribute=attribute)

    def choose(self, point: Point, name: str) -> None:
        self._patch.setenv(point.variable, name)

    def use(self, point: Point, name: str, code: str, *, attribute: str = "extension") -> str:
        module = self.add(point, name, code, attribute=attribute)
        self.choose(point, name)
        return module


class Python:
    """Another Python with agentplane and its own `site-packages`, for tests from a command line to its output."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, symlinks=True)
        self.program = folder / "bin" / "python"
        self.folder = next(folder.glob("lib/python*/site-packages"))
        shared = [*site.getsitepackages(), str(ROOT)]
        (self.folder / "shared.pth").write_text("".join(f"{path}\n" for path in shared))

    def __call__(self, folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        code = "import sys; from agentplane.cli.app import run; sys.exit(run(sys.argv[1:]))"
        return subprocess.run(
            (self.program, "-I", "-c", code, *words),
            cwd=folder,
            env=kept | environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
