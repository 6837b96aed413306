"""The tables of fields, actions and findings in docs/reference/query.md, docs/reference/keys.md and
docs/guides/curator.md.
"""

from agentplane.curate.kinds import GROUPS, KINDS
from agentplane.query.fields import FIELDS, Target
from agentplane.tui import actions, registry


def of_keys() -> str:
    """The tables of docs/reference/keys.md."""
    parts = []
    for title, where in (
        *((row.title, row.name) for row in registry.SCREENS),
        ("Lists", actions.LIST),
        ("Everywhere", actions.EVERYWHERE),
    ):
        rows = [
            f"| {_keys(item)} | {item.name} | {item.what} | `{item.id}` |"
            for item in actions.ACTIONS
            if where in item.where
        ]
        parts.append(
            "\n".join(
                [
                    f"## {title}",
                    "",
                    "| key | action | description | id |",
                    "| --- | --- | --- | --- |",
                    *rows,
                ]
            )
        )
    return "\n\n".join(parts) + "\n"


def _keys(item: actions.Action) -> str:
    """The keys of an action in Markdown. An action without a key is in the palette."""
    return " ".join(f"`{actions.shown_key(key)}`" for key in item.keys.split(",") if key)


def of_query() -> str:
    """The tables of docs/reference/query.md."""
    fields = [
        f"| {_names(field.name, field.aliases)} | {field.what} | `{field.example}` | {_where(field.where)} |"
        for field in FIELDS
    ]
    values = [
        f"| `{field.name}:` | {_names(value.name, value.aliases)} | {value.what} | {_where(value.where)} |"
        for field in FIELDS
        for value in field.values
    ]
    return "\n".join(
        [
            "| field | matches | example | applies to |",
            "| --- | --- | --- | --- |",
            *fields,
            "",
            "### Fixed values",
            "",
            "| field | value | meaning | applies to |",
            "| --- | --- | --- | --- |",
            *values,
            "",
        ]
    )


def _names(name: str, aliases: tuple[str, ...]) -> str:
    return f"`{name}`" + (f" (also {', '.join(f'`{alias}`' for alias in aliases)})" if aliases else "")


def _where(where: tuple[Target, ...]) -> str:
    return ", ".join(where)


def of_findings() -> str:
    """The table of the kinds of findings in docs/guides/curator.md."""
    rows = [
        f"| `{kind}` | {GROUPS[row.group]} | {row.severity} | {row.title} |" for kind, row in KINDS.items()
    ]
    return "\n".join(["| kind | group | severity | finding |", "| --- | --- | --- | --- |", *rows]) + "\n"
