"""Entries are read with python-frontmatter."""

from unittest.mock import patch

import frontmatter

from agentplane.text.markdown import document


ENTRY = b"---\nid: FACT-001\ntype: fact\nstatus: accepted\nexternal_id: memory-schema-defined\nevidence: [a.md]\n---\nFact: It rains.\n"


def test_python_frontmatter_reads_an_entry_as_we_do() -> None:
    """Any program can use that library on the text of an entry."""
    page = document.parse(ENTRY)
    fields, body = frontmatter.parse(ENTRY.decode())
    assert fields == page.header(page.blocks[0])
    assert body.strip() == page.body(page.blocks[0]).strip()


def test_headers_go_through_python_frontmatter() -> None:
    entry = ENTRY.replace(b"FACT-001", b"FACT-987")  # one that was not read before
    with patch.object(frontmatter, "parse", wraps=frontmatter.parse) as parse:
        assert document.parse(entry).blocks[0].id == "FACT-987"
    assert parse.call_count == 1
