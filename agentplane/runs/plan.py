"""The plan of a run, recorded by path and hash, with the rating that it states."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentplane.errors import BadInput
from agentplane.runs import rubric
from agentplane.runs.rubric import Rating
from agentplane.text.json import canonical, decode
from agentplane.text.yaml import yaml12


_LARGEST = 1 << 20
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_LOOKS_LIKE_A_PATH = re.compile(r"\S*[/\\]\S*|[^\s.]\S*\.[A-Za-z]{2,5}")

T = TypeVar("T")


class Plan(msgspec.Struct, frozen=True):
    text: str
    path: str = ""
    """The path in the log, or empty for a plan that isn't in a file."""
    sha256: str = ""
    size: int = 0
    stated: Mapping[str, object] = {}
    """The stated layer, scale and impact, valid or not."""

    @property
    def is_file(self) -> bool:
        return bool(self.sha256)

    @property
    def inputs(self) -> list[Any]:
        """The plan in the form of an event's inputs."""
        return [{"plan": self.path, "sha256": self.sha256, "size": self.size}] if self.is_file else []


def read(given: str, folder: Path, project: Path) -> Plan:
    """Return the plan for an option.

    The option is a file, which can be written as `@FILE`, or a text that is not a path.
    """
    name = given.removeprefix("@")
    path = folder / name
    if not given.startswith("@") and not _is_there(path):
        if _LOOKS_LIKE_A_PATH.fullmatch(given):
            raise BadInput("Plan file not found", where=name, todo="Check the path.")
        return Plan(given)
    try:
        if not path.is_file():
            raise BadInput("The plan is not a file", where=name, todo="Pass a text or JSON file.")
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        why = (error.strerror or "unknown error").lower()
        raise BadInput(f"The plan file can't be read: {why}", where=name, todo="Check the path.") from None
    if len(data) > _LARGEST:
        raise BadInput("The plan is larger than 1 MB", where=name, todo="Pass a smaller file.")
    text = data.decode(errors="replace")
    shown = _shown(path, project)
    return Plan(text, shown, canonical.sha256(data), len(data), _stated(_fields(text)))


def _is_there(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # the text can't be a path
        return False


def _shown(path: Path, project: Path) -> str:
    """Return the path in the project. Outside of it, return only the name, because the log is shared."""
    whole = Path(os.path.abspath(path))
    return str(whole.relative_to(project)) if whole.is_relative_to(project) else f"…/{whole.name}"


def _fields(text: str) -> Mapping[str, object]:
    """Return the fields of a JSON plan, or of the frontmatter of a Markdown plan."""
    found: object = None
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        try:
            found = decode.Json(dict[str, Any]).decode(text.lstrip("\ufeff").encode())
        except (msgspec.MsgspecError, RecursionError):
            found = None
    elif head := _FRONT.match(text):
        try:
            found = yaml12.load(head[1])
        except yaml12.YamlError:
            found = None
    return found if isinstance(found, dict) else {}


def _stated(fields: Mapping[str, object]) -> dict[str, object]:
    ratings = {
        "layer": fields.get("layer"),
        "systemic_scale": fields.get("systemic_scale", fields.get("scale")),
        "impact": fields.get("impact"),
    }
    return {name: value for name, value in ratings.items() if value is not None}


def rating(plan: Plan | None, options: Rating) -> Rating:
    """Return the rating from the options and, for missing options, from the plan.

    Raise BadInput for an invalid value in the plan, unless an option overrides it.
    """
    stated, where = (plan.stated, plan.path) if plan else ({}, "")

    def rated(name: str, check: Callable[[object, str], T], option: T | None) -> T | None:
        return check(stated[name], where) if option is None and name in stated else option

    return Rating(
        rated("layer", rubric.layer, options.layer),
        rated("systemic_scale", rubric.scale, options.systemic_scale),
        rated("impact", rubric.impact, options.impact),
    )
