"""The command curate, which finds approved entries that may no longer be true."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from agentplane.api import Plane
from agentplane.cli import annotations, complete, output
from agentplane.cli import findings as shown
from agentplane.cli.help import command
from agentplane.cli.memory import curate_readable, curate_report, curate_rows
from agentplane.cli.open import ids_argument, invalid_option, json_option, opened
from agentplane.cli.report import report as report_done
from agentplane.curate.curator import Curation
from agentplane.curate.finding import Finding
from agentplane.curate.kinds import KINDS, Kind
from agentplane.errors import BadInput
from agentplane.findings import Finding as Trouble
from agentplane.findings import Severity, Shell
from agentplane.review.policy import check_person
from agentplane.text import days, files
from agentplane.text.numbers import counted
from agentplane.text.visible import one_line


_MOST_ANNOTATIONS = 100
_SNOOZE = "30d"
_LEVELS: Sequence[Severity] = get_args(Severity)


@command(
    "curate",
    "curate DEC-014 -v",
    "curate --only expired --json",
    "curate --since origin/main --fail-on error",
    "curate --apply old",
)
@ids_argument("shelf", required=False)
@click.option(
    "--only",
    multiple=True,
    metavar="KIND",
    shell_complete=complete.finding_kinds,
    help="Kind of finding to look for. Can be repeated.",
)
@click.option(
    "--since",
    metavar="REV",
    help="Check only entries that changed since this Git revision, or that cite or cover a changed file.",
)
@click.option(
    "--fail-on",
    type=click.Choice(list(_LEVELS)),
    help="Exit with code 1 if a finding has this severity or a higher one.",
)
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Markdown file to write.")
@click.option(
    "--apply",
    metavar="KIND",
    shell_complete=complete.finding_kinds,
    help="Apply the first remedy of each finding of this kind.",
)
@click.option("--yes", is_flag=True, help="With --apply, skip the prompt.")
@click.option(
    "--run-checks",
    is_flag=True,
    help="First run the commands in checks. Ask before running a new or changed command.",
)
@click.option("--dismiss", multiple=True, metavar="KEY", help="Dismiss a finding. Can be repeated.")
@click.option("--why", metavar="TEXT", help="With --dismiss or --snooze, reason to record.")
@click.option("--snooze", multiple=True, metavar="KEY", help="Hide a finding until a date. Can be repeated.")
@click.option(
    "--until",
    metavar="DATE",
    shell_complete=complete.until,
    help="With --snooze, end date such as 2026-12-31, or a duration such as 2w [default: 30d].",
)
@click.option("--show-dismissed", is_flag=True, help="Also list findings that were dismissed or snoozed.")
@click.option("-v", "--verbose", is_flag=True, help="Print proofs in full, and all remedies.")
@json_option
def curate_command(
    ids: tuple[str, ...],
    only: tuple[str, ...],
    since: str | None,
    fail_on: Severity | None,
    report: Path | None,
    apply: str | None,
    yes: bool,
    run_checks: bool,
    dismiss: tuple[str, ...],
    why: str | None,
    snooze: tuple[str, ...],
    until: str | None,
    show_dismissed: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Find approved entries that may no longer be true.

    Each finding includes its proof and the commands that resolve it.
    """
    _check_options(dismiss, snooze, apply, why, until, run_checks=run_checks)
    kinds = tuple(_kind(name) for name in only)
    if dismiss or snooze:
        return _put_aside(dismiss or snooze, why, until if dismiss else until or _SNOOZE, as_json=as_json)
    if apply is not None:
        return _apply(ids, _kind(apply), since, yes=yes, as_json=as_json)
    plane = opened(doing="Checking entries")
    if run_checks:
        _run_checks(plane, ids)
    made = plane.curator.collect(ids, only=kinds, since=since)
    if report is not None:
        # Tools can read the file.
        files.write_atomic(report, curate_report.text(curate_readable.for_tools(plane, made)).encode())
    made = curate_readable.here(plane, made)
    if as_json:
        output.emit("curate", **curate_rows.fields(plane, made, show_dismissed=show_dismissed))
    else:
        curate_rows.print_all(made, full=verbose or len(ids) == 1, put_aside=show_dismissed)
        if report is not None:
            output.note(f"Wrote {report}.")
    if os.environ.get("GITHUB_ACTIONS") == "true":
        found = [*made.troubles, *map(_plain, made.findings)]
        annotations.print_all(found[:_MOST_ANNOTATIONS], plane.layout.root)
    return int(fail_on is not None and _is_bad(made, fail_on))


def _check_options(
    dismiss: tuple[str, ...],
    snooze: tuple[str, ...],
    apply: str | None,
    why: str | None,
    until: str | None,
    *,
    run_checks: bool,
) -> None:
    if sum(map(bool, (dismiss, snooze, apply, run_checks))) > 1:
        raise BadInput("Use only one of --dismiss, --snooze, --apply and --run-checks.")
    if why is not None and not (dismiss or snooze):
        raise BadInput("--why can be used only with --dismiss or --snooze.")
    if until is not None and not snooze:
        raise BadInput("--until can be used only with --snooze.")


def _run_checks(plane: Plane, ids: tuple[str, ...]) -> None:
    """Run the commands of checks, after a person at a terminal allowed the new ones."""
    new = plane.curator.unapproved_commands(ids)
    if new and sys.stdin.isatty():
        check_person(plane.store.settings(), "allowing commands")
        output.note(_WARNING)
        for text, entries in new.items():
            output.note(f"\n{', '.join(entries)}:\n  {text}")
            output.forget_typed()
            if output.confirmed("Allow this command on this machine?"):
                plane.curator.approve_commands([text])
    plane.curator.run_checks(ids)


_WARNING = (
    "These commands come from the project memory. agentplane runs a command only if you allow its exact text. A "
    "command can read and write every file that you can."
)


def _put_aside(keys: tuple[str, ...], why: str | None, until: str | None, *, as_json: bool) -> int:
    """Dismiss or snooze findings."""
    plane = opened(deciding="dismissing findings")
    day = None if until is None else days.ahead(until, plane.today())
    if until is not None and day is None:
        raise invalid_option("--until", until, "Use a date such as 2026-12-31, or a duration such as 2w.")
    report_done(plane, plane.curator.dismiss(keys, why, day), as_json=as_json)
    return 0


def _kind(name: str) -> Kind:
    """Return the kind of finding with this name."""
    for kind in KINDS:
        if kind == name.strip().lower():
            return kind
    raise BadInput(f"Unknown kind of finding: {one_line(name, 40)}.", todo=f"Use {', '.join(KINDS)}.")


def _plain(finding: Finding) -> Trouble:
    """Return a finding in the form of other checks, with the command of its first remedy."""
    remedies = tuple(Shell(remedy.argv) for remedy in finding.remedies[:1])
    return Trouble(finding.kind, finding.severity, finding.where, finding.what, remedies, finding.id)


def _is_bad(made: Curation, level: Severity) -> bool:
    """True if a finding, or an error that stopped a check, is at least that severe."""
    bad = _LEVELS[: _LEVELS.index(level) + 1]
    return bool(made.troubles) or any(finding.severity in bad for finding in made.findings)


def _apply(ids: tuple[str, ...], kind: Kind, since: str | None, *, yes: bool, as_json: bool) -> int:
    """Apply the first remedy of each finding of a kind, after a person confirmed the list."""
    plane = opened(deciding="applying remedies", doing="Checking entries")
    made = plane.curator.collect(ids, only=(kind,), since=since)
    for trouble in made.troubles:
        shown.say(trouble)
    if not made.findings:
        output.note(f"No findings: {KINDS[kind].title}.")
        return 0
    if not yes:
        _confirm(made)
    for done in plane.curator.apply(made.findings):
        report_done(plane, done, as_json=as_json)
    return 0


def _confirm(made: Curation) -> None:
    """List the remedies, and ask whether to carry them out."""
    if not sys.stdin.isatty():
        raise BadInput(
            "Can't prompt for confirmation: stdin isn't a terminal.", todo="Pass --yes to skip the prompt."
        )
    for finding in made.findings:
        curate_rows.print_remedy(finding)
    output.forget_typed()
    output.confirmed(f"Apply {counted(len(made.findings), 'remedy', 'remedies')}?", abort=True)
