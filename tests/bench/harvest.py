"""What importing takes, on real files: the statements of ten labelled instruction files, and all decision records.

`python -m tests.bench.harvest DATA`, where DATA is the folder with `instructions/` and `adr/`. The last line is JSON.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from agentplane.text import front_matter
from agentplane.tools.harvest import decision_records, project_files, statements


LABELS: dict[str, tuple[int, ...]] = {
    "1b490485ba-copilot-instructions.md": (21, 29, 30, 31, 32, 36, 38, 39),
    "b986437f82-copilot-instructions.md": (27, 28, 30, 31, 34, 47),
    "cd2cbbf980-AGENTS.md": (17, 21, 22, 25, 26, 27, 28, 42, 47),
    "c6ee1e58c9-AGENTS.md": (18, 22, 23, 24, 25, 26, 27, 28, 30, 52, 56),
    "a8f0456710-CLAUDE.md": (29, 33),
    "3df3dec139-conventions.md": (5, 6, 9, 15, 37, 38, 39, 55, 56, 57, 58),
    "4f68670bc4-AGENTS.md": (10, 15, 34, 43, 50, 59),
    "44246a5f20-AGENTS.md": (12, 13, 20, 24, 25, 26, 31, 32),
    "54067ee076-AGENTS.md": (41, 42, 43, 44),
    "0e89e0a94d-copilot-instructions.md": (
        *range(9, 16), *range(33, 37), *range(40, 47), *range(52, 57), 60, 61, 65, *range(69, 73), 76,
    ),
}  # fmt: skip
"""The lines that a person would keep as memory of the project; of a paragraph its first line."""


def instructions(folder: Path, *, told: bool) -> dict[str, int]:
    found = missed = false = taken = left = 0
    for path in sorted(folder.iterdir()):
        if path.name.startswith("_"):
            continue
        _, body, first = front_matter.split(
            project_files.bare(path.read_bytes().decode("utf-8-sig", "replace"))
        )
        read = statements.read(body, first)
        taken += len(read.lines)
        left += len(read.skipped)
        if path.name in LABELS:
            wanted, lines = set(LABELS[path.name]), {line.line for line in read.lines}
            found += len(wanted & lines)
            missed += len(wanted - lines)
            false += len(lines - wanted)
            if told:
                print(path.name, "missed", sorted(wanted - lines), "false", sorted(lines - wanted))
    return {"found": found, "missed": missed, "false": false, "taken": taken, "left": left}


def title_of(text: str, name: str = "") -> str:
    """The title alone of a decision record."""
    fields, body, _ = front_matter.split(text)
    sections = decision_records._sections(decision_records._with_marks(body))
    return decision_records._title(sections, fields or {}, name)[0]


def records(path: Path, *, told: bool) -> dict[str, int]:
    """Of the records in Markdown: how many give title and decision, the title alone, and nothing."""
    counts: Counter[str] = Counter(
        dict.fromkeys(("records", "title_and_decision", "title_only", "nothing"), 0)
    )
    rows = map(json.loads, path.read_text().splitlines())
    for row in rows:
        name = row["path"].rpartition("/")[2]
        if not name.endswith(".md"):
            continue
        counts["records"] += 1
        read = decision_records.read(row["text"], name)
        title = title_of(row["text"], name)
        if isinstance(read, decision_records.Unusable):
            counts["nothing"] += 1
        else:
            counts["title_only" if read.statement == title else "title_and_decision"] += 1
        if told and (isinstance(read, decision_records.Unusable) or read.statement == title):
            print(row["id"], read)
    return dict(counts)


def main() -> None:
    data, told = Path(sys.argv[1]), "-v" in sys.argv
    taken = {
        "instructions": instructions(data / "instructions", told=told),
        "adr": records(data / "adr" / "adrs.jsonl", told=told),
    }
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
