"""The few things asked of git. A folder without git answers None to all of them."""

import os
import subprocess
from pathlib import Path


# Variables that would point git at another repository than the folder's own (set inside git hooks).
_MISLEADING = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR")


def run(folder: Path, *words: str) -> str | None:
    """What a git command prints, stripped; None where it fails or there is no git."""
    found = output(folder, *words)
    return None if found is None else found.decode(errors="replace").strip()


def output(folder: Path, *words: str) -> bytes | None:
    """The bytes that a git command prints."""
    environment = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(
            ("git", *words),
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=10,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def head(folder: Path) -> str | None:
    """The commit that is checked out, shortened."""
    return run(folder, "rev-parse", "--short=12", "--verify", "--quiet", "HEAD") or None


def branch(folder: Path) -> str | None:
    """The branch that is checked out; None on a detached head."""
    return run(folder, "symbolic-ref", "--short", "--quiet", "HEAD") or None


def top(folder: Path) -> Path | None:
    """The top of the work tree that the folder is in."""
    found = run(folder, "rev-parse", "--show-toplevel")
    return Path(found) if found else None


def user_name(folder: Path) -> str | None:
    return run(folder, "config", "--get", "user.name") or None
