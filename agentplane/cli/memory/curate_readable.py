"""Findings without secrets, which coding tools may read in their shells and in report files."""

import os
from collections.abc import Collection

import msgspec

from agentplane.agents.catalog import tool_in
from agentplane.api import Plane
from agentplane.curate.curator import Curation, PutAside
from agentplane.curate.finding import Diff, Finding, Lines, Output, Pair, Proof
from agentplane.curate.remedies import Remedy


WITHHELD = "(withheld because the entry looks like it contains a secret)"


def here(plane: Plane, made: Curation) -> Curation:
    """Return the result in a form that the caller may read."""
    return made if tool_in(os.environ) is None else for_tools(plane, made)


def for_tools(plane: Plane, made: Curation) -> Curation:
    """Return the result without secrets, and without the proofs about entries that tools don't get."""
    withheld = withheld_ids(plane, made)
    return msgspec.structs.replace(
        made,
        findings=tuple(_finding(one, withheld) for one in made.findings),
        put_aside=tuple(PutAside(_finding(one.finding, withheld), one.by) for one in made.put_aside),
        troubles=tuple(msgspec.structs.replace(one, what=_masked(one.what)) for one in made.troubles),
    )


def withheld_ids(plane: Plane, made: Curation) -> frozenset[str]:
    """Return the entries with findings that tools don't get, in their approved or in their current text."""
    from agentplane.review import delivery

    memory = plane.memory.read()
    about = {
        id_ for finding in (*made.findings, *(one.finding for one in made.put_aside)) for id_ in finding.ids
    }
    texts = [memory.entries[id_] for id_ in about if id_ in memory.entries]
    texts += [entry for entry in memory.approved() if entry.id in about]
    return frozenset(delivery.divided(memory.snapshot, texts).withheld_ids)


def is_withheld(finding: Finding) -> bool:
    return isinstance(finding.proof, Lines) and finding.proof.text == WITHHELD


def _finding(finding: Finding, withheld: Collection[str]) -> Finding:
    if any(id_ in withheld for id_ in finding.ids):
        what, proof = f"{finding.row.title} {WITHHELD}", Lines(finding.where, WITHHELD)
        return msgspec.structs.replace(finding, what=what, proof=proof, remedies=_plain(finding))
    return msgspec.structs.replace(
        finding, what=_masked(finding.what), proof=_proof(finding.proof), remedies=_plain(finding)
    )


def _plain(finding: Finding) -> tuple[Remedy, ...]:
    """Return the remedies whose commands contain no secret."""
    return tuple(one for one in finding.remedies if _masked(" ".join(one.argv)) == " ".join(one.argv))


def _proof(proof: Proof) -> Proof:
    match proof:
        case Lines(where, text):
            return Lines(_masked(where), _masked(text))
        case Diff():
            return msgspec.structs.replace(proof, text=_masked(proof.text))
        case Pair(one, other, one_text, other_text, reason):
            return Pair(one, other, _masked(one_text), _masked(other_text), _masked(reason))
        case Output(command, text, exit_code):
            return Output(_masked(command), _masked(text), exit_code)


def _masked(text: str) -> str:
    from agentplane.scan.secrets.mask import masked_text  # takes long to load

    return masked_text(text)
