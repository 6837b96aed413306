"""Finding approved memory by words."""

import click

from agentplane.cli import complete, out
from agentplane.cli.door import json_option, opened
from agentplane.cli.pack import tell_withheld
from agentplane.retrieval.scan import Wanted
from agentplane.text.visible import one_line


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option(
    "--limit", type=click.IntRange(1, 100), default=5, show_default=True, metavar="N", help="How many."
)
@click.option("--kind", "--type", metavar="KIND", shell_complete=complete.kinds, help="Only this kind.")
@click.option("--tag", metavar="TAG", help="Only entries with this tag.")
@click.option("--path", metavar="PATH", help="Only what is about this path.")
@json_option
def recall_command(
    words: tuple[str, ...], limit: int, kind: str | None, tag: str | None, path: str | None, as_json: bool
) -> None:
    """Find what is approved and in force, the nearest to QUERY first."""
    plane = opened()
    found = plane.recall(" ".join(words), limit=limit, wanted=Wanted(kind, tag, path=path))
    if as_json:
        out.emit("recall", results=found, withheld=plane.withheld())
        return
    for result in found:
        out.line(out.row([(result.id, 11), (f"{result.score:.2f}", 4)], result.statement))
        state = "expired · " if result.expired else ""
        out.line(out.row([("", 11)], f"{state}{result.file} · {one_line(result.why, 100)}"), dim=True)
    if not found:
        out.note("nothing is near to that.")
    tell_withheld(plane.withheld())
