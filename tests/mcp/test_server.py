"""The server as a process: what can be read and asked of it, which run it belongs to, what it does not do, its end."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsResult, Root

import agentplane.mcp
from agentplane.api import Plane
from agentplane.mcp import stdio
from agentplane.mcp.client import tool_named
from tests.conftest import decision, plane_in
from tests.e2e.terminal import AGENTPLANE
from tests.mcp.conftest import Raw, call, talk, until


Start = Callable[..., Raw]


def test_initialize_is_answered_without_a_plane(tmp_path: Path, raw: Start) -> None:
    server = raw(tmp_path)
    answer = server.greet()["result"]
    assert answer["serverInfo"]["name"] == "agentplane"
    assert set(answer["capabilities"]) == {"tools", "resources", "prompts"}
    assert "person reviews" in answer["instructions"]
    server.ask(1, "tools/list")
    assert len(server.answer(1)["result"]["tools"]) == 4
    assert os.listdir(tmp_path) == []


def test_resources_are_listed_and_read(shelf: Plane) -> None:
    run_id = shelf.write_log({"summary": "Tried five retries.", "tool": "codex"})

    async def said(client: Client) -> dict[str, str]:
        page = await client.list_resources()
        templates = await client.list_resource_templates()
        assert [one.uri_template for one in templates.resource_templates] == [
            "agentplane://entry/{id}",
            "agentplane://run/{run_id}",
        ]
        addresses = [one.uri for one in page.resources]
        assert page.next_cursor is None
        texts = {}
        for uri in [*addresses, f"agentplane://run/{run_id}"]:
            (content,) = (await client.read_resource(uri)).contents
            texts[uri] = content.text  # type: ignore[union-attr]
        return texts

    texts = talk(shelf.layout.project, said)
    assert "Use PostgreSQL for the ledger." in texts["agentplane://pack"]
    assert "Money needs transactions." in texts["agentplane://entry/DEC-001"]
    assert "- approved by: Ada" in texts["agentplane://entry/DEC-001"]
    assert json.loads(texts["agentplane://runs"])[0]["run_id"] == run_id
    assert "Tried five retries." in texts[f"agentplane://run/{run_id}"]
    assert {f"agentplane://entry/DEC-00{number}" for number in (1, 2, 3)} <= set(texts)


def test_many_entries_come_in_pages(plane: Plane) -> None:
    ids = [plane.propose(decision(f"Service number {number} keeps its own tables.")) for number in range(3)]
    plane.inbox.approve(ids[:1])
    folder = plane.layout.project
    text = (plane.layout.memory / "decisions.md").read_text()
    more = [text.replace("DEC-001", f"DEC-{number:03d}") for number in range(2, 232)]
    (plane.layout.memory / "decisions.md").write_text("\n".join([text, *more]))
    plane.memory.adopt()

    async def said(client: Client) -> list[int]:
        counts, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            counts.append(len(page.resources))
            cursor = page.next_cursor
            if cursor is None:
                return counts

    assert talk(folder, said) == [102, 100, 31]


def test_what_is_served_was_approved(shelf: Plane) -> None:
    """Neither a candidate nor an edit by hand can be read."""
    waiting = shelf.propose(decision("Queues run on Redis."))
    path = shelf.layout.memory / "decisions.md"
    path.write_text(path.read_text().replace("PostgreSQL", "MySQL"))

    async def said(client: Client) -> tuple[str, str]:
        with pytest.raises(MCPError, match="is a candidate"):
            await client.read_resource(f"agentplane://entry/{waiting}")
        (entry,) = (await client.read_resource("agentplane://entry/DEC-001")).contents
        (pack,) = (await client.read_resource("agentplane://pack")).contents
        return entry.text, pack.text  # type: ignore[union-attr]

    for text in talk(shelf.layout.project, said):
        assert "PostgreSQL" in text
        assert "MySQL" not in text


@pytest.mark.parametrize(
    "uri",
    [
        "agentplane://entry/DEC-999",
        "agentplane://entry/../../etc/passwd",
        "agentplane://run/20260101T000000Z-abcdef",
        "agentplane://run/..",
        "agentplane://inbox",
        "file:///etc/passwd",
    ],
)
def test_what_is_not_there_is_an_error(shelf: Plane, uri: str) -> None:
    async def said(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        assert caught.value.error.code == -32002

    talk(shelf.layout.project, said)


def test_the_prompt_asks_for_proposals(shelf: Plane) -> None:
    async def said(client: Client) -> str:
        (listed,) = (await client.list_prompts()).prompts
        found = await client.get_prompt(listed.name, {"task": "retries"})
        return found.messages[0].content.text  # type: ignore[union-attr]

    text = talk(shelf.layout.project, said)
    assert "retries" in text
    assert all(f"`{tool}`" in text for tool in ("recall", "propose", "record"))


def test_nothing_in_the_door_approves() -> None:
    """No module of it names a verb that decides."""
    deciding = ("approve", "adopt", "revert", "reject", "deprecate", "undo", "redo", "merge", "prune", "edit")
    for path in Path(agentplane.mcp.__path__[0]).glob("*.py"):
        for verb in deciding:
            assert f".{verb}(" not in path.read_text(), (path.name, verb)


def test_no_call_approves_whatever_the_policy_allows(shelf: Plane) -> None:
    """Also where facts may be approved without a person: what a tool says of itself here is not sure."""
    shelf.layout.config.write_text(
        "[policy]\nauto_approve_confidence = 0.0\n[trust]\ntools_may_approve = true\n"
    )
    revision = shelf.status().revision

    async def said(client: Client) -> None:
        fact = {"type": "fact", "statement": "The API answers 429.", "evidence": ["README.md:1"]}
        await client.call_tool("propose", fact)
        await client.call_tool("record", {"facts": ["A deploy takes 40 s."], "receipts": ["README.md:1"]})
        for name in ("approve", "adopt", "undo", "reject", "agentplane_approve"):
            with pytest.raises(MCPError):
                await client.call_tool(name, {"ids": ["CAND-1"]})
        refused = await client.call_tool("propose", {**fact, "confidence": 1.0, "status": "accepted"})
        assert refused.is_error

    talk(shelf.layout.project, said)
    assert shelf.status().revision == revision
    assert len(shelf.memory.read().inbox) == 2
    assert {op.verb for op in shelf.history.ops() if op.channel in ("mcp", "policy")} == {
        "propose",
        "settings",
    }


def test_facts_of_an_open_run_wait_as_well(shelf: Plane) -> None:
    """What is recorded in a run becomes candidates when it is sealed, whatever the policy allows."""
    shelf.layout.config.write_text("[policy]\nauto_approve_confidence = 0.0\n")
    folder, revision = shelf.layout.project, shelf.status().revision
    script = folder / "tool.py"
    script.write_text(
        "from pathlib import Path\n"
        "from tests.mcp.conftest import call\n"
        "told = call(Path('.'), 'record', facts=['A deploy takes 40 s.'], receipts=['README.md:1']).structured_content\n"
        "assert told['open'], told\n"
        "print(call(Path('.'), 'propose', type='decision', statement='Use ruff.').structured_content['id'])\n"
    )
    done = subprocess.run(
        [*AGENTPLANE, "run", "--tool", "codex", "--", sys.executable, str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    memory = shelf.memory.read()
    assert shelf.status().revision == revision
    proposed = memory.get(done.stdout.strip())
    fact = next(entry for entry in memory.inbox if entry.head.type == "fact")
    # Both name the run that the server was part of.
    assert proposed.head.source == fact.head.source
    assert proposed.head.source is not None


def test_the_plane_is_found_by_the_roots_of_the_client(shelf: Plane, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    async def roots(_context: object) -> ListRootsResult:
        return ListRootsResult(
            roots=[
                Root(uri=elsewhere.as_uri()),
                Root(uri=shelf.layout.project.as_uri()),
            ]
        )

    found: list[str] = []

    async def one(client: Client) -> None:
        told = await client.call_tool("recall", {"query": "ledger"})
        found.append(told.structured_content["results"][0]["id"])

    async def said(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(one, client)

    talk(elsewhere, said, list_roots_callback=roots)
    assert found == ["DEC-001"] * 4


def test_the_plane_is_named_by_variable_or_option(shelf: Plane, tmp_path: Path, raw: Start) -> None:
    root = str(shelf.layout.root)
    found = call(tmp_path, "recall", query="ledger", env={"AGENTPLANE_PLANE": root})
    assert not found.is_error
    server = raw(tmp_path, "--plane", root)
    server.greet()
    server.ask(1, "tools/call", name="recall", arguments={"query": "ledger"})
    assert server.answer(1)["result"]["structuredContent"]["results"]
    gone = call(tmp_path, "recall", query="x", env={"AGENTPLANE_PLANE": str(tmp_path / "none")})
    assert "Directory not found" in gone.structured_content["refused"]


def test_a_plane_may_come_and_go(git_project: Path) -> None:
    async def said(client: Client) -> list[bool]:
        async def failed() -> bool:
            return bool((await client.call_tool("recall", {"query": "ledger"})).is_error)

        before = await failed()
        plane_in(git_project)
        between = await failed()
        shutil.rmtree(git_project / ".agentplane")
        return [before, between, await failed()]

    assert talk(git_project, said) == [True, False, True]


def test_a_damaged_or_locked_plane_is_an_answer(shelf: Plane) -> None:
    shelf.layout.config.write_text("[write]\nlock_timeout = 0.2\n")
    folder = shelf.layout.project
    with shelf.store._locked():
        locked = call(folder, "propose", type="decision", statement="Use ruff.")
    assert locked.is_error
    shelf.layout.config.write_text("[nonsense\n")
    broken = call(folder, "recall", query="x")
    assert broken.is_error
    assert "config.toml" in broken.structured_content["where"]


def test_two_servers_at_once_lose_nothing(shelf: Plane) -> None:
    folder, each = shelf.layout.project, 6

    async def many(name: str) -> None:
        from tests.mcp.conftest import client

        async with client(folder, name=name) as connected:
            for number in range(each):
                statement = f"Module {name}{number} has an owner named in its header."
                told = await connected.call_tool("propose", {"type": "decision", "statement": statement})
                assert not told.is_error, told

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(many, "alpha")
            tasks.start_soon(many, "beta")

    anyio.run(both)
    assert len(shelf.memory.read().inbox) == 2 * each
    assert shelf.memory.read().hand_edits == []
    assert not shelf.is_damaged()


def test_progress_is_told_and_the_loop_stays_free(shelf: Plane) -> None:
    seen: list[str | None] = []

    async def told(_progress: float, _total: float | None, message: str | None) -> None:
        seen.append(message)

    async def said(client: Client) -> None:
        with shelf.store._locked():
            async with anyio.create_task_group() as tasks:
                for _ in range(12):
                    tasks.start_soon(_propose, client)
                # The proposals wait for the plane; all else is answered meanwhile.
                await anyio.sleep(0.3)
                await client.list_tools()
                assert not (await client.call_tool("recall", {"query": "ledger"})).is_error
                tasks.cancel_scope.cancel()
            # Messages are heard in order: what is answered here was asked after the others had been cancelled.
            assert not (await client.call_tool("recall", {"query": "ledger"})).is_error
        await client.call_tool(
            "propose", {"type": "decision", "statement": "Use ty."}, progress_callback=told
        )

    async def _propose(client: Client) -> None:
        await client.call_tool("propose", {"type": "decision", "statement": "Use ruff."})

    talk(shelf.layout.project, said)
    assert seen == ["reading memory", "checking the proposal", "writing", "looking for conflicts"]
    # The others were cancelled before anything was written.
    assert [entry.statement for entry in shelf.memory.read().inbox] == ["Use ty."]


def test_what_is_no_message_is_answered_and_passed_over(shelf: Plane, raw: Start) -> None:
    server = raw(shelf.layout.project)
    server.greet()
    for line, code in (
        (b"{not json", -32700),
        (b"\xff\xfe\x00", -32700),
        (b"[" * 100_000, -32700),
        (b"[1, 2]", -32600),
        (b'{"jsonrpc": "2.0", "id": 7}', -32600),
        (b'{"id": 7, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 9999999999999999999999, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}', -32602),
        # As JavaScript and Python write a text that was cut within a character, and a number that is none.
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\\ud83d"}}', -32700),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": NaN}}', -32700),
        (b'{"jsonrpc": "2.0", "id": "\\ud83d", "method": "ping"}', -32700),
        (b'"' + b"x" * (stdio.LONGEST + 100) + b'"', -32600),
    ):
        server.send(line)
        answer = server.read()
        assert answer["error"]["code"] == code, (line[:40], answer)
        assert answer["id"] == (7 if b'"id": 7' in line else None)
    server.send(b"")
    server.ask(8, "tools/call", name="recall", arguments={"query": "ledger"})
    assert server.answer(8)["result"]["structuredContent"]["results"]
    server.ask(9, "no/such", x=1)
    assert server.answer(9)["error"]["code"] == -32601


def test_only_the_protocol_is_on_stdout(shelf: Plane, raw: Start) -> None:
    (shelf.layout.project / ".git" / "config").write_text("[broken\n")  # git complains, loudly
    server = raw(shelf.layout.project)
    server.greet()
    server.ask(1, "tools/call", name="propose", arguments={"type": "decision", "statement": "Use ruff."})
    server.answer(1)
    server.stdin.close()
    rest = server.stdout.read()
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert server.ended() == 0


def test_it_ends_when_the_client_closes_the_pipe(shelf: Plane, raw: Start) -> None:
    server = raw(shelf.layout.project)
    server.greet()
    server.stdin.close()
    assert server.ended() == 0
    assert b"Traceback" not in server.process.stderr.read()  # type: ignore[union-attr]


def test_it_ends_when_nobody_reads_any_more(shelf: Plane, raw: Start) -> None:
    """The client keeps its end for writing open, but is gone as a reader."""
    server = raw(shelf.layout.project)
    server.greet()
    server.stdout.close()
    server.ask(1, "tools/list")
    assert server.ended() == 0
    assert b"Traceback" not in server.process.stderr.read()  # type: ignore[union-attr]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(shelf: Plane, raw: Start, number: signal.Signals) -> None:
    server = raw(shelf.layout.project)
    server.greet()
    server.process.send_signal(number)
    assert server.ended() == 0
    assert server.process.stderr.read() == b""  # type: ignore[union-attr]


def test_a_signal_ends_it_also_where_the_client_reads_nothing(shelf: Plane, raw: Start) -> None:
    """Its answers fill the pipe, and the write of the next one hangs."""
    server = raw(shelf.layout.project)
    server.greet()
    for number in range(1, 60):
        server.ask(number, "tools/list")
    time.sleep(1)
    assert server.process.poll() is None
    server.process.terminate()
    assert server.ended() == 0


def test_a_change_in_progress_is_completed_before_the_end(shelf: Plane, raw: Start) -> None:
    for number in range(8):
        server = raw(shelf.layout.project)
        server.greet()
        statement = f"Queue {number} has one reader only."
        server.ask(1, "tools/call", name="propose", arguments={"type": "decision", "statement": statement})
        time.sleep(0.05 * number)
        server.stdin.close()
        assert server.ended() == 0
    assert not shelf.is_damaged()
    assert shelf.memory.read().hand_edits == []


def test_killed_servers_leave_a_sound_plane(shelf: Plane, raw: Start) -> None:
    server = raw(shelf.layout.project)
    server.greet()
    server.ask(1, "tools/call", name="propose", arguments={"type": "decision", "statement": "Use ruff."})
    server.process.kill()
    server.ended()
    until(lambda: not shelf.is_damaged())
    assert shelf.memory.read().hand_edits == []


@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("codex-mcp-client", "codex"),
        ("claude-code", "claude-code"),
        ("gemini-cli-mcp-client-agentplane", "gemini-cli"),
        ("Cursor", "cursor"),
        ("Visual Studio Code", "copilot"),
        ("my agent", "my agent"),
        ("\x1b[31m<b>x</b>" + "y" * 100, "x"),
        ("  ", None),
    ],
)
def test_clients_are_known_by_what_they_call_themselves(said: str, tool: str | None) -> None:
    found = tool_named(said)
    if tool == "x":
        assert found
        assert len(found) <= 40
        assert found.isprintable()
        assert "<" not in found
    else:
        assert found == tool
