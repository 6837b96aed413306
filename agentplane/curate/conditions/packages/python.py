"""Python: uv, Poetry, PDM, Pipenv, pip and pyproject.toml."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from agentplane.curate.conditions.packages import lock_blocks
from agentplane.curate.conditions.packages.found import (
    Form,
    Found,
    Opaque,
    Pin,
    Range,
    Source,
    line_of_version,
    line_with,
    rows,
    table,
)
from agentplane.text.toml import limited


_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?P<url>@)?\s*\(?(?P<range>[^;#)\s][^;#)]*)?\)?\s*(?:[;#].*)?\Z"
)
_LONGEST = 2000
_PINNED = re.compile(r"={2,3}\s*([^\s,*]+)\Z")


def plain(name: str) -> str:
    """Return a name in the form in which equal names are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _locked(source: Source, name: str) -> Sequence[Found]:
    wanted = plain(name)
    return [Pin(one.version, one.line) for one in lock_blocks.read(source.text) if plain(one.name) == wanted]


def _pipfile_lock(source: Source, name: str) -> Sequence[Found]:
    wanted, whole = plain(name), table(msgspec.json.decode(source.text))
    found: list[Found] = []
    for section in ("default", "develop"):
        for key, row in table(whole.get(section)).items():
            if plain(key) != wanted:
                continue
            line = line_of_version(source.text, key)
            version = str(table(row).get("version", ""))
            pinned = _PINNED.match(version.strip())
            found.append(
                Pin(pinned[1], line) if pinned else Opaque("Pipfile.lock has no version for it", line)
            )
    return found


def _requirements(source: Source, name: str) -> Sequence[Found]:
    return [one for line, text in _logical_lines(source.text) for one in _of_requirement(text, name, line)]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers. A backslash at the end continues a line."""
    start, parts = 1, []
    for number, line in enumerate(text.split("\n"), 1):
        parts.append(line.rstrip("\r").removesuffix("\\"))
        if not line.rstrip("\r").endswith("\\"):
            yield start, " ".join(parts).split(" --hash")[0]
            start, parts = number + 1, []
    if parts:
        yield start, " ".join(parts).split(" --hash")[0]


def _of_requirement(text: str, name: str, line: int) -> Iterator[Found]:
    found = _REQUIREMENT.match(text[:_LONGEST])
    if found is None or plain(found["name"]) != plain(name):
        return
    limits = (found["range"] or "").strip()
    if found["url"]:
        yield Opaque("it is installed from a URL", line)
    elif pinned := _PINNED.match(limits):
        yield Pin(pinned[1], line)
    else:
        yield Range(limits, line)


def _pyproject(source: Source, name: str) -> Sequence[Found]:
    whole = limited.read(source.text)
    project, tools = table(whole.get("project")), table(whole.get("tool"))
    listed = [*rows(project.get("dependencies"))]
    for groups in (project.get("optional-dependencies"), whole.get("dependency-groups")):
        for group in table(groups).values():
            listed += rows(group)
    found = [
        one
        for row in listed
        if isinstance(row, str)
        for one in _of_requirement(row, name, line_with(source.text, re.escape(row)))
    ]
    poetry = table(tools.get("poetry"))
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    tables += [table(group).get("dependencies") for group in table(poetry.get("group")).values()]
    for dependencies in map(table, tables):
        found += _of_poetry(source, dependencies, name)
    # A manifest only allows versions, so `==2.1` in it is a range, too.
    return [Range(f"=={one.version}", one.line) if isinstance(one, Pin) else one for one in found]


def _of_poetry(source: Source, dependencies: object, name: str) -> Iterator[Found]:
    for key, value in table(dependencies).items():
        if plain(key) != plain(name):
            continue
        line = line_with(source.text, rf"^[\"']?{re.escape(key)}[\"']?\s*=")
        for one in value if isinstance(value, list) else [value]:
            limits = one if isinstance(one, str) else table(one).get("version")
            if isinstance(limits, str):
                yield Range("" if limits.strip() == "*" else limits, line)
            else:
                yield Opaque("it isn't installed from a registry", line)


FORMS = (
    Form(re.compile(r"(?:uv|poetry|pdm)\.lock|pylock(?:\.[\w-]+)?\.toml"), is_lock=True, read=_locked),
    Form(re.compile(r"Pipfile\.lock"), is_lock=True, read=_pipfile_lock),
    Form(
        re.compile(r"(?:[\w.-]*requirements[\w.-]*|constraints[\w.-]*)\.txt"),
        is_lock=False,
        read=_requirements,
    ),
    Form(re.compile(r"pyproject\.toml"), is_lock=False, read=_pyproject),
)
