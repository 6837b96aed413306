"""The rating of plans and runs, with the layer that they change, their reach and their impact."""

import math
import re

import msgspec

from agentplane.errors import BadInput
from agentplane.text.visible import one_line


LAYERS = {
    "L0": "observation: measurements and reports, such as logs and incidents",
    "L1": "principles: rules that always apply, such as safety and privacy rules",
    "L2": "objectives: the goals of the project",
    "L3": "properties: guarantees of the system, such as limits and invariants",
    "L4": "architecture: components, formats, and the contracts between components",
    "L5": "workflow: how people and tools work, such as reviews and releases",
    "L6": "automation: scripts, jobs and tools that do the work",
}
"""The layers, the deepest first. A change to one layer affects all layers with a higher number."""
SCALES = {
    "1": "one place, such as a line, a sentence or a value",
    "3": "one module or one page",
    "5": "several modules, or all users of one feature",
    "7": "the whole project, or a format that other programs read",
    "10": "other projects and teams that depend on this one",
}
LOWEST, HIGHEST = 1, 10
_MOST_IMPACT = 200
_LAYER = re.compile(r"[lL]?([0-6])")
_RANGE = re.compile(r"(?:(>=|<=|>|<|=)\s*)?(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*\.\.\s*(\d+(?:\.\d+)?)")


class Rating(msgspec.Struct, frozen=True, omit_defaults=True):
    """The rating of a run. A missing value is None."""

    layer: str | None = None
    systemic_scale: float | None = None
    impact: str | None = None


class Range(msgspec.Struct, frozen=True):
    """A range of scales for a filter."""

    low: float = -math.inf
    high: float = math.inf

    def holds(self, scale: float | None) -> bool:
        return scale is not None and self.low <= scale <= self.high


def layer(given: object, where: str) -> str:
    """Return a layer such as `L5`. Raise BadInput for other values."""
    found = _LAYER.fullmatch(str(given).strip())
    if found is None:
        raise BadInput(
            f"Invalid layer: {one_line(str(given), 40)!r}", where=where, todo="Use a layer from L0 to L6."
        )
    return f"L{found[1]}"


def scale(given: object, where: str) -> int:
    """Return a systemic scale. Raise BadInput for anything but a whole number from 1 to 10."""
    try:
        number = float(str(given).strip())
    except ValueError:
        number = math.nan
    if not (number.is_integer() and LOWEST <= number <= HIGHEST):
        raise BadInput(
            f"Invalid systemic scale: {one_line(str(given), 40)!r}",
            where=where,
            todo=f"Use a whole number from {LOWEST} to {HIGHEST}.",
        )
    return int(number)


def impact(given: object, where: str) -> str:
    """Return an impact as one line. Raise BadInput for an empty text, a long text, or a value that is not
    text.
    """
    text = " ".join(given.split()) if isinstance(given, str) else ""
    if not text or len(text) > _MOST_IMPACT:
        why = (
            "the value isn't text"
            if not isinstance(given, str)
            else "the text is empty"
            if not text
            else f"the text has {len(text)} characters"
        )
        raise BadInput(
            f"Invalid impact: {why}",
            where=where,
            todo=f"Say what gets better and for whom, in up to {_MOST_IMPACT} characters.",
        )
    return text


def wanted_layers(text: str) -> tuple[str, ...]:
    """Return the layers that `L5` or `L4,L5` mean, without case. Other programs can log layers of their own."""
    named = [name.strip() for name in text.split(",") if name.strip()]
    if not named:
        raise BadInput(
            "A layer is required.", where="--layer", todo="Pass one layer (L5) or several (L4,L5)."
        )
    return tuple((f"l{found[1]}" if (found := _LAYER.fullmatch(name)) else name.casefold()) for name in named)


def wanted_range(text: str) -> Range:
    """Return the scales that `4`, `3..5`, `>=4` or `<4` mean."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise BadInput(
            f"Invalid scale: {one_line(text, 40)!r}",
            where="--scale",
            todo="Use a number (4), a range (3..5) or a limit (>=4 or <=4).",
        )
    if found[3] is not None:
        return Range(*sorted((float(found[3]), float(found[4]))))
    number = float(found[2])
    match found[1]:
        case ">=":
            return Range(low=number)
        case "<=":
            return Range(high=number)
        case ">":
            return Range(low=math.nextafter(number, math.inf))
        case "<":
            return Range(high=math.nextafter(number, -math.inf))
    return Range(number, number)
