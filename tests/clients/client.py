"""The coding tools as a test runs them: with a home of their own, and an environment built from nothing."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.clients.model import SERVER
from tests.conftest import ROOT


PROGRAMS = Path(os.environ.get("AGENTPLANE_CLIENTS") or ROOT / ".clients") / "node_modules" / ".bin"
_PATIENCE = 60.0


class Client(msgspec.Struct, frozen=True):
    """One coding tool in one project."""

    name: str
    """As the table of tools has it."""
    program: str
    project: Path
    home: Path
    model: str
    """The model server's address."""

    def words(self, prompt: str, resume: str | None = None) -> list[str]:
        """The command that asks the tool one thing and ends."""
        if self.name == "codex":
            safe = ["--skip-git-repo-check", "--trust", "--dangerously-bypass-hook-trust"]
            return [self.program, "exec", *(["resume", resume] if resume else []), *safe, prompt]
        if self.name == "claude-code":
            again = ["--resume", resume] if resume else []
            return [self.program, "-p", *again, "--allowedTools", f"mcp__{SERVER}", "--", prompt]
        # Without a person to ask, it offers no tool that would have to be asked for.
        return [self.program, "--yolo", *(["--resume", resume] if resume else []), "-p", prompt]

    def environment(self) -> dict[str, str]:
        path = (str(PROGRAMS), str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin")
        shared = {
            "HOME": str(self.home),
            # Tool and person are one user, who has one key.
            "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
            "PATH": ":".join(path),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        return (
            shared
            | {
                "codex": {},
                "claude-code": {
                    "ANTHROPIC_BASE_URL": self.model,
                    "ANTHROPIC_API_KEY": "dummy",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "DISABLE_AUTOUPDATER": "1",
                },
                "gemini-cli": {
                    "GOOGLE_GEMINI_BASE_URL": self.model,
                    "GEMINI_API_KEY": "dummy",
                    "GEMINI_CLI_TRUST_WORKSPACE": "true",
                },
            }[self.name]
        )

    def settle(self) -> None:
        """Its settings in its home: which model it asks, and that it asks nothing of a person."""
        self.home.mkdir(parents=True, exist_ok=True)
        if self.name == "codex":
            _write(self.home / ".codex" / "config.toml", _CODEX.format(address=self.model))
        elif self.name == "gemini-cli":
            _write(self.home / ".gemini" / "settings.json", _GEMINI)
        else:
            _write(self.home / ".claude" / "settings.json", _CLAUDE)

    def command(self, *words: str) -> str:
        """One of our commands, as a person would give it beside the tool. What it says."""
        done = subprocess.run(
            ["agentplane", *words], cwd=self.project, env=self.environment(), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def run(
        self, prompt: str, *, under: Sequence[str] = (), resume: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Asks the tool something, perhaps under another command."""
        done = subprocess.run(
            [*under, *self.words(prompt, resume)],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )
        assert done.returncode == 0, (
            f"{self.name} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        )
        return done


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


_CODEX = """
model = "m"
model_provider = "local"
check_for_update_on_startup = false

[model_providers.local]
name = "local"
base_url = "{address}/v1"
wire_api = "responses"
"""
_GEMINI = '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": true}}'
_CLAUDE = '{"enableAllProjectMcpServers": true}'
