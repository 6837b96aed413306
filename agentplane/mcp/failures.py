"""Failures as answers, with the cause, the place and the remedy.

They never have a traceback or a secret.
"""

import sys
from typing import Any

import msgspec

from agentplane.errors import AgentplaneError, BadInput, PlaneError


Fields = dict[str, Any]


def failure(error: AgentplaneError) -> Fields:
    """Return the fields of a failure. Secrets from the arguments are masked."""
    from agentplane.review.gate.verdicts import Repeated
    from agentplane.scan.secrets.mask import masked_text

    texts = {"refused": error.what, "where": error.where, "todo": error.todo}
    fields: Fields = {name: masked_text(text) for name, text in texts.items() if text}
    if isinstance(error, Repeated):
        fields["rejected"] = msgspec.to_builtins(error.earlier)
        fields["times"] = error.times
    return fields


def as_text(fields: Fields) -> str:
    """Return a failure as text, for clients that show only text."""
    where = f"{fields['where']}: " if "where" in fields else ""
    return f"{where}{fields['refused']}" + (f"\n{fields['todo']}" if "todo" in fields else "")


def as_agentplane_error(error: Exception) -> AgentplaneError | None:
    """Return an error that a user can cause as an AgentplaneError. Return None for a bug of the program."""
    if isinstance(error, AgentplaneError):
        return error
    if isinstance(error, msgspec.ValidationError):
        what, _, place = str(error).partition(" - at `")
        field = place.rstrip("`").removeprefix("$").removeprefix(".")
        return BadInput(
            what[:1].lower() + what[1:],
            where=field or "arguments",
            todo="Fix the argument and call the tool again.",
        )
    if isinstance(error, OSError):
        where = str(error.filename) if error.filename is not None else None
        what = (error.strerror or str(error)).lower()
        return PlaneError(
            what, where=where, todo="Check the path, its permissions and the available disk space."
        )
    return None


def report_bug(error: Exception) -> AgentplaneError:
    """Report a bug of agentplane, and return it as an error.

    Stderr gets only its type and place, since its message may have text from a proposal.
    """
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at else "?"
    sys.stderr.write(f"agentplane mcp: {type(error).__name__} at {place}\n")
    return AgentplaneError(
        f"Internal error ({type(error).__name__}). The change may not have been saved.",
        todo="Try the same action in a terminal, or run `agentplane doctor` to check the project memory.",
        sees_doctor=True,
    )
