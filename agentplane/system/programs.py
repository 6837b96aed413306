"""Ways to start Python without the current folder's modules, and programs from absolute elements of PATH.

The current folder is usually a clone. A module named `json`, a package named `agentplane` or an executable
named `git` in a clone must never run because agentplane starts another process there.
"""

import os
import site
import sys


def python(module: str, *words: str) -> list[str]:
    """Return the command line that runs a module of this installation."""
    return [sys.executable, *_isolation(), "-m", module, *words]


def bare_python(file: str, *words: str) -> list[str]:
    """Return the command line that runs a file which needs only the standard library."""
    return [sys.executable, "-I", "-S", file, *words]


def is_isolated(command: list[str]) -> bool:
    """True if a command line starts a Python that imports nothing from the current folder."""
    return len(command) > 1 and os.path.isabs(command[0]) and command[1] in {"-I", "-EP"}


def path() -> str:
    """Return PATH without empty and relative elements, because these name whatever folder a process is in."""
    found = os.environ.get("PATH", os.defpath)
    return os.pathsep.join(part for part in found.split(os.pathsep) if os.path.isabs(part))


def find(name: str) -> str | None:
    """Return the absolute path of a program, or None if PATH has none of that name."""
    import shutil

    return name if os.path.isabs(name) else shutil.which(name, path=path())


def _isolation() -> list[str]:
    # -I also hides the user's own site-packages, where `pip install --user` may have put this package.
    own = site.getusersitepackages() if site.ENABLE_USER_SITE else None
    return ["-EP"] if own and __file__.startswith(os.path.join(own, "")) else ["-I"]
