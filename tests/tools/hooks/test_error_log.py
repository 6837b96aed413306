"""What went wrong in hooks: kept within bounds, shown as what it is, believed only where it is ours."""

import os
from pathlib import Path

from agentplane.api import Plane
from agentplane.tools import checks
from agentplane.tools.hooks import error_log
from tests import cached


def noted(plane: Plane, *whats: str) -> Path:
    cached.save(plane.layout, "x", b"")
    for what in whats:
        error_log.note(str(plane.layout.root), "tool", "codex", what)
    return plane.layout.cache / error_log.NAME


def test_what_failed_is_a_finding(plane: Plane) -> None:
    assert list(checks.check(plane.store)) == []
    noted(plane, "first", "then\n\x1b[31mred\u202e")
    (found,) = checks.check(plane.store)
    assert found.where == ".agentplane/cache/hooks.log"
    assert "2 hook calls failed" in found.what
    assert "tool hook of codex: then [31mred" in found.what


def test_what_failed_long_ago_is_none(plane: Plane) -> None:
    path = noted(plane, "x")
    path.write_text(path.read_text().replace("T", " ").replace("202", "200", 1))
    assert list(checks.check(plane.store)) == []
    path.write_bytes(b"\xff\tx\n\n2026\t\t\t\n" * 3)
    assert list(checks.check(plane.store)) == []


def test_it_does_not_grow_without_end(plane: Plane) -> None:
    path = noted(plane, *("x" * 1000 for _ in range(400)))
    assert path.stat().st_size < 70_000
    assert path.stat().st_mode & 0o077 == 0


def test_nothing_is_written_where_it_cannot_be(plane: Plane, tmp_path: Path) -> None:
    path = noted(plane)
    path.symlink_to(tmp_path / "out")
    noted(plane, "x")
    assert not (tmp_path / "out").exists()
    path.unlink()
    os.mkfifo(path)
    noted(plane, "x")


def test_one_that_came_along_is_not_shown(plane: Plane) -> None:
    noted(plane, "x")
    (plane.layout.cache / "owner").write_bytes(b"another machine")
    assert list(checks.check(plane.store)) == []
