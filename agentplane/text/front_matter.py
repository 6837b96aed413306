"""The headers of Markdown files from other programs.

A header has YAML fields between two lines of dashes, and is read within fixed limits.
"""

import re

from agentplane.text.yaml import yaml12


_FRONT = re.compile(r"\A\ufeff?\s*^---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)


def split(text: str) -> tuple[dict[str, object] | None, str, int]:
    """Return the fields, the text below them, and the line where that text begins.

    The fields are None if the header isn't YAML that agentplane reads.
    """
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
    """Return the fields of a header that isn't valid YAML, line by line.

    Cursor writes such headers, with `globs: *.ts`.
    """
    head = _FRONT.match(text)
    rows = (line.partition(":") for line in head[1].splitlines()) if head else ()
    return {name.strip(): value.strip() for name, _, value in rows}
