"""The result of a reconciliation in words, for the command line and the screens."""

import shlex

from agentplane.memory.reconcile.settle import Settled
from agentplane.text.visible import one_line, visible


def result_lines(done: Settled) -> list[str]:
    """Return the result of reconciling, and what to do next, as lines of text."""
    lines = [one_line(str(note), 200) for note in done.notes]
    lines += [f"Merged the entries in {visible(name)}." for name in (*done.resolved, *done.merged)]
    if done.op:
        lines.append(f"Reconciled the merged branches (change {done.op}).")
    elif done.joined:
        lines.append("Reconciled the merged branches.")
    if done.picking and not done.left:
        lines.append(f"Run `git {done.picking} --continue`, then `agentplane reconcile`.")
    elif done.op or done.joined or done.notes:
        lines.append("Commit the .agentplane directory, because these changes are part of the merge.")
    lines += [
        f"{name}: your own text, outside agentplane's block, has merge conflicts. Resolve them, then run `git add {shlex.quote(name)}`."
        for name in map(visible, done.conflicts)
    ]
    return lines + [
        f"{name} can't be merged automatically. Resolve the conflicts, then run `git add {shlex.quote(name)}`."
        for name in map(visible, done.left)
    ]
