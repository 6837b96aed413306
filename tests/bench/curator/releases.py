"""Successive releases of real packages, downloaded from PyPI and npm and committed one by one into Git repositories.

The archives and trees are kept in a cache folder outside this repository.
"""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import urllib.request
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin

import msgspec


PYPI = {
    "click": "6.7 7.0 7.1.2 8.0.0 8.0.4 8.1.0 8.1.7 8.1.8 8.2.1 8.3.0 8.4.0 8.5.0",
    "httpx": "0.7.4 0.9.3 0.11.1 0.13.0 0.14.0 0.15.5 0.16.1 0.18.0 0.20.0 0.22.0 0.23.3 0.25.0 0.27.0 0.28.1",
    "attrs": "17.4.0 18.2.0 19.3.0 20.3.0 21.2.0 21.4.0 22.1.0 22.2.0 23.1.0 24.1.0 24.3.0 25.3.0 26.1.0",
    "jinja2": "2.9.6 2.10 2.10.3 2.11.0 2.11.3 3.0.0 3.0.3 3.1.0 3.1.2 3.1.4 3.1.6",
    "structlog": "18.2.0 19.2.0 20.1.0 20.2.0 21.1.0 21.3.0 21.5.0 22.1.0 22.3.0 23.2.0 24.1.0 25.1.0 25.5.0",
    "pluggy": "0.6.0 0.8.0 0.13.0 1.0.0 1.2.0 1.3.0 1.4.0 1.5.0 1.6.0",
    "pip-tools": "2.0.2 3.2.0 4.0.0 4.5.0 5.2.0 5.5.0 6.2.0 6.6.0 6.10.0 6.14.0 7.1.0 7.4.1 7.5.0 7.6.0",
    "urllib3": "1.21.1 1.22 1.23 1.24.2 1.25.3 1.25.11 1.26.0 1.26.9 1.26.18 2.0.0 2.0.7 2.2.0 2.3.0 2.5.0",
    # These contain Rust and Java.
    "maturin": "0.11.0 0.12.0 0.13.0 0.14.0 0.15.0 1.0.0 1.2.0 1.4.0 1.6.0 1.7.0 1.8.0 1.10.0 1.13.0",
    "cryptography": "36.0.0 38.0.0 39.0.0 40.0.0 41.0.0 42.0.0 43.0.0 44.0.0 45.0.0 46.0.0 47.0.0",
    "jpype1": "0.7.5 1.0.1 1.1.2 1.2.0 1.3.0 1.4.0 1.5.0 1.6.0 1.7.0",
}
NPM = {
    "immer": "6.0.1 7.0.0 8.0.0 9.0.0 9.0.7 9.0.21 10.0.1 10.1.1 11.0.0 11.1.8",
    "rxjs": "6.0.0 6.3.3 6.5.5 6.6.7 7.0.0 7.2.0 7.4.0 7.5.5 7.8.1",
    "@reduxjs/toolkit": "1.6.0 1.7.0 1.8.0 1.9.0 1.9.7 2.0.1 2.2.1 2.5.0 2.8.0 2.11.0",
    "@tanstack/query-core": "4.10.3 4.29.22 4.35.2 4.40.0 5.15.4 5.28.12 5.51.14 5.62.7 5.80.2 5.90.2 5.100.0",
    "express": "4.12.4 4.14.1 4.16.0 4.17.2 4.18.1 4.21.0 5.1.0 5.2.1",
}
TYPESCRIPT = "5.9.2"
"""The version of the compiler that finds the definitions of the npm packages."""

LARGEST = 1_000_000
_BUILT = frozenset({"dist", "node_modules", "_esm5", "_esm2015", "esm", "bundles", "umd"})
_SOURCES = frozenset({"src", "lib"})
_FIRST_DAY = 1_700_000_000
_AUTHOR = {
    "GIT_AUTHOR_NAME": "Releases",
    "GIT_AUTHOR_EMAIL": "releases@example.com",
    "GIT_COMMITTER_NAME": "Releases",
    "GIT_COMMITTER_EMAIL": "releases@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class Release(msgspec.Struct, frozen=True):
    package: str
    version: str
    tree: Path
    """The folder with the files of the release."""
    commit: str


class History(msgspec.Struct, frozen=True):
    package: str
    project: Path
    """The Git repository with a commit for each release."""
    releases: tuple[Release, ...]


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "agentplane-bench" / "curator"


def histories(only: frozenset[str] = frozenset()) -> Iterator[History]:
    for package in (*PYPI, *NPM):
        if not only or package in only:
            yield _history(package, (PYPI.get(package) or NPM[package]).split())


def git(project: Path, *words: str, day: int = 0) -> str:
    """Run Git with a fixed author, on a fixed day."""
    when = f"{_FIRST_DAY + day * 86_400} +0000"
    env = {**os.environ, **_AUTHOR, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    done = subprocess.run(("git", *words), cwd=project, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout.strip()


def typescript() -> Path:
    """Return the folder of the TypeScript compiler."""
    folder = cache() / "typescript" / TYPESCRIPT
    if not folder.exists():
        _extract(
            _npm("typescript", TYPESCRIPT), folder, keep=lambda path: path.parts[0] in ("lib", "package.json")
        )
    return folder


def _history(package: str, versions: list[str]) -> History:
    name = package.replace("/", "+")
    trees = [_tree(package, version) for version in versions]
    project = (
        cache() / "repositories" / f"{name}-{hashlib.sha256(' '.join(versions).encode()).hexdigest()[:8]}"
    )
    if not (project / ".git" / "complete").exists():
        _commit_all(project, versions, trees)
    commits = git(project, "rev-list", "--reverse", "main").split()
    releases = zip(versions, trees, commits, strict=True)
    return History(package, project, tuple(Release(package, *release) for release in releases))


def _commit_all(project: Path, versions: list[str], trees: list[Path]) -> None:
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir(parents=True)
    git(project, "init", "-q", "-b", "main")
    for day, (version, tree) in enumerate(zip(versions, trees, strict=True)):
        for path in project.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(tree, project, dirs_exist_ok=True)
        git(project, "add", "--all", "--force")
        git(project, "commit", "-q", "-m", f"Release {version}", day=day)
    (project / ".git" / "complete").touch()


def _tree(package: str, version: str) -> Path:
    folder = cache() / "trees" / package.replace("/", "+") / version
    if not folder.exists():
        if package in PYPI:
            _extract(_sdist(package, version), folder, keep=_is_kept)
        else:
            _extract(_npm(package, version), folder, keep=_is_kept_npm)
    return folder


def _is_kept(path: PurePosixPath) -> bool:
    return not any(part in _BUILT or part.endswith(".egg-info") for part in path.parts)


def _is_kept_npm(path: PurePosixPath) -> bool:
    """The archives of npm contain the compiled code too."""
    return _is_kept(path) and (len(path.parts) == 1 or path.parts[0] in _SOURCES)


def _sdist(package: str, version: str) -> bytes:
    (source,) = (file for file in _listed(package)[version] if file["packagetype"] == "sdist")
    # A mirror may give an address that is relative to its index.
    data = _fetch(urljoin(f"https://pypi.org/simple/{package}/", source["url"]))
    if hashlib.sha256(data).hexdigest() != source["digests"]["sha256"]:
        raise RuntimeError(f"{package} {version}: the archive isn't the one that PyPI lists")
    return data


@lru_cache
def _listed(package: str) -> dict[str, list[dict]]:
    return json.loads(_fetch(f"https://pypi.org/pypi/{package}/json"))["releases"]


def _npm(package: str, version: str) -> bytes:
    return _fetch(f"https://registry.npmjs.org/{package}/-/{package.rpartition('/')[2]}-{version}.tgz")


def _fetch(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def _extract(data: bytes, folder: Path, keep) -> None:
    """Write the regular files of an archive, without its top folder."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            # The compiler alone has larger files.
            is_small = member.size <= LARGEST or "typescript" in folder.parts
            if member.isfile() and is_small and path.parts and ".." not in path.parts and keep(path):
                target = part / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.extractfile(member).read())
    part.rename(folder)
