"""The coding tools that agentplane knows. To add one, add a row.

All parts of the program read their facts about tools from here. This covers detection, files, settings,
hooks, sessions, imports and the right to decide. `docs/reference/tools.md` is generated from it. Hooks load this
module, so it imports nothing outside of this package except json.
"""

from agentplane.agents import forms
from agentplane.agents.model import Dialect, Hooks, Limits, Mcp, Rules, Target, Tool


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentplane.agents.model import Event

_SHARED = Target("AGENTS.md", "block")
"""Most tools read this file. The memory is written into it once for all of them."""

_CLAUDE: "tuple[tuple[Event, str], ...]" = (
    ("session-start", "SessionStart"), ("prompt", "UserPromptSubmit"), ("tool", "PostToolUse"),
    ("compact", "PreCompact"), ("stop", "Stop"), ("session-end", "SessionEnd"),
)  # fmt: skip
_FAILED: "tuple[Event, str]" = ("failed", "PostToolUseFailure")
_PERMISSION: "tuple[Event, str]" = ("permission", "PermissionRequest")
_DENIED: "tuple[Event, str]" = ("denied", "PermissionDenied")


def _without(*events: "Event") -> "tuple[tuple[Event, str], ...]":
    return tuple(pair for pair in _CLAUDE if pair[0] not in events)


TOOLS = (
    Tool(
        "claude-code", "Claude Code", Target("CLAUDE.md", "import"),
        programs=("claude",), variables=("CLAUDECODE",), clients=("claude-code",),
        marks=("CLAUDE.md", ".claude"), homes=(".claude",), home_variable="CLAUDE_CONFIG_DIR",
        hint="Claude Code asks you once whether it may use the project's MCP server.",
        hooks=Hooks(".claude/settings.json", forms.group, (*_CLAUDE, _FAILED, _PERMISSION, _DENIED), timeout=10),
        dialect=Dialect(forms.hook_specific, forms.block, folder="CLAUDE_PROJECT_DIR", entry="CLAUDE_CODE_ENTRYPOINT"),
        # Otherwise its model has to search for agentplane's tools before it can use one.
        mcp=(Mcp((".mcp.json",), forms.stdio, more=(("alwaysLoad", True),)),),
        limits=Limits(context_characters=10_000),
        reads=(".claude/CLAUDE.md", ".claude/rules"),
        instructions=("CLAUDE.md", ".claude/CLAUDE.md"), nested="CLAUDE.md", rules=(Rules(".claude/rules"),),
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
        memories="from the memory of Claude Code", module="claude_code",
    ),
    Tool(
        "codex", "Codex CLI", _SHARED,
        programs=("codex",), variables=("CODEX_SANDBOX", "CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX_NETWORK_DISABLED"), clients=("codex",),
        marks=(".codex",), homes=(".codex",), home_variable="CODEX_HOME",
        hint="Codex reads the project's files only after you trust the project. Codex runs hooks only after you trust the hooks with `/hooks`.",
        hooks=Hooks(".codex/hooks.json", forms.group, (*_CLAUDE, _PERMISSION), timeout=10, last_timeout=3),
        dialect=Dialect(forms.hook_specific, forms.block),
        mcp=(Mcp((".codex/config.toml",), forms.plain, ("mcp_servers",), toml=True),),
        limits=Limits(context_tokens=2_500, file_bytes=32 * 1024),
        resume=("codex", "resume", "{id}"), sessions=".codex/sessions/*/*/*/rollout-*.jsonl",
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
        memories="from the memory of Codex", module="codex",
    ),
    Tool(
        "gemini-cli", "Gemini CLI", Target("GEMINI.md", "import"),
        programs=("gemini",), variables=("GEMINI_CLI",), clients=("gemini-cli",),
        marks=("GEMINI.md", ".gemini"), homes=(".gemini",),
        hooks=Hooks(
            ".gemini/settings.json", forms.group,
            (
                ("session-start", "SessionStart"), ("prompt", "BeforeAgent"), ("tool", "AfterTool"),
                ("compact", "PreCompress"), ("stop", "AfterAgent"), ("session-end", "SessionEnd"),
            ),
            timeout=10_000,
        ),
        # Its AfterAgent can only reject the answer that the person is waiting for.
        dialect=Dialect(forms.hook_specific, folder="GEMINI_PROJECT_DIR"),
        mcp=(Mcp((".gemini/settings.json",), forms.plain),),
        instructions=("GEMINI.md",), nested="GEMINI.md",
        resume=("gemini", "--resume", "{id}"), sessions=".gemini/tmp/*/chats/session-*.json*",
        keeps=(
            "-m=", "--model=", "-s", "--sandbox", "-y", "--yolo", "--approval-mode=", "--policy=", "--skip-trust",
            "--allowed-mcp-server-names=", "--allowed-tools=", "-e=", "--extensions=", "--include-directories=",
            "--screen-reader", "-d", "--debug",
        ),
        scripted=("-p", "--prompt", "mcp", "extensions", "skills", "hooks", "--acp", "--experimental-acp"),
        memories="from the memory that Gemini CLI shares across all projects", module="gemini_cli",
    ),
    Tool(
        "cursor", "Cursor", Target(".cursor/rules/agentplane.mdc", "rule", "---\ndescription: Reviewed project memory\nglobs:\nalwaysApply: true\n---\n"),
        programs=("cursor-agent", "cursor"), variables=("CURSOR_AGENT",), clients=("cursor",),
        marks=(".cursor", ".cursorrules"), homes=(".cursor",),
        hooks=Hooks(
            ".cursor/hooks.json", forms.flat,
            (
                ("session-start", "sessionStart"), ("prompt", "beforeSubmitPrompt"), ("tool", "postToolUse"),
                ("compact", "preCompact"), ("stop", "stop"), ("session-end", "sessionEnd"),
            ),
            timeout=10, version=1,
        ),
        dialect=Dialect(forms.additional_context, forms.followup, folder="CURSOR_PROJECT_DIR"),
        mcp=(Mcp((".cursor/mcp.json",), forms.plain),),
        reads=("AGENTS.md", ".cursorrules", ".cursor/rules"),
        instructions=(".cursorrules",), rules=(Rules(".cursor/rules", "*.md*"),),
        resume=("cursor-agent", "--resume", "{id}"), sessions=".cursor/projects/*/agent-transcripts/**/*.jsonl",
    ),
    Tool(
        "copilot", "GitHub Copilot", Target(".github/copilot-instructions.md", "block"),
        programs=("copilot",), variables=("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "GITHUB_COPILOT_CLI"), clients=("github-copilot", "visual studio code"),
        marks=(".github/copilot-instructions.md", ".github/instructions"), homes=(".copilot",),
        hint="Copilot CLI reads the project's files only after you trust the project's folder. Copilot CLI reportedly ignores the output of hooks.",
        hooks=Hooks(
            ".github/hooks/agentplane.json", forms.copilot,
            (
                ("session-start", "sessionStart"), ("prompt", "userPromptSubmitted"), ("tool", "postToolUse"),
                ("compact", "preCompact"), ("stop", "agentStop"), ("session-end", "sessionEnd"),
            ),
            timeout=10, version=1,
        ),
        # Only some versions take context, and they repeat it before every prompt.
        dialect=Dialect(question=forms.block),
        mcp=(Mcp((".vscode/mcp.json",), forms.stdio, ("servers",)), Mcp((".github/mcp.json",), forms.stdio)),
        instructions=(".github/copilot-instructions.md",), rules=(Rules(".github/instructions", "*.instructions.md"),),
        resume=("copilot", "--resume={id}"), sessions=".copilot/session-state/*/events.jsonl",
    ),
    Tool(
        "opencode", "opencode", _SHARED,
        programs=("opencode",), variables=("OPENCODE", "OPENCODE_CLIENT"), clients=("opencode",),
        marks=("opencode.json", "opencode.jsonc", ".opencode"), homes=(".config/opencode",),
        mcp=(Mcp(("opencode.json", "opencode.jsonc"), forms.local, ("mcp",)),),
        reloads=True,
        resume=("opencode", "--session", "{id}"), sessions=".local/share/opencode/opencode.db",
        keeps=("-m=", "--model=", "--agent="),
        scripted=("run", "serve", "web", "auth", "models", "upgrade"),
    ),
    Tool(
        "cline", "Cline", Target(".clinerules/agentplane.md", "rule"),
        programs=("cline",), variables=("CLINE_ACTIVE",), clients=("cline",),
        marks=(".clinerules",), homes=(".cline",),
        hint="Cline reads MCP servers only from your home directory. Add a server that runs `agentplane mcp --tool cline` to `~/.cline/data/settings/cline_mcp_settings.json`.",
        dialect=Dialect(forms.context_modification, empty='{"cancel": false}'),
        reloads=True,
        rules=(Rules(".clinerules"),),
    ),
    Tool(
        "windsurf", "Windsurf, Devin Desktop", Target(".devin/rules/agentplane.md", "rule", "---\ntrigger: always_on\n---\n"),
        programs=("windsurf", "devin"), clients=("windsurf",),
        marks=(".devin", ".windsurf", ".windsurfrules"), homes=(".codeium/windsurf",),
        hooks=Hooks(".devin/hooks.v1.json", forms.group, _without("compact"), under=(), timeout=10),
        dialect=Dialect(forms.hook_specific, forms.block, folder="DEVIN_PROJECT_DIR"),
        mcp=(Mcp((".devin/config.json",), forms.plain),),
        limits=Limits(file_bytes=12_000),
        instructions=(".windsurfrules",), rules=(Rules(".devin/rules"), Rules(".windsurf/rules")),
        resume=("devin", "--resume", "{id}"),
    ),
    Tool(
        "kiro", "Kiro", Target(".kiro/steering/agentplane.md", "rule", "---\ninclusion: always\n---\n"),
        programs=("kiro", "kiro-cli"),
        marks=(".kiro",), homes=(".kiro",),
        hooks=Hooks(".kiro/hooks/agentplane.json", forms.kiro, _without("compact", "session-end"), timeout=10, version="v1", by_event=False),
        dialect=Dialect(forms.printed, empty=""),
        mcp=(Mcp((".kiro/settings/mcp.json",), forms.plain),),
        rules=(Rules(".kiro/steering"),),
    ),
    Tool(
        "qwen-code", "Qwen Code", Target("QWEN.md", "block"),
        programs=("qwen",), clients=("qwen",),
        marks=("QWEN.md", ".qwen"), homes=(".qwen",),
        hooks=Hooks(".qwen/settings.json", forms.group, _CLAUDE),
        dialect=Dialect(forms.hook_specific, forms.block, folder="QWEN_PROJECT_DIR"),
        mcp=(Mcp((".qwen/settings.json",), forms.plain),),
        instructions=("QWEN.md",),
        resume=("qwen", "--resume", "{id}"), sessions=".qwen/projects/*/chats/*.jsonl",
    ),
    Tool(
        "goose", "Goose", _SHARED,
        programs=("goose",), clients=("goose",),
        marks=(".goosehints",), homes=(".config/goose",),
        hint="Goose reads its MCP configuration only from your home directory. Run `goose configure`, and add a command-line extension that runs `agentplane mcp --tool goose`.",
        hooks=Hooks(".agents/plugins/agentplane/hooks/hooks.json", forms.group, _without("compact")),
        # It only reads an answer at Stop.
        dialect=Dialect(question=forms.block, empty=""),
        instructions=(".goosehints",),
        sessions=".local/share/goose/sessions/sessions.db",
    ),
    Tool(
        "aider", "Aider", Target("CONVENTIONS.md", "block"),
        programs=("aider",),
        marks=(".aider.conf.yml", "CONVENTIONS.md"),
        hint="Aider reads `CONVENTIONS.md` only if `.aider.conf.yml` contains `read: [CONVENTIONS.md]`.",
        reloads=True,
        instructions=("CONVENTIONS.md",),
    ),
    Tool(
        "junie", "Junie", _SHARED,
        programs=("junie",),
        marks=(".junie",), homes=(".junie",),
        mcp=(Mcp((".junie/mcp/mcp.json",), forms.plain),),
        instructions=(".junie/guidelines.md",),
    ),
    Tool(
        "zed", "Zed", _SHARED,
        programs=("zed",), clients=("zed",),
        marks=(".zed", ".rules"), homes=(".config/zed",),
        mcp=(Mcp((".zed/settings.json",), forms.plain, ("context_servers",)),),
        instructions=(".rules",),
    ),
    Tool(
        "amp", "Amp", _SHARED,
        programs=("amp",),
        marks=(".amp",), homes=(".config/amp",),
        mcp=(Mcp((".amp/settings.json", ".amp/settings.jsonc"), forms.plain, ("amp.mcpServers",)),),
        resume=("amp", "threads", "continue", "{id}"),
    ),
    Tool(
        "factory", "Factory Droid", _SHARED,
        programs=("droid",),
        marks=(".factory",), homes=(".factory",),
        hooks=Hooks(".factory/hooks.json", forms.group, _CLAUDE, under=(), timeout=10, rival=".factory/settings.json"),
        dialect=Dialect(forms.hook_specific, forms.block, folder="FACTORY_PROJECT_DIR"),
        mcp=(Mcp((".factory/mcp.json",), forms.stdio),),
        resume=("droid", "--resume", "{id}"),
    ),
    Tool(
        "antigravity", "Antigravity", _SHARED,
        programs=("antigravity",), variables=("ANTIGRAVITY_AGENT",),
        marks=(".agents/rules", ".agents/workflows", ".agents/hooks.json", ".agents/mcp_config.json"), homes=(".gemini/antigravity",),
        dialect=Dialect(),
        mcp=(Mcp((".agents/mcp_config.json",), forms.plain),),
    ),
    Tool(
        "augment", "Augment", Target(".augment/rules/agentplane.md", "rule", "---\ntype: always_apply\n---\n"),
        programs=("auggie",), variables=("AUGMENT_AGENT",),
        marks=(".augment",), homes=(".augment",),
        dialect=Dialect(question=forms.block, empty="", folder="AUGMENT_PROJECT_DIR"),
        mcp=(Mcp((".augment/settings.json",), forms.plain),),
        rules=(Rules(".augment/rules"),),
    ),
    Tool(
        "warp", "Warp", _SHARED,
        programs=("warp-terminal", "warp"),
        marks=("WARP.md",), homes=(".warp",),
        mcp=(Mcp((".warp/.mcp.json",), forms.plain),),
        instructions=("WARP.md",),
    ),
    Tool(
        "crush", "Crush", Target("CRUSH.md", "block"),
        programs=("crush",),
        marks=("CRUSH.md", ".crush"), homes=(".config/crush",),
        mcp=(Mcp(("crush.json", ".crush.json"), forms.stdio, ("mcp",)),),
        instructions=("CRUSH.md",),
    ),
)  # fmt: skip

BY_NAME = {tool.name: tool for tool in TOOLS}
BY_PROGRAM = {program: tool for tool in TOOLS for program in tool.programs}

SHARED_INSTRUCTIONS = ("AGENTS.md", "AGENTS.override.md", "AGENT.md")
"""Instruction files that several tools read. They are the person's, not one tool's."""
OTHER_RULES = (
    ("roo", Rules(".roo/rules")),
    ("amazonq", Rules(".amazonq/rules")),
    ("trae", Rules(".trae/rules")),
)
"""Folders of instruction files for tools without a row."""
OTHER_CLIENTS = (("claude-ai", "claude-desktop"),)
"""The beginnings of names of MCP clients that aren't coding tools, with agentplane's names for them."""
ANY_TOOL = "AI_AGENT"
"""The environment variable in which any tool may state its name."""


def tool_in(environment: "Mapping[str, str]") -> str | None:
    """Return the name of the tool whose shell has this environment, or None outside of tools."""
    found = next((tool for tool in TOOLS if any(map(environment.get, tool.variables))), None)
    return found.name if found else environment.get(ANY_TOOL) or None


def title_of(name: str) -> str:
    """Return the title of a tool, or the name itself if the tool is unknown."""
    return next((tool.title for tool in TOOLS if tool.name == name), name)


def of_client(name: str) -> str | None:
    """Return the name of the tool with this MCP client name, or None if it is unknown."""
    lower = name.strip().lower()
    known = ((start, tool.name) for tool in TOOLS for start in tool.clients)
    return next((tool for start, tool in (*known, *OTHER_CLIENTS) if lower.startswith(start)), None)


def instruction_files() -> "dict[str, str | None]":
    """Return the instruction files of a project, each with its tool, or None if several tools read it."""
    shared: dict[str, str | None] = dict.fromkeys(SHARED_INSTRUCTIONS)
    return shared | {path: tool.name for tool in TOOLS for path in tool.instructions}


def nested_files() -> "dict[str, str | None]":
    """Return the instruction files that count in every folder of a project, each with its tool."""
    return {_SHARED.path: None} | {tool.nested: tool.name for tool in TOOLS if tool.nested}


def rule_folders() -> "Iterable[tuple[str, Rules]]":
    """Return the folders of instruction files of a project, each with its tool."""
    return (*((tool.name, rules) for tool in TOOLS for rules in tool.rules), *OTHER_RULES)
