"""The command search, which finds approved memory by words."""

import click

from agentplane.cli import complete, output, querying
from agentplane.cli.help import command
from agentplane.cli.memory.context import tell_withheld
from agentplane.cli.open import json_option, opened
from agentplane.retrieval.scan import Wanted
from agentplane.text.visible import one_line


@command(
    "search which database for the ledger",
    "search migrations --kind decision --limit 3",
    "search --path app/api.py rate limit",
)
@querying.query_argument("memory", required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    metavar="N",
    help="Maximum number of results.",
)
@click.option(
    "--kind",
    "--type",
    metavar="KIND",
    shell_complete=complete.kinds,
    help="Show only results of this kind, for example decision, run or artifact.",
)
@click.option("--tag", metavar="TAG", shell_complete=complete.tags, help="Show only results with this tag.")
@click.option(
    "--path", metavar="PATH", shell_complete=complete.files, help="Show only results about this path."
)
@click.option("--unreviewed", is_flag=True, help="Also search candidates and unreviewed manual edits.")
@json_option
def search_command(
    words: tuple[str, ...],
    limit: int,
    kind: str | None,
    tag: str | None,
    path: str | None,
    unreviewed: bool,
    as_json: bool,
) -> None:
    """Search approved entries by words, best match first.

    QUERY consists of words and fields, for example `tag:money rounding`.

    If QUERY names a task, a run or a path, the results also include related runs, with their facts and files. The number
    after each ID is a relevance score from 0 to 1.
    """
    plane = opened(doing="Searching")
    search = querying.search_of(plane, words)
    ids = None if search.ids is None else frozenset(search.ids)
    wanted = Wanted(kind, tag, path=path, unreviewed=unreviewed, ids=ids)
    # The best matches aren't the first ones in another order.
    found = plane.recall.find(search.words, limit=search.most(limit), wanted=wanted)
    results = search.ordered(found.results)[:limit]
    if as_json:
        output.emit("recall", results=results, withheld=found.withheld, doubtful=found.doubtful)
        return
    for result in results:
        shown = result.kind if result.kind == "artifact" else result.id
        output.line(output.row([(shown, 11), (f"{result.score:.2f}", 4)], result.statement))
        state = "expired · " if result.expired else ""
        state += f"{result.doubt} · " if result.doubt else ""
        sort = "" if result.trusted else f"{result.kind}, not reviewed · "
        output.line(
            output.row([("", 11)], f"{state}{sort}{result.file} · {one_line(result.why, 100)}"), dim=True
        )
    if not results:
        output.note("No matching entries.")
    tell_withheld(found.withheld)
    if found.doubtful:
        named = ", ".join(one_line(id_, 40) for id_ in found.doubtful)
        output.note(
            f"Left out because they may no longer be true: {named}. Run `agentplane curate` to see why."
        )
