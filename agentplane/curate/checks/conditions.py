"""Entries whose check fails, is invalid, has no clear result, or needs an approval to run.

This module runs no commands. It uses the last result of a command until the project changes.
"""

import hashlib
from collections.abc import Iterator

from agentplane.curate.conditions.commands.results import LastResults, NotRun, Unapproved
from agentplane.curate.conditions.evaluate import Look, evaluate
from agentplane.curate.conditions.project_files import ProjectFiles
from agentplane.curate.conditions.regex_search import Searcher
from agentplane.curate.conditions.result import CantTell, Fails, Holds
from agentplane.curate.conditions.shown import masked
from agentplane.curate.conditions.versions import Packages
from agentplane.curate.finding import Finding, Lines, Output
from agentplane.curate.remedies import ApproveCheck, Deprecate, EditEntry
from agentplane.curate.subject import Subject
from agentplane.memory import condition, condition_place, expiry
from agentplane.memory.condition import Condition, Problem, Run
from agentplane.memory.entry import Entry
from agentplane.text.visible import one_line


_WIDEST = 200


def check(subject: Subject) -> Iterator[Finding]:
    # An expired entry already has a finding.
    wanted = [
        (entry, entry.head.check)
        for entry in subject.entries
        if entry.head.check and not expiry.is_over(entry.head, subject.today)
    ]
    last = LastResults(subject.layout)
    with Searcher() as searcher:
        files = ProjectFiles(subject.project)
        look = Look(files, Packages(files), subject.today, searcher)
        for count, (entry, text) in enumerate(wanted):
            subject.report(count, len(wanted), "Evaluating checks")
            found = condition.parse(text)
            if isinstance(found, Problem):
                yield _invalid(subject, entry, text, found)
            elif isinstance(found, Run):
                yield from _of_command(subject, entry, found.command, last)
            else:
                yield from _of_condition(subject, entry, found, look)


def _invalid(subject: Subject, entry: Entry, text: str, problem: Problem) -> Finding:
    here = subject.memory.entries.get(entry.id, entry)
    place = condition_place.place_in(here, problem.offset)
    where = f"{subject.layout.shown(here.file)}:{place}"
    is_old = condition.keyword_of(text) is None
    advice = f". For a command, write `run: {_shown(text)}`" if is_old else ""
    return Finding(
        "check-invalid",
        (entry.id,),
        where,
        f"The check of {_id(entry)} is invalid: {problem.what}{advice}",
        Lines(where, _shown(text)),
        (EditEntry(entry.id),),
        basis=_digest(text),
    )


def _of_condition(subject: Subject, entry: Entry, found: Condition, look: Look) -> Iterator[Finding]:
    match evaluate(found, look):
        case Fails() as failed:
            yield _failed(subject, entry, failed)
        case CantTell() as unclear:
            yield _unclear(subject, entry, unclear)
        case Holds():
            return


def _of_command(subject: Subject, entry: Entry, command: str, last: LastResults) -> Iterator[Finding]:
    match last.of(command):
        case Fails() as failed:
            yield _failed(subject, entry, failed)
        case CantTell() as unclear:
            yield _unclear(subject, entry, unclear)
        case Unapproved():
            yield Finding(
                "check-unapproved",
                (entry.id,),
                _where(subject, entry),
                f"The command of {_id(entry)} isn't approved on this machine, so it didn't run",
                Lines(_where(subject, entry), _shown(entry.head.check or "")),
                (ApproveCheck(entry.id), EditEntry(entry.id)),
                basis=_digest(entry.head.check or ""),
            )
        case Holds() | NotRun():
            return


def _failed(subject: Subject, entry: Entry, failed: Fails) -> Finding:
    proof = failed.proof
    # The output of a command can differ from run to run, so only its exit code counts.
    basis = str(proof.exit_code) if isinstance(proof, Output) else failed.what
    return Finding(
        "check-failed",
        (entry.id,),
        _where(subject, entry),
        f"The check of {_id(entry)} fails: {one_line(masked(failed.what), _WIDEST).removesuffix('.')}",
        proof,
        (EditEntry(entry.id), Deprecate((entry.id,))),
        basis=_digest(entry.head.check or "", basis),
    )


def _unclear(subject: Subject, entry: Entry, unclear: CantTell) -> Finding:
    where = _where(subject, entry)
    why = one_line(masked(unclear.why), _WIDEST)
    about = f"{unclear.where}: " if unclear.where else ""
    run_again = (ApproveCheck(entry.id),) if isinstance(unclear.proof, Output) else ()
    return Finding(
        "check-unclear",
        (entry.id,),
        where,
        f"The check of {_id(entry)} has no clear result, because {why}",
        unclear.proof or Lines(unclear.where or where, f"{about}{why}"),
        (*run_again, EditEntry(entry.id)),
        basis=_digest(entry.head.check or "", unclear.why),
    )


def _where(subject: Subject, entry: Entry) -> str:
    return subject.shown_key(entry, "check")


def _id(entry: Entry) -> str:
    return one_line(entry.id, 40)


def _shown(text: str) -> str:
    return one_line(masked(text), _WIDEST)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]
