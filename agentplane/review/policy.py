"""Approvals without a person. The policy allows none unless config.toml does."""

import os
import sys

from agentplane.agents.catalog import title_of, tool_in
from agentplane.errors import Refused
from agentplane.memory.proposing import Proposal
from agentplane.plane.settings import Settings


def check_person(settings: Settings, verb: str) -> None:
    """Refuse a decision that doesn't come from a person at a terminal."""
    if settings.trust.tools_may_approve:
        return
    tool = tool_in(os.environ)
    if tool:
        what = f"{needs_person(verb)}, but this shell was started by {title_of(tool)}."
    elif not (sys.stdin.isatty() or sys.stderr.isatty()):
        what = f"{needs_person(verb)}, but this shell isn't interactive."
    else:
        return
    raise Refused(
        what,
        todo="Run the command in your own terminal. To let tools make decisions, set `trust.tools_may_approve = true` in config.toml.",
    )


def needs_person(verb: str) -> str:
    """Return the first part of a refusal, such as `Approving requires a person`."""
    return f"{verb[:1].upper()}{verb[1:]} requires a person"


def may_auto_approve(settings: Settings, fact: Proposal) -> bool:
    """True if a fact is sure enough, and cites both its evidence and the run that found it."""
    limit = settings.policy.auto_approve_confidence
    if limit is None or fact.confidence is None or fact.type != "fact":
        return False
    return fact.confidence >= limit and bool(fact.evidence) and bool(fact.source)
