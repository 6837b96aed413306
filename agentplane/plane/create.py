"""Creation of a plane in a folder, and of the files around it.

Existing files are never changed.
"""

import os
from pathlib import Path

from agentplane.errors import Refused
from agentplane.plane import layout as layouts
from agentplane.plane.git import git
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.store import Plan, Store
from agentplane.text import files


CONFIG = """\
# Settings of this plane. Every key has a default; docs/settings.md explains them.

[trust]
# "review": an edit by hand waits until a person adopts it. "accept": it counts at once.
# hand_edits = "review"
# Let approvals come from a coding tool's shell, or without a terminal.
# tools_may_approve = false

[policy]
# promote_fact approves facts of at least this confidence that cite evidence and a run.
# auto_approve_confidence = 0.9

# A kind of your own:
# [kinds.preference]
# prefix = "PREF"
# file = "preferences.md"
"""

IGNORE = """\
# Derived, or of this machine only.
/cache/
/context/
/.lock
*.tmp
# Of capsules git carries what runs/.gitignore says. A branch without runs has none, and then carries nothing of them.
/runs/*/*
"""

ATTRIBUTES = """\
# The log and the op records are hashed byte by byte, and two branches that both appended keep both sides.
/memory/log.jsonl -text merge=union
/ops/*.jsonl -text merge=union
# So are the files of a capsule.
/runs/** -text
# Merged entry by entry. `agentplane init` tells git how; without it git stops, and `agentplane settle` does it.
/memory/*.md merge=agentplane
/memory/state.json merge=agentplane
/memory/artifacts.json merge=agentplane
"""

INTRODUCTIONS = {
    "decisions.md": "# Decisions\n\nWhat was decided, and why. `agentplane list --kind decision` shows what is in force.\n",
    "assumptions.md": "# Assumptions\n\nWhat is taken to be true until shown otherwise.\n",
    "invariants.md": "# Invariants\n\nWhat must always hold.\n",
    "facts.md": "# Facts\n\nWhat was found out.\n",
    "candidates.md": "# Candidates\n\nProposed, and waiting for a person: `agentplane inbox`.\n",
}


_CONTEXT = "context"
_CONTENTS = {
    ".gitignore": IGNORE,
    ".gitattributes": ATTRIBUTES,
    "config.toml": CONFIG,
    **{f"memory/{name}": text for name, text in INTRODUCTIONS.items()},
}


def check_free(folder: Path) -> None:
    """Refuse a folder that belongs to another program, and a folder that doesn't really exist."""
    if folder.is_symlink():
        raise Refused("is a symbolic link", where=str(folder), todo="Replace it with a real folder.")
    if layouts.is_plane(folder):
        return
    marks = layouts.foreign_marks(folder)
    if marks:
        raise Refused(
            f"belongs to another program (it holds {', '.join(marks)}). Nothing was changed.",
            where=str(folder),
            todo="To use another directory, run `agentplane --plane .agentmemory init`.",
        )


def create(store: Store, origin: Origin) -> list[str]:
    """Create the missing files of a plane. Return their paths inside the plane."""
    layout = store.layout
    check_free(layout.root)
    if layout.root.is_dir():
        store.settings()
    made = complete(layout)
    if not layout.log.exists():
        files.append(layout.log, b"")
        store.commit(lambda _: Plan(verb="init", edits=()), origin)
        made.append("memory/log.jsonl")
    return made


def complete(layout: Layout) -> list[str]:
    """Create the folders and files that every plane has, if they are missing. Return their names."""
    for folder in (layout.root, layout.memory, layout.ops, layout.runs, layout.cache):
        files.make_folder(folder)
    made = missing(layout)
    for name in made:
        files.write_atomic(layout.file(name), _CONTENTS[name].encode())
    return made


def lacking(layout: Layout) -> list[str]:
    """Return the Git rules that a plane from an earlier version lacks.

    A person's rule for a file is respected.
    """
    text = (files.read_if(layout.root / ".gitattributes") or b"").decode(errors="replace")
    named = {line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith("#")}
    rules = [line for line in ATTRIBUTES.splitlines() if not line.startswith("#")]
    return [rule for rule in rules if rule.split()[0] not in named] if text else []


def complete_rules(layout: Layout) -> list[str]:
    """Add the missing rules. Return them."""
    rules = lacking(layout)
    if rules:
        path = layout.file(".gitattributes")
        text = files.read(path)
        end = b"" if text.endswith(b"\n") else b"\n"
        files.write_atomic(path, text + end + "".join(f"{rule}\n" for rule in rules).encode())
    return rules


def tracks_context(layout: Layout) -> bool:
    """True if Git tracks files of context/, or would add them with the next `git add`."""
    if git.tracked(layout.root, (_CONTEXT,)):
        return True
    in_use = bool(git.tracked(layout.root, (".gitignore", "memory")))
    return in_use and any(path.startswith(f"{_CONTEXT}/") for path in git.untracked(layout.root))


def ignore_context(layout: Layout) -> list[str]:
    """Stop tracking context/ in Git, because it is derived from the memory.

    The files stay. Return the actions.
    """
    done = []
    path = layout.file(".gitignore")
    text = files.read_if(path) or b""
    rule = f"/{_CONTEXT}/"
    if rule.encode() not in text.split():
        gap = b"" if not text or text.endswith(b"\n") else b"\n"
        files.write_atomic(path, text + gap + rule.encode() + b"\n")
        done.append(f"Added {rule} to {layout.shown('.gitignore')}.")
    names = sorted(git.tracked(layout.root, (_CONTEXT,)) or ())
    if names and git.leave_out(layout.root, names):
        done += [f"Git no longer tracks {layout.shown(name)}. The file is still here." for name in names]
    return done


def missing(layout: Layout) -> list[str]:
    return [name for name in _CONTENTS if not os.path.lexists(layout.root / name)]
