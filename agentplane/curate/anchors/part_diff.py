"""The difference of a part of a file, as a unified diff."""

from agentplane.curate.anchors import line_map
from agentplane.curate.anchors.parts import Part


_NONE = "/dev/null"


def diff_of(before: Part | None, after: Part | None, old_path: str, new_path: str) -> str:
    """Return the change of exactly one part. Empty if its text from before isn't known, or isn't text."""
    if before is None or before.text.is_binary or (after is not None and after.text.is_binary):
        return ""
    return line_map.unified(
        _lines(before),
        _lines(after) if after is not None else [],
        f"a/{old_path}",
        f"b/{new_path}" if after is not None else _NONE,
        (before.spans[0][0], after.spans[0][0] if after is not None else 0),
    )


def _lines(part: Part) -> list[str]:
    return part.shown.split("\n")[:-1]
