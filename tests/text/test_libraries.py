"""Entries are read with python-frontmatter, and ruamel.yaml writes what splicing can't."""

from unittest.mock import patch

import frontmatter
import pytest
import ruamel.yaml

from agentplane.text.markdown import document, header


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


@pytest.mark.parametrize(
    ("old", "is_spliced"),
    [
        (ENTRY, True),
        (b"---\n{id: FACT-001, type: fact, status: accepted}\n---\nFact: It rains.\n", False),
        (b"---\nid: FACT-001\ntype: fact\n? status\n: accepted\n---\nFact: It rains.\n", False),
    ],
)
def test_ruamel_writes_only_what_splicing_cannot(old: bytes, is_spliced: bool) -> None:
    with patch.object(ruamel.yaml.YAML, "dump", autospec=True, side_effect=ruamel.yaml.YAML.dump) as dump:
        new = header.set_fields(old, {"status": "deprecated"})
    page = document.parse(new)
    assert page.header(page.blocks[0])["status"] == "deprecated"
    assert new.endswith(b"---\nFact: It rains.\n")
    assert (dump.call_count == 0) == is_spliced
