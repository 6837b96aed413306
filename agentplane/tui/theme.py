"""The two color themes of agentplane, and the choice of the theme for a terminal."""

import os
from collections.abc import Container

from textual.theme import Theme


DARK = Theme(
    name="agentplane-dark",
    dark=True,
    primary="#6ea8fe",
    secondary="#f2b36f",
    accent="#f2b36f",
    foreground="#d9dee7",
    background="#12161d",
    surface="#191f29",
    panel="#212936",
    success="#58b8a8",
    warning="#e8b34b",
    error="#f0787a",
)
LIGHT = Theme(
    name="agentplane-light",
    dark=False,
    primary="#1f5fbf",
    secondary="#a65300",
    accent="#a65300",
    foreground="#20252e",
    background="#fbfaf7",
    surface="#f1efe9",
    panel="#e4e1d8",
    success="#0d6e63",
    warning="#8a5a00",
    error="#b3261e",
)


def chosen(wanted: str, known: Container[str]) -> tuple[str, str]:
    """Return the name of the theme to use, and an error message if the wanted theme is unknown."""
    if wanted in known:
        return wanted, ""
    named = os.environ.get("TEXTUAL_THEME", "")
    automatic = named if named in known else LIGHT.name if is_light() else DARK.name
    return automatic, "" if wanted == "auto" else f"[tui] theme: no theme is called `{wanted[:30]}`"


def is_light() -> bool:
    """True if the terminal reports a light background."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "15")
