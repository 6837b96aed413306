"""What every test gets: an environment without the developer's own tools and settings, and planes to work on."""

import gc
import importlib
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from agentplane import extensions
from agentplane.agents.catalog import ANY_TOOL, TOOLS
from agentplane.api import Plane
from agentplane.commands import Propose
from agentplane.memory.proposing import Proposal
from agentplane.plane import create
from agentplane.plane.layout import Layout
from agentplane.plane.origin import Origin
from agentplane.plane.store.plan import Done
from agentplane.plane.store.store import Store
from agentplane.review.confirm import Unconfirmed
from agentplane.review.conflicts.relation import Relation
from agentplane.review.conflicts.resolve import Choice
from agentplane.review.proposals import Offered
from tests.extension_packages import Installed


ROOT = Path(__file__).parents[1]

STATE = os.path.join(tempfile.gettempdir(), f"agentplane-tests-{os.getuid()}")
"""The user's key is made here, not in the home of whoever runs the tests."""
# Fixtures of a whole module are made before those of a test, so this is set for them as well.
os.environ["XDG_STATE_HOME"] = STATE
CONFIG = os.path.join(STATE, "no-config")
"""The folder of the user's own settings, which has none."""
os.environ["XDG_CONFIG_HOME"] = CONFIG
# A hint takes a line of the screen, so the user of most tests has seen all of them.
os.makedirs(os.path.join(STATE, "agentplane"), mode=0o700, exist_ok=True)
Path(STATE, "agentplane", "hints").write_text("approve compare undo\n")

# A command that a shell starts in the background, or nohup(1), ignores these, and so would all that the tests start.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# How long one example takes says more of what else the machine does than of the code.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeat", settings.get_profile("explore"), derandomize=True)


def pytest_configure(config: pytest.Config) -> None:
    """Every run has the same examples. `make test-full` looks for new ones."""
    if config.getoption("--hypothesis-profile") is None:
        settings.load_profile("repeat")
        # Else the texts in the modules that happen to be loaded are tried too, which differ from worker to worker.
        providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import the test modules in a different order in each worker.

    pytest compiles a test module when it is first imported, which takes longer than all else at the start. In the same
    order, all workers would compile all modules at the same time. In this one, each compiles its share for the others.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    paths = sorted({path for argument in session.config.args for path in _test_modules(argument)})
    count, number = worker["workercount"], int(worker["workerid"].removeprefix("gw"))
    for path in paths[number::count]:
        # Collection imports it again, and reports what is wrong.
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _test_modules(argument: str) -> list[Path]:
    path = Path(argument.partition("::")[0]).resolve()
    return list(path.rglob("test_*.py")) if path.is_dir() else [path]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking again and again at the program and the tests, which stay until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def clean_environment() -> dict[str, str]:
    """The environment of this process, without what would change a result."""
    dropped = {name for tool in TOOLS for name in tool.variables} | {ANY_TOOL}
    dropped |= {"CI", "NO_COLOR", "COLORTERM", "VISUAL", "EDITOR", "AGENTPLANE_PLANE"}
    dropped |= {point.variable for point in extensions.POINTS}
    kept = {
        key: value for key, value in os.environ.items() if key not in dropped and not key.startswith("GIT_")
    }
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "Test Person",
        "GIT_AUTHOR_EMAIL": "test@example.test",
        "GIT_COMMITTER_NAME": "Test Person",
        "GIT_COMMITTER_EMAIL": "test@example.test",
        "LC_ALL": "C.UTF-8",
        "AGENTPLANE_BACKGROUND": "0",
        "TERM": "xterm",
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": STATE,
        "XDG_CONFIG_HOME": CONFIG,
    }


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = clean_environment()
    for name in set(os.environ) - set(wanted):
        if name != "PYTEST_CURRENT_TEST":
            monkeypatch.delenv(name)
    for name, value in wanted.items():
        monkeypatch.setenv(name, value)


def plane_in(folder: Path, actor: str = "Ada", channel: str = "terminal") -> Plane:
    """The plane of a folder for one actor; made if it is not there."""
    layout = Layout(root=folder.resolve() / ".agentplane")
    plane = Plane(Store(layout), Origin(actor, channel, "pytest"))
    create.create(plane.store, plane.origin)
    return plane


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def plane(project: Path) -> Plane:
    return plane_in(project)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """The `site-packages` of this process, with no extension."""
    return Installed(tmp_path / "site-packages", monkeypatch)


@pytest.fixture
def git_project(project: Path) -> Path:
    """The project as a repository with one commit."""
    (project / "README.md").write_text("# Project\n")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
        subprocess.run(("git", *words), cwd=project, check=True)
    return project


def decision(statement: str, **more: object) -> Proposal:
    return Proposal(type="decision", statement=statement, **more)  # type: ignore[arg-type]


def offer(plane: Plane, proposal: Proposal, relation: Relation | None = None) -> Offered:
    """Propose as a tool does over MCP."""
    return plane.inbox.offer(Propose(proposal, relation=relation, joins=True))


def approve_seen(plane: Plane, id_: str, choice: Choice | None = None) -> Done:
    """Approves a candidate as a person does who sees what it is flagged for, and confirms it."""
    try:
        return plane.inbox.approve([id_], choice)
    except Unconfirmed as error:
        return plane.inbox.approve([id_], choice, error.confirmation)


UNLIKE = (
    "Reports are written as CSV.",
    "Webhooks carry a signature.",
    "Buttons have round corners.",
    "Amounts are whole cents.",
    "Deploys wait for the bank.",
    "Logs go to standard error.",
)
"""Statements that have nothing to do with one another."""


def files_of(plane: Plane) -> dict[str, bytes]:
    """The bytes of everything that is the plane's truth: not what is derived, nor the history."""
    root = plane.layout.root
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted((root / "memory").glob("*.md"))}
