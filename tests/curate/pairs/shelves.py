"""Memories whose entries contradict each other or say the same."""

from agentplane.api import Plane
from agentplane.curate.finding import Finding
from agentplane.curate.kinds import Kind
from tests.curate.shelves import found


PAIRS: tuple[Kind, ...] = ("contradiction", "assumptions-contradict", "duplicate")
PREFIXES = {"decision": "DEC", "assumption": "ASM", "invariant": "INV", "fact": "FACT"}


def accept(plane: Plane, *rows: str, kind: str = "decision") -> None:
    """Write entries of one kind into its file and accept them. A row is a statement, or `statement | header lines`.

    What follows ` || ` is the text below the statement. Accepting manual edits compares nothing, so entries can contradict each other.
    """
    texts = []
    for number, row in enumerate(rows, 1):
        first, _, body = row.partition(" || ")
        statement, _, more = first.partition(" | ")
        id_ = f"{PREFIXES[kind]}-{number:03}"
        fields = [f"id: {id_}", f"type: {kind}", *([] if "status:" in more else ["status: accepted"])]
        fields += more.split("; ") if more else []
        header = "\n".join(fields)
        rest = f"\n{body}" if body else ""
        texts.append(f"---\n{header}\n---\n{kind.capitalize()}: {statement}{rest}\n")
    file, text = plane.layout.memory / f"{kind}s.md", "\n".join(texts)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
        plane.memory.adopt()


def ids(plane: Plane, *kinds: Kind) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.kind, one.ids) for one in findings(plane, *kinds)]


def findings(plane: Plane, *kinds: Kind) -> list[Finding]:
    return found(plane, *(kinds or PAIRS))
