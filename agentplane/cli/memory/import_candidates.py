"""The command import, which imports candidates from other places."""

from collections import Counter
from collections.abc import Sequence

import click
import msgspec

from agentplane.api import Harvested
from agentplane.cli import complete, output
from agentplane.cli.help import command
from agentplane.cli.open import json_option, opened
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line, visible
from agentplane.tools.harvest.harvest import SOURCES, Harvest, named
from agentplane.tools.harvest.haul import Haul


_LONGEST = 200
"""Number of characters of a skipped piece in the JSON."""


@command("import --dry-run", "import --from claude-code,adr")
@click.option(
    "--from",
    "sources",
    metavar="NAMES",
    shell_complete=complete.sources,
    help=f"Sources to import from, separated by commas: {', '.join(SOURCES)} [default: all].",
)
@click.option("--dry-run", is_flag=True, help="Preview the import. Nothing is changed.")
@json_option
def import_command(sources: str | None, dry_run: bool, as_json: bool) -> None:
    """Import candidates from tool memories, instruction files and decision records (ADRs).

    agentplane imports each statement once, with the location of the statement as evidence. The sources are not changed.
    For each skipped line, agentplane prints the location and the reason.
    """
    plane = opened(doing="Reading memory")
    names = named([name.strip() for name in (sources or "").split(",") if name.strip()])
    found = plane.tools.harvest(names)
    done = Harvested() if dry_run else plane.tools.take_in(found)
    if as_json:
        output.emit(
            "harvest", offered=_rows(found, done), sources=[_source_row(found, name) for name in names]
        )
        return
    if dry_run:
        for offer in found.offers:
            output.line(output.row([(offer.proposal.type, 10)], offer.proposal.statement))
            output.line(output.row([("", 10)], offer.proposal.evidence[0]), dim=True)
    print_result(found, done, names)
    if not dry_run:
        output.note(
            "Next: run `agentplane` to review the inbox." if any(done.ids) else "Nothing new to import."
        )


def print_result(found: Harvest, done: Harvested, names: Sequence[str]) -> None:
    """Print what was skipped, and the number of candidates from each of these sources."""
    for name in names:
        _print_skipped(_haul(found, name))
    for name in names:
        _print_source(found, done, name)
    new_ids = [id_ for id_ in done.ids if id_]
    if new_ids:
        output.note(
            f"Added {counted(len(new_ids), 'candidate')} to the inbox. Run `agentplane undo` to undo the import."
        )


def _rows(found: Harvest, done: Harvested) -> list[dict[str, object]]:
    rows = []
    for place, offer in enumerate(found.offers):
        row = {"from": offer.source, **msgspec.to_builtins(offer.proposal)}
        row["id"] = done.ids[place] if done.ids else None
        row["refused"] = done.refused[place] if done.refused else None
        row["proposed_by"] = offer.by
        rows.append(row)
    return rows


def _haul(found: Harvest, name: str) -> Haul:
    return next(haul for haul in found.hauls if haul.source == name)


def _print_skipped(haul: Haul) -> None:
    for piece in haul.skipped:
        quote = f": {one_line(piece.text, 80)}" if piece.text.strip() else ""
        output.note(f"Skipped {one_line(piece.place, 120)} ({piece.why}){quote}")


def _source_row(found: Harvest, name: str) -> dict[str, object]:
    haul = _haul(found, name)
    return {
        "name": name,
        "places": haul.places,
        "offered": sum(offer.source == name for offer in found.offers),
        "known": found.known[name],
        "left": haul.left,
        "skipped": [
            {"place": one.place, "why": one.why, "text": one.text[:_LONGEST]} for one in haul.skipped
        ],
        "notes": haul.notes,
    }


def _print_source(found: Harvest, done: Harvested, name: str) -> None:
    haul = _haul(found, name)
    for note in haul.notes:
        output.note(f"{name}: {visible(note)}")
    mine = [place for place, offer in enumerate(found.offers) if offer.source == name]
    refused = Counter(one_line(why, 80) for place in mine if done.refused and (why := done.refused[place]))
    if not (haul.places or haul.skipped):
        return
    parts = [
        f"{counted(len(mine) - refused.total(), 'candidate')} from {counted(len(set(haul.places)), 'file')}"
    ]
    parts += [f"{found.known[name]} already known"] if found.known[name] else []
    parts += [f"{len(haul.skipped)} skipped"] if haul.skipped else []
    output.note(f"{name}: {', '.join(parts)}")
    for why, count in refused.most_common(5):
        output.note(f"  {count} refused: {why}")
