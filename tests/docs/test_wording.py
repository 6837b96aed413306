"""The pages use the project's terms and plain phrases."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.test_docs import PAGES, names


GENERATED = re.compile(r"<!-- made by tests/docs/generate\.py.*?<!-- end -->", re.DOTALL)
CODE = re.compile(r"^ *```.*?^ *```$|`[^`]*`|<!--.*?-->|(?<=\])\([^)]*\)", re.MULTILINE | re.DOTALL)

TERMS = {
    r"planes?": "project memory, or `.agentplane` directory",
    r"shelf": "memory, or approved entries",
    r"ops?": "operation",
    r"(?<!context )packs?": "context, or context pack",
    r"(?:un)?wire[ds]?|wiring": "connect, disconnect",
    r"harvest(?:s|ed|ing)?": "import",
    r"settl(?:e[ds]?|ing)": "reconcile",
    r"marked rows?|unmarked": "selected",
    r"hand edits?|edits? by hand": "manual edit",
    r"old memory": "outdated memory",
}
"""Terms that a reader doesn't know, each with the term to write."""

IDIOMS = {
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix, or repair",
    r"beside": "next to",
    r"by (?:itself|themselves)": "automatically",
    r"stands? (?:in|beside|there|by|on|below|above|before|behind)": "is",
    r"takes? (?:up|back)": "resume, or undo",
    r"takes? out (?:of|what)": "remove",
    r"nowhere|is not there": "not found, or missing",
    r"of now": "current",
    r"for ever|for good": "permanently",
    r"ours|our (?:block|part|hooks|entries|own)": "agentplane's",
    r"in one go": "at once",
    r"as it would (?:be|have)": "as usual",
    r"who(?:ever)? (?:wants|may|has)": "anyone who",
    r"somebody|everybody": "someone, everyone",
    r"something else than": "something other than",
    r"(?<!there )(?:is|are) no (?!longer|more|different|worse|better)[a-z]+": "isn't a",
    r"holds (?:what|no|a hidden)": "contains",
    r"at this moment": "now, or at the same time",
}
"""Phrases of another language, each with the phrase to write."""

OPENING = re.compile(r"(?:^[-#*> ]*|[.!] |\| )((?:What|Who|Nobody) [a-z]+)(?![^.!|]*\?)")
"""A sentence or a cell that names no thing. Questions are fine."""

GENERATED_PAGES = {ROOT / "docs" / "modules.md"}
"""Generated from docstrings."""


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a page without code, link targets and generated parts."""
    yield from enumerate(CODE.sub(blank, GENERATED.sub(blank, page.read_text())).split("\n"), 1)


def blank(found: re.Match[str]) -> str:
    """The empty lines that take the place of a piece of a page."""
    return re.sub(r"[^\n]+", " ", found[0])


def departures(page: Path) -> Iterator[str]:
    for number, line in prose(page):
        for wrong, right in {**TERMS, **IDIOMS}.items():
            for found in re.findall(rf"(?<![\w/-])(?:{wrong})(?![\w/-])", line, re.IGNORECASE):
                yield f"{page.relative_to(ROOT)}:{number}: {found!r}: write {right}"
        for found in OPENING.findall(line):
            yield f"{page.relative_to(ROOT)}:{number}: {found!r}: write the noun"


@pytest.mark.parametrize(
    "page", (pages := [page for page in PAGES if page not in GENERATED_PAGES]), ids=names(pages)
)
def test_pages_use_known_terms_and_plain_phrases(page: Path) -> None:
    assert list(departures(page)) == []


def test_departures_are_found_in_prose_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.test_wording.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "Look at `op` and [a plan](op.md). What is it?\n\n```sh\nharvest anew\n```\n\nOne op\nstands in the plane. What waits is told.\n"
    )
    assert sorted(line.partition(": write")[0] for line in departures(page)) == [
        "page.md:7: 'op'",
        "page.md:8: 'What waits'",
        "page.md:8: 'plane'",
        "page.md:8: 'stands in'",
    ]
