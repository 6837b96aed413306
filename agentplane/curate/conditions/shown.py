"""Texts of proofs. Secrets in them are masked, because they come from files and programs."""

from agentplane.curate.finding import Lines
from agentplane.scan.secrets import mask
from agentplane.text.visible import one_line, visible


_WIDEST = 300


def line_proof(path: str, line: int, text: str) -> Lines:
    """Return a line of a file as a proof."""
    return Lines(f"{path}:{line}", one_line(mask.masked_text(text[: 4 * _WIDEST]), _WIDEST))


def masked(text: str) -> str:
    """Return a text of several lines without secrets and control characters."""
    return "\n".join(visible(line) for line in mask.masked_text(text).split("\n"))
