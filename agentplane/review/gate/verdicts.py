"""Verdicts of the gate, with flags for its findings and the error for a refusal."""

from typing import Literal

import msgspec

from agentplane.errors import Refused
from agentplane.review.gate.past_rejections import Rejection
from agentplane.scan.secrets import find
from agentplane.text.visible import one_line


Consequence = Literal["refuse", "flag"]
Severity = Literal["high", "low"]
"""`high` means that the text can harm its reader, so a person confirms it individually.

Flags with `low` are about quality.
"""

SECRET = "secret"  # noqa: S105 -- the code of a flag
HIGH = frozenset((SECRET, "escape", "bidi", "smuggled", "hidden", "instruction", "markup", "command"))
"""The codes whose severity is high."""


class Flag(msgspec.Struct, frozen=True):
    """One finding. `where` is a field, such as `statement` or `evidence 2`."""

    code: str
    action: Consequence
    """The consequence for a proposal, from the settings."""
    what: str
    where: str

    @property
    def severity(self) -> Severity:
        return "high" if self.code in HIGH else "low"

    @property
    def high(self) -> bool:
        return self.severity == "high"

    @property
    def text(self) -> str:
        """Return the flag as one line for a person."""
        return f"{self.where}: {self.what}"


class Earlier(msgspec.Struct, frozen=True):
    """The rejection that a proposal repeats, safe to show."""

    id: str
    date: str
    reason: str | None


class Verdict(msgspec.Struct, frozen=True):
    refused: tuple[Flag, ...] = ()
    flags: tuple[Flag, ...] = ()
    earlier: Earlier | None = None
    """The earlier rejection, if the proposal is refused as a repeat."""


class Repeated(Refused):
    """Error for a refused proposal that was rejected before."""

    def __init__(self, error: Refused, earlier: Earlier, times: int) -> None:
        again = f"; refused for the {_ordinal(times)} time" if times > 1 else ""
        super().__init__(error.what + again, where=error.where, todo=error.todo)
        self.earlier = earlier
        self.times = times


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(0 if number // 10 % 10 == 1 else number % 10, "th")
    return f"{number}{ending}"


def refusal(verdict: Verdict, times: int = 1) -> Refused:
    """Return the error for a verdict that refuses. `times` counts the refusals of this repeat, including this
    one.
    """
    first, *others = verdict.refused
    what = first.what + "".join(f"; {flag.where}: {flag.what}" for flag in others[:4])
    codes = dict.fromkeys(flag.code for flag in verdict.refused)
    todo = {
        "secret": "Remove the secret from the text. If the secret is real, rotate it.",
        "known": "The memory already contains this statement, so you don't need to propose it.",
        "repeat": "If the situation has changed, a person can propose the statement again with `agentplane propose --again`.",
        "size": "Shorten the text.",
        "check": "For example, write `version: textual >=8,<9`. If the check is a command, put `run:` before it.",
    }.get(first.code, "Use plain text.")
    keys = ", ".join(f"`{code}`" for code in codes)
    error = Refused(
        what,
        where=first.where,
        todo=f"{todo} The project's setting for this check is {keys} under [gate] in config.toml.",
    )
    return Repeated(error, verdict.earlier, times) if verdict.earlier else error


def shown_earlier(rejection: Rejection) -> Earlier:
    reason = _shown_reason(rejection.reason) if rejection.reason else None
    return Earlier(one_line(rejection.id, 40), one_line(rejection.when[:10], 10), reason)


def earlier_text(earlier: Earlier) -> str:
    return f"as {earlier.id} on {earlier.date}" + (
        f" (reason: {earlier.reason})" if earlier.reason else " (no reason given)"
    )


def _shown_reason(reason: str) -> str:
    return "withheld because it contains a secret" if find.find(reason[:400]) else one_line(reason[:400], 120)
