"""Creation of a plane in a folder, and of the files around it.

Existing files are never changed.
"""

import os
from pathlib import Path

from agentplane.errors import Refused
from agentplane.plane import layout as layouts
from agentplane.plane.git import git
from agentplane.plane.layout import CONFIG, LOG, Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.plan import Plan
from agentplane.plane.store.store import Store
from agentplane.text import files


CONFIG_TEXT = """\
# Settings of agentplane. Every setting has a default. `agentplane settings` lists them all.

[trust]
# "review": manual edits take effect when a person accepts them. "accept": they take effect immediately.
# hand_edits = "review"
# Allow approvals and other decisions from a coding tool's shell, or without a terminal.
# tools_may_approve = false

[policy]
# Facts that cite evidence and a run are approved automatically at this confidence or above.
# auto_approve_confidence = 0.9

# A custom kind:
# [kinds.preference]
# prefix = "PREF"
# file = "preferences.md"
"""

IGNORE = """\
# Generated files, and files that stay on this machine.
/cache/
/context/
/.lock
*.tmp
# runs/.gitignore selects the files of run records that Git tracks.
/runs/*/*
"""

ATTRIBUTES = """\
# The log and the operation records are hashed byte by byte. A merge keeps the lines of both branches.
/memory/log.jsonl -text merge=union
/ops/*.jsonl -text merge=union
# The files of run records are hashed too.
/runs/** -text
# Git merges these files entry by entry after `agentplane init`. Without that, run `agentplane reconcile` after a merge.
/memory/*.md merge=agentplane
/memory/state.json merge=agentplane
/memory/artifacts.json merge=agentplane
"""

INTRODUCTIONS = {
    "decisions.md": "# Decisions\n\nDecisions and the reasons for them. `agentplane list --kind decision` lists them.\n",
    "assumptions.md": "# Assumptions\n\nStatements that are treated as true until proven wrong.\n",
    "invariants.md": "# Invariants\n\nRules that always apply.\n",
    "facts.md": "# Facts\n\nFindings and the evidence for them.\n",
    "candidates.md": "# Candidates\n\nProposals to review. `agentplane inbox` lists them.\n",
}


_CONTEXT = "context"
_CONTENTS = {
    ".gitignore": IGNORE,
    ".gitattributes": ATTRIBUTES,
    CONFIG: CONFIG_TEXT,
    **{f"memory/{name}": text for name, text in INTRODUCTIONS.items()},
}


def check_free(folder: Path) -> None:
    """Refuse a folder that belongs to another program, and a folder that doesn't really exist."""
    if folder.is_symlink():
        raise Refused(
            "this is a symbolic link", where=str(folder), todo="Replace the link with a real folder."
        )
    if layouts.is_plane(folder):
        return
    marks = layouts.foreign_marks(folder)
    if marks:
        raise Refused(
            f"this folder belongs to another program, because it contains {', '.join(marks)}. Nothing was changed.",
            where=str(folder),
            todo="To use a different directory, run `agentplane --plane .agentmemory init`.",
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
        made.append(LOG)
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
        done += [f"Git no longer tracks {layout.shown(name)}. The file itself was kept." for name in names]
    return done


def missing(layout: Layout) -> list[str]:
    return [name for name in _CONTENTS if not os.path.lexists(layout.root / name)]
