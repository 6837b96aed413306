"""The version of a package, compared with the range of a check."""

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from agentplane.curate.conditions import version_order
from agentplane.curate.conditions.packages import cargo, go, maven, npm, python
from agentplane.curate.conditions.packages.found import Form, Found, Opaque, Pin, Range, Source
from agentplane.curate.conditions.project_files import ProjectFiles
from agentplane.curate.conditions.result import HOLDS, CantTell, Fails, Result
from agentplane.curate.conditions.shown import line_proof
from agentplane.curate.conditions.version_order import Unreadable
from agentplane.memory import version_spec
from agentplane.memory.condition import ECOSYSTEMS, Ecosystem, VersionIs
from agentplane.memory.version_spec import SpecProblem


FORMS: Mapping[Ecosystem, Sequence[Form]] = {
    "python": python.FORMS,
    "npm": npm.FORMS,
    "cargo": cargo.FORMS,
    "go": go.FORMS,
    "maven": maven.FORMS,
}
_PLAIN: Mapping[Ecosystem, Callable[[str], str]] = {"python": python.plain, "cargo": cargo.plain}
"""Functions that normalize the spelling of a name."""
_TITLES: Mapping[Ecosystem, str] = {
    "python": "Python",
    "npm": "npm",
    "cargo": "Cargo",
    "go": "Go",
    "maven": "Maven",
}
_MOST_FILES = 500
_OF_OTHERS = frozenset((
    "node_modules", "vendor", "third_party", "testdata", "fixtures", "fixture", "__fixtures__", ".venv", "venv",
    "site-packages", ".agentplane",
))  # fmt: skip
"""Folders with files that aren't about the project's own packages."""
_SECONDARY = frozenset(
    ("test", "tests", "__tests__", "doc", "docs", "example", "examples", "benchmark", "benchmarks")
)
"""Folders whose files count only if no other file names the package."""


class _Place(NamedTuple):
    """The version or range at one place in a file."""

    ecosystem: Ecosystem
    path: str
    is_lock: bool
    found: Found
    text: str
    """The line of the file."""

    @property
    def where(self) -> str:
        return f"{self.path}:{self.found.line}"

    @property
    def folder(self) -> str:
        return posixpath.dirname(self.path)


class Packages:
    """The lock files and manifests of a project, read for one evaluation."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._texts: dict[str, str | None] = {}
        self._plain: dict[str, str] = {}

    @cached_property
    def paths(self) -> Sequence[tuple[str, Ecosystem, Form]]:
        """The files with their package managers."""
        by_name = [(form.name, ecosystem, form) for ecosystem, forms in FORMS.items() for form in forms]
        found = []
        for path in self._files.all_files:
            folder, _, name = path.rpartition("/")
            form = next(((one, form) for pattern, one, form in by_name if pattern.fullmatch(name)), None)
            if form and not _OF_OTHERS & set(folder.split("/")):
                found.append((path, *form))
        return found

    def text(self, path: str) -> str | None:
        """Return the text of a file, or None if it can't be read."""
        if path not in self._texts:
            data = self._files.read(path)
            if isinstance(data, bytes):
                self._texts[path] = data.decode(errors="replace").removeprefix("\ufeff")
            else:
                self._texts[path] = None
        return self._texts[path]

    def mentions(self, path: str, ecosystem: Ecosystem, name: str) -> bool:
        """True if a file can be about a package. It saves parsing the others."""
        text = self.text(path) or ""
        if ecosystem not in _PLAIN:
            return (name.rpartition(":")[2] if ecosystem == "maven" else name) in text
        plain = _PLAIN[ecosystem]
        if path not in self._plain:
            self._plain[path] = plain(text)
        return plain(name) in self._plain[path]


def evaluate(condition: VersionIs, packages: Packages) -> Result:
    """Return whether every version of a package is in the range."""
    if len(packages.paths) > _MOST_FILES:
        return CantTell(f"the project has more than {_MOST_FILES} lock files and manifests")
    ecosystems = (condition.ecosystem,) if condition.ecosystem else ECOSYSTEMS
    results: dict[Ecosystem, Result] = {}
    for ecosystem in ecosystems:
        places, unread = _places(ecosystem, condition.name, packages)
        if found := _counting(places):
            results[ecosystem] = _of_ecosystem(condition, ecosystem, found)
        elif unread:
            results[ecosystem] = unread
    return _joined(condition, results)


def _joined(condition: VersionIs, results: Mapping[Ecosystem, Result]) -> Result:
    """Return the result for a name that packages of several package managers can have."""
    if not results:
        return CantTell(f"no lock file or manifest names `{condition.name}`")
    if len(results) == 1 or all(result == HOLDS for result in results.values()):
        return next(iter(results.values()))
    listed = " and ".join(_TITLES[one] for one in results)
    todo = f"put one of them before the name, such as `version: {next(iter(results))}:{condition.name}`"
    return CantTell(f"{listed} have a package named `{condition.name}`: {todo}")


def _of_ecosystem(condition: VersionIs, ecosystem: Ecosystem, places: Sequence[_Place]) -> Result:
    wanted = version_order.spans(ecosystem, condition.spec)
    if isinstance(wanted, Unreadable):
        return CantTell(f"`{wanted.text}` isn't a valid {_TITLES[ecosystem]} version range")
    results = [_of_place(condition, wanted, place) for place in places]
    failed = next((one for one in results if isinstance(one, Fails)), None)
    return failed or next((one for one in results if isinstance(one, CantTell)), HOLDS)


def _of_place(condition: VersionIs, wanted: Sequence[version_order.Span], place: _Place) -> Result:
    name, spec = condition.name, condition.spec.text
    proof = line_proof(place.path, place.found.line, place.text)
    match place.found:
        case Pin(version=version):
            key = version_order.key(place.ecosystem, version)
            if key is None:
                return CantTell(
                    f"`{version}` isn't a valid {_TITLES[place.ecosystem]} version", place.where, proof
                )
            if version_order.contains(wanted, key):
                return HOLDS
            return Fails(f"{name} has version {version}, which isn't in {spec}.", place.where, proof)
        case Range(text=text):
            allowed = _allowed(place.ecosystem, text)
            if allowed is None:
                return CantTell(
                    f"`{text}` isn't a valid {_TITLES[place.ecosystem]} version range", place.where, proof
                )
            if version_order.is_inside(allowed, wanted):
                return HOLDS
            if not version_order.overlap(allowed, wanted):
                return Fails(f"The manifest allows {name} {text}, which isn't in {spec}.", place.where, proof)
            shown = f"{name} {text}" if text else f"any version of {name}"
            return CantTell(
                f"the manifest allows {shown}, and no lock file has the exact version", place.where, proof
            )
        case Opaque(why=why):
            return CantTell(why, place.where, proof)


def _allowed(ecosystem: Ecosystem, text: str) -> Sequence[version_order.Span] | None:
    if not text.strip():
        return version_order.ALL
    spec = version_spec.parse(text)
    if isinstance(spec, SpecProblem):
        return None
    found = version_order.spans(ecosystem, spec)
    return None if isinstance(found, Unreadable) else found


def _counting(places: Sequence[_Place]) -> Sequence[_Place]:
    """Return the places that decide: a manifest doesn't if a lock file above it has the package."""
    locked = {place.folder for place in places if place.is_lock or isinstance(place.found, Pin)}
    kept = [
        place
        for place in places
        if place.is_lock or isinstance(place.found, Pin) or not _is_below(place.folder, locked)
    ]
    primary = [place for place in kept if not _SECONDARY & set(place.path.split("/"))]
    return primary or kept


def _is_below(folder: str, tops: set[str]) -> bool:
    parts = folder.split("/") if folder else []
    return any("/".join(parts[:count]) in tops for count in range(len(parts) + 1))


def _places(ecosystem: Ecosystem, name: str, packages: Packages) -> tuple[Sequence[_Place], CantTell | None]:
    """Return what the files of an ecosystem say, and the reason why one of them can't be read."""
    direct = frozenset(_direct(name, packages)) if ecosystem == "npm" else frozenset()
    found: list[_Place] = []
    unread: CantTell | None = None
    for path, one, form in packages.paths:
        if one != ecosystem or (found and path.endswith("go.sum")):
            continue
        text = packages.text(path)
        if text is None or not packages.mentions(path, ecosystem, name):
            unread = unread or (CantTell("it can't be read", path) if text is None else None)
            continue
        try:
            rows = form.read(Source(path, text, direct, packages.text), name)
        except _BROKEN:
            rows = [Opaque("the file can't be parsed")]
        lines = text.split("\n")
        found += [_Place(ecosystem, path, form.is_lock, row, lines[row.line - 1]) for row in rows]
    return found, unread


_BROKEN = (ValueError, RecursionError, msgspec.MsgspecError, SyntaxError)
"""The errors of parsers of JSON, TOML and XML."""


def _direct(name: str, packages: Packages) -> Iterator[str]:
    for path, _, _ in packages.paths:
        if posixpath.basename(path) == "package.json" and (text := packages.text(path)) and name in text:
            try:
                yield from npm.direct_ranges(text, name)
            except _BROKEN:
                continue
