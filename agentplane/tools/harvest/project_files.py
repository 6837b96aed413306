"""The rule and instruction files that people wrote in a project, and its decision records."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from agentplane.agents.catalog import instruction_files, nested_files, rule_folders
from agentplane.errors import AgentplaneError
from agentplane.text import files, front_matter
from agentplane.text.visible import is_encodable, visible
from agentplane.tools.harvest import decision_records, statements
from agentplane.tools.harvest.decision_records import Decision, Unusable
from agentplane.tools.harvest.haul import Haul, Statement, mark_of
from agentplane.tools.harvest.statements import Line
from agentplane.tools.memory_file import block


_SKIPPED = frozenset(("node_modules", "vendor", "dist", "build", "target", "venv", "site-packages", "third_party", "testdata", "fixtures"))  # fmt: skip
_DEEPEST = 4
_DEEPEST_RECORD = 2
"""Maximum depth of folders below the folder of the records."""
_MOST_FOLDERS = 4000
_MOST_FILES = 2000
_LARGEST = 512 * 1024
_IMPORT = re.compile(r"(?m)^[ \t]*@[\w./~-]+[ \t]*$")
_NUMBER = re.compile(r"(\d{1,8})[-_ .]")
"""The number of a decision record in its file name."""
_SCOPES = ("globs", "paths", "applyTo", "fileMatchPattern")


def instructions(project: Path) -> Haul:
    """Return the statements in instruction files that can be understood alone."""
    haul = Haul("instructions")
    for path, tool in _instruction_files(project):
        text = text_of(project, path, haul)
        if text is not None:
            haul.places.append(path)
            haul.statements += _statements(path, tool, text, haul)
    return haul


def records(project: Path) -> Haul:
    """Return the decisions in a project's decision records."""
    haul = Haul("adr")
    found: dict[str, Decision] = {}
    for path in _record_files(project, haul):
        text = text_of(project, path, haul)
        if text is None:
            continue
        if not _has_name_of_record(path) and not decision_records.is_record(text):
            haul.skip(path, "neither its name nor its sections look like a decision record")
            continue
        haul.places.append(path)
        read = decision_records.read(text, os.path.basename(path))
        if isinstance(read, Unusable):
            haul.skip(f"{path}:{read.line}", read.why, read.title)
        else:
            found[path] = read
    successors = _successors(found)
    for path, one in found.items():
        status = "superseded" if successors[path] else one.status
        haul.statements.append(
            Statement(
                "decision",
                one.statement,
                f"{path}:{one.line}",
                "adr",
                why=one.why,
                arrives="" if status == "accepted" else status,
                successors=tuple(mark_of(found[other].statement) for other in successors[path]),
            )
        )
    return haul


def _successors(found: Mapping[str, Decision]) -> dict[str, list[str]]:
    """Return the paths of the records that superseded each record. Either side may state it."""
    links: dict[str, dict[str, None]] = {path: {} for path in found}
    for path, one in found.items():
        for other in filter(None, (_resolved(found, path, name) for name in one.successors)):
            links[path][other] = None
        for other in filter(None, (_resolved(found, path, name) for name in one.replaces)):
            links[other][path] = None
    return {path: list(others) for path, others in links.items()}


def _resolved(found: Iterable[str], path: str, name: str) -> str | None:
    """Return the record that another one names by file or number, or None if there isn't exactly one."""
    folder, own = os.path.split(path)
    others = [one for one in found if os.path.dirname(one) == folder and os.path.basename(one) != own]
    if name.isdigit():
        same = [
            one
            for one in others
            if (number := _NUMBER.search(os.path.basename(one))) and int(number[1]) == int(name)
        ]
    else:
        same = [one for one in others if os.path.basename(one) == name]
        same = same or [one for one in found if os.path.basename(one) == name and one != path]
    return same[0] if len(same) == 1 else None


def text_of(project: Path, path: str, haul: Haul) -> str | None:
    """Return the text of a project file. Skip unreadable or large files and links out of the project."""
    if not is_encodable(path):  # a name that isn't valid UTF-8 can't be recorded as a place
        haul.skip(visible(path), "the file name is not UTF-8")
        return None
    real = os.path.realpath(project / path)
    if not Path(real).is_relative_to(os.path.realpath(project)):
        haul.skip(path, "link to a file outside the project")
        return None
    return read_text(real, path, haul)


def read_text(path: str, place: str, haul: Haul) -> str | None:
    """Return the text of a file. `place` is its name in messages."""
    try:
        if os.path.getsize(path) > _LARGEST:
            haul.skip(place, f"larger than {_LARGEST // 1024} KB")
            return None
        data = files.read(path)
    except (OSError, AgentplaneError):
        haul.skip(place, "can't be read")
        return None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace").replace("\r\n", "\n")
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def bare(text: str, *, imports: bool = False) -> str:
    """Blank out everything that the author didn't write. Line numbers stay. `imports` keeps import lines."""
    data = text.encode()
    own = block.find(data)
    if own:
        text = (data[: own.start] + b"\n" * data[own.start : own.end].count(b"\n") + data[own.end :]).decode()
    text = _without_comments(text)
    return text if imports else _IMPORT.sub("", text)


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 4)) >= 0:
        is_code = (
            text[begin - 1 : begin] == "`" == text[end + 3 : end + 4]
        )  # shown as code, so it is the author's
        parts += [text[at:begin], text[begin : end + 3] if is_code else "\n" * text.count("\n", begin, end)]
        at = end + 3
    return "".join([*parts, text[at:]])


def _statements(path: str, tool: str | None, text: str, haul: Haul) -> list[Statement]:
    text = bare(text)
    fields, body, first = front_matter.split(text)
    folder = os.path.dirname(path)
    scope = _scope(front_matter.pairs(text) if fields is None else fields)
    if not scope and folder and not folder.startswith("."):
        scope = (f"{folder}/**",)
    found = statements.read(body, first)
    for piece in found.skipped:
        haul.skip(f"{path}:{piece.line}", piece.why, piece.text)
    return [
        Statement(
            line.kind, line.text, f"{path}:{line.line}", tool, why=line.why, tags=tags_of(line), scope=scope
        )
        for line in found.lines
    ]


def tags_of(line: Line) -> tuple[str, ...]:
    """Return the heading above a statement as a tag, if the heading has one or two words."""
    words = re.findall(r"[a-z0-9]+", line.headings[-1].lower()) if line.headings else []
    return ("-".join(words),) if 1 <= len(words) <= 2 else ()


def is_for_some_paths(path: str, text: str) -> bool:
    """True if a tool reads a rule file only for some paths, or only on request."""
    fields, _, _ = front_matter.split(text)
    header = front_matter.pairs(text) if fields is None else fields
    is_always = str(header.get("alwaysApply", "")).lower() == "true"
    return not is_always and (path.endswith(".mdc") or bool(_scope(header)))


def scope_of(text: str) -> tuple[str, ...]:
    """Return the paths in the header of a rule file. Without paths, it applies everywhere or on request."""
    fields, _, _ = front_matter.split(text)
    return _scope(front_matter.pairs(text) if fields is None else fields)


def _scope(fields: dict[str, object]) -> tuple[str, ...]:
    for name in _SCOPES:
        value = fields.get(name)
        globs = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        patterns = [str(glob).strip().strip("\"'") for glob in globs if str(glob).strip()]
        if patterns and not {"**", "**/*", "*"} & set(patterns):
            return tuple(patterns[:8])
    return ()


def _instruction_files(project: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each instruction file once, even if links give it several names."""
    seen: set[str] = set()
    named = [*instruction_files().items(), *_in_folders(project), *_nested(project)]
    for path, tool in named[:_MOST_FILES]:
        real = os.path.realpath(project / path)
        if real not in seen and os.path.isfile(real):
            seen.add(real)
            yield path, tool


def _in_folders(project: Path) -> Iterator[tuple[str, str | None]]:
    top_of_all = os.path.realpath(project)
    for tool, rules in rule_folders():
        if not Path(os.path.realpath(project / rules.folder)).is_relative_to(top_of_all):
            continue
        for top, below, names in islice(os.walk(project / rules.folder), _MOST_FOLDERS):
            below.sort()
            for name in sorted(names):
                if fnmatch(name, rules.pattern):
                    yield os.path.relpath(os.path.join(top, name), project), tool


def _nested(project: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the instruction files in subfolders. Each file is only about its folder."""
    nested = nested_files()
    for number, (top, below, names) in enumerate(os.walk(project)):
        here = os.path.relpath(top, project)
        depth = 0 if here == "." else here.count("/") + 1
        below[:] = sorted(
            name for name in below if depth < _DEEPEST and not name.startswith(".") and name not in _SKIPPED
        )
        if number > _MOST_FOLDERS:
            return
        if depth:
            yield from ((f"{here}/{name}", tool) for name, tool in nested.items() if name in names)


def _record_files(project: Path, haul: Haul) -> list[str]:
    """Return each file in the folders of records once. Files that aren't readable Markdown are skipped."""
    found: dict[str, None] = {}
    for folder in dict.fromkeys((*_named_by_tools(project), *_record_folders(project))):
        for top, below, names in islice(os.walk(project / folder), _MOST_FOLDERS):
            here = os.path.relpath(top, project)
            deep = here.count("/") - folder.count("/")
            below[:] = sorted(name for name in below if deep < _DEEPEST_RECORD and not name.startswith("."))
            for name in sorted(names):
                path = f"{here}/{name}"
                if not decision_records.LIKELY.fullmatch(name) or path in found:
                    continue
                if decision_records.INDEX.fullmatch(name) and not _has_name_of_record(path):
                    continue
                if name.lower().endswith((".md", ".markdown")):
                    found[path] = None
                else:
                    haul.skip(path, "not Markdown")
    if len(found) > _MOST_FILES:
        haul.notes.append(f"only the first {_MOST_FILES:,} of {len(found):,} decision records were read")
    return list(found)[:_MOST_FILES]


def _record_folders(project: Path) -> Iterator[str]:
    """Yield the outermost folders with the name of a folder of decision records."""
    for number, (top, below, _) in enumerate(os.walk(project)):
        here = os.path.relpath(top, project)
        depth = 0 if here == "." else here.count("/") + 1
        mine = [name for name in below if decision_records.FOLDER.fullmatch(name)]
        yield from (name if here == "." else f"{here}/{name}" for name in sorted(mine))
        below[:] = sorted(
            name
            for name in below
            if name not in mine and depth < _DEEPEST and not name.startswith(".") and name not in _SKIPPED
        )
        if number > _MOST_FOLDERS:
            return


def _has_name_of_record(path: str) -> bool:
    """True if a file has the name of a record, or if it is the `README.md` of a folder with such a name."""
    folder, name = os.path.split(path)
    if decision_records.INDEX.fullmatch(name):
        return bool(decision_records.FILE.fullmatch(f"{os.path.basename(folder)}.md"))
    return bool(decision_records.FILE.fullmatch(name))


def _named_by_tools(project: Path) -> list[str]:
    """Return the folder of records that the configuration file of adr-tools names."""
    try:
        named = files.read(project / ".adr-dir").decode(errors="replace").strip()
    except AgentplaneError:
        return []
    inside = named and not named.startswith("/") and ".." not in named.split("/") and "\0" not in named
    return [named.rstrip("/")] if inside else []
