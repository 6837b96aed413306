"""npm, Yarn and pnpm."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agentplane.curate.conditions.packages.found import (
    Form,
    Found,
    Opaque,
    Pin,
    Range,
    Source,
    line_of,
    line_of_version,
    line_with,
    table,
)


_LONGEST = 200
_KINDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_PROTOCOL = re.compile(r"(?:npm:)(?:(?P<other>(?:@[^/@]+/)?[^@]+)@)?")
_NOT_REGISTRY = re.compile(
    r"(?:file|link|portal|workspace|git|github|https?|patch|catalog)[:+]|[\w.-]+/[\w.-]+"
)


def direct_ranges(text: str, name: str) -> Iterator[str]:
    """Yield the ranges that a package.json gives a package."""
    whole = table(msgspec.json.decode(text))
    for kind in _KINDS:
        found = table(whole.get(kind)).get(name)
        if isinstance(found, str):
            yield found[:_LONGEST]


def _manifest(source: Source, name: str) -> Sequence[Found]:
    found: list[Found] = []
    for limits in dict.fromkeys(direct_ranges(source.text, name)):
        line = line_with(source.text, rf'^[ \t]*"{re.escape(name)}"\s*:\s*"{re.escape(limits)}"')
        bare = _PROTOCOL.sub("", limits, count=1)
        if _NOT_REGISTRY.match(bare) or not re.search(r"[0-9xX*]|^\s*$", bare):
            found.append(Opaque(f"`{limits[:60]}` isn't a valid version range", line))
        else:
            found.append(Range(bare, line))
    return found


def _package_lock(source: Source, name: str) -> Sequence[Found]:
    whole = table(msgspec.json.decode(source.text))
    packages = table(whole.get("packages"))
    if not packages:
        return _first_lock(source, whole, name)
    ending = f"node_modules/{name}"
    rows = [(key, table(row)) for key, row in packages.items() if key == ending or key.endswith(f"/{ending}")]
    known = [(key, row) for key, row in rows if not row.get("link") and row.get("name", name) == name]
    # A copy inside of another package isn't the one that the project imports.
    own = [(key, row) for key, row in known if key.count("node_modules/") == 1]
    return [_pin_at(source.text, key, row.get("version")) for key, row in own or known]


def _first_lock(source: Source, whole: Mapping[str, object], name: str) -> Sequence[Found]:
    """Read the first version of package-lock.json, in which packages are nested."""
    waiting = [table(whole.get("dependencies"))]
    found: list[Mapping[str, object]] = []
    while waiting and not found:
        found = [table(level[name]) for level in waiting if name in level]
        waiting = [table(table(row).get("dependencies")) for level in waiting for row in level.values()]
        waiting = [level for level in waiting if level]
    return [_pin_at(source.text, name, row.get("version")) for row in found]


def _pin_at(text: str, key: str, version: object) -> Found:
    line = line_of_version(text, key)
    if not isinstance(version, str) or not version[:1].isdigit():
        return Opaque("it isn't installed from a registry", line)
    return Pin(version, line)


_YARN_HEAD = re.compile(r"^(\S.*):[ \t]*\r?$", re.MULTILINE)
_YARN_VERSION = re.compile(r"^  version:?[ \t]+[\"']?([^\"'\s]+)", re.MULTILINE)
_YARN_NAME = re.compile(r"((?:@[^/@]+/)?[^@/]+)@(.*)\Z")


def _yarn(source: Source, name: str) -> Sequence[Found]:
    heads = [head for head in _YARN_HEAD.finditer(source.text) if not head[1].startswith("#")]
    found: list[tuple[bool, Found]] = []
    ends = [*(head.start() for head in heads[1:]), len(source.text)]
    for head, end in zip(heads, ends, strict=True):
        if name not in head[1]:
            continue
        names = [_YARN_NAME.match(one.strip().strip("\"'")) for one in head[1].split(",")]
        ranges = {one[2].removeprefix("npm:") for one in names if one and one[1] == name}
        version = _YARN_VERSION.search(source.text, head.end(), end)
        if not ranges or version is None or version[1].startswith("0.0.0-use.local"):
            continue
        found.append((bool(ranges & source.direct), Pin(version[1], line_of(source.text, version.start()))))
    return [one for is_direct, one in found if is_direct] or [one for _, one in found]


_PNPM_DIRECT = ("importers", "dependencies", "devDependencies", "optionalDependencies")


def _pnpm(source: Source, name: str) -> Sequence[Found]:
    quoted = re.escape(name)
    own = re.compile(rf"\s+['\"]?{quoted}['\"]?:\s*(\S*)")
    listed = re.compile(rf"  ['\"]?/?{quoted}[@/]([0-9][^:('\"_]*)")
    direct: list[Found] = []
    rest: dict[str, Found] = {}
    section, waiting = "", False
    for number, line in enumerate(source.text.split("\n"), 1):
        if line[:1].strip() and line.endswith(":"):
            section, waiting = line.strip(":'\""), False
        elif section in _PNPM_DIRECT:
            if waiting and (version := re.match(r"\s+version:\s*['\"]?([^\s'\"]+)", line)):
                direct.append(_pnpm_pin(version[1], number))
                waiting = False
            elif found := own.match(line):
                waiting = not found[1]
                if found[1] and not found[1].startswith("{"):
                    direct.append(_pnpm_pin(found[1].strip("'\""), number))
        elif section == "packages" and (found := listed.match(line)):
            rest.setdefault(found[1], Pin(found[1], number))
    return direct or list(rest.values())


def _pnpm_pin(text: str, line: int) -> Found:
    version = re.match(r"(?:/?(?:@[^/]+/)?[^/@(0-9][^/@(]*@)?([0-9][^(_]*)", text)
    return Pin(version[1], line) if version else Opaque("it isn't installed from a registry", line)


FORMS = (
    Form(re.compile(r"package-lock\.json|npm-shrinkwrap\.json"), is_lock=True, read=_package_lock),
    Form(re.compile(r"yarn\.lock"), is_lock=True, read=_yarn),
    Form(re.compile(r"pnpm-lock\.yaml"), is_lock=True, read=_pnpm),
    Form(re.compile(r"package\.json"), is_lock=False, read=_manifest),
)
