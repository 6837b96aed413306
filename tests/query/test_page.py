"""The page about queries says what the program does."""

import re
from typing import get_args

import pytest

from agentplane.query.fields import FIELDS, Field, Target
from agentplane.query.parse import QueryError, parse
from tests.conftest import ROOT
from tests.docs import tables


PAGE = (ROOT / "docs" / "reference" / "query.md").read_text()
EXAMPLES = re.findall(r"^\| (inbox|memory|runs|all) \| `([^`]+)` \|", PAGE, re.MULTILINE)
COMMANDS = {"inbox": "inbox", "list": "memory", "search": "memory", "timeline": "runs"}


def test_the_tables_are_made_from_the_fields() -> None:
    assert tables.of_query() in PAGE, "run: python -m tests.docs.generate"


@pytest.mark.parametrize(("target", "text"), EXAMPLES)
def test_an_example_is_a_query(target: Target, text: str) -> None:
    query = parse(text, target)
    assert query.terms
    assert parse(str(query), target) == query


def test_the_examples_are_for_every_list() -> None:
    assert {target for target, _ in EXAMPLES} == set(get_args(Target))


@pytest.mark.parametrize(
    ("command", "text"), re.findall(r"^agentplane (\w+) '?([^'\n]+)'?$", PAGE, re.MULTILINE)
)
def test_an_example_in_a_shell_is_a_query(command: str, text: str) -> None:
    target: Target = COMMANDS[command]  # type: ignore[assignment]
    assert parse(text, target).terms


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_the_example_of_a_field_is_for_each_of_its_lists_and_for_no_other(field: Field) -> None:
    for target in get_args(Target):
        if field.applies_to(target):
            parse(field.example, target)
        else:
            with pytest.raises(QueryError, match="doesn't apply"):
                parse(field.example, target)


def test_names_and_aliases_are_unique() -> None:
    names = [name for field in FIELDS for name in (field.name, *field.aliases)]
    assert len(names) == len(set(names))
    for field in FIELDS:
        values = [name for value in field.values for name in (value.name, *value.aliases)]
        assert len(values) == len(set(values))
        assert (field.takes == "choice") == bool(values)
        assert all(set(value.where) <= set(field.where) for value in field.values)
