"""The environment of a command: the person's own, without secrets and without variables of coding tools."""

import os
import re
from collections.abc import Mapping

from agentplane.system import programs


_DROPPED = re.compile(
    r"AGENTPLANE_.*|CLAUDE.*|ANTHROPIC_.*|OPENAI_.*|CODEX_.*|GEMINI_.*|GOOGLE_API_.*|CURSOR_.*|COPILOT_.*|OPENCODE.*"
    r"|AIDER_.*|WINDSURF_.*|SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|AWS_(?:SECRET|SESSION).*"
    r"|(?:.*_)?(?:TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH)"
    r"(?:_.*)?",
    re.IGNORECASE,
)


def of_command(variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that a command gets."""
    kept = {name: value for name, value in variables.items() if not _DROPPED.fullmatch(name)}
    return {**kept, "PATH": programs.path(), "TERM": "dumb", "GIT_TERMINAL_PROMPT": "0"}
