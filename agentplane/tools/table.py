"""The coding tools, as data: what shows that one is used, which files it reads, where its sessions lie.

A tool is added by adding a row. `docs/tools.md` is made from this table.
"""

from typing import Literal

import msgspec


Form = Literal["block", "import", "rule"]
"""A managed block in a file of others; a block that holds an import line; a file of our own."""


class Target(msgspec.Struct, frozen=True):
    """Where a tool finds the memory."""

    path: str
    form: Form
    header: str = ""
    """What a rule file of our own begins with."""


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


ACTIVE = ".agentplane/context/active.md"
SHARED = Target("AGENTS.md", "block")
"""What most tools read; written once for all of them."""

TOOLS = (
    Tool(
        "claude-code", "Claude Code", Target("CLAUDE.md", "import"),
        programs=("claude",), marks=("CLAUDE.md", ".claude"), homes=(".claude",),
    ),
    Tool(
        "codex", "Codex CLI", SHARED,
        programs=("codex",), marks=(".codex",), homes=(".codex",),
        hint="Codex reads AGENTS.md only in a project that it was told to trust.",
    ),
    Tool(
        "gemini-cli", "Gemini CLI", Target("GEMINI.md", "import"),
        programs=("gemini",), marks=("GEMINI.md", ".gemini"), homes=(".gemini",),
    ),
    Tool(
        "cursor", "Cursor",
        Target(".cursor/rules/agentplane.mdc", "rule", "---\ndescription: Reviewed project memory\nglobs:\nalwaysApply: true\n---\n"),
        programs=("cursor-agent", "cursor"), marks=(".cursor", ".cursorrules"), homes=(".cursor",),
    ),
    Tool(
        "copilot", "GitHub Copilot", Target(".github/copilot-instructions.md", "block"),
        programs=("copilot",), marks=(".github/copilot-instructions.md", ".github/instructions"), homes=(".copilot",),
    ),
    Tool("opencode", "opencode", SHARED, programs=("opencode",), marks=("opencode.json", "opencode.jsonc", ".opencode"), homes=(".config/opencode",)),
    Tool(
        "cline", "Cline", Target(".clinerules/agentplane.md", "rule"),
        programs=("cline",), marks=(".clinerules",), homes=(".cline",),
    ),
    Tool(
        "windsurf", "Windsurf, Devin Desktop", Target(".devin/rules/agentplane.md", "rule", "---\ntrigger: always_on\n---\n"),
        programs=("windsurf", "devin"), marks=(".devin", ".windsurf", ".windsurfrules"), homes=(".codeium/windsurf",),
    ),
    Tool(
        "kiro", "Kiro", Target(".kiro/steering/agentplane.md", "rule", "---\ninclusion: always\n---\n"),
        programs=("kiro", "kiro-cli"), marks=(".kiro",), homes=(".kiro",),
    ),
    Tool("qwen-code", "Qwen Code", Target("QWEN.md", "block"), programs=("qwen",), marks=("QWEN.md", ".qwen"), homes=(".qwen",)),
    Tool("goose", "Goose", SHARED, programs=("goose",), marks=(".goosehints",), homes=(".config/goose",)),
    Tool(
        "aider", "Aider", Target("CONVENTIONS.md", "block"),
        programs=("aider",), marks=(".aider.conf.yml", "CONVENTIONS.md"),
        hint="Aider reads it when `.aider.conf.yml` says `read: [CONVENTIONS.md]`.",
    ),
    Tool("junie", "Junie", SHARED, programs=("junie",), marks=(".junie",), homes=(".junie",)),
    Tool("zed", "Zed", SHARED, programs=("zed",), marks=(".zed", ".rules"), homes=(".config/zed",)),
    Tool("amp", "Amp", SHARED, programs=("amp",), marks=(".amp",), homes=(".config/amp",)),
    Tool("factory", "Factory Droid", SHARED, programs=("droid",), marks=(".factory",), homes=(".factory",)),
    Tool("antigravity", "Antigravity", SHARED, programs=("antigravity",), marks=(".agents",), homes=(".gemini/antigravity",)),
    Tool(
        "augment", "Augment", Target(".augment/rules/agentplane.md", "rule", "---\ntype: always_apply\n---\n"),
        programs=("auggie",), marks=(".augment",), homes=(".augment",),
    ),
    Tool("warp", "Warp", SHARED, programs=("warp-terminal", "warp"), marks=("WARP.md",), homes=(".warp",)),
    Tool("crush", "Crush", Target("CRUSH.md", "block"), programs=("crush",), marks=("CRUSH.md", ".crush"), homes=(".config/crush",)),
)  # fmt: skip
