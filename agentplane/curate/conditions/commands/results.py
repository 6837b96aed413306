"""The results of commands in checks. This module runs approved commands and interprets their last results."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

import msgspec

from agentplane.curate.conditions.commands import approvals, kept
from agentplane.curate.conditions.commands.kept import KeptResult
from agentplane.curate.conditions.commands.run import Ran, run
from agentplane.curate.conditions.result import HOLDS, CantTell, Fails, Result
from agentplane.curate.finding import Output
from agentplane.jobs import Report, ignore
from agentplane.memory import condition
from agentplane.memory.condition import Run
from agentplane.memory.entry import Entry
from agentplane.plane.layout import Layout


_NOT_STARTED = (126, 127)
"""The exit codes of a shell that couldn't start a command."""
_SIGNALS = 128


class Unapproved(msgspec.Struct, frozen=True):
    """The command isn't approved on this machine, so it has no result."""


class NotRun(msgspec.Struct, frozen=True):
    """The command is approved, but it hasn't run yet."""


State = Result | Unapproved | NotRun


def command_of(entry: Entry) -> str | None:
    """Return the command of an entry's check, or None if the check is another one."""
    found = condition.parse(entry.head.check) if entry.head.check else None
    return found.command if isinstance(found, Run) else None


def unapproved(layout: Layout, entries: Collection[Entry]) -> Mapping[str, tuple[str, ...]]:
    """Return the commands without an approval on this machine, each with the ids of its entries.

    A person has to read these texts before `approvals.approve` gets them.
    """
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        command = command_of(entry)
        if command is not None and (command in found or not approvals.is_approved(layout, command)):
            found[command] = (*found.get(command, ()), entry.id)
    return found


def run_approved(
    layout: Layout,
    entries: Collection[Entry],
    now: Callable[[], datetime],
    seconds: float,
    report: Report = ignore,
) -> Sequence[Ran]:
    """Run the approved commands of entries, one after the other, and keep their results.

    Call it only if the person asked for it.
    """
    commands = list(dict.fromkeys(text for entry in entries if (text := command_of(entry)) is not None))
    wanted = [command for command in commands if approvals.is_approved(layout, command)]
    results = []
    for count, command in enumerate(wanted):
        report(count, len(wanted), "Running checks")

        def tick(done: int = count) -> None:
            report(done, len(wanted), "Running checks")

        before = kept.state_of(layout)
        ran = run(command, layout.project, seconds, tick)
        kept.save(layout, before, ran, now())
        results.append(ran)
    return results


class LastResults:
    """The last results of commands, compared with the current project."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._kept: Mapping[str, KeptResult] | None = None
        self._state: str | None = None

    def of(self, command: str) -> State:
        """Return the result of a command."""
        if not approvals.is_approved(self._layout, command):
            return Unapproved()
        if self._kept is None:
            self._kept = kept.load(self._layout)
            state = kept.state_of(self._layout) if self._kept else None
            self._state = state.digest if state else None
        found = self._kept.get(command)
        if found is None:
            return NotRun()
        result = result_of(found.ran)
        if found.state == self._state:
            return result
        if isinstance(result, Fails):
            why = f"the command failed on {found.at:%Y-%m-%d}, and the project has changed since then"
            return CantTell(why, proof=result.proof)
        return NotRun()


def result_of(ran: Ran) -> Result:
    """Return the result of a run."""
    network = "network: open" if ran.has_network else "network: off"
    proof = Output(ran.command, ran.output, ran.exit_code)
    if ran.ended is None:
        return CantTell("the command ended the process that monitored it", proof=proof)
    if ran.ended == "time":
        return CantTell("the command took too long, so agentplane stopped it", proof=proof)
    if ran.ended == "processes":
        return CantTell("the command started too many processes, so agentplane stopped it", proof=proof)
    if ran.exit_code is None or ran.ended == "parent":
        return CantTell("the command was stopped", proof=proof)
    if ran.exit_code == 0:
        return HOLDS
    if ran.exit_code in _NOT_STARTED:
        return CantTell(f"the shell couldn't start a program (exit code {ran.exit_code})", proof=proof)
    if ran.exit_code < 0 or ran.exit_code > _SIGNALS:
        number = -ran.exit_code if ran.exit_code < 0 else ran.exit_code - _SIGNALS
        return CantTell(f"signal {number} ended the command", proof=proof)
    return Fails(f"The command ended with exit code {ran.exit_code} ({network}).", "", proof)
