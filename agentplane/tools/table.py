"""The coding tools, as data: what shows that one is used, which files it reads and how much of them, which of its settings
files take hooks and an MCP server, where its sessions lie and how one is taken up again.

A tool is added by adding a row. `docs/tools.md` is made from this table.
"""

from typing import Literal

import msgspec


Form = Literal["block", "import", "rule"]
"""A managed block in a file of others; a block that holds an import line; a file of our own."""

Event = Literal[
    "session-start", "prompt", "tool", "failed", "permission", "denied", "compact", "stop", "session-end"
]


class Target(msgspec.Struct, frozen=True):
    """Where a tool finds the memory."""

    path: str
    form: Form
    header: str = ""
    """What a rule file of our own begins with."""


class Hooks(msgspec.Struct, frozen=True):
    """Where a tool is told which commands to run when, and in which shape."""

    path: str
    shape: Literal["groups", "flat", "copilot", "kiro"]
    events: tuple[tuple[Event, str], ...]
    """Our events by the tool's names for them; those that it has not are missing."""
    under: tuple[str, ...] = ("hooks",)
    """The keys above the events; none: they are the file."""
    timeout: int = 0
    """In the tool's own unit; 0: its default."""
    ending: int = 0
    """For session-end, where a tool grants that less."""
    version: int | str | None = None
    """What a new file has to state."""
    rival: str = ""
    """A file whose hooks the tool would no longer read beside this one."""


class Mcp(msgspec.Struct, frozen=True):
    """Where a tool is told which MCP servers to start."""

    paths: tuple[str, ...]
    """The first that is there; where none is, the first of all is made."""
    under: tuple[str, ...] = ("mcpServers",)
    shape: Literal["plain", "stdio", "local", "toml"] = "plain"
    """A command with arguments; with its transport named; as one list; as a TOML table."""
    more: tuple[tuple[str, bool], ...] = ()
    """What else is said of the server."""


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a tool takes; 0: no limit is known."""

    context_characters: int = 0
    """Of what a hook says."""
    context_tokens: int = 0
    file_bytes: int = 0
    """Of the file that it finds the memory in, all of it."""


class Tool(msgspec.Struct, frozen=True):
    name: str
    title: str
    target: Target
    programs: tuple[str, ...] = ()
    """Commands that start it."""
    marks: tuple[str, ...] = ()
    """Paths in a project that show that it is used there."""
    homes: tuple[str, ...] = ()
    """Paths in the home folder that show that it is installed."""
    hint: str = ""
    """What a person has to do once, where a file alone is not enough."""
    hooks: Hooks | None = None
    mcp: tuple[Mcp, ...] = ()
    limits: Limits = Limits()
    resume: tuple[str, ...] = ()
    """The command that takes a session up again; `{id}` stands for the session."""
    sessions: str = ""
    """Where its sessions lie, below the home folder; a glob."""
    keeps: tuple[str, ...] = ()
    """Options that matter for a session which is taken up again: `--yolo` stands alone, `--model=` has a value, and
    `--add-dir=*` has as many as follow.
    """
    scripted: tuple[str, ...] = ()
    """Words of a command line that has it work for a script and end, or serve another program."""
    reads: tuple[str, ...] = ()
    """Other instruction files and folders of the project that the tool reads on its own."""
    reloads: bool = False
    """Whether it reads its files anew with each request, so that a session always has the memory of now."""

    @property
    def reads_alone(self) -> tuple[str, ...]:
        """The instruction files that it reads on its own."""
        return (self.target.path, *self.reads)


ACTIVE = ".agentplane/context/active.md"
SHARED = Target("AGENTS.md", "block")
"""What most tools read; written once for all of them."""

_CLAUDE: tuple[tuple[Event, str], ...] = (
    ("session-start", "SessionStart"), ("prompt", "UserPromptSubmit"), ("tool", "PostToolUse"),
    ("compact", "PreCompact"), ("stop", "Stop"), ("session-end", "SessionEnd"),
)  # fmt: skip


_DECIDED: tuple[tuple[Event, str], ...] = (
    ("failed", "PostToolUseFailure"), ("permission", "PermissionRequest"), ("denied", "PermissionDenied"),
)  # fmt: skip
"""Further hooks of Claude Code: failed calls, questions to the person, and calls that it denies."""


def import_line(plane: str) -> str:
    """The line by which a file imports the pack of a plane whose folder has this name."""
    return f"@{ACTIVE.replace('.agentplane', plane, 1)}"


def _but(*left_out: Event) -> tuple[tuple[Event, str], ...]:
    return tuple(pair for pair in _CLAUDE if pair[0] not in left_out)


TOOLS = (
    Tool(
        "claude-code", "Claude Code", Target("CLAUDE.md", "import"),
        programs=("claude",), marks=("CLAUDE.md", ".claude"), homes=(".claude",),
        reads=(".claude/CLAUDE.md", ".claude/rules"),
        hint="Claude Code asks once whether to use the project's MCP server.",
        hooks=Hooks(".claude/settings.json", "groups", (*_CLAUDE, *_DECIDED), timeout=10),
        # Else its model has to search for our tools before it can use one.
        mcp=(Mcp((".mcp.json",), shape="stdio", more=(("alwaysLoad", True),)),),
        limits=Limits(context_characters=10_000),
        resume=("claude", "--resume", "{id}"), sessions=".claude/projects/*/*.jsonl",
        keeps=(
            "--model=", "--settings=", "--setting-sources=", "--mcp-config=*", "--strict-mcp-config", "--add-dir=*",
            "--agent=", "--agents=", "--permission-mode=", "--dangerously-skip-permissions",
            "--allow-dangerously-skip-permissions", "--allowedTools=*", "--allowed-tools=*", "--disallowedTools=*",
            "--disallowed-tools=*", "--tools=*", "--append-system-prompt=", "--system-prompt=", "--fallback-model=",
            "--effort=", "--betas=*", "--plugin-dir=", "--restricted", "--safe-mode", "--bare", "--verbose", "--ide",
            "--chrome", "--no-chrome", "--disable-slash-commands", "--ax-screen-reader",
        ),
        scripted=("-p", "--print", "mcp", "--bg", "--background", "update", "install", "doctor", "config", "agents"),
    ),
    Tool(
        "codex", "Codex CLI", SHARED,
        programs=("codex",), marks=(".codex",), homes=(".codex",),
        hint="Codex reads the project's files once you trust the project, and runs a hook once you trust it: `/hooks`.",
        hooks=Hooks(".codex/hooks.json", "groups", (*_CLAUDE, _DECIDED[1]), timeout=10, ending=3),
        mcp=(Mcp((".codex/config.toml",), ("mcp_servers",), "toml"),),
        limits=Limits(context_tokens=2_500, file_bytes=32 * 1024),
        resume=("codex", "resume", "{id}"), sessions=".codex/sessions/*/*/*/rollout-*.jsonl*",
        keeps=(
            "-m=", "--model=", "-p=", "--profile=", "-c=", "--config=", "--enable=", "--disable=", "-s=", "--sandbox=",
            "-a=", "--ask-for-approval=", "--add-dir=", "-C=", "--cd=", "--oss", "--local-provider=", "--search",
            "--no-alt-screen", "--no-daemon", "--remote=", "--remote-auth-token-env=", "--strict-config",
            "--approve-for-me", "--full-auto", "--dangerously-bypass-approvals-and-sandbox", "--yolo",
            "--dangerously-bypass-hook-trust",
        ),
        scripted=(
            "exec", "e", "review", "login", "logout", "mcp", "mcp-server", "app-server", "exec-server", "sandbox",
            "apply", "cloud", "features", "debug", "doctor", "update", "remote-control", "completion", "plugin",
        ),
    ),
    Tool(
        "gemini-cli", "Gemini CLI", Target("GEMINI.md", "import"),
        programs=("gemini",), marks=("GEMINI.md", ".gemini"), homes=(".gemini",),
        hooks=Hooks(
            ".gemini/settings.json", "groups",
            (
                ("session-start", "SessionStart"), ("prompt", "BeforeAgent"), ("tool", "AfterTool"),
                ("compact", "PreCompress"), ("stop", "AfterAgent"), ("session-end", "SessionEnd"),
            ),
            timeout=10_000,
        ),
        mcp=(Mcp((".gemini/settings.json",)),),
        resume=("gemini", "--resume", "{id}"), sessions=".gemini/tmp/*/chats/session-*.json*",
        keeps=(
            "-m=", "--model=", "-s", "--sandbox", "-y", "--yolo", "--approval-mode=", "--policy=", "--skip-trust",
            "--allowed-mcp-server-names=", "--allowed-tools=", "-e=", "--extensions=", "--include-directories=",
            "--screen-reader", "-d", "--debug",
        ),
        scripted=("-p", "--prompt", "mcp", "extensions", "skills", "hooks", "--acp", "--experimental-acp"),
    ),
    Tool(
        "cursor", "Cursor",
        Target(".cursor/rules/agentplane.mdc", "rule", "---\ndescription: Reviewed project memory\nglobs:\nalwaysApply: true\n---\n"),
        programs=("cursor-agent", "cursor"), marks=(".cursor", ".cursorrules"), homes=(".cursor",),
        reads=("AGENTS.md", ".cursorrules", ".cursor/rules"),
        hooks=Hooks(
            ".cursor/hooks.json", "flat",
            (
                ("session-start", "sessionStart"), ("prompt", "beforeSubmitPrompt"), ("tool", "postToolUse"),
                ("compact", "preCompact"), ("stop", "stop"), ("session-end", "sessionEnd"),
            ),
            timeout=10, version=1,
        ),
        mcp=(Mcp((".cursor/mcp.json",)),),
        resume=("cursor-agent", "--resume", "{id}"), sessions=".cursor/projects/*/agent-transcripts/**/*.jsonl",
    ),
    Tool(
        "copilot", "GitHub Copilot", Target(".github/copilot-instructions.md", "block"),
        programs=("copilot",), marks=(".github/copilot-instructions.md", ".github/instructions"), homes=(".copilot",),
        hint="Copilot CLI reads the project's files once its folder is trusted. It is reported to drop what hooks say.",
        hooks=Hooks(
            ".github/hooks/agentplane.json", "copilot",
            (
                ("session-start", "sessionStart"), ("prompt", "userPromptSubmitted"), ("tool", "postToolUse"),
                ("compact", "preCompact"), ("stop", "agentStop"), ("session-end", "sessionEnd"),
            ),
            timeout=10, version=1,
        ),
        mcp=(Mcp((".vscode/mcp.json",), ("servers",), "stdio"), Mcp((".github/mcp.json",), shape="stdio")),
        resume=("copilot", "--resume={id}"), sessions=".copilot/session-state/*/events.jsonl",
    ),
    Tool(
        "opencode", "opencode", SHARED,
        programs=("opencode",), marks=("opencode.json", "opencode.jsonc", ".opencode"), homes=(".config/opencode",),
        mcp=(Mcp(("opencode.json", "opencode.jsonc"), ("mcp",), "local"),),
        resume=("opencode", "--session", "{id}"), sessions=".local/share/opencode/opencode.db",
        keeps=("-m=", "--model=", "--agent="), scripted=("run", "serve", "web", "auth", "models", "upgrade"), reloads=True,
    ),
    Tool(
        "cline", "Cline", Target(".clinerules/agentplane.md", "rule"),
        programs=("cline",), marks=(".clinerules",), homes=(".cline",),
        reloads=True,
        hint="Cline has MCP servers in its home only: add `agentplane mcp --tool cline` to `~/.cline/data/settings/cline_mcp_settings.json`.",
    ),
    Tool(
        "windsurf", "Windsurf, Devin Desktop", Target(".devin/rules/agentplane.md", "rule", "---\ntrigger: always_on\n---\n"),
        programs=("windsurf", "devin"), marks=(".devin", ".windsurf", ".windsurfrules"), homes=(".codeium/windsurf",),
        hooks=Hooks(".devin/hooks.v1.json", "groups", _but("compact"), under=(), timeout=10),
        mcp=(Mcp((".devin/config.json",)),),
        limits=Limits(file_bytes=12_000),
        resume=("devin", "--resume", "{id}"),
    ),
    Tool(
        "kiro", "Kiro", Target(".kiro/steering/agentplane.md", "rule", "---\ninclusion: always\n---\n"),
        programs=("kiro", "kiro-cli"), marks=(".kiro",), homes=(".kiro",),
        hooks=Hooks(".kiro/hooks/agentplane.json", "kiro", _but("compact", "session-end"), timeout=10, version="v1"),
        mcp=(Mcp((".kiro/settings/mcp.json",)),),
    ),
    Tool(
        "qwen-code", "Qwen Code", Target("QWEN.md", "block"),
        programs=("qwen",), marks=("QWEN.md", ".qwen"), homes=(".qwen",),
        hooks=Hooks(".qwen/settings.json", "groups", _CLAUDE),
        mcp=(Mcp((".qwen/settings.json",)),),
        resume=("qwen", "--resume", "{id}"), sessions=".qwen/projects/*/chats/*.jsonl",
    ),
    Tool(
        "goose", "Goose", SHARED,
        programs=("goose",), marks=(".goosehints",), homes=(".config/goose",),
        hint="Goose has MCP servers in its home only: `goose configure`, a command-line extension, `agentplane mcp --tool goose`.",
        hooks=Hooks(".agents/plugins/agentplane/hooks/hooks.json", "groups", _but("compact")),
        sessions=".local/share/goose/sessions/sessions.db",
    ),
    Tool(
        "aider", "Aider", Target("CONVENTIONS.md", "block"),
        programs=("aider",), marks=(".aider.conf.yml", "CONVENTIONS.md"),
        reloads=True,
        hint="Aider reads it when `.aider.conf.yml` says `read: [CONVENTIONS.md]`.",
    ),
    Tool(
        "junie", "Junie", SHARED,
        programs=("junie",), marks=(".junie",), homes=(".junie",),
        mcp=(Mcp((".junie/mcp/mcp.json",)),),
    ),
    Tool(
        "zed", "Zed", SHARED,
        programs=("zed",), marks=(".zed", ".rules"), homes=(".config/zed",),
        mcp=(Mcp((".zed/settings.json",), ("context_servers",)),),
    ),
    Tool(
        "amp", "Amp", SHARED,
        programs=("amp",), marks=(".amp",), homes=(".config/amp",),
        mcp=(Mcp((".amp/settings.json", ".amp/settings.jsonc"), ("amp.mcpServers",)),),
        resume=("amp", "threads", "continue", "{id}"),
    ),
    Tool(
        "factory", "Factory Droid", SHARED,
        programs=("droid",), marks=(".factory",), homes=(".factory",),
        hooks=Hooks(".factory/hooks.json", "groups", _CLAUDE, under=(), timeout=10, rival=".factory/settings.json"),
        mcp=(Mcp((".factory/mcp.json",), shape="stdio"),),
        resume=("droid", "--resume", "{id}"),
    ),
    Tool(
        "antigravity", "Antigravity", SHARED,
        programs=("antigravity",), marks=(".agents/rules", ".agents/workflows", ".agents/hooks.json", ".agents/mcp_config.json"), homes=(".gemini/antigravity",),
        mcp=(Mcp((".agents/mcp_config.json",)),),
    ),
    Tool(
        "augment", "Augment", Target(".augment/rules/agentplane.md", "rule", "---\ntype: always_apply\n---\n"),
        programs=("auggie",), marks=(".augment",), homes=(".augment",),
        mcp=(Mcp((".augment/settings.json",)),),
    ),
    Tool(
        "warp", "Warp", SHARED,
        programs=("warp-terminal", "warp"), marks=("WARP.md",), homes=(".warp",),
        mcp=(Mcp((".warp/.mcp.json",)),),
    ),
    Tool(
        "crush", "Crush", Target("CRUSH.md", "block"),
        programs=("crush",), marks=("CRUSH.md", ".crush"), homes=(".config/crush",),
        mcp=(Mcp(("crush.json", ".crush.json"), ("mcp",), "stdio"),),
    ),
)  # fmt: skip
