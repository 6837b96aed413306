"""Approvals without a person. The policy allows none unless config.toml does."""

import os
import sys

from agentplane.agents.catalog import tool_in
from agentplane.errors import Refused
from agentplane.memory.operations import Proposal
from agentplane.plane.settings import Settings


def check_person(settings: Settings, verb: str) -> None:
    """Refuse a decision that doesn't come from a person at a terminal."""
    if settings.trust.tools_may_approve:
        return
    tool = tool_in(os.environ)
    if tool:
        what = f"{verb} is a person's decision, and this is a shell of {tool}"
    elif not (sys.stdin.isatty() or sys.stderr.isatty()):
        what = f"{verb} is a person's decision, and this is no terminal"
    else:
        return
    raise Refused(
        what,
        todo="run it in a terminal of your own; `tools_may_approve` under [trust] in config.toml lifts this.",
    )


def may_auto_approve(settings: Settings, fact: Proposal) -> bool:
    """True if a fact is sure enough, and cites both its evidence and the run that found it."""
    limit = settings.policy.auto_approve_confidence
    if limit is None or fact.confidence is None or fact.type != "fact":
        return False
    return fact.confidence >= limit and bool(fact.evidence) and bool(fact.source)
