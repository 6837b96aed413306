"""The header of a Markdown file that others wrote: fields in YAML between two lines of dashes, read within fixed limits."""

import re

from agentplane.text.yaml import yaml12


_FRONT = re.compile(r"\A\ufeff?\s*^---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)


def split(text: str) -> tuple[dict[str, object] | None, str, int]:
    """The fields, the text below them, and in which line that begins. None: what stands there is no YAML that we read."""
    head = _FRONT.match(text)
    if head is None:
        return {}, text, 1
    rest, first = text[head.end() :], 1 + head[0].count("\n")
    try:
        found = yaml12.load(head[1])
    except yaml12.YamlError:
        return None, rest, first
    return found if isinstance(found, dict) else {}, rest, first


def pairs(text: str) -> dict[str, object]:
    """The header line by line, for tools that write what is no YAML, as Cursor does with `globs: *.ts`."""
    head = _FRONT.match(text)
    rows = (line.partition(":") for line in head[1].splitlines()) if head else ()
    return {name.strip(): value.strip() for name, _, value in rows}
