"""The plan of a run: a file, recorded by path and hash, with the rating that it states itself."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from agentplane.errors import BadInput
from agentplane.runs import rubric
from agentplane.runs.rubric import Rating
from agentplane.text import canonical, decoding, yaml12


_LARGEST = 1 << 20
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_LOOKS_LIKE_A_PATH = re.compile(r"\S*[/\\]\S*|[^\s.]\S*\.[A-Za-z]{2,5}")


class Plan(msgspec.Struct, frozen=True):
    text: str
    path: str = ""
    """As the log names it; empty for a text that is in no file."""
    sha256: str = ""
    size: int = 0
    rating: Rating = Rating()

    @property
    def is_file(self) -> bool:
        return bool(self.sha256)

    @property
    def inputs(self) -> list[Any]:
        """How an event names the plan."""
        return [{"plan": self.path, "sha256": self.sha256, "size": self.size}] if self.is_file else []


def read(given: str, folder: Path, project: Path) -> Plan:
    """Return the plan that an option names: a file, also written as `@FILE`, or a text that is no path."""
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
        raise BadInput(f"Plan file can't be read: {why}", where=name, todo="Check the path.") from None
    if len(data) > _LARGEST:
        raise BadInput("The plan is larger than 1 MB", where=name, todo="Pass a shorter file.")
    text = data.decode(errors="replace")
    shown = _shown(path, project)
    return Plan(text, shown, canonical.sha256(data), len(data), _rating(_fields(text), name))


def _is_there(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:  # a text that no path can be
        return False


def _shown(path: Path, project: Path) -> str:
    """The path in the project; of a file outside of it only the name, because the log is shared."""
    whole = Path(os.path.abspath(path))
    return str(whole.relative_to(project)) if whole.is_relative_to(project) else f"…/{whole.name}"


def _fields(text: str) -> Mapping[str, object]:
    """The fields of a JSON plan, or of the frontmatter of a Markdown plan."""
    found: object = None
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        try:
            found = decoding.Json(dict[str, Any]).decode(text.lstrip("\ufeff").encode())
        except (msgspec.MsgspecError, RecursionError):
            found = None
    elif head := _FRONT.match(text):
        try:
            found = yaml12.load(head[1], patient=False)
        except yaml12.YamlError:
            found = None
    return found if isinstance(found, dict) else {}


def _rating(fields: Mapping[str, object], where: str) -> Rating:
    layer, impact = fields.get("layer"), fields.get("impact")
    scale = fields.get("systemic_scale", fields.get("scale"))
    return Rating(
        None if layer is None else rubric.layer(layer, where),
        None if scale is None else rubric.scale(scale, where),
        None if impact is None else rubric.impact(impact, where),
    )
