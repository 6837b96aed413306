"""`agentplane hook EVENT --tool T`, which the hooks of coding tools call.

A tool waits for its hooks, so a hook never fails. The exit code is always 0, and the tool can always read
the answer. Errors go to the plane's cache, for `doctor`. A hook is also quick and loads no library if
nothing changed. Longer work runs in a separate process after the answer.
"""

import os

from agentplane.cli.hooks import process
from agentplane.plane.derived import badge_stamp


TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from agentplane.agents.hooks import Call
    from agentplane.agents.model import Dialect, Tool
    from agentplane.api import Plane
    from agentplane.runs.open.hook_marker import Session
    from agentplane.tools.hooks.start_context import Answer

_SECONDS = 4
"""Seconds after which the tool gets an empty answer. The rest is done without the tool."""
_MEMORY = 4 << 30
"""Bytes of address space. Numeric libraries reserve much of it and use little."""
_FOR_THE_END = 1.0
"""Seconds to wait at the end of a session. Some tools then allow their hooks one and a half seconds."""
_FOR_THE_ANSWER = 0.5
_CHILD_MEMORY = 1 << 30
"""Bytes of address space for the process that reads the memory."""
_DELAY = 0.1
"""Seconds before the work after the answer begins."""
_SOME_WORK = 5
"""Number of calls of its own tools after which a session gets the question."""
_FAILED = f"agentplane: memory could not be read within {_SECONDS} seconds. Run `agentplane doctor`."
_MISSING = (
    "agentplane: memory could not be read: memory/log.jsonl is missing or not readable. "
    "Run `agentplane doctor`."
)
_CALL_NOTES = {"tool": "ran", "failed": "failed", "permission": "asked", "denied": "denied"}
"""The hook events about a single tool call, and the name of each in the run record."""
_QUESTION = (
    "agentplane keeps this project's reviewed memory, and asks this question once per session. Did this session decide "
    "or find out something that later sessions should know? Examples are a decision and its reason, an invariant, an "
    "assumption, or a fact with its evidence. If so, propose it with the MCP tool `propose` or with "
    '`agentplane propose --type decision "..." --rationale "..."`. A person reviews each proposal. Leave out anything '
    "that the memory already contains or that only matters today. If you have nothing to propose, say so in a few words."
)


def answer(words: list[str], plane: str | None = None) -> None:
    """Answer a tool on standard output. Raises nothing."""
    process.keep_streams_apart()
    hook = _Hook(words, plane)
    process.limit(_SECONDS, hook.is_too_long)
    try:
        text = hook.run()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 -- border: a hook never breaks its tool, and logs the error
        hook.failed(error)
        text = hook.failing or hook.empty
    hook.say(text)
    process.limit(0, None)
    for work in hook.later:
        _afterwards(hook, work)


class _Hook:
    """One call of a hook. `later` has the work to do after the answer."""

    def __init__(self, words: list[str], plane: str | None) -> None:
        self.event, self.tool = _event_and_tool(words)
        self.plane = plane or os.environ.get("AGENTPLANE_PLANE")
        self.root: str | None = None
        self.empty = "{}"
        self.failing = ""
        """The answer if the memory can't be read. If this is empty, the answer is `empty`."""
        self.answered = False
        self.later: list[Callable[[], None]] = []

    def run(self) -> str:
        from agentplane.agents.catalog import BY_NAME
        from agentplane.agents.hooks import EVENTS, Call

        tool = BY_NAME.get(self.tool)
        dialect = tool.dialect if tool else None
        self.empty = dialect.empty if dialect else "{}"
        data = process.read_input()
        if tool is None or dialect is None or self.event not in EVENTS:
            known = ", ".join(EVENTS if dialect else (one.name for one in BY_NAME.values() if one.dialect))
            _warn(f"unknown {'event' if dialect else 'tool'}. Use one of these: {known}")
            return self.empty
        try:
            call = Call(data)
        except ValueError as error:
            self.root = _root(self.plane, os.getcwd())
            self.failed(error)
            return self.empty
        folder = os.environ.get(dialect.folder, "") or call.folder or os.getcwd()
        self.root = _root(self.plane, folder)
        if self.root is None:
            return self._without_a_plane(dialect, folder)
        return _EventAnswer(self, self.root, tool, dialect, call, folder).of(self.event)

    def _without_a_plane(self, dialect: "Dialect", folder: str) -> str:
        """Return the empty answer, or at a session's start a warning if the log of a plane can't be read."""
        found = self.plane or badge_stamp.folder_of(os.path.abspath(folder))
        if self.event != "session-start" or not dialect.start or not found:
            return self.empty
        if not badge_stamp.is_out_of_reach(found):
            return self.empty
        from agentplane.agents import hooks

        return hooks.with_context(dialect, _MISSING)

    def say(self, text: str) -> bool:
        """Send the answer once. Return True if the tool got this text."""
        if self.answered:
            return False
        self.answered = True
        rest = text.encode(errors="replace")
        try:
            while rest:
                rest = rest[os.write(1, rest) :]
        except OSError:  # the tool no longer reads
            return False
        return True

    def failed(self, error: BaseException | str) -> None:
        if self.root is not None:
            from agentplane.tools.hooks import error_log

            what = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
            error_log.note(self.root, self.event, self.tool, what)

    def is_too_long(self, _signal: int, _frame: "FrameType | None") -> None:
        """Let the tool continue.

        Work that has begun is finished without the tool, so that the result is ready next time.
        """
        self.say(self.failing or self.empty)
        self.failed(f"took longer than {_SECONDS} seconds")
        if self.event != "session-start" or os.fork():
            os._exit(0)
        process.detach()


class _EventAnswer:
    """The answer to one event in the plane `root`."""

    def __init__(
        self, hook: _Hook, root: str, tool: "Tool", dialect: "Dialect", call: "Call", folder: str
    ) -> None:
        self.hook, self.root, self.call, self.folder = hook, root, call, folder
        self.tool, self.dialect = tool, dialect
        self.enclosing = os.environ.get("AGENTPLANE_RUN_ID", "")
        """The ID of the enclosing `agentplane run`, if the environment is right."""
        self._is_enclosed: bool | None = None

    def of(self, event: str) -> str:
        if event == "session-start":
            return self.start()
        if event == "stop":
            text = self.stop()
            if text == self.dialect.empty and (run_id := self._run()):
                self._turn(run_id, begins=False)
            return text
        if event == "prompt":
            self.prompt()
        elif event in _CALL_NOTES:
            self.note_call(event)
        elif event == "session-end":
            self.end()
        return self.dialect.empty

    def start(self) -> str:
        from agentplane.agents import hooks

        given: Answer | None = None
        text = self.dialect.empty
        if self.dialect.start:
            self.hook.failing = hooks.with_context(self.dialect, _FAILED)
            memory = self._memory()
            given = None if memory is None or isinstance(memory, str) else memory
            context = given.text if given else memory if isinstance(memory, str) else _FAILED
            text = hooks.with_context(self.dialect, context)
        # Answer first, because only text that the tool got is recorded as given.
        self._open(given if self.hook.say(text) else None)
        return text

    def prompt(self) -> None:
        from agentplane.runs.open import hook_notes

        run_id = self._run() or self._begin(None)
        self._turn(run_id, begins=True)
        if text := self.call.prompt:
            hook_notes.prompt(self.root, run_id, text)

    def note_call(self, event: str) -> None:
        from agentplane.runs.open import hook_notes

        run_id = self._run()
        name, path = self.call.called
        if run_id and name:
            shown = self._shown(path)
            if event in ("tool", "failed"):
                hook_notes.call(self.root, run_id, name, shown)
            hook_notes.details(
                self.root, run_id, _CALL_NOTES[event], name, shown, self.call.command, self.call.outcome
            )

    def _shown(self, path: str) -> str:
        """Return a path in a form for the shared log. Paths outside the project keep only the file name."""
        for project in (os.path.dirname(self.root), self.folder):
            path = path.removeprefix(os.path.join(project, ""))
        return f"…/{os.path.basename(path)}" if os.path.isabs(path) else path

    def stop(self) -> str:
        from agentplane.agents import hooks
        from agentplane.runs.open import hook_notes
        from agentplane.runs.open.hook_marker import owner
        from agentplane.system import processes

        if not self.dialect.question or not self.call.is_final:
            return self.dialect.empty
        run_id = self._run()
        if run_id is None or hook_notes.was_asked(self.root, run_id):
            return self.dialect.empty
        if hook_notes.count(self.root, run_id) < _SOME_WORK or not hook_notes.first_time(self.root, run_id):
            return self.dialect.empty
        # A question would replace the answer that a script waits for.
        entry = os.environ.get(self.dialect.entry, "")
        if hooks.is_headless(processes.words(owner(os.getpid())), entry):
            return self.dialect.empty
        wanted = _opened(self.root, self.hook.tool).store.settings().hooks.ask
        return hooks.with_question(self.dialect, _QUESTION) if wanted else self.dialect.empty

    def _turn(self, run_id: str, *, begins: bool) -> None:
        """Record whether the session is working.

        A session that another tool started in its shell is ignored.
        """
        from agentplane.runs.open import hook_marker, hook_notes

        if self.enclosing != run_id or hook_marker.is_of(self.root, run_id, self._session()):
            hook_notes.turn(self.root, run_id, begins=begins)

    def end(self) -> None:
        """Seal the run. The tool waits a moment, and longer work is finished after the tool ends."""
        run_id = None if self._enclosing_run() else self._run()
        if run_id is None:
            return
        reason = self.call.reason
        words = f"The session ended ({reason})" if reason else "The session ended"
        child = process.fork(lambda: _seal(self.root, self.tool, run_id, words), self.hook.failed)
        process.wait(child, _FOR_THE_END)

    def _memory(self) -> "Answer | str | None":
        """Return the memory, or a line with the reason why it couldn't be read."""
        from agentplane.tools.hooks import start_context

        task = os.environ.get("AGENTPLANE_TASK") or None
        if found := start_context.cached(self.root, self.tool, task):
            return found
        made = process.run_apart(lambda: self._made(task), _SECONDS - _FOR_THE_ANSWER, _CHILD_MEMORY)
        if made is None:
            self.hook.failed(
                f"reading the project memory took longer than {_SECONDS} seconds or used too much RAM"
            )
        return start_context.read(made) if made else None

    def _made(self, task: str | None) -> bytes:
        """Return the memory as bytes. This runs in a separate process."""
        from agentplane.tools.hooks import start_context

        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each of its threads takes address space
        try:
            plane = _opened(self.root, self.hook.tool)
            return start_context.written(start_context.make(plane.store, plane.origin, self.tool, task))
        except Exception as error:  # noqa: BLE001 -- border of the child: the session gets the error as a line
            from agentplane.tools.hooks import unreadable

            self.hook.failed(error)
            return start_context.trouble(unreadable.line(error, os.path.dirname(self.root)))

    def _open(self, given: "Answer | None") -> None:
        """Open the run of the session.

        An open run continues, for example after `resume` or `compact`, and under `agentplane run`.
        """
        from agentplane.runs.open import hook_marker, hook_notes

        run_id, session = self._enclosing_run(), self._session()
        if run_id is not None:
            adopted = hook_marker.adopt(self.root, run_id, session, given.given if given else None)
            if adopted and session.source != "compact":
                hook_notes.turn(self.root, run_id, begins=False)
        else:
            goes_on = session.source in ("resume", "compact")
            found = hook_marker.find(self.root, session, new=not goes_on)
            if found is None and goes_on:
                found = hook_marker.of_process(self.root, session)
            if found is not None and hook_marker.is_gone(found) and not session.owns(found):
                found = None  # its process was killed, so its run is sealed in its last state
            if found is None:
                run_id = self._begin(given)
            else:
                run_id = str(found["run_id"])
                session_fields = {
                    "id": session.id,
                    "transcript": session.transcript,
                    "given": given.given if given else None,
                }
                hook_marker.change(
                    self.root, run_id, session={key: value for key, value in session_fields.items() if value}
                )
                hook_marker.point(self.root, session, run_id)
        if given is not None:
            hook_notes.receipt(self.root, run_id, given.receipt)

    def _begin(self, given: "Answer | None") -> str:
        from agentplane.runs.open import hook_marker

        task = os.environ.get("AGENTPLANE_TASK") or None
        run_id = hook_marker.begin(self.root, self._session(), given.given if given else None, task)
        self.hook.later.append(lambda: _complete(self.root, self.hook.tool, run_id))
        return run_id

    def _run(self) -> str | None:
        """Return the ID of the run that this call belongs to."""
        from agentplane.runs.open import hook_marker

        if run_id := self._enclosing_run():
            return run_id
        session = self._session()
        found = hook_marker.find(self.root, session)
        if found is None:
            return None
        run_id = str(found["run_id"])
        if not session.owns(found) and hook_marker.is_gone(found):
            hook_marker.change(self.root, run_id, pid=session.pid, born=session.started_at)
        return run_id

    def _enclosing_run(self) -> str | None:
        from agentplane.runs.open import hook_marker

        if self._is_enclosed is None:
            self._is_enclosed = bool(self.enclosing) and hook_marker.encloses(self.root, self.enclosing)
        return self.enclosing if self._is_enclosed else None

    def _session(self) -> "Session":
        from agentplane.runs.open.hook_marker import Session, owner

        call = self.call
        return Session(
            self.hook.tool, call.session, owner(os.getpid()), self.folder, call.source, call.transcript
        )


def _event_and_tool(words: list[str]) -> tuple[str, str]:
    """Return the event and the tool on a command line."""
    tool, rest, expected = "", [], False
    for word in words:
        if expected:
            tool, expected = word, False
        elif word == "--tool":
            expected = True
        elif word.startswith("--tool="):
            tool = word.removeprefix("--tool=")
        else:
            rest.append(word)
    return (rest[0] if rest else ""), tool


def _root(named: str | None, folder: str) -> str | None:
    """Return the plane of a folder.

    Return None if there is no plane, or if its folder is a link or has no log. Another program may own such a
    folder.
    """
    found = named or badge_stamp.folder_of(os.path.abspath(folder))
    if named and not os.path.isdir(os.path.join(named, "memory")):
        found = os.path.join(named, badge_stamp.FOLDER)
    if (
        found is None
        or os.path.islink(found)
        or not os.path.isfile(os.path.join(found, "memory", "log.jsonl"))
    ):
        return None
    return os.path.realpath(found)


def _warn(what: str) -> None:
    line = f"agentplane hook: {what}\n".encode()
    try:
        os.write(2, line)
    except OSError:
        return


def _opened(root: str, tool: str) -> "Plane":
    from agentplane.cli import limited_process

    limited_process.limit_memory(_MEMORY)
    from agentplane.api import open_plane

    return open_plane(root, channel="hook", actor=tool)


def _complete(root: str, tool: str, run_id: str) -> None:
    """Record the starting state of a new run, and seal the runs of sessions whose tool has ended."""
    from agentplane.runs.open import hook_marker

    plane = _opened(root, tool)
    plane.runs.begin_session(run_id)
    plane.tools.make_context()
    hook_marker.tidy(root)


def _seal(root: str, tool: "Tool", run_id: str, words: str) -> None:
    from agentplane.runs.open import hook_marker
    from agentplane.tools.hooks import start_context

    plane = _opened(root, tool.name)
    plane.runs.end_session(run_id, words)
    hook_marker.tidy(root)
    if tool.dialect and tool.dialect.start:
        start_context.make(plane.store, plane.origin, tool, None)


def _afterwards(hook: _Hook, work: "Callable[[], None]") -> None:
    def patiently() -> None:
        import time

        os.nice(5)
        time.sleep(_DELAY)
        work()

    process.fork(patiently, hook.failed)
