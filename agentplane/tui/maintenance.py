"""The commands of the palette that take a while. They run in a lane of their own and report their progress.

A command that changes something shows the changes first and asks.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.message import Message
from textual.timer import Timer

from agentplane.commands import Sync
from agentplane.jobs import Cancelled, Done, Failed, Job, Lane, Progress, Report, Result
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line
from agentplane.tui.messages import WorkEnded
from agentplane.tui.textual_fixes.push_and_focus import open_field


if TYPE_CHECKING:
    from agentplane.api import Plane
    from agentplane.findings import Finding
    from agentplane.memory.reconcile.settle import Settled
    from agentplane.tools.harvest.harvest import Harvest
    from agentplane.tui.app import PlaneApp
    from agentplane.tui.backend.maintenance import Imported
    from agentplane.tui.backend.tools_model import Planned

T = TypeVar("T")

_PROGRESS_SECONDS = 0.3


class Maintenance:
    """Import, synchronization, status, comparison, checks and reconciliation, one at a time."""

    def __init__(
        self, app: "PlaneApp", plane_of: "Callable[[], Plane]", post: Callable[[Message], object]
    ) -> None:
        """`plane_of` returns the plane, and waits until it is open. It is called in a thread."""
        self._app = app
        self._plane_of = plane_of
        self._post = post
        self._lane = Lane("maintenance")
        self._timer: Timer | None = None

    def close(self) -> None:
        """Stop the running command at its next report of progress."""
        self._lane.close()

    def finish(self) -> None:
        """Wait until no command runs."""
        self._lane.finish()

    # The commands

    def import_memories(self) -> None:
        from agentplane.tui.backend import maintenance

        self._run("Looking for memories", maintenance.find_imports, self._ask_to_import)

    def sync_tools(self) -> None:
        from agentplane.tui.backend import maintenance

        self._run("Comparing tool files", maintenance.plan_sync, self._ask_to_sync)

    def diagnose(self) -> None:
        from agentplane.tui.backend import maintenance

        self._run("Checking the project memory", maintenance.diagnose, self._show_findings)

    def status(self) -> None:
        from agentplane.tui.backend import maintenance

        self._run("Reading the project memory", maintenance.status_text, partial(self._show_report, "Status"))

    def diff(self) -> None:
        from agentplane.tui.backend import maintenance

        title = "Memory changes since the last commit"
        self._run(
            "Comparing the memory with the last commit",
            maintenance.diff_text,
            partial(self._show_report, title),
        )

    def check(self) -> None:
        from agentplane.tui.backend import maintenance

        self._run("Looking for the target branch", maintenance.usual_base, self._ask_base)

    async def reconcile(self) -> None:
        from agentplane.tui.backend import maintenance
        from agentplane.tui.widgets.modals.question_modal import Question

        text = (
            "This command reconciles the memory files of two branches after a Git merge. If both branches assigned the same ID, "
            "one of the entries gets a new ID. If both branches changed the same entry, the two versions become "
            "a conflict in the inbox."
        )

        def answered(yes: bool | None) -> None:
            if yes:
                self._run("Reconciling branches", maintenance.reconcile, self._show_reconciled)

        await self._app.push_screen(Question("Reconcile merged branches?", text, "reconcile"), answered)

    # Their results

    async def _ask_to_import(self, found: "Harvest") -> None:
        from agentplane.tui.backend import maintenance
        from agentplane.tui.widgets.modals.question_modal import Question

        count = len(found.offers)
        if not count:
            self._app.say("No new memories found")
            return
        title = f"Import {counted(count, 'memory', 'memories')}?"

        def answered(yes: bool | None) -> None:
            if yes:
                self._run("Importing", partial(_take_in, found), self._say_imported)

        await self._app.push_screen(Question(title, maintenance.imports_text(found), "import"), answered)

    async def _say_imported(self, imported: "Imported") -> None:
        self._app.say(imported.message(self._app.keys_wanted))
        self._app.reload()

    async def _ask_to_sync(self, planned: "Planned") -> None:
        from agentplane.tui.screens.confirm_files_modal import Writes

        names = tuple(tool.name for tool in planned.tools)
        if not names:
            self._app.say(
                f"No tool is connected. Press {self._app.keys_wanted.key('tools')} to connect a tool."
            )
        elif not planned.changes:
            self._app.say("All tool files are up to date")
        else:
            await self._app.push_screen(
                Writes(planned), lambda yes: self._app.submit(Sync(names)) if yes else None
            )

    async def _show_report(self, title: str, text: str) -> None:
        from agentplane.tui.widgets.modals.report_modal import ReportDialog

        await self._app.push_screen(ReportDialog(title, text))

    async def _ask_base(self, usual: str) -> None:
        from agentplane.tui.backend import maintenance
        from agentplane.tui.widgets.modals.line_modal import LineDialog

        def answered(base: str | None) -> None:
            if base:
                work = partial(maintenance.check, base)
                self._run("Comparing the branch with its base", work, partial(self._show_checked, base))

        hint = "branch or commit to merge into, for example origin/main"
        dialog = LineDialog("Check this branch against", hint, "check", _missing_base, usual)
        await open_field(self._app, dialog, answered)

    async def _show_checked(self, base: str, findings: "list[Finding]") -> None:
        from agentplane.tui.backend import maintenance

        if findings:
            title = f"Check against {one_line(base, 60)}: {_findings(findings)}"
            await self._show_report(title, maintenance.findings_text(findings))
        else:
            self._app.say(f"No problems found in the check against {one_line(base, 60)}")

    async def _show_findings(self, findings: "list[Finding]") -> None:
        from agentplane.tui.backend import maintenance

        if findings:
            await self._show_report(f"Doctor: {_findings(findings)}", maintenance.findings_text(findings))
        else:
            self._app.say("No problems found")

    async def _show_reconciled(self, done: "Settled") -> None:
        from agentplane.memory.reconcile import settle_text

        lines = settle_text.result_lines(done)
        if lines:
            await self._show_report("Reconcile branches", "\n".join(lines))
        else:
            self._app.say("Nothing to reconcile")
        self._app.reload()

    # The lane

    def _run(
        self, what: str, work: "Callable[[Plane, Report], T]", then: Callable[[T], Awaitable[None]]
    ) -> None:
        """Start a command, unless one is running. `then` gets its result in the thread of the screens."""
        if self._lane.left:
            self._app.say("Another command is still running")
            return

        def job(progress: Progress) -> T:
            progress.report(0, 0, what)
            return work(self._plane_of(), progress.report)

        self._lane.submit(Job(job, lambda result: self._post(WorkEnded(partial(self._ended, then, result)))))
        self._app.say(f"{what}…", stays=True)
        self._timer = self._app.set_interval(_PROGRESS_SECONDS, self._show_progress)

    def _show_progress(self) -> None:
        running = self._lane.running
        if running is not None and not running.progress.ended:
            step = running.progress.step
            count = f" {step.done:,} of {step.total:,}" if step.total else ""
            self._app.say(f"{step.what}…{count}", stays=True)

    async def _ended(self, then: Callable[[Any], Awaitable[None]], result: Result[Any]) -> None:
        if self._timer is not None:
            self._timer.stop()
        match result:
            case Done(value):
                self._app.say("")
                await then(value)
            case Failed(error):
                from agentplane.tui.backend.model import as_error

                self._app.say("")
                self._app.fail(as_error(error))
            case Cancelled():
                self._app.say("Canceled")


def _findings(findings: "list[Finding]") -> str:
    return counted(len(findings), "finding")


def _missing_base(text: str) -> str:
    return "" if text.strip() else "Enter a branch or commit."


def _take_in(found: "Harvest", plane: "Plane", report: Report) -> "Imported":
    from agentplane.tui.backend import maintenance

    return maintenance.take_in(plane, found, report)
