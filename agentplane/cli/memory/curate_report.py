"""The curator's findings as a Markdown report."""

import re
from collections.abc import Iterator

from agentplane.cli.memory.curate_rows import health_lines, proof_lines
from agentplane.curate.curator import Curation
from agentplane.curate.finding import Diff, Finding
from agentplane.curate.kinds import GROUPS
from agentplane.text.visible import one_line, visible


_MOST_LINES = 60
_TICKS = re.compile("`+")


def text(made: Curation) -> str:
    """Return the whole report."""
    return "\n".join(_lines(made)) + "\n"


def _lines(made: Curation) -> Iterator[str]:
    yield f"# Curator findings on {made.day}"
    yield ""
    yield f"Memory revision {made.revision}."
    if made.health is not None:
        yield ""
        yield from (f"- {line.strip()}" for line in health_lines(made.health))
    if made.troubles:
        yield from ("", "## Checks that couldn't run", "")
        yield from (f"- {_inline(trouble.where)}: {_inline(trouble.what)}" for trouble in made.troubles)
    for group, title in GROUPS.items():
        found = [finding for finding in made.findings if finding.row.group == group]
        if found:
            yield from ("", f"## {title} ({len(found)})")
            for finding in found:
                yield from _finding(finding)
    if not made.findings:
        yield from ("", "No findings.")


def _finding(finding: Finding) -> Iterator[str]:
    yield from ("", f"### {_inline(finding.id)}: {finding.row.title}", "")
    yield f"{_inline(finding.what)} ({_inline(finding.where)}, {finding.severity})."
    lines = [visible(line) for line in proof_lines(finding)]
    if lines:
        fence = _fence(lines)
        yield from ("", f"{fence}{'diff' if isinstance(finding.proof, Diff) else 'text'}")
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield f"… {len(lines) - _MOST_LINES} more lines"
        yield fence
    if finding.remedies:
        yield ""
        yield from (f"- {remedy.title}: `{_inline(' '.join(remedy.argv))}`" for remedy in finding.remedies)


def _fence(lines: list[str]) -> str:
    """Return a fence that no line of the text can end."""
    longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
    return "`" * max(3, longest + 1)


def _inline(words: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    return "".join(f"\\{char}" if char in "\\`*_<>[]#|" else char for char in one_line(words, 300))
