"""Changes that look large and leave the evidence true, and repositories in which that is hard to tell.

"unchanged", "reformatted" and "moved" are right. "can't tell" is no false alarm, and is counted.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import NamedTuple

from agentplane.curate.anchors import compare
from agentplane.curate.anchors.observe import observe
from agentplane.curate.anchors.tree import WorkTree
from agentplane.curate.recorded import Observed
from tests.bench.curator.mutations import Files, commit, sample, write
from tests.bench.curator.releases import git
from tests.bench.curator.samples import LANGUAGES


class Harmless(NamedTuple):
    title: str
    evidence: str
    before: Files
    steps: tuple[Files, ...]
    """The files after each commit."""
    after: Callable[[Path], None] | None = None
    """What is done to the repository at the end."""


def _files(language: str) -> dict[str, str]:
    return dict(sample(LANGUAGES[language]).files)


def _edited(files: Files, path: str, change: Callable[[str], str], to: str | None = None) -> Files:
    rest = {name: text for name, text in files.items() if name != path}
    changed = change(files[path])
    assert to or changed != files[path], path
    return {**rest, to or path: changed}


def _reindented(width: int, by: str) -> Callable[[str], str]:
    unit = " " * width if by != "\t" else "\t"

    def change(text: str) -> str:
        return re.sub(
            r"^(?:    |  |\t)+",
            lambda found: unit * _depth(found[0], text),
            text,
            flags=re.MULTILINE,
        )

    return change


def _depth(space: str, text: str) -> int:
    step = (
        4 if re.search(r"^    \S", text, re.MULTILINE) and not re.search(r"^  \S", text, re.MULTILINE) else 2
    )
    return len(space) if "\t" in space else len(space) // step


def _rewritten(project: Path) -> None:
    """Give all commits another name, and forget the old ones."""
    git(project, "checkout", "-q", "--orphan", "rewritten")
    git(project, "commit", "-q", "--allow-empty", "-m", "All in one", day=9)
    git(project, "branch", "-D", "main")
    git(project, "reflog", "expire", "--expire=now", "--all")
    git(project, "gc", "-q", "--prune=now")


def _shallow(project: Path) -> None:
    copy = project.with_name("shallow")
    subprocess.run(("git", "clone", "-q", "--depth=1", f"file://{project}", str(copy)), check=True)
    _replace(project, copy)


def _without_git(project: Path) -> None:
    shutil.rmtree(project / ".git")


def _with_crlf(project: Path) -> None:
    for path in project.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _replace(project: Path, by: Path) -> None:
    shutil.rmtree(project)
    by.rename(project)


def _cases() -> Iterator[Harmless]:
    python, script, java = _files("python"), _files("typescript"), _files("java")
    retry, lru = "billing/retry.py", "src/cache/lru.ts"
    forms = {
        "symbol": f"{retry}#next_delay",
        "lines": f"{retry}:24-33",
    }
    two_moves = (
        _edited(python, retry, str, "billing/backoff.py"),
        _edited(python, retry, str, "lib/backoff.py"),
    )
    for form, evidence in forms.items():
        yield Harmless(f"renamed twice, {form}", evidence, python, two_moves)
        yield Harmless(
            f"renamed, then lines above, {form}",
            evidence,
            python,
            (
                two_moves[0],
                _edited(python, retry, lambda text: f"# Copyright\n\n{text}", "billing/backoff.py"),
            ),
        )
        yield Harmless(
            f"a module becomes a package, {form}",
            evidence,
            python,
            (_edited(python, retry, str, "billing/retry/__init__.py"),),
        )
        yield Harmless(
            f"reindented with tabs, {form}",
            evidence,
            python,
            (_edited(python, retry, _reindented(1, "\t")),),
        )
        for title, after in (
            ("history rewritten", _rewritten),
            ("a shallow clone", _shallow),
            ("no Git", _without_git),
            ("other line ends", _with_crlf),
        ):
            yield Harmless(f"{title}, {form}", evidence, python, (), after)
        yield Harmless(f"renamed, history rewritten, {form}", evidence, python, (two_moves[0],), _rewritten)
        yield Harmless(f"renamed, a shallow clone, {form}", evidence, python, (two_moves[0],), _shallow)
        yield Harmless(
            f"the rest of the file rewritten, {form}",
            evidence,
            python,
            (
                _edited(
                    python,
                    retry,
                    lambda text: (
                        text[text.index("def next_delay") - 40 : text.index("def with_retries")]
                        + "\n\ndef other():\n    return None\n"
                    ),
                ),
            ),
        )
    for title, width, by in (("with 4 spaces", 4, " "), ("with tabs", 1, "\t")):
        for evidence in (f"{lru}#LruCache.put", f"{lru}:33-45"):
            yield Harmless(
                f"TypeScript reindented {title}: {evidence}",
                evidence,
                script,
                (_edited(script, lru, _reindented(width, by)),),
            )
    for evidence in ("src/http/retry.ts#nextDelay", "src/http/retry.ts:22-30"):
        yield Harmless(
            f"single quotes: {evidence}",
            evidence,
            script,
            (_edited(script, "src/http/retry.ts", lambda text: text.replace('"', "'")),),
        )
        yield Harmless(
            f"no semicolons: {evidence}",
            evidence,
            script,
            (_edited(script, "src/http/retry.ts", lambda text: re.sub(r";$", "", text, flags=re.MULTILINE)),),
        )
    service = "src/main/java/com/acme/orders/OrderService.java"
    for evidence in (f"{service}#OrderService.cancel", f"{service}:31-44"):
        yield Harmless(
            f"Java reindented with 2 spaces: {evidence}",
            evidence,
            java,
            (_edited(java, service, _reindented(2, " ")),),
        )
        yield Harmless(
            f"the methods in another order: {evidence}",
            evidence,
            java,
            (_edited(java, service, _open_orders_first),),
        )


def _open_orders_first(text: str) -> str:
    """Move the last method to the front."""
    start, end = text.index("    public List<Order> openOrders"), text.rindex("}\n")
    method = text[start:end]
    rest = text[:start] + text[end:]
    return rest.replace("    public Order place", f"{method}\n    public Order place")


CASES: tuple[Harmless, ...] = tuple(_cases())


def state_of(case: Harmless) -> compare.State:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "project"
        project.mkdir()
        git(project, "init", "-q", "-b", "main")
        write(project, {}, case.before)
        first = commit(project, "Base", 0)
        observed = Observed(date(2026, 1, 1), first, tuple(observe([case.evidence], WorkTree(project))))
        files: Mapping[str, str] = case.before
        for day, after in enumerate(case.steps, 1):
            write(project, files, after)
            commit(project, f"Day {day}", day)
            files = after
        if case.after:
            case.after(project)
        (state,) = compare.states(observed, project)
        return state
