"""A clone that has a module, a package or a program of every name that agentplane could load from it."""

import asyncio
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.terminal import typed
from tests.e2e.tmux import Tmux
from tests.plane.branches import Repository, new, with_driver


PROGRAM = str(Path(sys.executable).with_name("agentplane"))
PACKAGE = Path(__file__).parents[2] / "agentplane"


def dependencies() -> set[str]:
    """Names of the distributions that agentplane needs, and of those that they need."""
    found: set[str] = set()
    ahead = ["agentplane-memory"]
    while ahead:
        name = ahead.pop()
        try:
            needed = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        names = {re.split(r"[^\w.-]", one, maxsplit=1)[0].lower() for one in needed}
        ahead += names - found
        found |= names
    return found


def module_names() -> set[str]:
    wanted = {re.sub(r"[-_.]+", "-", name) for name in dependencies()}
    packages = importlib.metadata.packages_distributions().items()
    theirs = {
        module
        for module, owners in packages
        if any(re.sub(r"[-_.]+", "-", owner.lower()) in wanted for owner in owners)
    }
    return theirs | set(sys.stdlib_module_names) | {"sitecustomize", "usercustomize"}


def trap(path: Path, seen: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"open({str(seen)!r}, 'a').write({str(path)!r} + '\\n')\n")


def program(path: Path, seen: Path) -> None:
    path.write_text(f"#!/bin/sh\necho {path} >> {seen}\nexit 1\n")
    path.chmod(0o755)


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[Path]:
    """What was loaded from the clone: one line each. At the end it has to be empty."""
    path = tmp_path / "seen"
    yield path
    assert not path.exists(), path.read_text()


@pytest.fixture
def clone(tmp_path: Path, seen: Path) -> Repository:
    made = new(tmp_path / "project", "Use Textual.")
    names = sorted(module_names() - {"__main__"})
    assert {"msgspec", "yaml", "textual", "json", "typing"} <= set(names)
    for name in names:
        trap(made.folder / f"{name}.py", seen)
    for name in ("__init__", "__main__", "cli/__init__", "cli/start", "tui/__init__", "tui/served"):
        trap(made.folder / "agentplane" / f"{name}.py", seen)
    made.commit("traps")
    return made


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return {**kept, **more}


def run(folder: Path, *words: str, env: Mapping[str, str] | None = None, piped: str = "") -> str:
    done = subprocess.run(
        (PROGRAM, *words), cwd=folder, env=env or environment(), input=piped, capture_output=True, text=True, timeout=120
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_traps_work(clone: Repository, seen: Path) -> None:
    subprocess.run((sys.executable, "-c", "import json"), cwd=clone.folder, env=environment(), stderr=-3)
    assert "json.py" in seen.read_text()
    seen.unlink()


def test_commands_hooks_and_runs(clone: Repository) -> None:
    run(clone.folder, "badge")
    run(clone.folder, "status")
    run(clone.folder, "doctor")
    run(clone.folder, "restart")
    call = json.dumps({"session_id": "s", "cwd": str(clone.folder), "source": "startup"})
    for event in ("session-start", "prompt", "stop", "session-end"):
        run(clone.folder, "hook", event, "--tool", "claude-code", piped=call)
    run(clone.folder, "run", "--", "true")
    # A terminal has a leader of its own, which is a Python process.
    assert typed(("run", "--", "true"), clone.folder, env={"PYTHONPATH": ""}, program=(PROGRAM,)).code == 0


def test_mcp(clone: Repository) -> None:
    start = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "context", "arguments": {}}}
    said = "".join(json.dumps(one) + "\n" for one in (start, call))
    assert '"id":1' in run(clone.folder, "mcp", piped=said).replace(" ", "")


def test_a_merge_by_git(clone: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    with_driver(clone)
    monkeypatch.setenv(
        "PYTHONPATH", ":"
    )  # an empty element is the current folder, as left by `PYTHONPATH=$PYTHONPATH:x`
    clone.branch("side")
    clone.approve("Deploys wait for the bank.")
    clone.checkout("main")
    clone.approve("Buttons have round corners.")
    clone.git("merge", "--no-edit", "side")
    clone.looks_well()
    assert len(clone.statements()) == 3


def test_init_replaces_a_driver_that_is_not_isolated(tmp_path: Path) -> None:
    made = with_driver(new(tmp_path / "project", "Use Textual."))
    right = made.git("config", "merge.agentplane.driver").stdout
    made.git("config", "merge.agentplane.driver", right.replace(" -I ", " ").strip())
    with_driver(made)
    assert made.git("config", "merge.agentplane.driver").stdout == right


@pytest.mark.skipif(not os.path.exists("/usr/bin/tmux"), reason="tmux is not installed")
def test_the_screens(clone: Repository, tmp_path: Path) -> None:
    from tests.e2e import tmux

    env = environment()
    before = tmux.AGENTPLANE
    tmux.AGENTPLANE = (PROGRAM,)
    try:
        screens = Tmux(clone.folder, tmp_path / "tmux", (100, 30), env)
        try:
            screens.wait_for("Inbox")
            screens.press("2")
            screens.wait_for("Use Textual.")
        finally:
            screens.close()
    finally:
        tmux.AGENTPLANE = before


def test_the_screens_in_a_browser(clone: Repository) -> None:
    pytest.importorskip("textual_serve", reason="the extra `web` is not installed")
    import aiohttp

    from tests.tui.web.test_server import Served, cookie_of

    served = Served(clone.plane, program=(PROGRAM,), PYTHONPATH="")

    async def steps() -> bytes:
        cookies = await cookie_of(served)
        said = b""
        async with (
            aiohttp.ClientSession(cookies=cookies) as client,
            client.ws_connect(
                f"{served.base}/ws?width=80&height=24", headers={"Origin": served.base}
            ) as page,
            asyncio.timeout(120),
        ):
            async for message in page:
                said += message.data if isinstance(message.data, bytes) else b""
                if b"Inbox" in said:
                    break
        return said

    try:
        assert b"Inbox" in asyncio.run(steps())
    finally:
        served.close()


@pytest.mark.parametrize("first", ["", ".", "bin"])
def test_programs_of_the_clone(tmp_path: Path, seen: Path, first: str) -> None:
    """PATH with an element that names the folder where a process happens to be."""
    made = new(tmp_path / "project", "Use Textual.")
    for folder in {made.folder, made.folder / "bin", made.folder / ".agentplane"}:
        folder.mkdir(exist_ok=True)
        for name in ("git", "ssh-keygen", "vi", "python", "python3", "agentplane", "claude"):
            program(folder / name, seen)
    env = environment(PATH=f"{first}:{os.environ['PATH']}")
    for words in (
        ("status",),
        ("doctor",),
        ("settle",),
        ("check", "HEAD"),
        ("tools",),
        ("run", "--", "/bin/true"),
    ):
        subprocess.run((PROGRAM, *words), cwd=made.folder, env=env, capture_output=True, timeout=120)
    typed(("edit", "DEC-001"), made.folder, env={**env, "EDITOR": "true"}, program=(PROGRAM,))


def test_one_place_makes_the_command_lines_of_python() -> None:
    """`sys.executable` in another module would be a Python that is perhaps not isolated."""
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "executable" in path.read_text() and _names_python(path)
    }
    assert users == {"system/programs.py"}


def _names_python(path: Path) -> bool:
    import ast

    tree = ast.parse(path.read_text())
    attributes = any(
        isinstance(node, ast.Attribute) and node.attr in {"executable", "_base_executable"}
        for node in ast.walk(tree)
    )
    names = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "sys"
        and any(one.name == "executable" for one in node.names)
        for node in ast.walk(tree)
    )
    return attributes or names
