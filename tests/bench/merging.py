"""How many files two branches conflict in, with coding tools connected: `python -m tests.bench.merging`.

Each everyday pair of changes is merged in four places: a clone that ran `agentplane init`, a clone that did not, a server that
reads `.gitattributes`, and a server that does not. The servers merge in a bare repository with `git merge-tree`.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from agentplane import setup
from agentplane.plane.git import merge_driver
from agentplane.tools import presence
from tests.conftest import decision
from tests.plane.branches import Repository


TOOLS = ("claude-code", "codex", "cursor", "gemini-cli", "copilot")
PLACES = ("clone with init", "clone without init", "server with attributes", "server without attributes")


def project(folder: Path) -> Repository:
    """A repository with several connected tools and two approved decisions."""
    folder.mkdir(parents=True)
    made = Repository(folder)
    made.git("init", "-q", "-b", "main")
    (folder / "AGENTS.md").write_text("# Rules\n\nBe brief.\n")
    made.commit("first")
    setup.make(setup.preview(folder / ".agentplane", presence.named(TOOLS)), "cli")
    made.commit("a plane")
    made.approve("Use PostgreSQL for storage.", "Amounts are whole cents.")
    return made


def approves(made: Repository, name: str) -> None:
    made.approve(f"Team {name} ships on its own day.")


def proposes(made: Repository, name: str) -> None:
    made.plane.propose(decision(f"The {name} service may keep a cache."), again=True)
    made.commit("propose")


def edits_one(made: Repository, name: str) -> None:
    made.edit("DEC-001", "PostgreSQL", f"PostgreSQL in {name}")


def deprecates(made: Repository, name: str) -> None:
    made.plane.memory.deprecate(["DEC-002"], why=f"{name} said so")
    made.commit("deprecate")


def logs_a_run(made: Repository, name: str) -> None:
    made.plane.write_log({"summary": f"The run of {name}."})
    made.commit("a run")


def edits_own_text(made: Repository, name: str) -> None:
    path = made.folder / "AGENTS.md"
    path.write_text(path.read_text().replace("Be brief.", f"Be brief, {name}."))
    made.commit("own text")


Change = Callable[[Repository, str], None]
SCENARIOS: dict[str, tuple[Change, Change]] = {
    "both approve an entry": (approves, approves),
    "both propose a candidate": (proposes, proposes),
    "one approves, one proposes": (approves, proposes),
    "one approves, one deprecates": (approves, deprecates),
    "both edit the same entry": (edits_one, edits_one),
    "both log a run": (logs_a_run, logs_a_run),
    "one approves, one edits AGENTS.md outside of the block": (approves, edits_own_text),
    "one approves, one does nothing with the memory": (approves, lambda made, _: made.commit("code")),
}


def forked(folder: Path, changes: tuple[Change, Change]) -> Repository:
    made = project(folder)
    made.branch("side")
    changes[0](made, "north")
    made.checkout("main")
    changes[1](made, "south")
    return made


def in_clone(folder: Path, changes: tuple[Change, Change], *, told: bool) -> list[str]:
    made = forked(folder, changes)
    if not told:
        merge_driver.remove(made.plane.layout)
    made.git("merge", "--no-edit", "side", check=False)
    left = made.git("diff", "--name-only", "--diff-filter=U").stdout.split()
    done = subprocess.run(
        [*merge_driver.command().split(" "), "settle"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert made.git("diff", "--name-only", "--diff-filter=U").stdout == ""
    return left


def on_server(folder: Path, changes: tuple[Change, Change], *, attributes: bool) -> list[str]:
    forked(folder, changes)
    bare = folder.with_suffix(".git")
    subprocess.run(("git", "clone", "-q", "--bare", str(folder), str(bare)), check=True)
    if attributes:
        rules = (folder / ".agentplane/.gitattributes").read_text().splitlines()
        lines = [f"/.agentplane{rule}\n" for rule in rules if rule.startswith("/")]
        (bare / "info").mkdir(exist_ok=True)
        (bare / "info/attributes").write_text("".join(lines))
    done = subprocess.run(
        ("git", "merge-tree", "--write-tree", "--name-only", "--no-messages", "main", "side"),
        cwd=bare,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()[1:] if done.returncode == 1 else []


def measured(folder: Path, scenario: str) -> dict[str, list[str]]:
    """The files in conflict, by the place of the merge."""
    changes = SCENARIOS[scenario]
    return {
        PLACES[0]: in_clone(folder / "told", changes, told=True),
        PLACES[1]: in_clone(folder / "untold", changes, told=False),
        PLACES[2]: on_server(folder / "attributes", changes, attributes=True),
        PLACES[3]: on_server(folder / "plain", changes, attributes=False),
    }


def main() -> None:
    rows = {}
    for scenario in SCENARIOS:
        with tempfile.TemporaryDirectory() as folder:
            rows[scenario] = measured(Path(folder), scenario)
        print(scenario)
        for place, names in rows[scenario].items():
            print(f"  {place}: {len(names)}  {' '.join(names)}")
    print(
        json.dumps({name: {place: len(names) for place, names in row.items()} for name, row in rows.items()})
    )


if __name__ == "__main__":
    main()
