"""Checks of this package for `doctor`, such as missing embeddings, expired entries and lost evidence."""

from collections.abc import Iterator
from datetime import date

from agentplane.findings import Finding, Instruction, Shell
from agentplane.memory import expiry
from agentplane.memory.entry import Entry
from agentplane.memory.view import Memory
from agentplane.plane.store.store import Store
from agentplane.review import delivery
from agentplane.review.conflicts import assumptions
from agentplane.review.conflicts.embeddings import embeds
from agentplane.review.gate import evidence_lookup, gate, receipts
from agentplane.text.visible import one_line


def check(store: Store) -> Iterator[Finding]:
    if not embeds():
        what = "this package isn't installed, so agentplane finds similar entries only by their words and spelling"
        remedy = Shell(("pip", "install", "wordllama"), "Run ", " in agentplane's environment.")
        yield Finding("no-embeddings", "info", "wordllama", what, (remedy,))
    memory, today = Memory(store.snapshot()), store.today()
    yield from _withheld(store, memory)
    yield from _contradicting(store, memory, today)
    for entry in memory.shelf:
        if entry.head.status == "accepted":
            where = f"{store.layout.shown(entry.file)}:{entry.line}"
            yield from _expired(entry, where, today)
            yield from _stale(store, entry, where)
            yield from _unproved(store, entry, where)


def _withheld(store: Store, memory: Memory) -> Iterator[Finding]:
    """Report approved entries that tools don't get, because they look like they contain a secret."""
    if not memory.snapshot.settings.gate.finds_secrets:
        return
    for entry in delivery.searched(memory.approved()):
        name, flag = one_line(entry.id, 40), gate.likely_secrets(entry)[0]
        where, what = (
            f"{store.layout.shown(entry.file)}:{entry.line}",
            f"{name} is withheld from tools ({flag.text})",
        )
        remedies = (
            Shell(("agentplane", "edit", name, "--mask"), "Run ", " to mask the secret."),
            Instruction(
                "If the secret is real, rotate it. Then remove the old secret from the history with `agentplane prune`."
            ),
        )
        yield Finding("entry-withheld", "warning", where, what, remedies, entry.id)


def _contradicting(store: Store, memory: Memory, today: date) -> Iterator[Finding]:
    """Report pairs of accepted assumptions that can't both be right. A project may have both until it knows which one
    is.
    """
    approved = {entry.id: entry for entry in memory.approved() if _is_in_force(entry, today)}
    for found in assumptions.searched(tuple(approved.values())):
        entry = approved[found.ids[1]]
        first, second = (one_line(id_, 40) for id_ in found.ids)
        verb = "contradict" if found.proven else "may contradict"
        what = f"{first} and {second} are both approved, but they {verb} each other"
        remedies = (
            Shell(("agentplane", "deprecate", first), "Run ", f" if {first} is wrong, or"),
            Shell(("agentplane", "deprecate", second), "", f" if {second} is wrong."),
            Shell(
                ("agentplane", "edit", second),
                "If both can be true, run ",
                f" and add `unrelated: [{first}]`.",
            ),
        )
        where = f"{store.layout.shown(entry.file)}:{entry.line}"
        yield Finding("assumptions-contradict", "info", where, what, remedies, entry.id)


def _is_in_force(entry: Entry, today: date) -> bool:
    return entry.head.status == "accepted" and not expiry.is_over(entry.head, today)


def _expired(entry: Entry, where: str, today: date) -> Iterator[Finding]:
    if expiry.is_over(entry.head, today):
        name = one_line(entry.id, 40)
        what = f"{name} expired on {expiry.day_of(entry.head)}"
        remedies = (
            Shell(("agentplane", "deprecate", name), "Run ", " to retire the entry, or"),
            Shell(("agentplane", "edit", name), "run ", " to give it a new expiry date."),
        )
        yield Finding("entry-expired", "warning", where, what, remedies, entry.id)


def _stale(store: Store, entry: Entry, where: str) -> Iterator[Finding]:
    """Report evidence of an entry that is gone."""
    name = one_line(entry.id, 40)
    for lack in evidence_lookup.lacks(entry.head.evidence, store.layout.project):
        if lack.trouble == "gone":
            what = f"{name} cites {one_line(entry.head.evidence[lack.place], 60)}, which {lack.what}"
            remedy = Shell(("agentplane", "show", name), "Check whether the entry is still true: ")
            yield Finding("evidence-gone", "info", where, what, (remedy,), entry.id)


def _unproved(store: Store, entry: Entry, where: str) -> Iterator[Finding]:
    """Report an entry without receipts. It was approved before the setting was on, so it stays accepted."""
    if not receipts.is_required(store.settings()):
        return
    if lack := receipts.lacking(entry.head, receipts.sources_of(store.layout)):
        name = one_line(entry.id, 40)
        what = f"{name} {lack}, but `policy.require_receipts` is on"
        remedy = Shell(
            ("agentplane", "edit", name), "The entry stays approved. Add the missing receipts with "
        )
        yield Finding("receipts-lacking", "info", where, what, (remedy,), entry.id)
