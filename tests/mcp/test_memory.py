"""What a server has in memory: parts of libraries that it does not use, copies of files, and results of single statements."""

import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentplane.api import Plane, open_plane
from agentplane.claims.features.sentence_vectors import sense
from agentplane.claims.parse.vocabulary import MEMBERS
from agentplane.match.words import _forms
from agentplane.mcp import handlers, library, limits
from agentplane.mcp import tools as asked_of
from agentplane.mcp.session import Session
from agentplane.plane.derived import badge_counts, badge_stamp, server_memory
from agentplane.plane.store import pages
from agentplane.review.conflicts.shortlist import FEW
from agentplane.text import files
from tests.bench import propose as bench


UNUSED = {
    "cryptography",
    "httpx",
    "httpx2",
    "uvicorn",
    "mcp.client",
    "mcp.server.mcpserver",
    "numpy.ma",
    "textual",
    "rich",
    "tokenizers",
    "wordllama",
    "markdown_it",
}

_SERVES = """
import json, sys
from agentplane.mcp import fast_handshake
fast_handshake.load_meanwhile()
import threading
for thread in threading.enumerate():
    if thread.name == "library":
        thread.join()
from agentplane.mcp import handlers, limits, stdio, tools
from agentplane.mcp.session import Session
limits.begin()
from agentplane.api import open_plane
plane = open_plane(sys.argv[1], channel="mcp", actor="codex")
asked = tools.ProposeArguments(type="decision", statement="Reports are written as CSV files.")
handlers.propose(Session(plane, None, {}, {}, {}), asked)
print(json.dumps(sorted(sys.modules)))
"""

_ASKS = """
import sys
import agentplane.mcp
import mcp
loaded = "mcp.client" in sys.modules
assert mcp.types.Tool and "mcp.client" not in sys.modules
from mcp import Client
from mcp.server import MCPServer, Server
import mcp.server.lowlevel.server as low
assert mcp.Client is Client and low.Server is Server and "Client" in mcp.__all__
try:
    mcp.nothing
except AttributeError:
    print("whole" if not loaded else "loaded at once")
"""


def _said(code: str, *words: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def serving() -> Iterator[None]:
    server_memory.serve(4)
    yield
    server_memory.serve(0)


def _propose(plane: Plane, statement: str) -> dict[str, Any]:
    opened = open_plane(plane.layout.root, channel="mcp", actor="codex")
    asked = asked_of.ProposeArguments(type="decision", statement=statement)
    return handlers.propose(Session(opened, None, {}, {}, {}), asked)


def test_a_server_loads_only_what_it_uses(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", FEW + 20, bench.made_up())
    loaded = set(json.loads(_said(_SERVES, str(plane.layout.root))))
    assert {"mcp.server.lowlevel.server", "agentplane.match.corpus"} <= loaded
    assert UNUSED & loaded == set()


def test_whoever_asks_the_library_for_more_gets_it() -> None:
    assert _said(_ASKS) == "whole"


def test_a_package_that_is_loaded_is_never_hidden() -> None:
    with library.without("json"):
        import json as again
    assert again is json
    with library.without("no_such_package_at_all"), pytest.raises(ImportError):
        __import__("no_such_package_at_all")
    assert "no_such_package_at_all" not in sys.modules


@pytest.mark.usefixtures("serving")
def test_an_entry_is_no_copy_of_its_file(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", 40, bench.made_up())
    memory = plane.memory.read()
    for entry in memory.shelf:
        page = memory.snapshot.pages[entry.file]
        block = page.document.find(entry.id)
        assert entry.text is page.document.data
        assert block is not None
        assert entry.digest is memory.snapshot.ledger.known[entry.id].digest
        assert entry.header + entry.raw == page.document.data[block.head : block.end]


def test_entries_are_equal_by_what_they_say(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", 3, bench.made_up())
    one = plane.memory.read().shelf[0]
    page = plane.memory.read().snapshot.pages[one.file]
    (other,) = plane.memory.read().entries_in(page.document.core(page.document.find(one.id)), one.file)  # type: ignore[arg-type]
    assert (other.raw, other.header, other.line) == (one.raw, one.header, 1)
    assert other != one  # its line is another
    again = plane.memory.read().shelf[0]
    assert again == one
    assert hash(again) == hash(one)
    assert one.with_text(b"Other words.", one.head) != one
    assert one.with_text(b"Other words.", one.head).header == b""


@pytest.mark.usefixtures("serving")
def test_a_proposal_compares_each_file_at_most_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plane = bench.make(tmp_path / "plane", FEW + 20, bench.made_up())
    for statement in bench.made_up()[-4:]:
        _propose(plane, statement)
    compared: Counter[str] = Counter()
    holds = files.holds

    def counted(path: Any, data: bytes) -> bool:
        compared[os.path.basename(path)] += 1
        return holds(path, data)

    monkeypatch.setattr(pages.files, "holds", counted)
    _propose(plane, bench.made_up()[-5])
    shelf = {name: count for name, count in compared.items() if name != "candidates.md"}
    assert set(shelf) == {"decisions.md", "invariants.md", "facts.md", "assumptions.md"}
    assert max(shelf.values()) <= 2


def test_the_same_counts_are_not_written_twice(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", 5, bench.made_up())
    kept = plane.layout.cache / badge_stamp.KEPT
    plane.inbox.badge()
    before = kept.stat().st_ino, kept.read_bytes()
    plane.inbox.badge()
    assert (kept.stat().st_ino, kept.read_bytes()) == before
    memory = plane.memory.read()
    shas = {file: page.sha256 for file, page in memory.snapshot.pages.items()}
    badge_counts.keep(plane.layout, badge_counts.Badge(7, 0, 0), shas, memory.snapshot.ledger.size)
    assert kept.read_bytes() != before[1]


def test_a_run_copies_the_facts_without_holding_them(tmp_path: Path) -> None:
    plane = bench.make(tmp_path / "plane", 1500, bench.made_up())
    before = plane.layout.state.read_bytes()
    plane.runs.log({"summary": "Warmed up."})
    tracemalloc.start()
    try:
        ledger = plane.store.snapshot().ledger
        tracemalloc.reset_peak()
        begin = tracemalloc.get_traced_memory()[0]
        from agentplane.plane.views import views

        views.follow(plane.layout, ledger, ledger)
        most = tracemalloc.get_traced_memory()[1] - begin
    finally:
        tracemalloc.stop()
    after = plane.layout.state.read_bytes()
    assert after[after.index(b'"facts"') :] == before[before.index(b'"facts"') :]
    assert most < len(after) * 0.75


def test_results_of_whole_statements_go_before_those_of_words() -> None:
    _forms.cache_clear()
    sense.cache_clear()
    for text in bench.made_up()[:300]:
        sense(text)
    for word in list(MEMBERS)[:200]:
        _forms(word)
    limits.after_call()
    assert sense.cache_info().currsize == 0
    assert _forms.cache_info().currsize >= 200
