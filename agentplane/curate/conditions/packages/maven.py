"""Maven."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agentplane.curate.conditions.packages.found import Form, Found, Opaque, Pin, Range, Source, line_of


if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


_MOST_PARENTS = 8
_MOST_ROUNDS = 8
_LONGEST = 500
_PROPERTY = re.compile(r"\$\{([^}]+)\}")
_PLUGINS = "org.apache.maven.plugins"


def _pom(source: Source, name: str) -> Sequence[Found]:
    group, _, artifact = name.rpartition(":")
    project = _root(source.text)
    parents = list(_parents(source, project))
    properties = _properties([project, *(parent for parent, _ in parents)])
    found: list[Found] = []
    managed = [
        version for parent, _ in [(project, ""), *parents] for version in _managed(parent, group, artifact)
    ]
    for row in _rows(project, group, artifact):
        line = _line(source.text, artifact)
        version = _filled(_child(row, "version"), properties)
        if not version:
            # The version is in a parent, or in a list that another project publishes.
            if managed:
                version = _filled(managed[0], properties)
            else:
                found.append(Opaque("its version comes from a parent or a BOM outside the project", line))
                continue
        found.append(_version(version, line))
    return list(dict.fromkeys(found))


def _version(text: str, line: int) -> Found:
    if "${" in text:
        return Opaque(f"`{text}` isn't a property in the project", line)
    if text[:1] in "[(":
        limits = _range(text)
        return Range(limits, line) if limits else Opaque(f"`{text}` isn't a valid version range", line)
    return Pin(text, line)


def _range(text: str) -> str:
    """Return a range such as `[1.0,2.0)` in the syntax of checks, or an empty text."""
    parts = []
    for low_mark, inside, high_mark in re.findall(r"([\[(])([^\[\]()]*)([\])])", text):
        low, comma, high = (part.strip() for part in inside.partition(","))
        if not comma:
            parts.append(f"=={low}")
            continue
        ends = [f"{'>=' if low_mark == '[' else '>'}{low}" if low else ""]
        ends.append(f"{'<=' if high_mark == ']' else '<'}{high}" if high else "")
        parts.append(",".join(end for end in ends if end))
    return "||".join(parts) if all(parts) else ""


def _root(text: str) -> "Element":
    """Return the project of a text. Without a document type, it has no entities to expand."""
    from xml.etree import ElementTree as ET

    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a document type isn't read")
    return ET.fromstring(text)  # noqa: S314 -- no entities


def _parents(source: Source, project: "Element") -> Iterator[tuple["Element", str]]:
    """Yield the parents in the project, the nearest one first."""
    path = source.path
    for _ in range(_MOST_PARENTS):
        parent = _under(project, "parent")
        if parent is None:
            return
        relative = _child(parent, "relativePath") or "../pom.xml"
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), relative))
        path = path if path.endswith(".xml") else posixpath.join(path, "pom.xml")
        text = None if path.startswith("..") else source.others(path)
        if text is None:
            return
        project = _root(text)
        yield project, path


def _properties(projects: Sequence["Element"]) -> Mapping[str, str]:
    """Return the properties of a project. Its own come before those of its parents."""
    found: dict[str, str] = {}
    for project in reversed(projects):
        own = _child(project, "version") or _child(_under(project, "parent"), "version")
        found |= {f"{prefix}version": own for prefix in ("project.", "pom.", "") if own}
        properties = _under(project, "properties")
        found |= {
            _tag(one): (one.text or "").strip() for one in (properties if properties is not None else ())
        }
    return found


def _rows(project: "Element", group: str, artifact: str) -> Iterator["Element"]:
    """Yield the dependencies and plugins of a project with a name."""
    for row in project.iter():
        if _tag(row) not in ("dependency", "plugin") or _child(row, "artifactId") != artifact:
            continue
        own = _child(row, "groupId") or (_PLUGINS if _tag(row) == "plugin" else "")
        if not group or own == group:
            yield row


def _managed(project: "Element", group: str, artifact: str) -> Iterator[str]:
    for name in ("dependencyManagement", "pluginManagement"):
        for part in (one for one in project.iter() if _tag(one) == name):
            for row in _rows(part, group, artifact):
                if version := _child(row, "version"):
                    yield version


def _filled(text: str, properties: Mapping[str, str]) -> str:
    """Return a text with the values of its properties, which can have properties themselves."""
    text = text[:_LONGEST]
    for _ in range(_MOST_ROUNDS):
        filled = _PROPERTY.sub(lambda found: properties.get(found[1].strip(), found[0])[:200], text)[
            :_LONGEST
        ]
        if filled == text:
            break
        text = filled
    return text.strip()


def _line(text: str, artifact: str) -> int:
    found = re.search(rf"<artifactId>\s*{re.escape(artifact)}\s*</artifactId>", text)
    return line_of(text, found.start()) if found else 1


def _under(element: "Element | None", name: str) -> "Element | None":
    return next((one for one in element if _tag(one) == name), None) if element is not None else None


def _child(element: "Element | None", name: str) -> str:
    found = _under(element, name)
    return (found.text or "").strip() if found is not None else ""


def _tag(element: "Element") -> str:
    """Return a name without its namespace."""
    return str(element.tag).rpartition("}")[2]


FORMS = (Form(re.compile(r"pom\.xml"), is_lock=False, read=_pom),)
